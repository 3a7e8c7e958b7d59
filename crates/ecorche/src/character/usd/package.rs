//! The package form of USD (`.usdz`): a ZIP file whose members are stored, not packed.

use super::layer::Fault;
use std::ops::Range;

/// The members of a package.
pub struct Package<'a> {
    bytes: &'a [u8],
    members: Vec<(String, Range<usize>)>,
}

fn field<const N: usize>(bytes: &[u8], at: usize) -> Option<u64> {
    let field = bytes.get(at..at.checked_add(N)?)?;
    Some(field.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte)))
}

fn broken(problem: &str) -> Fault {
    Fault::broken("package", problem)
}

impl<'a> Package<'a> {
    /// Reads the directory at the end of the package.
    pub fn open(bytes: &'a [u8]) -> Result<Self, Fault> {
        // The end record is 22 bytes and a comment of at most 65535.
        let searched = bytes.len().saturating_sub(22 + 0xffff)..bytes.len().saturating_sub(21);
        let end = searched.rev().find(|&at| bytes[at..].starts_with(b"PK\x05\x06"));
        let end = end.ok_or_else(|| broken("has no directory"))?;
        let count = field::<2>(bytes, end + 10).unwrap_or(0);
        let mut at = field::<4>(bytes, end + 16).unwrap_or(0) as usize;
        let mut members = Vec::new();
        for _ in 0..count {
            let (name, range, next) = member(bytes, at)?;
            members.push((name, range));
            at = next;
        }
        Ok(Self { bytes, members })
    }

    /// The first layer, which is the package's scene.
    pub fn root(&self) -> Option<&str> {
        let is_layer = |name: &str| [".usdc", ".usda", ".usd"].iter().any(|ending| name.ends_with(ending));
        self.members.iter().map(|(name, _)| name.as_str()).find(|name| is_layer(name))
    }

    /// The content of a member.
    pub fn get(&self, wanted: &str) -> Option<&'a [u8]> {
        let (_, range) = self.members.iter().find(|(name, _)| name == wanted)?;
        self.bytes.get(range.clone())
    }
}

/// Name, place and next entry of the directory entry at `at`.
fn member(bytes: &[u8], at: usize) -> Result<(String, Range<usize>, usize), Fault> {
    let cut = || broken("has a broken directory");
    if !bytes.get(at..).is_some_and(|rest| rest.starts_with(b"PK\x01\x02")) {
        return Err(cut());
    }
    let short = |offset: usize| field::<2>(bytes, at + offset).map(|n| n as usize).ok_or_else(cut);
    let long = |offset: usize| field::<4>(bytes, at + offset).map(|n| n as usize).ok_or_else(cut);
    let (method, size, header) = (short(10)?, long(20)?, long(42)?);
    let (name_length, extra, comment) = (short(28)?, short(30)?, short(32)?);
    let name = bytes.get(at + 46..at + 46 + name_length).ok_or_else(cut)?;
    let name = String::from_utf8_lossy(name).into_owned();
    if method != 0 {
        return Err(Fault::unsupported(format!("a packed member in a package ({name})")));
    }
    let header_end = |offset| field::<2>(bytes, header + offset).map(|n| n as usize).ok_or_else(cut);
    let start = header + 30 + header_end(26)? + header_end(28)?;
    Ok((name, start..start + size, at + 46 + name_length + extra + comment))
}
