//! What is said of a change of cpu and memory, against what the server does then.

use serde_json::{Value, json};

use crate::support::{Api, Fields, Kind, Namespace, Owner, name, poll};

const RESOURCES: &str = "resources: {requests: {cpu: 10m, memory: 16Mi}, limits: {memory: 64Mi}}";

fn inplace(namespace: &Namespace, arguments: &[&str], code: i32) -> String {
    let output = namespace.inplace(arguments);
    assert_eq!(output.code, code, "{output:#?}");
    output.stdout + &output.stderr
}

fn resources(owner: &Owner<'_>) -> Value {
    owner.object()["spec"]["template"]["spec"]["containers"][0]["resources"].clone()
}

/// A dry run of each pod passes, the template is taken, and the third pod is refused. The rollout stops, and `abort` takes it
/// back.
#[test]
fn a_quota_that_not_all_pods_fit_in_stops_the_rollout_and_is_taken_back() {
    let namespace = Namespace::new("resize-quota");
    let api = Api::open();
    let owner = Owner::with((&namespace, &api), Kind::Deployment, (3, 1), Fields::Container(RESOURCES));
    let quota = "{apiVersion: v1, kind: ResourceQuota, metadata: {name: compute}, spec: {hard: {requests.cpu: 60m}}}";
    namespace.apply(quota);
    let path = format!("/api/v1/namespaces/{}/resourcequotas/compute", namespace.name());
    poll(|| (api.get(&path)["status"]["used"]["requests.cpu"] == "30m").then_some(())).expect("it is counted");
    let (before, reference) = (resources(&owner), owner.reference());
    let stopped = inplace(&namespace, &["apply", &reference, "--requests", "cpu=25m", "--yes"], 4);
    assert!(stopped.contains("AdmissionRefused") && stopped.contains("exceeded quota: compute"), "{stopped}");
    inplace(&namespace, &["abort", &reference, "--yes"], 0);
    assert_eq!(resources(&owner), before);
    owner.wait_settled();
    poll(|| (api.get(&path)["status"]["used"]["requests.cpu"] == "30m").then_some(())).expect("it is given back");
    // The server's own view of the same.
    let pods = owner.pods();
    let patch = json!([{"op": "add", "path": "/spec/containers/0/resources/requests/cpu", "value": "25m"}]);
    let resize = |pod: &Value| format!("/api/v1/namespaces/{}/pods/{}/resize", namespace.name(), name(pod));
    let dry: Vec<u16> = pods.iter().map(|pod| api.dry_run_patch(&resize(pod), &patch).0).collect();
    assert_eq!(dry, [200, 200, 200]);
    let answers = pods.iter().map(|pod| api.request("PATCH", &resize(pod), "application/json-patch+json", &patch));
    let answers: Vec<(u16, Value)> = answers.collect();
    assert_eq!(answers.iter().map(|(status, _)| *status).collect::<Vec<_>>(), [200, 200, 403]);
    let message = answers[2].1["message"].as_str().unwrap_or_default();
    assert!(
        message.contains("exceeded quota: compute, requested: requests.cpu=15m, used: requests.cpu=60m"),
        "{message}"
    );
    // What fits to the last millicore is done.
    namespace.kubectl(&["delete", "resourcequota", "compute"]);
    namespace.apply(&quota.replace("60m", "75m"));
    poll(|| (api.get(&path)["status"]["used"]["requests.cpu"] == "60m").then_some(())).expect("it is counted");
    inplace(&namespace, &["apply", &reference, "--requests", "cpu=25m", "--yes"], 0);
    owner.wait_settled();
}

/// The template takes what no pod may have: the dry run of a pod finds it.
#[test]
fn a_limit_range_is_found_before_the_template_is_written() {
    let namespace = Namespace::new("resize-limit-range");
    let api = Api::open();
    let owner = Owner::with((&namespace, &api), Kind::StatefulSet, (2, 1), Fields::Container(RESOURCES));
    namespace.apply(
        "{apiVersion: v1, kind: LimitRange, metadata: {name: sizes}, spec: {limits: [\
         {type: Container, min: {cpu: 5m}, max: {memory: 128Mi}, maxLimitRequestRatio: {memory: 6}}]}}",
    );
    let (before, reference) = (resources(&owner), owner.reference());
    for (requests, limits, words) in [
        ("memory=64Mi", "memory=256Mi", "maximum memory usage per Container is 128Mi, but limit is 256Mi"),
        ("cpu=4m", "memory=64Mi", "minimum cpu usage per Container is 5m, but request is 4m"),
        (
            "memory=16Mi",
            "memory=100Mi",
            "memory max limit to request ratio per Container is 6, but provided ratio is 6.250000",
        ),
    ] {
        let asked = ["apply", &reference, "--requests", requests, "--limits", limits, "--yes"];
        // The informer of the admission plugin may be a moment late.
        let refused = poll(|| {
            let output = namespace.inplace(&["plan", &reference, "--requests", requests, "--limits", limits]);
            output.stdout.contains(words).then(|| inplace(&namespace, &asked, 3))
        });
        let refused = refused.unwrap_or_else(|| panic!("never {words}"));
        assert!(refused.contains("AdmissionRefused") && refused.contains(words), "{refused}");
        assert!(refused.contains("hint: ask for what the namespace's LimitRange allows"), "{refused}");
        assert_eq!(resources(&owner), before);
    }
}

/// A rule that a container breaks which the change leaves alone: asking for something else does not help, and the container
/// is named.
#[test]
fn another_container_that_breaks_a_rule_is_named() {
    let api = Api::open();
    for kind in [Kind::Deployment, Kind::StatefulSet, Kind::DaemonSet] {
        let namespace = Namespace::new("resize-other-container");
        let few = "resources: {requests: {cpu: 1m, memory: 16Mi}, limits: {memory: 64Mi}}";
        let owner = Owner::with((&namespace, &api), kind, (1, 2), Fields::Containers(few));
        let reference = owner.reference();
        for (rule, words, hint) in [
            (
                "{apiVersion: v1, kind: LimitRange, metadata: {name: rule}, spec: {limits: [{type: Container, min: {cpu: 5m}}]}}",
                "minimum cpu usage per Container is 5m, but request is 1m",
                "describe limitrange",
            ),
            (
                "{apiVersion: v1, kind: ResourceQuota, metadata: {name: rule}, spec: {hard: {limits.cpu: '1'}}}",
                "must specify limits.cpu for: ",
                "describe resourcequota",
            ),
        ] {
            namespace.apply(rule);
            let line = ["plan", &reference, "-c", "c1", "--requests", "cpu=10m", "--limits", "cpu=20m"];
            // Informers may be a moment late.
            let refused = poll(|| Some(namespace.inplace(&line)).filter(|plan| plan.stdout.contains(words)));
            let refused = refused.unwrap_or_else(|| panic!("{kind:?}: never {words}")).stdout;
            assert!(refused.contains("container c2 breaks this rule, and the change leaves it alone"), "{refused}");
            assert!(refused.contains("resize container c2 too") && refused.contains(hint), "{refused}");
            namespace.kubectl(&["delete", "limitrange,resourcequota", "rule", "--ignore-not-found"]);
        }
    }
}

/// An autoscaler, and a setting that is read at the start, are named; nothing is done.
#[test]
fn autoscalers_and_settings_are_named() {
    let namespace = Namespace::new("resize-named");
    let api = Api::open();
    let fields = "resources: {requests: {cpu: 10m}, limits: {memory: 64Mi}}, env: [{name: LIMIT, valueFrom: {resourceFieldRef: {resource: limits.memory}}}]";
    let owner = Owner::with((&namespace, &api), Kind::Deployment, (1, 1), Fields::Container(fields));
    namespace.apply(
        "{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: web}, spec: {\
         scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}, minReplicas: 1, maxReplicas: 2, metrics: [\
         {type: ContainerResource, containerResource: {name: cpu, container: c1, target: {type: Utilization, averageUtilization: 70}}}]}}",
    );
    let asked = ["plan", &owner.reference(), "--requests", "cpu=20m", "--limits", "memory=128Mi"];
    let plan = inplace(&namespace, &asked, 0);
    for words in ["horizontalpodautoscaler/web may scale meanwhile", "has read LIMIT (limits.memory) when it started"] {
        assert!(plan.contains(words), "{words}: {plan}");
    }
}
