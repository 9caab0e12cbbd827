//! Reads manifests as kubectl does: files, folders and standard input to Kubernetes objects with their source
//! positions.
//!
//! Promise: the same text gives the same objects that kubectl would send, or an error. In particular YAML scalars are
//! those of YAML 1.1 (`yes` is a boolean, `0755` is 493), integral floats are integers, keys become strings, `<<` merges
//! in kubectl's order, and a stream that begins with `{` is JSON. Any input ends in an answer: size, depth, the memory
//! of one object and of all, and the growth by aliases are bounded by the constants of this module, so that no input makes the
//! program use more than 64 MiB.
//!
//! Where kubectl is silent and the user would be misled, this module is strict: a key given twice, an object given
//! twice, invalid UTF-8, a missing `apiVersion`, and text after `...` are errors.
//!
//! Objects are kept as compact JSON text, and of those that the caller does not want only the identity.
//!
//! The objects that [`read`] is asked for are checked against the API's types: a wrong type or a missing field is an
//! error that names its line, and a field that this build does not know is noted at its object ([`Packed::unknown`]),
//! since a newer server may know it. An input without a single object is an error too.
//!
//! Not done here: no URL is fetched and no kustomization is built (their text is an [`Origin`]), and no default namespace is
//! filled in.
//!
//! Known differences from kubectl, each in the table of the tests: a boolean word in odd case (`tRUE`, `yEs`) is a boolean
//! here and a string there; `_` in a float, twice in a row or at the end makes a string here and a number there; `1e400`
//! and `!!timestamp` are errors here and strings there; a tag of one's own before nothing (`!x`) is null here and `""`
//! there. A quoted `"<<"` key is taken as a merge, and a tab in the indentation may pass.

mod decode;
mod error;
mod files;
mod finding;
mod json;
mod list;
mod locate;
mod number;
mod object;
mod packed;
mod pattern;
mod place;
mod snippet;
mod source;
mod value;
mod yaml;

#[cfg(test)]
mod fuzz;
#[cfg(test)]
mod tests;

use std::io::Read;
use std::panic;
use std::thread;

use packed::Packer;

use engine::value::api_schema::Scope;

pub use error::{EncodingProblem, Format, ManifestError};
pub use finding::{Finding, Findings};
pub use packed::Packed;
pub use snippet::Snippet;
pub use source::{Manifest, Position, Source};

/// Bounds one input, in bytes: 16 MiB, ten times the most that the API server takes for one object.
pub const MAX_INPUT_BYTES: usize = 16 * 1024 * 1024;

/// Bounds the memory that one object may take while it is read, in bytes: about 60,000 fields, four times what the largest
/// custom resource definitions have.
pub const MAX_OBJECT_MEMORY: usize = 12 * 1024 * 1024;

/// Bounds the memory of one object that is kept, in bytes: about 10,000 fields.
///
/// A comparison has it nine times at once: as written and with defaults, older and newer, merged, and in parts; and defaults
/// may double it.
pub const MAX_KEPT_OBJECT_MEMORY: usize = 2 * 1024 * 1024;

/// Bounds the pairs of elements that lists of all kept objects have, the squares of their lengths: some thousand workloads
/// with 50 environment variables each, or one with a list of 2,400.
///
/// Lists are merged and compared element by element, as Kubernetes does it, so the time that takes grows with the pairs.
pub const MAX_KEPT_PAIRS: usize = 6_000_000;

/// Bounds one kept object as JSON, in bytes: what the API server takes for one request (`MaxRequestBodyBytes` in
/// `config.go` of apiserver).
pub const MAX_REQUEST_BYTES: usize = 3 * 1024 * 1024;

/// Bounds all objects that one reading keeps, as JSON, in bytes: some thousand workloads.
pub const MAX_KEPT_BYTES: usize = 6 * 1024 * 1024;

/// Bounds the objects of one reading, those that are not kept included.
pub const MAX_OBJECTS: usize = 5_000;

/// Bounds how deeply mappings and sequences may be nested: what `serde_json` allows, twice what large custom resource
/// definitions need.
pub const MAX_DEPTH: usize = 128;

/// The stack that parsing runs on. A level of nesting takes about 30 KiB of it without optimisation, and callers may be
/// on threads with 2 MiB (tokio's workers) or 1 MiB (the main thread of Windows).
const STACK_BYTES: usize = 16 * 1024 * 1024;

/// Bounds the parser events that the aliases of one YAML document may repeat; against documents that grow by aliases of
/// aliases.
pub const MAX_REPEATED_EVENTS: usize = 100_000;

/// Bounds the bytes of text that aliases may add to what the input itself holds.
pub const MAX_REPEATED_BYTES: usize = 2 * 1024 * 1024;

/// Says by `apiVersion` and `kind` whether the contents of an object are wanted.
pub type Wanted = fn(&str, &str) -> bool;

/// Where manifests come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// A name of the command line.
    Name(String),
    /// What was read elsewhere, no more than one byte beyond [`MAX_INPUT_BYTES`].
    Text {
        /// What errors and sources call it.
        name: String,
        /// What it holds.
        bytes: Vec<u8>,
    },
}

/// Reads every object that the given origins hold, in the order given; of those that are not wanted the identity alone.
///
/// A name is a file, a folder (its `.json`, `.yaml` and `.yml` files sorted by name, those of its sub-folders only if
/// `recursive`), a pattern in the last path element when no such file exists, or `-` for `stdin`. Comma-separated lists
/// are the command line's matter. What is wanted must be of the API's types, as far as `scope` says.
///
/// Rests on `visitor.go` and `builder.go` of Kubernetes' cli-runtime.
///
/// # Errors
///
/// The first [`ManifestError`] met. Nothing is returned of the inputs before it.
pub fn read(
    origins: Vec<Origin>,
    recursive: bool,
    stdin: &mut dyn Read,
    wanted: Wanted,
    scope: Scope,
) -> Result<Vec<Packed>, ManifestError> {
    let mut packer = Packer::new(wanted, Some(scope));
    for given in files::find(origins, recursive)? {
        let before = packer.len();
        for input in &given.inputs {
            let bytes = input.bytes(stdin)?;
            parse_objects(&input.name(), bytes, &mut packer)?;
        }
        if packer.len() == before {
            return Err(ManifestError::NoObjects { name: given.name });
        }
    }
    let objects = packer.finish()?;
    packed::reject_duplicates(&objects)?;
    Ok(objects)
}

/// Parses the bytes of one input, with the contents of every object, of whatever types its fields are; `name` is what
/// errors and sources call it.
///
/// # Errors
///
/// A [`ManifestError`] with the position where it is known.
pub fn parse(name: &str, bytes: &[u8]) -> Result<Vec<Manifest>, ManifestError> {
    let mut packer = Packer::new(|_, _| true, None);
    parse_objects(name, bytes.to_vec(), &mut packer)?;
    let objects = packer.finish()?;
    packed::reject_duplicates(&objects)?;
    Ok(objects.into_iter().map(|packed| Manifest { object: packed.object(), source: packed.source }).collect())
}

fn parse_objects(name: &str, bytes: Vec<u8>, packer: &mut Packer) -> Result<(), ManifestError> {
    if bytes.len() > MAX_INPUT_BYTES {
        return Err(ManifestError::TooLarge { name: name.to_owned() });
    }
    thread::scope(|scope| {
        let parser =
            thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, || parse_text(name, bytes, packer));
        let parser = parser.map_err(|source| ManifestError::Unreadable { path: name.to_owned(), source })?;
        parser.join().unwrap_or_else(|payload| panic::resume_unwind(payload))
    })
}

fn parse_text(name: &str, bytes: Vec<u8>, packer: &mut Packer) -> Result<(), ManifestError> {
    let text = decode::decode(name, bytes)?;
    let text = text.as_str();
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim_start().starts_with('{') {
        json::documents(name, text, packer)
    } else {
        decode::require_printable(name, text)?;
        yaml::documents(name, text, packer)
    }
}
