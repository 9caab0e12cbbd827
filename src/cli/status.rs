//! `status` and `history`: the commands that read workloads and change nothing.

use clap::{Args, ValueHint};

use super::targets::WORKLOADS;
use super::{TargetArgs, format};
use crate::render::{DocumentFormat, StatusFormat};

/// Which workloads, where no image is asked for.
#[derive(Debug, Args, Default)]
pub struct WorkloadArgs {
    /// Workloads: TYPE/NAME, TYPE NAME, or TYPE with -l or --all
    #[arg(value_name = "TYPE/NAME")]
    pub words: Vec<String>,
    /// Manifests: files, directories, URLs, - for stdin
    #[arg(short, long, help_heading = WORKLOADS, value_name = "FILE", value_delimiter = ',', value_hint = ValueHint::AnyPath)]
    pub filename: Vec<String>,
    /// A kustomization, built by kubectl kustomize
    #[arg(short, long, help_heading = WORKLOADS, value_name = "DIR", value_hint = ValueHint::AnyPath, conflicts_with = "filename")]
    pub kustomize: Option<String>,
    /// Process the directory used in -f recursively
    #[arg(short = 'R', long, help_heading = WORKLOADS, hide_short_help = true)]
    pub recursive: bool,
    /// Label selector of the workloads
    #[arg(short = 'l', long, help_heading = WORKLOADS, value_name = "LABELS")]
    pub selector: Option<String>,
    /// Field selector of the workloads, such as metadata.name=web
    #[arg(long, help_heading = WORKLOADS, hide_short_help = true, value_name = "FIELDS")]
    pub field_selector: Option<String>,
    /// All workloads of the types
    #[arg(long, help_heading = WORKLOADS, conflicts_with_all = ["selector", "field_selector"])]
    pub all: bool,
    /// In all namespaces
    #[arg(short = 'A', long, help_heading = WORKLOADS)]
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
            field_selector: args.field_selector.clone(),
            all: args.all,
            all_namespaces: args.all_namespaces,
            ..Self::default()
        }
    }
}

#[derive(Debug, Args)]
pub struct StatusArgs {
    /// Which workloads; none is all of them.
    #[command(flatten)]
    pub targets: WorkloadArgs,
    /// Show it again whenever it changes, until it is interrupted
    #[arg(short, long)]
    pub watch: bool,
    /// Exit with 2 where a workload is not up to date: in progress, failed, held, drifted, or pods missing; with 1 where that is not known
    #[arg(long, conflicts_with = "watch")]
    pub exit_code: bool,
    /// Output format; wide also has restarts, nodes, digests and uids, name the workloads, one a line
    #[arg(short, long, value_name = "FORMAT", default_value = "text", value_parser = format::<StatusFormat>())]
    pub output: StatusFormat,
}

#[derive(Debug, Args)]
pub struct HistoryArgs {
    #[command(flatten)]
    pub targets: WorkloadArgs,
    /// Output format
    #[arg(short, long, value_name = "FORMAT", default_value = "text", value_parser = format::<DocumentFormat>())]
    pub output: DocumentFormat,
}
