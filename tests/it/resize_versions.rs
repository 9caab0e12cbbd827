//! cpu and memory, on servers and kubelets of several versions.

use serde_json::{Value, json};

use crate::support::api_server::{ApiServer, Effect, When};
use crate::support::builders::Workload;
use crate::support::clock::eventually;
use crate::support::scene::{patches, run, typed, with_controllers_of};

fn resources(cpu: &str) -> Value {
    json!({"resources": {"requests": {"cpu": cpu, "memory": "16Mi"}, "limits": {"memory": "64Mi"}}})
}

fn workload(more: &Value) -> Workload {
    let mut side = resources("10m");
    side.as_object_mut().into_iter().for_each(|side| side.extend(more.as_object().cloned().unwrap_or_default()));
    Workload::deployment("web").container_with("app", "acme/app:v1", resources("20m")).container_with(
        "side",
        "acme/side:v1",
        side,
    )
}

fn of_version(version: &str, more: &Value) -> ApiServer {
    let server = with_controllers_of([workload(more)]);
    server.set_version(version);
    server
}

fn limits(server: &ApiServer) -> Vec<Value> {
    let of = |pod: &Value| pod["status"]["containerStatuses"][1]["resources"]["limits"]["memory"].clone();
    server.objects("pods").iter().map(of).collect()
}

fn restarts() -> Value {
    json!({"resizePolicy": [{"resourceName": "memory", "restartPolicy": "RestartContainer"}],
        "readinessProbe": {"tcpSocket": {"port": 80}, "periodSeconds": 1}})
}

#[test]
fn a_kubelet_that_reports_no_observed_generation_is_followed_by_what_it_gave() {
    for (more, restarted) in [(json!({}), "nothing"), (restarts(), "side in 3 pods")] {
        let server = of_version("v1.33.13", &more);
        let applied = run(&server, "apply deploy/web -c side --limits memory=96Mi --yes").ends_with(0);
        applied.prints(&format!("Resized: side in 3 pods. Restarted as planned: {restarted}; nothing else restarted"));
        assert_eq!(limits(&server), vec![json!("96Mi"); 3]);
    }
}

#[test]
fn before_1_36_the_kubelet_says_what_never_fits_and_what_does_not_fit_now() {
    for version in ["v1.33.13", "v1.35.4"] {
        let server = of_version(version, &json!({}));
        server.limit_cpu(2000, 500);
        let failed = run(&server, "apply deploy/web -c side --requests cpu=9 --yes").ends_with(4);
        failed.prints("ResizeInfeasible").prints("requested: 9000, capacity: 2000").prints("1 failed");
        // The same would fail again.
        let status =
            run(&server, "status deploy/web").ends_with(0).prints("resize infeasible: Node didn't have enough");
        let at = |text: &str| status.stdout.find(text).unwrap_or_else(|| panic!("{text}: {status:#?}"));
        assert!(at("Roll back:") < at("Resume:") && at("ready; pod resize infeasible") > 0, "{status:#?}");
        run(&server, "abort deploy/web --yes").ends_with(0);
        let late = run(&server, "apply deploy/web -c side --requests cpu=1 --yes --timeout 1s").ends_with(5);
        late.prints("resize of side requests.cpu deferred by node node-a: Node didn't have enough resource");
        run(&server, "abort deploy/web --yes").ends_with(0);
        for deferred in ["undo", "leave"] {
            let line = format!("apply deploy/web -c side --requests cpu=1 --yes --deferred {deferred}");
            run(&server, &line).ends_with(5).prints("Deferred after");
        }
    }
}

/// What has done its work is resized where server and kubelets do that; else only pods made later have it, and that is said.
#[test]
fn an_init_container_is_left_to_later_pods_where_a_kubelet_is_older_or_its_policy_would_restart_it() {
    let restarts = json!([{"resourceName": "cpu", "restartPolicy": "RestartContainer"}]);
    for (kubelet, policy, reached) in
        [("v1.36.3", Value::Null, true), ("v1.35.4", Value::Null, false), ("v1.36.3", restarts, false)]
    {
        let init = json!([{"name": "init", "image": "acme/init:v1", "resources": {"requests": {"cpu": "10m"}},
            "resizePolicy": policy}]);
        let web = workload(&json!({})).template(|template| template["spec"]["initContainers"] = init.clone());
        let server = with_controllers_of([web]);
        server.edit("nodes", "node-a", |node| node["status"]["nodeInfo"]["kubeletVersion"] = kubelet.into());
        let plan = run(&server, "plan deploy/web -c init --requests cpu=30m").ends_with(0);
        if reached {
            plan.prints("no restart").prints("in place: 3 pods");
            continue;
        }
        plan.prints("new pods only").prints("in place: 0 of 3 pods (3 unchanged)");
        let applied = run(&server, "apply deploy/web -c init --requests cpu=30m --yes").ends_with(0);
        applied.prints("No pod had to change. Restarted as planned: nothing; nothing else restarted");
        let cpu = |spec: &Value| spec["initContainers"][0]["resources"]["requests"]["cpu"].clone();
        assert_eq!(cpu(&server.objects("deployments")[0]["spec"]["template"]["spec"]), "30m");
        assert!(server.objects("pods").iter().all(|pod| cpu(&pod["spec"]) == "10m"), "{kubelet}");
    }
}

/// Leaves a rollout that raises a memory limit after its first resize.
fn killed_after_a_resize(server: &ApiServer) {
    server.fault(When::verb("patch").of("pods/resize").for_real().after(1), Effect::NoAnswer);
    let running = typed(server, "apply deploy/web -c side --limits memory=96Mi --yes").spawn();
    let resizes = || patches(server).iter().filter(|sent| sent.path.ends_with("/resize")).count();
    eventually("the second resize", || (resizes() > 1).then_some(()));
    running.signal("KILL");
    assert_eq!(running.wait().code, None);
    server.clear_faults();
}

/// 1.33 lowers no memory limit without a restart: what was raised is not taken back in the pods.
#[test]
fn a_raised_memory_limit_goes_on_and_is_not_taken_back_where_the_server_lowers_none() {
    let server = of_version("v1.33.13", &json!({}));
    killed_after_a_resize(&server);
    // What the killed run had sent is answered by then.
    run(&server, "status deploy/web");
    let before = patches(&server).len();
    let refused = run(&server, "abort deploy/web --yes").ends_with(3);
    refused
        .says("the API server is Kubernetes 1.33, and this needs 1.34 or newer")
        .says("what was raised is kept, and the rollout finished: kubectl inplace resume deployment/web");
    assert_eq!(patches(&server).len(), before, "nothing is written");
    run(&server, "resume deploy/web --yes").ends_with(0);
    assert_eq!(limits(&server), vec![json!("96Mi"); 3]);
    // With a restart it does.
    let server = of_version("v1.33.13", &restarts());
    killed_after_a_resize(&server);
    run(&server, "abort deploy/web --yes").ends_with(0);
    assert_eq!(limits(&server), vec![json!("64Mi"); 3]);
}
