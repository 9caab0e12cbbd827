//! What goes wrong on the way: an answer that is lost, a server that is busy, a run that is killed. It ends as if nothing
//! had happened, or one command finishes it or takes it back.

use serde_json::{Value, json};

use super::{KINDS, Kind, Scene, Write, side_by_side};
use crate::support::api_server::{Answer, Effect};
use crate::support::run::Binary;

/// Each write on the owner's side of each kind.
fn all_writes() -> Vec<(Kind, Write)> {
    KINDS.iter().flat_map(|kind| kind.writes.iter().map(|write| (*kind, *write))).collect()
}

#[test]
fn every_write_survives_a_server_that_fails_once() {
    let conflict = json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Conflict", "code": 409,
        "message": "the object has been modified; please apply your changes to the latest version and try again"});
    let internal = json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "InternalError",
        "code": 500, "message": "etcdserver: leader changed"});
    let effects = [
        ("503", Effect::Unavailable),
        ("closed before", Effect::CloseBefore),
        ("closed afterwards", Effect::CloseAfterwards),
        ("504 afterwards", Effect::TimeOutAfterwards),
        ("429", Effect::Throttle(Some(1))),
        ("409", Effect::Answer(Answer::json(409, conflict))),
        ("500", Effect::Answer(Answer::json(500, internal))),
    ];
    let cases = all_writes().into_iter().flat_map(|case| effects.iter().map(move |effect| (case, effect))).collect();
    side_by_side(cases, |((kind, write), (name, effect))| {
        let scene = Scene::new(kind);
        scene.server.fault(write.when().times(1), effect.clone());
        let what = format!("{} {write:?} {name}", kind.typed);
        scene.apply("acme/side:v2").completes(&what);
        scene.is_settled("acme/side:v2", &what);
        assert_eq!(scene.history().len(), 1, "{what}: recorded once");
    });
}

#[test]
fn a_read_that_fails_is_repeated() {
    side_by_side(KINDS.to_vec(), |kind| {
        let scene = Scene::new(kind);
        let reads = crate::support::api_server::When::verb("get").of(kind.plural).after(2).times(4);
        scene.server.fault(reads, Effect::Unavailable);
        scene.apply("acme/side:v2").completes(kind.typed);
        scene.is_settled("acme/side:v2", kind.typed);
    });
}

/// Runs `apply` until it tries a write that does not get through, and kills it there.
pub(super) fn killed_at(kind: Kind, write: Write) -> Scene {
    killed_at_with(kind, write, "side=acme/side:v2")
}

/// The same with what is applied.
pub(super) fn killed_at_with(kind: Kind, write: Write, line: &str) -> Scene {
    let scene = Scene::new(kind);
    kill_at(&scene, write, scene.typed("apply", line));
    scene
}

/// Runs a command until it tries a write that does not get through, and kills it there.
pub(super) fn kill_at(scene: &Scene, write: Write, command: Binary) {
    let so_far = || scene.server.writes().iter().filter(|logged| write.is(logged)).count();
    let before = so_far();
    scene.server.fault(write.when(), Effect::NoAnswer);
    let running = command.spawn();
    let asked = || so_far() > before + write.nth;
    crate::support::clock::eventually("the write", || asked().then_some(()));
    running.signal("KILL");
    assert_eq!(running.wait().code, None, "killed");
    scene.server.clear_faults();
}

pub(super) fn with_pods() -> Vec<(Kind, Write)> {
    let pods = KINDS.iter().flat_map(|kind| [0, 2].map(|nth| (*kind, Write { verb: "patch", plural: "pods", nth })));
    all_writes().into_iter().chain(pods).collect()
}

/// The lock exists from the first write on, until the one that records the rollout.
fn is_held(scene: &Scene) -> bool {
    scene.lock() != Value::Null
}

#[test]
fn a_run_that_is_killed_anywhere_is_finished_by_resume() {
    side_by_side(with_pods(), |(kind, write)| {
        let scene = killed_at(kind, write);
        let what = format!("{} killed at {write:?}", kind.typed);
        let began = scene.owner()["spec"]["template"] != scene.spec["template"];
        let output = scene.run("resume", "");
        output.completes(&what);
        scene.is_settled(if began { "acme/side:v2" } else { "acme/side:v1" }, &what);
        assert_eq!(scene.history().len(), usize::from(began), "{what}");
    });
}

#[test]
fn a_run_that_is_killed_anywhere_is_taken_back_by_abort() {
    side_by_side(with_pods(), |(kind, write)| {
        let scene = killed_at(kind, write);
        let what = format!("{} killed at {write:?}", kind.typed);
        let (held, recorded) = (is_held(&scene), !scene.history().is_empty());
        let output = scene.run("abort", "");
        if held {
            output.completes(&what).prints("Rolled back:");
            scene.is_settled("acme/side:v1", &what);
        } else if recorded {
            assert!(matches!(output.code, Some(0 | 6)), "{what}: {}", output.block());
            output.omits("Taken back");
            scene.is_settled("acme/side:v2", &what);
        } else {
            output.completes(&what);
            scene.is_settled("acme/side:v1", &what);
        }
    });
}

/// Without its revisions no label can be known that keeps a pod: the verb is named before the first write.
#[test]
fn revisions_that_may_not_be_listed_refuse_a_durable_rollout() {
    let kinds: Vec<Kind> =
        KINDS.into_iter().filter(|kind| ["statefulsets", "daemonsets"].contains(&kind.plural)).collect();
    side_by_side(kinds, |kind| {
        let scene = Scene::new(kind);
        scene.server.fault(crate::support::api_server::When::verb("list").of("controllerrevisions"), Effect::Forbid);
        let output = scene.apply("acme/side:v2").ends_with(3);
        output.prints("PermissionMissing: you may not list controllerrevisions.apps");
        assert!(scene.server.writes().is_empty(), "{}", kind.typed);
    });
}
