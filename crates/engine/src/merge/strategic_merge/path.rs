//! Where in an object a merge is, for errors: a chain of borrowed segments, written out only when something is wrong.

use super::Error;
use serde_json::Value;
use std::fmt;

#[derive(Clone, Copy)]
enum Segment<'a> {
    Root,
    Field(&'a str),
    Index(usize),
}

#[derive(Clone, Copy)]
pub(super) struct Path<'a> {
    parent: Option<&'a Self>,
    segment: Segment<'a>,
}

impl<'a> Path<'a> {
    pub(super) fn root() -> Self {
        Self { parent: None, segment: Segment::Root }
    }

    pub(super) fn field(&'a self, name: &'a str) -> Self {
        Self { parent: Some(self), segment: Segment::Field(name) }
    }

    pub(super) fn index(&'a self, index: usize) -> Self {
        Self { parent: Some(self), segment: Segment::Index(index) }
    }

    pub(super) fn wrong_type(&self, expected: &'static str, found: &Value) -> Error {
        Error::WrongType { path: self.to_string(), expected, found: type_name(found) }
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let above_root = self.parent.is_none_or(|parent| parent.parent.is_none());
        if let Some(parent) = self.parent.filter(|_| !above_root) {
            parent.fmt(formatter)?;
        }
        match self.segment {
            Segment::Root => formatter.write_str("the object"),
            Segment::Field(name) if above_root => formatter.write_str(name),
            Segment::Field(name) => write!(formatter, ".{name}"),
            Segment::Index(index) => write!(formatter, "[{index}]"),
        }
    }
}

fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "a map",
    }
}
