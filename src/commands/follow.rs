//! `follow`: watches an update to its end, and changes nothing.

use std::cell::Cell;
use std::io;
use std::pin::pin;
use std::time::Duration;

use futures::future::{self, Either};

use super::Shell;
use super::planning::say_next;
use super::recording::{RecordTo, tell_trouble};
use super::sidecar_set;
use super::targets;
use crate::cli::{FollowArgs, FollowPolicyArgs, GlobalArgs};
use crate::cluster::{Cluster, Nodes};
use crate::drive::{self, Seen};
use crate::error::{CommandError, ErrorKind};
use crate::record::Recorder;
use crate::render::{Listener, NextSteps};
use engine::change::reason::Reason;
use engine::change::target::Images;
use engine::k8s::names::{ContainerName, PodKey, WorkloadRef};
use engine::k8s::permissions::{Asked, ClusterCommand, Deed};
use engine::k8s::pod::{ContainerList, Pod};
use engine::k8s::workload::Workload;
use engine::plan::{self, Denied, EndedBy, Intent, RolloutState, Snapshot};
use engine::report::failure_report::Moment;
use engine::report::progress::UpdatePhase;
use engine::report::{Outcome, PodEnd};
use engine::rollout::Goal;
use engine::state::outcome::EndResult;
use engine::status::Drift;
use engine::value::hint::{Hint, kubectl};

/// How often the owner is asked whether the rollout that is followed still goes on.
const FINDS_AGAIN: Duration = Duration::from_secs(5);

/// How often a way out of a failure is looked for, and the time between.
const TRIES_AFTER_A_FAILURE: u32 = 5;
const TRIES_AGAIN_SOON: Duration = Duration::from_millis(500);

pub(super) async fn run(args: &FollowArgs, global: &GlobalArgs, shell: &mut Shell) -> Result<EndResult, CommandError> {
    let FollowPolicyArgs { min_ready_seconds, timeout, total_timeout } = args.policy;
    let options = plan::Options { min_ready_seconds, timeout, total_timeout, ..plan::Options::default() };
    let asked = targets::read(&args.targets, false, shell).await?;
    targets::note_skipped(asked.skipped(), shell);
    let cluster = shell.connect(global).await?;
    let id = shell.rollout_id();
    let record_to = RecordTo::new(args.record.as_deref());
    let mut result = EndResult::NothingToDo;
    for (workload, intent) in targets::find(asked, &args.targets, global, &cluster).await? {
        let images = if let Intent::Images(images) = intent { Some(images) } else { None };
        let live = observed(workload, images.is_some(), &cluster, shell).await?;
        refuse_what_cannot_be_followed(&live, images.as_ref())?;
        let goal = plan::follow(&live, images.as_ref(), &options, &id, &shell.clock(&cluster));
        refuse_no_pods(&goal, &live)?;
        cluster.check_watch(&goal.workload.namespace).await?;
        let replacing = plan::replacing(&live);
        let rollout_status = shell.invocation(&cluster).rollout_status(&goal.workload).to_string();
        let follow = match replacing {
            Some(_) => rollout_status.clone(),
            None => shell.invocation(&cluster).of_workload(ClusterCommand::Follow, &goal.workload, None).to_string(),
        };
        drift(&live, &cluster).await.iter().for_each(|drift| shell.note(&drift.to_string()));
        // Nothing more may come: the user who waits for it gets to know.
        let is_left = Cell::new(say_what_is_left(&live, &cluster, shell));
        let next = NextSteps { follow: Some(follow), ..NextSteps::default() };
        let next = sidecar_set::next(next, (&goal, &live), &shell.invocation(&cluster), shell);
        let mut recorder = record_to.open(shell)?;
        let mut listener = shell.listener(args.output, false);
        listener.start(&goal, &next)?;
        let ((mut outcome, seen), became) = match replacing {
            Some(status) => ((stopped(&goal, replacement(&status)), Seen::new()), None),
            None => {
                let elsewhere = ended_elsewhere(&live, &cluster, &is_left, shell);
                watch((&live, &goal), &cluster, elsewhere, &mut *listener, &mut recorder).await?
            }
        };
        let taken = taken_by_its_controller(&outcome, &cluster).await;
        if let Some(status) = &taken {
            outcome.why = Some(replacement(status));
        }
        report_end(listener, &cluster, (&goal, &seen), &mut outcome).await?;
        shell.tell_notices();
        if plan::rollout_state(&live) != RolloutState::None {
            if !is_left.get() || became.is_some() {
                say_what_was_left(&goal.workload, became, &cluster, shell).await;
            }
        } else if outcome.result == EndResult::Failed {
            say_next_after_a_failure(&live, &cluster, shell).await;
        }
        if taken.is_some() {
            shell.note(&format!("watch it with: {rollout_status}"));
        }
        tell_trouble(&mut recorder, shell);
        result = outcome.result;
        if result != EndResult::Complete {
            break;
        }
    }
    Ok(result)
}

async fn observed(
    workload: Workload,
    has_images: bool,
    cluster: &Cluster,
    shell: &Shell,
) -> Result<Snapshot, CommandError> {
    let mut live = drive::until_observed(cluster, cluster.live(workload, Nodes::WhereDecisive).await?).await?;
    if has_images {
        // Pods may have what admission makes of them.
        cluster.status(&mut live).await;
    }
    if !live.workload.is_observed() {
        let workload = &live.workload.reference;
        shell.note(&format!(
            "the controller of {workload} has not observed its newest change: whether it replaces pods is unknown"
        ));
    }
    Ok(live)
}

/// Refuses pods that may not be read, and containers that no pod has.
fn refuse_what_cannot_be_followed(live: &Snapshot, images: Option<&Images>) -> Result<(), CommandError> {
    let workload = &live.workload.reference;
    if let Some(denied) = live.surroundings.denied.first() {
        let role = Asked::role(ClusterCommand::Follow, workload.kind, Deed::default());
        let denied = Denied { role: Some(role), ..denied.clone() };
        let hint = denied.reason(workload).hint_for(workload);
        return Err(CommandError::from_server("Forbidden", &denied.message).hint(hint));
    }
    let unknown = images.map(|images| unknown_containers(&live.pods, images)).unwrap_or_default();
    if unknown.is_empty() { Ok(()) } else { Err(CommandError::reasons(workload, &unknown)) }
}

fn refuse_no_pods(goal: &Goal, live: &Snapshot) -> Result<(), CommandError> {
    if !goal.pods.is_empty() {
        return Ok(());
    }
    let workload = &live.workload.reference;
    let is_going = live.pods.iter().any(|pod| pod.terminating);
    let why = if is_going { "no pod to follow but such as are being deleted" } else { "no pod to follow" };
    let pods = kubectl("get pods").in_namespace(&workload.namespace);
    Err(CommandError::new(ErrorKind::Cluster, format!("{workload} has {why}"))
        .hint(Hint::from("see its pods with: ").command(pods)))
}

/// Watches the pods to their end; returns it, and what became of the rollout that held them, if that ended in another way.
async fn watch(
    (live, goal): (&Snapshot, &Goal),
    cluster: &Cluster,
    elsewhere: impl Future<Output = (EndedBy, f64)>,
    listener: &mut dyn Listener,
    recorder: &mut Recorder,
) -> Result<((Outcome, Seen), Option<EndedBy>), CommandError> {
    let scope = Cluster::scope(&live.workload);
    let driven = drive::drive(cluster, goal, &scope, listener, recorder);
    let ((mut outcome, seen), found) = match future::select(pin!(driven), pin!(elsewhere)).await {
        Either::Left((outcome, _)) => (outcome?, None),
        Either::Right(((became, seconds), _)) => {
            let outcome = Outcome { seconds, ..stopped(goal, became.sentence().to_owned()) };
            ((outcome, Seen::new()), Some(became))
        }
    };
    // A run that is alive may have ended otherwise than with what its pods had by then.
    let is_whole =
        outcome.result == EndResult::Complete && goal.follows.as_ref().is_some_and(|follow| follow.held_by.is_some());
    let became = match found {
        None if is_whole || outcome.result == EndResult::Superseded => find(live, cluster).await.and_then(Result::err),
        found => found,
    };
    if let Some(became) = became {
        if is_whole {
            outcome = Outcome { seconds: outcome.seconds, ..stopped(goal, String::new()) };
        }
        outcome.why = Some(became.sentence().to_owned());
        outcome.nothing_more = became != EndedBy::GoingBack;
    }
    Ok(((outcome, seen), became))
}

/// Reads what is still missing of proof and failure report, and reports the end; returns whether the output, which has no
/// part in it, was open. After a signal nothing is read: the user wants to leave.
pub(super) async fn report_end(
    mut listener: Box<dyn Listener + Send>,
    cluster: &Cluster,
    (goal, seen): (&Goal, &Seen),
    outcome: &mut Outcome,
) -> io::Result<bool> {
    let mut failure = None;
    if !matches!(outcome.result, EndResult::Interrupted | EndResult::Terminated) {
        cluster.complete_proof(outcome).await;
        let time_line = |key: &PodKey| {
            let of_pod = seen.iter().filter(|(_, pod, _)| pod == key);
            of_pod.map(|(at, _, phase)| Moment { at: *at, phase: phase.clone() }).collect()
        };
        failure = cluster.failure_report(outcome, time_line).await;
        // What is taken back has failed: that says nothing of the time before the rollout.
        let of_back = failure.iter_mut().filter(|_| goal.is_back()).flat_map(|report| &mut report.pods);
        of_back.for_each(|pod| pod.failed_before = None);
    }
    match listener.outcome(outcome, failure.as_ref()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        reported => reported.map(|()| true),
    }
}

/// Says how pods get out of a failure that another client has caused in them, in the words of `status` for the workload
/// that they were created from.
async fn say_next_after_a_failure(live: &Snapshot, cluster: &Cluster, shell: &Shell) {
    let followed = &live.workload.reference;
    let owner = live.pods.first().filter(|_| !followed.kind.has_template()).and_then(plan::workload_of);
    let owner = owner.as_ref().unwrap_or(followed);
    // What cannot be read does not change how the pods ended.
    let read = async || cluster.live(cluster.workload(owner).await.ok()?, Nodes::Nowhere).await.ok();
    let invocation = shell.invocation(cluster);
    let mut tries = 0;
    while let Some(mut live) = read().await {
        tries += 1;
        // A kubelet that pulls again shows nothing of the failure meanwhile.
        if !cluster.status(&mut live).await.next.is_empty()
            || tries == TRIES_AFTER_A_FAILURE
            || !owner.kind.has_template()
        {
            return say_next(&live, &invocation, shell);
        }
        drive::until_found(TRIES_AGAIN_SOON, async || Some(())).await;
    }
}

/// Returns what the pods that are followed ask for in place of what their template says, also of a pod that is named.
async fn drift(live: &Snapshot, cluster: &Cluster) -> Vec<Drift> {
    if live.workload.reference.kind.has_template() {
        return Drift::of(&cluster.status(&mut live.clone()).await, |_| true);
    }
    let Some(owner) = live.pods.first().and_then(plan::workload_of) else { return Vec::new() };
    // What cannot be read does not keep anybody from following the pod.
    let Ok(owner) = cluster.workload(&owner).await else { return Vec::new() };
    let Ok(mut owner) = cluster.live(owner, Nodes::Nowhere).await else { return Vec::new() };
    Drift::of(&cluster.status(&mut owner).await, |pod| live.pods.iter().any(|followed| followed.key == *pod))
}

/// The same of what has stopped while it was followed.
async fn say_what_was_left(workload: &WorkloadRef, became: Option<EndedBy>, cluster: &Cluster, shell: &Shell) {
    // What cannot be read does not change how the pods ended.
    let Ok(workload) = cluster.workload(workload).await else { return };
    let Ok(live) = cluster.live(workload, Nodes::Nowhere).await else { return };
    match became {
        // The run that takes it back ends it, too.
        Some(EndedBy::GoingBack | EndedBy::RolledBack) => {}
        Some(EndedBy::Superseded) => say_next(&live, &shell.invocation(cluster), shell),
        None => {
            say_what_is_left(&live, cluster, shell);
        }
    }
}

/// Returns the workload that a rollout still holds, or what became of that, if it will not bring any more what it was to
/// bring.
async fn find(before: &Snapshot, cluster: &Cluster) -> Option<Result<Snapshot, EndedBy>> {
    let followed = plan::present_lock(before)?;
    // An owner that cannot be read now shows nothing.
    let workload = cluster.workload(&before.workload.reference).await.ok()?;
    if let Some(became) = EndedBy::of(&followed, &workload.object, &[]) {
        return Some(Err(became));
    }
    let live = cluster.live(workload, Nodes::Nowhere).await.ok()?;
    let is_superseded = matches!(plan::rollout_state(&live), RolloutState::Superseded(_));
    let became = EndedBy::of(&followed, &live.workload.object, &live.surroundings.owned);
    let became = became.or_else(|| is_superseded.then_some(EndedBy::Superseded));
    Some(became.map_or(Ok(live), Err))
}

/// Waits until a rollout that is followed has ended while pods still wait for their turn: no pod shows that.
/// No pod shows either that the rollout is paused, or that its run is gone: that is reported once, with what leads on.
async fn ended_elsewhere(before: &Snapshot, cluster: &Cluster, is_left: &Cell<bool>, shell: &Shell) -> (EndedBy, f64) {
    if plan::present_lock(before).is_none() {
        return std::future::pending().await;
    }
    // The pods themselves show a way back in full.
    let ended = async || match find(before, cluster).await? {
        Err(EndedBy::GoingBack) => None,
        Err(became) => Some(became),
        Ok(live) => {
            is_left.set(is_left.get() || say_what_is_left(&live, cluster, shell));
            None
        }
    };
    drive::until_found(FINDS_AGAIN, ended).await
}

/// Says how a rollout is brought to its end that still holds the workload and that nobody carries on; returns whether one does.
fn say_what_is_left(live: &Snapshot, cluster: &Cluster, shell: &Shell) -> bool {
    if matches!(plan::rollout_state(live), RolloutState::None | RolloutState::Active) {
        return false;
    }
    let workload = &live.workload.reference;
    shell.note(&format!("a rollout holds {workload}, and no run is known to carry it on"));
    say_next(live, &shell.invocation(cluster), shell);
    true
}

/// The end of following pods that get nothing more: their owner's controller is about to replace them, or another
/// client has ended their rollout. The result is the same as if the pods had shown it a moment later, so that no script
/// depends on which of the two came first.
fn stopped(goal: &Goal, why: String) -> Outcome {
    Outcome { why: Some(why), ..Outcome::new(goal.workload.clone(), EndResult::Superseded, Vec::new()) }
}

fn replacement(status: &str) -> String {
    format!("its controller is replacing pods, which is no update in place: {status}")
}

/// Returns how far the owner's controller is, where pods that were followed are gone because it replaces them.
async fn taken_by_its_controller(outcome: &Outcome, cluster: &Cluster) -> Option<String> {
    let is_gone = |end: &PodEnd| matches!(end.phase, UpdatePhase::Gone { .. });
    if outcome.result != EndResult::Superseded || !outcome.pods.iter().any(is_gone) {
        return None;
    }
    // What cannot be read does not change how it ended: pods are gone.
    let workload = cluster.workload(&outcome.workload).await.ok()?;
    let live = cluster.live(workload, Nodes::Nowhere).await.ok()?;
    plan::replacing(&live)
}

/// Returns a reason for each name that no pod has a container of: waiting for it would end well or never.
fn unknown_containers(pods: &[Pod], images: &Images) -> Vec<Reason> {
    let lists = ContainerList::ALL;
    let containers = pods.iter().flat_map(|pod| lists.into_iter().flat_map(|list| pod.containers(list)));
    let mut known: Vec<ContainerName> = Vec::new();
    for container in containers {
        if !known.contains(&container.name) {
            known.push(container.name.clone());
        }
    }
    if known.is_empty() {
        return Vec::new();
    }
    let unknown = images.by_container.keys().filter(|name| !known.contains(name));
    unknown.map(|container| Reason::container_not_found(container, &known)).collect()
}
