//! What a person may type: clap types without behaviour. The doc comments are the help texts.

use std::path::PathBuf;

mod rollout;
mod status;
mod typed;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum, ValueHint};

pub use rollout::{DisruptionBudget, OnFailure, PolicyArgs, RestartArgs, ResumeArgs, RolloutArgs, UndoArgs};
pub use status::{HistoryArgs, StatusArgs, WorkloadArgs};
pub use typed::{Typed, root};

use crate::engine::api_schema::Validation;
use crate::engine::kinds::WorkloadKind;
use crate::engine::permissions::ClusterCommand;
use crate::render::{ColorChoice, HashFormat, OutputFormat};

/// Change the image of running containers without replacing their pods.
///
/// The kubelet restarts a single container when its image changes in the pod's spec: same pod, same IP, same node,
/// same volumes, siblings untouched. This program computes whether a change can be done so, shows it, does it safely,
/// follows the pods until they are ready again, and proves what happened. It needs nothing installed in the cluster.
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
    /// What to do.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// Flags of every command.
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
    /// Show the change as a diff, only what a person means, each field marked with what it does to the pods. Changes nothing.
    #[command(after_help = DIFF_EXAMPLES)]
    Diff(DiffArgs),
    /// Plan, ask, patch the pods, and follow them until they are ready again.
    #[command(after_help = APPLY_EXAMPLES)]
    Apply(ApplyArgs),
    /// Restart containers in place with the very bits that they run: the digest is pinned, the template stays.
    #[command(after_help = RESTART_EXAMPLES)]
    Restart(RestartArgs),
    /// Go on with a rollout that was stopped, or whose run was killed, at any point.
    #[command(after_help = RESUME_EXAMPLES)]
    Resume(ResumeArgs),
    /// Take a rollout back that was stopped, or whose run was killed, at any point: template, strategy, pause and pods.
    #[command(after_help = ABORT_EXAMPLES)]
    Abort(ResumeArgs),
    /// Go back to the images recorded before the last update in place.
    #[command(after_help = UNDO_EXAMPLES)]
    Undo(UndoArgs),
    /// Watch an update, this program's or anybody's, until the pods are ready again. Changes nothing.
    #[command(visible_alias = "watch", after_help = FOLLOW_EXAMPLES)]
    Follow(FollowArgs),
    /// Show what runs, what is asked, and what is on its way, failed, drifted from the template or held. Changes nothing.
    #[command(after_help = status::STATUS_EXAMPLES)]
    Status(StatusArgs),
    /// List the in-place updates of a workload: when, who, from, to, why, how they ended. Changes nothing.
    #[command(after_help = status::HISTORY_EXAMPLES)]
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
    /// Print a shell's completion script, or make completion work through kubectl.
    Completion(CompletionArgs),
    /// Print the version of this program, and of the server.
    Version(VersionArgs),
    /// Answer kubectl's completion requests.
    #[command(name = "__complete", hide = true)]
    Complete(CompleteArgs),
}

const PLAN_EXAMPLES: &str = "\
Examples:
  # What would a new sidecar image do to the pods of a Deployment?
  kubectl inplace plan deployment/web side=acme/side:1.27.2

  # Can this manifest's change be rolled out in place? (0 nothing to do, 2 yes, 3 no)
  kubectl inplace plan -f web.yaml --detailed-exitcode

  # Can what a pull request changes be rolled out in place? Needs no cluster
  git show main:web.yaml | kubectl inplace plan --against - -f web.yaml --detailed-exitcode -o markdown

  # The same tag on every workload with a label, as JSON
  kubectl inplace plan deployments,daemonsets -l team=shop side=:1.27.2 -o json";

const RESTART_EXAMPLES: &str = "\
Examples:
  # The sidecar of every pod again, one pod after the other; nothing else restarts
  kubectl inplace restart deployment/web -c side

  # Two containers of one pod
  kubectl inplace restart pod/web-0 -c app,side";

const RESUME_EXAMPLES: &str = "\
Examples:
  # The terminal was closed in the middle of a rollout: go on, from any machine
  kubectl inplace resume deployment/web";

const ABORT_EXAMPLES: &str = "\
Examples:
  # Take back what has been done so far
  kubectl inplace abort deployment/web";

const UNDO_EXAMPLES: &str = "\
Examples:
  # Back to the images before the last update in place
  kubectl inplace undo deployment/web

  # Back to what ran before an earlier one
  kubectl inplace history deployment/web
  kubectl inplace undo deployment/web --to 20260301-101500-1a2b3c";

const DIFF_EXAMPLES: &str = "\
Exit codes are those of kubectl diff: 0 nothing differs, 1 something does, more than 1 an error. KUBECTL_EXTERNAL_DIFF
names another program to show the difference, as for kubectl diff.

Examples:
  # What does this manifest change, and what of it can be done in place?
  kubectl inplace diff -f web.yaml

  # The same for an image by hand
  kubectl inplace diff deployment/web side=acme/side:1.27.2

  # In a tool of one's own
  KUBECTL_EXTERNAL_DIFF='dyff between --omit-header --set-exit-code' kubectl inplace diff -f web.yaml";

const HASH_EXAMPLES: &str = "\
The kubelet restarts a container whose hash changes. From 1.31 on only name and image count; from 1.16 to 1.30 the whole
container as the API stores it, so that what admission injects (such as the service account's mount) changes it: then
compare with a live pod.

Examples:
  # Of a manifest's containers, without a cluster
  kubectl inplace hash -f web.yaml

  # Would a kubelet 1.29 restart the sidecar of this pod for another tag?
  kubectl inplace hash pod/web-0 side=:1.27.2 --kubelet-version 1.29

  # Would its own kubelet restart anything of the pod for this manifest?
  kubectl inplace hash pod/web-0 -f web.yaml";

const APPLY_EXAMPLES: &str = "\
Examples:
  # Restart only the sidecar of three pods, one after the other
  kubectl inplace apply deployment/web side=acme/side:1.27.2 --pods-only

  # In a script: no question, two pods at once, ready for ten seconds each
  kubectl inplace apply daemonset/log agent=:2.4 --pods-only --yes --max-unavailable 2 --min-ready-seconds 10

  # The same sidecar image in every Deployment, StatefulSet and DaemonSet of a team, three workloads at once
  kubectl inplace apply -l team=shop -A --image proxy=acme/proxy:2.4 --parallel-workloads 3";

const FOLLOW_EXAMPLES: &str = "\
Examples:
  # After kubectl set image pod/web-0 side=acme/side:1.27.2
  kubectl inplace follow pod/web-0

  # Go on watching an update that another terminal began
  kubectl inplace follow deployment/web";

const RBAC_EXAMPLES: &str = "\
Examples:
  # The Role for updating Deployments, into the namespace shop
  kubectl inplace rbac apply deployment -n shop | kubectl apply -f -

  # May the CI's account do it?
  kubectl inplace rbac apply deployment -n shop --check --as system:serviceaccount:ci:deployer";

const EXPLAIN_EXAMPLES: &str = "\
Examples:
  # What does this code of a plan mean, and what can be done?
  kubectl inplace explain TemplateFieldNotInPlace

  # What does this exit code mean?
  kubectl inplace explain 4

  # All codes
  kubectl inplace explain";

/// Which workloads, and which images.
#[derive(Debug, Args, Default)]
pub struct TargetArgs {
    /// Workloads as TYPE/NAME, TYPE NAME or TYPE with -l, then images as CONTAINER=IMAGE. IMAGE may be :TAG or @DIGEST, which keep the repository
    #[arg(value_name = "TYPE/NAME | CONTAINER=IMAGE")]
    pub words: Vec<String>,
    /// The same as CONTAINER=IMAGE among the words
    #[arg(long, value_name = "CONTAINER=IMAGE")]
    pub image: Vec<String>,
    /// Let '*=IMAGE' stand for every container
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value_t = false, action = ArgAction::Set, value_name = "BOOL", hide_possible_values = true, hide_default_value = true)]
    pub all_containers: bool,
    /// Manifests whose workloads are meant: files, folders, or - for standard input
    #[arg(short, long, value_name = "FILE", value_delimiter = ',', value_hint = ValueHint::AnyPath)]
    pub filename: Vec<String>,
    /// Read folders with their subfolders
    #[arg(short = 'R', long, num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value_t = false, action = ArgAction::Set, value_name = "BOOL", hide_possible_values = true, hide_default_value = true)]
    pub recursive: bool,
    /// Fields of manifests that the API does not have: strict refuses them, warn reports them, ignore accepts them
    #[arg(long, value_name = "MODE", num_args = 0..=1, require_equals = true, default_missing_value = "strict", default_value = "strict")]
    pub validate: Validation,
    /// Label selector of the workloads
    #[arg(short = 'l', long, value_name = "SELECTOR")]
    pub selector: Option<String>,
    /// In all namespaces; with -l
    #[arg(short = 'A', long, num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value_t = false, action = ArgAction::Set, value_name = "BOOL", hide_possible_values = true, hide_default_value = true)]
    pub all_namespaces: bool,
}

impl ValueEnum for Validation {
    fn value_variants<'a>() -> &'a [Self] {
        &Self::ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        // kubectl takes booleans too.
        Some(match self {
            Self::Strict => PossibleValue::new("strict").alias("true"),
            Self::Warn => PossibleValue::new("warn"),
            Self::Ignore => PossibleValue::new("ignore").alias("false"),
        })
    }
}

/// `plan`.
#[derive(Debug, Args)]
pub struct PlanArgs {
    /// Which workloads, and which images.
    #[command(flatten)]
    pub targets: TargetArgs,
    /// How fast, how careful.
    #[command(flatten)]
    pub policy: PolicyArgs,
    /// Compare -f with these older manifests, with no cluster at all: files, folders, or - for standard input
    #[arg(long, value_name = "FILE", value_delimiter = ',', value_hint = ValueHint::AnyPath)]
    pub against: Vec<String>,
    /// Output format; wide is text with what an expert asks for, name the pods that would change, markdown a comment for a pull request
    #[arg(short, long, value_name = "FORMAT", default_value = "text")]
    pub output: OutputFormat,
    /// Exit with 0 for nothing to do, 2 for changes that are all in place, 3 for anything else. Without it a plan that could be made exits with 0, whatever it says
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value_t = false, action = ArgAction::Set, value_name = "BOOL", hide_possible_values = true, hide_default_value = true)]
    pub detailed_exitcode: bool,
    /// Save the plan, for apply --plan FILE
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub out: Option<PathBuf>,
    /// Name of the writer in the objects' managed fields
    #[arg(long, value_name = "NAME", default_value = FIELD_MANAGER)]
    pub field_manager: String,
}

/// `diff`.
#[derive(Debug, Args)]
pub struct DiffArgs {
    /// Which workloads, and which images.
    #[command(flatten)]
    pub targets: TargetArgs,
    /// Unchanged lines around each change
    #[arg(short = 'C', long, value_name = "LINES", default_value_t = 3)]
    pub context_lines: u32,
    /// Name of the writer that the server is asked as
    #[arg(long, value_name = "NAME", default_value = FIELD_MANAGER)]
    pub field_manager: String,
}

/// `hash`.
#[derive(Debug, Args)]
pub struct HashArgs {
    /// Which objects, and which images after. With a manifest and TYPE/NAME, the manifest is what comes after.
    #[command(flatten)]
    pub targets: TargetArgs,
    /// Version of the kubelet, such as 1.29 [default: that of the pod's node, else 1.32 or newer]
    #[arg(long, value_name = "VERSION")]
    pub kubelet_version: Option<String>,
    /// Output format
    #[arg(short, long, value_name = "FORMAT", default_value = "text")]
    pub output: HashFormat,
}

/// The formats of most commands: the others are for a plan alone, or for a status.
fn text_or_json() -> impl TypedValueParser<Value = OutputFormat> {
    one_of(&[OutputFormat::Text, OutputFormat::Json])
}

fn one_of(formats: &[OutputFormat]) -> impl TypedValueParser<Value = OutputFormat> + use<> {
    let named = formats.iter().filter_map(|format| Some((format.to_possible_value()?, *format)));
    let named: Vec<(PossibleValue, OutputFormat)> = named.collect();
    PossibleValuesParser::new(named.iter().map(|(value, _)| value.clone()).collect::<Vec<_>>()).map(move |word| {
        let found = named.iter().find(|(value, _)| value.matches(&word, false));
        found.map_or(OutputFormat::Text, |(_, format)| *format)
    })
}

/// The default of `--field-manager`.
pub const FIELD_MANAGER: &str = "kubectl-inplace";

/// `apply`.
#[derive(Debug, Args)]
pub struct ApplyArgs {
    /// Which workloads, and which images.
    #[command(flatten)]
    pub targets: TargetArgs,
    /// How fast, how careful.
    #[command(flatten)]
    pub policy: PolicyArgs,
    /// Do exactly what a saved plan says, without asking; refused if anything moved since
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with_all = ["words", "image", "filename", "selector", "all_namespaces", "all_containers", "recursive", "max_unavailable", "min_ready_seconds", "timeout", "total_timeout", "pods_only", "take_over", "canary", "pause_after", "partition", "pods", "node", "order", "container_order", "before_pod", "after_pod", "pre_pull", "disruption_budget", "drain", "drain_seconds", "field_manager"])]
    pub plan: Option<PathBuf>,
    /// Output format; json is one object a line
    #[arg(short, long, value_name = "FORMAT", default_value = "text", value_parser = text_or_json())]
    pub output: OutputFormat,
    /// Do not ask; required where there is no terminal
    #[arg(short, long, num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value_t = false, action = ArgAction::Set, value_name = "BOOL", hide_possible_values = true, hide_default_value = true)]
    pub yes: bool,
    /// What becomes of it.
    #[command(flatten)]
    pub rollout: RolloutArgs,
    /// client: plan without asking the server about the patches; server: plan as usual. Neither changes anything
    #[arg(long, value_name = "MODE", num_args = 0..=1, require_equals = true, default_missing_value = "client", default_value = "none")]
    pub dry_run: DryRun,
    /// Name of the writer in the objects' managed fields
    #[arg(long, value_name = "NAME", default_value = FIELD_MANAGER)]
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

/// `follow`.
#[derive(Debug, Args)]
pub struct FollowArgs {
    /// Which workloads; with images, until they run these.
    #[command(flatten)]
    pub targets: TargetArgs,
    /// How long ready must hold, and how long to wait.
    #[command(flatten)]
    pub policy: FollowPolicyArgs,
    /// Output format; json is one object a line
    #[arg(short, long, value_name = "FORMAT", default_value = "text", value_parser = text_or_json())]
    pub output: OutputFormat,
    /// Write down everything that is decided, and from what, as one JSON object a line: for a report of a bug
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
}

/// How long ready must hold, and how long to wait.
#[derive(Debug, Args, Default)]
pub struct FollowPolicyArgs {
    /// Seconds that a pod must stay ready [default: the owner's own; 5 without a readiness probe]
    #[arg(long, value_name = "SECONDS")]
    pub min_ready_seconds: Option<u32>,
    /// How long to wait for each pod, such as 90s or 10m [default: 5m and its termination grace]
    #[arg(long, value_name = "DURATION")]
    pub timeout: Option<String>,
    /// How long everything may take [default: no limit]
    #[arg(long, value_name = "DURATION")]
    pub total_timeout: Option<String>,
}

/// The commands that permissions are known of.
fn cluster_command() -> impl TypedValueParser<Value = ClusterCommand> {
    PossibleValuesParser::new(ClusterCommand::ALL.map(ClusterCommand::word)).map(|word| {
        let found = ClusterCommand::ALL.into_iter().find(|command| command.word() == word);
        found.unwrap_or(ClusterCommand::Plan)
    })
}

/// The kinds of workloads, under every name that kubectl knows them by; `all` is none of them.
fn kind_or_all() -> impl TypedValueParser<Value = KindOrAll> {
    let kinds = WorkloadKind::ALL.map(|kind| {
        let spec = kind.spec();
        PossibleValue::new(spec.singular).alias(spec.plural).aliases(spec.short_names.iter().copied())
    });
    PossibleValuesParser::new(kinds.into_iter().chain([PossibleValue::new("all")]))
        .map(|word| KindOrAll(WorkloadKind::from_word(&word)))
}

/// One kind, or all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KindOrAll(
    /// The kind; `None` is all.
    pub Option<WorkloadKind>,
);

/// `rbac`.
#[derive(Debug, Args)]
pub struct RbacArgs {
    /// The command that is to be allowed
    #[arg(value_parser = cluster_command())]
    pub command: ClusterCommand,
    /// The kind of workloads
    #[arg(value_name = "TYPE", default_value = "all", value_parser = kind_or_all())]
    pub kind: KindOrAll,
    /// For pods alone: the owner's template is left as it is
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value_t = false, action = ArgAction::Set, value_name = "BOOL", hide_possible_values = true, hide_default_value = true)]
    pub pods_only: bool,
    /// Ask the server whether you may, in the namespace; exit with 3 if something required is missing
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value_t = false, action = ArgAction::Set, value_name = "BOOL", hide_possible_values = true, hide_default_value = true)]
    pub check: bool,
    /// With what is optional too: without it an answer is weaker, or a flag does not work
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value_t = false, action = ArgAction::Set, value_name = "BOOL", hide_possible_values = true, hide_default_value = true)]
    pub optional: bool,
    /// For all namespaces: a ClusterRole
    #[arg(short = 'A', long, num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value_t = false, action = ArgAction::Set, value_name = "BOOL", hide_possible_values = true, hide_default_value = true)]
    pub all_namespaces: bool,
    /// Output format; text is YAML with comments, or a table with --check
    #[arg(short, long, value_name = "FORMAT", default_value = "text", value_parser = text_or_json())]
    pub output: OutputFormat,
}

/// `explain`.
#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// The code, as a plan, a rollout or status shows it, or an exit code; upper and lower case are alike
    #[arg(value_name = "CODE")]
    pub code: Option<String>,
}

/// `completion`.
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

impl CompletionShell {
    /// Every shell.
    pub const ALL: [Self; 4] = [Self::Bash, Self::Zsh, Self::Fish, Self::PowerShell];
}

/// `version`.
#[derive(Debug, Args)]
pub struct VersionArgs {
    /// Do not ask the server
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value_t = false, action = ArgAction::Set, value_name = "BOOL", hide_possible_values = true, hide_default_value = true)]
    pub client: bool,
    /// Output format
    #[arg(short, long, value_name = "FORMAT", default_value = "text", value_parser = text_or_json())]
    pub output: OutputFormat,
}

/// `__complete`.
#[derive(Debug, Args)]
pub struct CompleteArgs {
    /// The words after the plugin's name; the last one is being typed.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub words: Vec<String>,
}

/// kubectl's connection and identity flags, and how to show things.
#[derive(Debug, Args, Default, Clone)]
#[command(next_help_heading = "Global flags")]
pub struct GlobalArgs {
    /// Namespace
    #[arg(short, long, global = true, value_name = "NAME")]
    pub namespace: Option<String>,
    /// The kubeconfig to use
    #[arg(long, global = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub kubeconfig: Option<String>,
    /// Context of the kubeconfig
    #[arg(long, global = true, value_name = "NAME")]
    pub context: Option<String>,
    /// Cluster of the kubeconfig
    #[arg(long, global = true, value_name = "NAME")]
    pub cluster: Option<String>,
    /// User of the kubeconfig
    #[arg(long, global = true, value_name = "NAME")]
    pub user: Option<String>,
    /// Address of the API server
    #[arg(short, long, global = true, value_name = "URL")]
    pub server: Option<String>,
    /// Bearer token
    #[arg(long, global = true, value_name = "TOKEN", hide_env_values = true)]
    pub token: Option<String>,
    /// Certificate file of the server's authority
    #[arg(long, global = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub certificate_authority: Option<String>,
    /// Client certificate file
    #[arg(long, global = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub client_certificate: Option<String>,
    /// Client key file
    #[arg(long, global = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub client_key: Option<String>,
    /// Do not check the server's certificate
    #[arg(long, global = true, num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value_t = false, action = ArgAction::Set, value_name = "BOOL", hide_possible_values = true, hide_default_value = true)]
    pub insecure_skip_tls_verify: bool,
    /// Name that the server's certificate must have
    #[arg(long, global = true, value_name = "NAME")]
    pub tls_server_name: Option<String>,
    /// User to impersonate
    #[arg(long = "as", global = true, value_name = "USER")]
    pub as_user: Option<String>,
    /// Group to impersonate; repeatable
    #[arg(long, global = true, value_name = "GROUP")]
    pub as_group: Vec<String>,
    /// UID to impersonate
    #[arg(long, global = true, value_name = "UID")]
    pub as_uid: Option<String>,
    /// Extra of the impersonated user; repeatable
    #[arg(long, global = true, value_name = "KEY=VALUE")]
    pub as_user_extra: Vec<String>,
    /// How long one request may take, repetitions included; 0 is no limit
    #[arg(long, global = true, value_name = "DURATION")]
    pub request_timeout: Option<String>,
    /// Ask the server not to compress its answers
    #[arg(long, global = true, num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value_t = false, action = ArgAction::Set, value_name = "BOOL", hide_possible_values = true, hide_default_value = true)]
    pub disable_compression: bool,
    /// End with an error if the server warned
    #[arg(long, global = true, num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value_t = false, action = ArgAction::Set, value_name = "BOOL", hide_possible_values = true, hide_default_value = true)]
    pub warnings_as_errors: bool,
    /// Colours
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub color: ColorChoice,
    /// Show results and errors only
    #[arg(short, long, global = true, num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value_t = false, action = ArgAction::Set, value_name = "BOOL", hide_possible_values = true, hide_default_value = true)]
    pub quiet: bool,
    /// Log level: 6 shows requests, 8 more
    #[arg(short = 'v', long = "v", global = true, value_name = "LEVEL", default_value_t = 0)]
    pub verbosity: u8,
}
