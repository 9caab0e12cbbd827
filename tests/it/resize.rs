//! cpu and memory: changed by the subresource `resize`, nothing restarts, and the kubelet's status is the proof.

use serde_json::{Value, json};

use crate::support::api_server::{ApiServer, Effect, When};
use crate::support::builders::Workload;
use crate::support::scene::{patches, run, server_with, with_controllers_of};

fn workload() -> Workload {
    let resources =
        |cpu: &str| json!({"resources": {"requests": {"cpu": cpu, "memory": "16Mi"}, "limits": {"memory": "64Mi"}}});
    Workload::deployment("web").container_with("app", "acme/app:v1", resources("20m")).container_with(
        "side",
        "acme/side:v1",
        resources("10m"),
    )
}

fn web() -> ApiServer {
    server_with([workload()])
}

/// What the kubelet says that `side` has in each pod.
fn requests(server: &ApiServer) -> Vec<Value> {
    let of = |pod: &Value| pod["status"]["containerStatuses"][1]["resources"]["requests"]["cpu"].clone();
    server.objects("pods").iter().map(of).collect()
}

fn container_ids(server: &ApiServer) -> Vec<Value> {
    let of = |pod: &Value| pod["status"]["containerStatuses"][1]["containerID"].clone();
    server.objects("pods").iter().map(of).collect()
}

const ASKED: &str = "-c side --requests cpu=30m --limits memory=96Mi";

#[test]
fn it_is_asked_by_the_subresource_guarded_and_nothing_restarts() {
    let server = web();
    let before = container_ids(&server);
    let applied = run(&server, &format!("apply deploy/web {ASKED} --pods-only --yes")).ends_with(0);
    applied.prints("Resized: side in 3 pods. Restarted as planned: nothing; nothing else restarted; pods replaced: 0.");
    assert_eq!((requests(&server), container_ids(&server)), (vec![json!("30m"); 3], before));
    let sent = patches(&server);
    assert_eq!(sent.len(), 3);
    for patch in sent {
        assert!(patch.path.ends_with("/resize"), "{}", patch.path);
        let body: Vec<Value> = serde_json::from_str(&patch.body).expect("it is a patch");
        let tests = |path: &str| body.iter().any(|one| one["op"] == "test" && one["path"] == path);
        for path in [
            "/metadata/uid",
            "/metadata/deletionTimestamp",
            "/spec/containers/1/name",
            "/status/containerStatuses/1/containerID",
            "/spec/containers/1/resources/requests",
        ] {
            assert!(tests(path), "{path}: {body:?}");
        }
        let added: Vec<&Value> = body.iter().filter(|one| one["op"] != "test").collect();
        assert_eq!(added[0]["value"], json!({"cpu": "30m", "memory": "16Mi"}), "what is not asked for stays");
    }
}

#[test]
fn the_template_goes_along_and_undo_leads_back() {
    let server = with_controllers_of([workload()]);
    run(&server, &format!("apply deploy/web {ASKED} --yes")).ends_with(0);
    assert_eq!(requests(&server), vec![json!("30m"); 3]);
    let template = |server: &ApiServer| {
        server.objects("deployments")[0]["spec"]["template"]["spec"]["containers"][1]["resources"].clone()
    };
    assert_eq!(template(&server), json!({"requests": {"cpu": "30m", "memory": "16Mi"}, "limits": {"memory": "96Mi"}}));
    run(&server, "history deploy/web").prints("side requests.cpu").prints("complete");
    run(&server, &format!("plan deploy/web {ASKED} --detailed-exitcode")).ends_with(0);
    run(&server, "undo deploy/web --yes").ends_with(0).prints("Resized: side in 3 pods");
    assert_eq!(requests(&server), vec![json!("10m"); 3]);
    assert_eq!(template(&server)["limits"], json!({"memory": "64Mi"}));
}

#[test]
fn with_an_image_it_comes_first() {
    let server = web();
    let line = format!("apply deploy/web side=acme/side:v2 {ASKED} --pods-only --yes --min-ready-seconds 0");
    run(&server, &line).ends_with(0).prints("Resized: side in 3 pods. Restarted as planned: side in 3 pods");
    let parts: Vec<bool> = patches(&server).iter().map(|patch| patch.path.ends_with("/resize")).collect();
    assert_eq!((parts.len(), parts.iter().filter(|resizes| **resizes).count()), (6, 3));
    assert!(parts[0], "the new container begins with what it is to have");
}

#[test]
fn what_the_node_puts_off_is_waited_for_and_said() {
    let server = with_controllers_of([workload()]);
    server.limit_cpu(2000, 500);
    let line = "apply deploy/web -c side --requests cpu=1 --yes --timeout 1s";
    let late = run(&server, line).ends_with(5);
    late.prints(
        "resize deferred by the node side requests.cpu: Node didn't have enough resource: cpu, requested: 1000",
    )
    .prints("1 in hand, 2 not touched");
    let status = run(&server, "status deploy/web").ends_with(0);
    status.prints("resize deferred by the node").prints("side requests.cpu 10m, the template says 1");
    // What is asked for and not done is not taken for done by another run.
    run(&server, "resume deploy/web --yes --timeout 1s").ends_with(5).prints("resize deferred by the node");
    let followed = run(&server, "follow deploy/web --timeout 1s").ends_with(5);
    followed.prints("resize deferred by the node: Node didn't have enough resource");
    run(&server, "abort deploy/web --yes").ends_with(0).prints("Taken back: deployment/web");
    assert_eq!(requests(&server), vec![json!("10m"); 3]);
    let more = run(&server, "plan deploy/web -c side --requests cpu=9 --detailed-exitcode").ends_with(3);
    more.prints("node didn't have enough allocatable resources");
}

#[test]
fn a_permission_that_no_default_role_has_is_asked_for_first() {
    let server = web();
    server.fault(When::verb("patch").of("pods/resize"), Effect::Forbid);
    let refused = run(&server, &format!("apply deploy/web {ASKED} --pods-only --yes")).ends_with(3);
    refused.prints("PermissionMissing: you may not patch pods/resize");
    assert!(patches(&server).is_empty());
    run(&server, "apply deploy/web side=acme/side:v2 --pods-only --yes --min-ready-seconds 0").ends_with(0);
}

#[test]
fn whose_it_is_has_to_be_said() {
    let server = web();
    run(&server, "plan deploy/web --requests cpu=1").ends_with(1).says("several containers: app, side");
    run(&server, "plan deploy/web --requests cpu=1 --all-containers").ends_with(0).prints("app requests.cpu");
    run(&server, "plan deploy/web -c sied --requests cpu=1").ends_with(0).prints("did you mean side?");
    run(&server, "plan deploy/web -c side").ends_with(1).says("no --requests or --limits");
    run(&server, "plan deploy/web -c side --limits cpu=x").ends_with(1).says("is not a quantity of cpu");
}
