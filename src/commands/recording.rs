//! `--record FILE`: the file is made anew by the first rollout of a run, and further ones are added to it, also those that
//! are under way at the same time.

use std::fs::OpenOptions;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::Shell;
use crate::error::{CommandError, ErrorKind};
use crate::record::Recorder;
use crate::render::Meaning;

/// Where rollouts are recorded to, if they are.
#[derive(Clone)]
pub(super) struct RecordTo {
    path: Option<PathBuf>,
    /// Rollouts so far.
    opened: Arc<AtomicU64>,
}

/// The recording of one rollout.
pub(super) struct Recording {
    pub(super) recorder: Recorder,
}

impl RecordTo {
    pub(super) fn new(path: Option<&Path>) -> Self {
        Self { path: path.map(Path::to_owned), opened: Arc::default() }
    }

    /// Opens the file, which only its owner can read.
    pub(super) fn open(&self, shell: &Shell) -> Result<Recording, CommandError> {
        let Some(path) = &self.path else { return Ok(Recording { recorder: Recorder::default() }) };
        let number = self.opened.fetch_add(1, Ordering::SeqCst);
        let is_first = number == 0;
        let mut options = OpenOptions::new();
        options.create(true).append(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::OpenOptionsExt;
            options.mode(0o600);
        }
        let opened = options.open(path).and_then(|file| {
            if is_first {
                file.set_len(0)?;
            }
            Ok(file)
        });
        let file = opened.map_err(|error| {
            let message = format!("{} cannot be written: {error}", path.display());
            CommandError::new(ErrorKind::Output, message).hint("nothing was changed; name another file with --record")
        })?;
        if is_first {
            shell.note(&format!("recording to {}", path.display()));
        }
        Ok(Recording { recorder: Recorder::to(Box::new(file), number) })
    }
}

impl Recording {
    /// Says that the file does not hold everything.
    pub(super) fn tell_trouble(&mut self, shell: &Shell) {
        if let Some(error) = self.recorder.trouble() {
            shell.say(Meaning::Waiting, "Warning:", &format!("the recording is not whole: {error}"));
        }
    }
}
