//! Pods that are drained by a readiness gate: the writes in their order, and callers that may not make them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::api_server::{ApiServer, Effect, When};
use crate::support::builders::Workload;
use crate::support::clock;
use crate::support::run::Output;
use crate::support::scene::{APPLY, images, patches, run, server_with, two_containers, typed};

const GATE: &str = "example.com/serving";

/// One pod behind a Service that selects by the owner's label alone; its gate was set by kubectl.
fn gated() -> ApiServer {
    let server = server_with([two_containers(Workload::deployment("web").replicas(1))]);
    for pod in server.objects("pods") {
        let name = pod["metadata"]["name"].as_str().expect("a name");
        let set = |pod: &mut Value| {
            pod["spec"]["readinessGates"] = json!([{"conditionType": GATE}]);
            let conditions = pod["status"]["conditions"].as_array_mut().expect("conditions");
            conditions.push(json!({"type": GATE, "status": "True", "reason": "Checked", "lastProbeTime": null,
                "lastTransitionTime": "2026-01-01T00:00:00Z"}));
            let key = format!("k:{}", json!({"type": GATE}));
            pod["metadata"]["managedFields"] = json!([{"manager": "kubectl-patch", "operation": "Update",
                "apiVersion": "v1", "time": "2026-01-01T00:00:00Z", "fieldsType": "FieldsV1", "subresource": "status",
                "fieldsV1": {"f:status": {"f:conditions": {key: {".": {}, "f:status": {}, "f:reason": {}}}}}}]);
        };
        server.change(|state| state.edit("pods", name, "kubectl-patch", set));
    }
    let metadata = json!({"name": "web", "namespace": "default"});
    server.insert([
        json!({"apiVersion": "v1", "kind": "Service", "metadata": metadata,
            "spec": {"selector": {"app": "web"}, "ports": [{"port": 80}]}}),
        json!({"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "addressType": "IPv4", "endpoints": [],
            "metadata": {"name": "web", "namespace": "default", "labels": {"kubernetes.io/service-name": "web"}}}),
    ]);
    server
}

/// Lists what is ready, as the controller of the EndpointSlices does.
fn list_what_is_ready(server: &ApiServer) {
    let is_ready = |pod: &Value| {
        let mut conditions = pod["status"]["conditions"].as_array().into_iter().flatten();
        conditions.any(|condition| condition["type"] == "Ready" && condition["status"] == "True")
    };
    let endpoint = |pod: &Value| json!({"targetRef": {"uid": pod["metadata"]["uid"]}, "conditions": {"ready": is_ready(pod), "serving": is_ready(pod)}});
    let endpoints: Vec<Value> = server.objects("pods").iter().map(endpoint).collect();
    let is_listed = server.object("endpointslices", "web").is_some_and(|slice| slice["endpoints"] == json!(endpoints));
    if !is_listed {
        server.edit("endpointslices", "web", |slice| slice["endpoints"] = endpoints.into());
    }
}

/// Runs a line while that controller is active.
fn run_with_slices(server: &ApiServer, line: &str) -> Output {
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                list_what_is_ready(server);
                clock::sleep(Duration::from_millis(5));
            }
        });
        let output = run(server, line);
        over.store(true, Ordering::Relaxed);
        output
    })
}

fn condition(server: &ApiServer) -> Value {
    let pod = server.objects("pods").into_iter().next().expect("a pod");
    let conditions = pod["status"]["conditions"].as_array().cloned().unwrap_or_default();
    conditions.into_iter().find(|condition| condition["type"] == GATE).expect("the gate's condition")
}

#[test]
fn the_note_comes_before_the_gate_and_goes_after_it() {
    let server = gated();
    let before = condition(&server);
    run(&server, "plan deploy/web side=acme/side:v2 --pods-only")
        .ends_with(0)
        .prints("drains svc/web by readiness gate example.com/serving")
        .omits("TrafficWhileDown");
    let plan = run(&server, "plan deploy/web side=acme/side:v2 --pods-only -o json").json();
    let drain = &plan["workloads"][0]["pods"][0]["drain"];
    assert_eq!(*drain, json!({"gate": GATE, "services": ["web"]}));

    let output = run_with_slices(&server, &format!("{APPLY} --drain-seconds 0 --min-ready-seconds 0")).ends_with(0);
    let parts: Vec<bool> = patches(&server).iter().map(|patch| patch.path.ends_with("/status")).collect();
    assert_eq!(parts, [false, true, false, true, false], "{}", output.block());
    let mut after = condition(&server);
    // The kubelet's own.
    after.as_object_mut().map(|after| after.remove("observedGeneration"));
    assert_eq!(after, before, "as it was");
    assert_eq!(images(&server, "side"), ["acme/side:v2"]);
}

#[test]
fn without_the_permission_nothing_is_drained_and_the_plan_says_so() {
    let server = gated();
    server.fault(When::verb("patch").of("pods/status"), Effect::Forbid);
    run(&server, "plan deploy/web side=acme/side:v2 --pods-only")
        .ends_with(0)
        .says("you cannot patch pods/status")
        .omits("drains svc/web");
    run_with_slices(&server, &format!("{APPLY} --min-ready-seconds 0")).ends_with(0);
    assert!(patches(&server).iter().all(|patch| !patch.path.ends_with("/status")));
    assert_eq!(images(&server, "side"), ["acme/side:v2"]);
}

#[test]
fn the_permission_is_asked_about_only_where_a_gate_would_serve() {
    let asks = |server: &ApiServer| {
        server.requests().iter().any(|request| request.body.contains("\"subresource\":\"status\""))
    };
    let server = gated();
    run(&server, "plan deploy/web side=acme/side:v2 --pods-only").ends_with(0);
    assert!(asks(&server));
    let server = gated();
    run(&server, "plan deploy/web side=acme/side:v2 --pods-only --drain=none").ends_with(0);
    assert!(!asks(&server));
    let server = server_with([two_containers(Workload::deployment("web"))]);
    run(&server, "plan deploy/web side=acme/side:v2 --pods-only").ends_with(0);
    assert!(!asks(&server));
}

/// What an earlier run has noted on a pod, to keep out the requests of the one before it, does not say that somebody has taken it
/// from this one.
#[test]
fn a_pod_that_an_earlier_run_took_over_goes_back_by_its_gate() {
    let server = gated();
    server.run_controllers(true);
    server.fault(When::verb("patch").of("pods").for_real(), Effect::NoAnswer);
    let running = typed(&server, "apply deploy/web side=acme/side:v2 --yes --min-ready-seconds 0").spawn();
    clock::eventually("the patch", || {
        server.writes().iter().any(|logged| logged.path.contains("/pods/") && !logged.dry_run).then_some(())
    });
    running.signal("KILL");
    assert_eq!(running.wait().code, None, "killed");
    server.clear_faults();
    server.pause_kubelet(true);
    run_with_slices(&server, "resume deploy/web --yes --min-ready-seconds 0 --total-timeout 6s").ends_with(5);
    server.pause_kubelet(false);
    let record = server.objects("pods")[0]["metadata"]["annotations"]["kubectl-inplace.io/update"].to_string();
    assert!(record.contains("takenOver"), "{record}");
    run_with_slices(&server, "abort deploy/web --yes --min-ready-seconds 0 --timeout 20s")
        .ends_with(0)
        .prints("Rolled back:");
    assert_eq!(condition(&server)["status"], "True");
    assert_eq!(images(&server, "side"), ["acme/side:v1"]);
}
