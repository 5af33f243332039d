//! Reads the field of an object: in an optional field, an empty string counts as absent, like null.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::{
    BoolDeserializer, BorrowedStrDeserializer, F64Deserializer, I64Deserializer, MapAccessDeserializer, SeqAccessDeserializer,
    StrDeserializer, U64Deserializer,
};
use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, IntoDeserializer as _, MapAccess, SeqAccess, Visitor};
use serde::forward_to_deserialize_any;

/// Reads the value of the field whose name was read last.
pub(crate) fn read_field<'de, T: Deserialize<'de>, A: MapAccess<'de>>(map: &mut A) -> Result<T, A::Error> {
    map.next_value_seed(FieldSeed(PhantomData))
}

struct FieldSeed<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> DeserializeSeed<'de> for FieldSeed<T> {
    type Value = T;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<T, D::Error> {
        T::deserialize(FieldDeserializer(deserializer))
    }
}

/// Treats only options differently; JSON tells the type of everything else.
struct FieldDeserializer<D>(D);

impl<'de, D: Deserializer<'de>> Deserializer<'de> for FieldDeserializer<D> {
    type Error = D::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.0.deserialize_any(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.0.deserialize_any(OptionVisitor(visitor))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct newtype_struct
        seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

/// Visits null and the empty string as none, and every other value as some.
struct OptionVisitor<V>(V);

impl<'de, V: Visitor<'de>> Visitor<'de> for OptionVisitor<V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.expecting(f)
    }

    fn visit_unit<E: Error>(self) -> Result<V::Value, E> {
        self.0.visit_none()
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<V::Value, E> {
        if text.is_empty() { self.0.visit_none() } else { self.0.visit_some(BorrowedStrDeserializer::<E>::new(text)) }
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<V::Value, E> {
        let some: StrDeserializer<'_, E> = text.into_deserializer();
        if text.is_empty() { self.0.visit_none() } else { self.0.visit_some(some) }
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<V::Value, E> {
        let some: BoolDeserializer<E> = value.into_deserializer();
        self.0.visit_some(some)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<V::Value, E> {
        let some: I64Deserializer<E> = number.into_deserializer();
        self.0.visit_some(some)
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<V::Value, E> {
        let some: U64Deserializer<E> = number.into_deserializer();
        self.0.visit_some(some)
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<V::Value, E> {
        let some: F64Deserializer<E> = number.into_deserializer();
        self.0.visit_some(some)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<V::Value, A::Error> {
        self.0.visit_some(SeqAccessDeserializer::new(seq))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<V::Value, A::Error> {
        self.0.visit_some(MapAccessDeserializer::new(map))
    }
}
