//! What can be wrong with a manifest, said with its place.

use std::fmt;
use std::io;

use thiserror::Error;

use super::finding::Findings;
use super::place::Place;
use super::snippet::{Snippet, escape};
use super::source::{Position, Source};
use super::{MAX_DEPTH, MAX_INPUT_BYTES};

/// Why manifests could not be read. Contents of an input that holds a Secret are never part of a message.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ManifestError {
    /// A path that is neither a file nor a folder nor a pattern with matches.
    #[error("the path \"{}\" does not exist", escape(path))]
    NotFound {
        /// The path as given.
        path: String,
    },
    /// A file or folder that the operating system does not let us read.
    #[error("cannot read \"{}\": {source}", escape(path))]
    Unreadable {
        /// The path as given or found.
        path: String,
        /// The operating system's answer.
        source: io::Error,
    },
    /// A folder without manifests.
    #[error("no manifests in \"{}\": recognized file extensions are .json, .yaml and .yml", escape(path))]
    EmptyFolder {
        /// The folder as given.
        path: String,
    },
    /// Files without a single object: empty, or of comments alone.
    #[error("no objects in {name}; an empty manifest is often the output of a command that failed")]
    NoObjects {
        /// What was given, quoted; or `standard input`.
        name: String,
    },
    /// Fields that the API does not have so.
    #[error("{0}")]
    Schema(Findings),
    /// A file name pattern that cannot be understood, such as one with an open bracket.
    #[error("the pattern \"{}\" is not valid", escape(pattern))]
    InvalidPattern {
        /// The pattern as given.
        pattern: String,
    },
    /// `-` given more than once.
    #[error("standard input (-f -) can be given only once")]
    StandardInputTwice,
    /// More than [`MAX_INPUT_BYTES`].
    #[error("\"{}\" is larger than {} MiB", escape(name), MAX_INPUT_BYTES / (1024 * 1024))]
    TooLarge {
        /// The file's path, or `standard input`.
        name: String,
    },
    /// Bytes that are not text.
    #[error("\"{}\": {problem} at byte {offset}", escape(name))]
    Encoding {
        /// The file's path, or `standard input`.
        name: String,
        /// What is wrong.
        problem: EncodingProblem,
        /// The offset of the first wrong byte, from 0. In UTF-16 input, of the first wrong code unit.
        offset: usize,
    },
    /// Text that is not YAML or JSON, or that exceeds a limit.
    #[error("{position}: {format}: {message}{snippet}")]
    Syntax {
        /// Where.
        position: Position,
        /// Which of the two was read.
        format: Format,
        /// What the parser met.
        message: String,
        /// The line, or nothing where it may hold a secret.
        snippet: Snippet,
    },
    /// A document that is a scalar or a sequence.
    #[error("{place}: expected an object, found {found}")]
    NotAnObject {
        /// Which document, and which item of it.
        place: Box<Place>,
        /// The kind of value: `a string`, `an array`.
        found: &'static str,
    },
    /// A field that every object needs.
    #[error("{place}: {field} not set{hint}")]
    Missing {
        /// Which document, and which item of it.
        place: Box<Place>,
        /// The path of the field.
        field: &'static str,
        /// More about it, with its separator, or nothing.
        hint: &'static str,
    },
    /// A field of the wrong type.
    #[error("{place}: {field} is {found}, not {expected}{hint}")]
    WrongType {
        /// Which document, and which item of it.
        place: Box<Place>,
        /// The path of the field.
        field: &'static str,
        /// The kind of value: `a boolean`.
        found: &'static str,
        /// The kind of value it must be: `a string`.
        expected: &'static str,
        /// More about it, with its separator, or nothing.
        hint: &'static str,
    },
    /// More objects, or larger ones, than this module takes.
    #[error("{place}: {limit}")]
    Limit {
        /// Which document, and which item of it.
        place: Box<Place>,
        /// The bound, in words.
        limit: String,
    },
    /// Lists in lists, deeper than [`MAX_DEPTH`].
    #[error("{place}: lists are nested more than {MAX_DEPTH} deep")]
    ListTooDeep {
        /// Which document, and which item of it.
        place: Box<Place>,
    },
    /// One object twice.
    #[error("{} is given twice: {first} and {second}", escape(object))]
    Duplicate {
        /// `Deployment prod/web`.
        object: String,
        /// The document with the first of them.
        first: Source,
        /// The document with the second of them.
        second: Source,
    },
}

/// What makes bytes no text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EncodingProblem {
    /// Not UTF-8.
    Utf8,
    /// A byte order mark of UTF-16, but not UTF-16.
    Utf16,
    /// A NUL character, as in a binary file or in UTF-16 without a byte order mark.
    Nul,
    /// A character that YAML does not allow unescaped, or that YAML 1.1 takes for the end of a line and later versions do
    /// not.
    Character(char),
}

impl fmt::Display for EncodingProblem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Utf8 => formatter.write_str("not UTF-8"),
            Self::Utf16 => formatter.write_str("not UTF-16, though it begins with its byte order mark"),
            Self::Nul => formatter.write_str("not text: a NUL character"),
            Self::Character(character) => {
                write!(formatter, "character U+{:04X} must be escaped in YAML", u32::from(*character))
            }
        }
    }
}

/// The two notations of a manifest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Any text that does not begin with `{`.
    Yaml,
    /// Text that begins with `{`.
    Json,
}

impl fmt::Display for Format {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Yaml => "YAML",
            Self::Json => "JSON",
        })
    }
}
