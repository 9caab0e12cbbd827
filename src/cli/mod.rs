//! The command line: clap types without behaviour. The doc comments are the help texts.

mod examples;
mod formats;
mod global;
mod rollout;
mod targets;
mod typed;

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum, ValueHint};

use crate::render::{DocumentFormat, HashFormat, PlanFormat, RoleFormat, StreamFormat};
use engine::k8s::permissions::ClusterCommand;
use engine::kinds::WorkloadKind;
use engine::state::manager;
use engine::state::policy::LONGEST_SECONDS;
use engine::value::duration;
use engine::value::kubelet_version::KubeletVersion;
use examples::{
    ABORT_EXAMPLES, APPLY_EXAMPLES, COMPLETION_EXAMPLES, DIFF_EXAMPLES, EXPLAIN_EXAMPLES, FOLLOW_EXAMPLES,
    HASH_EXAMPLES, HISTORY_EXAMPLES, PLAN_EXAMPLES, RBAC_EXAMPLES, RELEASE_FIELDS_EXAMPLES, RESTART_EXAMPLES,
    RESUME_EXAMPLES, STATUS_EXAMPLES, UNDO_EXAMPLES, VERSION_EXAMPLES,
};
use formats::format;

pub use global::{ConnectionArgs, GlobalArgs, options};
pub use manager::OUR_MANAGER as FIELD_MANAGER;
pub use rollout::{
    AbortArgs, ActArgs, ChoiceArgs, OwnerArgs, PaceArgs, PolicyArgs, ReleaseFieldsArgs, ResizeArgs, RestartArgs,
    ResumeArgs, RolloutArgs, UndoArgs,
};
pub use targets::{ChangeArgs, HistoryArgs, StatusArgs, TargetArgs, WorkloadArgs};
pub use typed::{Line, Typed, first_word, named_flag, resolved, root};

/// Change the image, cpu or memory of running containers without replacing their pods.
///
/// The kubelet restarts a single container when its image changes in the pod's spec: the pod keeps its name, IP, node and
/// volumes, and its other containers keep running. This program says whether a change can be made in place and what blocks
/// it, makes it pod by pod, follows each pod until it is ready again, and reports what restarted. It needs nothing installed
/// in the cluster.
#[derive(Debug, Parser)]
#[command(
    name = "kubectl-inplace",
    bin_name = "kubectl inplace",
    version,
    disable_version_flag = true,
    args_override_self = true,
    infer_long_args = false,
    arg_required_else_help = false,
    subcommand_required = false,
    max_term_width = 100
)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Option<Command>,
    #[command(flatten)]
    pub global: GlobalArgs,
    /// Print the version.
    #[arg(long, action = ArgAction::SetTrue)]
    pub version: bool,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Say what would happen to each pod and container, what blocks it and why. Changes nothing.
    #[command(after_help = PLAN_EXAMPLES)]
    Plan(PlanArgs),
    /// Show the change as a diff without defaults and server-set fields, each field marked with its effect on the pods. Changes nothing.
    #[command(after_help = DIFF_EXAMPLES)]
    Diff(DiffArgs),
    /// Plan, ask, patch the pods, and follow them until they are ready again.
    #[command(after_help = APPLY_EXAMPLES)]
    Apply(ApplyArgs),
    /// Restart containers in place, using the image digest that is running; the template is unchanged.
    #[command(after_help = RESTART_EXAMPLES)]
    Restart(RestartArgs),
    /// Resume an interrupted rollout, at whatever point it was interrupted.
    #[command(after_help = RESUME_EXAMPLES)]
    Resume(ResumeArgs),
    /// Abort an interrupted rollout and restore the previous state: template, strategy, pause and pods.
    #[command(after_help = ABORT_EXAMPLES)]
    Abort(AbortArgs),
    /// Go back to what was recorded before the last update in place.
    #[command(after_help = UNDO_EXAMPLES)]
    Undo(UndoArgs),
    /// Release fields that others have set in the template, so that the next server-side apply does not fail.
    #[command(after_help = RELEASE_FIELDS_EXAMPLES)]
    ReleaseFields(ReleaseFieldsArgs),
    /// Watch an in-place update, whoever started it, until the pods are ready again. Changes nothing.
    #[command(visible_alias = "watch", after_help = FOLLOW_EXAMPLES)]
    Follow(FollowArgs),
    /// Show the state of workloads and their pods: images, updates in progress, failures, drift and interrupted rollouts. Changes nothing.
    #[command(after_help = STATUS_EXAMPLES)]
    Status(StatusArgs),
    /// List the in-place updates of a workload: when, who, from, to, why, how they ended. Changes nothing.
    #[command(after_help = HISTORY_EXAMPLES)]
    History(HistoryArgs),
    /// Compute the kubelet's container hashes: would it restart a container? Changes nothing.
    #[command(after_help = HASH_EXAMPLES)]
    Hash(HashArgs),
    /// Print the least Role that a command needs, or ask the server whether you have it. Changes nothing.
    #[command(after_help = RBAC_EXAMPLES)]
    Rbac(RbacArgs),
    /// Say what a reason or warning means, why it is so, and what to do. Alone: list them all.
    #[command(after_help = EXPLAIN_EXAMPLES)]
    Explain(ExplainArgs),
    /// List the flags that every command has.
    Options,
    /// Print a shell's completion script, or make completion work through kubectl.
    #[command(after_help = COMPLETION_EXAMPLES)]
    Completion(CompletionArgs),
    /// Print the version of this program, and of the server.
    #[command(after_help = VERSION_EXAMPLES)]
    Version(VersionArgs),
}

#[derive(Debug, Args)]
pub struct PlanArgs {
    #[command(flatten)]
    pub change: ChangeArgs,
    #[command(flatten)]
    pub policy: PolicyArgs,
    /// Compare -f with older manifests, without a cluster
    ///
    /// Compare -f with these older manifests, with no cluster at all: files, directories, or - for standard input
    #[arg(long, conflicts_with_all = ["container", "requests", "limits"], value_name = "FILE", value_delimiter = ',', value_hint = ValueHint::AnyPath)]
    pub against: Vec<String>,
    /// Output format
    ///
    /// Output format; wide: also UIDs, kubelet versions, image IDs and hashes; name: the pods that would change; markdown: a comment for a pull request
    #[arg(short, long, value_name = "FORMAT", default_value = "text", value_parser = format::<PlanFormat>())]
    pub output: PlanFormat,
    /// Exit with 2 for changes in place, 3 for others
    ///
    /// Exit with 0 for nothing to do, 2 for changes that are all in place, 3 for anything else. Without it a plan that could be made exits with 0, whatever it says
    #[arg(long)]
    pub detailed_exitcode: bool,
    /// What the next apply of -f or -k would change in the template
    ///
    /// Also ask the server what the next apply of the manifests by the tool that owns each workload would change in the template, and how many pods it would replace. Exit with 0 if nothing, else with 2
    #[arg(long, conflicts_with_all = ["against", "detailed_exitcode"])]
    pub hand_over: bool,
    /// Whether the server is asked about the patches
    ///
    /// A plan changes nothing. client: without asking the server about the patches; server: with asking it, in a dry run.
    #[arg(long, value_name = "MODE", num_args = 0..=1, require_equals = true, default_missing_value = "client", default_value = "server", value_parser = dry_run_of_a_plan(), conflicts_with = "against")]
    pub dry_run: DryRun,
    /// Save the plan, for apply --plan FILE
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub out: Option<PathBuf>,
    /// Name of the field manager
    #[arg(long, hide_short_help = true, value_name = "NAME", default_value = FIELD_MANAGER, value_parser = manager::read)]
    pub field_manager: String,
}

#[derive(Debug, Args)]
pub struct DiffArgs {
    #[command(flatten)]
    pub change: ChangeArgs,
    /// Unchanged lines around each change
    #[arg(short = 'C', long, value_name = "LINES", default_value_t = 3)]
    pub context_lines: u32,
    /// Name of the field manager that the server is asked as
    #[arg(long, hide_short_help = true, value_name = "NAME", default_value = FIELD_MANAGER, value_parser = manager::read)]
    pub field_manager: String,
}

#[derive(Debug, Args)]
pub struct HashArgs {
    /// Which objects, and which images after. With a manifest and TYPE/NAME, the manifest is what comes after.
    #[command(flatten)]
    pub targets: TargetArgs,
    /// Version of the kubelet, such as 1.29 [default: that of the pod's node, else 1.32 or newer]
    #[arg(long, value_name = "VERSION")]
    pub kubelet_version: Option<KubeletVersion>,
    /// Output format
    #[arg(short, long, value_name = "FORMAT", default_value = "text", value_parser = format::<HashFormat>())]
    pub output: HashFormat,
}

#[derive(Debug, Args)]
pub struct ApplyArgs {
    #[command(flatten)]
    pub change: ChangeArgs,
    #[command(flatten)]
    pub policy: PolicyArgs,
    #[command(flatten)]
    pub act: ActArgs,
    /// Do exactly what a saved plan says
    ///
    /// Do exactly what a saved plan says; refused if what it was made from has changed since. Pods that came with a scale-up get the same.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with_all = ["words", "image", "container", "requests", "limits", "filename", "kustomize", "selector", "field_selector", "validate", "all", "all_namespaces", "all_containers", "recursive", "max_unavailable", "min_ready_seconds", "timeout", "total_timeout", "pods_only", "take_over", "canary", "pause_after", "partition", "pods", "node", "order", "container_order", "before_pod", "after_pod", "pre_pull", "disruption_budget", "drain", "drain_seconds", "field_manager"])]
    pub plan: Option<PathBuf>,
    /// Leave to the next apply what cannot be done in place
    ///
    /// For a hook that runs before helm upgrade, Argo CD or Flux apply the same manifests (-f, -k). What cannot be updated in place, and what is not there yet, is left to them: exit code 0, and nothing is written. What fails halfway exits with 4 as ever
    #[arg(long, conflicts_with_all = ["plan", "pods_only", "canary", "pause_after", "partition", "pods", "node"])]
    pub if_possible: bool,
    #[command(flatten)]
    pub rollout: RolloutArgs,
    #[command(flatten)]
    pub owner: OwnerArgs,
    #[command(flatten)]
    pub resize: ResizeArgs,
    /// Name of the field manager
    #[arg(long, hide_short_help = true, value_name = "NAME", default_value = FIELD_MANAGER, value_parser = manager::read)]
    pub field_manager: String,
}

/// `--dry-run`, as in kubectl.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DryRun {
    /// Do it.
    None,
    /// Only plan, without asking the server about the patches.
    Client,
    /// Only plan.
    Server,
}

/// A plan does nothing: `none` would be a lie.
fn dry_run_of_a_plan() -> impl TypedValueParser<Value = DryRun> {
    PossibleValuesParser::new(["client", "server"])
        .map(|word| if word == "client" { DryRun::Client } else { DryRun::Server })
}

#[derive(Debug, Args)]
pub struct FollowArgs {
    /// Which workloads; with images, until they run these.
    #[command(flatten)]
    pub targets: TargetArgs,
    #[command(flatten)]
    pub policy: FollowPolicyArgs,
    /// Output format
    #[arg(short, long, value_name = "FORMAT", default_value = "text", value_parser = format::<StreamFormat>())]
    pub output: StreamFormat,
    /// Record every decision, and what it was made from, as one JSON object a line: for a report of a bug
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
}

/// Reads a time to wait, in seconds; 0 is without end, as `kubectl rollout status` has it.
fn seconds(given: &str) -> Result<u64, String> {
    let duration = duration::parse(given)?;
    Ok(if duration.is_zero() { LONGEST_SECONDS } else { duration.as_secs().max(1) })
}

/// How long ready must hold, and how long to wait.
#[derive(Debug, Args, Default)]
pub struct FollowPolicyArgs {
    /// Seconds that a pod must stay ready [default: the owner's own; 5 without a readiness probe]
    #[arg(long, value_name = "SECONDS")]
    pub min_ready_seconds: Option<u32>,
    /// Maximum time per pod, such as 90s or 10m; 0 is no limit [default: 5m plus its grace period and min ready seconds]
    #[arg(long, value_name = "DURATION", value_parser = seconds)]
    pub timeout: Option<u64>,
    /// How long everything may take [default: no limit]
    #[arg(long, value_name = "DURATION", value_parser = seconds)]
    pub total_timeout: Option<u64>,
}

/// One of a closed set of the engine, by its name.
fn one_of<T: Copy + Send + Sync + 'static>(
    values: &'static [T],
    named: impl Fn(T) -> PossibleValue + Clone + Send + Sync + 'static,
) -> impl TypedValueParser<Value = T> {
    let names: Vec<PossibleValue> = values.iter().map(|value| named(*value)).collect();
    PossibleValuesParser::new(names).try_map(move |word| {
        values.iter().copied().find(|value| named(*value).matches(&word, false)).ok_or("no such value")
    })
}

/// The kinds of workloads, under every name that kubectl knows them by; `all` is none of them.
fn kind_or_all() -> impl TypedValueParser<Value = KindOrAll> {
    let kinds = WorkloadKind::ALL.into_iter().map(|kind| {
        let spec = kind.spec();
        PossibleValue::new(spec.singular).alias(spec.plural).aliases(spec.short_names.iter().copied())
    });
    PossibleValuesParser::new(kinds.chain([PossibleValue::new("all")]))
        .map(|word| KindOrAll(WorkloadKind::from_word(&word)))
}

/// One kind, or all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KindOrAll(
    /// The kind; `None` is all.
    pub Option<WorkloadKind>,
);

#[derive(Debug, Args)]
pub struct RbacArgs {
    /// The command that is to be allowed
    #[arg(value_parser = one_of(&ClusterCommand::ALL, |value| value.word().into()))]
    pub command: ClusterCommand,
    /// The kind of workloads
    #[arg(value_name = "TYPE", default_value = "all", value_parser = kind_or_all())]
    pub kind: KindOrAll,
    /// For pods alone: the owner's template is left as it is
    #[arg(long)]
    pub pods_only: bool,
    /// Ask the server whether you may, in the namespace; exit with 3 if something required is missing
    #[arg(long)]
    pub check: bool,
    /// With what is optional too: without it an answer is weaker, or a flag does not work
    #[arg(long, conflicts_with = "check")]
    pub optional: bool,
    /// For all namespaces: a ClusterRole
    #[arg(short = 'A', long)]
    pub all_namespaces: bool,
    /// Output format; text is YAML with comments, or a table with --check
    #[arg(short, long, value_name = "FORMAT", default_value = "text", value_parser = format::<RoleFormat>())]
    pub output: RoleFormat,
}

#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// The code, as a plan, a rollout or status shows it, or an exit code; upper and lower case are alike
    #[arg(value_name = "CODE")]
    pub code: Option<String>,
}

#[derive(Debug, Args)]
pub struct CompletionArgs {
    /// The shell whose script is printed
    #[arg(required_unless_present = "install")]
    pub shell: Option<CompletionShell>,
    /// Link this program as kubectl_complete-inplace beside itself, where kubectl looks for it
    #[arg(long, conflicts_with = "shell", action = ArgAction::SetTrue)]
    pub install: bool,
}

/// A shell that completion scripts exist for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CompletionShell {
    /// GNU Bash.
    Bash,
    /// Z shell.
    Zsh,
    /// fish.
    Fish,
    /// PowerShell.
    #[value(name = "powershell")]
    PowerShell,
}

#[derive(Debug, Args)]
pub struct VersionArgs {
    /// Do not ask the server
    #[arg(long)]
    pub client: bool,
    /// Output format
    #[arg(short, long, value_name = "FORMAT", default_value = "text", value_parser = format::<DocumentFormat>())]
    pub output: DocumentFormat,
}
