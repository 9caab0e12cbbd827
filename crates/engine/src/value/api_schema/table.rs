//! The table of types, as `fields.txt` and `custom.txt` have it: a line a type, a word a field.
//!
//! The first was generated from the OpenAPI document of a server of Kubernetes 1.36, the other is written by hand.

use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The types of Kubernetes 1.36: `TYPE FIELD:TYPE FIELD!:TYPE ...`, where `!` is a required field, `[T]` a list and `{T}` a
/// map with free keys.
pub const FIELDS: &str = include_str!("fields.txt");

/// The types of the kinds that are no built-in ones, in the same notation.
const CUSTOM: &str = include_str!("custom.txt");

static TYPES: LazyLock<BTreeMap<&str, Fields>> =
    LazyLock::new(|| FIELDS.lines().chain(CUSTOM.lines()).filter_map(Fields::read).collect());

/// The fields of one type.
pub(super) struct Fields {
    pub(super) of: &'static str,
    by_name: BTreeMap<&'static str, Field>,
}

/// One field.
pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) required: bool,
    pub(super) value: Notation,
}

/// A type as the table writes it.
#[derive(Clone, Copy)]
pub(super) struct Notation(&'static str);

/// A type.
#[derive(Clone, Copy)]
pub(super) enum Shape {
    Scalar(Scalar),
    List(Notation),
    Map(Notation),
    Object(&'static Fields),
}

/// A type without fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scalar {
    String,
    Boolean,
    Int32,
    Int64,
    Quantity,
    IntOrString,
    Time,
    Any,
}

/// Returns the fields of a type, such as `Deployment`.
pub(super) fn fields_of(of: &str) -> Option<&'static Fields> {
    TYPES.get(of)
}

impl Fields {
    fn read(line: &'static str) -> Option<(&'static str, Self)> {
        let mut words = line.split(' ');
        let of = words.next()?;
        let fields = words.filter_map(|word| {
            let (name, value) = word.split_once(':')?;
            let (name, required) = name.strip_suffix('!').map_or((name, false), |name| (name, true));
            Some((name, Field { name, required, value: Notation(value) }))
        });
        Some((of, Self { of, by_name: fields.collect() }))
    }

    pub(super) fn get(&self, name: &str) -> Option<&Field> {
        self.by_name.get(name)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Field> {
        self.by_name.values()
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &'static str> {
        self.by_name.keys().copied()
    }

    #[cfg(test)]
    pub(super) fn all() -> impl Iterator<Item = &'static Self> {
        TYPES.values()
    }
}

impl Notation {
    /// Returns what is written; a type that the table does not have is any, which a test rules out.
    pub(super) fn shape(self) -> Shape {
        let within = |open, close| self.0.strip_prefix(open)?.strip_suffix(close).map(Notation);
        if let Some(element) = within('[', ']') {
            return Shape::List(element);
        }
        if let Some(element) = within('{', '}') {
            return Shape::Map(element);
        }
        Shape::Scalar(match self.0 {
            "string" => Scalar::String,
            "boolean" => Scalar::Boolean,
            "int32" => Scalar::Int32,
            "int64" => Scalar::Int64,
            "quantity" => Scalar::Quantity,
            "intOrString" => Scalar::IntOrString,
            "time" => Scalar::Time,
            name => match fields_of(name) {
                Some(fields) => return Shape::Object(fields),
                None => Scalar::Any,
            },
        })
    }

    #[cfg(test)]
    pub(super) fn text(self) -> &'static str {
        self.0
    }
}
