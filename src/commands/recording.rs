//! `--record FILE`: the first rollout of a run writes the file, and further ones are added to it, also those that
//! are in progress at the same time. And files that only their owner may read: what is written to them may hold what a
//! cluster keeps to itself.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::Shell;
use crate::error::{CommandError, ErrorKind, Result};
use crate::record::Recorder;
use crate::render::Meaning;

#[derive(Clone)]
pub(super) struct RecordTo {
    path: Option<PathBuf>,
    /// The file, once it is open, and the rollouts so far.
    opened: Arc<Mutex<(Option<File>, u64)>>,
}

impl RecordTo {
    pub(super) fn new(path: Option<&Path>) -> Self {
        Self { path: path.map(Path::to_owned), opened: Arc::default() }
    }

    /// Opens the file, which only its owner can read, whatever stood under its name.
    pub(super) fn open(&self, shell: &Shell) -> Result<Recorder> {
        let Some(path) = &self.path else { return Ok(Recorder::default()) };
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        let (kept, number) = &mut *opened;
        let is_first = kept.is_none();
        let file = match kept {
            Some(file) => file.try_clone(),
            None => create_private(path).and_then(|file| kept.insert(file).try_clone()),
        };
        let file = file.map_err(|error| {
            let message = format!("{} cannot be written: {error}", path.display());
            CommandError::new(ErrorKind::Output, message).hint("nothing was changed; name another file with --record")
        })?;
        let this = *number;
        *number += 1;
        if is_first {
            shell.note(&format!("recording to {}", path.display()));
        }
        Ok(Recorder::to(Box::new(file), this))
    }
}

pub(super) fn tell_trouble(recorder: &mut Recorder, shell: &Shell) {
    if let Some(error) = recorder.trouble() {
        shell.say(Meaning::Waiting, "Warning:", &format!("the recording is not whole: {error}"));
    }
}

/// Returns whether the path is no file but a terminal or a pipe: that is written to directly, and never replaced.
pub(super) fn is_special(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|target| !target.is_file())
}

/// Creates a new file that only its owner may read, under another name beside the path, and follows no link.
pub(super) fn private_draft(path: &Path) -> io::Result<(PathBuf, File)> {
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

/// The same in place of the path: neither the rights of an existing file nor a link decide where the text goes.
pub(super) fn create_private(path: &Path) -> io::Result<File> {
    if is_special(path) {
        return OpenOptions::new().append(true).open(path);
    }
    let (draft, file) = private_draft(path)?;
    fs::rename(&draft, path)?;
    Ok(file)
}
