//! File names to inputs, and inputs to bytes.

#![expect(clippy::disallowed_methods, reason = "this file is where manifests are read from disk")]

use std::borrow::Cow;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::error::ManifestError;
use super::pattern::Pattern;
use super::snippet::escape;
use super::{MAX_INPUT_BYTES, Origin};

/// What standard input is called in errors and sources.
const STANDARD_INPUT: &str = "standard input";

/// The extensions of the files of a folder that are read.
const EXTENSIONS: [&str; 3] = ["json", "yaml", "yml"];

/// One input that was asked for and seems to exist.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Input {
    Stdin,
    File(PathBuf),
    Text { name: String, bytes: Vec<u8> },
}

impl Input {
    /// What errors and sources call it. A path that is not Unicode is shown with replacement characters.
    pub(super) fn name(&self) -> Cow<'_, str> {
        match self {
            Self::Stdin => Cow::Borrowed(STANDARD_INPUT),
            Self::File(path) => path.to_string_lossy(),
            Self::Text { name, .. } => Cow::Borrowed(name),
        }
    }

    /// Reads it, but no more than one byte beyond [`MAX_INPUT_BYTES`].
    pub(super) fn bytes(&self, stdin: &mut dyn Read) -> Result<Vec<u8>, ManifestError> {
        let bytes = match self {
            Self::Stdin => bounded(stdin),
            Self::File(path) => File::open(path).and_then(bounded),
            Self::Text { bytes, .. } => bounded(bytes.as_slice()),
        };
        match bytes {
            Ok(bytes) if bytes.len() > MAX_INPUT_BYTES => {
                Err(ManifestError::TooLarge { name: self.name().into_owned() })
            }
            Ok(bytes) => Ok(bytes),
            Err(source) => Err(ManifestError::Unreadable { path: self.name().into_owned(), source }),
        }
    }
}

fn bounded(reader: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let limit = u64::try_from(MAX_INPUT_BYTES).unwrap_or(u64::MAX).saturating_add(1);
    reader.take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// What one file name means.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Given {
    /// What errors call all of it.
    pub(super) name: String,
    pub(super) inputs: Vec<Input>,
}

/// Finds the inputs of the origins, in order; see [`super::read`].
pub(super) fn find(origins: Vec<Origin>, recursive: bool) -> Result<Vec<Given>, ManifestError> {
    let mut found: Vec<Given> = Vec::new();
    for origin in origins {
        let filename = match origin {
            Origin::Name(filename) => filename,
            Origin::Text { name, bytes } => {
                found.push(Given { name: name.clone(), inputs: vec![Input::Text { name, bytes }] });
                continue;
            }
        };
        let mut given = Given { name: format!("\"{}\"", escape(&filename)), inputs: Vec::new() };
        if filename == "-" {
            if found.iter().any(|given| given.inputs.contains(&Input::Stdin)) {
                return Err(ManifestError::StandardInputTwice);
            }
            given = Given { name: STANDARD_INPUT.to_owned(), inputs: vec![Input::Stdin] };
        } else {
            for path in matches(&filename)? {
                add_path(path, recursive, &mut given.inputs)?;
            }
        }
        found.push(given);
    }
    Ok(found)
}

/// The path itself if it exists, else what it matches as a pattern, sorted (`expandIfFilePattern` in `builder.go` of
/// cli-runtime, though only the last element may be a pattern here).
fn matches(filename: &str) -> Result<Vec<PathBuf>, ManifestError> {
    let path = PathBuf::from(filename);
    match fs::metadata(&path) {
        Ok(_) => return Ok(vec![path]),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(source) => return Err(ManifestError::Unreadable { path: filename.to_owned(), source }),
    }
    let not_found = || ManifestError::NotFound { path: filename.to_owned() };
    let last = path.file_name().and_then(|last| last.to_str()).filter(|last| Pattern::is_pattern(last));
    let last = last.ok_or_else(not_found)?;
    let pattern = Pattern::new(last).ok_or_else(|| ManifestError::InvalidPattern { pattern: filename.to_owned() })?;
    let parent = path.parent().unwrap_or_else(|| Path::new(""));
    let folder = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
    let names = sorted_names(folder).map_err(|error| unreadable_or(error, folder, not_found))?;
    let found: Vec<PathBuf> = names
        .into_iter()
        .filter(|name| pattern.matches(&name.to_string_lossy()))
        .map(|name| parent.join(name))
        .collect();
    if found.is_empty() { Err(not_found()) } else { Ok(found) }
}

fn add_path(path: PathBuf, recursive: bool, inputs: &mut Vec<Input>) -> Result<(), ManifestError> {
    let metadata = fs::metadata(&path)
        .map_err(|error| unreadable_or(error, &path, || ManifestError::NotFound { path: shown(&path) }))?;
    if !metadata.is_dir() {
        inputs.push(Input::File(path));
        return Ok(());
    }
    let before = inputs.len();
    add_folder(&path, recursive, inputs)?;
    if inputs.len() == before { Err(ManifestError::EmptyFolder { path: shown(&path) }) } else { Ok(()) }
}

/// Adds a folder's files. Links to files are followed, links to folders are not, so that this ends; pipes, sockets and
/// devices are passed over, so that it does not wait.
fn add_folder(folder: &Path, recursive: bool, inputs: &mut Vec<Input>) -> Result<(), ManifestError> {
    let unreadable = |source, path: &Path| ManifestError::Unreadable { path: shown(path), source };
    for name in sorted_names(folder).map_err(|source| unreadable(source, folder))? {
        let path = folder.join(name);
        let link_or_entry = fs::symlink_metadata(&path).map_err(|source| unreadable(source, &path))?;
        if link_or_entry.is_dir() {
            if recursive {
                add_folder(&path, recursive, inputs)?;
            }
            continue;
        }
        let extension = path.extension().and_then(|extension| extension.to_str());
        if !extension.is_some_and(|extension| EXTENSIONS.contains(&extension)) {
            continue;
        }
        if fs::metadata(&path).map_err(|source| unreadable(source, &path))?.is_file() {
            inputs.push(Input::File(path));
        }
    }
    Ok(())
}

fn sorted_names(folder: &Path) -> io::Result<Vec<std::ffi::OsString>> {
    let mut names =
        fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.file_name())).collect::<io::Result<Vec<_>>>()?;
    names.sort();
    Ok(names)
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the kinds of errors that there are in std")]
fn unreadable_or(error: io::Error, path: &Path, not_found: impl Fn() -> ManifestError) -> ManifestError {
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => not_found(),
        _ => ManifestError::Unreadable { path: shown(path), source: error },
    }
}

fn shown(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
