//! A turn costs what changed, not what exists: counted, not timed.

use super::super::{Follow, turn};
use super::adversary::Scenario;
use super::{BEFORE, Goal, Now, Observation, Observed, Pod, RunState, goal, pod, pod_key};
use crate::k8s::pod::{Condition, ContainerState, ContainerStatus, Running};

pub(super) fn ready_pod(scenario: &Scenario, index: usize, version: u64, ready: bool) -> Pod {
    let mut pod = pod(&pod_key(index, 0), &[("app", "registry.example/app:v1"), ("side", BEFORE)], scenario);
    pod.resource_version = version;
    pod.status.observed_generation = Some(1);
    pod.status.conditions = vec![Condition {
        kind: "Ready".into(),
        status: if ready { "True" } else { "False" }.into(),
        ..Condition::default()
    }];
    pod.status.container_statuses = vec![ContainerStatus {
        name: "side".into(),
        container_id: Some(format!("containerd://{index}")),
        ready,
        state: ContainerState { running: Some(Running::default()), ..ContainerState::default() },
        ..ContainerStatus::default()
    }];
    pod
}

/// The most pods that one of a hundred turns judges, after one pod's change each.
fn dearest_turn(scenario: &Scenario, goal: &Goal, ready: bool) -> usize {
    let mut observed = Observed::default();
    let mut state = RunState::new();
    observed
        .observe(Observation::Relisted((0..scenario.pods).map(|index| ready_pod(scenario, index, 1, ready)).collect()));
    let mut dearest = 0;
    // The first turn judges every pod, once.
    turn(goal, &observed, &mut state, Now::ZERO);
    assert!(state.pods.visits.get() >= scenario.pods);
    for step in 1..=100_u64 {
        let index = usize::try_from(step * 37).expect("small") % scenario.pods;
        observed.observe(Observation::Applied(Box::new(ready_pod(scenario, index, 1 + step, ready))));
        let before = state.pods.visits.get();
        turn(goal, &observed, &mut state, Now::from_millis(step));
        dearest = dearest.max(state.pods.visits.get() - before);
    }
    dearest
}

#[test]
fn a_turn_after_one_pods_change_looks_at_few_pods() {
    for (follows, ready, given) in [
        (None, true, None),
        (None, false, Some(0)),
        (Some(Follow::default()), true, None),
        (Some(Follow::default()), false, None),
    ] {
        let mut scenario = Scenario::calm(1);
        (scenario.pods, scenario.bystander, scenario.both_containers) = (10_000, false, false);
        (scenario.min_ready_given, scenario.ordered) = (given, false);
        let goal = Goal { follows, ..goal(&scenario) };
        let dearest = dearest_turn(&scenario, &goal, ready);
        let bound = 8 + 2 * usize::try_from(goal.policy().max_unavailable).expect("small");
        assert!(dearest <= bound, "{:?}, ready {ready}: {dearest} pods in one turn", goal.mode());
    }
}
