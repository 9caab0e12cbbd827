//! Rollouts that every listener is fed: a goal, notices with their time, an outcome.

use std::sync::Arc;
use std::time::Duration;

use engine::k8s::failure::Failure;
use engine::plan::Start;
use engine::report::hand_over::{HandOver, NextApply};
use engine::report::progress::UpdatePhase;
use engine::report::{
    ContainerEnd, ContainerImages, ContainerTimes, FieldValue, FieldValues, NewPods, NotReady, Notice, Outcome, PodEnd,
    PodsWithImage, StartedAgain,
};
use engine::rollout::{ContainerGoal, Follow, Goal, Mode, PodGoal};
use engine::state::durable::{OwnerChange, StepName};
use engine::state::outcome::EndResult;

use super::plans::{HOSTILE, key, policy, workload};

pub(super) struct Rollout {
    pub(super) name: &'static str,
    pub(super) goal: Goal,
    pub(super) notices: Vec<(Duration, Notice)>,
    pub(super) outcome: Outcome,
}

const PODS: [&str; 3] = ["web-6b867cfc99-2x7kq", "web-6b867cfc99-b9t4z", "web-6b867cfc99-kk2ln"];

pub(super) fn samples() -> Vec<Rollout> {
    vec![
        complete(),
        failed(),
        durable_failed(),
        timed_out(),
        superseded(),
        interrupted(),
        not_begun(),
        followed(),
        every_phase(),
        every_notice(),
        many_in_hand(),
        no_pods(),
        unplanned(),
        hostile(),
    ]
}

/// A rollout that stopped half way, with a given result.
pub(super) fn ended(result: EndResult) -> Rollout {
    let phases = match result {
        EndResult::Complete | EndResult::Aborted => [UpdatePhase::Done, UpdatePhase::Done, UpdatePhase::Done],
        EndResult::Failed => [UpdatePhase::Done, crash(), UpdatePhase::Waiting],
        EndResult::Superseded => [UpdatePhase::Done, gone(), UpdatePhase::Waiting],
        EndResult::Deferred => [UpdatePhase::Done, left(), left()],
        EndResult::NothingToDo
        | EndResult::Left
        | EndResult::Paused
        | EndResult::Error
        | EndResult::Changes
        | EndResult::NotEligible
        | EndResult::TimedOut
        | EndResult::Interrupted
        | EndResult::Terminated => {
            [UpdatePhase::Done, UpdatePhase::Starting { containers: vec!["side".into()] }, UpdatePhase::Waiting]
        }
    };
    rollout("ended", goal(&PODS, Mode::PodsOnly), vec![], outcome(result, &phases))
}

fn left() -> UpdatePhase {
    let why = "Node didn't have enough resource: cpu, requested: 1200, used: 1270, capacity: 2000";
    UpdatePhase::Left { why: Some(why.into()), node: "node-b".into() }
}

fn goal(pods: &[&str], mode: Mode) -> Goal {
    let side = ContainerGoal {
        from: Some("acme/side:1.27.1".into()),
        to: (mode != Mode::Follow).then(|| "acme/side:1.27.2".into()),
        restarts: true,
        ..ContainerGoal::default()
    };
    Goal {
        lock: Start::default().lock(engine::state::durable::rollout::Rollout {
            id: "20261105t101500-abcd".into(),
            policy: policy(),
            ..Default::default()
        }),
        workload: workload(),
        controllers: [].into(),
        replicas: u32::try_from(pods.len()).unwrap(),
        pods: pods
            .iter()
            .map(|name| PodGoal {
                key: key(name),
                containers: [("side".into(), side.clone())].into(),
                fields: Default::default(),
                drain: None,
                kubelet: None,
            })
            .map(Into::into)
            .collect(),
        field_manager: "inplace-cli".into(),
        hooks: Default::default(),
        owner: (mode == Mode::Durable).then(owner),
        pulls: Vec::new(),
        pre_pull: engine::rollout::pre_pull::PrePull::Never,
        by_request: false,
        clock: String::new(),
        follows: (mode == Mode::Follow).then(Follow::default),
    }
}

fn owner() -> Box<OwnerChange> {
    let owner =
        serde_json::json!({"uid": "u", "replaces": null, "before": {}, "after": {}, "keepFieldOwnership": false});
    serde_json::from_value(owner).unwrap()
}

fn rollout(name: &'static str, goal: Goal, notices: Vec<(u64, Notice)>, outcome: Outcome) -> Rollout {
    let notices = notices.into_iter().map(|(millis, notice)| (Duration::from_millis(millis), notice)).collect();
    Rollout { name, goal, notices, outcome }
}

fn pod(name: &str, phase: UpdatePhase) -> Notice {
    Notice::Pod { pod: key(name), phase }
}

/// The life of one pod from `at` on, in milliseconds.
fn life(name: &str, at: u64) -> Vec<(u64, Notice)> {
    vec![
        (at, pod(name, UpdatePhase::Patched)),
        (at + 600, pod(name, UpdatePhase::Restarting { containers: Vec::new(), waiting: None, until: None })),
        (
            at + 1_200,
            pod(
                name,
                UpdatePhase::Restarting {
                    containers: Vec::new(),
                    waiting: Some("ContainerCreating".into()),
                    until: None,
                },
            ),
        ),
        // Told twice: said once.
        (
            at + 1_300,
            pod(
                name,
                UpdatePhase::Restarting {
                    containers: Vec::new(),
                    waiting: Some("ContainerCreating".into()),
                    until: None,
                },
            ),
        ),
        (at + 2_000, pod(name, UpdatePhase::Starting { containers: vec!["side".into()] })),
        (at + 3_000, pod(name, UpdatePhase::Stabilizing { hold_seconds: 5 })),
        (at + 4_100, pod(name, UpdatePhase::Done)),
    ]
}

fn outcome(result: EndResult, phases: &[UpdatePhase]) -> Outcome {
    let pods = phases.iter().zip(PODS).enumerate().map(|(index, (phase, name))| PodEnd {
        pod: key(name),
        phase: phase.clone(),
        patched: !matches!(phase, UpdatePhase::Waiting),
        containers: vec![ContainerEnd {
            container: "side".into(),
            from: Some("acme/side:1.27.1".into()),
            to: Some("acme/side:1.27.2".into()),
            changed: true,
            twice: false,
            by_resize: false,
            again: None,
            down_seconds: matches!(phase, UpdatePhase::Done).then(|| i64::try_from(1 + index / 2).unwrap()),
            times: times(matches!(phase, UpdatePhase::Done), index),
        }],
        unplanned: vec![],
        as_before: vec![],
        replaced: false,
        unchanged: false,
        not_ready: None,
    });
    let image = |image: &str, pods, ready| PodsWithImage { image: image.into(), pods, ready };
    let standing = ContainerImages {
        container: "side".into(),
        template: Some("acme/side:1.27.2".into()),
        new_pods: NewPods::AsTemplate,
        pods: vec![image("acme/side:1.27.1", 2, 2), image("acme/side:1.27.2", 1, 0)],
        going: 0,
    };
    let field = FieldValues {
        what: "app requests.cpu".into(),
        wanted: FieldValue::Is("200m".into()),
        template: FieldValue::Is("200m".into()),
        new_pods: NewPods::AsTemplate,
        have: Some(1),
        lack: Some(2),
    };
    Outcome {
        workload: workload(),
        result,
        pods: pods.collect(),
        why: None,
        held: false,
        still_forward: false,
        nothing_more: false,
        budget_blocks: false,
        nothing_changed: false,
        standing: vec![standing],
        standing_fields: vec![field],
        rolled_back: None,
        hand_over: (result == EndResult::Complete).then(|| HandOver {
            owner: "Argo CD".into(),
            next: NextApply::Changes { paths: vec![], pods_replaced: 3 },
        }),
        seconds: 12.34,
    }
}

/// What the API shows of a pod that is done.
fn times(done: bool, index: usize) -> ContainerTimes {
    if !done {
        return ContainerTimes::default();
    }
    ContainerTimes {
        ended_at: Some("2026-11-05T10:15:00Z".into()),
        started_at: Some("2026-11-05T10:15:01Z".into()),
        running_since: None,
        pull_seconds: (index > 0).then_some(0.5),
        ready_seconds: i64::try_from(index).ok(),
    }
}

fn failing(reason: &str, message: &str, exit_code: Option<i64>) -> UpdatePhase {
    UpdatePhase::Failing(Failure {
        container: Some("side".into()),
        reason: reason.into(),
        message: message.into(),
        exit_code,
        stays_down: false,
    })
}

fn crash() -> UpdatePhase {
    failing("CrashLoopBackOff", "back-off 10s restarting failed container", Some(3))
}

fn gone() -> UpdatePhase {
    UpdatePhase::Gone { why: "it was deleted".into() }
}

fn complete() -> Rollout {
    let notices = PODS.into_iter().zip([0, 4_100, 8_200]).flat_map(|(name, at)| life(name, at)).collect();
    let done = [UpdatePhase::Done, UpdatePhase::Done, UpdatePhase::Done];
    rollout("complete", goal(&PODS, Mode::PodsOnly), notices, outcome(EndResult::Complete, &done))
}

/// A rollout that took the owner along, and left its lock.
fn durable_failed() -> Rollout {
    let steps = [StepName::SetTemplate, StepName::KeepHistory, StepName::SetReplicaSetTemplate, StepName::Unpause];
    let owner = steps.into_iter().zip(0_u64..).map(|(step, at)| (100 * at, Notice::Owner { step }));
    let mut notices: Vec<(u64, Notice)> = owner.collect();
    notices.push((700, pod(PODS[0], UpdatePhase::Patched)));
    notices.push((1_900, pod(PODS[0], crash())));
    let ends = outcome(EndResult::Failed, &[crash(), UpdatePhase::Waiting, UpdatePhase::Waiting]);
    rollout("durable-failed", goal(&PODS, Mode::Durable), notices, Outcome { held: true, ..ends })
}

fn failed() -> Rollout {
    let mut notices = life(PODS[0], 0);
    notices.push((4_100, pod(PODS[1], UpdatePhase::Patched)));
    notices.push((4_800, pod(PODS[1], UpdatePhase::Restarting { containers: Vec::new(), waiting: None, until: None })));
    notices.push((5_900, pod(PODS[1], crash())));
    let ends = outcome(EndResult::Failed, &[UpdatePhase::Done, crash(), UpdatePhase::Waiting]);
    rollout("failed", goal(&PODS, Mode::PodsOnly), notices, ends)
}

fn timed_out() -> Rollout {
    let waiting = UpdatePhase::Restarting { containers: Vec::new(), waiting: Some("ErrImagePull".into()), until: None };
    let notices = vec![
        (0, pod(PODS[0], UpdatePhase::Patched)),
        (700, pod(PODS[0], waiting.clone())),
        (
            30_700,
            Notice::StillWaiting {
                done: 0,
                total: 3,
                pods: vec![key(PODS[0])],
                why: Some("the workload could not be read or written: deployments.apps \"web\" is forbidden".into()),
            },
        ),
    ];
    let mut ends = outcome(EndResult::TimedOut, &[waiting, UpdatePhase::Waiting, UpdatePhase::Waiting]);
    ends.why = Some("330 s have passed in all (--total-timeout)".into());
    ends.seconds = 330.0;
    rollout("timed-out", goal(&PODS, Mode::PodsOnly), notices, ends)
}

fn superseded() -> Rollout {
    let conflict = UpdatePhase::Conflict { container: "side".into(), image: "acme/side:3".into() };
    let mut notices = life(PODS[0], 0);
    notices.push((4_200, pod(PODS[1], conflict.clone())));
    notices.push((4_200, pod(PODS[2], gone())));
    let mut ends = outcome(EndResult::Superseded, &[UpdatePhase::Done, conflict, gone()]);
    for end in ends.pods.iter_mut().skip(1) {
        end.patched = false;
    }
    // More than there are are not down at once.
    let mut goal = goal(&PODS, Mode::PodsOnly);
    goal.lock.rollout.policy.max_unavailable = 9;
    rollout("superseded", goal, notices, ends)
}

fn interrupted() -> Rollout {
    let notices = vec![(600, Notice::Stopping)];
    let ends = outcome(EndResult::Interrupted, &[UpdatePhase::Waiting, UpdatePhase::Waiting, UpdatePhase::Waiting]);
    rollout("interrupted-at-once", goal(&PODS, Mode::PodsOnly), notices, Outcome { seconds: 0.7, ..ends })
}

/// A durable rollout whose first pod might not go down.
fn not_begun() -> Rollout {
    let why = "poddisruptionbudget/web allows no pod to be down now: its status allows 0 disruptions";
    let notices = vec![(100, Notice::WaitsToBegin { why: why.into() })];
    let ends = outcome(EndResult::TimedOut, &[UpdatePhase::Waiting, UpdatePhase::Waiting, UpdatePhase::Waiting]);
    let why = Some(format!("no pod may be taken down: {why}"));
    rollout("not-begun", goal(&PODS, Mode::Durable), notices, Outcome { nothing_changed: true, why, ..ends })
}

fn followed() -> Rollout {
    let notices = vec![
        (100, pod(PODS[0], UpdatePhase::Done)),
        (100, pod(PODS[1], UpdatePhase::Restarting { containers: Vec::new(), waiting: None, until: None })),
        (
            900,
            pod(
                PODS[1],
                UpdatePhase::Unverified { containers: Vec::new(), why: "its start is as old as the change".into() },
            ),
        ),
        (2_000, pod(PODS[1], UpdatePhase::Done)),
        (2_500, pod(PODS[2], UpdatePhase::Done)),
    ];
    let mut ends = outcome(EndResult::Complete, &[UpdatePhase::Done, UpdatePhase::Done, UpdatePhase::Done]);
    for end in &mut ends.pods {
        end.patched = false;
    }
    ends.seconds = 2.5;
    rollout("followed", goal(&PODS, Mode::Follow), notices, ends)
}

fn every_phase() -> Rollout {
    let phases = [
        UpdatePhase::Waiting,
        UpdatePhase::Patched,
        UpdatePhase::Restarting { containers: Vec::new(), waiting: None, until: None },
        UpdatePhase::Restarting { containers: Vec::new(), waiting: Some("PodInitializing".into()), until: None },
        UpdatePhase::Resizing { why: None, deferred_by: None },
        UpdatePhase::Resizing {
            why: Some("Node didn't have enough resource: cpu".into()),
            deferred_by: Some("node-b".into()),
        },
        left(),
        UpdatePhase::Starting { containers: vec!["side".into()] },
        UpdatePhase::Stabilizing { hold_seconds: 90 },
        UpdatePhase::Unverified { containers: vec!["side".into()], why: "nothing tells the containers apart".into() },
        UpdatePhase::Done,
        failing("InvalidImageName", "couldn't parse image name", None),
        UpdatePhase::Failing(Failure {
            container: None,
            reason: "PodFinished".into(),
            message: String::new(),
            exit_code: None,
            stays_down: false,
        }),
        UpdatePhase::Conflict { container: "side".into(), image: "acme/side:3".into() },
        UpdatePhase::Overtaken {
            why: "its spec.containers[side].resources.requests.cpu was changed by another client".into(),
        },
        gone(),
    ];
    let notices = phases.into_iter().zip(1..).map(|(phase, at)| (at * 500, pod(PODS[0], phase))).collect();
    let ends = outcome(
        EndResult::Terminated,
        &[gone(), UpdatePhase::Starting { containers: vec!["side".into()] }, UpdatePhase::Waiting],
    );
    rollout("every-phase", goal(&PODS, Mode::PodsOnly), notices, ends)
}

fn every_notice() -> Rollout {
    let notices = vec![
        (200, Notice::WaitsToBegin { why: "poddisruptionbudget/web allows no pod to be down now".into() }),
        (300, pod(PODS[0], UpdatePhase::Patched)),
        (500, Notice::Retrying { pod: key(PODS[0]), why: "429 too many requests".into() }),
        (1_000, Notice::WatchLost { why: "connection reset".into() }),
        (1_500, Notice::WatchRestored),
        (2_000, Notice::BudgetHolds { down: 1, allowed: 1 }),
        (2_000, Notice::WaitsToEnd { why: "new pods are not ready: pod/web-d".into() }),
        (32_000, Notice::StillWaiting { done: 0, total: 3, pods: vec![key(PODS[0]), key(PODS[1])], why: None }),
        (62_000, Notice::StillWaiting { done: 0, total: 3, pods: vec![], why: None }),
        (63_000, Notice::Stopping),
    ];
    let ends = outcome(EndResult::Interrupted, &[UpdatePhase::Patched, UpdatePhase::Waiting, UpdatePhase::Waiting]);
    rollout("every-notice", goal(&PODS, Mode::PodsOnly), notices, Outcome { seconds: 63.1, ..ends })
}

fn many_in_hand() -> Rollout {
    let names: Vec<String> = (0..40).map(|index| format!("web-{index:02}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let restarting =
        || UpdatePhase::Restarting { containers: Vec::new(), waiting: Some("ContainerCreating".into()), until: None };
    let mut notices: Vec<(u64, Notice)> = names.iter().take(25).map(|name| (500, pod(name, restarting()))).collect();
    notices.extend(names.iter().take(2).map(|name| (1_500, pod(name, UpdatePhase::Done))));
    let pods = names.iter().enumerate().map(|(index, name)| PodEnd {
        pod: key(name),
        phase: if index < 2 { UpdatePhase::Done } else { restarting() },
        patched: index < 25,
        containers: vec![],
        unplanned: vec![],
        as_before: vec![],
        replaced: false,
        unchanged: false,
        not_ready: None,
    });
    let ends = Outcome { pods: pods.collect(), seconds: 3.0, ..outcome(EndResult::TimedOut, &[]) };
    // The screen after each of 25 equal notices is one screen.
    let notices = notices.into_iter().collect();
    rollout("many-in-hand", goal(&names, Mode::PodsOnly), notices, ends)
}

/// Names as long as Kubernetes lets them be, images of a registry with a long name, and two containers that change.
pub(super) fn long() -> Rollout {
    let repository = "123456789012.dkr.ecr.eu-central-1.amazonaws.com/payments-platform/reconciliation";
    let names: Vec<String> = (0..9)
        .map(|index| format!("payments-reconciliation-worker-for-the-eu-region-6b867cfc99-2x{index}kq"))
        .collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut goal = goal(&names, Mode::Durable);
    goal.workload.name = "payments-reconciliation-worker-for-the-eu-region".into();
    let container = |from: &str, to: &str| ContainerGoal {
        from: Some(format!("{repository}:{from}")),
        to: Some(format!("{repository}{to}")),
        restarts: true,
        ..ContainerGoal::default()
    };
    let digest = format!("@sha256:{}", "0123456789abcdef".repeat(4));
    for pod in goal.pods.iter_mut().map(Arc::make_mut) {
        pod.containers = [
            ("reconciliation".into(), container("v2026.11.4-rc.1-3f9c2d7e", &digest)),
            ("side".into(), container("1.27.1", ":1.27.2")),
        ]
        .into();
    }
    goal.lock.rollout.policy.max_unavailable = 2;
    let restarting = |waiting: Option<&str>| UpdatePhase::Restarting {
        containers: Vec::new(),
        waiting: waiting.map(str::to_owned),
        until: None,
    };
    let notices = vec![
        (100, pod(names[0], UpdatePhase::Draining { services: vec!["reconciliation".into()] })),
        (1_400, pod(names[0], UpdatePhase::Patched)),
        (2_100, pod(names[0], restarting(Some("ContainerCreating")))),
        (2_200, Notice::BudgetHolds { down: 2, allowed: 2 }),
        (5_000, pod(names[0], UpdatePhase::Done)),
        (5_100, pod(names[1], restarting(None))),
        (5_200, pod(names[2], UpdatePhase::Stabilizing { hold_seconds: 5 })),
        (9_000, Notice::Stopping),
    ];
    let ends: Vec<PodEnd> = names
        .iter()
        .enumerate()
        .map(|(index, name)| PodEnd {
            pod: key(name),
            phase: match index {
                0 => UpdatePhase::Done,
                1 => restarting(None),
                _ => UpdatePhase::Waiting,
            },
            patched: index < 2,
            containers: vec![],
            unplanned: vec![],
            as_before: vec![],
            replaced: false,
            unchanged: false,
            not_ready: (index == 0).then(|| NotReady { container: "side".into(), reason: "CrashLoopBackOff".into() }),
        })
        .collect();
    let ends = Outcome { pods: ends, seconds: 10.0, ..outcome(EndResult::Interrupted, &[]) };
    rollout("long", goal, notices, ends)
}

fn no_pods() -> Rollout {
    rollout("no-pods", goal(&[], Mode::Follow), vec![], outcome(EndResult::Complete, &[]))
}

fn unplanned() -> Rollout {
    let mut ends = outcome(EndResult::Complete, &[UpdatePhase::Done, UpdatePhase::Done, UpdatePhase::Done]);
    ends.pods[0].unplanned = vec!["side".into()];
    ends.pods[0].containers[0].again = Some(StartedAgain { times: 2, exit_code: Some(3) });
    ends.pods[0].containers[0].down_seconds = None;
    ends.pods[1].unplanned = vec!["app".into()];
    ends.pods[1].as_before = vec!["proxy".into()];
    ends.pods[2].patched = false;
    let mut goal = goal(&PODS, Mode::PodsOnly);
    // A plain init container: its new image is used when the pod is next made.
    let init =
        ContainerGoal { from: None, to: Some("acme/migrate:2".into()), restarts: false, ..ContainerGoal::default() };
    Arc::make_mut(&mut goal.pods[0]).containers.insert("init-db".into(), init);
    ends.pods[0].containers.push(ContainerEnd {
        container: "init-db".into(),
        from: None,
        to: Some("acme/migrate:2".into()),
        changed: true,
        twice: false,
        by_resize: false,
        again: None,
        down_seconds: None,
        times: ContainerTimes::default(),
    });
    rollout("unplanned", goal, vec![(0, pod(PODS[0], UpdatePhase::Patched))], ends)
}

fn hostile() -> Rollout {
    let failure = UpdatePhase::Failing(Failure {
        container: Some(HOSTILE.into()),
        reason: HOSTILE.into(),
        message: format!("{HOSTILE}{}", "y".repeat(10_000)),
        exit_code: Some(137),
        stays_down: false,
    });
    let notices = vec![
        (
            300,
            pod(
                PODS[0],
                UpdatePhase::Restarting { containers: Vec::new(), waiting: Some(HOSTILE.into()), until: None },
            ),
        ),
        (600, Notice::Retrying { pod: key(PODS[0]), why: HOSTILE.into() }),
        (900, Notice::WatchLost { why: HOSTILE.into() }),
        (1_200, pod(HOSTILE, UpdatePhase::Unverified { containers: vec![HOSTILE.into()], why: HOSTILE.into() })),
        (1_500, pod(PODS[0], failure.clone())),
    ];
    let mut goal = goal(&PODS, Mode::PodsOnly);
    goal.workload.namespace = HOSTILE.into();
    goal.workload.name = HOSTILE.into();
    let mut ends = outcome(EndResult::Failed, &[failure, UpdatePhase::Waiting, UpdatePhase::Waiting]);
    ends.workload = goal.workload.clone();
    ends.why = Some(HOSTILE.into());
    rollout("hostile", goal, notices, ends)
}
