//! `resume` and `abort`: go on with a rollout that another run has left, or take it back.

use std::collections::BTreeSet;

use super::rolling::Rolling;
use super::several::Job;
use super::targets::{self, Wish};
use super::{Shell, approve, planning, pulls};
use crate::cli::{GlobalArgs, ResumeArgs};
use crate::cluster::{Cluster, Nodes};
use crate::engine::drain::DrainBy;
use crate::engine::durable::change::Direction;
use crate::engine::durable::lock::RolloutLock;
use crate::engine::names::ContainerName;
use crate::engine::outcome::EndResult;
use crate::engine::plan::{self, ContainerOrderError, LiveWorkload, ResumeError, Start};
use crate::engine::rollout::{self, Goal, Policy};
use crate::engine::workload::Workload;
use crate::error::{CommandError, ErrorKind};
use crate::render::{Meaning, OutputFormat};

pub(super) async fn run(
    args: &ResumeArgs,
    direction: Option<Direction>,
    global: &GlobalArgs,
    shell: &mut Shell,
) -> Result<EndResult, CommandError> {
    let options = planning::options(&args.policy)?;
    let asked = targets::read(&args.targets, false, shell)?;
    let cluster = shell.connect(global).await?;
    let found = targets::find(asked, &args.targets, global, &cluster).await?;
    let writer = (args.output, args.yes, args.field_manager.as_str());
    let mut rolling = Rolling::new(&cluster, global, &args.rollout, writer, shell).await;
    rolling.start.pre_pull = options.pre_pull;
    rolling.start.hooks = options.hooks.clone();
    go_on(found, direction, &options, &rolling, writer, shell).await
}

/// Goes on with what was left behind of the workloads found, or takes it back.
pub(super) async fn go_on(
    found: Vec<(Workload, Wish)>,
    direction: Option<Direction>,
    options: &plan::Options,
    rolling: &Rolling<'_>,
    (_, yes, field_manager): (OutputFormat, bool, &str),
    shell: &Shell,
) -> Result<EndResult, CommandError> {
    let cluster = rolling.cluster;
    let mut goals = Vec::new();
    for (workload, wish) in found {
        if !matches!(&wish, Wish::Images(images) if images.is_empty()) {
            return Err(CommandError::usage("a rollout that is gone on with has its images; name the workload alone"));
        }
        let mut live = cluster.live(workload, Nodes::WhereDecisive).await?;
        planning::read_services(&mut live, cluster).await;
        let mut goal = match goal(&live, direction, options, &rolling.start) {
            Ok(goal) => goal,
            Err(ResumeError::NoRollout) => {
                remove_pull_pods(&live, cluster, field_manager, shell).await;
                let (id, policy) = (shell.rollout_id(), plan::policy_of(&live, options));
                if let Some(goal) = plan::put_back(&live, policy, &id, &rolling.start) {
                    let pods = goal.pods.len();
                    shell.note(&format!("{}: what was left off is put back ({pods})", goal.workload));
                    goals.push((goal, live));
                    continue;
                }
                shell.say(Meaning::Plain, "note:", &format!("{}: {}", live.workload.reference, ResumeError::NoRollout));
                continue;
            }
            Err(error @ ResumeError::Unreadable) => {
                let message = format!("{}: {error}", live.workload.reference);
                return Err(CommandError::new(ErrorKind::Cluster, message)
                    .hint("put another rollout in its place: kubectl inplace apply ... --take-over"));
            }
        };
        check_order(&goal, options)?;
        if !approve(&live, &goal, cluster, yes, shell)? {
            return Err(CommandError::usage("not approved: nothing was changed"));
        }
        goal.pulls = pulls::find(&goal.pods, &live, options.pre_pull, cluster).await.pulls;
        goals.push((goal, live));
    }
    let jobs = goals.iter().map(|(goal, live)| Job { goal: Some(goal.clone()), live });
    rolling.all(jobs.collect(), shell).await
}

/// A run that was killed while nodes pulled has left no lock, only the pods that pull.
async fn remove_pull_pods(live: &LiveWorkload, cluster: &Cluster, field_manager: &str, shell: &Shell) {
    let workload = &live.workload.reference;
    let found = cluster.pull_pods(&workload.namespace, &rollout::pull_pods_of(workload)).await.unwrap_or_default();
    for pod in &found {
        match cluster.write(&rollout::delete_pull_pod(pod), field_manager).await {
            Ok(()) => shell.note(&format!("{workload}: a pod that pulled images for a run that is gone was deleted")),
            Err(error) => shell.note(&format!("{workload}: a pod that pulled images could not be deleted: {error}")),
        }
    }
}

/// A flag that is given replaces what the rollout began with.
fn goal(
    live: &LiveWorkload,
    direction: Option<Direction>,
    options: &plan::Options,
    start: &Start,
) -> Result<Goal, ResumeError> {
    let mut goal = plan::resume(live, direction, None, start)?;
    let given = plan::policy_of(live, options);
    let known = &mut goal.policy;
    *known = Policy {
        max_unavailable: if options.max_unavailable.is_some() { given.max_unavailable } else { known.max_unavailable },
        min_ready_seconds_given: options.min_ready_seconds.or(known.min_ready_seconds_given),
        timeout_given: options.timeout.or(known.timeout_given),
        total_timeout: options.total_timeout.or(known.total_timeout),
        drain_seconds: match options.drain {
            None => options.drain_seconds.or(known.drain_seconds),
            Some(DrainBy::Auto) => options.drain_seconds.or(known.drain_seconds).or(given.drain_seconds),
            Some(DrainBy::None) => None,
        },
        container_order: match options.container_order.is_empty() {
            true => known.container_order.clone(),
            false => options.container_order.clone(),
        },
        ..known.clone()
    };
    if let Some(owner) = &mut goal.owner {
        owner.lock.policy = goal.policy.clone();
    }
    Ok(goal)
}

/// An order that is given names what the rollout changes.
fn check_order(goal: &Goal, options: &plan::Options) -> Result<(), CommandError> {
    let Some(owner) = &goal.owner else { return Ok(()) };
    let changed: BTreeSet<&ContainerName> = owner.lock.change.images.keys().collect();
    ContainerOrderError::check(&options.container_order, &changed, &changed)
        .map_err(|error| planning::order_error(&error))
}

fn approve(
    live: &LiveWorkload,
    goal: &Goal,
    cluster: &Cluster,
    yes: bool,
    shell: &Shell,
) -> Result<bool, CommandError> {
    let Some(owner) = &goal.owner else { return Ok(true) };
    let lock: &RolloutLock = &owner.lock;
    let images = lock.change.images.iter().map(|(name, image)| match lock.direction {
        Direction::Forward => format!("{name}: {} -> {}", image.from, image.to),
        Direction::Back => format!("{name}: back to {}", image.from),
    });
    let images = images.collect::<Vec<_>>().join(", ");
    let verb = match lock.direction {
        Direction::Forward => "Go on with",
        Direction::Back => "Take back",
    };
    let found = RolloutLock::of(&live.workload.object).ok().flatten();
    let state = found.map_or("left behind", |lock| lock.state.word());
    shell.note(&format!(
        "{}: rollout {} of {} since {} ({state}); {images}",
        goal.workload, lock.id, lock.who, lock.since
    ));
    let question = format!("{verb} the rollout of {}", goal.workload);
    approve::question(&question, cluster, yes, shell)
}
