//! Reads manifests as kubectl does: files, directories and standard input to Kubernetes objects with their place.
//!
//! Promise: the same text gives the same objects that kubectl would send, or an error. In particular YAML scalars are
//! those of YAML 1.1 (`yes` is a boolean, `0755` is 493), integral floats are integers, keys become strings, `<<` merges
//! in kubectl's order, and a stream that begins with `{` is JSON. Any input ends in an answer: the size of a file is
//! bounded here, depth, number of values, and growth by aliases by the parser's budget.
//!
//! Where kubectl is silent and the user would be misled, this module is strict: a key given twice, an object given
//! twice, invalid UTF-8, a missing `apiVersion`, an input without a single object, and text after `...` are errors.
//!
//! Not done here: no URL is fetched and no kustomization is built (their text is an [`Origin`]), and no default namespace is
//! filled in.
//!
//! Known differences from kubectl, each in the table of the tests: a boolean word in odd case (`tRUE`, `yEs`) is a boolean
//! here and a string there; `_` in a float, twice in a row or at the end makes a string here and a number there; `1e400`
//! and `!!timestamp` are errors here and strings there; a tag of one's own before nothing (`!x`) is null here and `""`
//! there. A quoted `"<<"` key is taken as a merge, and a tab in the indentation may pass. A file name is no pattern.

mod documents;
mod files;
mod objects;
mod types;
mod value;

#[cfg(test)]
mod tests;

use std::fmt;
use std::io::Read;
use std::panic;
use std::sync::Arc;
use std::thread;

use serde_json::Value;
use thiserror::Error;

pub use types::{require_containers, unknown_fields};

/// Bounds one file, in bytes: 16 MiB, ten times the most that the API server takes for one object.
pub const MAX_FILE_BYTES: usize = 16 * 1024 * 1024;

/// The stack that parsing runs on. A level of nesting takes about 30 KiB of it without optimisation, and callers may be
/// on threads with 2 MiB (tokio's workers) or 1 MiB (the main thread of Windows).
const STACK_BYTES: usize = 16 * 1024 * 1024;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// A name of the command line.
    Name(String),
    Text {
        /// What errors and sources call it.
        name: String,
        bytes: Vec<u8>,
    },
}

/// One Kubernetes object: a mapping with `apiVersion`, `kind` and `metadata.name`, all strings.
#[derive(Debug, Clone, PartialEq)]
pub struct Manifest {
    pub api_version: String,
    pub kind: String,
    /// As written; empty where there is none.
    pub namespace: String,
    /// The name; for a hook with `generateName` alone, that with `*` for what the server adds.
    pub name: String,
    /// The object as kubectl would send it.
    pub object: Value,
    pub source: Source,
}

/// The document that an object came from, shown as `web.yaml:12`, and its path in it if that is a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// The file's path as it was given or found, or `standard input`.
    pub name: Arc<str>,
    /// The document's first line that holds more than a comment, from 1.
    pub line: usize,
    /// The path to the item of a list, `items[2]`; empty for the document itself.
    pub item: String,
}

impl fmt::Display for Source {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let separator = if self.item.is_empty() { "" } else { " " };
        write!(formatter, "{}:{}{separator}{}", self.name, self.line, self.item)
    }
}

/// Why manifests could not be read: a sentence with its place. Contents of an input that holds a Secret are never part of it,
/// nor are values.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct ManifestError(String);

impl ManifestError {
    fn at(place: impl fmt::Display, message: impl fmt::Display) -> Self {
        Self(format!("{place}: {message}"))
    }
}

/// Reads every object that the given origins hold, in the order given.
///
/// A name is a file, a directory (its `.json`, `.yaml` and `.yml` files sorted by name, those of its sub-directories only if
/// `recursive`), or `-` for `stdin`. Comma-separated lists are the command line's matter.
///
/// Rests on `visitor.go` and `builder.go` of Kubernetes' cli-runtime.
///
/// # Errors
///
/// The first [`ManifestError`] met. Nothing is returned of the inputs before it.
pub fn read(origins: Vec<Origin>, recursive: bool, stdin: &mut dyn Read) -> Result<Vec<Manifest>, ManifestError> {
    let mut manifests = Vec::new();
    for (name, inputs) in files::find(origins, recursive)? {
        let before = manifests.len();
        for input in inputs {
            manifests.extend(parse_objects(&input.name(), input.bytes(stdin)?)?);
        }
        if manifests.len() == before {
            let message =
                format!("no objects in {name}; an empty manifest is often the output of a command that failed");
            return Err(ManifestError(message));
        }
    }
    objects::reject_duplicates(&manifests)?;
    Ok(manifests)
}

/// Parses the bytes of one input; `name` is what errors and sources call it.
///
/// # Errors
///
/// A [`ManifestError`] with the place where it is known.
pub fn parse(name: &str, bytes: &[u8]) -> Result<Vec<Manifest>, ManifestError> {
    let manifests = parse_objects(name, bytes.to_vec())?;
    objects::reject_duplicates(&manifests)?;
    Ok(manifests)
}

fn parse_objects(name: &str, bytes: Vec<u8>) -> Result<Vec<Manifest>, ManifestError> {
    if bytes.len() > MAX_FILE_BYTES {
        return Err(files::too_large(name));
    }
    thread::scope(|scope| {
        let parser = thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, || {
            let name: Arc<str> = name.into();
            let mut manifests = Vec::new();
            for (line, value) in documents::read(&name, bytes)? {
                let source = Source { name: Arc::clone(&name), line, item: String::new() };
                objects::expand(value, source, &mut manifests)?;
            }
            Ok(manifests)
        });
        let parser = parser.map_err(|error| ManifestError::at(name, error))?;
        parser.join().unwrap_or_else(|payload| panic::resume_unwind(payload))
    })
}
