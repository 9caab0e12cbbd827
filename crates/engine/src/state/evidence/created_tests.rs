use serde_json::{Value, json};

use crate::k8s::pod::Pod;
use crate::state::evidence::{Baseline, Proof, one_look};
use crate::state::record::UPDATE_ANNOTATION;

const CREATED: &str = "2026-03-01T09:00:05Z";
const STARTED: &str = "2026-03-01T09:00:09Z";
const LATER: &str = "2026-03-01T10:00:00Z";
const DIGEST: &str = "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

fn entry(manager: &str, time: &str, containers: &[&str]) -> Value {
    let owned = containers.iter().map(|name| (format!("k:{{\"name\":\"{name}\"}}"), json!({"f:image": {}})));
    let spec = json!({"f:containers": owned.collect::<serde_json::Map<_, _>>()});
    json!({"manager": manager, "operation": "Update", "time": time, "fieldsV1": {"f:spec": spec}})
}

/// A pod of `app`, which its template has, and `proxy`, which is judged: the first container of its pod.
fn pod(asks: &str, shows: &str, generation: Option<i64>, managed_fields: &Value) -> Value {
    json!({
        "metadata": {"name": "web-1", "creationTimestamp": CREATED, "generation": generation,
            "managedFields": managed_fields},
        "spec": {"containers": [{"name": "app", "image": "acme/app:v1"}, {"name": "proxy", "image": asks}]},
        "status": {"observedGeneration": generation, "containerStatuses": [{"name": "proxy", "image": shows, "ready": true,
            "imageID": format!("mesh/proxy@{DIGEST}"), "containerID": "containerd://first", "restartCount": 0,
            "state": {"running": {"startedAt": STARTED}}}]}})
}

fn judged(pod: &Value) -> (&'static str, &'static str) {
    let pod = Pod::from_object(pod).unwrap();
    let name = "proxy".into();
    let ((_, _, container), (_, _, status)) = pod.container(&name).zip(pod.container_status(&name)).unwrap();
    let baseline = Baseline::of(&pod, &name);
    let proof = match one_look(&pod, &baseline, container, status) {
        Proof::New => "new",
        Proof::Old => "old",
        Proof::Unverified(_) => "unverified",
    };
    let baseline = match baseline {
        Baseline::Recorded(_) => "recorded",
        Baseline::Set(_) => "set",
        Baseline::Created => "created",
        Baseline::Unknown => "unknown",
    };
    (baseline, proof)
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn an_image_is_as_created_where_whoever_had_set_it_since_would_be_noted() {
    let (v1, v2, other_name) = ("mesh/proxy:v1", "mesh/proxy:v2", "mesh/proxy:stable");
    let pinned = format!("mesh/proxy@{DIGEST}");
    let pinned_to_another = pinned.replace('a', "b");
    let controller = |time: &str| entry("kube-controller-manager", time, &["app"]);
    let kubelet = || {
        json!({"manager": "kubelet", "operation": "Update", "time": CREATED, "subresource": "status",
            "fieldsV1": {"f:status": {"f:phase": {}}}})
    };
    let own = |time: &str| entry("kubectl", time, &["app", "proxy"]);
    let cases = [
        ("injected", v1, v1, Some(1), json!([controller(CREATED), kubelet()]), ("created", "new")),
        ("injected, before 1.33", v1, v1, None, json!([controller(CREATED), kubelet()]), ("created", "new")),
        ("injected, shown by another name", v1, other_name, Some(1), json!([controller(CREATED)]), ("created", "new")),
        (
            "injected, and another container was updated since",
            v1,
            other_name,
            Some(2),
            json!([entry("kube-controller-manager", CREATED, &[]), entry("inplace-cli", LATER, &["app"])]),
            ("created", "new"),
        ),
        (
            "injected, and set by somebody since: the old one runs",
            v2,
            v1,
            Some(2),
            json!([controller(CREATED), entry("kubectl-set", LATER, &["proxy"])]),
            ("set", "old"),
        ),
        (
            "injected, and set by somebody before it started",
            v2,
            v2,
            Some(2),
            json!([controller(CREATED), entry("kubectl-set", "2026-03-01T09:00:08Z", &["proxy"])]),
            ("set", "new"),
        ),
        (
            "its admission took seconds",
            v1,
            other_name,
            Some(1),
            json!([own("2026-03-01T09:00:01Z")]),
            ("created", "new"),
        ),
        (
            "a controller has written to it since, as when it adopts it",
            v1,
            other_name,
            Some(2),
            json!([entry("kube-controller-manager", LATER, &["app", "proxy"])]),
            ("created", "new"),
        ),
        (
            "injected, and a controller has written since",
            v1,
            v1,
            Some(2),
            json!([controller(LATER)]),
            ("created", "new"),
        ),
        ("labelled by who has created it", v1, v1, Some(1), json!([own(LATER)]), ("created", "new")),
        ("the same, shown by another name", v1, other_name, Some(1), json!([own(LATER)]), ("set", "old")),
        ("the same with a digest", &pinned, v1, Some(1), json!([own(LATER)]), ("created", "new")),
        ("the same, and its spec was changed", v1, v1, Some(2), json!([own(LATER)]), ("set", "unverified")),
        ("from before 1.33, and set since", v2, v1, Some(1), json!([own(LATER)]), ("set", "old")),
        ("restored without entries", v1, v1, Some(1), json!([]), ("unknown", "new")),
        ("restored, and changed since", v1, v1, Some(3), json!([]), ("unknown", "new")),
        ("restored, and the kubelet alone has written", v1, v1, Some(1), json!([kubelet()]), ("unknown", "new")),
        ("restored, and set just now", v2, v1, Some(2), json!([]), ("unknown", "unverified")),
        ("the same, from before 1.33", v2, v1, Some(1), json!([]), ("unknown", "unverified")),
        ("the same, of a server before 1.33", v2, v1, None, json!([]), ("unknown", "unverified")),
        ("restored, shown by another name", v1, other_name, Some(1), json!([]), ("unknown", "unverified")),
        ("restored, with a digest", &pinned, "sha256:c0ffee", Some(1), json!([]), ("unknown", "new")),
        (
            "restored, and another digest set just now",
            &pinned_to_another,
            "sha256:c0ffee",
            Some(2),
            json!([]),
            ("unknown", "unverified"),
        ),
        (
            "entries that begin with the first server-side apply",
            v1,
            v1,
            Some(2),
            json!([entry("before-first-apply", LATER, &["app", "proxy"])]),
            ("set", "unverified"),
        ),
        (
            "the same, and injected: whether it was set before is not known",
            v2,
            v1,
            Some(2),
            json!([entry("kubectl", LATER, &["app"])]),
            ("unknown", "unverified"),
        ),
    ];
    for (case, asks, shows, generation, managed_fields, expected) in cases {
        assert_eq!(judged(&pod(asks, shows, generation, &managed_fields)), expected, "{case}");
    }
    // What is noted as updated was set in the pod, whatever has become of the entry.
    let mut noted = pod(v2, v1, Some(3), &json!([controller(CREATED)]));
    let side = json!({"from": "mesh/proxy:v0", "to": v1, "containerID": "containerd://zeroth"});
    let record = json!({"id": "r", "manager": "inplace-cli", "containers": {"proxy": side}});
    noted["metadata"]["annotations"] = json!({UPDATE_ANNOTATION: record.to_string()});
    assert_eq!(judged(&noted), ("unknown", "unverified"));
}
