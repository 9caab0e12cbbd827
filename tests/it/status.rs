//! `status`: what runs, what is asked, what is on its way, failed, drifted or held; and that it only reads.

use serde_json::{Value, json};

use crate::support::api_server::{Answer, ApiServer, Effect, When};
use crate::support::builders::Workload;
use crate::support::clock;
use crate::support::scene::{run, server_with, two_containers, typed, web};

/// A lock as a rollout writes it.
pub(crate) fn lock(state: &str) -> String {
    json!({"id": "20260301-120000-0000aa", "run": "r", "who": "jane", "since": "2026-03-01T12:00:00Z",
        "version": "0.1.0", "state": state, "direction": "forward", "reason": "a CVE",
        "change": {"images": {"side": {"from": "acme/side:v1", "to": "acme/side:v2"}}},
        "policy": {"maxUnavailable": 1, "minReadySecondsGiven": null, "ownerMinReadySeconds": 0, "timeoutGiven": null,
            "totalTimeout": null, "ordered": false}})
    .to_string()
}

pub(crate) fn annotate(server: &ApiServer, resource: &str, name: &str, key: &str, value: &str) {
    server.edit(resource, name, |object| object["metadata"]["annotations"][key] = value.into());
}

fn pod_names(server: &ApiServer) -> Vec<String> {
    let names = server.objects("pods");
    names.iter().map(|pod| pod["metadata"]["name"].as_str().unwrap_or_default().to_owned()).collect()
}

fn set_image(server: &ApiServer, pod: &str, image: &str) {
    server.edit("pods", pod, |pod| pod["spec"]["containers"][1]["image"] = image.into());
}

#[test]
fn one_read_shows_what_runs_what_is_asked_and_who_holds_it() {
    let server = web();
    server.pause_kubelet(true);
    let names = pod_names(&server);
    set_image(&server, &names[0], "acme/side:v2");
    server.edit("deployments", "web", |owner| {
        owner["spec"]["template"]["spec"]["containers"][1]["image"] = "acme/side:v2".into();
    });
    annotate(&server, "deployments", "web", "kubectl-inplace.io/rollout", &lock("stopped"));
    let output = run(&server, "status deploy/web").ends_with(0);
    let output = output
        .prints("deployment/web  namespace default   3 pods: 2 pending, 1 updating")
        .prints("rollout in progress: \"20260301-120000-0000aa\", started by jane ")
        .prints("side: acme/side v1 -> v2")
        .prints("reason: a CVE")
        .prints(" ago, stopped\n")
        .prints("Resume: kubectl inplace resume deployment/web")
        .prints("Roll back: kubectl inplace abort deployment/web")
        .prints("; pending");
    assert_eq!(output.stderr, "");
    let document = run(&server, "status deploy web -o json").ends_with(0).json();
    let workload = &document["workloads"][0];
    assert_eq!((&workload["summary"]["updating"], &workload["summary"]["pending"]), (&json!(1), &json!(2)));
    assert_eq!((&workload["held"]["who"], &workload["held"]["state"]), (&json!("jane"), &json!("stopped")));
    assert!(server.writes().is_empty(), "{:?}", server.writes());
}

#[test]
fn an_update_of_pods_alone_is_a_drift_with_its_record() {
    let server = web();
    run(&server, "apply deploy/web side=acme/side:v2 --pods-only --yes --min-ready-seconds 0").ends_with(0);
    let output = run(&server, "status deploy/web -o wide").ends_with(0);
    output.prints("3 pods: 3 drifted").prints("drifted from the template").prints("node-a").prints("acme/side:v1");
    let pod = run(&server, "status deploy/web -o json").ends_with(0).json()["workloads"][0]["pods"][0].clone();
    let side = &pod["containers"][1];
    assert!(pod["update"].is_string(), "{pod}");
    assert_eq!((&side["condition"], &side["comparison"]), (&json!("ready"), &json!("drifted")));
    assert_eq!((&side["asked"], &side["before"]), (&json!("acme/side:v1"), &json!("acme/side:v1")));
}

#[test]
fn a_failure_has_its_reason() {
    let server = web();
    let names = pod_names(&server);
    set_image(&server, &names[1], "acme/side:missing");
    // After the first failed pull a kubelet shows CrashLoopBackOff for a while, which is no proof; from the second on it is.
    server.wait_for("pods", &names[1], |pod| pod["status"].to_string().contains("ImagePullBackOff"));
    let output = run(&server, "status deploy/web").ends_with(0);
    output.prints("1 failed").prints("FAILED: ").prints("acme/side:missing");
}

#[test]
fn without_a_target_trouble_is_shown_and_the_rest_counted() {
    let server = server_with([
        two_containers(Workload::deployment("web")),
        two_containers(Workload::daemon_set("log")),
        two_containers(Workload::stateful_set("db").namespace("data")),
        two_containers(Workload::replica_set("own")),
        two_containers(Workload::pod("alone")),
    ]);
    let quiet = run(&server, "status").ends_with(0);
    let lines: Vec<&str> = quiet.stdout.lines().collect();
    let begin = ["deployment/web", "daemonset/log", "replicaset/own", "pod/alone"];
    assert!(
        lines.len() == 5 && lines.iter().skip(1).zip(begin).all(|(line, begin)| line.trim().starts_with(begin)),
        "{lines:?}"
    );
    annotate(&server, "statefulsets", "db", "kubectl-inplace.io/rollout", "{\"edited\u{1b}[2J");
    run(&server, "status").ends_with(0).omits("statefulset");
    let all = run(&server, "status -A").ends_with(0);
    all.prints("statefulset/db  namespace data")
        .prints("unreadable lock: it was made by another version")
        .prints("db-0")
        .prints("4 other workloads are up to date.");
    let document = run(&server, "status -A -o json").ends_with(0).json();
    let named: Vec<String> = document["workloads"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|one| format!("{} {} {}", one["workload"]["name"], one["notable"], one["summary"]["pods"]))
        .collect();
    let expected = ["\"db\" true 3", "\"web\" false 3", "\"log\" false 1", "\"own\" false 3", "\"alone\" false 1"];
    assert_eq!(named, expected);
    let names = run(&server, "status -A -o name").ends_with(0).stdout;
    assert!(names.starts_with("statefulset.apps/db --namespace=data\n") && names.lines().count() == 5, "{names}");
}

#[test]
fn everything_is_read_with_one_list_a_kind() {
    let server = server_with((0..20).map(|number| two_containers(Workload::deployment(&format!("web-{number}")))));
    run(&server, "status -A").ends_with(0);
    let requests: Vec<String> = server.requests().iter().map(|request| request.path.clone()).collect();
    assert_eq!(requests.len(), 10, "{requests:?}");
}

#[test]
fn targets_are_named_as_everywhere() {
    let server = web();
    server.insert(two_containers(Workload::daemon_set("log").namespace("other")).objects());
    run(&server, "status deploy,ds -l app=log -A -o name")
        .ends_with(0)
        .prints("daemonset.apps/log --namespace=other\n");
    run(&server, "status deploy/web side=acme/side:v2").ends_with(1).says("takes workloads alone");
    run(&server, "status deploy/none").ends_with(1).says("not found");
    // Existing objects are shown beside the errors, as kubectl get does.
    for command in ["status", "history", "status -w"] {
        let line = format!("{command} deploy/web deploy/none deploy/nope");
        let reported = run(&server, &line).ends_with(1).prints("deployment/web").says("\"none\" not found");
        reported.says("\"nope\" not found");
    }
    run(&server, "status deploy -l app=none").ends_with(0).says("No resources found in default namespace.\n");
    // Without a namespace kubectl writes no full stop.
    run(&server, "status deploy -A -l app=none").ends_with(0).says("No resources found\n");
    run(&server, "status deploy").ends_with(0).prints("deployment/web");
    run(&server, "history deploy").ends_with(0);
    run(&server, "status deploy --all").ends_with(0).prints("deployment/web");
    run(&server, "status -l app=web").ends_with(0).prints("deployment/web");
    run(&server, "status deploy/web -A").ends_with(1);
    run(&server, "status deploy/web -o markdown").ends_with(1).says("allowed formats are: text,wide,json,yaml,name\n");
    let manifest = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}}).to_string();
    typed(&server, "status -f web.yaml").file("web.yaml", &manifest).run().ends_with(0).prints("deployment/web");
    run(&server, "status -n empty").ends_with(0).says("No resources found in empty namespace.");
}

#[test]
fn what_may_not_be_read_is_named_and_the_rest_shown() {
    let server = web();
    server.fault(When::verb("list").of("replicasets"), Effect::Forbid);
    for line in ["status deploy/web", "status -o wide"] {
        run(&server, line).ends_with(0).omits("of an older revision").prints("3 pods: 3 ready");
    }
    run(&server, "status deploy/web").ends_with(0).prints("not read: you may not list replicasets");
    server.clear_faults();
    server.fault(When::verb("list").of("daemonsets"), Effect::Forbid);
    let output = run(&server, "status").ends_with(0);
    let output = output.prints("deployment/web").prints("\nnot read: the daemonsets could not be listed");
    assert_eq!(output.stderr, "", "it is said once");
    run(&server, "status -o name").ends_with(0).says("the daemonsets could not be listed");
    // What is not known is not up to date, and a workload that needs a look is the better answer.
    run(&server, "status --exit-code").ends_with(1);
    run(&server, "status --watch --exit-code").ends_with(1).says("cannot be used with");
    annotate(&server, "deployments", "web", "kubectl-inplace.io/rollout", &lock("stopped"));
    let others = run(&server, "status --exit-code").ends_with(2);
    others.prints("deployment/web  namespace default").prints("not read: the daemonsets could not be listed");
    server.edit("deployments", "web", |owner| owner["metadata"]["annotations"] = json!({}));
    let document = run(&server, "status -o json").ends_with(0).json();
    assert!(document["notRead"][0].as_str().is_some_and(|text| text.contains("daemonsets")), "{document}");
    let server = web();
    server.fault(When::verb("list").of("pods"), Effect::Forbid);
    run(&server, "status deploy/web").ends_with(0).prints("not read: you may not list pods");
    run(&server, "status deploy/web --exit-code").ends_with(1);
    run(&server, "status").ends_with(1).says("Forbidden");
}

#[test]
fn what_an_unfinished_rollout_waits_for_is_not_known_without_the_budgets() {
    let server = web();
    let lock = lock("stopped").replace("\"ordered\":false", "\"ordered\":false,\"respectsBudgets\":true");
    annotate(&server, "deployments", "web", "kubectl-inplace.io/rollout", &lock);
    server.fault(When::verb("list").of("poddisruptionbudgets"), Effect::Forbid);
    run(&server, "status deploy/web").ends_with(0).prints("not read: the PodDisruptionBudgets could not be read");
    server.clear_faults();
    server.edit("deployments", "web", |owner| owner["metadata"]["annotations"] = json!({}));
    run(&server, "resume deploy/web --yes").says("no rollout of kubectl-inplace is in progress or unfinished\n");
    server.fault(When::verb("list").of("replicasets"), Effect::Forbid);
    let unread = "or unfinished, as far as it could be read: you are not allowed to list replicasets.apps\n";
    run(&server, "resume deploy/web --yes").says(unread);
}

#[test]
fn of_what_may_not_be_listed_it_is_not_said_that_there_is_none() {
    let server = web();
    for kind in ["deployments", "statefulsets", "daemonsets", "replicasets", "controllerrevisions"] {
        server.fault(When::verb("list").of(kind), Effect::Forbid);
    }
    for line in ["status", "status -A", "status -o json", "status -o name"] {
        let output =
            run(&server, line).ends_with(1).says("Error from server (Forbidden): ").omits("No resources found");
        assert_eq!(output.stdout, "");
    }
    // One kind is enough: what was found is none, and the rest is not known.
    let empty = server_with([]);
    empty.fault(When::verb("list").of("statefulsets"), Effect::Forbid);
    run(&empty, "status").ends_with(1).says("Forbidden");
}

#[test]
fn a_watch_shows_what_changes_once_and_ends_with_the_signal() {
    for (signal, code) in [("INT", 130), ("TERM", 143)] {
        let server = web();
        server.pause_kubelet(true);
        let running = typed(&server, "status deploy/web -w").spawn();
        running.wait_for_stdout("3 pods: 3 ready");
        let names = pod_names(&server);
        set_image(&server, &names[0], "acme/side:v2");
        running.wait_for_stdout("1 updating");
        running.signal(signal);
        let output = running.wait().ends_with(code);
        assert_eq!(output.stdout.matches("deployment/web").count(), 2, "{}", output.stdout);
        assert!(server.writes().is_empty(), "{:?}", server.writes());
    }
}

#[test]
fn a_watch_outlives_a_server_that_is_away_but_not_its_target() {
    let server = web();
    let running = typed(&server, "status deploy/web -w -o name").spawn();
    running.wait_for_stdout("deployment.apps/web");
    server.delete("deployments", "web");
    running.wait().ends_with(1).says("not found");
    server.insert(two_containers(Workload::daemon_set("log")).objects());
    let running = typed(&server, "status ds/log -w").spawn();
    running.wait_for_stdout("1 pod: 1 ready");
    server.fault(When::verb("get").of("daemonsets"), Effect::Unavailable);
    running.wait_for_stderr("looking again");
    running.signal("INT");
    running.wait().ends_with(130);
    server.clear_faults();
    let running = typed(&server, "status -w").spawn();
    running.wait_for_stdout("daemonset/log");
    server.fault(When::verb("list").of("pods"), Effect::Unavailable);
    running.wait_for_stderr("looking again");
    server.clear_faults();
    server.insert(two_containers(Workload::pod("alone")).objects());
    running.wait_for_stdout("pod/alone");
    running.signal("INT");
    running.wait().ends_with(130);
}

#[test]
fn on_a_terminal_a_watch_is_drawn_in_its_place() {
    let server = web();
    server.pause_kubelet(true);
    let mut running = typed(&server, "status deploy/web -w").on_a_terminal().spawn();
    running.wait_for_stdout("3 pods: 3 ready");
    let names = pod_names(&server);
    set_image(&server, &names[0], "acme/side:v2");
    running.wait_for_stdout("1 updating");
    running.type_in("\u{3}");
    let output = running.wait().ends_with(130);
    assert!(output.stdout.contains("\u{1b}[") && !output.stdout.contains("\u{1b}[2J"), "{:?}", output.stdout);
    // Once more, below what was cleared.
    let (_, left) =
        output.stdout.rsplit_once("\u{1b}[2K").or(output.stdout.rsplit_once("\u{1b}[0K")).unwrap_or_default();
    assert_eq!(left.matches("1 updating").count(), 1, "{:?}", output.stdout);
}

#[test]
fn yaml_is_the_json_document() {
    let server = web();
    let json = run(&server, "status deploy/web -o json").ends_with(0).json();
    let yaml = run(&server, "status deploy/web -o yaml").ends_with(0);
    let named = format!("{}metadata: {{name: status}}\n", yaml.stdout);
    let mut object: Value =
        kubectl_inplace::manifest::parse("status.yaml", named.as_bytes()).expect("YAML").remove(0).object;
    object.as_object_mut().expect("a document").shift_remove("metadata");
    assert_eq!(object, json);
}

/// Takes from the pods' managed fields what nobody's request has set: `side` was injected, and admission took a second.
fn injected(server: &ApiServer) {
    for pod in pod_names(server) {
        server.edit("pods", &pod, |pod| {
            let entry = &mut pod["metadata"]["managedFields"][0];
            entry["time"] = "2020-01-01T00:00:00Z".into();
            let containers = entry["fieldsV1"]["f:spec"]["f:containers"].as_object_mut();
            containers.into_iter().for_each(|containers| containers.retain(|key, _| !key.contains("side")));
        });
    }
}

/// The server's answer to a pod that is created by a dry run, with this image of `side`.
fn makes(server: &ApiServer, image: &str) {
    let mut pod = server.objects("pods").remove(0);
    pod["spec"]["containers"][1]["image"] = image.into();
    server.fault(When::verb("create").of("pods").dry_run(), Effect::Answer(Answer::json(201, pod)));
}

/// The states of the pods, and the exit code of those that ask for trouble.
fn states(server: &ApiServer) -> (Vec<Value>, i32) {
    let document = run(server, "status deploy/web -o json").ends_with(0).json();
    let pods = document["workloads"][0]["pods"].as_array().cloned().unwrap_or_default();
    let code = run(server, "status deploy/web --exit-code").code.unwrap_or_default();
    (pods.iter().map(|pod| pod["state"].clone()).collect(), code)
}

/// What two runs say at the same time does not depend on their clocks: one is right, the others are an hour off.
#[test]
fn what_admission_has_made_of_pods_is_verified_and_no_drift_whatever_the_clock_of_a_run() {
    let server = web();
    injected(&server);
    let wrong_clocks = [0, 3600, -3600];
    for ahead in wrong_clocks {
        server.set_clock(ahead);
        assert_eq!(states(&server), (vec![json!("ready"); 3], 0), "injected, {ahead}");
        run(&server, "follow deploy/web --timeout 5s").ends_with(0).prints("Complete:");
    }
    // A mirror: the template has another image than all of its pods, and nobody has set that.
    server.edit("deployments", "web", |owner| {
        owner["spec"]["template"]["spec"]["containers"][1]["image"] = "registry.example/side:v1".into();
        owner["status"]["observedGeneration"] = 2.into();
    });
    for ahead in wrong_clocks {
        server.set_clock(ahead);
        server.clear_faults();
        assert_eq!(states(&server), (vec![json!("drifted"); 3], 2), "changed by hand, {ahead}");
        makes(&server, "acme/side:v1");
        assert_eq!(states(&server), (vec![json!("ready"); 3], 0), "rewritten, {ahead}");
        let text = run(&server, "status deploy/web").ends_with(0).omits("drifted").omits("kubectl inplace");
        assert_eq!(
            text.stdout.matches("rewritten by admission: side: registry.example/side:v1 -> acme/side:v1").count(),
            1
        );
        run(&server, "follow deploy/web --timeout 5s").ends_with(0).omits("the template of");
    }
    server.set_clock(0);
    // Every look of a watch asks the same question: it is asked once.
    let sent = |method: &str| {
        server.requests().iter().filter(|one| one.method == method && one.path.ends_with("/pods")).count()
    };
    let (asked, looked) = (sent("POST"), sent("GET"));
    let watching = typed(&server, "status deploy/web -w").spawn();
    watching.wait_for_stdout("rewritten by admission");
    clock::eventually("a third look", || (sent("GET") >= looked + 3).then_some(()));
    watching.signal("INT");
    watching.wait().ends_with(130);
    assert_eq!(sent("POST") - asked, 1);
    assert!(server.writes().is_empty(), "{:?}", server.writes());
    // Who may not create pods does not learn it, and is given no command that may be refused.
    server.clear_faults();
    server.fault(When::verb("create").of("pods"), Effect::Forbid);
    run(&server, "status deploy/web")
        .ends_with(0)
        .prints("3 drifted")
        .prints("not known whether its admission")
        .omits("kubectl inplace");
    run(&server, "status deploy/web --exit-code").ends_with(1);
}
