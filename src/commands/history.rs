//! `history`: lists the in-place updates of workloads, and changes nothing.

use std::io;

use super::Shell;
use super::targets;
use crate::cli::{GlobalArgs, HistoryArgs, TargetArgs};
use crate::cluster::Nodes;
use crate::error::CommandError;
use crate::render::{self, HistoryContext};
use engine::plan::updates::{WorkloadUpdates, updates};
use engine::state::outcome::EndResult;
use engine::status::status;

pub(super) async fn run(args: &HistoryArgs, global: &GlobalArgs, shell: &mut Shell) -> Result<EndResult, CommandError> {
    let words = TargetArgs::from(&args.targets);
    let asked = targets::read_without_images(&words, shell).await?;
    let cluster = shell.connect(global).await?;
    let (workloads, missing) = targets::find_there(asked, &words, global, &cluster).await?;
    let lives = targets::read_side_by_side(&cluster, workloads, Nodes::Nowhere).await?;
    if lives.is_empty() {
        targets::note_nothing((!words.all_namespaces).then(|| cluster.namespace()), shell);
    }
    let found: Vec<WorkloadUpdates> = lives.iter().map(updates).collect();
    let now = shell.clock(&cluster);
    let invocation = shell.invocation(&cluster);
    let commands = |updates: &WorkloadUpdates| {
        let live = lives.iter().find(|live| live.workload.reference == updates.workload);
        live.map(|live| invocation.next_commands(&status(live).next, &updates.workload, None)).unwrap_or_default()
    };
    let context = HistoryContext { now: &now, commands: &commands };
    render::history(args.output, &found, &context, &shell.terminal.stdout, &mut io::stdout().lock())?;
    Ok(missing.iter().map(|error| shell.tell_error(error)).last().unwrap_or(EndResult::Complete))
}
