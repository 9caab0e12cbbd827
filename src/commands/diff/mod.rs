//! `diff`: shows the change as a diff, and changes nothing.

mod external;

use std::io;

use clap::CommandFactory;
use serde_json::Value;

use super::{Shell, targets};
use crate::cli::{Cli, DiffArgs, GlobalArgs};
use crate::cluster::Cluster;
use crate::error::{CommandError, ErrorKind, Result};
use crate::render::{self, Meaning};
use engine::change::reason::Warning;
use engine::k8s::workload::Workload;
use engine::plan::workload_diff::{self, WorkloadDiff};
use engine::plan::{Intent, Manifest};
use engine::state::outcome::EndResult;

/// How often an object that keeps changing is compared, as by kubectl (`kubectl/pkg/cmd/diff`, `maxRetries`).
const MAX_READS: u32 = 4;

// The exit codes of `kubectl diff`, not those of [`EndResult`].
pub(super) const SAME: u8 = 0;
pub(super) const DIFFERENT: u8 = 1;
/// An error, wrong usage among them.
pub(super) const FAILED: u8 = 2;

pub(super) async fn run(args: &DiffArgs, global: &GlobalArgs, shell: &mut Shell) -> u8 {
    match compare(args, global, shell).await {
        Ok(result) if shell.finish(EndResult::Complete) == EndResult::Complete => result,
        Ok(_) => FAILED,
        // A reader that closed the pipe had seen a difference by then.
        Err(error) if error.closed_pipe => DIFFERENT,
        Err(error) => {
            shell.tell_error(&error);
            // Where there is nothing, nothing differs.
            if error.kind == ErrorKind::NothingFound { SAME } else { FAILED }
        }
    }
}

pub(super) fn is_asked_for(arguments: &[String]) -> bool {
    let matches = Cli::command().ignore_errors(true).try_get_matches_from(arguments);
    matches.is_ok_and(|matches| matches.subcommand_name() == Some("diff"))
}

async fn compare(args: &DiffArgs, global: &GlobalArgs, shell: &mut Shell) -> Result<u8> {
    let asked = targets::read_change(&args.change, shell).await?;
    targets::note_skipped(asked.skipped(), shell);
    let cluster = shell.connect(global).await?;
    let mut diffs: Vec<WorkloadDiff> = Vec::new();
    let mut failed = false;
    let found = targets::find_or_new(asked, (&args.change.targets, false), global, &cluster).await?;
    targets::refuse_ambiguous(&found.workloads)?;
    let new: Vec<WorkloadDiff> =
        found.to_create().map(|(reference, manifest)| workload_diff::added(reference, manifest)).collect();
    for (workload, intent) in found.workloads {
        match difference(workload, &intent, &args.field_manager, &cluster, shell).await {
            Ok(diff) => diffs.push(diff),
            // The others are shown all the same.
            Err(error) => {
                shell.tell_error(&error);
                failed = true;
            }
        }
    }
    diffs.extend(new);
    let shown = match external::Program::of_environment() {
        Some(program) => external::run(&program, &diffs).await?,
        None => {
            let context = usize::try_from(args.context_lines).unwrap_or(usize::MAX);
            render::diff(&diffs, context, &shell.terminal.stdout, &mut io::stdout().lock())?;
            if diffs.iter().all(WorkloadDiff::is_empty) { SAME } else { DIFFERENT }
        }
    };
    Ok(if failed { FAILED } else { shown })
}

async fn difference(
    mut workload: Workload,
    intent: &Intent,
    field_manager: &str,
    cluster: &Cluster,
    shell: &Shell,
) -> Result<WorkloadDiff> {
    let desired = match intent {
        Intent::Images(images) => workload_diff::with_images(&workload, images)
            .map_err(|reasons| CommandError::reasons(&workload.reference, &reasons))?,
        Intent::Manifest(manifest) => stored(&mut workload, manifest, field_manager, cluster, shell).await?,
        Intent::None | Intent::Undo { .. } | Intent::Restart { .. } => workload.object.clone(),
    };
    Ok(workload_diff::build(&workload, &desired))
}

/// The object as the server would store it, and the workload as it was then.
async fn stored(
    workload: &mut Workload,
    manifest: &Manifest,
    field_manager: &str,
    cluster: &Cluster,
    shell: &Shell,
) -> Result<Value> {
    let answer = match manifest {
        Manifest::Given { object, validation } => {
            let mut looks = 1;
            loop {
                let answer = cluster.desired(workload, object, (field_manager, *validation)).await?;
                // Otherwise a write of somebody else in between would look like a part of the change.
                if looks == MAX_READS || is_of_now(&answer, workload) {
                    break answer;
                }
                *workload = cluster.workload(&workload.reference).await?;
                looks += 1;
            }
        }
        Manifest::Stored { .. } | Manifest::Refused { .. } => manifest.clone(),
    };
    match answer {
        Manifest::Stored { object, removals_unseen } => {
            if removals_unseen {
                let warning = Warning::RemovalsUnseen.sentence();
                shell.say(Meaning::Waiting, "Warning:", &format!("{}: {warning}", workload.reference));
            }
            Ok(object)
        }
        Manifest::Given { object, .. } => Ok(object),
        Manifest::Refused { message } => {
            let message = format!("{}: the server would not store it: {message}", workload.reference);
            Err(CommandError::new(ErrorKind::Cluster, message))
        }
    }
}

/// Whether an answer is of the object as it was read: a dry run's has the resourceVersion that it was made from.
fn is_of_now(answer: &Manifest, workload: &Workload) -> bool {
    let version = |object: &Value| object.pointer("/metadata/resourceVersion").cloned();
    match answer {
        Manifest::Stored { object, .. } => version(object) == version(&workload.object),
        Manifest::Given { .. } | Manifest::Refused { .. } => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_arguments_of_diff_are_known_as_such() {
        for (line, expected) in [
            ("x diff --nonsense", true),
            ("x -n prod diff -C many", true),
            ("x --context diff plan --nonsense", false),
            ("x plan diff --nonsense", false),
            ("x --nonsense", false),
        ] {
            let arguments: Vec<String> = line.split(' ').map(str::to_owned).collect();
            assert_eq!(is_asked_for(&arguments), expected, "{line}");
        }
    }
}
