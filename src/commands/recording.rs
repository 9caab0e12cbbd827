//! `--record FILE`: the first rollout of a run writes the file, and further ones are added to it, also those that
//! are in progress at the same time.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::{Shell, private_file};
use crate::error::{CommandError, ErrorKind};
use crate::record::Recorder;
use crate::render::Meaning;

#[derive(Clone)]
pub(super) struct RecordTo {
    path: Option<PathBuf>,
    /// The file, once it is open, and the rollouts so far.
    opened: Arc<Mutex<(Option<File>, u64)>>,
}

pub(super) struct Recording {
    pub(super) recorder: Recorder,
}

impl RecordTo {
    pub(super) fn new(path: Option<&Path>) -> Self {
        Self { path: path.map(Path::to_owned), opened: Arc::default() }
    }

    /// Opens the file, which only its owner can read, whatever stood under its name.
    pub(super) fn open(&self, shell: &Shell) -> Result<Recording, CommandError> {
        let Some(path) = &self.path else { return Ok(Recording { recorder: Recorder::default() }) };
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        let (kept, number) = &mut *opened;
        let is_first = kept.is_none();
        let file = match kept {
            Some(file) => file.try_clone(),
            None => private_file::create(path).and_then(|file| kept.insert(file).try_clone()),
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
        Ok(Recording { recorder: Recorder::to(Box::new(file), this) })
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
