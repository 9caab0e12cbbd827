//! `resume` and `abort`: go on with a rollout that another run has left, or take it back.

use std::collections::BTreeSet;

use super::next::goes_on;
use super::permitted::Permitted;
use super::rolling::Rolling;
use super::several::Job;
use super::undo::say_what_goes_back_keeps;
use super::{Shell, approve, planning, pulls, targets};
use crate::cli::{DryRun, GlobalArgs, ResumeArgs};
use crate::cluster::{Cluster, Nodes};
use crate::error::{CommandError, ErrorKind};
use crate::render::Meaning;
use engine::change::Direction;
use engine::change::reason::Warning;
use engine::k8s::names::ContainerName;
use engine::k8s::permissions::ClusterCommand;
use engine::k8s::workload::Workload;
use engine::kinds::PODS;
use engine::plan::updates::{Course, updates};
use engine::plan::{self, ContainerOrderError, Intent, ResumeError, Snapshot, Start};
use engine::rollout::pre_pull::Pull;
use engine::rollout::{self, Goal};
use engine::state::durable::ObjectKind;
use engine::state::durable::lock::Lock;
use engine::state::hook::HookPhase;
use engine::state::outcome::EndResult;

pub(super) async fn run(
    args: &ResumeArgs,
    direction: Option<Direction>,
    global: &GlobalArgs,
    shell: &mut Shell,
) -> Result<EndResult, CommandError> {
    let options = planning::pace(&args.pace)?;
    let why = "resume and abort use the images recorded in the rollout; pass only the workload";
    let (cluster, found) = targets::connect_and_find(&args.targets, why, global, shell).await?;
    let writer = (args.output, args.field_manager.as_str());
    let mut rolling = Rolling::new(&cluster, &args.rollout, writer, shell).await;
    rolling.no_hooks = args.no_hooks;
    rolling.start.keep_field_ownership = args.keep_field_ownership;
    rolling.dry_run = args.dry_run;
    rolling.on_deferred = args.resize.deferred;
    go_on(found, direction, &options, &rolling, args.yes, shell).await
}

/// Reads a workload; also returns what of it could not be read: a rollout whose lock was removed shows in its revisions alone.
async fn read(
    workload: Workload,
    rolling: &Rolling<'_>,
    shell: &Shell,
) -> Result<(Snapshot, Vec<String>), CommandError> {
    let cluster = rolling.cluster;
    let mut live = cluster.live(workload, Nodes::WhereDecisive).await?;
    let denied = live.surroundings.denied.iter();
    let denied = denied.map(|denied| format!("you are not allowed to {} {}", denied.verb, denied.resource));
    let unread = denied.chain(live.not_read.iter().cloned()).collect();
    planning::read_services(&mut live, cluster).await;
    // What is derived without a lock is compared with what admission makes of the template.
    if rolling.dry_run != DryRun::Client && !matches!(Lock::of(&live.workload.object), Ok(Some(_))) {
        cluster.status(&mut live).await;
    }
    live.surroundings.now = Some(shell.clock(cluster));
    Ok((live, unread))
}

/// Goes on with what was left behind of the workloads found, or takes it back.
pub(super) async fn go_on(
    found: Vec<(Workload, Intent)>,
    direction: Option<Direction>,
    options: &plan::Options,
    rolling: &Rolling<'_>,
    yes: bool,
    shell: &Shell,
) -> Result<EndResult, CommandError> {
    let (pre_pull, hooks, take_over) = (options.pre_pull, options.hooks.clone(), options.take_over);
    let start = Start { pre_pull, hooks, take_over, ..rolling.start.clone() };
    let rolling = &Rolling { start, ..rolling.clone() };
    let cluster = rolling.cluster;
    let [mut may_resume, mut may_abort] =
        [ClusterCommand::Resume, ClusterCommand::Abort].map(|command| Permitted::new(cluster, command));
    let mut goals = Vec::new();
    for (workload, _) in found {
        let (live, unread) = read(workload, rolling, shell).await?;
        let mut goal = match goal(&live, direction, options, &rolling.start) {
            Ok(goal) => goal,
            Err(ResumeError::NoRollout) => {
                match restored(&live, options, rolling, shell).await? {
                    Some(goal) => goals.push((goal, live)),
                    None => say_that_there_is_none(&live, &unread, direction, rolling, shell),
                }
                continue;
            }
            Err(error) => {
                let verb = goes_on(direction.unwrap_or(Direction::Forward));
                return Err(rolling.not_resumed(&live, verb, &error));
            }
        };
        check_order(&goal, options)?;
        if direction == Some(Direction::Back) && goal.lock.rollout.goes_back() {
            let what = "this update brings back what was there before the one whose place it took: it is finished";
            shell.note(&format!("{}: {what}", goal.workload));
        }
        check_hooks(&goal, rolling, shell)?;
        rolling.refuse_what_the_server_lacks(&goal, &live).await?;
        rolling.refuse_what_admission_refuses(&mut goal, &live).await?;
        rolling.preview(&goal, &live, shell).await?;
        warn(&live, &goal, shell);
        say_that_no_budget_is_asked(&goal, options, shell);
        say_what_goes_back_keeps(&live, &goal, shell);
        // `resume` of what is rolled back takes what `abort` takes.
        let permitted = if goal.is_back() { &mut may_abort } else { &mut may_resume };
        permitted.check(&goal, shell).await?;
        if rolling.dry_run != DryRun::Client {
            goal.pulls = pulls_first(&goal, &live, rolling, shell).await?;
        }
        if rolling.dry_run == DryRun::None {
            approve(&goal, cluster, yes, shell)?;
        }
        goals.push((goal, live));
    }
    if rolling.dry_run != DryRun::None {
        return Ok(if goals.is_empty() { EndResult::NothingToDo } else { EndResult::Complete });
    }
    let jobs = goals.into_iter().map(|(goal, live)| Job { goal: Some(goal), live, expected: None });
    rolling.all(jobs.collect(), shell).await
}

/// Without a rollout: what one of pods alone has left removed from them.
async fn restored(
    live: &Snapshot,
    options: &plan::Options,
    rolling: &Rolling<'_>,
    shell: &Shell,
) -> Result<Option<Goal>, CommandError> {
    if rolling.dry_run == DryRun::None {
        remove_pull_pods(live, rolling.cluster, &rolling.start.field_manager, shell).await;
    }
    let (id, policy) = (shell.rollout_id(), plan::policy_of(live, options));
    let goal = plan::restore_all(live, policy, &id, &rolling.start);
    if let Some(goal) = &goal {
        rolling.preview(goal, live, shell).await?;
    }
    Ok(goal)
}

fn say_that_there_is_none(
    live: &Snapshot,
    unread: &[String],
    direction: Option<Direction>,
    rolling: &Rolling<'_>,
    shell: &Shell,
) {
    let known = if unread.is_empty() { "" } else { ", as far as it could be read: " };
    let (none, what) = (ResumeError::NoRollout, unread.join("; "));
    shell.say(Meaning::Plain, "note:", &format!("{}: {none}{known}{what}", live.workload.reference));
    if direction == Some(Direction::Back) {
        say_what_undoes(live, rolling, shell);
    }
}

/// What nodes pull first: only what the server takes the pods for.
async fn pulls_first(
    goal: &Goal,
    live: &Snapshot,
    rolling: &Rolling<'_>,
    shell: &Shell,
) -> Result<Vec<Pull>, CommandError> {
    let lacking = pulls::find(&goal.pods, live, goal.pre_pull, rolling.cluster).await;
    let mut warnings = Vec::new();
    let asked = pulls::ask(goal, lacking.pulls, rolling.cluster).await;
    let (pulls, refusal) = plan::taken(asked, goal.pre_pull, &mut warnings);
    warnings.iter().for_each(|warning| say_warning(goal, warning, shell));
    match refusal {
        None => Ok(pulls),
        Some(reason) => {
            Err(CommandError { kind: ErrorKind::Forbidden, ..CommandError::reasons(&goal.workload, &[reason]) })
        }
    }
}

/// What is complete is not aborted but undone: said of the last update alone, never of one before it.
fn say_what_undoes(live: &Snapshot, rolling: &Rolling<'_>, shell: &Shell) {
    let Ok(Some(undone)) = plan::undone(live, None) else { return };
    let is_last = updates(live).updates.last().is_some_and(|last| last.id == undone.id);
    if is_last && undone.course == Course::Ended(EndResult::Complete) {
        let undo = rolling.invocation.of_workload(ClusterCommand::Undo, &live.workload.reference, None);
        shell.say_whole(Meaning::Plain, "Roll back what is complete:", &undo.to_string());
    }
}

/// A run that was killed while nodes pulled has left no lock, only the pods that pull.
async fn remove_pull_pods(live: &Snapshot, cluster: &Cluster, field_manager: &str, shell: &Shell) {
    let workload = &live.workload.reference;
    let pods = ObjectKind::Workload(PODS);
    let (found, others) = match cluster.left_or_own(pods, &workload.namespace, &rollout::pull_pods_of(workload)).await {
        Ok(found) => found,
        Err(error) => {
            shell.note(&format!("{workload}: it is not known whether pods that pulled images are left: {error}"));
            return;
        }
    };
    if others > 0 {
        shell.note(&format!("{workload}: a run that may be active pulls images first: its pods are not touched"));
    }
    for delete in found.iter().filter_map(rollout::delete_pull_pod) {
        match cluster.write(&delete, field_manager).await {
            Ok(()) => shell.note(&format!("{workload}: a pod that pulled images for a run that is gone was deleted")),
            Err(error) => shell.note(&format!("{workload}: a pod that pulled images could not be deleted: {error}")),
        }
    }
}

/// A flag that is given replaces what the rollout began with.
fn goal(
    live: &Snapshot,
    direction: Option<Direction>,
    options: &plan::Options,
    start: &Start,
) -> Result<Goal, ResumeError> {
    let mut goal = plan::resume(live, direction, start)?;
    goal.lock.rollout.policy = plan::carried_on(goal.policy(), live, options);
    Ok(goal)
}

/// The commands around each pod are in no lock. To leave out one that takes pods out of a load balancer, unsaid, would
/// drop requests. A dry run runs none.
fn check_hooks(goal: &Goal, rolling: &Rolling<'_>, shell: &Shell) -> Result<(), CommandError> {
    let missing = goal.lock.rollout.missing_hooks(&goal.hooks);
    if rolling.no_hooks || missing.is_empty() {
        return Ok(());
    }
    let (verb, workload) = (goes_on(goal.lock.rollout.direction), &goal.workload);
    let flags = HookPhase::flags(&missing);
    let began =
        format!("{workload}: rollout \"{}\" began with {flags}, and a command is not stored in the cluster", goal.id());
    if rolling.dry_run != DryRun::None {
        shell.note(&format!("{began}: it must be given again, or left out with --no-hooks, once this is no dry run"));
        return Ok(());
    }
    let command = rolling.invocation.of_workload(verb, workload, Some(goal));
    Err(CommandError::usage(began)
        .hint(format!("give {flags} again, with the same command, after: {command}"))
        .hint(format!("without it: {command} --no-hooks")))
}

/// An order that is given names what the rollout changes.
fn check_order(goal: &Goal, options: &plan::Options) -> Result<(), CommandError> {
    let changed: BTreeSet<&ContainerName> = goal.lock.rollout.change.images.keys().collect();
    ContainerOrderError::check(&options.container_order, &changed, &changed)
        .map_err(|error| planning::order_error(&error))
}

/// Says which containers the kubelet is expected to leave down for a while, which pods get no traffic, what protects
/// them and could not be read, and what would set the images of the template again.
fn warn(live: &Snapshot, goal: &Goal, shell: &Shell) {
    let of_pods = plan::held_back(live, goal).into_iter().chain(plan::missing_labels(live, live.pods.iter()));
    let images = goal.lock.rollout.directed().images;
    let images: Vec<String> = images.into_iter().map(|(name, image)| format!("{name}={}", image.to)).collect();
    let manager = if images.is_empty() { None } else { plan::manager(&live.workload, images) };
    for warning in plan::not_read(live).chain(of_pods).chain(manager) {
        say_warning(goal, &warning, shell);
    }
}

fn say_warning(goal: &Goal, warning: &Warning, shell: &Shell) {
    let text = format!("{}: {} ({})", goal.workload, warning.sentence(), warning.code());
    shell.say(Meaning::Waiting, "Warning:", &text);
    warning.recipe(&goal.workload).iter().for_each(|line| shell.say_whole(Meaning::Plain, " ", line));
}

/// For a rollout that began without budgets: a user who resumes it may not know.
fn say_that_no_budget_is_asked(goal: &Goal, options: &plan::Options, shell: &Shell) {
    if !goal.policy().respects_budgets && options.respects_budgets.is_none() {
        let began = "began with --disruption-budget ignore, so no PodDisruptionBudget is asked";
        shell.note(&format!("{}: this rollout {began}; --disruption-budget respect asks them", goal.workload));
    }
}

fn approve(goal: &Goal, cluster: &Cluster, yes: bool, shell: &Shell) -> Result<(), CommandError> {
    if goal.owner.is_none() {
        return Ok(());
    }
    let verb = match goal.lock.rollout.direction {
        Direction::Forward => "Resume",
        Direction::Back => "Abort",
    };
    approve::confirm(&format!("{verb} the rollout of {}", goal.workload), cluster, yes, shell)
}
