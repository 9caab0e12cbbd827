//! Parser events to JSON values: keys to strings, merges, numbers, and the bounds that hold for both notations.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use super::error::Format;
use super::packed::{Item, Items, KEY_MEMORY, Limit, MAPPING_MEMORY, TEXT_MEMORY, VALUE_MEMORY};
use super::{MAX_OBJECT_MEMORY, MAX_REPEATED_BYTES, Wanted, number};

/// Mappings with fewer entries than this are built again, in the room that they need.
const SMALL: usize = 4;

/// What a reading of one input may still take, and why it stopped. The deserializers' own error types hold only text,
/// so the reason is left here beside the error.
pub(super) struct Reading {
    format: Format,
    memory: Cell<usize>,
    bytes: Cell<usize>,
    items: RefCell<Items>,
    reason: RefCell<Option<Reason>>,
}

/// Why a value was refused by this module, not by a parser.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Reason {
    /// A key given twice in one mapping.
    DuplicateKey(String),
    /// A key that is null, a mapping, a sequence or an integer beyond 64 bits.
    Key(&'static str),
    /// A `<<` whose value is not a mapping or a sequence of them.
    Merge,
    /// A number that JSON cannot hold.
    Number,
    /// More than [`MAX_OBJECT_MEMORY`] in one object.
    TooMuchMemory,
    /// A list with more, or larger, items than are taken.
    Limit(Limit),
    /// More text than the input and [`MAX_REPEATED_BYTES`].
    TooMuchText,
}

impl Reading {
    /// Begins the reading of an input of `input_bytes` bytes.
    pub(super) fn new(format: Format, input_bytes: usize) -> Self {
        Self {
            format,
            memory: Cell::new(MAX_OBJECT_MEMORY),
            bytes: Cell::new(input_bytes.saturating_add(MAX_REPEATED_BYTES)),
            items: RefCell::default(),
            reason: RefCell::new(None),
        }
    }

    /// Begins a document.
    pub(super) fn begin(&self, wanted: Wanted) {
        self.memory.set(MAX_OBJECT_MEMORY);
        *self.items.borrow_mut() = Items::new(wanted);
    }

    /// Takes the items of the document, if it has some; they are not in its value.
    pub(super) fn take_items(&self) -> Vec<Item> {
        std::mem::take(&mut self.items.borrow_mut().packed)
    }

    /// Takes the reason of the refusal, if it was this module's.
    pub(super) fn take_reason(&self) -> Option<Reason> {
        self.reason.borrow_mut().take()
    }

    fn is_merge(&self, key: &str) -> bool {
        self.format == Format::Yaml && key == "<<"
    }

    fn refuse<E: serde::de::Error>(&self, reason: Reason) -> E {
        *self.reason.borrow_mut() = Some(reason);
        E::custom("refused")
    }

    fn charge<E: serde::de::Error>(&self, memory: usize) -> Result<(), E> {
        let rest = self.memory.get().checked_sub(memory).ok_or_else(|| self.refuse(Reason::TooMuchMemory))?;
        self.memory.set(rest);
        Ok(())
    }

    fn charge_text<E: serde::de::Error>(&self, text: &str) -> Result<(), E> {
        self.charge(TEXT_MEMORY.saturating_add(text.len()))?;
        let rest = self.bytes.get().checked_sub(text.len()).ok_or_else(|| self.refuse(Reason::TooMuchText))?;
        self.bytes.set(rest);
        Ok(())
    }
}

/// Reads one value of either notation.
#[derive(Clone, Copy)]
pub(super) struct Node<'r> {
    reading: &'r Reading,
    level: Level,
}

/// What a value is to its document.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    Document,
    /// The field `items` of a document.
    Items,
    Other,
}

impl<'r> Node<'r> {
    /// Reads a document; its items, if it has some, are left in the reading.
    pub(super) fn document(reading: &'r Reading) -> Self {
        Self { reading, level: Level::Document }
    }

    fn at(self, level: Level) -> Self {
        Self { level, ..self }
    }

    /// Packs each item as soon as it is read, so that a list may be larger than what one object may take.
    fn pack_items<'de, A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Value, A::Error> {
        let before = self.reading.memory.get();
        while let Some(item) = sequence.next_element_seed(self.at(Level::Other))? {
            let pushed = self.reading.items.borrow_mut().push(item);
            pushed.map_err(|limit| self.reading.refuse::<A::Error>(Reason::Limit(limit)))?;
            self.reading.memory.set(before);
        }
        Ok(Value::Array(Vec::new()))
    }
}

impl<'de> DeserializeSeed<'de> for Node<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        self.reading.charge(VALUE_MEMORY)?;
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Node<'_> {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value that JSON can hold")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(number::from_unsigned(value))
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Value, E> {
        number::from_float(value).ok_or_else(|| self.reading.refuse(Reason::Number))
    }

    fn visit_str<E: serde::de::Error>(self, value: &str) -> Result<Value, E> {
        self.reading.charge_text(value)?;
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E: serde::de::Error>(self, value: String) -> Result<Value, E> {
        self.reading.charge_text(&value)?;
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Value, A::Error> {
        if self.level == Level::Items {
            return self.pack_items(sequence);
        }
        let mut items = Vec::new();
        while let Some(item) = sequence.next_element_seed(self.at(Level::Other))? {
            items.push(item);
        }
        items.shrink_to_fit();
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut mapping: A) -> Result<Value, A::Error> {
        let mut entries = Entries::default();
        self.reading.charge(MAPPING_MEMORY)?;
        while let Some(key) = mapping.next_key_seed(Key { reading: self.reading, entries: &entries })? {
            let has_items = self.level == Level::Document && key == "items";
            let value = mapping.next_value_seed(self.at(if has_items { Level::Items } else { Level::Other }))?;
            if self.reading.is_merge(&key) {
                entries.merge(value).map_err(|reason| self.reading.refuse::<A::Error>(reason))?;
            } else {
                entries.merged.remove(&key);
                entries.map.insert(key, value);
            }
        }
        Ok(Value::Object(fitted(entries.map)))
    }
}

/// Returns a small mapping without the room that growing left it: four entries at least, so that a hostile list of
/// mappings with one key each would take three times what it needs.
fn fitted(map: Map<String, Value>) -> Map<String, Value> {
    if map.len() >= SMALL {
        return map;
    }
    let mut fitted = Map::with_capacity(map.len());
    fitted.extend(map);
    fitted
}

/// The entries of a mapping so far. kubectl's YAML library walks them in order and lets each replace the earlier one: a
/// `<<` after a key replaces that key (`decode.go` of its `goyaml.v2`), which later YAML versions do not.
#[derive(Default)]
struct Entries {
    map: Map<String, Value>,
    /// Keys that only a merge has set, so that giving them is no duplicate.
    merged: HashSet<String>,
}

impl Entries {
    /// Whether the mapping itself has the key already, a merge aside.
    fn has(&self, key: &str) -> bool {
        self.map.contains_key(key) && !self.merged.contains(key)
    }

    fn merge(&mut self, value: Value) -> Result<(), Reason> {
        match value {
            Value::Object(fields) => {
                self.merge_fields(fields);
                Ok(())
            }
            Value::Array(items) => {
                // The first of several wins, so it goes last.
                for item in items.into_iter().rev() {
                    let Value::Object(fields) = item else { return Err(Reason::Merge) };
                    self.merge_fields(fields);
                }
                Ok(())
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Err(Reason::Merge),
        }
    }

    fn merge_fields(&mut self, fields: Map<String, Value>) {
        for (key, value) in fields {
            if !self.map.contains_key(&key) {
                self.merged.insert(key.clone());
            }
            self.map.insert(key, value);
        }
    }
}

/// Reads a key and writes it as a string, as `convertToJSONableObject` of sigs.k8s.io/yaml does. Refuses one that is
/// there, here and not later, so that the error has the key's position.
struct Key<'r> {
    reading: &'r Reading,
    entries: &'r Entries,
}

impl Key<'_> {
    fn accept<E: serde::de::Error>(&self, key: String) -> Result<String, E> {
        self.reading.charge(KEY_MEMORY)?;
        self.reading.charge_text(&key)?;
        if self.entries.has(&key) && !self.reading.is_merge(&key) {
            return Err(self.reading.refuse(Reason::DuplicateKey(key)));
        }
        Ok(key)
    }
}

impl<'de> DeserializeSeed<'de> for Key<'_> {
    type Value = String;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<String, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Key<'_> {
    type Value = String;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a key")
    }

    fn visit_bool<E: serde::de::Error>(self, value: bool) -> Result<String, E> {
        self.accept(value.to_string())
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<String, E> {
        self.accept(value.to_string())
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<String, E> {
        match i64::try_from(value) {
            Ok(value) => self.accept(value.to_string()),
            Err(_) => Err(self.reading.refuse(Reason::Key("an integer beyond 64 bits"))),
        }
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<String, E> {
        self.accept(number::float_key(value))
    }

    fn visit_str<E: serde::de::Error>(self, value: &str) -> Result<String, E> {
        self.accept(value.to_owned())
    }

    fn visit_string<E: serde::de::Error>(self, value: String) -> Result<String, E> {
        self.accept(value)
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<String, E> {
        Err(self.reading.refuse(Reason::Key("null")))
    }

    fn visit_none<E: serde::de::Error>(self) -> Result<String, E> {
        Err(self.reading.refuse(Reason::Key("null")))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, _: A) -> Result<String, A::Error> {
        Err(self.reading.refuse(Reason::Key("a sequence")))
    }

    fn visit_map<A: MapAccess<'de>>(self, _: A) -> Result<String, A::Error> {
        Err(self.reading.refuse(Reason::Key("a mapping")))
    }
}

impl Reason {
    /// Says the reason; `withheld` keeps the input's own words out of it.
    pub(super) fn describe(&self, withheld: bool) -> String {
        match self {
            Self::DuplicateKey(_) if withheld => "a key is given twice".to_owned(),
            Self::DuplicateKey(key) => format!("the key \"{}\" is given twice", super::snippet::escape(key)),
            Self::Key(found) => format!("a key must be a string, a number or a boolean, found {found}"),
            Self::Merge => "the value of a merge (<<) must be a mapping or a sequence of mappings".to_owned(),
            Self::Number => "a number is not finite".to_owned(),
            Self::TooMuchMemory => {
                format!("one object takes more than {} MiB of memory", MAX_OBJECT_MEMORY / (1024 * 1024))
            }
            Self::Limit(limit) => limit.describe(),
            Self::TooMuchText => {
                format!("aliases repeat more than {} MiB of text", MAX_REPEATED_BYTES / (1024 * 1024))
            }
        }
    }
}
