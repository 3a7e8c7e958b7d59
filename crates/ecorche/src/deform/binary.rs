//! Plain values as bytes and back, to the bit: numbers little endian, lists with their length before them, an option
//! with 0 or 1 before it. Fields follow each other without names.

use serde::de::{self, DeserializeSeed, SeqAccess, Visitor};
use serde::ser::{self, Serialize};
use serde::{Deserialize, forward_to_deserialize_any};
use std::fmt::{self, Display};

/// Why bytes do not hold such a value.
#[derive(Debug)]
pub(super) struct Mismatch;

impl Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the bytes do not hold such a value")
    }
}

impl std::error::Error for Mismatch {}

impl ser::Error for Mismatch {
    fn custom<T: Display>(_: T) -> Self {
        Self
    }
}

impl de::Error for Mismatch {
    fn custom<T: Display>(_: T) -> Self {
        Self
    }
}

/// The value's bytes.
pub(super) fn to_bytes(value: &impl Serialize) -> Result<Vec<u8>, Mismatch> {
    let mut writer = Writer(Vec::new());
    value.serialize(&mut writer)?;
    Ok(writer.0)
}

/// The value in `bytes`, all of which must be used.
pub(super) fn from_bytes<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T, Mismatch> {
    let mut reader = Reader(bytes);
    let value = T::deserialize(&mut reader)?;
    if reader.0.is_empty() { Ok(value) } else { Err(Mismatch) }
}

struct Writer(Vec<u8>);

macro_rules! write_numbers {
    ($($name:ident $number:ty),*) => {
        $(fn $name(self, value: $number) -> Result<(), Mismatch> {
            self.0.extend_from_slice(&value.to_le_bytes());
            Ok(())
        })*
    };
}

impl Writer {
    fn length(&mut self, length: Option<usize>) -> Result<(), Mismatch> {
        self.0.extend_from_slice(&(length.ok_or(Mismatch)? as u64).to_le_bytes());
        Ok(())
    }
}

impl ser::Serializer for &mut Writer {
    type Ok = ();
    type Error = Mismatch;
    type SerializeSeq = Self;
    type SerializeTuple = Self;
    type SerializeTupleStruct = Self;
    type SerializeTupleVariant = ser::Impossible<(), Mismatch>;
    type SerializeMap = ser::Impossible<(), Mismatch>;
    type SerializeStruct = Self;
    type SerializeStructVariant = ser::Impossible<(), Mismatch>;

    write_numbers!(
        serialize_i8 i8, serialize_i16 i16, serialize_i32 i32, serialize_i64 i64, serialize_u8 u8, serialize_u16 u16,
        serialize_u32 u32, serialize_u64 u64, serialize_f32 f32, serialize_f64 f64
    );

    fn serialize_bool(self, value: bool) -> Result<(), Mismatch> {
        self.serialize_u8(value.into())
    }

    fn serialize_char(self, value: char) -> Result<(), Mismatch> {
        self.serialize_u32(value.into())
    }

    fn serialize_str(self, value: &str) -> Result<(), Mismatch> {
        self.serialize_bytes(value.as_bytes())
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<(), Mismatch> {
        self.length(Some(value.len()))?;
        self.0.extend_from_slice(value);
        Ok(())
    }

    fn serialize_none(self) -> Result<(), Mismatch> {
        self.serialize_u8(0)
    }

    fn serialize_some<T: ?Sized + Serialize>(self, value: &T) -> Result<(), Mismatch> {
        self.serialize_u8(1)?;
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), Mismatch> {
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), Mismatch> {
        Ok(())
    }

    fn serialize_unit_variant(self, _: &'static str, index: u32, _: &'static str) -> Result<(), Mismatch> {
        self.serialize_u32(index)
    }

    fn serialize_newtype_struct<T: ?Sized + Serialize>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), Mismatch> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: ?Sized + Serialize>(
        self,
        _: &'static str,
        index: u32,
        _: &'static str,
        value: &T,
    ) -> Result<(), Mismatch> {
        self.serialize_u32(index)?;
        value.serialize(self)
    }

    fn serialize_seq(self, length: Option<usize>) -> Result<Self, Mismatch> {
        self.length(length)?;
        Ok(self)
    }

    fn serialize_tuple(self, _: usize) -> Result<Self, Mismatch> {
        Ok(self)
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Self, Mismatch> {
        Ok(self)
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleVariant, Mismatch> {
        Err(Mismatch)
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Self::SerializeMap, Mismatch> {
        Err(Mismatch)
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self, Mismatch> {
        Ok(self)
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeStructVariant, Mismatch> {
        Err(Mismatch)
    }
}

macro_rules! write_items {
    ($($kind:ident $item:ident),*) => {
        $(impl ser::$kind for &mut Writer {
            type Ok = ();
            type Error = Mismatch;

            fn $item<T: ?Sized + Serialize>(&mut self, value: &T) -> Result<(), Mismatch> {
                value.serialize(&mut **self)
            }

            fn end(self) -> Result<(), Mismatch> {
                Ok(())
            }
        })*
    };
}

write_items!(SerializeSeq serialize_element, SerializeTuple serialize_element, SerializeTupleStruct serialize_field);

impl ser::SerializeStruct for &mut Writer {
    type Ok = ();
    type Error = Mismatch;

    fn serialize_field<T: ?Sized + Serialize>(&mut self, _: &'static str, value: &T) -> Result<(), Mismatch> {
        value.serialize(&mut **self)
    }

    fn end(self) -> Result<(), Mismatch> {
        Ok(())
    }
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], Mismatch> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or(Mismatch)?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Mismatch> {
        self.take(N)?.try_into().map_err(|_| Mismatch)
    }

    /// A length that fits the remaining bytes.
    fn length(&mut self) -> Result<usize, Mismatch> {
        let length = usize::try_from(u64::from_le_bytes(self.array()?)).map_err(|_| Mismatch)?;
        if length <= self.0.len() { Ok(length) } else { Err(Mismatch) }
    }
}

macro_rules! read_numbers {
    ($($name:ident $visit:ident $number:ty),*) => {
        $(fn $name<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mismatch> {
            visitor.$visit(<$number>::from_le_bytes(self.array()?))
        })*
    };
}

impl<'de> de::Deserializer<'de> for &mut Reader<'de> {
    type Error = Mismatch;

    read_numbers!(
        deserialize_i8 visit_i8 i8, deserialize_i16 visit_i16 i16, deserialize_i32 visit_i32 i32,
        deserialize_i64 visit_i64 i64, deserialize_u8 visit_u8 u8, deserialize_u16 visit_u16 u16,
        deserialize_u32 visit_u32 u32, deserialize_u64 visit_u64 u64, deserialize_f32 visit_f32 f32,
        deserialize_f64 visit_f64 f64
    );

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Mismatch> {
        Err(Mismatch)
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        match self.array()? {
            [0] => visitor.visit_bool(false),
            [1] => visitor.visit_bool(true),
            _ => Err(Mismatch),
        }
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        let length = self.length()?;
        visitor.visit_borrowed_str(std::str::from_utf8(self.take(length)?).map_err(|_| Mismatch)?)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        self.deserialize_str(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        match self.array()? {
            [0] => visitor.visit_none(),
            [1] => visitor.visit_some(self),
            _ => Err(Mismatch),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Mismatch> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        let left = self.length()?;
        visitor.visit_seq(Items { reader: self, left })
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, left: usize, visitor: V) -> Result<V::Value, Mismatch> {
        visitor.visit_seq(Items { reader: self, left })
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        left: usize,
        visitor: V,
    ) -> Result<V::Value, Mismatch> {
        visitor.visit_seq(Items { reader: self, left })
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Mismatch> {
        visitor.visit_seq(Items { reader: self, left: fields.len() })
    }

    forward_to_deserialize_any! { i128 u128 char bytes byte_buf unit unit_struct map enum identifier ignored_any }
}

struct Items<'r, 'a> {
    reader: &'r mut Reader<'a>,
    left: usize,
}

impl<'a> SeqAccess<'a> for Items<'_, 'a> {
    type Error = Mismatch;

    fn next_element_seed<T: DeserializeSeed<'a>>(&mut self, seed: T) -> Result<Option<T::Value>, Mismatch> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        seed.deserialize(&mut *self.reader).map(Some)
    }
}
