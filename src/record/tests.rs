use std::sync::{Arc, Mutex};

use serde_json::json;

use super::*;
use engine::state::outcome::EndResult;

/// Bytes that can be read while a recorder owns their writer.
#[derive(Clone, Default)]
struct Bytes(Arc<Mutex<Vec<u8>>>);

impl Write for Bytes {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Bytes {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

/// A pod that nobody controls, `side` with the image; another container once it has the second.
fn pod(image: &str, version: u64) -> Observation {
    let pod = engine::k8s::pod::Pod::from_object(&json!({
        "metadata": {"name": "p", "namespace": "d", "uid": "u", "resourceVersion": version.to_string(),
            "creationTimestamp": "2026-01-01T00:00:00Z"},
        "spec": {"containers": [{"name": "side", "image": image, "env": [{"name": "A", "value": "hunter2"}]}]},
        "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}],
            "containerStatuses": [{"name": "side", "ready": true, "containerID": "c://1", "imageID": "i",
                "state": {"running": {"startedAt": "2026-01-01T00:00:01Z"}}}]},
    }));
    Observation::Applied(Box::new(pod.unwrap()))
}

fn goal() -> Goal {
    serde_json::from_value(json!({
        "id": "1", "workload": {"kind": "Pod", "namespace": "d", "name": "p"}, "mode": "podsOnly", "controllers": [],
        "replicas": 1, "field_manager": "m", "pre_pull": "never",
        "pods": [{"key": {"namespace": "d", "name": "p", "uid": "u"},
            "containers": {"side": {"from": "a:1", "to": "a:2", "restarts": true}}}],
        "policy": {"maxUnavailable": 1, "minReadySecondsGiven": null, "ownerMinReadySeconds": 0, "timeoutGiven": 2,
            "totalTimeout": null, "ordered": false},
    }))
    .unwrap()
}

/// A rollout whose patch is refused: recorded.
fn recorded() -> String {
    let bytes = Bytes::default();
    let mut recorder = Recorder::to(Box::new(bytes.clone()), 0);
    let (goal, mut world, mut state) = (goal(), World::default(), RunState::new());
    recorder.goal(&goal);
    let Observation::Applied(first) = pod("a:1", 1) else { unreachable!("it is one") };
    let listed = Observation::Relisted(vec![*first]);
    recorder.observation(Duration::ZERO, &listed);
    world.observe(listed);
    let mut now = Duration::from_nanos(1);
    let turn = rollout::turn(&goal, &world, &mut state, now);
    recorder.turn(now, &turn);
    let id = turn.actions.first().map(|(id, _)| *id).unwrap();
    let answer = Answer::Refused { reason: "AdmissionRefused".into(), message: "password=hunter2 is bad".into() };
    now += Duration::from_millis(3);
    recorder.answer(now, id, &answer);
    state.answer(id, answer, now);
    let turn = rollout::turn(&goal, &world, &mut state, now);
    recorder.turn(now, &turn);
    assert_eq!(turn.end.map(|end| end.result), Some(EndResult::Failed));
    assert!(recorder.trouble().is_none());
    bytes.text()
}

#[test]
fn a_recording_gives_the_same_decisions() {
    let text = recorded();
    let replayed = replay(text.as_bytes()).unwrap();
    assert_eq!(replayed, Replayed { goals: 1, turns: 2, actions: 1, ends: 1 });
    assert!(!text.contains("hunter2"), "{text}");
    assert!(text.lines().all(|line| serde_json::from_str::<Value>(line).is_ok_and(|line| line["type"].is_string())));
}

#[test]
fn rollouts_side_by_side_are_distinguished() {
    let (one, other) = (recorded(), recorded().replace("\"run\":0", "\"run\":1"));
    let both: String = one.lines().zip(other.lines()).map(|(one, other)| format!("{one}\n{other}\n")).collect();
    assert_eq!(replay(both.as_bytes()).unwrap(), Replayed { goals: 2, turns: 4, actions: 2, ends: 2 });
}

#[test]
fn another_decision_is_caught() {
    let text = recorded();
    for (was, is) in
        [("\"a:2\"", "\"a:3\""), ("AdmissionRefused", "NotSent"), ("\"result\":\"failed\"", "\"result\":\"complete\"")]
    {
        let at = if was.contains("result") { text.rfind(was) } else { text.find(was) }.unwrap();
        let changed = format!("{}{is}{}", &text[..at], &text[at + was.len()..]);
        assert!(matches!(replay(changed.as_bytes()), Err(ReplayError::Decided { .. })), "{was}");
    }
    let without_answer: String =
        text.lines().filter(|line| !line.contains("\"answer\"")).map(|line| format!("{line}\n")).collect();
    assert!(matches!(replay(without_answer.as_bytes()), Err(ReplayError::Decided { line: 4, .. })));
}

#[test]
fn what_is_no_recording_is_refused() {
    for (text, why) in [
        ("{", "EOF"),
        ("{\"type\":\"turn\",\"at\":1}", "without a goal"),
        ("{\"type\":\"goal\",\"version\":\"v0\"}", "version"),
        ("{\"type\":\"nope\"}", "unknown type"),
        ("{\"type\":\"stop\",\"stop\":\"interrupt\"}", "no time"),
    ] {
        let error = replay(text.as_bytes()).unwrap_err().to_string();
        assert!(error.contains(why), "{text}: {error}");
    }
}

#[test]
fn a_disk_that_is_full_is_reported_once_and_disturbs_nothing() {
    struct Full;
    impl Write for Full {
        fn write(&mut self, _bytes: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::StorageFull.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut recorder = Recorder::to(Box::new(Full), 0);
    recorder.goal(&goal());
    recorder.stop(Duration::ZERO, Stop::Interrupt);
    assert!(recorder.trouble().is_some());
    assert!(recorder.trouble().is_none());
}
