//! `status` and `history`: the commands that read workloads and change nothing.

use clap::Args;

use super::targets::PickArgs;
use super::{TargetArgs, format};
use crate::render::{DocumentFormat, StatusFormat};

/// Which workloads, where no image is asked for.
#[derive(Debug, Args, Default)]
pub struct WorkloadArgs {
    /// Workloads: TYPE/NAME, TYPE NAME, or TYPE with -l or --all
    #[arg(value_name = "TYPE/NAME")]
    pub words: Vec<String>,
    #[command(flatten)]
    pub pick: PickArgs,
}

impl From<&WorkloadArgs> for TargetArgs {
    fn from(args: &WorkloadArgs) -> Self {
        Self { words: args.words.clone(), pick: args.pick.clone(), ..Self::default() }
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
