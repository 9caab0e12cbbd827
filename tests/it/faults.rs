//! What goes wrong on the way and in the cluster: nothing is sent twice, nothing is lost, and the end is reported.

use std::time::Duration;

use serde_json::json;

use crate::support::api_server::{Answer, ApiServer, Effect, Times, When};
use crate::support::clock;
use crate::support::run::Output;
use crate::support::scene::{APPLY, images, patched, patches, run, typed, web};

fn sent() -> When {
    When::verb("patch").of("pods").for_real()
}

fn asked() -> When {
    When::verb("patch").of("pods").dry_run()
}

fn pods(server: &ApiServer) -> Vec<String> {
    server.objects("pods").iter().filter_map(|pod| pod["metadata"]["name"].as_str().map(str::to_owned)).collect()
}

/// The requests about one pod, dry runs left out: `PATCH`, `GET`.
fn about(server: &ApiServer, pod: &str) -> Vec<String> {
    let path = format!("/api/v1/namespaces/default/pods/{pod}");
    let requests = server.requests().into_iter().filter(|request| request.path == path && !request.dry_run);
    requests.map(|request| request.method).collect()
}

fn deny(webhook: &str, message: &str) -> Effect {
    Effect::Deny { webhook: webhook.to_owned(), message: message.to_owned(), code: 403 }
}

#[test]
fn a_missing_permission_to_patch_is_reported_by_the_plan() {
    let server = web();
    server.fault(When::verb("patch").of("pods"), Effect::Forbid);
    // The verdict is about the change; a missing permission is shown beside it.
    let plan = run(&server, "plan deploy/web side=:v2 --detailed-exitcode").ends_with(2).omits("Next:");
    plan.prints("PermissionMissing: you may not patch pods").prints("kubectl inplace rbac apply deployment -n default");
    let json = run(&server, "plan deploy/web side=:v2 -o json").ends_with(0).json();
    let reason = json["workloads"][0]["missingPermissions"][0].clone();
    assert_eq!(json["workloads"][0]["reasons"], json!([]));
    assert_eq!((&json["result"], &json["applyable"]), (&json!("changes"), &json!(false)));
    assert_eq!(
        (&reason["code"], &reason["verb"], &reason["resource"]),
        (&json!("PermissionMissing"), &json!("patch"), &json!("pods"))
    );
    run(&server, APPLY).ends_with(3).prints("PermissionMissing");
    assert!(server.writes().is_empty());
}

#[test]
fn a_workload_that_may_not_be_read_is_an_error_that_names_verb_and_resource() {
    let server = web();
    server.fault(When::verb("get").of("deployments"), Effect::Forbid);
    for line in [APPLY, "plan deploy/web side=:v2"] {
        let output = run(&server, line).ends_with(1);
        output.says("cannot get resource \"deployments\"").says("kubectl auth can-i get deployments");
    }
    assert!(server.writes().is_empty());
}

#[test]
fn what_may_not_be_listed_is_a_reason_that_names_verb_and_resource() {
    for resource in ["pods", "replicasets"] {
        let server = web();
        server.fault(When::verb("list").of(resource), Effect::Forbid);
        for (line, code) in [
            (APPLY, 3),
            ("plan deploy/web side=:v2", 0),
            ("plan deploy/web side=:v2 --detailed-exitcode", 3),
            ("restart deploy/web -c side", 3),
        ] {
            let output = run(&server, line).ends_with(code);
            let command = line.split(' ').next().unwrap_or_default();
            let reported = output.prints(&format!("PermissionMissing: you may not list {resource}"));
            // A Role of the plan alone would lead to the next that is missing.
            let reported = reported.prints(&format!("kubectl inplace rbac {command} deployment"));
            reported.prints("User \"jane\" cannot list resource");
        }
        assert!(server.writes().is_empty());
    }
}

/// A caller whose permissions are unknown is not stopped, and gets a note that they were not checked.
#[test]
fn a_server_that_does_not_tell_permissions_is_no_obstacle_and_that_is_said() {
    let reported = "the server does not say what you may do";
    let server = web();
    server.hide_permissions();
    run(&server, "plan deploy/web side=:v2").ends_with(0).says(reported).prints("can be updated in place: 3 pods");
    let applied = run(&server, APPLY).ends_with(0);
    applied.says(reported).omits("PermissionMissing");
    assert_eq!(images(&server, "side"), ["acme/side:v2"; 3]);
    run(&server, "rbac apply deployment --check").ends_with(1).says("the authorizer is away");
}

#[test]
fn pods_that_may_not_be_listed_are_not_counted_as_none() {
    let server = web();
    server.fault(When::verb("list").of("pods"), Effect::Forbid);
    run(&server, "plan deploy/web side=:v2").ends_with(0).prints("you may not list pods").omits("0 pods");
    let comment = run(&server, "plan deploy/web side=:v2 -o markdown").ends_with(0);
    comment.prints("\nThe pods could not be listed.\n").omits("0 pods");
}

#[test]
fn a_busy_server_is_given_the_time_that_it_asks_for() {
    let server = web();
    server.fault(sent().times(1), Effect::Throttle(Some(1)));
    let began = clock::now();
    run(&server, APPLY).ends_with(0).says("trying again in 1s");
    assert!(clock::now().duration_since(began) >= Duration::from_secs(1));
    assert_eq!(patches(&server).len(), 4, "three, and the one that was put off");
}

#[test]
fn a_wait_is_reported_while_it_lasts() {
    let server = web();
    server.fault(When::verb("list").of("pods").times(1), Effect::Throttle(Some(3)));
    let began = clock::now();
    let running = typed(&server, "plan deploy/web side=:v2").spawn();
    running.wait_for_stderr("note: the server is busy; trying again in 3s");
    assert!(clock::now().duration_since(began) < Duration::from_millis(2900), "before it is over");
    running.wait().ends_with(0);
    run(&server, "plan deploy/web side=:v2 -q").ends_with(0).omits("trying again");
}

#[test]
fn a_busy_server_that_names_no_time_is_asked_again_later() {
    let server = web();
    server.fault(sent().times(1), Effect::Throttle(None));
    let began = clock::now();
    run(&server, APPLY).ends_with(0);
    assert!(clock::now().duration_since(began) >= Duration::from_secs(1));
    assert_eq!(patches(&server).len(), 4);
    let server = web();
    for verb in ["get", "list"] {
        server.fault(When::verb(verb).times(2), Effect::Throttle(None));
    }
    run(&server, "plan deploy/web side=:v2").ends_with(0).says("trying again");
}

/// What becomes of the n-th patch, whether it was carried out, and what is then asked about its pod.
#[test]
fn an_answer_that_is_lost_is_looked_up_and_nothing_is_sent_twice() {
    let cases: [(Effect, &[&str]); 4] = [
        (Effect::Unavailable, &["PATCH", "GET", "PATCH"]),
        (Effect::CloseBefore, &["PATCH", "GET", "PATCH"]),
        (Effect::TimeOutAfterwards, &["PATCH", "GET"]),
        (Effect::CloseAfterwards, &["PATCH", "GET"]),
    ];
    for (case, (effect, wanted)) in cases.into_iter().enumerate() {
        for nth in [0, 2] {
            let server = web();
            server.fault(sent().after(nth).times(1), effect.clone());
            run(&server, APPLY).ends_with(0).prints("Updated 3 pods in place");
            let names = pods(&server);
            let hit = names.get(nth).cloned().unwrap_or_default();
            assert_eq!(about(&server, &hit), wanted, "case {case}, patch {nth}");
            for other in names.iter().filter(|name| **name != hit) {
                assert_eq!(about(&server, other), ["PATCH"], "case {case}, patch {nth}");
            }
            let restarts = |pod: &serde_json::Value| pod["status"]["containerStatuses"][1]["restartCount"].clone();
            assert!(server.objects("pods").iter().all(|pod| restarts(pod) == 1), "case {case}: each restarted once");
        }
    }
}

#[test]
fn the_pod_is_read_again_until_it_can_be() {
    let server = web();
    let first = pods(&server)[0].clone();
    server.fault(sent().times(1), Effect::CloseAfterwards);
    server.fault(When::verb("get").of("pods").named(&first).times(3), Effect::Unavailable);
    server.fault(When::verb("watch").of("pods").times(1), Effect::Unavailable);
    run(&server, APPLY).ends_with(0);
    assert_eq!(about(&server, &first).iter().filter(|method| *method == "PATCH").count(), 1);
}

#[test]
fn late_answers_change_nothing() {
    let server = web();
    server.fault(sent(), Effect::Delay(Duration::from_millis(200)));
    let output = run(&server, APPLY).ends_with(0);
    output.prints("Updated 3 pods in place");
    assert_eq!(patches(&server).len(), 3);
}

#[test]
fn a_server_that_fails_while_the_plan_is_made_is_an_error() {
    for (effect, text) in [
        (Effect::Unavailable, "the server failed (503)"),
        (Effect::CloseBefore, "the connection to the server was lost"),
        (Effect::TimeOutAfterwards, "Timeout"),
    ] {
        let server = web();
        server.fault(asked(), effect);
        run(&server, APPLY).ends_with(1).says(text);
        assert!(server.writes().is_empty());
    }
}

#[test]
fn a_watch_that_breaks_is_reported_and_comes_back() {
    let server = web();
    server.fault(When::verb("watch").of("pods").times(1), Effect::Expire);
    let output = run(&server, APPLY).ends_with(0).says("the watch broke").says("the watch is back");
    assert_eq!(output.stderr.matches("the watch broke").count(), 1, "{}", output.stderr);
    assert_eq!(patches(&server).len(), 3);
    // A stream that only ends is taken up again where it stood: nothing was missed, and nothing is said.
    for events in [1, 4] {
        let server = web();
        server.fault(When::verb("watch").of("pods").times(2), Effect::CutWatch(events));
        run(&server, APPLY).ends_with(0).omits("the watch broke");
        assert_eq!(patches(&server).len(), 3);
    }
}

#[test]
fn a_watch_that_is_refused_for_a_while_is_reported_once_and_comes_back() {
    let server = web();
    server.fault(When::verb("watch").of("pods").times(3), Effect::Unavailable);
    let output = run(&server, APPLY).ends_with(0).says("the watch broke").says("the watch is back");
    assert!(output.stderr.contains("503") || output.stderr.contains("unable to handle"), "{}", output.stderr);
    assert_eq!(images(&server, "side"), ["acme/side:v2"; 3]);
}

#[test]
fn an_event_that_cannot_be_read_is_said_to_be_that() {
    let server = web();
    server.pause_kubelet(true);
    let running = typed(&server, APPLY).spawn();
    running.wait_for_stderr("patch sent");
    let last = pods(&server)[2].clone();
    server.edit("pods", &last, |pod| pod["spec"]["containers"] = "none".into());
    running.wait_for_stderr("could not be read");
    running.signal("INT");
    running.wait().ends_with(130);
}

#[test]
fn a_list_that_fails_before_the_watch_is_tried_again() {
    let server = web();
    // The plan lists once; the watch begins with a list of its own, which is tried three times at once.
    server.fault(When::verb("list").of("pods").after(1).times(4), Effect::Unavailable);
    run(&server, &format!("{APPLY} --pre-pull=never")).ends_with(0).says("the watch broke").says("the watch is back");
}

#[test]
fn connections_that_drop_all_at_once_cost_nothing_but_time() {
    let server = web();
    server.kubelet(Times { restart: Duration::from_millis(150), ..Times::default() });
    let running = typed(&server, APPLY).spawn();
    for count in 1..=3 {
        clock::eventually("a patch", || (patches(&server).len() >= count).then_some(()));
        server.drop_connections();
    }
    running.wait().ends_with(0).prints("Updated 3 pods in place");
    let mut names = patched(&server);
    names.dedup();
    assert_eq!(names, pods(&server));
}

#[test]
fn admission_is_heard_before_and_during() {
    let server = web();
    server.fault(asked(), deny("images.acme.example", "only signed images"));
    let plan = run(&server, APPLY).ends_with(3);
    plan.prints("AdmissionRefused")
        .prints("admission webhook \"images.acme.example\" denied the request: only signed images");
    assert!(server.writes().is_empty());
    let server = web();
    server.fault(sent().after(1), deny("images.acme.example", "quota"));
    let output = run(&server, APPLY).ends_with(4);
    let second = pods(&server)[1].clone();
    output.prints("AdmissionRefused").prints("denied the request: quota").prints(&format!("pod/{second}"));
    assert_eq!(patches(&server).len(), 2, "one taken, one refused, none after it");
}

#[test]
fn a_permission_lost_on_the_way_stops_it() {
    let server = web();
    // Not `Forbid`, which the access review would show beforehand.
    let status = json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Forbidden", "code": 403,
        "message": "pods \"web\" is forbidden: User \"u\" cannot patch resource \"pods\" in API group \"\" in the namespace \"default\""});
    server.fault(sent().after(1), Effect::Answer(Answer::json(403, status)));
    run(&server, APPLY).ends_with(4).prints("PermissionMissing").prints("cannot patch resource \"pods\"");
    assert_eq!(patches(&server).len(), 2);
}

#[test]
fn another_writer_is_left_alone() {
    for nth in [0, 1, 2] {
        let server = web();
        let name = pods(&server).get(nth).cloned().unwrap_or_default();
        server.fault(sent().after(nth).times(1), Effect::foreign_image(&name, "side", "acme/side:foreign"));
        let output = run(&server, APPLY).ends_with(6);
        output.prints(&format!("pod/{name}")).prints("acme/side:foreign").prints("No further changes by this run.");
        assert_eq!(patches(&server).len(), nth + 1, "nothing is sent after it");
        assert_eq!(images(&server, "side").get(nth).map(String::as_str), Some("acme/side:foreign"));
    }
}

#[test]
fn another_writer_after_the_patch_is_left_alone_too() {
    let server = web();
    server.kubelet(Times { restart: Duration::from_secs(600), ..Times::default() });
    let running = typed(&server, APPLY).spawn();
    let first = pods(&server)[0].clone();
    server.wait_for("pods", &first, |pod| pod["spec"]["containers"][1]["image"] == "acme/side:v2");
    server.edit("pods", &first, |pod| pod["spec"]["containers"][1]["image"] = "acme/side:foreign".into());
    let output = running.wait().ends_with(6).prints(&format!("pod/{first}")).prints("acme/side:foreign");
    // Both would be against the other client.
    output.omits("Roll back:").omits("Resume:").prints("Follow: kubectl inplace follow");
    assert_eq!(patches(&server).len(), 1);
}

/// As by `kubectl diff`: a write between the two reads is no part of the change; a writer that never stops is shown.
#[test]
fn a_diff_is_of_one_state_of_the_object() {
    for (times, foreign) in [(0, false), (1, false), (3, false), (9, true)] {
        let server = web();
        let label = Effect::First(std::sync::Arc::new(|state| {
            state.edit("deployments", "web", "somebody-else", |web| {
                let labels = &mut web["metadata"]["labels"];
                labels["foreign"] = format!("{}x", labels["foreign"].as_str().unwrap_or_default()).into();
            });
        }));
        if times > 0 {
            server.fault(When::verb("patch").of("deployments").dry_run().times(times), label);
        }
        let manifest = server.object("deployments", "web").expect("there is one")["spec"].clone();
        let mut manifest =
            json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": manifest});
        manifest["spec"]["template"]["spec"]["containers"][1]["image"] = "acme/side:v2".into();
        let output = typed(&server, "diff -f web.json").file("web.json", &manifest.to_string()).run().ends_with(1);
        assert!(output.stdout.contains("acme/side:v2"), "{times}\n{}", output.block());
        assert_eq!(output.stdout.contains("foreign"), foreign, "{times}\n{}", output.block());
    }
}

#[test]
fn a_change_that_is_none_of_ours_does_not_stop_it() {
    let server = web();
    let first = pods(&server)[0].clone();
    let label = Effect::First(std::sync::Arc::new(move |state| {
        state.edit("pods", &first, "somebody-else", |pod| pod["metadata"]["labels"]["x"] = "y".into());
    }));
    server.fault(sent().times(1), label);
    run(&server, APPLY).ends_with(0).prints("Updated 3 pods in place");
}

#[test]
fn a_pod_that_is_gone_ends_it_with_code_6() {
    let server = web();
    let second = pods(&server)[1].clone();
    server.fault(sent().after(1).times(1), Effect::delete_first("pods", &second));
    run(&server, APPLY).ends_with(6).prints(&format!("pod/{second}")).prints("deleted");
    assert_eq!(patches(&server).len(), 2);
    let server = web();
    server.kubelet(Times { restart: Duration::from_secs(600), ..Times::default() });
    let running = typed(&server, APPLY).spawn();
    let first = pods(&server)[0].clone();
    server.wait_for("pods", &first, |pod| pod["spec"]["containers"][1]["image"] == "acme/side:v2");
    server.delete("pods", &first);
    running.wait().ends_with(6).prints(&format!("pod/{first}")).prints("deleted");
    assert_eq!(patches(&server).len(), 1);
}

#[test]
fn a_bad_image_hits_one_pod_and_is_named_with_the_way_back() {
    let cases: [(&str, i32, &[&str]); 4] = [
        ("missing", 4, &["container side (acme/side:missing)", "acme/side:missing: not found"]),
        ("denied", 4, &["container side (acme/side:denied)", "pull access denied"]),
        ("crash", 4, &["container side", "exit code 3"]),
        ("never-ready", 5, &["Timed out", "not ready"]),
    ];
    for (tag, code, texts) in cases {
        let server = web();
        let output =
            run(&server, &format!("apply deploy/web side=:{tag} --pods-only --yes --timeout 5s --pre-pull=never"))
                .ends_with(code);
        assert!(texts.iter().all(|text| output.stdout.contains(text)), "{tag}: {texts:?}\n{}", output.block());
        let first = pods(&server)[0].clone();
        let output = output.prints(&format!("pod/{first}")).prints("2 not started");
        output.prints("Roll back: kubectl inplace apply deployment/web side=acme/side:v1 --pods-only");
        assert_eq!(patched(&server), [first.as_str()], "{tag}");
    }
}

#[test]
fn a_registry_that_comes_back_is_waited_for_and_one_that_does_not_is_reported() {
    let server = web();
    run(&server, "apply deploy/web side=:flaky --pods-only --yes --pre-pull=never")
        .ends_with(0)
        .prints("Updated 3 pods in place");
    let server = web();
    server.kubelet(Times { flaky_pulls: 1000, ..Times::default() });
    let output = run(&server, "apply deploy/web side=:flaky --pods-only --yes --pre-pull=never").ends_with(4);
    output.prints("ImagePullBackOff");
    assert_eq!(patches(&server).len(), 1);
}

#[test]
fn a_good_image_after_a_bad_one_goes_on_from_its_present_step() {
    for bad in ["missing", "crash", "denied"] {
        let server = web();
        run(&server, &format!("apply deploy/web side=:{bad} --pods-only --yes --pre-pull=never")).ends_with(4);
        run(&server, "apply deploy/web side=acme/side:v2 --pods-only --yes")
            .ends_with(0)
            .prints("Updated 3 pods in place");
        assert_eq!(images(&server, "side"), ["acme/side:v2"; 3], "{bad}");
    }
}

#[test]
fn what_was_failed_is_taken_back_by_the_command_that_is_printed() {
    let server = web();
    let output = run(&server, "apply deploy/web side=:missing --pods-only --yes --pre-pull=never").ends_with(4);
    run(&server, &format!("{} --yes", output.after(TAKE_BACK))).ends_with(0);
    assert_eq!(images(&server, "side"), ["acme/side:v1"; 3]);
}

const TAKE_BACK: &str = "Roll back: kubectl inplace ";

#[test]
fn the_way_back_of_chosen_pods_leaves_the_others_alone() {
    let server = web();
    let names = pods(&server);
    server.edit("pods", &names[1], |pod| pod["spec"]["containers"][1]["image"] = "acme/side:v3".into());
    server.wait_for("pods", &names[1], |pod| pod["status"]["containerStatuses"][1]["restartCount"] == 1);
    let apply = format!("apply deploy/web side=:v2 --pods-only --pods {} --yes", names[0]);
    let output = run(&server, &apply).ends_with(0);
    run(&server, &format!("{} --yes", output.after(TAKE_BACK))).ends_with(0);
    assert_eq!(images(&server, "side"), ["acme/side:v1", "acme/side:v3", "acme/side:v1"]);
}

#[test]
fn warnings_of_the_server_are_reported_once() {
    let server = web();
    server.fault(When::verb("patch").of("pods"), Effect::Warn("v1 Pod is \"old\"".to_owned()));
    let output = run(&server, APPLY).ends_with(0);
    assert_eq!(output.stderr.matches("v1 Pod is \"old\"").count(), 1, "{}", output.stderr);
    let output = run(&server, "plan deploy/web side=:v3 -o json").ends_with(0);
    assert!(output.json()["workloads"][0]["warnings"].to_string().contains("ServerWarning"), "{}", output.stdout);
    run(&server, "plan deploy/web side=:v3 --warnings-as-errors").ends_with(1).says("--warnings-as-errors was given");
    run(&server, "plan deploy/web side=:v3 --warnings-as-errors --detailed-exitcode").ends_with(1);
    run(&server, "plan deploy/web side=:v3 --warnings-as-errors=false").ends_with(0);
    server.clear_faults();
    run(&server, "plan deploy/web side=:v3 --warnings-as-errors").ends_with(0);
}

#[test]
fn warnings_of_the_server_break_between_words() {
    let server = web();
    let text = "metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior";
    server.fault(When::verb("patch").of("pods"), Effect::Warn(text.to_owned()));
    let output = typed(&server, "plan deploy/web side=:v3").env("COLUMNS", "40").run().ends_with(0);
    let reported: Vec<&str> = output.stderr.lines().skip_while(|line| !line.starts_with("Warning: metadata")).collect();
    assert!(reported.len() > 2 && reported.iter().all(|line| line.len() <= 40), "{reported:#?}");
    let words: Vec<&str> = reported.iter().flat_map(|line| line.split_whitespace()).collect();
    assert!(words.join(" ").contains(text), "{reported:#?}");
}

/// Runs `apply` with a kubelet that does nothing, and sends signals once the first patch has been taken.
fn interrupted(server: &ApiServer, signal: &str) -> Output {
    server.kubelet(Times { restart: Duration::from_secs(600), ..Times::default() });
    let running = typed(server, APPLY).spawn();
    running.wait_for_stderr("side restarting");
    running.signal(signal);
    running.wait()
}

#[test]
fn a_signal_stops_it_before_the_next_pod() {
    for (signal, code) in [("INT", 130), ("TERM", 143), ("HUP", 143)] {
        let server = web();
        let output = interrupted(&server, signal).ends_with(code);
        output
            .prints("Interrupted")
            .prints("pods already patched will finish restarting")
            .prints("Resume: kubectl inplace apply deploy/web side=acme/side:v2 --pods-only\n")
            .prints("kubectl inplace follow deployment/web");
        assert_eq!(patches(&server).len(), 1, "nothing is sent after the signal");
        server.kubelet(Times::default());
    }
}

#[test]
fn a_run_after_an_interrupt_goes_on_and_patches_no_pod_twice() {
    let server = web();
    server.kubelet(Times { restart: Duration::from_millis(400), ..Times::default() });
    let running = typed(&server, APPLY).spawn();
    running.wait_for_stderr("side restarting");
    running.signal("INT");
    running.wait().ends_with(130);
    server.kubelet(Times::default());
    run(&server, APPLY).ends_with(0);
    assert_eq!(patched(&server), pods(&server), "each once");
}

/// The kernel and the shell both hang up on what runs in a terminal that is closed.
#[test]
fn a_terminal_that_is_closed_is_one_signal() {
    let server = web();
    server.fault(sent(), Effect::Delay(Duration::from_secs(3)));
    let running = typed(&server, APPLY).spawn();
    clock::eventually("the patch", || (!patches(&server).is_empty()).then_some(()));
    running.signal("HUP");
    running.wait_for_stderr("stopping");
    running.signal("HUP");
    running.wait().ends_with(143).prints("Pods: 1 in progress, 2 not started.");
}

#[test]
fn a_second_signal_does_not_wait_for_answers() {
    for (signal, code) in [("INT", 130), ("TERM", 143)] {
        let server = web();
        server.fault(sent(), Effect::Delay(Duration::from_secs(20)));
        let running = typed(&server, APPLY).spawn();
        clock::eventually("the patch", || (!patches(&server).is_empty()).then_some(()));
        running.signal(signal);
        running.wait_for_stderr("stopping");
        let began = clock::now();
        running.signal(signal);
        running.wait().ends_with(code);
        assert!(clock::now().duration_since(began) < Duration::from_secs(2));
        assert_eq!(patches(&server).len(), 1);
    }
}

#[test]
fn an_answer_that_never_comes_does_not_hold_an_interrupt_up() {
    let server = web();
    server.fault(sent(), Effect::Delay(Duration::from_secs(60)));
    let running = typed(&server, APPLY).spawn();
    clock::eventually("the patch", || (!patches(&server).is_empty()).then_some(()));
    let began = clock::now();
    running.signal("INT");
    running.wait().ends_with(130);
    assert!(clock::now().duration_since(began) < Duration::from_secs(8), "five seconds at most");
}

/// Credentials that expire in the middle of a rollout are new for the next request.
#[test]
fn a_write_that_was_not_let_in_is_sent_again_and_a_caller_that_stays_out_runs_out_of_time() {
    let unauthorized = || {
        let status = json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 401,
            "reason": "Unauthorized", "message": "Unauthorized"});
        Effect::Answer(Answer::json(401, status))
    };
    let server = web();
    server.fault(sent().times(1), unauthorized());
    run(&server, APPLY).ends_with(0);
    assert_eq!(images(&server, "side"), ["acme/side:v2"; 3]);
    let server = web();
    server.fault(sent(), unauthorized());
    let output = run(&server, &format!("{APPLY} --timeout 2s")).ends_with(5);
    output.prints("Timed out").says("retrying: You must be logged in to the server");
    assert_eq!(images(&server, "side"), ["acme/side:v1"; 3]);
}
