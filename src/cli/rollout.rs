//! What `apply`, `resume`, `abort` and `undo` have in common, and the arguments of the last three.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValue, TypedValueParser};

use super::{DryRun, FIELD_MANAGER, WorkloadArgs, format, one_of, seconds};
use crate::render::StreamFormat;
use engine::plan::PodOrder;
use engine::rollout::drain::DrainBy;
use engine::rollout::pre_pull::PrePull;
use engine::state::manager;
use engine::state::policy::{OnDeferred, OnFailure};
use engine::value::int_or_percent::IntOrPercent;

/// Headings of flags.
const PACE: &str = "Pace";
const SAFETY: &str = "Safety";
const PODS: &str = "Which pods";

/// Reads how many pods: an update of none would do nothing.
fn pods(given: &str) -> Result<IntOrPercent, String> {
    match given.parse::<IntOrPercent>()? {
        IntOrPercent::Int(0) | IntOrPercent::Percent(0) => Err("must be at least 1, or no pod is updated".into()),
        IntOrPercent::Percent(more) if more > 100 => Err("must not be more than 100%".into()),
        number @ (IntOrPercent::Int(_) | IntOrPercent::Percent(_)) => Ok(number),
    }
}

/// Reads a command; a blank one would do nothing, and look as if it did something.
fn command(given: &str) -> Result<String, &'static str> {
    if given.trim().is_empty() { Err("a command is needed") } else { Ok(given.to_owned()) }
}

/// How fast, how careful, and which pods.
#[derive(Debug, Args, Default)]
pub struct PolicyArgs {
    #[command(flatten)]
    pub pace: PaceArgs,
    #[command(flatten)]
    pub choice: ChoiceArgs,
}

/// How fast, how careful: what may be chosen again for a rollout that has begun, too.
#[derive(Debug, Args, Default)]
pub struct PaceArgs {
    /// Maximum unavailable pods [default: workload's, at least 1]
    ///
    /// Maximum unavailable pods [default: the workload's maxUnavailable, at least 1]
    #[arg(long, help_heading = PACE, value_name = "N|N%", value_parser = pods)]
    pub max_unavailable: Option<IntOrPercent>,
    /// Seconds that a pod must stay ready
    ///
    /// Seconds that a pod must stay ready before the next one is taken [default: the owner's own; 5 for the first pod without a readiness probe]. With 0 the first pod does not go alone
    #[arg(long, help_heading = PACE, value_name = "N")]
    pub min_ready_seconds: Option<u32>,
    /// How long one pod may take, such as 90s
    ///
    /// Maximum time per pod, such as 90s or 10m; 0 is no limit [default: 5m plus its grace period and min ready seconds, for each step of --container-order]. The seconds of --drain-seconds are added
    #[arg(long, help_heading = PACE, value_name = "DURATION", value_parser = seconds)]
    pub timeout: Option<u64>,
    /// How long everything may take [default: no limit]
    #[arg(long, help_heading = PACE, hide_short_help = true, value_name = "DURATION", value_parser = seconds)]
    pub total_timeout: Option<u64>,
    /// Take over a rollout that another run holds, also one that is still active: that run stops and changes nothing more
    #[arg(long, help_heading = SAFETY, hide_short_help = true)]
    pub take_over: bool,
    /// Stop after every N pods, and ask or print how to resume; 0 does not stop, whatever the rollout began with
    #[arg(long, help_heading = PACE, hide_short_help = true, value_name = "N")]
    pub pause_after: Option<u32>,
    /// Wait until the PodDisruptionBudgets allow a pod to be taken down, or do not ask them [default: respect; resume and abort: as the rollout began]
    #[arg(long, help_heading = SAFETY, hide_short_help = true, value_name = "WHAT", value_parser = disruption_budget())]
    pub disruption_budget: Option<bool>,
    /// Pull the image before a pod is touched
    ///
    /// Pull the image on each node before a pod is touched: where the kubelet would pull it (auto), everywhere, or nowhere.
    #[arg(long, help_heading = SAFETY, value_name = "WHEN", default_value = "auto", value_parser = one_of(&PrePull::ALL, |value| value.word().into()))]
    pub pre_pull: PrePull,
    /// Take each pod out of its Services before it restarts [default: auto]
    ///
    /// Take each pod out of its Services before a container of it is stopped, and put it back after: by a label that the Services select and the owner does not, else by a readiness gate that only kubectl has set; or do not [default: auto]
    #[arg(long, help_heading = SAFETY, value_name = "HOW", value_parser = one_of(&DrainBy::ALL, |value| value.word().into()))]
    pub drain: Option<DrainBy>,
    /// Seconds between a pod's being out of its Services and its restart, for requests in flight [default: 2]
    #[arg(long, help_heading = SAFETY, hide_short_help = true, value_name = "SECONDS")]
    pub drain_seconds: Option<u32>,
    /// Change containers one after the other in this order
    ///
    /// Change containers of a pod one after the other in this order, each once the one before is verified and ready. Changed containers that are not named come last, together [default: all in one patch]
    #[arg(long, help_heading = PACE, hide_short_help = true, value_name = "NAME", value_delimiter = ',')]
    pub container_order: Vec<String>,
    /// Shell command before each pod; a failure stops the rollout
    ///
    /// Run this with sh -c before each pod is touched; a failure stops the rollout. Its environment: KUBECTL_INPLACE_PHASE, _NAMESPACE, _POD, _POD_UID, _NODE, _WORKLOAD, _CONTAINERS. Not stored in the cluster; pass it again to resume. It runs at least once.
    #[arg(long, help_heading = SAFETY, hide_short_help = true, value_name = "COMMAND", value_parser = command)]
    pub before_pod: Option<String>,
    /// The same once a pod is done and back in its Services; both count in the pod's --timeout
    #[arg(long, help_heading = SAFETY, hide_short_help = true, value_name = "COMMAND", value_parser = command)]
    pub after_pod: Option<String>,
}

/// Which pods, and in which order: a rollout that has begun knows that itself.
#[derive(Debug, Args, Default)]
pub struct ChoiceArgs {
    /// Leave the owner's template as it is
    ///
    /// Patch the pods alone, and leave the owner's template as it is: pods made later are as that says
    #[arg(long, help_heading = PODS)]
    pub pods_only: bool,
    /// Stop after the first pods
    ///
    /// Stop after the first pods, and ask or print how to resume
    #[arg(long, help_heading = PACE, value_name = "N|N%", value_parser = pods)]
    pub canary: Option<IntOrPercent>,
    /// Only the pods of a StatefulSet from this ordinal on; a durable rollout takes the StatefulSet's own
    #[arg(long, help_heading = PODS, hide_short_help = true, value_name = "N")]
    pub partition: Option<u32>,
    /// Only these pods, separated by commas
    #[arg(long, help_heading = PODS, value_name = "NAME", value_delimiter = ',')]
    pub pods: Vec<String>,
    /// Only the pods on this node
    #[arg(long, help_heading = PODS, hide_short_help = true, value_name = "NAME")]
    pub node: Option<String>,
    /// In which order pods are taken; an OrderedReady StatefulSet always goes by ordinal
    #[arg(long, help_heading = PACE, hide_short_help = true, value_name = "ORDER", default_value = "unready-first", value_parser = one_of(&PodOrder::ALL, |value| value.word().into()))]
    pub order: PodOrder,
}

/// What is written to the owner, which a rollout of pods alone does not write to.
#[derive(Debug, Args)]
pub struct OwnerArgs {
    /// Why; recorded in the history
    ///
    /// Why; recorded in the history and as kubernetes.io/change-cause
    #[arg(long, value_name = "TEXT", conflicts_with = "pods_only")]
    pub reason: Option<String>,
    /// Stay owner of the changed fields for server-side apply, so that an apply of another image is a conflict
    #[arg(long, hide_short_help = true, conflicts_with = "pods_only")]
    pub keep_field_ownership: bool,
}

/// What becomes of a rollout.
#[derive(Debug, Args)]
pub struct RolloutArgs {
    /// What to do when a pod fails [default: stop; resume: as the rollout began]
    #[arg(long, help_heading = SAFETY, value_name = "WHAT", value_parser = on_failure())]
    pub on_failure: Option<OnFailure>,
    /// Record every decision, and what it was made from, as one JSON object a line: for a report of a bug
    #[arg(long, hide_short_help = true, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// Workloads at once; each keeps to its own budget
    #[arg(long, help_heading = PACE, hide_short_help = true, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub parallel_workloads: u32,
}

/// What becomes of a resize that a node has no room for.
#[derive(Debug, Args, Default)]
pub struct ResizeArgs {
    /// When the kubelet defers a resize: wait for it, undo everything, or leave it to the kubelet
    ///
    /// What becomes of a resize that the kubelet defers, because its node has no room for it now. wait: until --timeout, and then exit 5. undo: the whole rollout is rolled back, exit 5. leave: the rollout goes on, and the kubelet resizes the pod by itself once there is room; exit 5. A container that restarts for its resize, and a roll-back, are waited for all the same [default: wait; resume: as the rollout began]
    #[arg(long, help_heading = SAFETY, hide_short_help = true, value_name = "WHAT", value_parser = one_of(&OnDeferred::ALL, |value| value.word().into()))]
    pub deferred: Option<OnDeferred>,
}

/// Whether it is done, and how that is shown.
#[derive(Debug, Args)]
pub struct ActArgs {
    /// Do not ask; required where there is no terminal
    #[arg(short, long)]
    pub yes: bool,
    /// Only plan
    ///
    /// Only plan, and change nothing. client: without asking the server about the patches; server: with asking it, as plan does.
    #[arg(long, value_name = "MODE", num_args = 0..=1, require_equals = true, default_missing_value = "client", default_value = "none")]
    pub dry_run: DryRun,
    /// Output format
    #[arg(short, long, value_name = "FORMAT", default_value = "text", value_parser = format::<StreamFormat>())]
    pub output: StreamFormat,
}

/// `restart`. It changes pods alone in any case, and says so of `--pods-only`.
#[derive(Debug, Args)]
#[command(mut_arg("pods_only", |flag| flag.hide(true)))]
pub struct RestartArgs {
    #[command(flatten)]
    pub targets: WorkloadArgs,
    /// The containers that restart, separated by commas; required unless there is one
    #[arg(short, long, value_name = "NAME", value_delimiter = ',')]
    pub container: Vec<String>,
    /// Have kruise-daemon restart them; the images stay as they are
    ///
    /// Have OpenKruise's kruise-daemon restart the containers, by a ContainerRecreateRequest for each pod; the images in the pods stay as they are. Needs OpenKruise in the cluster
    #[arg(long)]
    pub by_request: bool,
    #[command(flatten)]
    pub policy: PolicyArgs,
    #[command(flatten)]
    pub rollout: RolloutArgs,
    #[command(flatten)]
    pub act: ActArgs,
    /// Name of the field manager
    #[arg(long, hide_short_help = true, value_name = "NAME", default_value = FIELD_MANAGER, value_parser = manager::read)]
    pub field_manager: String,
}

/// Whether PodDisruptionBudgets are asked.
fn disruption_budget() -> impl TypedValueParser<Value = bool> {
    one_of(&[true, false], |respects| match respects {
        true => PossibleValue::new("respect").help("Wait until they allow it"),
        false => PossibleValue::new("ignore").help("Do not ask them"),
    })
}

#[derive(Debug, Args)]
pub struct ResumeArgs {
    #[command(flatten)]
    pub targets: WorkloadArgs,
    /// How fast, how careful; what is given replaces what the rollout began with.
    #[command(flatten)]
    pub pace: PaceArgs,
    /// Without the --before-pod and --after-pod that the rollout began with, unless they are given here: they are not stored in the cluster
    #[arg(long)]
    pub no_hooks: bool,
    /// Stay owner of the changed fields for server-side apply, so that an apply of another image is a conflict
    #[arg(long, hide_short_help = true)]
    pub keep_field_ownership: bool,
    #[command(flatten)]
    pub rollout: RolloutArgs,
    #[command(flatten)]
    pub resize: ResizeArgs,
    /// Do not ask; required where there is no terminal
    #[arg(short, long)]
    pub yes: bool,
    /// Only show the remaining changes
    ///
    /// Show the remaining changes, and change nothing. client: without asking the server about them; server: with asking it whether it would accept them.
    #[arg(long, value_name = "MODE", num_args = 0..=1, require_equals = true, default_missing_value = "client", default_value = "none")]
    pub dry_run: DryRun,
    /// Output format
    #[arg(short, long, value_name = "FORMAT", default_value = "text", value_parser = format::<StreamFormat>())]
    pub output: StreamFormat,
    /// Name of the field manager
    #[arg(long, hide_short_help = true, value_name = "NAME", default_value = FIELD_MANAGER, value_parser = manager::read)]
    pub field_manager: String,
}

#[derive(Debug, Args)]
pub struct AbortArgs {
    #[command(flatten)]
    pub resume: ResumeArgs,
    /// Roll nothing back: remove what the rollout has set on the workload, and let its controller go, which may then replace pods
    #[arg(long, conflicts_with_all = ["output", "record", "on_failure", "deferred", "keep_field_ownership", "max_unavailable", "min_ready_seconds", "timeout", "total_timeout", "pause_after", "container_order", "before_pod", "after_pod", "pre_pull", "disruption_budget", "drain", "drain_seconds", "parallel_workloads", "no_hooks"])]
    pub release: bool,
}

#[derive(Debug, Args)]
pub struct ReleaseFieldsArgs {
    #[command(flatten)]
    pub targets: WorkloadArgs,
    /// Do not ask; required where there is no terminal
    #[arg(short, long)]
    pub yes: bool,
    /// Only show the field managers
    ///
    /// Show the field managers, and change nothing. client: without asking the server about the patch; server: with asking it whether it would accept it.
    #[arg(long, value_name = "MODE", num_args = 0..=1, require_equals = true, default_missing_value = "client", default_value = "none")]
    pub dry_run: DryRun,
}

#[derive(Debug, Args)]
pub struct UndoArgs {
    #[command(flatten)]
    pub targets: WorkloadArgs,
    #[command(flatten)]
    pub policy: PolicyArgs,
    #[command(flatten)]
    pub rollout: RolloutArgs,
    #[command(flatten)]
    pub owner: OwnerArgs,
    #[command(flatten)]
    pub resize: ResizeArgs,
    /// Back to what ran before this update, as kubectl inplace history names it [default: the last one]
    #[arg(long, value_name = "ID")]
    pub to: Option<String>,
    /// Back to the recorded digest, not only to the tag
    #[arg(long)]
    pub pin_digest: bool,
    #[command(flatten)]
    pub act: ActArgs,
    /// Name of the field manager
    #[arg(long, hide_short_help = true, value_name = "NAME", default_value = FIELD_MANAGER, value_parser = manager::read)]
    pub field_manager: String,
}

/// What becomes of a rollout when a pod fails, as its help names it.
fn on_failure() -> impl TypedValueParser<Value = OnFailure> {
    one_of(&[OnFailure::Stop, OnFailure::Undo, OnFailure::Continue], |value| {
        let (name, help) = match value {
            OnFailure::Stop => ("stop", "Stop before the next pod"),
            OnFailure::Undo => ("undo", "Roll everything back"),
            OnFailure::Continue => (
                "continue",
                "Continue with the other pods, as long as pods may be down: one that failed counts as down",
            ),
        };
        PossibleValue::new(name).help(help)
    })
}
