//! What the simulation has found, each as the shortest story that shows it.

use std::time::Duration;

use serde_json::json;

use super::super::pod_run::{MAX_SENDS, Sent};
use super::super::{Action, ActionId, Answer, Stop, Turn, progress, turn};
use super::adversary::{Deed, Hooking, Scenario};
use super::api_server::ApiServer;
use super::cost::ready_pod;
use super::drained::sent_of;
use super::nature::Fate;
use super::{EndResult, Goal, Now, Observation, Observed, RunState, WANTED, goal, pod_key, simulate};
use crate::k8s::pod::{ContainerState, Running, Waiting};
use crate::report::Notice;
use crate::state::hook::HookPhase;

/// Ready pods in the order of the goal, two at once, no canary.
fn story(pods: usize) -> (Scenario, Goal, Observed, RunState) {
    let mut scenario = Scenario::calm(1);
    (scenario.pods, scenario.bystander, scenario.both_containers) = (pods, false, false);
    (scenario.min_ready_given, scenario.max_unavailable, scenario.ordered) = (Some(0), 2, false);
    let mut observed = Observed::default();
    observed.observe(Observation::Relisted((0..pods).map(|index| ready_pod(&scenario, index, 1, true)).collect()));
    let goal = goal(&scenario);
    (scenario, goal, observed, RunState::new())
}

fn patches(turn: &Turn) -> Vec<(ActionId, String)> {
    let patched = |(id, action): &(ActionId, Action)| match action {
        Action::Patch(patch) => Some((*id, patch.key.name.clone())),
        Action::Read(_)
        | Action::ReadEvents(_)
        | Action::Write { .. }
        | Action::ReadOwner(_)
        | Action::ReadPullPods { .. }
        | Action::ReadRequests { .. }
        | Action::Hook(_)
        | Action::ReadSlices { .. }
        | Action::ReadBudgets { .. } => None,
    };
    turn.actions.iter().filter_map(patched).collect()
}

fn put_off() -> Answer {
    Answer::NotDone { after: Some(Duration::from_secs(1)), message: "429".into() }
}

#[test]
fn a_server_that_throttles_is_not_asked_for_the_next_pods_instead() {
    let (_, goal, observed, mut state) = story(5);
    let first = patches(&turn(&goal, &observed, &mut state, Now::ZERO));
    assert_eq!(first.len(), 2);
    first.iter().for_each(|(id, _)| state.answer(*id, put_off(), Now::ZERO));
    assert_eq!(patches(&turn(&goal, &observed, &mut state, Now::ZERO)), []);
    let again = patches(&turn(&goal, &observed, &mut state, Now::from_secs(1)));
    let names = |patches: &[(ActionId, String)]| patches.iter().map(|(_, name)| name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&again), names(&first));
}

/// Nothing is sent again to a pod that left; a refused patch of it is reported, a lost answer is not.
#[test]
fn a_late_answer_of_a_pod_that_left_is_no_try_again() {
    let conflict = || Answer::Conflict { message: "it moved".into() };
    let lost = || Answer::Unknown { message: "it was lost".into() };
    for (answer, left, said) in
        [(conflict(), true, ["", "NotPatched"]), (lost(), true, [""; 2]), (lost(), false, ["Retrying", ""])]
    {
        let (_, goal, mut observed, mut state) = story(1);
        let (id, _) = patches(&turn(&goal, &observed, &mut state, Now::ZERO)).remove(0);
        if left {
            observed.observe(Observation::Deleted(goal.pods[0].key.clone()));
        }
        state.answer(id, answer.clone(), Now::from_secs(2));
        let reported = format!("{:?}", turn(&goal, &observed, &mut state, Now::from_secs(2)).notices);
        let found = ["Retrying", "NotPatched"].map(|word| if reported.contains(word) { word } else { "" });
        assert_eq!(found, said, "{answer:?} {reported}");
    }
}

#[test]
fn the_last_try_is_reported_in_the_turn_that_finds_it() {
    let (_, goal, observed, mut state) = story(1);
    for second in 0..u64::from(MAX_SENDS) {
        let sent = patches(&turn(&goal, &observed, &mut state, Now::from_secs(second)));
        sent.iter().for_each(|(id, _)| state.answer(*id, put_off(), Now::from_secs(second)));
    }
    let last = turn(&goal, &observed, &mut state, Now::from_secs(60));
    assert_eq!(last.end.map(|outcome| outcome.result), Some(EndResult::Failed));
}

#[test]
fn a_pods_time_runs_from_the_send_though_nothing_is_heard() {
    let (_, mut goal, observed, mut state) = story(1);
    goal.lock.rollout.policy.timeout_given = Some(7);
    let sent = turn(&goal, &observed, &mut state, Now::ZERO);
    assert_eq!(sent.wake, Some(Now::from_secs(7)));
}

#[test]
fn a_deadline_that_has_passed_is_not_waited_for_again() {
    let (_, mut goal, observed, mut state) = story(1);
    goal.lock.rollout.policy.total_timeout = Some(3);
    turn(&goal, &observed, &mut state, Now::ZERO);
    // The answer is outstanding: it is waited for a second, and no turn in between is needed.
    assert_eq!(turn(&goal, &observed, &mut state, Now::from_secs(3)).wake, Some(Now::from_secs(4)));
    state.stop(Stop::Interrupt, Now::from_secs(3));
    assert_eq!(turn(&goal, &observed, &mut state, Now::from_secs(3)).wake, Some(Now::from_secs(8)));
}

#[test]
fn a_pod_that_was_gone_before_the_first_list_is_noticed() {
    let (scenario, goal, _, mut state) = story(2);
    let mut observed = Observed::default();
    assert_eq!(turn(&goal, &observed, &mut state, Now::ZERO).end, None);
    observed.observe(Observation::Relisted(vec![ready_pod(&scenario, 0, 1, true)]));
    let end = turn(&goal, &observed, &mut state, Now::from_secs(1)).end;
    assert_eq!(end.map(|outcome| outcome.result), Some(EndResult::Superseded));
}

#[test]
fn a_watch_that_never_opens_ends_in_time() {
    let (_, goal, _, mut state) = story(1);
    let observed = Observed::default();
    let mut now = Now::ZERO;
    for _ in 0..100 {
        let said = turn(&goal, &observed, &mut state, now);
        if let Some(end) = said.end {
            assert_eq!(end.result, EndResult::TimedOut);
            assert!(end.why.is_some_and(|why| why.contains("could not be listed")));
            return;
        }
        now = said.wake.expect("something to wait for");
    }
    panic!("it does not end");
}

#[test]
fn a_failure_that_was_reported_stands_while_the_end_is_on_its_way() {
    let (scenario, goal, mut observed, mut state) = story(2);
    let sent = patches(&turn(&goal, &observed, &mut state, Now::ZERO));
    // The second answer is outstanding, so that the end has to wait.
    sent.iter().take(1).for_each(|(id, _)| state.answer(*id, Answer::Accepted, Now::ZERO));
    let mut pod = ready_pod(&scenario, 0, 2, false);
    pod.spec.containers.iter_mut().filter(|c| c.name.as_str() == "side").for_each(|c| c.image = WANTED.into());
    let waiting = Waiting { reason: "ErrImagePull".into(), message: "not found".into() };
    for (millis, shown) in [
        (100, ContainerState { waiting: Some(waiting), ..ContainerState::default() }),
        (600, ContainerState { running: Some(Running::default()), ..ContainerState::default() }),
    ] {
        pod.resource_version += 1;
        pod.status.container_statuses.iter_mut().for_each(|status| status.state = shown.clone());
        observed.observe(Observation::Applied(Box::new(pod.clone())));
        assert_eq!(turn(&goal, &observed, &mut state, Now::from_millis(millis)).end, None);
    }
    let end = turn(&goal, &observed, &mut state, Now::from_millis(1_100)).end;
    assert_eq!(end.map(|outcome| outcome.result), Some(EndResult::Failed));
}

#[test]
fn of_two_pods_that_are_out_of_their_services_one_goes_where_not_both_may() {
    let (mut scenario, _, _, mut state) = story(3);
    scenario.drain_seconds = Some(0);
    let (goal, mut observed, mut api) = (goal(&scenario), Observed::default(), ApiServer::default());
    (0..3).for_each(|index| api.create(ready_pod(&scenario, index, 1, true)));
    let mut images = Vec::new();
    for second in 0..8 {
        observed.observe(Observation::Relisted(api.list()));
        let now = Now::from_secs(second);
        for (id, action) in turn(&goal, &observed, &mut state, now).actions {
            if let Action::Patch(patch) = action {
                api.patch(&patch, now).expect("nobody else writes");
                images.extend((sent_of(&patch) == Sent::Images).then(|| patch.key.name.clone()));
                state.answer(id, Answer::Accepted, now);
            } else {
                observed.observe(Observation::Slices(Vec::new()));
                state.answer(id, Answer::Read, now);
            }
        }
        // Two are leaving their Services, and then a third one is down by itself.
        let down = ready_pod(&scenario, 2, 1, false).status;
        api.change(&pod_key(2, 0), |pod| pod.status = down);
    }
    assert_eq!(images, ["web-0"], "two may be down, and one is");
}

#[test]
fn a_pod_that_goes_away_is_no_healthy_pod_of_somebody_else() {
    let (scenario, mut goal, mut observed, mut state) = story(3);
    (goal.replicas, goal.lock.rollout.policy.respects_budgets) = (2, true);
    let mut leaving = ready_pod(&scenario, 2, 2, false);
    leaving.terminating = true;
    goal.pods.pop();
    observed.observe(Observation::Applied(Box::new(leaving)));
    // The status is from before the scaling.
    observed.observe(Observation::Budgets(vec![json!({
        "metadata": {"name": "web", "generation": 1},
        "spec": {"minAvailable": 1, "selector": {}},
        "status": {"observedGeneration": 1, "disruptionsAllowed": 2, "currentHealthy": 3, "expectedPods": 3},
    })]));
    let asked = turn(&goal, &observed, &mut state, Now::ZERO).actions;
    asked.iter().for_each(|(id, _)| state.answer(*id, Answer::Read, Now::ZERO));
    let patched = patches(&turn(&goal, &observed, &mut state, Now::ZERO));
    assert_eq!(patched.len(), 1, "{patched:?}");
}

#[test]
fn a_lost_answer_about_one_pod_holds_no_place_for_another_that_was_refused() {
    let (_, mut goal, observed, mut state) = story(3);
    goal.lock.rollout.policy.goes_on_after_failure = true;
    let sent = patches(&turn(&goal, &observed, &mut state, Now::ZERO));
    let refused = Answer::Refused { reason: "AdmissionRefused".into(), message: "no".into() };
    for ((id, _), answer) in sent.iter().zip([Answer::Unknown { message: "timed out".into() }, refused]) {
        state.answer(*id, answer, Now::ZERO);
    }
    let next = patches(&turn(&goal, &observed, &mut state, Now::ZERO));
    assert_eq!(next.iter().map(|(_, name)| name.as_str()).collect::<Vec<_>>(), ["web-2"]);
}

/// A pod that timed out and then runs after all, and has to be restored to its Services.
#[test]
fn a_pod_that_was_abandoned_and_recovers_takes_no_time_from_the_others() {
    for seed in 0..20 {
        let mut scenario = Scenario::calm(seed).drained();
        (scenario.pods, scenario.fates, scenario.broken) = (6, vec![Fate::Good; 6], Vec::new());
        (scenario.bystander, scenario.both_containers, scenario.goes_on) = (false, false, true);
        (scenario.max_unavailable, scenario.min_ready_given, scenario.timeout_given) = (2, Some(7), Some(30));
        (scenario.slowest_answer, scenario.slowest_watch, scenario.nature.slowest_millis) = (50, 300, 200);
        scenario.deeds = vec![(Now::from_millis(1), Deed::SiblingDown(0, 45))];
        let report = simulate(&scenario, None);
        assert!(report.violations.is_empty(), "seed {seed}: {:#?}", report.violations);
        assert_eq!((report.end, report.done), (Some(EndResult::Complete), 6), "seed {seed}");
    }
}

#[test]
fn a_pod_that_somebody_else_updates_while_its_command_runs_is_commanded_after_it_too() {
    for seed in 0..20 {
        let mut scenario = Scenario::calm(seed);
        (scenario.pods, scenario.fates, scenario.broken) = (1, vec![Fate::Good], Vec::new());
        (scenario.bystander, scenario.both_containers, scenario.events_run_out) = (false, false, false);
        scenario.nature.slowest_millis = 200;
        scenario.hooks = Some(Hooking { before: true, after: true, slowest_millis: 20_000, fails: None });
        scenario.deeds = vec![(Now::from_millis(1), Deed::SameImage(0))];
        let report = simulate(&scenario, None);
        assert!(report.violations.is_empty(), "seed {seed}: {:#?}", report.violations);
    }
}

/// The first pod's command fails, or its new container, and the second one is in order.
#[test]
fn a_pod_that_has_failed_blocks_nobody_where_the_others_go_on() {
    let base = |seed| {
        let mut scenario = Scenario::calm(seed);
        (scenario.pods, scenario.fates, scenario.broken) = (2, vec![Fate::Good; 2], Vec::new());
        (scenario.bystander, scenario.both_containers, scenario.min_ready_given) = (false, false, None);
        (scenario.max_unavailable, scenario.goes_on) = (2, true);
        scenario
    };
    let failing = Hooking { before: true, after: false, slowest_millis: 10, fails: Some((0, HookPhase::Before)) };
    for seed in 0..20 {
        let mut scenario = base(seed);
        scenario.hooks = Some(failing);
        let mut broken = base(seed);
        broken.fates = vec![Fate::InvalidName, Fate::Good];
        for (name, scenario) in [
            ("command", scenario.clone()),
            ("command and place", Scenario { max_unavailable: 1, ..scenario.clone() }),
            ("command and label", scenario.clone().drained()),
            ("command and gate", scenario.gated()),
            ("label", broken.clone().drained()),
            ("gate", broken.clone().gated()),
            ("order", Scenario { both_containers: true, container_order: &["side", "second"], ..broken }),
        ] {
            let report = simulate(&scenario, None);
            assert!(report.violations.is_empty(), "{name}, seed {seed}: {:#?}", report.violations);
            assert_eq!((report.end, report.done), (Some(EndResult::Failed), 1), "{name}, seed {seed}");
        }
    }
}

#[test]
fn a_pod_whose_container_does_not_run_is_not_drained() {
    let mut scenario = Scenario::calm(1);
    (scenario.pods, scenario.bystander, scenario.both_containers) = (1, false, false);
    scenario.drain_seconds = Some(2);
    let first = |state: Option<ContainerState>| {
        let mut pod = ready_pod(&scenario, 0, 1, true);
        if let (Some(state), Some(status)) =
            (state, pod.status.container_statuses.iter_mut().find(|s| s.name == "side".into()))
        {
            status.state = state;
        }
        let mut observed = Observed::default();
        observed.observe(Observation::Relisted(vec![pod]));
        let turn = turn(&goal(&scenario), &observed, &mut RunState::new(), Now::ZERO);
        turn.actions
            .into_iter()
            .find_map(|(_, action)| if let Action::Patch(patch) = action { Some(sent_of(&patch)) } else { None })
    };
    let waiting = Waiting { reason: "ImagePullBackOff".into(), ..Waiting::default() };
    assert_eq!(first(None), Some(Sent::Drain));
    assert_eq!(first(Some(ContainerState { waiting: Some(waiting), ..ContainerState::default() })), Some(Sent::Images));
    assert_eq!(first(Some(ContainerState::default())), Some(Sent::Drain), "unknown");
}

#[test]
fn a_pod_that_left_is_none_of_those_that_are_waited_for() {
    let (mut scenario, _, mut observed, mut state) = story(3);
    scenario.owned = true;
    let goal = goal(&scenario);
    turn(&goal, &observed, &mut state, Now::ZERO);
    observed.observe(Observation::Deleted(pod_key(0, 0)));
    turn(&goal, &observed, &mut state, Now::from_secs(1));
    assert_eq!(progress(&goal, &observed, &state, Now::from_secs(1), 5).pods, 2);
    let said = turn(&goal, &observed, &mut state, Now::from_secs(40)).notices;
    assert!(matches!(said.as_slice(), [Notice::StillWaiting { done: 0, total: 2, .. }]), "{said:?}");
}
