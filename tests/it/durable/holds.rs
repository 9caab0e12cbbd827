//! One run at a time: who holds a workload, how it is left, and which run may go on.

use serde_json::{Value, json};

use super::faults::kill_at;
use super::{KINDS, Kind, Scene, side_by_side};
use crate::support::api_server::{Effect, When};
use crate::support::clock;
use crate::support::run::Running;
use crate::support::scene::{images, typed};

/// A run that waits for its first pod, which does not come back.
pub(super) fn stuck(kind: Kind) -> (Scene, Running) {
    let scene = Scene::new(kind);
    scene.server.pause_kubelet(true);
    let running = scene.typed("apply", "side=acme/side:v2").spawn();
    running.wait_for_stderr("patch sent");
    (scene, running)
}

pub(super) fn free(scene: &Scene) {
    scene.server.pause_kubelet(false);
}

#[test]
fn a_second_run_is_refused_with_code_6_and_says_who_holds_it() {
    side_by_side(KINDS.to_vec(), |kind| {
        let (scene, running) = stuck(kind);
        let writes = scene.owner_writes().len();
        for line in ["side=acme/side:v3", "side=acme/side:v3 --pods-only"] {
            let refused = scene.run("apply", line).ends_with(6).prints("RolloutHeld").prints("jane");
            // Under a rollout of this program its pods are of the revision before: that is not the reason.
            refused.omits("rollout resume").omits("OfOldRevision").omits("PodsDiffer");
        }
        let plan = format!("plan {} side=acme/side:v3 --detailed-exitcode", kind.typed);
        typed(&scene.server, &plan).run().ends_with(3).prints("RolloutHeld");
        assert_eq!(scene.owner_writes().len(), writes, "{}: nothing was written", kind.typed);
        running.signal("KILL");
        running.wait();
    });
}

#[test]
fn what_is_not_proven_yet_is_no_reason_to_say_that_there_are_no_changes() {
    side_by_side(KINDS.to_vec(), |kind| {
        let scene = Scene::new(kind);
        let apply = format!(
            "apply {} side=acme/side:v2 --yes --min-ready-seconds 0 --max-unavailable 3 --after-pod sleep${{IFS}}60",
            kind.typed
        );
        let running = typed(&scene.server, &apply).spawn();
        for pod in scene.server.objects("pods") {
            let name = pod["metadata"]["name"].as_str().unwrap_or_default();
            let runs =
                |status: &Value| status["name"] == "side" && status["restartCount"] == 1 && status["ready"] == true;
            scene.server.wait_for("pods", name, |pod| {
                pod["status"]["containerStatuses"].as_array().is_some_and(|statuses| statuses.iter().any(runs))
            });
        }
        scene
            .apply("acme/side:v2")
            .ends_with(6)
            .prints("RolloutHeld")
            .omits("No changes")
            .says(&format!("Follow: kubectl inplace follow {}/w\n", scene.singular()));
        scene.run("apply", "side=acme/side:v2 --pods-only").ends_with(0).prints("No changes");
        running.signal("KILL");
        running.wait();
        scene.apply("acme/side:v2").ends_with(6).omits("No changes").says("--no-hooks");
        scene.run("resume", "--no-hooks").completes(kind.typed);
        scene.is_settled("acme/side:v2", kind.typed);
    });
}

#[test]
fn a_run_whose_pod_somebody_else_changes_leaves_a_stopped_lock() {
    side_by_side(KINDS.to_vec(), |kind| {
        let (scene, running) = stuck(kind);
        running.wait_for_stderr("restarting");
        let is_patched = |pod: &Value| pod["spec"]["containers"][1]["image"] == "acme/side:v2";
        let patched = scene.server.objects("pods").into_iter().find(is_patched).unwrap_or_default();
        let name = patched["metadata"]["name"].as_str().unwrap_or_default();
        scene.server.edit("pods", name, |pod| pod["spec"]["containers"][1]["image"] = "acme/side:v9".into());
        running.wait().ends_with(6).prints("CONFLICT");
        assert_eq!(scene.lock()["state"], "stopped", "{}: {}", kind.typed, scene.lock());
        let status = typed(&scene.server, &format!("status {}", kind.typed)).run();
        status.ends_with(0).omits("process has ended").prints("stopped");
    });
}

#[test]
fn of_two_runs_at_once_one_does_it() {
    side_by_side(KINDS.to_vec(), |kind| {
        let scene = Scene::new(kind);
        let runs = [0, 1].map(|_| scene.typed("apply", "side=acme/side:v2").spawn());
        let mut codes = runs.map(|run| run.wait().code);
        codes.sort_unstable();
        // The slower one may also find everything done.
        assert!(codes[0] == Some(0) && matches!(codes[1], Some(0 | 6)), "{}: {codes:?}", kind.typed);
        scene.is_settled("acme/side:v2", kind.typed);
    });
}

#[test]
fn an_output_that_nobody_reads_any_more_is_like_a_signal() {
    side_by_side(KINDS.to_vec(), |kind| {
        let scene = Scene::new(kind);
        let output = scene.typed("apply", "side=acme/side:v2 -o json").read_no_further().run();
        assert!(output.stderr.ends_with("exit 143\n"), "{}: {}", kind.typed, output.block());
        // Before its first step there is nothing that could be held.
        assert!(scene.lock().is_null() || scene.lock()["state"] == "stopped", "{}: {}", kind.typed, scene.lock());
        let tells = output.stderr.contains("Resume: kubectl inplace resume");
        assert_eq!(tells, !scene.lock().is_null(), "{}: {}", kind.typed, output.block());
        scene.run("resume", "").completes(kind.typed);
        let image = if scene.history().is_empty() { "acme/side:v1" } else { "acme/side:v2" };
        scene.is_settled(image, kind.typed);
    });
}

#[test]
fn an_interrupt_leaves_a_stopped_lock_and_two_commands_that_work() {
    let cases =
        KINDS.iter().flat_map(|kind| [("INT", 130, "resume"), ("TERM", 143, "abort")].map(|case| (*kind, case)));
    side_by_side(cases.collect(), |(kind, (signal, code, verb))| {
        let (scene, running) = stuck(kind);
        running.signal(signal);
        let output = running.wait().ends_with(code);
        assert_eq!(scene.lock()["state"], "stopped", "{}", kind.typed);
        let labels = ["Resume: kubectl inplace ", "Roll back: kubectl inplace "];
        let printed = output.stdout.lines().filter_map(|line| labels.iter().find_map(|label| line.strip_prefix(label)));
        let printed: Vec<&str> = printed.collect();
        let verbs: Vec<Option<&str>> = printed.iter().map(|line| line.split(' ').next()).collect();
        assert_eq!(verbs, [Some("resume"), Some("abort")], "{}", output.block());
        let command = printed.iter().find(|line| line.starts_with(verb)).copied().unwrap_or_default();
        free(&scene);
        typed(&scene.server, &format!("{command} --yes --min-ready-seconds 0")).run().ends_with(0);
        scene.is_settled(if verb == "resume" { "acme/side:v2" } else { "acme/side:v1" }, kind.typed);
    });
}

#[test]
fn what_is_left_to_do_is_shown_before_it_is_done() {
    side_by_side(KINDS.to_vec(), |kind| {
        let (scene, running) = stuck(kind);
        running.signal("INT");
        running.wait().ends_with(130);
        free(&scene);
        let writes = scene.server.writes().len();
        for (verb, mode, images) in [
            ("resume", "--dry-run", "side     acme/side:v1   acme/side:v2\n"),
            ("resume", "--dry-run=server", "Server-side dry run succeeded."),
            ("abort", "--dry-run=server", "side     acme/side:v2   acme/side:v1\n"),
            ("undo", "--dry-run=client", "Not validated by the server (--dry-run=client)."),
        ] {
            let shown = scene.run(verb, mode).ends_with(0).prints(images);
            shown
                .prints("rollout \"2")
                .prints("started by jane ")
                .prints("(stopped)")
                .prints("First write: ")
                .prints(" to update");
        }
        let document = scene.run("abort", "--dry-run=server -o json").ends_with(0).json();
        assert_eq!((&document["kind"], &document["command"]), (&"RolloutPreview".into(), &"abort".into()));
        assert_eq!(document["images"][0]["to"], "acme/side:v1");
        assert_eq!(scene.server.writes().len(), writes, "{}: nothing was written", kind.typed);
        assert!(scene.server.requests().iter().any(|request| request.dry_run), "the server was asked");
        // Without a terminal and without --yes it is shown, and nothing is done.
        let refused = typed(&scene.server, &format!("resume {}", kind.typed)).run().ends_with(1);
        refused.prints("First write: ").says("say --yes");
        scene.run("resume", "").ends_with(0);
        scene.is_settled("acme/side:v2", kind.typed);
    });
}

#[test]
fn what_a_killed_run_holds_can_be_taken_over() {
    side_by_side(KINDS.to_vec(), |kind| {
        let (scene, running) = stuck(kind);
        running.signal("KILL");
        running.wait();
        free(&scene);
        scene.run("apply", "side=acme/side:v3").ends_with(6);
        scene.run("apply", "side=acme/side:v3 --take-over").ends_with(0);
        scene.is_settled("acme/side:v3", kind.typed);
    });
}

#[test]
fn follow_of_an_abandoned_rollout_says_how_to_end_it() {
    side_by_side(KINDS.to_vec(), |kind| {
        let (scene, running) = stuck(kind);
        let follow = || typed(&scene.server, &format!("follow {} --timeout 1s", kind.typed)).run();
        follow().ends_with(5).omits("Resume:");
        running.signal("KILL");
        running.wait();
        free(&scene);
        let left = follow().ends_with(5);
        left.says("no run is known to carry it on").says("Resume: kubectl inplace resume").says("Roll back: kubectl");
        scene.run("abort", "").ends_with(0);
    });
}

#[test]
fn another_image_after_a_failure_goes_forward_and_undo_leads_to_the_beginning() {
    side_by_side(KINDS.to_vec(), |kind| {
        let scene = Scene::new(kind);
        scene.run("apply", "side=acme/side:missing --pre-pull=never").ends_with(4).prints("abort");
        assert_eq!(scene.lock()["state"], "stopped", "{}", kind.typed);
        // The same image would fail again. Between two pulls the kubelet shows the back-off of the container before.
        clock::eventually("a status that rolls back first", || {
            let status = typed(&scene.server, &format!("status {}", kind.typed)).run();
            let (abort, resume) = (status.stdout.find("Roll back: ")?, status.stdout.find("Resume: ")?);
            (abort < resume).then_some(())
        });
        // A pod that has that image by now does not come from it.
        scene.run("resume", "").ends_with(4).prints("Roll back: kubectl inplace abort");
        scene.apply("acme/side:v3").ends_with(0).prints("Roll back: kubectl inplace undo ");
        scene.is_settled("acme/side:v3", kind.typed);
        scene.run("undo", "").ends_with(0);
        scene.is_settled("acme/side:v1", kind.typed);
    });
}

/// What the first of them brought in came to no end: it is nothing to go back to.
#[test]
fn abort_of_what_took_the_place_of_a_failure_leads_to_the_beginning() {
    side_by_side(KINDS.to_vec(), |kind| {
        let scene = Scene::new(kind);
        scene.run("apply", "side=acme/side:crash").ends_with(4);
        scene.run("apply", "side=acme/side:missing --pre-pull=never").ends_with(4);
        scene.run("abort", "").ends_with(0).prints("acme/side:v1").omits("side:crash");
        scene.is_settled("acme/side:v1", kind.typed);
        // The history has it: that nothing is recorded would be false.
        scene
            .run("undo", "")
            .ends_with(1)
            .says("there is nothing to undo: its last update in place, ")
            .says("was rolled back");
    });
}

/// Forward to where the first of them began, which was cut short, is the same way back.
#[test]
fn abort_of_an_apply_that_goes_back_goes_on_with_it() {
    side_by_side(KINDS.to_vec(), |kind| {
        let scene = Scene::new(kind).fails_slowly();
        scene.run("apply", "side=acme/side:crash --on-failure continue --max-unavailable 3").ends_with(4);
        scene.run("apply", "side=acme/side:v1 --canary 1").ends_with(0).prints("Paused");
        scene.run("abort", "").ends_with(0).prints("acme/side:crash   acme/side:v1").omits("another client");
        scene.is_settled("acme/side:v1", kind.typed);
    });
}

/// The order that a rollout began with is recorded, and a run that resumes it keeps it.
#[test]
fn a_resumed_rollout_keeps_its_order() {
    let kind = KINDS[1];
    for (order, taken) in [("--order name", ["w-0", "w-1", "w-2"]), ("", ["w-2", "w-1", "w-0"])] {
        let scene = Scene::with(kind, |workload| workload.spec(&json!({"podManagementPolicy": "Parallel"})));
        scene.run("apply", &format!("side=acme/side:v2 --canary 1 {order}")).ends_with(0).prints("Paused");
        scene.run("resume", "").ends_with(0);
        let pods = scene.server.writes().into_iter().filter(|write| write.path.contains("/pods/"));
        let pods: Vec<String> = pods.filter_map(|write| write.path.rsplit('/').next().map(str::to_owned)).collect();
        assert_eq!(pods, taken, "{order}");
        scene.is_settled("acme/side:v2", order);
    }
}

/// What the user types first: `undo` of a rollout that failed takes it back, template and pods.
#[test]
fn undo_after_a_failure_takes_it_back() {
    side_by_side(KINDS.to_vec(), |kind| {
        let scene = Scene::new(kind);
        scene.run("apply", "side=acme/side:missing --pre-pull=never").ends_with(4);
        scene.run("undo", "--dry-run").ends_with(0).says("did not finish and is rolled back");
        assert_eq!(scene.lock()["state"], "stopped", "{}: a dry run changes nothing", kind.typed);
        scene.run("undo", "").ends_with(0).says("did not finish and is rolled back").prints("Rolled back:");
        scene.is_settled("acme/side:v1", kind.typed);
    });
}

#[test]
fn another_template_ends_it_with_code_6_and_replaces_no_pod_unasked() {
    side_by_side(KINDS.to_vec(), |kind| {
        let (scene, running) = stuck(kind);
        scene.server.edit(kind.plural, "w", |owner| {
            owner["spec"]["template"]["spec"]["containers"][1]["image"] = "acme/side:foreign".into();
        });
        let output = running.wait().ends_with(6);
        let output = output.prints("changed by another client");
        free(&scene);
        assert_eq!(scene.lock(), Value::Null, "{}", kind.typed);
        if scene.spec.get("updateStrategy").is_some() {
            // --yes is no word for it that the controller replaces pods.
            output
                .says("Bring its template to the pods, in place:")
                .says("Let its controller go, which may then replace pods:");
            assert_ne!(scene.owner()["spec"]["updateStrategy"], scene.spec["updateStrategy"], "{}", kind.typed);
            let held =
                super::ways_out::status(&scene).prints("a rollout that another client ended left the update strategy");
            held.prints("Bring its template to the pods, in place: ").prints("abort ").prints("--release");
            scene.run("resume", "--take-over").ends_with(0).says("restored the update strategy");
            assert_eq!(scene.owner()["spec"]["updateStrategy"], scene.spec["updateStrategy"], "{}", kind.typed);
        } else {
            output.omits("abort");
            assert_eq!(scene.owner()["spec"]["paused"], Value::Null, "{}", kind.typed);
        }
        if kind.plural != "replicasets" {
            clock::eventually("their rollout", || {
                images(&scene.server, "side").iter().all(|image| image == "acme/side:foreign").then_some(())
            });
        }
    });
}

/// The user has restored the template: the way back from there would lead to what they did not want.
#[test]
fn what_a_superseded_rollout_has_brought_is_nothing_to_roll_back_to() {
    side_by_side(vec![KINDS[1], KINDS[2]], |kind| {
        let (scene, running) = stuck(kind);
        scene.server.edit(kind.plural, "w", |owner| {
            owner["spec"]["template"]["spec"]["containers"][1]["image"] = "acme/side:v1".into();
        });
        let output = running.wait().ends_with(6);
        output.says("Bring its template to the pods, in place:").omits("Roll back");
        free(&scene);
        super::ways_out::status(&scene).prints("Bring its template to the pods, in place: ").omits("Roll back");
        scene.run("abort", "--take-over").ends_with(6).says("another client ended");
        scene.run("resume", "--take-over").ends_with(0);
        scene.is_settled("acme/side:v1", kind.typed);
        assert_eq!(scene.owner()["spec"]["updateStrategy"], scene.spec["updateStrategy"], "{}", kind.typed);
    });
}

#[test]
fn a_refusal_of_the_first_write_leaves_nothing_and_names_no_way_back() {
    side_by_side(KINDS.to_vec(), |kind| {
        let scene = Scene::new(kind);
        let deny = Effect::Deny { webhook: "images.acme.example".into(), message: "not here".into(), code: 403 };
        scene.server.fault(When::verb("patch").of(kind.plural), deny);
        let output = scene.apply("acme/side:v2").ends_with(4);
        output.prints("setting the template was refused").prints("not here").omits("To go on").omits("abort");
        scene.server.clear_faults();
        scene.is_settled("acme/side:v1", kind.typed);
    });
}

/// What is tried again may be admitted then, and the way back needs no more than that either.
#[test]
fn a_refusal_of_taking_over_names_both_ways() {
    side_by_side(KINDS.to_vec(), |kind| {
        let scene = Scene::new(kind);
        scene.run("apply", "side=acme/side:v2 --canary 1").ends_with(0);
        let deny = Effect::Deny { webhook: "images.acme.example".into(), message: "not here".into(), code: 403 };
        scene.server.fault(When::verb("patch").of(kind.plural), deny);
        let output = scene.run("resume", "").ends_with(4).prints("not here");
        output.prints("Resume: kubectl inplace resume").prints("Roll back: kubectl inplace abort");
        scene.server.clear_faults();
        scene.run("abort", "").ends_with(0).prints("Rolled back");
        scene.is_settled("acme/side:v1", kind.typed);
    });
}

#[test]
fn follow_reports_that_another_run_has_aborted_it() {
    side_by_side(KINDS.to_vec(), |kind| {
        let (scene, running) = stuck(kind);
        let follow = typed(&scene.server, &format!("follow {}", kind.typed)).spawn();
        follow.wait_for_stderr("following 3 pods");
        let abort = scene.typed("abort", "--take-over").spawn();
        let reported = follow.wait().ends_with(6);
        reported.prints("it was aborted by another run.").omits("Its pods changed since the plan");
        free(&scene);
        abort.wait().ends_with(0).prints("Rolled back");
        running.wait().ends_with(6);
    });
}

/// Pods that wait for their turn show nothing of it.
#[test]
fn follow_reports_that_another_template_has_ended_it() {
    side_by_side(KINDS.to_vec(), |kind| {
        let scene = Scene::new(kind);
        scene.run("apply", "side=acme/side:v2 --canary 1").ends_with(0);
        let follow = typed(&scene.server, &format!("follow {}", kind.typed)).spawn();
        follow.wait_for_stderr("following 3 pods");
        scene.server.edit(kind.plural, "w", |owner| {
            owner["spec"]["template"]["spec"]["containers"][1]["image"] = "acme/side:v3".into();
        });
        let reported = follow.wait().ends_with(6);
        reported
            .prints("another client has changed the template, so nobody carries the rollout on")
            .omits("Follow: kubectl inplace follow")
            .says("--release");
    });
}

/// A manifest that was exported halfway brings back lock and pause of a rollout that has ended since, as its
/// ReplicaSets show: the command that brings its template to the pods is named, and works.
#[test]
fn a_lock_that_comes_back_with_its_pause_is_taken_away_in_place() {
    side_by_side(vec!["resume", "abort"], |verb| {
        let scene = Scene::new(KINDS[0]);
        kill_at(&scene, scene.kind.writes[1], scene.typed("apply", "side=acme/side:v2"));
        let read = scene.owner();
        scene.run(verb, "").ends_with(0);
        scene.server.edit("deployments", "w", |owner| {
            owner["spec"] = read["spec"].clone();
            owner["metadata"]["annotations"] = read["metadata"]["annotations"].clone();
        });
        let what = "the lock of a rollout that has ended came back with an older copy of it";
        super::ways_out::status(&scene).prints(what).omits("Resume: ").omits("Roll back: ");
        for verb in ["resume", "abort"] {
            scene.run(verb, "").ends_with(6).says(what);
        }
        scene.run("resume", "--take-over").ends_with(0);
        scene.is_settled("acme/side:v2", verb);
        assert_eq!((scene.lock(), &scene.owner()["spec"]["paused"]), (Value::Null, &Value::Null), "{verb}");
    });
}
