//! `status` and `history`: the commands that look at workloads and change nothing.

use clap::builder::TypedValueParser;
use clap::{Args, ValueHint};

use super::{TargetArgs, one_of, text_or_json};
use crate::render::OutputFormat;

pub(super) const STATUS_EXAMPLES: &str = "\
Without a target it is every workload of the namespace, or of all with -A. Then only those are shown on which there is
something to say: one that is held by a rollout of this program, whose controller is replacing pods, paused or stuck, that
lacks pods, or of which a pod is not ready, fails, is updating, or asks for another image than the template. Where all are
up to date, each has one line. -o json and -o yaml always have all of them, marked as notable or not.

States of a container: updating asks for an image that it does not run yet; unverified runs and may be of the image that is
asked for, but one look cannot tell; pinned asks for the template's image at the digest that runs.

Examples:
  # Who on call: is anything in the middle of something, in the whole cluster?
  kubectl inplace status -A

  # One workload, with nodes and digests, shown again whenever it changes
  kubectl inplace status deployment/web -o wide -w

  # What has drifted from its template, for a script
  kubectl inplace status -A -o json | jq -r '.workloads[] | select(.summary.drifted > 0) | .workload.name'";

pub(super) const HISTORY_EXAMPLES: &str = "\
The newest is the last one, as in kubectl rollout history; a rollout that has not ended is the very last. Of updates of pods
alone (apply --pods-only, or a pod of its own) only the last one of each pod is known, without who and how it ended.

Examples:
  # What was done to a Deployment in place?
  kubectl inplace history deployment/web

  # Of all DaemonSets with a label, for a script
  kubectl inplace history daemonsets -l team=shop -A -o json";

/// Which workloads, where no image is asked for.
#[derive(Debug, Args, Default)]
pub struct WorkloadArgs {
    /// Workloads as TYPE/NAME, TYPE NAME, or TYPE alone for all of them
    #[arg(value_name = "TYPE/NAME")]
    pub words: Vec<String>,
    /// Manifests: files, folders, URLs, or - for standard input
    #[arg(short, long, value_name = "FILE", value_delimiter = ',', value_hint = ValueHint::AnyPath)]
    pub filename: Vec<String>,
    /// A kustomization, built by kubectl kustomize
    #[arg(short, long, value_name = "DIRECTORY", value_hint = ValueHint::AnyPath, conflicts_with = "filename")]
    pub kustomize: Option<String>,
    /// Process the directory used in -f recursively
    #[arg(short = 'R', long)]
    pub recursive: bool,
    /// Label selector of the workloads
    #[arg(short = 'l', long, value_name = "SELECTOR")]
    pub selector: Option<String>,
    /// All workloads of the types, as TYPE alone
    #[arg(long, conflicts_with = "selector")]
    pub all: bool,
    /// In all namespaces
    #[arg(short = 'A', long)]
    pub all_namespaces: bool,
}

impl From<&WorkloadArgs> for TargetArgs {
    fn from(args: &WorkloadArgs) -> Self {
        Self {
            words: args.words.clone(),
            filename: args.filename.clone(),
            kustomize: args.kustomize.clone(),
            recursive: args.recursive,
            selector: args.selector.clone(),
            all: args.all,
            all_namespaces: args.all_namespaces,
            ..Self::default()
        }
    }
}

/// The formats of `status`: markdown is for a plan alone.
fn all_but_markdown() -> impl TypedValueParser<Value = OutputFormat> {
    one_of(&[OutputFormat::Text, OutputFormat::Wide, OutputFormat::Json, OutputFormat::Yaml, OutputFormat::Name])
}

/// `status`.
#[derive(Debug, Args)]
pub struct StatusArgs {
    /// Which workloads; none is all of them.
    #[command(flatten)]
    pub targets: WorkloadArgs,
    /// Show it again whenever it changes, until it is interrupted
    #[arg(short, long)]
    pub watch: bool,
    /// Exit with 2 where there is something to say of a workload: under way, failed, held, drifted, or pods missing
    #[arg(long)]
    pub exit_code: bool,
    /// Output format; wide also has restarts, nodes, digests and uids, name the workloads, one a line
    #[arg(short, long, value_name = "FORMAT", default_value = "text", value_parser = all_but_markdown())]
    pub output: OutputFormat,
}

/// `history`.
#[derive(Debug, Args)]
pub struct HistoryArgs {
    /// Which workloads.
    #[command(flatten)]
    pub targets: WorkloadArgs,
    /// Output format
    #[arg(short, long, value_name = "FORMAT", default_value = "text", value_parser = text_or_json())]
    pub output: OutputFormat,
}
