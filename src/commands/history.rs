//! `history`: lists the in-place updates of workloads, and changes nothing.

use std::io;

use super::Shell;
use super::targets;
use crate::cli::{GlobalArgs, HistoryArgs, TargetArgs};
use crate::cluster::Nodes;
use crate::engine::outcome::EndResult;
use crate::engine::updates::{WorkloadUpdates, updates};
use crate::error::CommandError;
use crate::render;

pub(super) async fn run(args: &HistoryArgs, global: &GlobalArgs, shell: &mut Shell) -> Result<EndResult, CommandError> {
    let words = TargetArgs::from(&args.targets);
    let asked = targets::read_without_images(&words, shell)?;
    let cluster = shell.connect(global).await?;
    let workloads = targets::find(asked, &words, global, &cluster).await?;
    let workloads = workloads.into_iter().map(|(workload, _)| workload).collect();
    let lives = targets::read_side_by_side(&cluster, workloads, Nodes::Nowhere).await?;
    let found: Vec<WorkloadUpdates> = lives.iter().map(updates).collect();
    render::history(args.output, &found, &shell.terminal.stdout, &mut io::stdout().lock())?;
    Ok(EndResult::Complete)
}
