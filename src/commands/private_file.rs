//! Files that only their owner may read: what is written to them may hold what a cluster keeps to itself.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

/// Returns whether the path is something other than a file, such as a terminal or a pipe: that is written to directly,
/// and never replaced.
pub(super) fn is_special(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|target| !target.is_file())
}

/// Creates a new file that only its owner may read, under another name beside the path. An existing link is not
/// followed.
pub(super) fn draft(path: &Path) -> io::Result<(PathBuf, File)> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".partial");
    let draft = path.with_file_name(name);
    match fs::remove_file(&draft) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    let mut options = OpenOptions::new();
    options.append(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    let file = options.open(&draft)?;
    Ok((draft, file))
}

/// Creates a new file that only its owner may read, in place of the path: neither the rights of an existing file
/// nor a link decide where the text goes.
pub(super) fn create(path: &Path) -> io::Result<File> {
    if is_special(path) {
        return OpenOptions::new().append(true).open(path);
    }
    let (draft, file) = draft(path)?;
    fs::rename(&draft, path)?;
    Ok(file)
}
