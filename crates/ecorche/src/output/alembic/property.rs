//! Properties and objects of an Alembic archive, and the tables that describe them.
//!
//! A property's samples are blocks; the compound property around it ends with a table of its members: a word
//! of bit fields, the number of samples, the time sampling, the name. An object holds its properties, its children and
//! then a table of the children. Metadata are strings of `key=value;key=value`; those in use are listed once per archive.

use super::super::WriteError;
use super::super::file::PendingFiles;
use super::ogawa::{Archive, Place};

/// Alembic's numbers for kinds of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Booleans.
    Bool = 0,
    /// Unsigned 32-bit integers.
    U32 = 5,
    /// 32-bit integers.
    I32 = 6,
    /// 32-bit floating point.
    F32 = 10,
    /// 64-bit floating point.
    F64 = 11,
}

/// What a property holds: one value per sample, or a list of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// One value.
    Scalar = 1,
    /// A list of any length.
    Array = 2,
}

/// Type of a property's values.
#[derive(Clone, Copy, Debug)]
pub struct Type {
    /// One value or a list.
    pub form: Form,
    /// What a value is made of.
    pub kind: Kind,
    /// How many of these make a value: 3 for a point.
    pub extent: u32,
}

impl Type {
    /// A list.
    pub const fn array(kind: Kind, extent: u32) -> Self {
        Self { form: Form::Array, kind, extent }
    }

    /// One value.
    pub const fn scalar(kind: Kind, extent: u32) -> Self {
        Self { form: Form::Scalar, kind, extent }
    }
}

/// Number of the time sampling of constant properties.
pub const TIMELESS: u32 = 0;
/// Number of the time sampling of the frames.
pub const FRAMES: u32 = 1;

/// How many samples a property has, and when.
#[derive(Clone, Copy, Debug)]
pub struct Samples {
    /// Their number.
    pub count: u32,
    /// Whether one stored sample serves for all.
    pub constant: bool,
    /// Number of the time sampling.
    pub timing: u32,
}

/// The metadata texts of an archive, each once.
#[derive(Debug, Default)]
pub struct MetadataTable(Vec<&'static str>);

impl MetadataTable {
    /// The number by which tables name `text`; 0 is none.
    fn number(&mut self, text: &'static str) -> u32 {
        if text.is_empty() {
            return 0;
        }
        let known = self.0.iter().position(|other| *other == text);
        let index = known.unwrap_or_else(|| {
            self.0.push(text);
            self.0.len() - 1
        });
        index as u32 + 1
    }

    /// Lengths and texts, as the archive's root has them.
    pub fn bytes(&self) -> Vec<u8> {
        let one = |text: &&str| std::iter::once(text.len() as u8).chain(text.bytes()).collect::<Vec<_>>();
        self.0.iter().flat_map(one).collect()
    }
}

/// A compound property being put together.
#[derive(Debug, Default)]
pub struct Compound {
    members: Vec<Place>,
    table: Vec<u8>,
}

impl Compound {
    /// Adds a property whose samples are listed by the group at `place`.
    pub fn add(
        &mut self,
        metadata: &mut MetadataTable,
        name: &str,
        about: &'static str,
        kind: Type,
        samples: Samples,
        place: Place,
    ) {
        const TIMED: u32 = 0x100;
        const SAME_SIZE: u32 = 0x400;
        const CONSTANT: u32 = 0x800;
        let Samples { count, constant, timing } = samples;
        // The fewest bytes that hold each of the numbers below.
        let width = width_of(count.max(name.len() as u32).max(timing));
        let mut word = kind.form as u32 | width_code(width) << 2 | (kind.kind as u32) << 4 | SAME_SIZE;
        word |= kind.extent << 12 | metadata.number(about) << 20;
        if timing != TIMELESS {
            word |= TIMED;
        }
        if constant || count <= 1 {
            word |= CONSTANT;
        }
        self.table.extend(word.to_le_bytes());
        self.put(count, width);
        if timing != TIMELESS {
            self.put(timing, width);
        }
        self.name(name, width);
        self.members.push(place);
    }

    /// Adds a compound property.
    pub fn add_compound(
        &mut self,
        archive: &mut Archive,
        metadata: &mut MetadataTable,
        name: &str,
        about: &'static str,
        inner: Compound,
    ) {
        let width = width_of(name.len() as u32);
        let word = width_code(width) << 2 | metadata.number(about) << 20;
        self.table.extend(word.to_le_bytes());
        self.name(name, width);
        let place = inner.write(archive);
        self.members.push(place);
    }

    /// Appends it to the archive.
    pub fn write(mut self, archive: &mut Archive) -> Place {
        if !self.members.is_empty() {
            self.members.push(archive.block(&self.table));
        }
        archive.group(&self.members)
    }

    fn put(&mut self, number: u32, width: usize) {
        self.table.extend_from_slice(&number.to_le_bytes()[..width]);
    }

    fn name(&mut self, name: &str, width: usize) {
        self.put(name.len() as u32, width);
        self.table.extend_from_slice(name.as_bytes());
    }
}

fn width_of(number: u32) -> usize {
    match number {
        0..=0xff => 1,
        0x100..=0xffff => 2,
        _ => 4,
    }
}

fn width_code(width: usize) -> u32 {
    (width / 2) as u32
}

/// An object being put together: its children.
#[derive(Debug, Default)]
pub struct Children {
    members: Vec<Place>,
    table: Vec<u8>,
}

impl Children {
    /// Adds a child that was written to `place`.
    pub fn add(&mut self, metadata: &mut MetadataTable, name: &str, about: &'static str, place: Place) {
        self.table.extend((name.len() as u32).to_le_bytes());
        self.table.extend_from_slice(name.as_bytes());
        self.table.push(metadata.number(about) as u8);
        self.members.push(place);
    }

    /// Appends the object with its `properties`. `hash` identifies its content: readers take objects with the same hash
    /// to be equal.
    pub fn write(mut self, archive: &mut Archive, properties: Place, hash: blake3::Hash) -> Place {
        // A hash of the properties and one of the children, of 16 bytes each.
        self.table.extend_from_slice(hash.as_bytes());
        let table = archive.block(&self.table);
        let members: Vec<Place> = std::iter::once(properties).chain(self.members).chain([table]).collect();
        archive.group(&members)
    }
}

/// Appends the group of a property whose only sample is at `place`, and stands for all of them.
pub fn one_sample(archive: &mut Archive, kind: Type, place: Place) -> Place {
    match kind.form {
        Form::Scalar => archive.group(&[place]),
        Form::Array => archive.group(&[place, Place::EMPTY_BLOCK]),
    }
}

/// Appends the group of a property whose sample of frame `i` is at `place(i)`.
pub fn many_samples(
    archive: &mut Archive,
    files: &mut PendingFiles,
    kind: Type,
    count: usize,
    place: impl Fn(usize) -> Place,
) -> Result<Place, WriteError> {
    match kind.form {
        Form::Scalar => archive.long_group(files, count, place),
        // Lists of rank one: their length follows from the block's, so that no dimensions are stored.
        Form::Array => archive.long_group(files, 2 * count, |i| match i % 2 {
            0 => place(i / 2),
            _ => Place::EMPTY_BLOCK,
        }),
    }
}
