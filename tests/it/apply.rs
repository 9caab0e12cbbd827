//! `apply`: what it asks, what it sends, in which order, and how it ends.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::api_server::{ApiServer, Times, hex64, image_id};
use crate::support::builders::{self, Workload};
use crate::support::clock;
use crate::support::run::{Binary, Output};
use crate::support::scene::{APPLY, images, patched, patches, probe, run, server_with, two_containers, typed, web};
use crate::support::snapshot::assert_snapshot;

const ASKED: &str = "apply deploy/web side=acme/side:v2 --pods-only";

/// Replaces every value of these keys, which differ from run to run.
fn without_times(value: &mut Value) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                match key.as_str() {
                    "elapsedSeconds" | "downSeconds" | "readySeconds" | "endedAt" | "startedAt" | "id" => {
                        *value = "...".into();
                    }
                    _ => without_times(value),
                }
            }
        }
        Value::Array(all) => all.iter_mut().for_each(without_times),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Status and streams without times; of the lines on stderr those that do not depend on how fast the machine is.
fn steady_block(output: &Output) -> String {
    let steady =
        |line: &&str| !line.starts_with('[') || ["patch sent", "done", "FAILED"].iter().any(|word| line.contains(word));
    let stderr: String = output.stderr.lines().filter(steady).map(|line| format!("{line}\n")).collect();
    let stdout = &output.stdout;
    let code = output.code.unwrap_or(-1);
    output.without_durations(&format!("exit {code}\n----- stdout -----\n{stdout}----- stderr -----\n{stderr}"))
}

#[test]
fn apply_updates_every_pod_and_proves_it() {
    let server = web();
    let before = server.objects("pods");
    let output = run(&server, APPLY).ends_with(0);
    assert_snapshot("apply-text", &steady_block(&output));
    assert_eq!(images(&server, "side"), ["acme/side:v2"; 3]);
    for (before, after) in before.iter().zip(server.objects("pods")) {
        assert_eq!(before["metadata"]["uid"], after["metadata"]["uid"]);
        assert_eq!(
            before["status"]["containerStatuses"][0], after["status"]["containerStatuses"][0],
            "app is untouched"
        );
        assert_eq!(after["status"]["containerStatuses"][1]["restartCount"], 1);
    }
    assert!(server.requests().iter().all(|request| request.method != "PUT" && request.method != "DELETE"));
    let again = run(&server, APPLY).ends_with(0);
    again.prints("No changes.");
    assert_eq!(patches(&server).len(), 3, "the second run sends nothing");
}

#[test]
fn json_is_one_object_a_line_and_the_last_says_how_it_ended() {
    let server = web();
    let output = run(&server, &format!("{APPLY} -o json")).ends_with(0);
    let lines = output.json_lines();
    let phases = |name: &str| -> Vec<String> {
        let of = lines.iter().filter(|line| line["type"] == "pod" && line["pod"]["name"] == name);
        of.map(|line| line["phase"].as_str().unwrap_or_default().to_owned()).collect()
    };
    for pod in server.objects("pods") {
        let phases = phases(pod["metadata"]["name"].as_str().unwrap_or_default());
        assert_eq!(
            (phases.first().map(String::as_str), phases.last().map(String::as_str)),
            (Some("patched"), Some("done"))
        );
    }
    assert!(lines.iter().all(|line| line["version"] == "v1alpha1" && line["elapsedSeconds"].is_number()));
    let mut ends: Vec<Value> = [lines.first(), lines.last()].into_iter().flatten().cloned().collect();
    ends.iter_mut().for_each(without_times);
    let text: Vec<String> = ends.iter().filter_map(|line| serde_json::to_string_pretty(line).ok()).collect();
    assert_snapshot(
        "apply-json",
        &output.without_durations(&format!("{}\n----- stderr -----\n{}", text.join("\n...\n"), output.stderr)),
    );
    let failed = run(&server, "apply deploy/web side=:missing --pods-only --yes -o json --pre-pull=never").ends_with(4);
    let last = failed.json_lines().pop().unwrap_or_default();
    assert_eq!(
        (&last["type"], &last["result"], &last["exitCode"], &last["notStarted"]),
        (&json!("summary"), &json!("failed"), &json!(4), &json!(2))
    );
}

#[test]
fn without_a_terminal_yes_is_required_and_nothing_is_sent() {
    let server = web();
    run(&server, ASKED)
        .ends_with(1)
        .prints("can be updated in place: 3 pods")
        .says("there is no terminal to ask on")
        .says("hint: say --yes");
    // A command to copy is never cut.
    let long = format!("--as {}", "a".repeat(1100));
    run(&server, &format!("{ASKED} {long}")).ends_with(1).says(&format!("--yes {long}\n"));
    run(&server, &format!("{ASKED} --yes=false")).ends_with(1).says("there is no terminal to ask on");
    run(&server, &format!("{ASKED} -o json")).ends_with(1).says("there is no terminal to ask on");
    assert!(server.writes().is_empty(), "{:?}", server.writes());
    run(&server, &format!("{ASKED} -y")).ends_with(0);
}

#[test]
fn a_pod_of_an_owner_needs_pods_only_and_a_bare_pod_does_not() {
    let server = web();
    server.insert(two_containers(Workload::pod("one")).objects());
    let name = pods_of(&server, "web")[0].clone();
    let line = format!("apply pod/{name} side=:v2 --yes");
    for line in [
        line.as_str(),
        &format!("{line} --pods-only=false"),
        &line.replace("apply", "plan").replace("--yes", "--detailed-exitcode"),
    ] {
        run(&server, line).ends_with(3).prints("PodIsControlled").prints("deployment/web").prints("--pods-only");
    }
    assert!(server.writes().is_empty());
    run(&server, "apply pod/one side=:v2 --yes").ends_with(0);
    run(&server, &format!("{line} --pods-only")).ends_with(0);
    assert_eq!(patched(&server), ["one", name.as_str()]);
}

#[test]
fn dry_runs_change_nothing_and_need_no_yes() {
    let server = web();
    for (line, asked) in [("--dry-run=server", 1), ("--dry-run=client", 0), ("--dry-run", 0)] {
        let before = server.requests().iter().filter(|request| request.dry_run).count();
        run(&server, &format!("{ASKED} {line}")).ends_with(0).prints("can be updated in place: 3 pods");
        let after = server.requests().iter().filter(|request| request.dry_run).count();
        assert_eq!(after - before, asked, "{line}");
    }
    assert!(server.writes().is_empty());
}

/// What one patch of a pod of `web` says; `test` comes before every change.
#[test]
fn one_patch_a_pod_tests_everything_it_rests_on() {
    let server = web();
    run(&server, "apply deploy/web side=acme/side:v2 app=:v2 --pods-only --yes").ends_with(0);
    let sent = patches(&server);
    assert_eq!(sent.len(), 3, "one patch a pod, with both containers");
    let (first, pod) = (&sent[0], server.objects("pods")[0].clone());
    let name = pod["metadata"]["name"].as_str().unwrap_or_default();
    assert_eq!(first.to_string(), format!("PATCH /api/v1/namespaces/default/pods/{name} json-patch"));
    assert_eq!(first.parameter("fieldManager"), Some("inplace-cli"));
    assert_eq!(first.query.len(), 1, "{:?}", first.query);
    assert!(first.user_agent.starts_with("kubectl-inplace/"), "{}", first.user_agent);

    let id = |container: &str| format!("containerd://{}", hex64(&format!("{name}/{container}")));
    let owner = pod["metadata"]["ownerReferences"][0]["uid"].clone();
    let mut body = first.json();
    let annotation = body.as_array_mut().and_then(Vec::pop).unwrap_or_default();
    let test = |path: &str, value: Value| json!({"op": "test", "path": path, "value": value});
    let replace = |path: &str, value: &str| json!({"op": "replace", "path": path, "value": value});
    let wanted = json!([
        test("/metadata/uid", pod["metadata"]["uid"].clone()),
        test("/metadata/ownerReferences/0/uid", owner),
        test("/metadata/ownerReferences/0/controller", json!(true)),
        test("/metadata/deletionTimestamp", Value::Null),
        test("/spec/containers/0/name", json!("app")),
        test("/spec/containers/0/image", json!("acme/app:v1")),
        test("/status/containerStatuses/0/name", json!("app")),
        test("/status/containerStatuses/0/containerID", json!(id("app"))),
        replace("/spec/containers/0/image", "acme/app:v2"),
        test("/spec/containers/1/name", json!("side")),
        test("/spec/containers/1/image", json!("acme/side:v1")),
        test("/status/containerStatuses/1/name", json!("side")),
        test("/status/containerStatuses/1/containerID", json!(id("side"))),
        replace("/spec/containers/1/image", "acme/side:v2"),
        test("/metadata/annotations", Value::Null),
    ]);
    assert_eq!(body, wanted);
    assert_eq!((&annotation["op"], &annotation["path"]), (&json!("add"), &json!("/metadata/annotations")));
    let record = annotation["value"]["kubectl-inplace.io/update"].as_str().unwrap_or_default();
    let record: Value = serde_json::from_str(record).expect("the record is JSON");
    let container = |name: &str| {
        let (from, to) = (format!("acme/{name}:v1"), format!("acme/{name}:v2"));
        json!({"from": from, "to": to, "imageID": image_id(&from), "containerID": id(name), "restarts": 0})
    };
    assert_eq!(record["manager"], "inplace-cli");
    assert_eq!(record["containers"], json!({"app": container("app"), "side": container("side")}));
    assert!(record["id"].as_str().is_some_and(|id| !id.is_empty()));
}

#[test]
fn a_second_update_goes_by_the_record_of_the_first_and_names_its_manager() {
    let server = web();
    run(&server, APPLY).ends_with(0);
    run(&server, "apply deploy/web side=:v3 --pods-only --yes --field-manager me").ends_with(0);
    let sent = patches(&server);
    let second = &sent[3];
    assert_eq!(second.parameter("fieldManager"), Some("me"));
    let body = second.json();
    let operations = body.as_array().cloned().unwrap_or_default();
    let path = "/metadata/annotations/kubectl-inplace.io~1update";
    let of =
        |op: &str| operations.iter().find(|one| one["op"] == op && one["path"] == path).cloned().unwrap_or_default();
    assert!(of("test")["value"].as_str().is_some_and(|record| record.contains("acme/side:v1")), "{body}");
    assert!(of("replace")["value"].as_str().is_some_and(|record| record.contains("\"manager\":\"me\"")), "{body}");
}

#[test]
fn every_kind_of_workload_and_a_sidecar_are_updated_in_place() {
    for (line, workload, list) in [
        ("rs/w", Workload::replica_set("w"), "containerStatuses"),
        ("sts/w", Workload::stateful_set("w"), "containerStatuses"),
        ("ds/w", Workload::daemon_set("w").nodes(&["node-a", "node-b"]), "containerStatuses"),
        ("pod/w", Workload::pod("w"), "containerStatuses"),
        ("deploy/w", Workload::deployment("w").sidecar("mesh", "acme/mesh:v1"), "initContainerStatuses"),
    ] {
        let server = server_with([two_containers(workload)]);
        server.insert([builders::node("node-b", "v1.34.0")]);
        let image = if list == "containerStatuses" { "side=:v2" } else { "mesh=:v2" };
        run(&server, &format!("apply {line} {image} --pods-only --yes --min-ready-seconds 0")).ends_with(0);
        let name = image.split('=').next().unwrap_or_default();
        for pod in server.objects("pods") {
            let statuses = pod["status"][list].as_array().cloned().unwrap_or_default();
            let status = statuses.iter().find(|status| status["name"] == name).cloned().unwrap_or_default();
            assert_eq!((&status["restartCount"], &status["ready"]), (&json!(1), &json!(true)), "{line}");
        }
    }
}

#[test]
fn a_sidecar_on_an_old_kubelet_is_refused_by_name() {
    let server = ApiServer::with([builders::node("node-a", "v1.31.4")]);
    server.insert(two_containers(Workload::deployment("w").sidecar("mesh", "acme/mesh:v1")).objects());
    let output = run(&server, "apply deploy/w mesh=:v2 --pods-only --yes").ends_with(3);
    output.prints("SidecarNeedsNewerKubelet").prints("kubelet 1.31");
    assert!(server.writes().is_empty());
}

#[test]
fn another_tag_of_the_same_digest_completes() {
    let server = web();
    run(&server, "apply deploy/web side=:v1-again --pods-only --yes").ends_with(0).prints("Updated 3 pods in place");
    assert_eq!(images(&server, "side"), ["acme/side:v1-again"; 3]);
}

#[test]
fn a_stateful_set_is_taken_from_its_highest_ordinal() {
    let server = server_with([two_containers(Workload::stateful_set("db"))]);
    run(&server, "apply sts/db side=:v2 --pods-only --yes").ends_with(0);
    assert_eq!(patched(&server), ["db-2", "db-1", "db-0"]);
}

fn pods_of(server: &ApiServer, owner: &str) -> Vec<String> {
    let pods = server.objects("pods");
    let names = pods.iter().filter_map(|pod| pod["metadata"]["name"].as_str());
    names.filter(|name| name.starts_with(&format!("{owner}-"))).map(str::to_owned).collect()
}

/// Breaks a pod as a failed probe does.
fn make_unready(server: &ApiServer, name: &str) {
    server.edit("pods", name, |pod| {
        pod["status"]["containerStatuses"][0]["ready"] = false.into();
        for condition in pod["status"]["conditions"].as_array_mut().into_iter().flatten() {
            if condition["type"] == "Ready" || condition["type"] == "ContainersReady" {
                condition["status"] = "False".into();
            }
        }
    });
}

#[test]
fn a_pod_that_is_down_already_goes_first() {
    let server = web();
    let names: Vec<String> =
        server.objects("pods").iter().filter_map(|pod| pod["metadata"]["name"].as_str().map(str::to_owned)).collect();
    make_unready(&server, &names[2]);
    let running = typed(&server, APPLY).spawn();
    server.wait_for("pods", &names[2], |pod| pod["status"]["containerStatuses"][1]["restartCount"] == 1);
    assert_eq!(patched(&server), [names[2].as_str()], "the others wait: it is down, and one may be");
    server.edit("pods", &names[2], |pod| {
        pod["status"]["containerStatuses"][0]["ready"] = true.into();
        for condition in pod["status"]["conditions"].as_array_mut().into_iter().flatten() {
            condition["status"] = "True".into();
        }
    });
    running.wait().ends_with(0);
    assert_eq!(patched(&server), [names[2].as_str(), &names[0], &names[1]]);
}

/// The most pods that were patched and not done at one time, as a watcher of its own sees it.
fn most_at_once(server: &ApiServer, line: &str) -> (usize, Output) {
    server.kubelet(Times { restart: Duration::from_millis(80), ..Times::default() });
    let id = |pod: &Value| pod["status"]["containerStatuses"][1]["containerID"].clone();
    let name = |pod: &Value| pod["metadata"]["name"].as_str().unwrap_or_default().to_owned();
    let before: BTreeMap<String, Value> = server.objects("pods").iter().map(|pod| (name(pod), id(pod))).collect();
    let is_in_progress = |pod: &&Value| {
        let status = &pod["status"]["containerStatuses"][1];
        let is_new = before.get(&name(pod)).is_some_and(|before| *before != id(pod));
        pod["spec"]["containers"][1]["image"] == "acme/side:v2" && !(is_new && status["ready"] == true)
    };
    let running = typed(server, line).spawn();
    let mut most = 0;
    let all_done = |server: &ApiServer| images(server, "side").iter().all(|image| image == "acme/side:v2");
    clock::eventually("every pod to be patched", || {
        most = most.max(server.objects("pods").iter().filter(is_in_progress).count());
        all_done(server).then_some(())
    });
    (most, running.wait())
}

#[test]
fn no_more_pods_are_down_than_may_be() {
    for (flags, most) in [("--max-unavailable 2", 2), ("--max-unavailable 50%", 3), ("", 1), ("--max-unavailable=1", 1)]
    {
        let server = server_with([two_containers(Workload::deployment("web")).replicas(6)]);
        let (seen, output) = most_at_once(&server, &format!("{APPLY} --min-ready-seconds 0 {flags}"));
        output.ends_with(0).prints("Updated 6 pods in place");
        assert_eq!(seen, most, "{flags}: all that may be down at once are, and never more");
    }
}

#[test]
fn the_owners_max_unavailable_counts_and_its_zero_is_refused() {
    let strategy = |most: Value| json!({"strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": most, "maxSurge": 1}}});
    let deployment = |most| two_containers(Workload::deployment("web")).replicas(4).spec(&strategy(most));
    let server = server_with([deployment(json!("50%"))]);
    let (seen, output) = most_at_once(&server, &format!("{APPLY} --min-ready-seconds 0"));
    output.ends_with(0);
    assert_eq!(seen, 2);
    let server = server_with([deployment(json!(0))]);
    run(&server, APPLY).ends_with(3).prints("NoUnavailabilityAllowed").prints("--max-unavailable 1");
    assert!(server.writes().is_empty());
    run(&server, &format!("{APPLY} --max-unavailable 1")).ends_with(0);
}

#[test]
fn the_first_pod_without_a_probe_is_a_canary_unless_the_hold_is_given() {
    let server = server_with([Workload::deployment("web").container("side", "acme/side:v1")]);
    let began = clock::now();
    run(&server, &format!("{APPLY} --min-ready-seconds 1")).ends_with(0);
    let took = clock::now().duration_since(began);
    assert!(took >= Duration::from_secs(3), "a second for each of three pods: {took:?}");
    let running = typed(&server, "apply deploy/web side=:v3 --pods-only --yes").spawn();
    running.wait_for_stderr("stabilizing for 5 s");
    assert_eq!(patches(&server).len(), 4, "no other pod before the first has proven itself");
    running.signal("INT");
    running.wait().ends_with(130);
}

#[test]
fn a_slow_pod_times_out_with_code_5() {
    let server = web();
    server.kubelet(Times { restart: Duration::from_secs(600), ..Times::default() });
    let output = run(&server, &format!("{APPLY} --timeout 1s")).ends_with(5);
    output.prints("Timed out").prints("Roll back: kubectl inplace apply deployment/web side=acme/side:v1 --pods-only");
    assert_eq!(patches(&server).len(), 1);
    // As kubectl rollout status has it.
    run(&web(), &format!("{APPLY} --timeout 0 --total-timeout 0s")).ends_with(0);
    let server = web();
    server.kubelet(Times { restart: Duration::from_millis(700), ..Times::default() });
    run(&server, &format!("{APPLY} --total-timeout 1s")).ends_with(5).prints("--total-timeout");
    assert!(patches(&server).len() < 3);
}

#[test]
fn several_workloads_follow_each_other_and_the_first_failure_is_the_last() {
    let both =
        || server_with([two_containers(Workload::deployment("web")), two_containers(Workload::stateful_set("db"))]);
    let server = both();
    let output = run(&server, "apply deploy/web sts/db side=:v2 --pods-only --yes").ends_with(0);
    assert_eq!(output.stdout.matches("Updated 3 pods in place").count(), 2, "{}", output.stdout);
    assert_eq!(patched(&server).iter().filter(|name| name.starts_with("db-")).count(), 3);
    let server = both();
    run(&server, "apply deploy/web sts/db side=:missing --pods-only --yes --pre-pull=never").ends_with(4);
    assert_eq!(patches(&server).len(), 1);
}

#[test]
fn follow_refuses_a_name_that_no_pod_has_a_container_of() {
    let server = web();
    for line in ["follow deploy/web sid=:v2", "follow deploy/web side=:v1 sid=:v2"] {
        let output = run(&server, line).ends_with(1);
        assert!(output.stderr.contains("there is no container sid; there are"), "{line}\n{}", output.stderr);
        assert!(output.stderr.contains("did you mean side?"), "{line}\n{}", output.stderr);
    }
}

fn answer(server: &ApiServer, typed_in: &str) -> Output {
    let mut running = Binary::against(server, ASKED.split(' ')).on_a_terminal().spawn();
    running.wait_for_stdout("Only 'yes' will be accepted to approve");
    running.type_in(typed_in);
    running.wait()
}

#[test]
fn only_a_whole_yes_on_a_terminal_approves() {
    let server = web();
    for typed_in in ["y\r", "YES\r", " yes\r", "yes \r", "yes please\r", "\r", "no\r", "\u{4}", "yes\u{4}\u{4}"] {
        let output = answer(&server, typed_in).ends_with(1);
        assert!(output.stdout.contains("not approved: nothing was changed"), "{typed_in:?}\n{}", output.block());
    }
    assert!(server.writes().is_empty(), "{:?}", server.writes());
    let output = answer(&server, "yes\r").ends_with(0);
    let question = format!("Update 3 pods in place, in context fake (server {})?", server.url());
    assert!(
        output.stdout.contains(&question) && output.stdout.contains("Updated 3 pods in place"),
        "{}",
        output.stdout
    );
    assert_eq!(patches(&server).len(), 3);
}

#[test]
fn ctrl_c_at_the_question_changes_nothing() {
    let server = web();
    answer(&server, "\u{3}").ends_with(130).prints("not approved: nothing was changed");
    assert!(server.writes().is_empty());
}

#[test]
fn a_manifest_on_standard_input_is_approved_on_the_terminal() {
    let server = web();
    let manifest = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
        "spec": {"template": {"spec": {"containers": [{"name": "side", "image": "acme/side:v2"}]}}}});
    let run = |line: &str| typed(&server, line).stdin(manifest.to_string().as_bytes()).run();
    run("apply -f - --pods-only").ends_with(1).says("there is no terminal to ask on");
    assert!(server.writes().is_empty());
    for (answer, code) in [("no\n", 1), ("yes\n", 0)] {
        let asked = typed(&server, "apply -f - --pods-only").file("web.json", &manifest.to_string());
        let mut running = asked.on_a_terminal_reading("web.json").spawn();
        running.wait_for_stdout("Only 'yes' will be accepted to approve");
        running.type_in(answer);
        running.wait().ends_with(code);
    }
    assert_eq!(images(&server, "side"), ["acme/side:v2"; 3]);
}

#[test]
fn a_pod_whose_container_has_no_probe_is_said_to_have_none() {
    let server = server_with([Workload::deployment("web")
        .container_with("app", "acme/app:v1", probe())
        .container("side", "acme/side:v1")]);
    run(&server, "plan deploy/web side=:v2").ends_with(0).omits("NoReadinessProbe");
    // The Service sends to a port that no container declares: the first one is taken for it.
    server.insert([json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web", "namespace": "default"},
        "spec": {"selector": {"app": "web"}, "ports": [{"port": 80}]}})]);
    run(&server, "plan deploy/web side=:v2").ends_with(0).omits("NoReadinessProbe");
    server.edit("services", "web", |service| service["spec"]["ports"][0]["targetPort"] = 9090.into());
    for pod in pods_of(&server, "web") {
        server.edit("pods", &pod, |pod| pod["spec"]["containers"][1]["ports"] = json!([{"containerPort": 9090}]));
    }
    run(&server, "plan deploy/web side=:v2").ends_with(0).says("NoReadinessProbe");
    run(&server, "plan deploy/web app=:v2").ends_with(0).omits("NoReadinessProbe");
}

#[test]
fn pods_that_came_from_different_images_go_back_each_to_its_own() {
    let server = web();
    let name = server.objects("pods")[1]["metadata"]["name"].as_str().expect("a name").to_owned();
    server.edit("pods", &name, |pod| pod["spec"]["containers"][1]["image"] = "acme/side:v0".into());
    server.wait_for("pods", &name, |pod| pod["status"]["containerStatuses"][1]["restartCount"] == 1);
    let output = run(&server, APPLY).ends_with(0).prints("Roll back: kubectl inplace apply pod/");
    let output = output.prints(&format!("kubectl inplace apply pod/{name} side=acme/side:v0 --pods-only"));
    output.prints(" && ").prints(" side=acme/side:v1 --pods-only");
}
