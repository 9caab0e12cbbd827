//! The container hashes of a pod now and after a change, and whether the kubelet would restart each container.
//!
//! Promise: says "restarts" exactly where the kubelet's `computePodActions` does (`pkg/kubelet/kuberuntime`): another
//! hash in `spec.containers`, whatever the restartPolicy; another hash of a sidecar from 1.32 on; never for a plain init
//! container.
//!
//! Not done here: whether the API server takes the change, and whether the pod is ending.

use serde_json::{Value, json};

use crate::k8s::container_hash::{ContainerHash, HashEra, container_hash};
use crate::k8s::names::{ContainerName, WorkloadRef};
use crate::k8s::pod::ContainerList;
use crate::kinds::WorkloadKind;
use crate::merge::{Schema, strategic_merge};
use crate::value::kubelet_version::KubeletVersion;

/// The version that is assumed for an unknown kubelet: from here on no rule of this module changes.
pub const ASSUMED_KUBELET: KubeletVersion = KubeletVersion::new(1, 32);

/// From where a kubelet's version is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kubelet {
    /// The user gave it.
    Given(KubeletVersion),
    /// The pod's node reports it.
    OfNode {
        /// The version.
        version: KubeletVersion,
        /// The node.
        node: String,
    },
    /// It is not known: [`ASSUMED_KUBELET`] or newer is assumed.
    Assumed,
}

impl Kubelet {
    /// Returns the version to compute with.
    pub fn version(&self) -> KubeletVersion {
        match self {
            Self::Given(version) | Self::OfNode { version, .. } => *version,
            Self::Assumed => ASSUMED_KUBELET,
        }
    }
}

/// The containers of one object.
#[derive(Debug, Clone, PartialEq)]
pub struct HashComparison {
    /// The pod, or the workload whose template it is.
    pub workload: WorkloadRef,
    /// The kubelet.
    pub kubelet: Kubelet,
    /// Each container, in the order in which the kubelet starts them.
    pub containers: Vec<ContainerComparison>,
}

/// One container.
#[derive(Debug, Clone, PartialEq)]
pub struct ContainerComparison {
    /// The container.
    pub container: ContainerName,
    /// Its list in the pod spec.
    pub list: ContainerList,
    /// Image and hash now; `None` for a container that only the change has.
    pub now: Option<Hashed>,
    /// Image and hash after the change; `None` where no change is asked about.
    pub after: Option<Hashed>,
    /// What the kubelet does about it; `None` where no change is asked about.
    pub restart: Option<Restart>,
}

/// An image, and the hash of its container.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hashed {
    /// `image`.
    pub image: String,
    /// The hash.
    pub hash: ContainerHash,
}

/// Whether the kubelet restarts a container.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Restart {
    /// It does.
    Yes,
    /// The hash stays, so it does not.
    SameHash,
    /// A plain init container has run and does not run again.
    InitContainer,
    /// Kubelets below 1.32 do not compare sidecars.
    SidecarNeedsNewerKubelet,
    /// The pod does not have the container, and a running pod gets none.
    NotInPod,
}

impl Restart {
    /// Returns whether the container is restarted.
    pub fn restarts(self) -> bool {
        self == Self::Yes
    }

    /// Returns why not, in a few words; `None` where it is restarted.
    pub fn why_not(self) -> Option<&'static str> {
        match self {
            Self::Yes => None,
            Self::SameHash => Some("same hash"),
            Self::InitContainer => Some("init containers are not run again"),
            Self::SidecarNeedsNewerKubelet => Some("sidecars restart from kubelet 1.32 on"),
            Self::NotInPod => Some("not in the pod; a running pod gets no container"),
        }
    }
}

/// Returns the pod that an object is, or that its template makes, with defaults filled in.
///
/// What the server stores has them already; filling them in once more changes nothing there.
pub fn pod_of(kind: WorkloadKind, object: &Value) -> Value {
    let template = object.pointer(kind.template_pointer()).unwrap_or(&Value::Null);
    let spec = template.get("spec").cloned().unwrap_or(Value::Null);
    Schema::POD.fill(&json!({ "spec": spec }))
}

/// Returns a pod as a manifest would change it: what the manifest says of its containers set, all else kept, such as the
/// mounts that admission added.
///
/// # Errors
/// When one of the two has lists that cannot be merged, such as containers without names.
pub fn merged(pod: &Value, manifest: &Value) -> Result<Value, strategic_merge::Error> {
    let mut spec = serde_json::Map::new();
    for list in [ContainerList::Containers, ContainerList::InitContainers] {
        if let Some(containers) = manifest.pointer(&format!("/spec/{}", list.spec_field())) {
            spec.insert(list.spec_field().to_owned(), containers.clone());
        }
    }
    let patch = strategic_merge::three_way(None, &json!({ "spec": spec }), pod, Schema::POD)?;
    let merged = strategic_merge::apply(pod, &patch, Schema::POD)?;
    Ok(Schema::POD.fill(&merged))
}

/// Compares the containers of a pod with those after a change, if one is asked about; both filled in ([`pod_of`]).
///
/// Returns `None` for kubelets before 1.16: their hash depended on the build itself.
pub fn compare(now: &Value, after: Option<&Value>, kubelet: &Kubelet) -> Option<Vec<ContainerComparison>> {
    let era = HashEra::of_kubelet(&kubelet.version())?;
    let mut found = Vec::new();
    for list in [ContainerList::InitContainers, ContainerList::Containers] {
        let new = after.map(|after| containers(after, list)).unwrap_or_default();
        let old = containers(now, list);
        let known: Vec<&str> = old.iter().map(|container| name(container)).collect();
        for container in &old {
            let new = new.iter().copied().find(|other| name(other) == name(container));
            let restart = new.map(|new| restart(era, kubelet.version(), list, container, new));
            found.push(ContainerComparison {
                container: name(container).into(),
                list,
                now: Some(hashed(era, container)),
                after: new.map(|new| hashed(era, new)),
                restart,
            });
        }
        found.extend(new.into_iter().filter(|new| !known.contains(&name(new))).map(|new| ContainerComparison {
            container: name(new).into(),
            list,
            now: None,
            after: Some(hashed(era, new)),
            restart: Some(Restart::NotInPod),
        }));
    }
    Some(found)
}

fn restart(era: HashEra, kubelet: KubeletVersion, list: ContainerList, now: &Value, after: &Value) -> Restart {
    let is_sidecar = now.get("restartPolicy").and_then(Value::as_str) == Some("Always");
    if container_hash(era, now) == container_hash(era, after) {
        Restart::SameHash
    } else if list == ContainerList::Containers {
        Restart::Yes
    } else if !is_sidecar {
        Restart::InitContainer
    } else if kubelet.at_least(1, 32) {
        Restart::Yes
    } else {
        Restart::SidecarNeedsNewerKubelet
    }
}

fn containers(pod: &Value, list: ContainerList) -> Vec<&Value> {
    pod.pointer(&format!("/spec/{}", list.spec_field())).and_then(Value::as_array).into_iter().flatten().collect()
}

fn name(container: &Value) -> &str {
    container.get("name").and_then(Value::as_str).unwrap_or_default()
}

fn hashed(era: HashEra, container: &Value) -> Hashed {
    let image = container.get("image").and_then(Value::as_str).unwrap_or_default().to_owned();
    Hashed { image, hash: container_hash(era, container) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(minor: u32) -> Kubelet {
        Kubelet::Given(KubeletVersion::new(1, minor))
    }

    fn pod(app: &str, sidecar: &str, init: &str) -> Value {
        let object = json!({"spec": {"template": {"spec": {
            "initContainers": [{"name": "init", "image": init}, {"name": "mesh", "image": sidecar, "restartPolicy": "Always"}],
            "containers": [{"name": "app", "image": app}]}}}});
        pod_of(WorkloadKind::Deployment, &object)
    }

    fn verdicts(found: Option<Vec<ContainerComparison>>) -> Vec<(String, Option<Restart>)> {
        found.unwrap().into_iter().map(|container| (container.container.to_string(), container.restart)).collect()
    }

    #[test]
    fn the_hash_is_the_kubelets() {
        // Read from containerd below a 1.36.3 kubelet.
        let pod = pod_of(
            WorkloadKind::Pod,
            &json!({"spec": {"containers": [
            {"name": "app", "image": "registry.test/app:v1"}, {"name": "side", "image": "registry.test/side:v1"}]}}),
        );
        let found = compare(&pod, None, &Kubelet::Assumed).unwrap();
        let hashes: Vec<String> = found.iter().map(|one| one.now.as_ref().unwrap().hash.to_string()).collect();
        assert_eq!(hashes, ["cacdff2f", "7f53a3a1"]);
        assert!(found.iter().all(|container| container.restart.is_none() && container.after.is_none()));
    }

    #[test]
    fn who_restarts_depends_on_list_and_version() {
        let (before, after) = (pod("a:1", "m:1", "i:1"), pod("a:2", "m:2", "i:2"));
        let expected = |mesh| {
            vec![
                ("init".to_owned(), Some(Restart::InitContainer)),
                ("mesh".to_owned(), Some(mesh)),
                ("app".to_owned(), Some(Restart::Yes)),
            ]
        };
        for (kubelet, mesh) in [
            (version(30), Restart::SidecarNeedsNewerKubelet),
            (version(31), Restart::SidecarNeedsNewerKubelet),
            (version(32), Restart::Yes),
            (Kubelet::Assumed, Restart::Yes),
        ] {
            assert_eq!(verdicts(compare(&before, Some(&after), &kubelet)), expected(mesh), "{kubelet:?}");
        }
        let same = compare(&before, Some(&before), &version(36));
        assert!(verdicts(same).iter().all(|(_, restart)| *restart == Some(Restart::SameHash)));
        assert_eq!(compare(&before, None, &version(15)), None);
    }

    #[test]
    fn other_fields_count_for_older_kubelets_alone() {
        let (before, mut after) = (pod("a:1", "m:1", "i:1"), pod("a:1", "m:1", "i:1"));
        after["spec"]["containers"][0]["env"] = json!([{"name": "A", "value": "1"}]);
        let app = |kubelet| verdicts(compare(&before, Some(&after), &kubelet)).pop().and_then(|(_, restart)| restart);
        assert_eq!(app(version(30)), Some(Restart::Yes));
        assert_eq!(app(version(31)), Some(Restart::SameHash));
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
            ("init", Restart::SameHash),
            ("mesh", Restart::SameHash),
            ("app", Restart::Yes),
            ("new", Restart::NotInPod),
        ];
        let expected = expected.map(|(name, restart)| (name.to_owned(), Some(restart)));
        assert_eq!(verdicts(compare(&live, Some(&merged), &version(30))), expected);
        assert!(super::merged(&live, &json!({"spec": {"containers": [1]}})).is_err());
    }
}
