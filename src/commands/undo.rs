//! `undo`: back to the images recorded before an update in place; `restart`: named containers again, in place, using the
//! image digest that is running; and what pods keep of a way back, said before it begins.

use super::planning::{self, Planned, Purpose};
use super::rolling::Rolling;
use super::{Shell, apply, plan, resume, targets};
use crate::cli::{DryRun, GlobalArgs, RestartArgs, UndoArgs};
use crate::cluster::{Cluster, Nodes};
use crate::error::{CommandError, Result};
use engine::change::{Direction, FieldChanges, FieldEffect, Row, resizing};
use engine::k8s::names::ContainerName;
use engine::k8s::permissions::ClusterCommand;
use engine::k8s::workload::Workload;
use engine::plan::updates::{Course, Update};
use engine::plan::{Intent, Options, PodOrder, RolloutState, Snapshot, rollout_state, undone};
use engine::rollout::Goal;
use engine::state::outcome::EndResult;
use engine::value::duration;

pub(super) async fn run(args: &UndoArgs, global: &GlobalArgs, shell: &mut Shell) -> Result<EndResult> {
    let options = planning::options(&args.policy)?;
    let why = "undo uses the images that were recorded; pass only the workload";
    let (cluster, mut found) = targets::connect_and_find(&args.targets, why, global, shell).await?;
    let writer = (args.act.output, args.field_manager.as_str());
    if args.to.is_none() && !args.pin_digest && are_left_behind(&found, &cluster).await? {
        refuse_what_the_rollout_has(args)?;
        for (workload, _) in &found {
            shell.note(&format!("{}: its last rollout did not finish and is rolled back", workload.reference));
        }
        let mut rolling = Rolling::new(&cluster, &args.rollout, writer, shell).await;
        rolling.dry_run = args.act.dry_run;
        rolling.start.keep_field_ownership = args.owner.keep_field_ownership;
        rolling.on_deferred = args.resize.deferred;
        return resume::go_on(found, Some(Direction::Back), &options, &rolling, args.act.yes, shell).await;
    }
    for (_, intent) in &mut found {
        *intent = Intent::Undo { to: args.to.clone(), pin_digest: args.pin_digest };
    }
    let ask_server = args.act.dry_run != DryRun::Client;
    let command = ClusterCommand::Undo;
    let purpose = Purpose::of(command, &args.field_manager, ask_server);
    let planned = planning::make_for(found, cluster, &options, &purpose, shell).await?;
    for (plan, live) in planned.plan.workloads.iter().zip(&planned.lives) {
        // The reason why there is none was reported before.
        let Ok(Some(update)) = undone(live, args.to.as_deref()) else { continue };
        tell(live, &update, shell);
        if plan.durable.is_none() && matches!(update.course, Course::PodsOnly { .. }) {
            say_what_stays(live, &update.fields, shell);
        }
    }
    if let Some(end) = plan::approved(&planned, &args.act, shell)? {
        return Ok(end);
    }
    for (plan, live) in planned.plan.workloads.iter().zip(&planned.lives) {
        say_what_pods_keep(live, &plan.fields, shell);
    }
    let Planned { plan, lives, cluster, id, .. } = planned;
    let mut rolling = Rolling::new(&cluster, &args.rollout, writer, shell).await;
    apply::write_to_the_owner(&mut rolling, &args.owner, &plan, shell);
    rolling.on_deferred = args.resize.deferred;
    rolling.each((plan, lives), &id, shell).await
}

/// A rollout that did not finish is rolled back whole, in its own order: to ignore a flag would be to promise something.
fn refuse_what_the_rollout_has(args: &UndoArgs) -> Result<()> {
    let choice = &args.policy.choice;
    let given = [
        ("--reason", args.owner.reason.is_some()),
        ("--pods-only", choice.pods_only),
        ("--canary", choice.canary.is_some()),
        ("--partition", choice.partition.is_some()),
        ("--pods", !choice.pods.is_empty()),
        ("--node", choice.node.is_some()),
        ("--order", choice.order != PodOrder::default()),
    ];
    match given.into_iter().find(|(_, is_given)| *is_given) {
        Some((flag, _)) => Err(CommandError::usage(format!(
            "the last rollout did not finish, so undo rolls all of it back, in its own order: {flag} cannot be used with that"
        ))),
        None => Ok(()),
    }
}

fn tell(live: &Snapshot, update: &Update, shell: &Shell) {
    let who = update.who.as_ref().map(|who| format!(" by {who}")).unwrap_or_default();
    let now = live.surroundings.server_now.as_deref();
    let when = update
        .ended
        .as_ref()
        .or(update.began.as_ref())
        .map(|at| format!(" {}", duration::began(at, now)))
        .unwrap_or_default();
    let images = update.images.iter().map(|image| format!("{}: {} -> {}", image.container, image.from, image.to));
    let what: Vec<String> = images.chain(update.fields.rows().into_iter().map(|row| row.what)).collect();
    let what = if what.is_empty() { String::new() } else { format!(": {}", what.join(", ")) };
    shell.note(&format!("{}: this command undoes update \"{}\"{who}{when}{what}", live.workload.reference, update.id));
}

/// Whether every workload is held by a rollout that ended before its time: to undo that is to take it back.
async fn are_left_behind(found: &[(Workload, Intent)], cluster: &Cluster) -> Result<bool> {
    let workloads = found.iter().map(|(workload, _)| workload.clone()).collect();
    let lives = targets::read_side_by_side(cluster, workloads, Nodes::Nowhere).await?;
    Ok(lives.iter().all(|live| rollout_state(live) == RolloutState::Unfinished))
}

/// Says what goes back in the template alone.
pub(super) fn say_what_pods_keep(live: &Snapshot, fields: &FieldChanges, shell: &Shell) {
    let workload = &live.workload.reference;
    let kept: Vec<Row> = fields.rows().into_iter().filter(|row| row.effect == FieldEffect::LaterPods).collect();
    for Row { what, before, after, .. } in &kept {
        let note = match (before, after) {
            (Some(before), Some(after)) => {
                format!("{workload}: pods that have {what} {before} keep it; the template has {after}")
            }
            (_, _) => format!("{workload}: pods that have the {what} keep it; the template no longer has it"),
        };
        shell.note(&note);
    }
    let at_work = || live.pods.iter().find_map(|pod| Some((&pod.key.name, resizing(pod)?)));
    if fields.resources.is_kept_by_pods()
        && let Some((pod, progress)) = at_work()
    {
        let why = progress.why().map_or_else(String::new, |why| format!(": {why}"));
        shell.note(&format!(
            "{workload}: what pods keep is not given to all of them yet, such as pod/{pod}{why}; apply another value (--requests, --limits) to end that"
        ));
    }
}

/// The same where only pods go back, and nothing else records what they had.
pub(super) fn say_what_stays(live: &Snapshot, undone: &FieldChanges, shell: &Shell) {
    let rows = undone.reversed().rows().into_iter().filter(|row| row.effect == FieldEffect::LaterPods);
    for Row { what, .. } in rows {
        shell.note(&format!("{}: the {what} stays: it cannot be removed from a running pod", live.workload.reference));
    }
}

pub(super) fn say_what_goes_back_keeps(live: &Snapshot, goal: &Goal, shell: &Shell) {
    say_what_pods_keep(live, &goal.lock.rollout.directed().fields, shell);
}

pub(super) async fn restart(args: &RestartArgs, global: &GlobalArgs, shell: &mut Shell) -> Result<EndResult> {
    if args.policy.choice.pods_only {
        return Err(CommandError::usage("--pods-only makes no difference to restart, which changes pods alone"));
    }
    // Nothing changes that a template could say.
    let options = Options { pods_only: true, ..planning::options(&args.policy)? };
    let why = "a restart keeps the images; name the workload and its containers: -c NAME";
    let (cluster, mut found) = targets::connect_and_find(&args.targets, why, global, shell).await?;
    for (_, intent) in &mut found {
        let containers = args.container.iter().map(|name| ContainerName::from(name.as_str())).collect();
        *intent = Intent::Restart { by_request: args.by_request, containers };
    }
    let ask_server = args.act.dry_run != DryRun::Client;
    let command = ClusterCommand::Restart;
    let purpose = Purpose::of(command, &args.field_manager, ask_server);
    let planned = planning::make_for(found, cluster, &options, &purpose, shell).await?;
    if let Some(end) = plan::approved(&planned, &args.act, shell)? {
        return Ok(end);
    }
    let writer = (args.act.output, args.field_manager.as_str());
    let Planned { plan, lives, cluster, id, .. } = planned;
    let mut rolling = Rolling::new(&cluster, &args.rollout, writer, shell).await;
    rolling.is_restart = true;
    rolling.each((plan, lives), &id, shell).await
}
