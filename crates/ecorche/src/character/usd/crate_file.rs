//! The binary form of USD (`.usdc`, "crate").
//!
//! A table of contents points at six sections (tokens, strings, fields, field sets, paths, specs);
//! fields hold 8-byte value representations that are either the value itself or its place in the
//! file. Every count is checked against the bytes that are there before anything is allocated, and
//! everything that is decompressed counts against a budget tied to the file's size.

mod builder;
mod cursor;

use super::layer::{Arc, Fault, Layer, Value};
use builder::Builder;
use cursor::{Budget, Cursor, unpack, unpack_integers};
use std::collections::{BTreeMap, HashMap};

/// First bytes of every crate file.
pub const MAGIC: &[u8] = b"PXR-USDC";

/// Decoded bytes allowed per byte of the file. Constant weights and still animations of real files
/// come to about 60; LZ4 on top of integer coding could reach 4000.
const LARGEST_EXPANSION: usize = 400;

type Parsed<T> = Result<T, Fault>;

/// Reads the layer.
pub fn parse(bytes: &[u8]) -> Result<Layer, Fault> {
    let file = CrateFile::open(bytes)?;
    Builder { file, layer: Layer::default(), cache: HashMap::new() }.build()
}

fn broken(problem: impl Into<String>) -> Fault {
    Fault::broken("crate data", problem)
}

/// Value types by their number in the file.
mod kind {
    pub(super) const STRING: u8 = 10;
    pub(super) const TOKEN: u8 = 11;
    pub(super) const ASSET: u8 = 12;
    pub(super) const PATH_LIST: u8 = 34;
    pub(super) const REFERENCE_LIST: u8 = 35;
    pub(super) const TOKEN_VECTOR: u8 = 41;
    pub(super) const SPECIFIER: u8 = 42;
    pub(super) const SELECTIONS: u8 = 45;
    pub(super) const TIME_SAMPLES: u8 = 46;
    pub(super) const PAYLOAD: u8 = 47;
    pub(super) const DOUBLE_VECTOR: u8 = 48;
    pub(super) const STRING_VECTOR: u8 = 50;
    pub(super) const BLOCK: u8 = 51;
    pub(super) const PAYLOAD_LIST: u8 = 55;
}

/// How a number is stored.
#[derive(Clone, Copy, PartialEq)]
enum Number {
    Byte,
    Int { wide: bool, signed: bool },
    Half,
    Float,
    Double,
}

impl Number {
    fn size(self) -> usize {
        match self {
            Number::Byte => 1,
            Number::Half => 2,
            Number::Int { wide: false, .. } | Number::Float => 4,
            Number::Int { wide: true, .. } | Number::Double => 8,
        }
    }

    fn read(self, bytes: &[u8]) -> f64 {
        let mut eight = [0u8; 8];
        eight[..bytes.len()].copy_from_slice(bytes);
        let bits = u64::from_le_bytes(eight);
        match self {
            Number::Byte => bits as f64,
            Number::Int { wide: false, signed: true } => f64::from(bits as u32 as i32),
            Number::Int { wide: true, signed: true } => bits as i64 as f64,
            Number::Int { .. } => bits as f64,
            Number::Half => half(bits as u16),
            Number::Float => f64::from(f32::from_bits(bits as u32)),
            Number::Double => f64::from_bits(bits),
        }
    }
}

/// A 16-bit float.
fn half(bits: u16) -> f64 {
    let sign = if bits >> 15 == 0 { 1.0 } else { -1.0 };
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 1023));
    sign * match exponent {
        0 => fraction * 2f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1.0 + fraction / 1024.0) * 2f64.powi(exponent - 15),
    }
}

/// Numbers per element of a numeric type, and how each is stored.
fn shape(kind: u8) -> Option<(usize, Number)> {
    let int = Number::Int { wide: false, signed: true };
    Some(match kind {
        1 | 2 => (1, Number::Byte),
        3 => (1, int),
        4 => (1, Number::Int { wide: false, signed: false }),
        5 => (1, Number::Int { wide: true, signed: true }),
        6 => (1, Number::Int { wide: true, signed: false }),
        7 => (1, Number::Half),
        8 => (1, Number::Float),
        9 | 56 => (1, Number::Double),
        13 => (4, Number::Double),
        14 => (9, Number::Double),
        15 => (16, Number::Double),
        16..=18 => (4, [Number::Double, Number::Float, Number::Half][usize::from(kind - 16)]),
        19..=30 => {
            let number = [Number::Double, Number::Float, Number::Half, int][usize::from((kind - 19) % 4)];
            (2 + usize::from((kind - 19) / 4), number)
        }
        _ => return None,
    })
}

/// A value or where it is.
#[derive(Clone, Copy)]
struct Rep(u64);

impl Rep {
    fn kind(self) -> u8 {
        (self.0 >> 48) as u8
    }
    fn is_array(self) -> bool {
        self.0 >> 63 & 1 != 0
    }
    fn is_inlined(self) -> bool {
        self.0 >> 62 & 1 != 0
    }
    fn is_compressed(self) -> bool {
        self.0 >> 61 & 1 != 0
    }
    fn payload(self) -> u64 {
        self.0 & ((1 << 48) - 1)
    }
}

/// A path as a step from its parent.
#[derive(Clone, Copy)]
struct Step {
    /// Path number of the parent; the root's is its own.
    parent: usize,
    token: usize,
    is_property: bool,
}

/// What is at a path.
struct Spec {
    path: usize,
    first_field: usize,
    kind: i64,
}

const ATTRIBUTE: i64 = 1;
const PRIM: i64 = 6;
const PSEUDO_ROOT: i64 = 7;
const RELATIONSHIP: i64 = 8;
const VARIANT: i64 = 10;

struct CrateFile<'a> {
    bytes: &'a [u8],
    version: [u8; 3],
    budget: Budget,
    tokens: Vec<String>,
    /// Token number of each string.
    strings: Vec<u32>,
    /// Token number of the name, and the value.
    fields: Vec<(usize, Rep)>,
    /// Field numbers; -1 ends a set.
    field_sets: Vec<i64>,
    paths: Vec<Option<Step>>,
    specs: Vec<Spec>,
}

impl<'a> CrateFile<'a> {
    fn open(bytes: &'a [u8]) -> Parsed<Self> {
        let mut cursor = Cursor::new(bytes, 0);
        if cursor.take(8)? != MAGIC {
            return Err(broken("does not start with PXR-USDC"));
        }
        let [major, minor, patch, ..] = cursor.array::<8>()?;
        if major != 0 || !(4..=13).contains(&minor) {
            return Err(Fault::unsupported(format!("crate version {major}.{minor}.{patch}")));
        }
        let contents = cursor.u64()?;
        let mut cursor = Cursor::new(bytes, contents);
        let count = cursor.count()?;
        let mut sections = BTreeMap::new();
        for section in cursor.elements(count, 32)?.as_chunks::<32>().0 {
            let name: Vec<u8> = section[..16].iter().copied().take_while(|&b| b != 0).collect();
            let start = Cursor::new(section, 16).u64()?;
            sections.insert(name, start);
        }
        let mut file = Self {
            bytes,
            version: [major, minor, patch],
            budget: Budget(bytes.len().saturating_mul(LARGEST_EXPANSION)),
            tokens: Vec::new(),
            strings: Vec::new(),
            fields: Vec::new(),
            field_sets: Vec::new(),
            paths: Vec::new(),
            specs: Vec::new(),
        };
        let section = |name: &str| sections.get(name.as_bytes()).map(|&start| Cursor::new(bytes, start));
        let missing = |name: &str| broken(format!("has no {name} section"));
        file.read_tokens(section("TOKENS").ok_or_else(|| missing("TOKENS"))?)?;
        if let Some(mut cursor) = section("STRINGS") {
            let count = cursor.count()?;
            file.strings = cursor.u32s(count)?;
        }
        file.read_fields(section("FIELDS").ok_or_else(|| missing("FIELDS"))?)?;
        let mut cursor = section("FIELDSETS").ok_or_else(|| missing("FIELDSETS"))?;
        let count = cursor.count()?;
        file.field_sets = unpack_integers(&mut cursor, count, false, &mut file.budget)?;
        file.read_paths(section("PATHS").ok_or_else(|| missing("PATHS"))?)?;
        file.read_specs(section("SPECS").ok_or_else(|| missing("SPECS"))?)?;
        Ok(file)
    }

    fn read_tokens(&mut self, mut cursor: Cursor) -> Parsed<()> {
        let _count = cursor.count()?;
        let size = cursor.count()?;
        let text = unpack(&mut cursor, size, &mut self.budget)?;
        // Even an empty token costs a String.
        self.budget.spend(text.iter().filter(|&&b| b == 0).count() * size_of::<String>())?;
        let texts = text.strip_suffix(b"\0").unwrap_or(&text).split(|&b| b == 0);
        self.tokens = texts.map(|token| String::from_utf8_lossy(token).into_owned()).collect();
        Ok(())
    }

    fn read_fields(&mut self, mut cursor: Cursor) -> Parsed<()> {
        let count = cursor.count()?;
        let names = unpack_integers(&mut cursor, count, false, &mut self.budget)?;
        let reps = unpack(&mut cursor, count.saturating_mul(8), &mut self.budget)?;
        let reps = reps.as_chunks().0.iter().map(|bytes| Rep(u64::from_le_bytes(*bytes)));
        self.fields = names.iter().map(|&name| name as u32 as usize).zip(reps).collect();
        Ok(())
    }

    fn read_paths(&mut self, mut cursor: Cursor) -> Parsed<()> {
        let path_count = cursor.count()?;
        let count = cursor.count()?;
        let numbers = unpack_integers(&mut cursor, count, false, &mut self.budget)?;
        let tokens = unpack_integers(&mut cursor, count, false, &mut self.budget)?;
        let jumps = unpack_integers(&mut cursor, count, false, &mut self.budget)?;
        self.budget.spend(path_count.saturating_mul(size_of::<Option<Step>>()))?;
        self.paths = vec![None; path_count];
        // The tree in depth-first order: a jump of -1 means a child follows, -2 neither child nor
        // sibling, 0 a sibling follows, above 0 a child follows and the sibling is that far on.
        let mut pending = if count > 0 { vec![(0usize, None)] } else { Vec::new() };
        while let Some((mut entry, mut parent)) = pending.pop() {
            loop {
                let (&number, &token, &jump) = match (numbers.get(entry), tokens.get(entry), jumps.get(entry))
                {
                    (Some(number), Some(token), Some(jump)) => (number, token, jump),
                    _ => return Err(broken("has a path outside its tree")),
                };
                let number = number as u32 as usize;
                let slot =
                    self.paths.get_mut(number).ok_or_else(|| broken("has a path number out of range"))?;
                if slot.is_some() {
                    return Err(broken("has a path twice"));
                }
                let token = token as i32;
                let is_property = token < 0;
                *slot = Some(Step {
                    parent: parent.unwrap_or(number),
                    token: token.unsigned_abs() as usize,
                    is_property,
                });
                let jump = jump as i32;
                if jump > 0 {
                    pending.push((entry + jump as usize, parent));
                }
                if jump > 0 || jump == -1 || (parent.is_none() && jump == 0) {
                    parent = Some(number);
                } else if jump != 0 {
                    break;
                }
                entry += 1;
            }
        }
        Ok(())
    }

    fn read_specs(&mut self, mut cursor: Cursor) -> Parsed<()> {
        let count = cursor.count()?;
        let paths = unpack_integers(&mut cursor, count, false, &mut self.budget)?;
        let first_fields = unpack_integers(&mut cursor, count, false, &mut self.budget)?;
        let kinds = unpack_integers(&mut cursor, count, false, &mut self.budget)?;
        self.specs = (0..count)
            .map(|i| Spec {
                path: paths[i] as u32 as usize,
                first_field: first_fields[i] as u32 as usize,
                kind: kinds[i],
            })
            .collect();
        Ok(())
    }

    fn token(&self, number: usize) -> &str {
        self.tokens.get(number).map_or("", String::as_str)
    }

    fn string(&self, number: u32) -> &str {
        self.strings.get(number as usize).map_or("", |&token| self.token(token as usize))
    }

    /// Names and values of a spec.
    fn fields_of(&self, spec: &Spec) -> impl Iterator<Item = (&str, Rep)> {
        let set = self.field_sets.get(spec.first_field..).unwrap_or_default();
        let fields = set.iter().map_while(|&field| self.fields.get(usize::try_from(field as i32).ok()?));
        fields.map(|&(name, rep)| (self.token(name), rep))
    }

    /// A path as text.
    fn path(&mut self, number: u32) -> Parsed<String> {
        let mut names = Vec::new();
        let mut at = number as usize;
        while let Some(Some(step)) = self.paths.get(at) {
            if step.parent == at {
                break;
            }
            names.push((step.token, step.is_property));
            at = step.parent;
        }
        let length: usize = names.iter().map(|&(token, _)| 1 + self.token(token).len()).sum();
        self.budget.spend(length)?;
        Ok(names.iter().rev().fold(String::with_capacity(length), |path, &(token, is_property)| {
            path + if is_property { "." } else { "/" } + self.token(token)
        }))
    }

    /// Number of elements of an array, leaving the cursor at the first.
    fn array_length(&self, cursor: &mut Cursor) -> Parsed<usize> {
        if self.version < [0, 5, 0] {
            cursor.u32()?;
        }
        if self.version < [0, 7, 0] { Ok(cursor.u32()? as usize) } else { cursor.count() }
    }

    /// The value of `rep`; nothing for types that no reader uses.
    fn value(&mut self, rep: Rep) -> Parsed<Option<Value>> {
        if rep.kind() == kind::BLOCK {
            return Ok(Some(Value::Blocked));
        }
        if let Some((width, number)) = shape(rep.kind()) {
            return self.numbers(rep, width, number).map(Some);
        }
        let mut cursor = Cursor::new(self.bytes, rep.payload());
        let is_token = matches!(rep.kind(), kind::TOKEN | kind::TOKEN_VECTOR);
        let numbers = match rep.kind() {
            kind::STRING | kind::TOKEN | kind::ASSET if rep.is_array() && rep.payload() == 0 => Vec::new(),
            kind::STRING | kind::TOKEN | kind::ASSET if rep.is_array() => {
                let count = self.array_length(&mut cursor)?;
                cursor.u32s(count)?
            }
            kind::STRING | kind::TOKEN | kind::ASSET if rep.is_inlined() => vec![rep.payload() as u32],
            kind::STRING | kind::TOKEN | kind::ASSET => vec![cursor.u32()?],
            kind::TOKEN_VECTOR | kind::STRING_VECTOR => {
                let count = cursor.count()?;
                cursor.u32s(count)?
            }
            kind::SPECIFIER => {
                return Ok(Some(Value::Numbers { width: 1, values: vec![rep.payload() as f64] }));
            }
            _ => return Ok(None),
        };
        let is_token = is_token || rep.kind() == kind::ASSET && rep.is_inlined();
        let text = |n: u32| if is_token { self.token(n as usize) } else { self.string(n) };
        let size = numbers.iter().map(|&n| size_of::<String>() + text(n).len()).sum();
        let texts = numbers.iter().map(|&n| text(n).to_owned()).collect();
        self.budget.spend(size)?;
        Ok(Some(Value::Texts(texts)))
    }

    fn numbers(&mut self, rep: Rep, width: usize, number: Number) -> Parsed<Value> {
        let size = number.size();
        let mut values = if rep.is_array() {
            self.number_array(rep, width, number)?
        } else if rep.is_inlined() {
            let payload = (rep.payload() as u32).to_le_bytes();
            let small = |byte: u8| f64::from(byte as i8);
            match (width, size) {
                (4, _) | (9, _) | (16, _) if matches!(rep.kind(), 13..=15) => {
                    // Only the diagonal of a matrix.
                    let side = [0, 2, 3, 4][usize::from(rep.kind() - 12)];
                    (0..width)
                        .map(|i| if i % (side + 1) == 0 { small(payload[i / side]) } else { 0.0 })
                        .collect()
                }
                (1, 8) if number == Number::Double => vec![Number::Float.read(&payload)],
                (1, 8) => vec![Number::Int { wide: false, signed: true }.read(&payload)],
                _ if width * size <= 4 => {
                    payload.chunks_exact(size).take(width).map(|bytes| number.read(bytes)).collect()
                }
                _ => payload[..width.min(4)].iter().map(|&byte| small(byte)).collect(),
            }
        } else {
            let bytes = Cursor::new(self.bytes, rep.payload()).elements(width, size)?;
            bytes.chunks_exact(size).map(|bytes| number.read(bytes)).collect()
        };
        if matches!(rep.kind(), 16..=18) {
            // Stored x, y, z, w.
            values.as_chunks_mut::<4>().0.iter_mut().for_each(|q| q.rotate_right(1));
        }
        Ok(Value::Numbers { width, values })
    }

    fn number_array(&mut self, rep: Rep, width: usize, number: Number) -> Parsed<Vec<f64>> {
        // Shorter arrays are never packed, whatever their flag says.
        const SHORTEST_PACKED: usize = 16;
        if rep.payload() == 0 {
            return Ok(Vec::new());
        }
        let mut cursor = Cursor::new(self.bytes, rep.payload());
        let count = self.array_length(&mut cursor)?;
        let size = number.size();
        let is_packed = rep.is_compressed() && width == 1 && count >= SHORTEST_PACKED;
        if !is_packed {
            let bytes = cursor.elements(count, size * width)?;
            self.budget.spend(bytes.len() / size * 8)?;
            return Ok(bytes.chunks_exact(size).map(|bytes| number.read(bytes)).collect());
        }
        if let Number::Int { wide, signed } = number {
            let integers = unpack_integers(&mut cursor, count, wide, &mut self.budget)?;
            let to_number = |i: i64| match (wide, signed) {
                (false, true) => f64::from(i as i32),
                (false, false) => f64::from(i as u32),
                (true, true) => i as f64,
                (true, false) => i as u64 as f64,
            };
            return Ok(integers.into_iter().map(to_number).collect());
        }
        match cursor.array::<1>()? {
            // Whole numbers.
            [b'i'] => {
                let integers = unpack_integers(&mut cursor, count, false, &mut self.budget)?;
                Ok(integers.into_iter().map(|i| f64::from(i as i32)).collect())
            }
            // A table of the values that occur, and where.
            [b't'] => {
                let length = cursor.u32()? as usize;
                let table = cursor.elements(length, size)?;
                let places = unpack_integers(&mut cursor, count, false, &mut self.budget)?;
                let at = |place: i64| table.chunks_exact(size).nth(place as u32 as usize);
                let value = |place| at(place).map(|bytes| number.read(bytes));
                places
                    .into_iter()
                    .map(value)
                    .collect::<Option<_>>()
                    .ok_or_else(|| broken("has a table index out of range"))
            }
            _ => Err(broken("has an array packed in an unknown way")),
        }
    }

    /// Time codes and the values at them.
    fn time_samples(&mut self, rep: Rep) -> Parsed<Vec<(f64, Rep)>> {
        let mut cursor = Cursor::new(self.bytes, rep.payload());
        cursor.jump()?;
        let times = Rep(cursor.u64()?);
        let times = if times.kind() == kind::DOUBLE_VECTOR {
            let mut cursor = Cursor::new(self.bytes, times.payload());
            let count = cursor.count()?;
            cursor.u64s(count)?.into_iter().map(f64::from_bits).collect()
        } else {
            self.value(times)?.unwrap_or(Value::Blocked).numbers().to_vec()
        };
        cursor.jump()?;
        let count = cursor.count()?;
        let values = cursor.u64s(count)?;
        self.budget.spend(count * 32)?;
        Ok(times.into_iter().zip(values.into_iter().map(Rep)).collect())
    }

    /// The items a list operation adds or sets, read one at a time by `item`.
    fn list<T>(&mut self, rep: Rep, item: impl Fn(&mut Self, &mut Cursor) -> Parsed<T>) -> Parsed<Vec<T>> {
        const EXPLICIT: u8 = 1;
        const ADDED: u8 = 2;
        const PREPENDED: u8 = 5;
        const APPENDED: u8 = 6;
        let mut cursor = Cursor::new(self.bytes, rep.payload());
        let [header] = cursor.array()?;
        // Stored in this order; deleted and ordered items follow.
        let mut items = Vec::new();
        for bit in [EXPLICIT, ADDED, PREPENDED, APPENDED] {
            if header >> bit & 1 == 0 {
                continue;
            }
            for _ in 0..cursor.count()? {
                // Reading moves the cursor, so a false count soon meets the end of the file.
                items.push(item(self, &mut cursor)?);
                self.budget.spend(size_of::<T>())?;
            }
        }
        Ok(items)
    }

    fn reference(&mut self, cursor: &mut Cursor, is_payload: bool) -> Parsed<Arc> {
        let asset = self.string(cursor.u32()?).to_owned();
        let prim = cursor.u32()?;
        let prim = self.path(prim)?;
        let mut arc = Arc { asset, prim, offset: 0.0, scale: 1.0 };
        if !is_payload || self.version >= [0, 8, 0] {
            arc.offset = f64::from_bits(cursor.u64()?);
            arc.scale = f64::from_bits(cursor.u64()?);
        }
        if !is_payload {
            for _ in 0..cursor.count()? {
                // A dictionary entry: key, place of the value, value. Places can go in circles.
                self.budget.spend(20)?;
                cursor.u32()?;
                cursor.jump()?;
                cursor.u64()?;
            }
        }
        Ok(arc)
    }
}
