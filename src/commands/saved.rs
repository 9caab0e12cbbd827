//! Saved plans: `plan --out FILE`, `apply --plan FILE`.
#![expect(clippy::disallowed_methods, reason = "reads and writes the plan's file")]

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::Path;

use super::permitted::Permitted;
use super::planning::{self, Manifests, Planned};
use super::{Shell, recording};
use crate::cli::GlobalArgs;
use crate::cluster::Nodes;
use crate::error::{CommandError, ErrorKind, Result};
use engine::k8s::permissions::ClusterCommand;
use engine::plan::{Plan, SavedPlan, Verdict};
use engine::state::outcome::EndResult;
use engine::value::hint::{Hint, inplace};

/// A saved plan of ten thousand pods is a few MiB.
const MAX_BYTES: u64 = 64 << 20;

/// Writes a plan to a file that only its owner may read: a template may hold secrets in its environment values.
pub(super) fn write(planned: &Planned, field_manager: &str, file: &Path) -> Result<()> {
    let failed = |error: &dyn std::fmt::Display| {
        CommandError::new(ErrorKind::Output, format!("the plan could not be saved in {}: {error}", file.display()))
    };
    let saved = SavedPlan::new(&planned.plan, &planned.lives, planned.cluster.server(), field_manager);
    let text = serde_json::to_vec_pretty(&saved).map_err(|error| failed(&error))?;
    if recording::is_special(file) {
        let written = recording::create_private(file).and_then(|mut out| out.write_all(&text));
        return written.map_err(|error| failed(&error));
    }
    // Whole or not at all: a half-written plan must not get the name.
    let written = recording::private_draft(file).and_then(|(draft, mut out)| {
        out.write_all(&text).and_then(|()| out.sync_all()).and_then(|()| fs::rename(&draft, file))
    });
    written.map_err(|error| failed(&error))
}

pub(super) enum Reread {
    Fresh(Box<Planned>, String),
    /// It does not, as its reasons say; nothing was touched.
    Stale(Plan),
}

/// Reads a saved plan and checks it against the cluster; the server is asked again whether it accepts it.
pub(super) async fn read(file: &Path, ask_server: bool, global: &GlobalArgs, shell: &mut Shell) -> Result<Reread> {
    if global.connection.namespace.is_some() {
        return Err(CommandError::usage(
            "--namespace cannot be used with --plan: the plan already contains the namespaces",
        )
        .hint("to carry it out elsewhere, plan again with -n"));
    }
    let failed = |error: &dyn std::fmt::Display| CommandError::usage(format!("{}: {error}", file.display()));
    let mut text = Vec::new();
    let opened = File::open(file).map_err(|error| failed(&error))?;
    opened.take(MAX_BYTES).read_to_end(&mut text).map_err(|error| failed(&error))?;
    let saved = SavedPlan::parse(&text).map_err(|error| {
        failed(&error)
            .hint(Hint::from("save a plan with: ").command(inplace("plan TYPE/NAME CONTAINER=IMAGE --out FILE")))
    })?;
    let cluster = shell.connect(global).await?;
    if cluster.server() != saved.server {
        let message = format!("the plan was made for the server {}, and this is {}", saved.server, cluster.server());
        return Err(CommandError::usage(message).hint("choose its context with --context, or plan again"));
    }
    let mut lives = Vec::new();
    for workload in &saved.workloads {
        let owner = cluster.workload(&workload.plan.workload).await?;
        lives.push(cluster.live(owner, Nodes::WhereDecisive).await?);
    }
    let mut plan = saved.held_against(&lives);
    if plan.result() == EndResult::Superseded {
        return Ok(Reread::Stale(plan));
    }
    let id = shell.rollout_id();
    let mut permitted = Permitted::new(&cluster, ClusterCommand::Apply);
    let mut workloads = Vec::new();
    for (workload, live) in plan.workloads.into_iter().zip(&lives) {
        workloads.push(match workload.verdict {
            Verdict::InPlace => {
                let denied = permitted.of_plan(&workload).await;
                let writer = (&id, saved.field_manager.as_str());
                let dry_run = match ask_server {
                    true => Some(planning::dry_run(&workload, live, &mut permitted, &cluster, writer).await?),
                    false => None,
                };
                workload.with_answers(denied, dry_run, live)
            }
            Verdict::InPlaceByController | Verdict::NothingToDo | Verdict::NotEligible => workload,
        });
    }
    plan.workloads = workloads;
    let planned = Planned { plan, lives, cluster, id, now: None, manifests: Manifests::new() };
    Ok(Reread::Fresh(Box::new(planned), saved.field_manager))
}
