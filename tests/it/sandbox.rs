//! The sandbox of `testkit`: what somebody tries first works on every kind that it has.

use testkit::sandbox;

use crate::support::api_server::{ApiServer, Times};
use crate::support::scene::run;

/// One that does not make a test wait.
fn fast() -> ApiServer {
    let server = sandbox::start(0).expect("loopback has a free port");
    server.kubelet(Times::default());
    server
}

fn uids(server: &ApiServer) -> Vec<String> {
    server.objects("pods").iter().map(|pod| pod["metadata"]["uid"].to_string()).collect()
}

fn is_updated_and_undone(of: &str, container: &str) {
    let server = fast();
    let pods = uids(&server);
    let planned = run(&server, &format!("plan {of} -n shop {container}=:v2")).ends_with(0);
    planned.prints("can be updated in place").prints("No pod is replaced");
    let applied = run(&server, &format!("apply {of} -n shop {container}=:v2 --yes")).ends_with(0);
    applied.prints("pods replaced: 0");
    run(&server, &format!("history {of} -n shop")).ends_with(0).prints(&format!("{container}: v1 -> v2"));
    run(&server, &format!("status {of} -n shop")).ends_with(0).prints(":v2");
    run(&server, &format!("follow {of} -n shop")).ends_with(0);
    run(&server, &format!("undo {of} -n shop --yes")).ends_with(0).prints("pods replaced: 0");
    assert_eq!(uids(&server), pods);
}

#[test]
fn a_deployment_is_updated_and_undone() {
    is_updated_and_undone("deployment/web", "app");
}

#[test]
fn a_stateful_set_is_updated_and_undone() {
    is_updated_and_undone("statefulset/db", "db");
}

#[test]
fn a_daemon_set_is_updated_and_undone() {
    is_updated_and_undone("daemonset/agent", "agent");
}

#[test]
fn cpu_is_resized_without_a_restart() {
    let server = fast();
    let resized = run(&server, "apply deploy/web -n shop -c app --requests cpu=200m --yes").ends_with(0);
    resized.prints("Resized: app in 3 pods").prints("pods replaced: 0");
    run(&server, "undo deploy/web -n shop --yes").ends_with(0).prints("Resized: app in 3 pods");
}

#[test]
fn a_bad_image_stops_at_the_first_pod_and_is_aborted() {
    let server = fast();
    run(&server, "apply deploy/web -n shop app=:nope --yes").ends_with(4).prints("cannot pull shop.example/app:nope");
    run(&server, "apply deploy/web -n shop app=:crash --yes").ends_with(4).prints("CrashLoopBackOff (exit code 3)");
    run(&server, "status deploy/web -n shop").prints("kubectl inplace abort deployment/web");
    run(&server, "abort deploy/web -n shop --yes").ends_with(0).prints("Rolled back");
    run(&server, "status deploy/web -n shop").ends_with(0).prints("app:v1");
}
