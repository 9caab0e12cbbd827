//! Whether the run that holds a workload is active: by the server's clock, whatever the client's says, and at once
//! where it was a process of this machine.

use serde_json::Value;

use super::holds::{free, stuck};
use super::{KINDS, LOCK, Scene, side_by_side};
use crate::support::api_server::{Effect, Logged, When};
use crate::support::clock;
use crate::support::scene::typed;

const BEAT: &str = "kubectl-inplace.io/beat";

/// Clocks that differ by hours.
const HOURS: [i64; 3] = [0, -5 * 3600, 7 * 3600];

impl Scene {
    fn beat(&self) -> Value {
        self.owner()["metadata"]["labels"][BEAT].clone()
    }

    /// Makes the lock another machine's, or one that does not say whose it is.
    fn edit_lock(&self, edit: impl FnOnce(&mut Value)) {
        let mut lock = self.lock();
        edit(&mut lock);
        self.server.edit(self.kind.plural, "w", |owner| {
            owner["metadata"]["annotations"][LOCK] = lock.to_string().into();
        });
    }
}

#[test]
fn a_run_that_is_active_is_not_taken_over_by_accident() {
    let cases = KINDS.iter().zip(HOURS.iter().cycle());
    side_by_side(cases.collect(), |(kind, ahead)| {
        let scene = Scene::new(*kind);
        scene.server.set_clock(*ahead);
        scene.server.pause_kubelet(true);
        let running = scene.typed("apply", "side=acme/side:v2").spawn();
        running.wait_for_stderr("patch sent");
        let writes = scene.owner_writes().len();
        for verb in ["resume", "abort"] {
            let output = scene.run(verb, "").ends_with(6).says("is run by jane on").says("at work, last sign of life");
            let output = output
                .says("\nFollow: kubectl inplace follow")
                .omits("hint: Follow")
                .says(&format!("kubectl inplace {verb}"));
            output.says("--take-over");
        }
        let undo = scene.run("undo", "").ends_with(6).prints("at work, last sign of life");
        undo.omits("the owner's template stays as it is");
        typed(&scene.server, &format!("status {}", kind.typed)).run().ends_with(0).prints("at work, last sign of life");
        assert_eq!(scene.owner_writes().len(), writes, "{}: nothing was written", kind.typed);
        // It says what became of it, and names no command that would fight the other run.
        let abort = scene.typed("abort", "--take-over").spawn();
        let output = running.wait().ends_with(6);
        let output = output.prints("was taken over by jane from").prints("to abort it; no further changes by this run");
        output.omits("kubectl inplace resume").omits("kubectl inplace abort");
        free(&scene);
        abort.wait().completes(kind.typed);
        scene.is_settled("acme/side:v1", kind.typed);
    });
}

/// Its lock names another rollout by then, or, where that one has ended already, the history has it.
#[test]
fn a_run_whose_workload_another_rollout_has_taken_over_says_which() {
    let cases = KINDS.iter().flat_map(|kind| [false, true].map(|slow| (*kind, slow)));
    side_by_side(cases.collect(), |(kind, slow)| {
        let scene = Scene::new(kind);
        scene.server.pause_kubelet(true);
        let running = scene.typed("apply", "side=acme/side:v2 --pre-pull=never").spawn();
        running.wait_for_stderr("patch sent");
        if slow {
            running.signal("STOP");
        }
        let second = scene.typed("apply", "side=acme/side:v3 --take-over --pre-pull=never").spawn();
        if slow {
            free(&scene);
            second.wait().completes(kind.typed);
            running.signal("CONT");
            let output = running.wait().ends_with(6);
            output.prints("took its place (jane)").omits("kubectl inplace resume").omits("kubectl inplace abort");
        } else {
            second.wait_for_stderr("patch sent");
            let output = running.wait().ends_with(6);
            let output = output.prints(" of jane from ").prints(" has taken its place; no further changes by this run");
            output.omits("kubectl inplace resume").omits("kubectl inplace abort");
            free(&scene);
            second.wait().completes(kind.typed);
        }
        scene.is_settled("acme/side:v3", kind.typed);
    });
}

#[test]
fn a_run_of_another_machine_is_gone_after_three_beats() {
    side_by_side(KINDS.to_vec(), |kind| {
        let (scene, running) = stuck(kind);
        running.signal("KILL");
        running.wait();
        free(&scene);
        scene.edit_lock(|lock| lock["lease"]["boot"] = "another".into());
        scene.run("resume", "").ends_with(6).says("at work, last sign of life");
        scene.server.set_clock(20);
        scene.run("abort", "").ends_with(6).says("at work, last sign of life 2");
        scene.server.set_clock(45);
        let status = typed(&scene.server, &format!("status {}", kind.typed)).run().ends_with(0);
        status.prints("probably gone, no sign of life for ");
        scene.run("resume", "").completes(kind.typed);
        scene.is_settled("acme/side:v2", kind.typed);
    });
}

#[test]
fn a_run_of_this_machine_that_is_stopped_is_not_called_gone() {
    let (scene, running) = stuck(KINDS[0]);
    running.signal("STOP");
    scene.server.set_clock(45);
    let status = typed(&scene.server, "status deploy/w").run().ends_with(0);
    status.prints("interrupted").prints("stopped: its process is there, and has given no sign of life for ");
    running.signal("KILL");
    running.wait();
    free(&scene);
    scene.run("resume", "").completes("it was stopped");
}

#[test]
fn a_lock_that_does_not_say_whose_it_is_may_be_of_a_run_that_is_active() {
    side_by_side(KINDS.to_vec(), |kind| {
        let (scene, running) = stuck(kind);
        running.signal("KILL");
        running.wait();
        free(&scene);
        scene.edit_lock(|lock| drop(lock.as_object_mut().and_then(|lock| lock.remove("lease"))));
        scene.run("resume", "").ends_with(6).says("is run by jane: it is perhaps at work").says("--take-over");
        scene.run("resume", "--take-over").completes(kind.typed);
        scene.is_settled("acme/side:v2", kind.typed);
    });
}

#[test]
fn a_long_run_gives_signs_of_life_and_a_short_one_none() {
    side_by_side(KINDS.to_vec(), |kind| {
        let (scene, running) = stuck(kind);
        let lock = scene.lock();
        assert_eq!(scene.beat(), Value::Null, "{}: none yet", kind.typed);
        scene.server.set_clock(3600);
        clock::eventually("a sign of life", || scene.beat().is_string().then_some(()));
        assert_eq!(scene.lock(), lock, "{}: the lock is as it was", kind.typed);
        scene.run("resume", "").ends_with(6).says("at work, last sign of life");
        scene.server.set_clock(0);
        free(&scene);
        running.wait().completes(kind.typed);
        assert_eq!(scene.beat(), Value::Null, "{}: it went with the lock", kind.typed);
        scene.is_settled("acme/side:v2", kind.typed);
        let beats =
            scene.server.writes().iter().filter(|write| write.body.contains("kubectl-inplace.io~1beat")).count();
        assert!((1..=4).contains(&beats), "{}: {beats}", kind.typed);
    });
}

#[test]
fn a_server_that_refuses_signs_of_life_stops_no_rollout() {
    let (scene, running) = stuck(KINDS[1]);
    let deny = Effect::Deny { webhook: "labels.acme.example".into(), message: "no such label".into(), code: 403 };
    scene.server.fault(When::verb("patch").of("statefulsets"), deny);
    scene.server.set_clock(3600);
    let is_beat = |write: &Logged| write.body.contains("kubectl-inplace.io~1beat");
    clock::eventually("a sign of life", || scene.server.writes().iter().any(is_beat).then_some(()));
    assert_eq!(scene.beat(), Value::Null);
    scene.server.clear_faults();
    free(&scene);
    running.wait().completes("sts/w");
    scene.is_settled("acme/side:v2", "sts/w");
}

#[test]
fn undo_goes_back_from_the_last_update_whatever_the_clocks_said() {
    side_by_side(KINDS.to_vec(), |kind| {
        let scene = Scene::new(kind);
        scene.server.set_clock(300);
        scene.apply("acme/side:v2").completes(kind.typed);
        scene.server.set_clock(0);
        scene.apply("acme/side:v3").completes(kind.typed);
        let output = scene.run("undo", "").completes(kind.typed).says("this command undoes update");
        output.says(" ago: side: ").says("by jane ").says("side: acme/side:v2 -> acme/side:v3");
        scene.is_settled("acme/side:v2", kind.typed);
    });
}

#[test]
fn undo_of_what_somebody_has_changed_since_is_refused() {
    let scene = Scene::new(KINDS[3]);
    scene.apply("acme/side:v2").completes("rs/w");
    let id = scene.history()[0]["id"].as_str().unwrap_or_default().to_owned();
    scene.server.edit("replicasets", "w", |owner| {
        owner["spec"]["template"]["spec"]["containers"][1]["image"] = "acme/side:v9".into();
    });
    let output = scene.run("undo", "").ends_with(1).says("another client has changed it since");
    output.says(&format!("kubectl inplace undo replicaset/w --to {id}"));
}
