//! An added toleration: in the pods that run, without a restart, and in the template; and taken back again, which the pods
//! that run outlive with it.

use serde_json::{Value, json};

use crate::support::{Api, Kind, Namespace, Owner, name, tag_manifest};

const REPLICAS: usize = 3;

/// The manifest with these tolerations.
fn with(manifest: &str, tolerations: &str) -> String {
    manifest.replacen("      containers:", &format!("      tolerations: {tolerations}\n      containers:"), 1)
}

const GPU: &str = "[{key: gpu, operator: Exists, effect: NoSchedule}]";

fn has_gpu(spec: &Value) -> bool {
    spec["tolerations"].as_array().is_some_and(|list| list.iter().any(|toleration| toleration["key"] == "gpu"))
}

/// Each pod with its containers: what a restart or another pod would change.
fn running(pods: &[Value]) -> Vec<(Value, Value, Value)> {
    let of = |pod: &Value| {
        let status = &pod["status"]["containerStatuses"][0];
        (pod["metadata"]["uid"].clone(), status["containerID"].clone(), status["restartCount"].clone())
    };
    pods.iter().map(of).collect()
}

struct Case<'a> {
    namespace: &'a Namespace,
    owner: &'a Owner<'a>,
}

impl Case<'_> {
    fn apply(&self, manifest: &str, code: i32) -> String {
        let arguments = ["apply", "-f", "-", "--yes", "--min-ready-seconds", "0"];
        let output = self.namespace.inplace_input(&arguments, manifest);
        assert_eq!(output.code, code, "{output:#?}");
        output.stdout + &output.stderr
    }

    /// The same pods, as few or as many of them with the toleration, and everybody says the same.
    fn settles(&self, before: &[Value], template: bool, with_it: usize) {
        self.owner.wait_settled();
        let after = self.owner.pods();
        assert_eq!(running(&after), running(before));
        assert_eq!(has_gpu(&self.owner.object()["spec"]["template"]["spec"]), template);
        assert_eq!(after.iter().filter(|pod| has_gpu(&pod["spec"])).count(), with_it);
        self.namespace.kubectl(&["rollout", "status", &self.owner.reference(), "--timeout=30s"]);
        self.owner.wait_settled();
        assert_eq!(running(&self.owner.pods()), running(before), "the controller is content");
    }

    /// A pod is lost; returns all of them once its replacement exists.
    fn loses_a_pod(&self, of: usize) -> Vec<Value> {
        let pods = self.owner.pods();
        self.namespace.kubectl(&["delete", "pod", name(&pods[0]), "--wait=true"]);
        let after = self.owner.wait_ready(of);
        self.owner.wait_settled();
        after
    }

    fn is_settled_for(&self, manifest: &str) {
        let output = self.namespace.inplace_input(&["plan", "-f", "-", "--detailed-exitcode"], manifest);
        assert_eq!(output.code, 0, "{output:#?}");
        assert!(output.stdout.contains("No changes."), "{output:#?}");
        let status = self.namespace.inplace(&["status", &self.owner.reference()]);
        assert_eq!(status.code, 0, "{status:#?}");
    }
}

fn there_and_back(kind: Kind, name: &str) {
    let namespace = Namespace::new(name);
    let api = Api::open();
    let owner = Owner::new(&namespace, &api, kind, (REPLICAS, 1), "");
    let case = Case { namespace: &namespace, owner: &owner };
    let (plain, wanted) = (owner.manifest.clone(), with(&owner.manifest, GPU));
    let count = owner.before.len();

    let reported = case.apply(&wanted, 0);
    assert!(reported.contains("toleration gpu:NoSchedule op=Exists   <none>   gpu:NoSchedule op=Exists"), "{reported}");
    case.settles(&owner.before, true, count);
    case.is_settled_for(&wanted);

    let after = case.loses_a_pod(count);
    assert!(after.iter().all(|pod| has_gpu(&pod["spec"])), "a replacement pod has it from the template");

    let refused = case.apply(&with(&owner.manifest, "[]"), 3);
    assert!(refused.contains("TolerationRemoved"), "{refused}");
    assert_eq!(running(&owner.pods()), running(&after), "nothing was touched");

    let undo = namespace.inplace(&["undo", &owner.reference(), "--yes", "--min-ready-seconds", "0"]);
    assert_eq!(undo.code, 0, "{undo:#?}");
    assert!(undo.stdout.contains("new pods only"), "{undo:#?}");
    case.settles(&after, false, count);
    case.is_settled_for(&plain);

    let fresh = case.loses_a_pod(count);
    assert_eq!(fresh.iter().filter(|pod| has_gpu(&pod["spec"])).count(), count - 1, "pods made later lack it");

    // The pods that kept it have nothing to do, and the template gets it all the same.
    case.apply(&wanted, 0);
    case.settles(&fresh, true, count);
    let history = namespace.inplace(&["history", &owner.reference()]);
    assert!(history.stdout.contains("toleration gpu:NoSchedule op=Exists"), "{history:#?}");
}

#[test]
fn a_deployment_gains_a_toleration_and_loses_it_for_later_pods() {
    there_and_back(Kind::Deployment, "tolerations-deployment");
}

#[test]
fn a_stateful_set_gains_a_toleration_and_loses_it_for_later_pods() {
    there_and_back(Kind::StatefulSet, "tolerations-statefulset");
}

#[test]
fn a_daemon_set_gains_a_toleration_and_loses_it_for_later_pods() {
    there_and_back(Kind::DaemonSet, "tolerations-daemonset");
}

/// The image fails in the first pod, and all of it is taken back: that pod keeps the toleration.
fn taken_back(kind: Kind, name: &str) {
    let namespace = Namespace::new(name);
    let api = Api::open();
    let owner = Owner::new(&namespace, &api, kind, (REPLICAS, 1), "");
    let uids = |pods: &[Value]| -> Vec<Value> { pods.iter().map(|pod| pod["metadata"]["uid"].clone()).collect() };
    let wanted = with(&tag_manifest(&owner.manifest, 1, "missing"), GPU);
    let failed = ["apply", "-f", "-", "--yes", "--min-ready-seconds", "0", "--pre-pull=never", "--on-failure=undo"];
    let output = namespace.inplace_input(&failed, &wanted);
    assert_eq!(output.code, 4, "{output:#?}");
    assert!(output.stdout.contains("Rolled back:"), "{output:#?}");
    owner.wait_settled();
    let after = owner.pods();
    assert_eq!(uids(&after), uids(&owner.before));
    assert!(!has_gpu(&owner.object()["spec"]["template"]["spec"]));
    assert_eq!(after.iter().filter(|pod| has_gpu(&pod["spec"])).count(), 1);
    namespace.kubectl(&["rollout", "status", &owner.reference(), "--timeout=30s"]);
    owner.wait_settled();
    assert_eq!(uids(&owner.pods()), uids(&owner.before), "the controller is content");
}

#[test]
fn what_is_taken_back_stays_in_the_pods_of_a_deployment() {
    taken_back(Kind::Deployment, "tolerations-back-deployment");
}

#[test]
fn what_is_taken_back_stays_in_the_pods_of_a_stateful_set() {
    taken_back(Kind::StatefulSet, "tolerations-back-statefulset");
}

#[test]
fn what_is_taken_back_stays_in_the_pods_of_a_daemon_set() {
    taken_back(Kind::DaemonSet, "tolerations-back-daemonset");
}

#[test]
fn the_server_takes_no_toleration_from_a_running_pod() {
    let namespace = Namespace::new("tolerations-stay");
    let api = Api::open();
    let owner = Owner::new(&namespace, &api, Kind::ReplicaSet, (1, 1), "");
    let path = format!("/api/v1/namespaces/{}/pods/{}", namespace.name(), name(&owner.before[0]));
    let send = |patch: &Value| api.send("PATCH", &path, "application/json-patch+json", &patch.to_string());
    let toleration = json!({"key": "gpu", "operator": "Exists", "effect": "NoSchedule"});
    let (code, pod) = send(&json!([{"op": "add", "path": "/spec/tolerations/-", "value": toleration}]));
    assert_eq!(code, 200, "{pod}");
    let all = pod["spec"]["tolerations"].as_array().cloned().unwrap_or_default();
    let place = all.iter().position(|one| *one == toleration);
    let place = place.unwrap_or_else(|| panic!("it is not there: {all:?}"));
    let (code, reported) = send(&json!([{"op": "remove", "path": format!("/spec/tolerations/{place}")}]));
    assert_eq!(code, 422, "{reported}");
    assert!(reported["message"].as_str().is_some_and(|message| message.contains("toleration")), "{reported}");
}
