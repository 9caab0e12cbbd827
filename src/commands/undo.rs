//! `undo`: back to the images recorded before an update in place.

use super::kept::{say_what_pods_keep, say_what_stays};
use super::planning::{self, Planned, Purpose};
use super::rolling::Rolling;
use super::targets;
use super::{Shell, apply, approve, plan, resume};
use crate::cli::{DryRun, GlobalArgs, TargetArgs, UndoArgs};
use crate::cluster::{Cluster, Nodes};
use crate::error::CommandError;
use engine::change::Direction;
use engine::k8s::permissions::ClusterCommand;
use engine::k8s::workload::Workload;
use engine::plan::updates::{Course, Update};
use engine::plan::{Intent, LiveWorkload, PodOrder, RolloutState, rollout_state, undone};
use engine::state::outcome::EndResult;
use engine::value::duration;

pub(super) async fn run(args: &UndoArgs, global: &GlobalArgs, shell: &mut Shell) -> Result<EndResult, CommandError> {
    let options = planning::options(&args.policy)?;
    let words = TargetArgs::from(&args.targets);
    let asked =
        targets::read_workloads(&words, "undo uses the images that were recorded; pass only the workload", shell);
    let asked = asked.await?;
    let cluster = shell.connect(global).await?;
    let mut found = targets::find(asked, &words, global, &cluster).await?;
    let writer = (args.output, args.field_manager.as_str());
    if args.to.is_none() && !args.pin_digest && are_left_behind(&found, &cluster).await? {
        refuse_what_the_rollout_has(args)?;
        for (workload, _) in &found {
            shell.note(&format!("{}: its last rollout did not finish and is rolled back", workload.reference));
        }
        let mut rolling = Rolling::new(&cluster, &args.rollout, writer, shell).await;
        rolling.start.pre_pull = options.pre_pull;
        rolling.start.hooks = options.hooks.clone();
        rolling.dry_run = args.dry_run;
        rolling.start.keep_field_ownership = args.owner.keep_field_ownership;
        rolling.on_deferred = args.resize.deferred;
        rolling.start.take_over = options.take_over;
        return resume::go_on(found, Some(Direction::Back), &options, &rolling, args.yes, shell).await;
    }
    for (_, intent) in &mut found {
        *intent = Intent::Undo { to: args.to.clone(), pin_digest: args.pin_digest };
    }
    let ask_server = args.dry_run != DryRun::Client;
    let (command, nodes) = (ClusterCommand::Undo, Nodes::WhereDecisive);
    let purpose = Purpose { command, field_manager: &args.field_manager, ask_server, nodes, shows_kubelets: false };
    let planned = planning::make_for(found, cluster, &options, &purpose, shell).await?;
    for (plan, live) in planned.plan.workloads.iter().zip(&planned.lives) {
        // The reason why there is none was reported before.
        let Ok(Some(update)) = undone(live, args.to.as_deref()) else { continue };
        tell(live, &update, shell);
        if plan.durable.is_none() && matches!(update.course, Course::PodsOnly { .. }) {
            say_what_stays(live, &update.fields, shell);
        }
    }
    plan::show_stream(&planned, args.output, (args.dry_run == DryRun::None, args.yes), shell)?;
    shell.tell_notices();
    if let Some(end) = planned.ends_here(args.dry_run, shell) {
        return Ok(end);
    }
    if !approve::ask(&planned.plan, &planned.cluster, args.yes, shell)? {
        return Err(approve::declined());
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
fn refuse_what_the_rollout_has(args: &UndoArgs) -> Result<(), CommandError> {
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

/// Says which update is undone: with which values the plan shows.
fn tell(live: &LiveWorkload, update: &Update, shell: &Shell) {
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
async fn are_left_behind(found: &[(Workload, Intent)], cluster: &Cluster) -> Result<bool, CommandError> {
    let workloads = found.iter().map(|(workload, _)| workload.clone()).collect();
    let lives = targets::read_side_by_side(cluster, workloads, Nodes::Nowhere).await?;
    Ok(lives.iter().all(|live| rollout_state(live) == RolloutState::Unfinished))
}
