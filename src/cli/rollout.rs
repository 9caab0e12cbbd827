//! What `apply`, `resume`, `abort` and `undo` have in common, and the arguments of the last three.

use clap::{ArgAction, Args, ValueEnum};

use super::{DryRun, FIELD_MANAGER, PolicyArgs, TargetArgs, text_or_json};
use crate::render::OutputFormat;

/// What becomes of a rollout, and what is written down of it.
#[derive(Debug, Args, Default)]
pub struct RolloutArgs {
    /// Why; recorded in the history, and as kubernetes.io/change-cause of a Deployment
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,
    /// What to do when a pod fails: stop, take everything back, or go on with the other pods
    #[arg(long, value_name = "WHAT", default_value = "stop")]
    pub on_failure: OnFailure,
    /// Stay owner of the changed fields for server-side apply, so that an apply of another image is a conflict
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value_t = false, action = ArgAction::Set, value_name = "BOOL", hide_possible_values = true, hide_default_value = true)]
    pub keep_field_ownership: bool,
}

/// `--on-failure`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Default)]
pub enum OnFailure {
    /// Stop before the next pod.
    #[default]
    Stop,
    /// Take everything back.
    Undo,
    /// Go on with the other pods.
    Continue,
}

/// `resume`.
#[derive(Debug, Args)]
pub struct ResumeArgs {
    /// Which workloads.
    #[command(flatten)]
    pub targets: TargetArgs,
    /// How fast, how careful; what is given replaces what the rollout began with.
    #[command(flatten)]
    pub policy: PolicyArgs,
    /// What becomes of it.
    #[command(flatten)]
    pub rollout: RolloutArgs,
    /// Output format; json is one object a line
    #[arg(short, long, value_name = "FORMAT", default_value = "text", value_parser = text_or_json())]
    pub output: OutputFormat,
    /// Do not ask; required where there is no terminal
    #[arg(short, long, num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value_t = false, action = ArgAction::Set, value_name = "BOOL", hide_possible_values = true, hide_default_value = true)]
    pub yes: bool,
    /// Name of the writer in the objects' managed fields
    #[arg(long, value_name = "NAME", default_value = FIELD_MANAGER)]
    pub field_manager: String,
}

/// `undo`.
#[derive(Debug, Args)]
pub struct UndoArgs {
    /// Which workloads.
    #[command(flatten)]
    pub targets: TargetArgs,
    /// How fast, how careful.
    #[command(flatten)]
    pub policy: PolicyArgs,
    /// What becomes of it.
    #[command(flatten)]
    pub rollout: RolloutArgs,
    /// Back to what ran before this update, as kubectl inplace history names it [default: the last one]
    #[arg(long, value_name = "ID")]
    pub to: Option<String>,
    /// Back to the recorded digest, not only to the tag
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value_t = false, action = ArgAction::Set, value_name = "BOOL", hide_possible_values = true, hide_default_value = true)]
    pub pin_digest: bool,
    /// Output format; json is one object a line
    #[arg(short, long, value_name = "FORMAT", default_value = "text", value_parser = text_or_json())]
    pub output: OutputFormat,
    /// Do not ask; required where there is no terminal
    #[arg(short, long, num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value_t = false, action = ArgAction::Set, value_name = "BOOL", hide_possible_values = true, hide_default_value = true)]
    pub yes: bool,
    /// client: plan without asking the server about the patches; server: plan as usual. Neither changes anything
    #[arg(long, value_name = "MODE", num_args = 0..=1, require_equals = true, default_missing_value = "client", default_value = "none")]
    pub dry_run: DryRun,
    /// Name of the writer in the objects' managed fields
    #[arg(long, value_name = "NAME", default_value = FIELD_MANAGER)]
    pub field_manager: String,
}
