//! Ogawa, the container of Alembic files: a tree of groups and data blocks, appended one after the other.
//!
//! The header has 16 bytes: `Ogawa`, a byte that is 0xff once the file is complete, the version 0.1, and where the
//! root group is. A group is a count and as many offsets; a block is its length and its bytes. An offset with the top
//! bit set is that of a block; the top bit alone is an empty block, 0 an empty group. All numbers are little-endian.

use super::super::WriteError;
use super::super::file::PendingFiles;

const HEADER: &[u8; 16] = b"Ogawa\0\0\x01\0\0\0\0\0\0\0\0";
/// Where the byte is that says the file is complete; it is followed by the version and the root's place.
const COMPLETE_AT: u64 = 5;
const BLOCK: u64 = 1 << 63;
/// Bytes of all archives kept in memory before they are appended to their files.
pub const HELD: usize = 8 << 20;

/// Bytes of a sample that is not text, beyond its content: length of the block and key.
pub const SAMPLE_EXTRA: u64 = 8 + KEY;
const KEY: u64 = 16;

/// Where a group or a block is in the file, as groups list it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place(u64);

impl Place {
    /// A block without content.
    pub const EMPTY_BLOCK: Self = Self(BLOCK);
    /// A group without members.
    pub const EMPTY_GROUP: Self = Self(0);

    /// The block that begins at byte `at`.
    pub fn block_at(at: u64) -> Self {
        Self(at | BLOCK)
    }
}

/// An archive being written as file `number` of some pending files.
pub struct Archive {
    number: usize,
    held: Vec<u8>,
    length: u64,
}

impl Archive {
    /// Starts the archive that will be called `target`.
    pub fn create(files: &mut PendingFiles, target: &std::path::Path) -> Result<Self, WriteError> {
        let number = files.add(target, &[])?;
        Ok(Self { number, held: HEADER.to_vec(), length: HEADER.len() as u64 })
    }

    /// Bytes written so far: the offset of the next group or block.
    pub fn length(&self) -> u64 {
        self.length
    }

    fn put(&mut self, bytes: &[u8]) {
        self.held.extend_from_slice(bytes);
        self.length += bytes.len() as u64;
    }

    /// Appends a block.
    pub fn block(&mut self, content: &[u8]) -> Place {
        if content.is_empty() {
            return Place::EMPTY_BLOCK;
        }
        let place = Place::block_at(self.length);
        self.put(&(content.len() as u64).to_le_bytes());
        self.put(content);
        place
    }

    /// Appends a sample of a property: a block of a key, by which readers recognise equal samples, and the content.
    /// Also returns the key.
    pub fn sample(&mut self, content: &[u8]) -> (Place, [u8; KEY as usize]) {
        let place = Place::block_at(self.length);
        let hash = blake3::hash(content);
        let mut key = [0; KEY as usize];
        key.copy_from_slice(&hash.as_bytes()[..KEY as usize]);
        self.put(&(content.len() as u64 + KEY).to_le_bytes());
        self.put(&key);
        self.put(content);
        (place, key)
    }

    /// Appends a group with these members.
    pub fn group(&mut self, members: &[Place]) -> Place {
        if members.is_empty() {
            return Place::EMPTY_GROUP;
        }
        let place = Place(self.length);
        self.put(&(members.len() as u64).to_le_bytes());
        for member in members {
            self.put(&member.0.to_le_bytes());
        }
        place
    }

    /// Appends a group of `count` members, writing what is held to the file as it grows.
    pub fn long_group(
        &mut self,
        files: &mut PendingFiles,
        count: usize,
        member: impl Fn(usize) -> Place,
    ) -> Result<Place, WriteError> {
        let place = Place(self.length);
        self.put(&(count as u64).to_le_bytes());
        for i in 0..count {
            self.put(&member(i).0.to_le_bytes());
            self.write_held(files, HELD)?;
        }
        Ok(place)
    }

    /// Bytes that are held.
    pub fn held(&self) -> usize {
        self.held.len()
    }

    /// Writes what is held to the file.
    pub fn write_out(&mut self, files: &mut PendingFiles) -> Result<(), WriteError> {
        self.write_held(files, 0)
    }

    fn write_held(&mut self, files: &mut PendingFiles, more_than: usize) -> Result<(), WriteError> {
        if self.held.len() > more_than {
            files.append(self.number, &self.held)?;
            self.held.clear();
        }
        Ok(())
    }

    /// Writes the rest and says where the root is.
    pub fn finish(mut self, files: &mut PendingFiles, root: Place) -> Result<(), WriteError> {
        self.write_held(files, 0)?;
        let mut end = HEADER[COMPLETE_AT as usize..8].to_vec();
        end[0] = 0xff;
        end.extend(root.0.to_le_bytes());
        files.overwrite(self.number, COMPLETE_AT, &end)
    }
}
