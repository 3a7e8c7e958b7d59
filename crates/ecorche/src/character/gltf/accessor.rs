//! Reading accessors: typed lists laid over raw bytes, with every bound checked first.
//!
//! All component types, strides and sparse forms the format allows are read here, and one it does
//! not: a stride smaller than its element (seen on inverse bind matrices) is taken for packed data.

use super::buffers::Buffers;
use super::document::{Accessor, Document, DracoPrimitive, Primitive, SparsePart};
use super::draco::{self, List};
use super::{Fault, MAX_DECODED_BYTES};
use crate::character::Repair;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

/// The most elements an accessor without bytes behind it (all zeros but for sparse ones) may have.
/// The largest scanned characters have a few million vertices.
const MAX_ZERO_ELEMENTS: usize = 1 << 24;

/// How much larger than the file the lists read from it may be in all. Shared accessors and
/// quantised numbers grow a real file some ten times; a hostile one thousands of times.
const MAX_GROWTH: usize = 64;
/// Bytes every file may decode to, however small it is.
const FREE_BYTES: usize = 1 << 28;

/// How a number is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ComponentType {
    I8,
    U8,
    I16,
    U16,
    U32,
    F32,
}

impl ComponentType {
    fn from_code(code: usize) -> Option<Self> {
        Some(match code {
            5120 => Self::I8,
            5121 => Self::U8,
            5122 => Self::I16,
            5123 => Self::U16,
            5125 => Self::U32,
            5126 => Self::F32,
            _ => return None,
        })
    }

    fn size(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::U32 | Self::F32 => 4,
        }
    }

    /// The number at the start of `bytes`, which are at least `size` many.
    fn float(self, bytes: &[u8], normalized: bool) -> f32 {
        let (value, largest) = match self {
            Self::I8 => (f32::from(bytes[0] as i8), 127.0),
            Self::U8 => (f32::from(bytes[0]), 255.0),
            Self::I16 => (f32::from(i16::from_le_bytes([bytes[0], bytes[1]])), 32767.0),
            Self::U16 => (f32::from(u16::from_le_bytes([bytes[0], bytes[1]])), 65535.0),
            Self::U32 => (self.integer(bytes) as f32, u32::MAX as f32),
            Self::F32 => return f32::from_bits(self.integer(bytes)),
        };
        // The most negative integer is a hair below -1 and counts as -1.
        if normalized { (value / largest).max(-1.0) } else { value }
    }

    /// The raw integer at the start of `bytes`; the bits of a float.
    fn integer(self, bytes: &[u8]) -> u32 {
        match self {
            Self::I8 | Self::U8 => u32::from(bytes[0]),
            Self::I16 | Self::U16 => u32::from(u16::from_le_bytes([bytes[0], bytes[1]])),
            Self::U32 | Self::F32 => u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]),
        }
    }
}

/// Components per element of the shapes a character uses. 2x2 and 3x3 matrices, whose columns are
/// padded, are not among them.
fn components_of(shape: &str) -> Option<usize> {
    Some(match shape {
        "SCALAR" => 1,
        "VEC2" => 2,
        "VEC3" => 3,
        "VEC4" => 4,
        "MAT4" => 16,
        _ => return None,
    })
}

/// Elements at regular steps in some bytes.
struct Strided<'a> {
    bytes: &'a [u8],
    stride: usize,
    count: usize,
}

impl<'a> Strided<'a> {
    /// Elements of `size` bytes from `offset` on, if they all lie within `bytes`.
    fn new(bytes: &'a [u8], offset: usize, stride: usize, size: usize, count: usize) -> Option<Self> {
        let bytes = bytes.get(offset..)?;
        let needed = match count {
            0 => 0,
            _ => stride.checked_mul(count - 1)?.checked_add(size)?,
        };
        (needed <= bytes.len()).then_some(Self { bytes, stride, count })
    }

    fn iter(&self) -> impl Iterator<Item = &'a [u8]> {
        let (bytes, stride) = (self.bytes, self.stride);
        (0..self.count).map(move |i| &bytes[i * stride..])
    }
}

/// The accessors of one file.
pub struct Accessors<'a> {
    pub document: &'a Document,
    buffers: &'a Buffers<'a>,
    /// Bytes that may still be decoded.
    budget: Cell<usize>,
    repairs: RefCell<Vec<Repair>>,
    /// Lists that an extension put in the place of an accessor's bytes.
    unpacked: RefCell<BTreeMap<usize, List>>,
}

impl<'a> Accessors<'a> {
    pub fn new(document: &'a Document, buffers: &'a Buffers<'a>) -> Self {
        let budget = buffers.stored_bytes().saturating_mul(MAX_GROWTH).saturating_add(FREE_BYTES);
        Self {
            document,
            buffers,
            budget: Cell::new(budget.min(MAX_DECODED_BYTES)),
            repairs: RefCell::default(),
            unpacked: RefCell::default(),
        }
    }

    /// What was repaired while reading.
    pub fn into_repairs(self) -> Vec<Repair> {
        self.repairs.into_inner()
    }

    /// Takes `bytes` from what this file may still decode to.
    pub fn spend(&self, bytes: usize) -> Result<(), Fault> {
        let left = self.budget.get().checked_sub(bytes).ok_or_else(|| {
            Fault::new("the document", "its lists share and repeat data to many times the file's size")
        })?;
        self.budget.set(left);
        Ok(())
    }

    /// The bytes of a buffer view.
    pub fn view(&self, index: usize) -> Result<&'a [u8], Fault> {
        self.buffers.view(self.document, index)
    }

    /// Whether an accessor has bytes of its own rather than being filled by an extension.
    pub fn is_stored(&self, index: usize) -> bool {
        self.document.accessors.get(index).is_some_and(|a| a.buffer_view.is_some() || a.sparse.is_some())
    }

    /// Decodes a compressed primitive: its lists take the place of the accessors it names.
    pub fn unpack(&self, primitive: &Primitive, packed: &DracoPrimitive) -> Result<(), Fault> {
        let decoded = draco::decode(self.view(packed.buffer_view.0)?, packed, self.budget.get())?;
        let mut unpacked = self.unpacked.borrow_mut();
        let places = primitive.attributes.iter().map(|(name, index)| (name.as_str(), index.0));
        let mut lists = decoded.attributes;
        for (name, index) in places {
            if let Some(list) = lists.remove(name) {
                self.spend(list.bytes.len())?;
                unpacked.insert(index, list);
            }
        }
        let indices =
            primitive.indices.ok_or_else(|| Fault::new("Draco data", "no accessor for their faces"))?;
        self.spend(decoded.indices.bytes.len())?;
        unpacked.insert(indices.0, decoded.indices);
        Ok(())
    }

    /// Elements of `N` numbers each; normalised integers come out within -1 and 1.
    pub fn floats<const N: usize>(&self, index: usize) -> Result<Vec<[f32; N]>, Fault> {
        let normalized = self.document.accessors.get(index).is_some_and(|a| a.normalized);
        self.read(index, |component, bytes| component.float(bytes, normalized))
    }

    /// Elements of `N` whole numbers each. Floats are rounded: some exporters store joints so.
    pub fn integers<const N: usize>(&self, index: usize) -> Result<Vec<[u32; N]>, Fault> {
        self.read(index, |component, bytes| match component {
            ComponentType::F32 => component.float(bytes, false).round() as u32,
            _ => component.integer(bytes),
        })
    }

    fn read<T: Copy + Default, const N: usize>(
        &self,
        index: usize,
        number: impl Fn(ComponentType, &[u8]) -> T,
    ) -> Result<Vec<[T; N]>, Fault> {
        let fault = |problem: String| Fault::new(format!("accessor {index}"), problem);
        let accessor = self.document.accessors.get(index).ok_or_else(|| fault("it does not exist".into()))?;
        let component = ComponentType::from_code(accessor.component_type.0)
            .ok_or_else(|| fault(format!("unknown component type {}", accessor.component_type.0)))?;
        if components_of(&accessor.shape) != Some(N) {
            return Err(fault(format!(
                "it is {:?} where {N} numbers per element are needed",
                accessor.shape
            )));
        }
        let element_of = |component: ComponentType, bytes: &[u8]| -> [T; N] {
            std::array::from_fn(|i| number(component, &bytes[i * component.size()..]))
        };
        if let Some(list) = self.unpacked.borrow().get(&index) {
            if list.components != N {
                return Err(fault(format!(
                    "its compressed data have {} numbers per element where {N} are needed",
                    list.components
                )));
            }
            let stored = ComponentType::from_code(list.component_type)
                .ok_or_else(|| fault("unknown type of compressed data".into()))?;
            self.spend(list.count.saturating_mul(size_of::<[T; N]>()))?;
            return Ok(list.bytes.chunks_exact(N * stored.size()).map(|b| element_of(stored, b)).collect());
        }
        let element = |bytes: &[u8]| element_of(component, bytes);
        let size = N * component.size();
        let mut elements: Vec<[T; N]> = match accessor.buffer_view {
            Some(view) => {
                let stored = self.strided(accessor, index, view.0, size)?;
                self.spend(stored.count.saturating_mul(size_of::<[T; N]>()))?;
                stored.iter().map(element).collect()
            }
            None if accessor.count.0 > MAX_ZERO_ELEMENTS => {
                return Err(fault(format!("{} elements without any stored", accessor.count.0)));
            }
            None => {
                self.spend(accessor.count.0.saturating_mul(size_of::<[T; N]>()))?;
                vec![[T::default(); N]; accessor.count.0]
            }
        };
        if let Some(sparse) = &accessor.sparse {
            let index_type = ComponentType::from_code(sparse.indices.component_type.0)
                .filter(|t| matches!(t, ComponentType::U8 | ComponentType::U16 | ComponentType::U32))
                .ok_or_else(|| fault("its sparse indices are not whole numbers".into()))?;
            let part = |part: &SparsePart, size: usize| {
                Strided::new(self.view(part.buffer_view.0)?, part.byte_offset.0, size, size, sparse.count.0)
                    .ok_or_else(|| fault("its sparse part reaches beyond its bufferView".into()))
            };
            let indices = part(&sparse.indices, index_type.size())?;
            let values = part(&sparse.values, size)?;
            let mut outside = 0;
            for (at, value) in indices.iter().zip(values.iter()) {
                match elements.get_mut(index_type.integer(at) as usize) {
                    Some(slot) => *slot = element(value),
                    None => outside += 1,
                }
            }
            if outside > 0 {
                self.mend(index, format!("{outside} sparse indices beyond its end"), "ignored");
            }
        }
        Ok(elements)
    }

    /// The elements in view `view`, by its stride or else packed.
    fn strided(
        &self,
        accessor: &Accessor,
        index: usize,
        view: usize,
        size: usize,
    ) -> Result<Strided<'a>, Fault> {
        let bytes = self.view(view)?;
        let stated = self.document.buffer_views.get(view).and_then(|v| v.byte_stride).map(|s| s.0);
        let stride = stated.filter(|&stride| stride > 0).unwrap_or(size);
        let (offset, count) = (accessor.byte_offset.0, accessor.count.0);
        if stride >= size
            && let Some(elements) = Strided::new(bytes, offset, stride, size, count)
        {
            return Ok(elements);
        }
        match Strided::new(bytes, offset, size, size, count) {
            Some(packed) => {
                self.mend(
                    index,
                    format!("a stride of {stride} does not suit {count} elements of {size} bytes"),
                    "read as packed",
                );
                Ok(packed)
            }
            None => Err(Fault::new(
                format!("accessor {index}"),
                format!(
                    "{count} elements of {size} bytes from byte {offset} on do not fit into the {} of its bufferView",
                    bytes.len()
                ),
            )),
        }
    }

    /// As many elements as an accessor that is too long for its bytes can give.
    pub fn floats_that_fit<const N: usize>(&self, index: usize) -> Vec<[f32; N]> {
        let readable = || {
            let accessor = self.document.accessors.get(index)?;
            let component = ComponentType::from_code(accessor.component_type.0)?;
            let bytes = self.view(accessor.buffer_view?.0).ok()?.get(accessor.byte_offset.0..)?;
            let fits = components_of(&accessor.shape) == Some(N) && accessor.sparse.is_none();
            let size = N * component.size();
            let count = if fits { (bytes.len() / size).min(accessor.count.0) } else { 0 };
            self.spend(count.saturating_mul(size_of::<[f32; N]>())).ok()?;
            let number =
                |bytes: &[u8], i: usize| component.float(&bytes[i * component.size()..], accessor.normalized);
            let packed = Strided::new(bytes, 0, size, size, count)?;
            Some(packed.iter().map(|bytes| std::array::from_fn(|i| number(bytes, i))).collect())
        };
        readable().unwrap_or_default()
    }

    fn mend(&self, index: usize, problem: String, remedy: &str) {
        let subject = format!("accessor {index}");
        let mut repairs = self.repairs.borrow_mut();
        // Several meshes and channels may read the same accessor.
        if !repairs.iter().any(|r| r.subject == subject && r.problem == problem) {
            repairs.push(Repair::new(subject, problem, remedy));
        }
    }
}
