//! One object of a manifest and where it stood.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use super::snippet::escape;

/// One Kubernetes object: a mapping with `apiVersion`, `kind` and `metadata.name`, all strings.
#[derive(Debug, Clone, PartialEq)]
pub struct Manifest {
    /// The object as kubectl would send it.
    pub object: Value,
    /// Where it stood. The objects of one list share it.
    pub source: Source,
}

/// The document that an object came from; shown as `web.yaml:12`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Source {
    /// The file's path as it was given or found, or `standard input`; shared by its objects.
    pub name: Arc<str>,
    /// The document's number in that input, from 1; empty documents count.
    pub document: usize,
    /// The document's first line that holds more than a comment, from 1.
    pub line: usize,
}

impl fmt::Display for Source {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", escape(&self.name), self.line)
    }
}

/// A place in an input; shown as `web.yaml:12:3`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Position {
    /// The file's path, or `standard input`.
    pub name: String,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1, where it is known.
    pub column: Option<usize>,
}

impl fmt::Display for Position {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", escape(&self.name), self.line)?;
        match self.column {
            Some(column) => write!(formatter, ":{column}"),
            None => Ok(()),
        }
    }
}
