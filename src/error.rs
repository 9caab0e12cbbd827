//! Errors around the work, as text for people: what happened, to which object, and what to do next.
//!
//! What the program exists to find out is no error but data: a verdict or an outcome.

use std::io;

use crate::cluster::error::ClusterError;
use crate::drive::DriveError;
use crate::manifest::ManifestError;
use engine::change::reason::Reason;
use engine::change::target::TargetError;
use engine::k8s::names::WorkloadRef;
use engine::value::hint::Hint;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    Usage,
    Manifest,
    /// The manifests have objects, and no workload.
    NoWorkload,
    Cluster,
    /// The output, such as a closed pipe.
    Output,
    /// Ctrl-C, before anything was done.
    Interrupted,
    /// Somebody was asked, and did not say yes.
    Declined,
    /// All of a type were meant, and there is none: no error to kubectl either.
    NothingFound,
    /// Another run, or somebody else's change, is in the way.
    Held,
    Forbidden,
}

pub type Result<T, E = CommandError> = std::result::Result<T, E>;

#[derive(Debug)]
pub struct CommandError {
    pub kind: ErrorKind,
    /// The server's reason as Kubernetes spells it (`metav1.StatusReason`), where the server has refused.
    pub server_reason: Option<&'static str>,
    /// One sentence that says it all, without a full stop.
    pub message: String,
    /// The workload that is not there, and the name that was probably meant.
    pub meant: Option<Box<(WorkloadRef, String)>>,
    /// The commands that lead on, before the hints: each with its label in place of "hint:".
    pub next: Vec<(String, String)>,
    pub hints: Vec<Hint>,
    /// The output's reader has gone away: nothing to say, and nobody to say it to.
    pub closed_pipe: bool,
    /// The same may go well a little later: nobody answered, or the server was not up to it.
    pub may_pass: bool,
}

impl CommandError {
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        let message = message.into();
        let (next, hints) = (Vec::new(), Vec::new());
        Self { kind, server_reason: None, message, meant: None, next, hints, closed_pipe: false, may_pass: false }
    }

    pub fn from_server(reason: &'static str, message: impl Into<String>) -> Self {
        Self { server_reason: Some(reason), ..Self::new(ErrorKind::Cluster, message) }
    }

    /// Returns the words before the message, as kubectl has them: `Error from server (NotFound): pods "x" not found`.
    pub fn heading(&self) -> String {
        match self.server_reason {
            // Its sentence ends with it.
            Some("Unauthorized") | None => "error:".to_owned(),
            Some(reason) => format!("Error from server ({reason}):"),
        }
    }

    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Usage, message)
    }

    /// Makes an error of the command line from all the reasons why it cannot be done to an object.
    pub fn reasons(object: &WorkloadRef, reasons: &[Reason]) -> Self {
        let sentences: Vec<String> = reasons.iter().map(Reason::sentence).collect();
        let error = Self::usage(format!("{object}: {}", sentences.join("; ")));
        reasons.iter().fold(error, |error, reason| error.hint(reason.hint_for(object)))
    }

    #[must_use]
    pub fn hint(mut self, hint: impl Into<Hint>) -> Self {
        let hint = hint.into();
        // Two reasons may have the same way out.
        if !self.hints.contains(&hint) {
            self.hints.push(hint);
        }
        self
    }
}

impl From<ClusterError> for CommandError {
    fn from(error: ClusterError) -> Self {
        Self {
            server_reason: error.reason(),
            hints: error.hints(),
            may_pass: error.may_pass(),
            ..Self::new(ErrorKind::Cluster, error.to_string())
        }
    }
}

impl From<ManifestError> for CommandError {
    fn from(error: ManifestError) -> Self {
        Self::new(ErrorKind::Manifest, error.to_string())
    }
}

impl From<TargetError> for CommandError {
    fn from(error: TargetError) -> Self {
        Self::usage(error.to_string())
    }
}

impl From<io::Error> for CommandError {
    fn from(error: io::Error) -> Self {
        let closed_pipe = error.kind() == io::ErrorKind::BrokenPipe;
        Self { closed_pipe, ..Self::new(ErrorKind::Output, format!("failed to write: {error}")) }
    }
}

impl From<DriveError> for CommandError {
    fn from(error: DriveError) -> Self {
        match error {
            DriveError::Watch(error) => Self::from(error),
            DriveError::Output(error) => Self::from(error),
        }
    }
}
