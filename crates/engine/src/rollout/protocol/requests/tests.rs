//! One pod, one request, and what the server says of both.

use serde_json::{Value, json};

use super::*;
use crate::rollout::pod_run::PodRun;
use crate::rollout::{Observation, Observed, PodGoal, RunState, Stop};

const OLD: &str = "containerd://1";
const NEW: &str = "containerd://2";

struct Run {
    goal: Goal,
    state: RunState,
    observed: Observed,
    now: Now,
    /// The requests as the server has them.
    stored: Vec<Value>,
}

impl Run {
    fn new() -> Self {
        let goal: Goal = serde_json::from_value(json!({
            "workload": {"kind": "Deployment", "namespace": "d", "name": "web"}, "clock": "", "controllers": [],
            "replicas": 1, "pods": [pod_goal()], "field_manager": "m", "by_request": true,
            "lock": {"id": "one", "run": "r", "who": "", "since": "", "version": "0", "state": "running",
                "direction": "forward", "change": {"images": {}}}}))
        .expect("it is a goal");
        let mut run =
            Self { goal, state: RunState::new(), observed: Observed::default(), now: Now::ZERO, stored: vec![] };
        run.observed.observe(Observation::Relisted(Vec::new()));
        run.sees(OLD);
        let pod: PodGoal = serde_json::from_value(pod_goal()).expect("it is a goal");
        run.state.pods.add(pod.clone().into(), Now::ZERO);
        let restarting = UpdatePhase::Restarting { containers: vec!["side".into()], waiting: None, until: None };
        run.state.pods.judged(0, PodRun::new(pod.into()), restarting.into(), Now::ZERO);
        run
    }

    fn sees(&mut self, container_id: &str) {
        let before = json!({"from": "a:1", "to": "a:1", "containerID": OLD, "restarts": 0});
        let record = json!({"id": "one", "manager": "m", "containers": {}, "requested": {"side": before}});
        let object = json!({
            "metadata": {"namespace": "d", "name": "web-0", "uid": "u",
                "annotations": {"kubectl-inplace.io/update": record.to_string()}},
            "spec": {"nodeName": "node-1", "containers": [{"name": "side", "image": "a:1"}]},
            "status": {"containerStatuses": [{"name": "side", "image": "a:1", "imageID": "", "containerID": container_id,
                "restartCount": 0, "state": {"running": {}}}]}});
        self.observed.observe(Observation::Applied(Box::new(Pod::from_object(&object).expect("it is a pod"))));
    }

    /// Carries out what is wanted until nothing is; returns what was written.
    fn advance(&mut self) -> Vec<&'static str> {
        self.advance_with(&Answer::Accepted)
    }

    fn advance_with(&mut self, answer: &Answer) -> Vec<&'static str> {
        let mut written = Vec::new();
        for _ in 0..20 {
            let context = self.state.context(&self.goal, &self.observed, self.now);
            let effects = self.state.requests.advance(context, &self.state.pods);
            let acts: Vec<_> = effects.0.into_iter().filter(|effect| matches!(effect, Effect::Act(..))).collect();
            if acts.is_empty() {
                break;
            }
            for effect in acts {
                let Effect::Act(RequestSource::Requests(asked), action) = effect else { panic!("{effect:?}") };
                let answer = match action {
                    Action::ReadRequests { .. } => {
                        self.observed.observe(Observation::Requests(self.stored.clone()));
                        Answer::Read
                    }
                    Action::Write { write, .. } => {
                        written.push(self.store(write, *answer == Answer::Accepted));
                        answer.clone()
                    }
                    other => panic!("{other:?}"),
                };
                self.state.requests.answer(asked, answer, self.now);
            }
        }
        written
    }

    fn store(&mut self, write: ObjectWrite, is_stored: bool) -> &'static str {
        match write {
            ObjectWrite::Create { object, .. } => {
                self.stored.extend(is_stored.then_some(object));
                "create"
            }
            ObjectWrite::Delete { object, .. } => {
                self.stored.retain(|stored| !is_stored || text(stored, "/metadata/name") != object.name);
                "delete"
            }
            ObjectWrite::Patch { .. } => panic!("nothing is patched"),
        }
    }

    fn after(&mut self, millis: u64) -> Vec<&'static str> {
        self.now += Duration::from_millis(millis);
        self.advance()
    }

    fn failure(&self) -> Option<String> {
        let goal: PodGoal = serde_json::from_value(pod_goal()).expect("it is a goal");
        let subject = PodContext { position: 0, goal: &goal, pod: None };
        let restarting = UpdatePhase::Restarting { containers: Vec::new(), waiting: None, until: None };
        let judged = self.state.requests.phase(subject, restarting.into());
        let UpdatePhase::Failing(failure) = judged.phase else { return None };
        Some(format!("{}: {}", failure.reason, failure.message))
    }

    fn can_finish(&self) -> bool {
        self.state.requests.can_finish(self.state.context(&self.goal, &self.observed, self.now))
    }

    fn left(&self) -> Option<String> {
        self.state.requests.left(self.state.context(&self.goal, &self.observed, self.now))
    }
}

fn pod_goal() -> Value {
    json!({"key": {"namespace": "d", "name": "web-0", "uid": "u"},
        "containers": {"side": {"from": "a:1", "to": "a:1", "restarts": true}}})
}

#[test]
fn a_request_is_made_once_and_deleted_once_another_container_runs() {
    let mut run = Run::new();
    assert_eq!(run.advance(), ["create"]);
    let request = run.stored[0].clone();
    assert_eq!(request["spec"]["containers"], json!([{"name": "side"}]));
    assert_eq!(request["metadata"]["ownerReferences"][0]["uid"], "u", "it goes with its pod");
    run.stored[0]["status"] = json!({"phase": "Recreating"});
    for _ in 0..30 {
        assert_eq!(run.after(1000), [""; 0]);
    }
    assert_eq!((run.failure(), run.can_finish()), (None, false));
    run.sees(NEW);
    assert_eq!(run.after(1000), ["delete"]);
    assert!(run.stored.is_empty() && run.can_finish() && run.left().is_none());
    // A container that ends later is started by its kubelet.
    assert_eq!(run.after(1000), [""; 0]);
}

#[test]
fn what_ends_without_another_container_has_failed_in_its_own_words() {
    let state = json!([{"name": "side", "phase": "Succeeded", "isKilled": true}]);
    let failed = json!([{"name": "side", "phase": "Failed", "message": "kill container error: no runtime"}]);
    for (status, seconds, expected) in [
        (json!({}), 9, None),
        (json!({}), 10, Some(": it does not answer; a restart without --by-request needs no daemon")),
        (json!({"phase": "Pending"}), 10, Some(": another request for the pod comes first")),
        (json!({"phase": "Recreating"}), 200, None),
        (json!({"phase": "Completed", "completionTime": "t", "containerRecreateStates": state}), 1, None),
        (
            json!({"phase": "Completed", "completionTime": "t", "containerRecreateStates": state}),
            4,
            Some("is Completed, and side is the container of before: side Succeeded, isKilled true"),
        ),
        (
            json!({"phase": "Completed", "message": "daemon has not responded for a long time",
                "containerRecreateStates": failed}),
            4,
            Some(
                "before: daemon has not responded for a long time; side Failed, isKilled false, kill container error: no runtime",
            ),
        ),
    ] {
        let mut run = Run::new();
        run.advance();
        run.stored[0]["status"] = status.clone();
        for _ in 0..seconds * 2 {
            run.after(500);
        }
        let found = run.failure();
        let fits =
            expected.map_or(found.is_none(), |expected| found.as_deref().is_some_and(|it| it.contains(expected)));
        assert!(fits, "{status} after {seconds} s: {found:?}");
        assert!(run.stored.is_empty() == expected.is_some(), "what has failed is deleted");
    }
}

#[test]
fn what_is_not_stored_is_tried_again_and_then_given_up() {
    for (answer, creates, expected) in [
        (Answer::Unknown { message: "connection lost".into() }, 3, Some("connection lost")),
        (Answer::Refused { reason: "AdmissionRefused".into(), message: "no".into() }, 1, Some("AdmissionRefused: no")),
        (Answer::NotDone { after: None, message: "busy".into() }, 10, None),
    ] {
        let (mut run, mut created) = (Run::new(), 0);
        for _ in 0..10 {
            created += run.advance_with(&answer).len();
            run.now += Duration::from_secs(1);
        }
        let failure = run.failure();
        assert_eq!(created, creates, "{answer:?}");
        assert_eq!(failure.is_some(), expected.is_some(), "{answer:?}");
        assert!(failure.unwrap_or_default().contains(expected.unwrap_or_default()), "{answer:?}");
    }
    let mut run = Run::new();
    run.advance();
    run.stored.clear();
    run.after(1000);
    run.after(32_000);
    assert!(run.failure().is_none(), "it may be about to end");
    run.after(1000);
    assert!(run.failure().is_some_and(|why| why.contains("another client has deleted it")));
}

#[test]
fn none_is_left_when_the_run_ends_or_it_is_said() {
    let mut run = Run::new();
    run.advance();
    run.state.stop(Stop::Interrupt, run.now);
    assert_eq!(run.after(1000), ["delete"]);
    assert!(run.can_finish() && run.left().is_none());
    let mut run = Run::new();
    run.advance();
    run.state.stop(Stop::Interrupt, run.now);
    run.now += Duration::from_secs(1);
    run.advance_with(&Answer::Unknown { message: "lost".into() });
    assert!(!run.can_finish() && run.left().is_some_and(|left| left.contains("inplace-web-0-")));
    run.now += STOP_WITHIN;
    assert!(run.can_finish(), "it does not wait for ever");
}

#[test]
fn what_another_run_has_left_of_these_pods_is_deleted() {
    let mut run = Run::new();
    let left = |pod: &str| json!({"metadata": {"name": format!("left-{pod}")}, "spec": {"podName": pod}});
    run.stored = vec![left("web-0"), left("other-0")];
    assert_eq!(run.advance(), ["delete", "create"]);
    let names: Vec<&str> = run.stored.iter().map(|stored| text(stored, "/spec/podName")).collect();
    assert_eq!(names, ["other-0", "web-0"]);
}
