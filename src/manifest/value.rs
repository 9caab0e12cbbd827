//! Parser events to JSON values: keys to strings, merges, and numbers as Kubernetes keeps them.

use std::collections::HashSet;
use std::fmt;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// The first float beyond the signed 64-bit integers, 2^63.
const INTEGER_END: f64 = 9_223_372_036_854_775_808.0;

/// A value of YAML, where `<<` merges.
pub(super) type YamlValue = Node<true>;

pub(super) type JsonValue = Node<false>;

pub(super) struct Node<const MERGES: bool>(pub(super) Value);

impl<'de, const MERGES: bool> Deserialize<'de> for Node<MERGES> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NodeVisitor::<MERGES>).map(Self)
    }
}

struct NodeVisitor<const MERGES: bool>;

impl<'de, const MERGES: bool> Visitor<'de> for NodeVisitor<MERGES> {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value that JSON can hold")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    /// What does not fit into a signed 64-bit integer becomes the nearest float, as by Go's strconv.
    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        i64::try_from(value).map_or_else(|_| self.visit_f64(value as f64), |value| Ok(Value::from(value)))
    }

    /// An integral float within the signed 64-bit range becomes an integer, as encoding it to JSON and back does in
    /// Kubernetes (`json.go` of apimachinery): `1e3` is 1000, `08` is 8, `-0.0` is 0.
    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        if value.fract() == 0.0 && (-INTEGER_END..INTEGER_END).contains(&value) {
            return Ok(Value::from(value as i64));
        }
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("a number is not finite"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(Node::<MERGES>(item)) = sequence.next_element()? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut mapping: A) -> Result<Value, A::Error> {
        let mut entries = Entries { merges: MERGES, ..Entries::default() };
        while let Some(key) = mapping.next_key_seed(Key(&entries))? {
            let Node::<MERGES>(value) = mapping.next_value()?;
            entries.add(key, value).map_err(A::Error::custom)?;
        }
        Ok(Value::Object(entries.map))
    }
}

/// The entries of a mapping so far. kubectl's YAML library walks them in order and lets each replace the earlier one: a
/// `<<` after a key replaces that key (`decode.go` of its `goyaml.v2`), which later YAML versions do not.
#[derive(Default)]
struct Entries {
    merges: bool,
    map: Map<String, Value>,
    /// Keys that only a merge has set, so that giving them is no duplicate.
    merged: HashSet<String>,
}

impl Entries {
    fn is_merge(&self, key: &str) -> bool {
        self.merges && key == "<<"
    }

    fn add(&mut self, key: String, value: Value) -> Result<(), &'static str> {
        const REFUSED: &str = "the value of a merge (<<) must be a mapping or a sequence of mappings";
        if !self.is_merge(&key) {
            self.merged.remove(&key);
            self.map.insert(key, value);
            return Ok(());
        }
        let sources = if let Value::Array(sources) = value { sources } else { vec![value] };
        // The first of several wins, so it goes last.
        for source in sources.into_iter().rev() {
            let Value::Object(fields) = source else { return Err(REFUSED) };
            for (key, value) in fields {
                if self.map.insert(key.clone(), value).is_none() {
                    self.merged.insert(key);
                }
            }
        }
        Ok(())
    }
}

/// Reads a key and writes it as a string, as `convertToJSONableObject` of sigs.k8s.io/yaml does. Refuses one that is
/// there, here and not later, so that the error has the key's position.
struct Key<'e>(&'e Entries);

impl Key<'_> {
    fn refuse<E: Error>(found: &str) -> Result<String, E> {
        Err(E::custom(format!("a key must be a string, a number or a boolean, found {found}")))
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

    fn visit_bool<E: Error>(self, value: bool) -> Result<String, E> {
        self.visit_string(value.to_string())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<String, E> {
        self.visit_string(value.to_string())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<String, E> {
        match i64::try_from(value) {
            Ok(value) => self.visit_i64(value),
            Err(_) => Self::refuse("an integer beyond 64 bits"),
        }
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<String, E> {
        self.visit_string(float_key(value))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<String, E> {
        self.visit_string(value.to_owned())
    }

    fn visit_string<E: Error>(self, key: String) -> Result<String, E> {
        let Self(entries) = self;
        let is_there = entries.map.contains_key(&key) && !entries.merged.contains(&key);
        if is_there && !entries.is_merge(&key) {
            return Err(E::custom(format!("the key \"{key}\" is given twice")));
        }
        Ok(key)
    }

    fn visit_unit<E: Error>(self) -> Result<String, E> {
        Self::refuse("null")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, _: A) -> Result<String, A::Error> {
        Self::refuse("a sequence")
    }

    fn visit_map<A: MapAccess<'de>>(self, _: A) -> Result<String, A::Error> {
        Self::refuse("a mapping")
    }
}

/// Writes a float as kubectl writes one that is a key: `strconv.FormatFloat(key, 'g', -1, 32)` in sigs.k8s.io/yaml.
fn float_key(float: f64) -> String {
    let single = float as f32;
    if single.is_infinite() {
        return if single > 0.0 { ".inf".to_owned() } else { "-.inf".to_owned() };
    }
    let scientific = format!("{single:e}");
    let parts = scientific.split_once('e').and_then(|(mantissa, exponent)| Some((mantissa, exponent.parse().ok()?)));
    match parts {
        Some((_, -4..6)) => format!("{single}"),
        Some((mantissa, exponent)) => {
            format!("{mantissa}e{}{:02}", if exponent < 0 { '-' } else { '+' }, i32::abs(exponent))
        }
        None => scientific,
    }
}
