//! The commands that lead on from the state of a workload: one list for whatever prints it, the one that helps most
//! first.

use std::collections::{BTreeMap, BTreeSet};

use super::{Condition, ContainerReport, PodState, PodStatus, made};
use crate::change::{Change, Direction, FieldProgress};
use crate::k8s::names::ContainerName;
use crate::kinds::HoldsBy;
use crate::plan::{self, RolloutState, Snapshot};
use crate::state::durable::lock::Lock;
use crate::state::hook::HookPhase;
use crate::state::unpulled::cannot_be_pulled;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NextCommand {
    pub action: NextAction,
    /// What is printed before it, without a colon.
    pub label: &'static str,
    pub take_over: bool,
    /// It goes on after a pod that fails, and this many pods may be down.
    pub despite: Option<usize>,
    /// The commands around each pod that the rollout began with: they are given again, or left out on purpose.
    pub hooks: BTreeSet<HookPhase>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NextAction {
    Follow,
    Resume,
    Abort,
    Release,
    Apply(BTreeMap<ContainerName, String>),
    /// `kubectl set image`: the template gets these.
    SetImage(BTreeMap<ContainerName, String>),
    /// These pods are deleted, and the owner's controller re-creates them.
    Replace(Vec<String>),
}

impl NextCommand {
    fn new(action: NextAction, label: &'static str) -> Self {
        Self { action, label, take_over: false, despite: None, hooks: BTreeSet::new() }
    }
}

/// Returns what leads on from the state of the rollout that holds a workload.
pub(super) fn next_commands(live: &Snapshot, state: RolloutState, pods: &[PodStatus]) -> Vec<NextCommand> {
    let lock = plan::present_lock(live);
    let way = |action, label, take_over| NextCommand {
        take_over,
        hooks: lock.as_ref().map(|lock| lock.rollout.hooks.clone()).unwrap_or_default(),
        ..NextCommand::new(action, label)
    };
    let follow = || NextCommand::new(NextAction::Follow, "Follow");
    match state {
        RolloutState::None => Vec::new(),
        // Taking over a run that is alive must be a decision of the user.
        RolloutState::Active => vec![follow()],
        RolloutState::MaybeActive => {
            let resume = way(NextAction::Resume, "Resume, if its run is gone", true);
            let abort = way(NextAction::Abort, "Roll back, if its run is gone", true);
            [follow()].into_iter().chain(on_or_back(live, lock.as_ref(), pods, (resume, abort))).collect()
        }
        RolloutState::Unfinished => {
            let (resume, abort) =
                (way(NextAction::Resume, "Resume", false), way(NextAction::Abort, "Roll back", false));
            on_or_back(live, lock.as_ref(), pods, (resume, abort))
        }
        RolloutState::Superseded(_) | RolloutState::Unclear(_) => {
            let resume = way(NextAction::Resume, "Bring its template to the pods, in place", true);
            let release = NextCommand::new(NextAction::Release, "Let its controller go, which may then replace pods");
            let resume = plan::can_take_over(live).then_some(resume);
            match working_images(live, pods) {
                Some(set) => vec![set, resume.unwrap_or(release)],
                None => resume.into_iter().chain([release]).collect(),
            }
        }
    }
}

/// Where the template's image fails in every pod that has it: the one from before is set in the template first, which
/// replaces no pod while its controller is held.
fn working_images(live: &Snapshot, pods: &[PodStatus]) -> Option<NextCommand> {
    let failing = plan::images_to_bring(live).into_iter().filter(|(name, image)| only_fails(pods, name, &image.to));
    let images: BTreeMap<_, _> = failing.map(|(name, image)| (name, image.from)).collect();
    let is_held = plan::is_held_back(live) || live.workload.reference.kind.holds_by() == HoldsBy::Nothing;
    let label = "Set the image from before in its template, which replaces no pod yet";
    (is_held && !images.is_empty()).then(|| NextCommand::new(NextAction::SetImage(images), label))
}

/// Which of the two helps, and more than the other.
fn on_or_back(
    live: &Snapshot,
    lock: Option<&Lock>,
    pods: &[PodStatus],
    (resume, abort): (NextCommand, NextCommand),
) -> Vec<NextCommand> {
    let Some(lock) = lock else { return Vec::new() };
    if lock.rollout.direction == Direction::Back {
        return vec![NextCommand { despite: despite(lock, pods), ..abort }];
    }
    let images = &lock.rollout.change.images;
    let cannot_go_back = images
        .iter()
        .any(|(name, image)| cannot_be_pulled(&live.pods, name, image.from_in_pods.as_ref().unwrap_or(&image.from)));
    match (cannot_go_back, has_failed(lock, pods)) {
        (true, _) => vec![resume],
        // The same would fail again.
        (false, true) => vec![abort, resume],
        (false, false) => vec![resume, abort],
    }
}

/// Returns what brings the pods to the template where no rollout holds a workload, and nobody is at it.
pub(super) fn bring_to_template(live: &Snapshot, pods: &[PodStatus]) -> Option<NextCommand> {
    let stays = |pod: &&PodStatus| !matches!(pod.state, PodState::Terminating | PodState::Finished);
    let drifted = made::drifted(pods.iter().filter(stays)).into_iter();
    let brought = drifted.filter(|(name, template)| made::may_be_brought(live, name, template));
    let images: BTreeMap<ContainerName, String> =
        brought.map(|(name, template)| (name.clone(), template.to_owned())).collect();
    let is_under_way =
        |pod: &PodStatus| matches!(pod.state, PodState::Updating | PodState::Resizing | PodState::Deferred);
    let is_wanted = !images.is_empty() && !pods.iter().any(is_under_way);
    is_wanted.then(|| NextCommand::new(NextAction::Apply(images), "Bring the pods to the template, in place"))
}

/// Adds the command that replaces pods with a container that is not started again, whatever its image: a rollout that is
/// resumed would not start it either.
pub(super) fn add_replacing(commands: &mut Vec<NextCommand>, pods: &[PodStatus]) {
    let stays_down =
        |report: &ContainerReport| matches!(&report.condition, Condition::Failed(failure) if failure.stays_down);
    let down = pods.iter().filter(|pod| pod.state == PodState::Failed && pod.containers.iter().any(stays_down));
    let names: Vec<String> = down.map(|pod| pod.key.name.clone()).collect();
    if names.is_empty() {
        return;
    }
    if commands.iter().any(|command| command.action == NextAction::Abort) {
        commands.retain(|command| command.action != NextAction::Resume);
    }
    commands.push(NextCommand::new(NextAction::Replace(names), "Replace what is not started again"));
}

/// Whether a container with the image that the rollout brings has failed, or runs between two ends of a crash loop; or a node
/// never does the resize.
fn has_failed(lock: &Lock, pods: &[PodStatus]) -> bool {
    let is_infeasible = |pod: &PodStatus| matches!(pod.resizing, Some(FieldProgress::Failed { .. }));
    if lock.rollout.change.fields.resizes() && pods.iter().any(is_infeasible) {
        return true;
    }
    pods.iter().any(|pod| fails_with(&lock.rollout.change, pod))
}

/// Returns whether every pod with this image in the container fails with it, and there are any: nobody wants to go back to it.
pub fn only_fails(pods: &[PodStatus], container: &ContainerName, image: &str) -> bool {
    let reports = pods.iter().flat_map(|pod| &pod.containers);
    let mut with_it = reports.filter(|report| report.container == *container && report.image == image).peekable();
    with_it.peek().is_some() && with_it.all(ContainerReport::fails)
}

/// Whether a container of the pod fails with the image that the change brings.
fn fails_with(change: &Change, pod: &PodStatus) -> bool {
    pod.containers.iter().any(|report| {
        let is_brought = change.images.get(&report.container).is_some_and(|image| image.in_pods() == report.image);
        is_brought && report.fails()
    })
}

/// How many pods may be down for the others to go back, where pods fail with what they had before as well.
fn despite(lock: &Lock, pods: &[PodStatus]) -> Option<usize> {
    let back = lock.rollout.directed();
    // No run is active any more: a container that has its old image again and is not ready will not get there.
    let is_unready = |pod: &&PodStatus| {
        pod.containers.iter().any(|report| {
            let is_back = back.images.get(&report.container).is_some_and(|image| image.in_pods() == report.image);
            is_back && matches!(report.condition, Condition::Running { ready: false, .. })
        })
    };
    let failing = pods.iter().filter(|pod| fails_with(&back, pod) || is_unready(pod)).count();
    let is_back = |pod: &PodStatus| {
        let mut wanted = back.images.iter();
        wanted
            .all(|(name, image)| !pod.containers.iter().any(|is| is.container == *name && is.image != image.in_pods()))
    };
    let is_wanted = lock.rollout.direction == Direction::Back && failing > 0 && !pods.iter().all(is_back);
    is_wanted.then_some(failing + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::k8s::failure::Failure;
    use crate::k8s::names::PodKey;
    use crate::k8s::pod::ContainerList;
    use crate::status::Comparison;

    fn pod(condition: Condition) -> PodStatus {
        let report = ContainerReport {
            container: "side".into(),
            list: ContainerList::Containers,
            image: "side:2".into(),
            image_id: None,
            asked: None,
            before: None,
            restarts: 0,
            last_end: None,
            again: None,
            condition,
            comparison: Comparison::Same,
        };
        PodStatus {
            key: PodKey { namespace: "prod".into(), name: "web-1".into(), uid: "u".into() },
            node: String::new(),
            state: PodState::Failed,
            ready: false,
            ready_since: None,
            unscheduled: None,
            older_revision: None,
            update: None,
            out_of_services: None,
            resizing: None,
            resources: Vec::new(),
            missing_labels: BTreeMap::new(),
            unreadable_record: false,
            containers: vec![report],
        }
    }

    #[test]
    fn an_image_only_fails_where_every_pod_with_it_does() {
        let failed = Failure {
            container: None,
            reason: "CrashLoopBackOff".into(),
            message: String::new(),
            exit_code: Some(1),
            stays_down: false,
        };
        let (fails, runs) = (pod(Condition::Failed(failed)), pod(Condition::Running { ready: true, since: None }));
        let only = |pods: &[PodStatus], image: &str| only_fails(pods, &"side".into(), image);
        assert!(only(&[fails.clone(), fails.clone()], "side:2"));
        assert!(!only(&[fails.clone(), runs], "side:2") && !only(&[fails], "side:1") && !only(&[], "side:2"));
    }

    #[test]
    fn what_is_not_started_again_is_replaced_and_not_resumed() {
        let command = |action| NextCommand::new(action, "");
        let (abort, resume) = (NextAction::Abort, NextAction::Resume);
        let replaced = vec![abort.clone(), NextAction::Replace(vec!["web-1".into()])];
        for (stays_down, expected) in [(true, replaced), (false, vec![abort.clone(), resume.clone()])] {
            let (reason, message) = ("ErrImagePull".into(), String::new());
            let failed = Failure { container: None, reason, message, exit_code: None, stays_down };
            let mut commands = vec![command(abort.clone()), command(resume.clone())];
            add_replacing(&mut commands, &[pod(Condition::Failed(failed))]);
            assert_eq!(commands.into_iter().map(|command| command.action).collect::<Vec<_>>(), expected);
        }
    }
}
