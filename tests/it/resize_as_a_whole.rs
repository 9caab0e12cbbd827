//! cpu and memory of the pod as a whole.

use serde_json::{Value, json};

use crate::support::api_server::{ApiServer, Effect, When};
use crate::support::builders::Workload;
use crate::support::clock::eventually;
use crate::support::scene::{patches, run, typed, with_controllers_of};

fn whole(cpu: &str) -> Value {
    json!({"requests": {"cpu": cpu, "memory": "64Mi"}, "limits": {"memory": "128Mi"}})
}

fn of_version(version: &str) -> ApiServer {
    let fields = json!({"resources": {"requests": {"cpu": "10m", "memory": "16Mi"}, "limits": {"memory": "64Mi"}}});
    let web = Workload::deployment("web").container_with("app", "acme/app:v1", fields);
    let server = with_controllers_of([web.template(|template| template["spec"]["resources"] = whole("100m"))]);
    server.set_version(version);
    server
}

/// The owner's manifest with another request of the pod, and of its container.
fn manifest(server: &ApiServer, cpu: &str, of_app: &str) -> String {
    let mut manifest = server.objects("deployments")[0].clone();
    manifest["metadata"] = json!({"name": "web", "namespace": "default"});
    let spec = &mut manifest["spec"]["template"]["spec"];
    spec["resources"] = whole(cpu);
    spec["containers"][0]["resources"]["requests"]["cpu"] = of_app.into();
    manifest.to_string()
}

fn cpu(server: &ApiServer) -> Vec<Value> {
    let of = |pod: &Value| pod["status"]["resources"]["requests"]["cpu"].clone();
    server.objects("pods").iter().map(of).collect()
}

#[test]
fn pod_and_containers_are_resized_in_one_request_and_taken_back() {
    let server = of_version("v1.36.3");
    let file = |line: &str, text: String| typed(&server, line).file("web.json", &text).run();
    let wanted = manifest(&server, "200m", "150m");
    let applied = file("apply -f web.json --yes", wanted.clone()).ends_with(0);
    applied
        .prints("requests.cpu of the pod   100m   200m   no restart")
        .prints("Resized: app in 3 pods, 3 pods as a whole. Restarted as planned: nothing; nothing else restarted");
    let resizes = patches(&server).iter().filter(|sent| sent.path.ends_with("/resize")).count();
    assert_eq!((resizes, cpu(&server)), (3, vec![json!("200m"); 3]));
    file("plan -f web.json", wanted).ends_with(0);
    run(&server, "history deploy/web").ends_with(0).prints("requests.cpu of the pod");
    run(&server, "undo deploy/web --yes").ends_with(0);
    assert_eq!(cpu(&server), vec![json!("100m"); 3]);
}

#[test]
fn before_1_36_pods_that_have_cpu_and_memory_as_a_whole_are_not_touched() {
    let server = of_version("v1.35.4");
    for (whole, app) in [("200m", "10m"), ("100m", "20m")] {
        let refused = typed(&server, "apply -f web.json --yes").file("web.json", &manifest(&server, whole, app)).run();
        refused.ends_with(3).prints("the API server is Kubernetes 1.35, and this needs 1.36 or newer");
    }
    assert_eq!(cpu(&server), vec![json!("100m"); 3]);
}

#[test]
fn what_is_stopped_half_way_goes_on_or_is_taken_back() {
    for (verb, expected) in [("resume", "200m"), ("abort", "100m")] {
        let server = of_version("v1.36.3");
        server.fault(When::verb("patch").of("pods/resize").for_real().after(1), Effect::NoAnswer);
        let running =
            typed(&server, "apply -f web.json --yes").file("web.json", &manifest(&server, "200m", "10m")).spawn();
        let resizes = || patches(&server).iter().filter(|sent| sent.path.ends_with("/resize")).count();
        eventually("the second resize", || (resizes() > 1).then_some(()));
        running.signal("KILL");
        assert_eq!(running.wait().code, None);
        server.clear_faults();
        run(&server, &format!("{verb} deploy/web --yes")).ends_with(0);
        assert_eq!(cpu(&server), vec![json!(expected); 3], "{verb}");
    }
}

#[test]
fn what_a_node_puts_off_is_waited_for_and_undo_takes_back_what_pods_alone_have() {
    let server = of_version("v1.36.3");
    server.limit_cpu(2000, 500);
    let file = |line: &str, cpu: &str| typed(&server, line).file("web.json", &manifest(&server, cpu, "10m")).run();
    let late = file("apply -f web.json --yes --timeout 1s", "1").ends_with(5);
    late.prints("resize of requests.cpu of the pod deferred by node node-a: Node didn't have enough resource");
    run(&server, "abort deploy/web --yes").ends_with(0);
    file("apply -f web.json --yes --pods-only", "300m").ends_with(0);
    assert_eq!(cpu(&server), vec![json!("300m"); 3]);
    run(&server, "undo deploy/web --yes").ends_with(0).prints("Resized: 3 pods as a whole.");
    assert_eq!(cpu(&server), vec![json!("100m"); 3]);
}
