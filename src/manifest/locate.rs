//! The place of a field in its document: the parser reads it once more and is stopped at the field, since its errors
//! have a place.

use std::cell::Cell;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// One step of the way to a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum At {
    Key(String),
    Index(usize),
}

/// Stops the parser at the end of a path: at the key, or at the list's element.
#[derive(Clone, Copy)]
pub(super) struct Find<'p> {
    path: &'p [At],
    found: &'p Cell<bool>,
}

impl<'p> Find<'p> {
    /// Looks for a path; `found` says whether the error is that of the stop.
    pub(super) fn new(path: &'p [At], found: &'p Cell<bool>) -> Self {
        Self { path, found }
    }

    fn stop<E: Error>(self) -> E {
        self.found.set(true);
        E::custom("found")
    }

    fn scalar<E: Error>(self) -> Result<(), E> {
        if self.path.is_empty() { Err(self.stop()) } else { Ok(()) }
    }
}

impl<'de> DeserializeSeed<'de> for Find<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Find<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value")
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.scalar()
    }

    fn visit_none<E: Error>(self) -> Result<(), E> {
        self.scalar()
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<(), E> {
        self.scalar()
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<(), E> {
        self.scalar()
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<(), E> {
        self.scalar()
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<(), E> {
        self.scalar()
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<(), E> {
        self.scalar()
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<(), A::Error> {
        let Some((step, rest)) = self.path.split_first() else { return Err(self.stop()) };
        if let At::Index(index) = step {
            for _ in 0..*index {
                if sequence.next_element::<IgnoredAny>()?.is_none() {
                    return Ok(());
                }
            }
            sequence.next_element_seed(Self { path: rest, ..self })?;
        }
        while sequence.next_element::<IgnoredAny>()?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut mapping: A) -> Result<(), A::Error> {
        let Some((step, rest)) = self.path.split_first() else { return Err(self.stop()) };
        let below = Self { path: rest, ..self };
        while let Some(is_meant) = mapping.next_key_seed(Key { step, below })? {
            if is_meant {
                mapping.next_value_seed(below)?;
            } else {
                mapping.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}

/// Reads a key, and stops at the last one of the path.
#[derive(Clone, Copy)]
struct Key<'p> {
    step: &'p At,
    below: Find<'p>,
}

impl Key<'_> {
    fn read<E: Error>(self, key: &str) -> Result<bool, E> {
        let is_meant = matches!(self.step, At::Key(meant) if meant == key);
        if is_meant && self.below.path.is_empty() { Err(self.below.stop()) } else { Ok(is_meant) }
    }
}

impl<'de> DeserializeSeed<'de> for Key<'_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl Visitor<'_> for Key<'_> {
    type Value = bool;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a key")
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<bool, E> {
        self.read(&value.to_string())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<bool, E> {
        self.read(&value.to_string())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<bool, E> {
        self.read(&value.to_string())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<bool, E> {
        self.read(&super::number::float_key(value))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<bool, E> {
        self.read(value)
    }
}
