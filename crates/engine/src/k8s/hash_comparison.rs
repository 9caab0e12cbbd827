//! The container hashes of a pod now and after a change, and whether the kubelet would restart each container.
//!
//! Promise: says "restarts" exactly where the kubelet's `computePodActions` does (`pkg/kubelet/kuberuntime`): another
//! hash in `spec.containers`, whatever the restartPolicy; another hash of a sidecar from 1.32 on; never for a plain init
//! container. It does not ask whether the API server takes the change, and whether the pod is ending.

use serde::Serialize;
use serde_json::{Value, json};

use crate::k8s::container_hash::container_hash;
use crate::k8s::names::{ContainerName, WorkloadRef};
use crate::k8s::pod::ContainerList;
use crate::kinds::WorkloadKind;
use crate::merge::{Schema, strategic_merge};
use crate::value::json_path::text;
use crate::value::kubelet_version::KubeletVersion;

/// Whose hash it is, and from where that is known: `given` by the user, of the pod's `node`, or `assumed`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Kubelet {
    pub version: KubeletVersion,
    pub source: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
}

impl Kubelet {
    /// An unknown one: from this version on no rule of this module changes.
    pub const ASSUMED: Self = Self { version: KubeletVersion::new(1, 32), source: "assumed", node: None };
}

/// The containers of a pod, or of the template of a workload, in the order in which the kubelet starts them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HashComparison {
    #[serde(flatten)]
    pub workload: WorkloadRef,
    pub kubelet: Kubelet,
    pub containers: Vec<ContainerComparison>,
}

/// One container now, with nothing known of one that only the change has, and after a change, if one is asked about.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ContainerComparison {
    pub container: ContainerName,
    pub list: ContainerList,
    pub image: Option<String>,
    pub hash: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image_after: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hash_after: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restarts: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why_not: Option<&'static str>,
}

/// Returns the pod that an object is, or that its template makes, with defaults filled in.
///
/// What the server stores has them already; filling them in once more changes nothing there.
pub fn pod_of(kind: WorkloadKind, object: &Value) -> Value {
    let spec = object.pointer(&format!("{}/spec", kind.template_pointer()));
    Schema::POD.fill(&json!({ "spec": spec }))
}

/// Returns a pod as a manifest would change it: what the manifest says of its containers set, all else kept, such as the
/// mounts that admission added.
pub fn merged(pod: &Value, manifest: &Value) -> Result<Value, strategic_merge::Error> {
    let list = |name: &'static str| Some((name, manifest.pointer(&format!("/spec/{name}"))?.clone()));
    let given: Value = ContainerList::ALL.map(ContainerList::spec_field).into_iter().filter_map(list).collect();
    let given = json!({ "spec": given });
    let patch = strategic_merge::three_way(None, &given, pod, Schema::POD)?;
    Ok(Schema::POD.fill(&strategic_merge::apply(pod, &patch, Schema::POD)?))
}

/// Compares the containers of a pod with those after a change, if one is asked about; both filled in ([`pod_of`]).
///
/// Returns `None` for kubelets before 1.16: their hash depended on the build itself.
pub fn compare(now: &Value, after: Option<&Value>, kubelet: KubeletVersion) -> Option<Vec<ContainerComparison>> {
    container_hash(kubelet, &Value::Null)?;
    let hash = |container: &Value| container_hash(kubelet, container).unwrap_or_default();
    let seen = |container: Option<&Value>| container.map(|it| (text(it, "/image").to_owned(), hash(it))).unzip();
    let mut all = Vec::new();
    for list in [ContainerList::InitContainers, ContainerList::Containers] {
        let (old, new) = (containers(now, list), containers(after.unwrap_or(&Value::Null), list));
        let added = new.iter().filter(|new| named(old, text(new, "/name")).is_none());
        for name in old.iter().chain(added).map(|container| text(container, "/name")) {
            let (now, after) = (named(old, name), named(new, name));
            let ((image, hash), (image_after, hash_after)) = (seen(now), seen(after));
            let why_not = after.and_then(|_| match now {
                Some(_) if hash == hash_after => Some("same hash"),
                Some(_) if list == ContainerList::Containers => None,
                Some(now) if text(now, "/restartPolicy") != "Always" => Some("init containers are not run again"),
                Some(_) => (!kubelet.at_least(1, 32)).then_some("sidecars restart from kubelet 1.32 on"),
                None => Some("not in the pod; a running pod gets no container"),
            });
            let (container, restarts) = (name.into(), after.map(|_| why_not.is_none()));
            all.push(ContainerComparison { container, list, image, hash, image_after, hash_after, restarts, why_not });
        }
    }
    Some(all)
}

fn containers(pod: &Value, list: ContainerList) -> &[Value] {
    pod.pointer(&format!("/spec/{}", list.spec_field())).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn named<'a>(list: &'a [Value], name: &str) -> Option<&'a Value> {
    list.iter().find(|container| text(container, "/name") == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAME_HASH: Option<&str> = Some("same hash");
    const NEWER_KUBELET: Option<&str> = Some("sidecars restart from kubelet 1.32 on");

    fn version(minor: u32) -> KubeletVersion {
        KubeletVersion::new(1, minor)
    }

    fn pod(app: &str, sidecar: &str, init: &str) -> Value {
        let object = json!({"spec": {"template": {"spec": {
            "initContainers": [{"name": "init", "image": init}, {"name": "mesh", "image": sidecar, "restartPolicy": "Always"}],
            "containers": [{"name": "app", "image": app}]}}}});
        pod_of(WorkloadKind::Deployment, &object)
    }

    /// Each container, and why it is not restarted.
    fn verdicts(found: Option<Vec<ContainerComparison>>) -> Vec<(String, Option<&'static str>)> {
        let of = |one: ContainerComparison| {
            assert_eq!(one.restarts, Some(one.why_not.is_none()), "{one:?}");
            (one.container.to_string(), one.why_not)
        };
        found.unwrap().into_iter().map(of).collect()
    }

    #[test]
    fn the_hash_is_the_kubelets() {
        // Read from containerd below a 1.36.3 kubelet.
        let pod = pod_of(
            WorkloadKind::Pod,
            &json!({"spec": {"containers": [
            {"name": "app", "image": "registry.test/app:v1"}, {"name": "side", "image": "registry.test/side:v1"}]}}),
        );
        let found = compare(&pod, None, Kubelet::ASSUMED.version).unwrap();
        let hashes: Vec<String> = found.iter().map(|one| one.hash.clone().unwrap()).collect();
        assert_eq!(hashes, ["cacdff2f", "7f53a3a1"]);
        assert!(found.iter().all(|container| container.restarts.is_none() && container.hash_after.is_none()));
    }

    #[test]
    fn who_restarts_depends_on_list_and_version() {
        let (before, after) = (pod("a:1", "m:1", "i:1"), pod("a:2", "m:2", "i:2"));
        let expected = |mesh| {
            vec![
                ("init".to_owned(), Some("init containers are not run again")),
                ("mesh".to_owned(), mesh),
                ("app".to_owned(), None),
            ]
        };
        for (kubelet, mesh) in [
            (version(30), NEWER_KUBELET),
            (version(31), NEWER_KUBELET),
            (version(32), None),
            (Kubelet::ASSUMED.version, None),
        ] {
            assert_eq!(verdicts(compare(&before, Some(&after), kubelet)), expected(mesh), "{kubelet:?}");
        }
        let same = compare(&before, Some(&before), version(36));
        assert!(verdicts(same).iter().all(|(_, why_not)| *why_not == SAME_HASH));
        assert_eq!(compare(&before, None, version(15)), None);
    }

    #[test]
    fn other_fields_count_for_older_kubelets_alone() {
        let (before, mut after) = (pod("a:1", "m:1", "i:1"), pod("a:1", "m:1", "i:1"));
        after["spec"]["containers"][0]["env"] = json!([{"name": "A", "value": "1"}]);
        let app = |kubelet| verdicts(compare(&before, Some(&after), kubelet)).pop().and_then(|(_, why_not)| why_not);
        assert_eq!(app(version(30)), None);
        assert_eq!(app(version(31)), SAME_HASH);
    }

    #[test]
    fn a_manifest_sets_what_it_says_and_keeps_the_rest() {
        let mut live = pod("a:1", "m:1", "i:1");
        live["spec"]["containers"][0]["volumeMounts"] = json!([{"name": "token", "mountPath": "/t"}]);
        let manifest = json!({"spec": {"containers": [{"name": "app", "image": "a:2"}, {"name": "new", "image": "n:1"}],
            "volumes": [{"name": "not-a-container"}]}});
        let merged = merged(&live, &manifest).unwrap();
        assert_eq!(merged.pointer("/spec/containers/0/volumeMounts"), live.pointer("/spec/containers/0/volumeMounts"));
        assert_eq!(merged.pointer("/spec/volumes"), None);
        let expected = [
            ("init", SAME_HASH),
            ("mesh", SAME_HASH),
            ("app", None),
            ("new", Some("not in the pod; a running pod gets no container")),
        ];
        let expected = expected.map(|(name, restart)| (name.to_owned(), restart));
        assert_eq!(verdicts(compare(&live, Some(&merged), version(30))), expected);
        assert!(super::merged(&live, &json!({"spec": {"containers": [1]}})).is_err());
    }
}
