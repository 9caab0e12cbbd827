//! `--record FILE`: the file is made anew by the first rollout of a run, and further ones are added to it.

use std::cell::Cell;
use std::fs::OpenOptions;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use super::Shell;
use crate::error::{CommandError, ErrorKind};
use crate::record::Recorder;
use crate::render::Meaning;

/// Where rollouts are recorded to, if they are.
pub(super) struct RecordTo {
    path: Option<PathBuf>,
    was_opened: Cell<bool>,
}

/// The recording of one rollout.
pub(super) struct Recording {
    pub(super) recorder: Recorder,
}

impl RecordTo {
    pub(super) fn new(path: Option<&Path>) -> Self {
        Self { path: path.map(Path::to_owned), was_opened: Cell::new(false) }
    }

    /// Opens the file, which only its owner can read.
    pub(super) fn open(&self, shell: &Shell) -> Result<Recording, CommandError> {
        let Some(path) = &self.path else { return Ok(Recording { recorder: Recorder::default() }) };
        let is_first = !self.was_opened.replace(true);
        let mut options = OpenOptions::new();
        options.create(true).write(true).truncate(is_first).append(!is_first);
        #[cfg(unix)]
        {
            use std::os::unix::fs::OpenOptionsExt;
            options.mode(0o600);
        }
        let file = options.open(path).map_err(|error| {
            let message = format!("{} cannot be written: {error}", path.display());
            CommandError::new(ErrorKind::Output, message).hint("nothing was changed; name another file with --record")
        })?;
        if is_first {
            shell.note(&format!("recording to {}", path.display()));
        }
        Ok(Recording { recorder: Recorder::to(Box::new(BufWriter::new(file))) })
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
