//! File names to inputs, and inputs to bytes.

#![expect(clippy::disallowed_methods, reason = "this file is where manifests are read from disk")]

use std::borrow::Cow;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::{MAX_FILE_BYTES, ManifestError, Origin};

const STANDARD_INPUT: &str = "standard input";
const EXTENSIONS: [&str; 3] = ["json", "yaml", "yml"];

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

    /// Reads it, but no more than one byte beyond [`MAX_FILE_BYTES`].
    pub(super) fn bytes(&self, stdin: &mut dyn Read) -> Result<Vec<u8>, ManifestError> {
        let bytes = match self {
            Self::Stdin => bounded(stdin),
            Self::File(path) => File::open(path).and_then(bounded),
            Self::Text { bytes, .. } => bounded(bytes.as_slice()),
        };
        match bytes {
            Ok(bytes) if bytes.len() > MAX_FILE_BYTES => Err(too_large(&self.name())),
            Ok(bytes) => Ok(bytes),
            Err(error) => Err(unreadable(&self.name(), &error)),
        }
    }
}

fn bounded(reader: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let limit = u64::try_from(MAX_FILE_BYTES).unwrap_or(u64::MAX).saturating_add(1);
    reader.take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Finds the inputs of the origins, in order, with what errors call all those of one; see [`super::read`].
pub(super) fn find(origins: Vec<Origin>, recursive: bool) -> Result<Vec<(String, Vec<Input>)>, ManifestError> {
    let mut found: Vec<(String, Vec<Input>)> = Vec::new();
    for origin in origins {
        found.push(match origin {
            Origin::Text { name, bytes } => (name.clone(), vec![Input::Text { name, bytes }]),
            Origin::Name(name) if name == "-" => {
                if found.iter().any(|(_, inputs)| inputs.contains(&Input::Stdin)) {
                    return Err(ManifestError("standard input (-f -) can be given only once".to_owned()));
                }
                (STANDARD_INPUT.to_owned(), vec![Input::Stdin])
            }
            Origin::Name(name) => {
                let inputs = files_of(Path::new(&name), recursive)?;
                (format!("\"{name}\""), inputs)
            }
        });
    }
    Ok(found)
}

fn files_of(path: &Path, recursive: bool) -> Result<Vec<Input>, ManifestError> {
    let metadata = fs::metadata(path).map_err(|error| missing_or_unreadable(path, &error))?;
    if !metadata.is_dir() {
        return Ok(vec![Input::File(path.to_owned())]);
    }
    let mut inputs = Vec::new();
    add_directory(path, recursive, &mut inputs)?;
    if inputs.is_empty() {
        return Err(ManifestError(format!(
            "no manifests in \"{}\": recognized file extensions are .json, .yaml and .yml",
            path.display()
        )));
    }
    Ok(inputs)
}

/// Adds a directory's files. Links to files are followed, links to directories are not, so that this ends; pipes, sockets and
/// devices are passed over, so that it does not wait.
fn add_directory(directory: &Path, recursive: bool, inputs: &mut Vec<Input>) -> Result<(), ManifestError> {
    for name in sorted_names(directory).map_err(|error| unreadable(&directory.to_string_lossy(), &error))? {
        let path = directory.join(name);
        let failed = |error| unreadable(&path.to_string_lossy(), &error);
        if fs::symlink_metadata(&path).map_err(failed)?.is_dir() {
            if recursive {
                add_directory(&path, recursive, inputs)?;
            }
            continue;
        }
        let extension = path.extension().and_then(|extension| extension.to_str());
        let is_manifest = extension.is_some_and(|extension| EXTENSIONS.contains(&extension));
        if is_manifest && fs::metadata(&path).map_err(failed)?.is_file() {
            inputs.push(Input::File(path));
        }
    }
    Ok(())
}

fn sorted_names(directory: &Path) -> io::Result<Vec<OsString>> {
    let names = fs::read_dir(directory)?.map(|entry| entry.map(|entry| entry.file_name()));
    let mut names = names.collect::<io::Result<Vec<_>>>()?;
    names.sort();
    Ok(names)
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the kinds of errors that there are in std")]
fn missing_or_unreadable(path: &Path, error: &io::Error) -> ManifestError {
    let path = path.to_string_lossy();
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory if path.contains(['*', '?', '[']) => ManifestError(
            format!("the path \"{path}\" does not exist; name the directory, or let the shell expand the pattern"),
        ),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
            ManifestError(format!("the path \"{path}\" does not exist"))
        }
        _ => unreadable(&path, error),
    }
}

fn unreadable(path: &str, error: &io::Error) -> ManifestError {
    ManifestError(format!("cannot read \"{path}\": {error}"))
}

pub(super) fn too_large(name: &str) -> ManifestError {
    ManifestError(format!("\"{name}\" is larger than {} MiB", MAX_FILE_BYTES / (1024 * 1024)))
}
