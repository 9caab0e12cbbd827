//! Reads manifests as kubectl does: files, folders and standard input to Kubernetes objects that know where they stood.
//!
//! Promise: the same text gives the same objects that kubectl would send, or an error. In particular YAML scalars are
//! those of YAML 1.1 (`yes` is a boolean, `0755` is 493), integral floats are integers, keys become strings, `<<` merges
//! in kubectl's order, and a stream that begins with `{` is JSON. Any input ends in an answer: size, depth, number of
//! values and the growth by aliases are bounded by the constants of this module.
//!
//! Where kubectl is silent and a person would be misled, this module is strict: a key given twice, an object given
//! twice, invalid UTF-8, a missing `apiVersion`, and text after `...` are errors.
//!
//! Not done here: no URL is fetched, no kustomization is built, nothing is validated against a schema, and no default
//! namespace is filled in.
//!
//! Known differences from kubectl, each in the table of the tests: a boolean word in odd case (`tRUE`, `yEs`) is a boolean
//! here and a string there; `_` in a float, twice in a row or at the end makes a string here and a number there; `1e400`
//! and `!!timestamp` are errors here and strings there; a tag of one's own before nothing (`!x`) is null here and `""`
//! there. A quoted `"<<"` key is taken as a merge, and a tab in the indentation may pass.

mod decode;
mod error;
mod files;
mod json;
mod list;
mod number;
mod object;
mod pattern;
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

pub use error::{EncodingProblem, Format, ManifestError, Place};
pub use snippet::Snippet;
pub use source::{Manifest, Position, Source};

/// Bounds one input, in bytes: 16 MiB, ten times the most that the API server takes for one object.
pub const MAX_INPUT_BYTES: usize = 16 * 1024 * 1024;

/// Bounds the values (mappings, sequences and scalars, keys not counted) of one input.
///
/// A list of pods as kubectl prints it has one value about every 30 bytes, so 16 MiB of them stay below it.
pub const MAX_VALUES: usize = 600_000;

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
pub const MAX_REPEATED_BYTES: usize = 8 * 1024 * 1024;

/// Reads every object that the given file names hold, in the order given.
///
/// A name is a file, a folder (its `.json`, `.yaml` and `.yml` files sorted by name, those of its sub-folders only if
/// `recursive`), a pattern in the last path element when no such file exists, or `-` for `stdin`. Comma-separated lists
/// are the command line's matter. An input without objects adds nothing, so the result may be empty.
///
/// Rests on `visitor.go` and `builder.go` of Kubernetes' cli-runtime.
///
/// # Errors
///
/// The first [`ManifestError`] met. Nothing is returned of the inputs before it.
pub fn read(filenames: &[String], recursive: bool, stdin: &mut dyn Read) -> Result<Vec<Manifest>, ManifestError> {
    let mut manifests = Vec::new();
    for input in files::find(filenames, recursive)? {
        let bytes = input.bytes(stdin)?;
        manifests.extend(parse_objects(&input.name(), &bytes)?);
    }
    object::reject_duplicates(&manifests)?;
    Ok(manifests)
}

/// Parses the bytes of one input; `name` is what errors and sources call it.
///
/// # Errors
///
/// A [`ManifestError`] with the position where it is known.
pub fn parse(name: &str, bytes: &[u8]) -> Result<Vec<Manifest>, ManifestError> {
    let manifests = parse_objects(name, bytes)?;
    object::reject_duplicates(&manifests)?;
    Ok(manifests)
}

fn parse_objects(name: &str, bytes: &[u8]) -> Result<Vec<Manifest>, ManifestError> {
    if bytes.len() > MAX_INPUT_BYTES {
        return Err(ManifestError::TooLarge { name: name.to_owned() });
    }
    thread::scope(|scope| {
        let parser = thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, || parse_text(name, bytes));
        let parser = parser.map_err(|source| ManifestError::Unreadable { path: name.to_owned(), source })?;
        parser.join().unwrap_or_else(|payload| panic::resume_unwind(payload))
    })
}

fn parse_text(name: &str, bytes: &[u8]) -> Result<Vec<Manifest>, ManifestError> {
    let text = decode::decode(name, bytes)?;
    let documents = if text.trim_start().starts_with('{') {
        json::documents(name, &text)?
    } else {
        decode::require_printable(name, &text)?;
        yaml::documents(name, &text)?
    };
    let mut manifests = Vec::new();
    for (value, source) in documents {
        list::expand(value, &source, &mut manifests)?;
    }
    Ok(manifests)
}
