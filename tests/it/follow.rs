//! `follow`: watches updates of its own and of others, believes nothing without evidence, and changes nothing.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::api_server::{ApiServer, Times};
use crate::support::builders::Workload;
use crate::support::scene::{APPLY, patches, run, server_with, two_containers, typed, web};

/// Sets the image of `side` in every pod, as `kubectl set image` would.
fn set_elsewhere(server: &ApiServer, image: &str) {
    for pod in server.objects("pods") {
        let name = pod["metadata"]["name"].as_str().unwrap_or_default();
        server.edit("pods", name, |pod| pod["spec"]["containers"][1]["image"] = image.into());
    }
}

/// A kubelet whose containers start in a later second than the one in which their image was set.
fn slower(server: &ApiServer) {
    server.kubelet(Times { restart: Duration::from_millis(1100), ..Times::default() });
}

fn wrote_nothing(server: &ApiServer) {
    assert!(server.writes().is_empty(), "{:?}", server.writes());
}

#[test]
fn an_update_of_its_own_is_followed_by_its_record() {
    let server = web();
    server.kubelet(Times { restart: Duration::from_millis(500), ..Times::default() });
    let first = typed(&server, APPLY).spawn();
    first.wait_for_stderr("patch sent");
    let name = server.objects("pods")[0]["metadata"]["name"].as_str().unwrap_or_default().to_owned();
    server.wait_for("pods", &name, |pod| pod["spec"]["containers"][1]["image"] == "acme/side:v2");
    first.signal("INT");
    first.wait().ends_with(130);
    run(&server, "follow pod/none").ends_with(1).says("not found");
    let output = run(&server, &format!("follow pod/{name} --min-ready-seconds 0")).ends_with(0);
    output.prints("Complete:").prints("Restarted: side in 1 pod");
    assert_eq!(patches(&server).len(), 1, "following sent nothing");
}

#[test]
fn somebody_elses_update_is_followed_by_managed_fields() {
    let server = web();
    slower(&server);
    set_elsewhere(&server, "acme/side:v2");
    let output = run(&server, "follow deploy/web --min-ready-seconds 0").ends_with(0);
    output.prints("Complete: deployment/web: 3 pods");
    wrote_nothing(&server);
}

#[test]
fn what_cannot_be_proven_is_never_done() {
    let server = server_with([two_containers(Workload::pod("one"))]);
    slower(&server);
    server.edit("pods", "one", |pod| pod["spec"]["containers"][1]["image"] = "acme/side:v2".into());
    server.wait_for("pods", "one", |pod| pod["status"]["containerStatuses"][1]["restartCount"] == 1);
    server.edit("pods", "one", |pod| pod["metadata"]["managedFields"] = json!([]));
    let pod = server.object("pods", "one").unwrap_or_default();
    assert!(!pod["metadata"]["managedFields"].to_string().contains("f:image"), "{}", pod["metadata"]["managedFields"]);
    let output = run(&server, "follow pod/one --min-ready-seconds 0 --timeout 1s -o json").ends_with(5);
    let last = output.json_lines().pop().unwrap_or_default();
    assert_eq!((&last["result"], &last["pods"][0]["phase"]), (&json!("timedOut"), &json!("unproven")), "{last}");
    let text = run(&server, "follow pod/one --min-ready-seconds 0 --timeout 1s").ends_with(5);
    text.prints("proven").says("not proven yet");
    wrote_nothing(&server);
}

#[test]
fn images_given_are_waited_for() {
    let server = web();
    slower(&server);
    let output = run(&server, "follow deploy/web side=acme/side:v2 --timeout 1s --min-ready-seconds 0").ends_with(5);
    output
        .prints("Timed out")
        .prints("  pod/web-")
        .prints("  waits for side to be set to acme/side:v2\nOf 3 pods: 3 waiting.");
    let running = typed(&server, "follow deploy/web side=acme/side:v2 --min-ready-seconds 0").spawn();
    running.wait_for_stderr("following 3 pods");
    set_elsewhere(&server, "acme/side:v2");
    running.wait().ends_with(0).prints("Complete:");
    wrote_nothing(&server);
}

#[test]
fn the_last_line_of_json_says_how_it_ended() {
    let server = web();
    slower(&server);
    set_elsewhere(&server, "acme/side:v2");
    let output = run(&server, "follow deploy/web --min-ready-seconds 0 -o json").ends_with(0);
    let lines = output.json_lines();
    let result = |line: Option<&Value>| line.map(|line| (line["type"].clone(), line["result"].clone()));
    assert_eq!(result(lines.last()), Some((json!("summary"), json!("complete"))));
    assert_eq!(lines.first().map(|line| line["mode"].clone()), Some(json!("follow")));
    assert!(lines.iter().rev().skip(1).all(|line| line["result"].is_null()));
}

#[test]
fn a_failure_of_somebody_elses_update_ends_with_code_4() {
    let server = web();
    set_elsewhere(&server, "acme/side:missing");
    run(&server, "follow deploy/web").ends_with(4).prints("ErrImagePull").prints("acme/side:missing");
    wrote_nothing(&server);
}

#[test]
fn a_pod_deleted_while_it_is_followed_ends_with_code_6() {
    let server = web();
    server.pause_kubelet(true);
    set_elsewhere(&server, "acme/side:v2");
    let name = server.objects("pods")[1]["metadata"]["name"].as_str().unwrap_or_default().to_owned();
    let running = typed(&server, "follow deploy/web").spawn();
    running.wait_for_stderr(&format!("{name}  "));
    server.delete("pods", &name);
    running.wait().ends_with(6).prints(&format!("pod/{name}")).prints("deleted");
}

#[test]
fn an_interrupt_only_ends_the_watching() {
    let server = web();
    server.pause_kubelet(true);
    set_elsewhere(&server, "acme/side:v2");
    for (signal, code) in [("INT", 130), ("TERM", 143)] {
        let running = typed(&server, "follow deploy/web").spawn();
        running.wait_for_stderr("restarting");
        running.signal(signal);
        running
            .wait()
            .ends_with(code)
            .prints("Only the watching has ended")
            .prints("kubectl inplace follow deployment/web");
    }
}
