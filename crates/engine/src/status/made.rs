//! What the server makes of a template when a pod is created: admission may give it other images, CPU and memory. That is
//! no drift.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{Comparison, ContainerReport, PodStatus};
use crate::change::{FieldChanges, Row, image_in};
use crate::k8s::names::ContainerName;
use crate::k8s::pod::{Container, Pod};
use crate::plan::{AdmittedPod, Snapshot};
use crate::rollout::patch::{ImageStep, NewImage, PodPatch, step_patch};
use crate::state::durable::history::{self, HistoryEntry};
use crate::state::evidence::Baseline;

/// Something of the template that the server changes in the pods that are created from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rewritten {
    /// The container's name, or `CONTAINER requests.cpu`.
    pub what: String,
    pub template: String,
    /// What the server makes of it; `None` where it removes it.
    pub made: Option<String>,
}

/// Returns a pod as the owner's controller creates it from this template, to ask the server by a dry run what it makes of the template.
pub fn pod_to_create(live: &Snapshot, template: &Value) -> Value {
    let workload = &live.workload;
    let reference = &workload.reference;
    let owner = live.pods.iter().filter_map(Pod::controller).find(|owner| live.controllers.contains(&owner.uid));
    let owner = owner.map(|owner| {
        let kind = reference.kind.owns_through().unwrap_or(reference.kind).spec();
        json!({"apiVersion": kind.api_version(), "kind": owner.kind, "name": owner.name, "uid": owner.uid, "controller": true})
    });
    let part = |pointer: &str| template.pointer(pointer).cloned().unwrap_or_default();
    let mut spec = part("/spec");
    let claims = workload.object.pointer("/spec/volumeClaimTemplates").and_then(Value::as_array);
    for name in claims.into_iter().flatten().filter_map(|claim| claim.pointer("/metadata/name")) {
        let volume = json!({"name": name, "persistentVolumeClaim": {"claimName": name}});
        if let Some(spec) = spec.as_object_mut()
            && let Some(volumes) = spec.entry("volumes").or_insert_with(|| json!([])).as_array_mut()
        {
            volumes.retain(|volume| volume.get("name") != Some(name));
            volumes.push(volume);
        }
    }
    json!({"apiVersion": "v1", "kind": "Pod", "spec": spec, "metadata": {"generateName": format!("{}-", reference.name),
        "namespace": reference.namespace, "labels": part("/metadata/labels"), "annotations": part("/metadata/annotations"),
        "ownerReferences": owner.into_iter().collect::<Vec<_>>()}})
}

/// Returns what the server has made of a template, as rollouts of this program have recorded it: where it cannot be asked now.
pub fn recorded_as_made(live: &Snapshot, template: &Value) -> Option<Pod> {
    let entries = history::union(&live.workload.object, &live.surroundings.owned);
    let mut pod = live.pods.first()?.clone();
    let mut is_known = false;
    for container in pod.spec.containers.iter_mut().chain(&mut pod.spec.init_containers) {
        let Some(image) = image_in(template, &container.name) else { continue };
        let of_entry = |entry: &HistoryEntry| {
            let known = entry.rollout.change.images.get(&container.name)?;
            let after = known.to_in_pods.as_ref().filter(|_| known.to == image);
            after.or(known.from_in_pods.as_ref().filter(|_| known.from == image)).cloned()
        };
        let made = entries.iter().rev().find_map(of_entry);
        is_known |= made.is_some();
        container.image = made.unwrap_or_else(|| image.to_owned());
    }
    is_known.then_some(pod)
}

/// Returns the patch that would give a pod the images of its template, where a new pod gets these and it has others: a dry run
/// shows whether a policy that acts on updates alone would set the present ones again.
pub fn template_patch(live: &Snapshot, made: &AdmittedPod) -> Option<PodPatch> {
    live.present_pods().find_map(|pod| {
        let template_image = |container: &Container| {
            let image = image_in(live.workload.template(), &container.name)?;
            let differs = image != container.image && made.image(&container.name) == Some(image);
            differs.then(|| NewImage { container: container.name.clone(), to: image.to_owned() })
        };
        let images: Vec<_> = pod.all_containers().filter_map(|(_, container)| template_image(container)).collect();
        let step = ImageStep { images, ..ImageStep::default() };
        let patch = || step_patch(pod, &step, &FieldChanges::default(), &"dry-run".into(), "dry-run");
        if step.images.is_empty() { None } else { patch() }
    })
}

/// Takes note of the images that a pod keeps, whatever an update sets.
pub fn note_kept(live: &Snapshot, made: &mut AdmittedPod, answer: &Pod) {
    let (template, before) = (live.workload.template(), live.pods.iter().find(|pod| pod.key == answer.key));
    let (Some(before), AdmittedPod::Pod(made)) = (before, made) else { return };
    for container in made.spec.containers.iter_mut().chain(&mut made.spec.init_containers) {
        let image_of = |pod: &Pod| Some(pod.spec_of(&container.name)?.image.clone());
        if image_in(template, &container.name) == Some(&container.image)
            && let Some(kept) = image_of(answer).filter(|kept| image_of(before).as_ref() == Some(kept))
        {
            container.image = kept;
        }
    }
}

impl AdmittedPod {
    fn pod(&self) -> Option<&Pod> {
        match self {
            Self::Pod(pod) => Some(pod),
            Self::NotAsked | Self::NotKnown(_) => None,
        }
    }

    /// Returns the image that the server gives a container of a new pod.
    pub(crate) fn image(&self, name: &ContainerName) -> Option<&str> {
        self.pod()?.spec_of(name).map(|container| container.image.as_str())
    }

    /// Returns what the server gives new pods of CPU and memory in place of what their template says.
    pub(super) fn resources(&self, template: &Value) -> Vec<Row> {
        self.pod().map(|made| FieldChanges::drift(template, made).rows()).unwrap_or_default()
    }
}

pub(super) fn rewritten(live: &Snapshot, theirs: &[&Pod], pods: &[PodStatus]) -> Vec<Rewritten> {
    let is_rewritten = |report: &&ContainerReport| {
        let is_changed = || live.in_pods(&report.container, report.asked.as_deref()?);
        matches!(report.comparison, Comparison::Rewritten | Comparison::Pinned) && is_changed().is_some()
    };
    let images = pods.iter().flat_map(|pod| &pod.containers).filter(is_rewritten);
    let images: BTreeSet<_> = images.filter_map(|report| Some((&report.container, report.asked.as_deref()?))).collect();
    let images = images.into_iter().map(|(container, template)| Rewritten {
        what: container.to_string(),
        template: template.to_owned(),
        made: live.surroundings.made.image(container).map(str::to_owned),
    });
    let template = live.workload.template();
    let mut rows = live.surroundings.made.resources(template);
    let of_pods: Vec<Row> = theirs.iter().flat_map(|pod| FieldChanges::drift(template, pod).rows()).collect();
    rows.retain(|row| of_pods.contains(row));
    let resources = rows
        .into_iter()
        .filter_map(|Row { what, before, after, .. }| Some(Rewritten { what, template: before?, made: after }));
    images.chain(resources).collect()
}

/// Returns each container whose image differs from the template in some of these pods, with the template's image.
pub(super) fn drifted<'p>(pods: impl IntoIterator<Item = &'p PodStatus>) -> BTreeSet<(&'p ContainerName, &'p str)> {
    let reports = pods.into_iter().flat_map(|pod| &pod.containers);
    let drifted = reports.filter(|report| report.comparison == Comparison::Drifted);
    drifted.filter_map(|report| Some((&report.container, report.asked.as_deref()?))).collect()
}

/// Returns whether `apply` may bring a container's image in pods to the template's. Where the server could not be asked what it
/// makes of that, and nobody has set another image since the pods were created, the server may have made theirs.
pub(super) fn may_be_brought(live: &Snapshot, name: &ContainerName, template: &str) -> bool {
    let is_by_server = |pod: &Pod| {
        let differs = pod.spec_of(name).is_some_and(|container| container.image != template);
        differs && Baseline::of(pod, name) == Baseline::Created
    };
    match &live.surroundings.made {
        AdmittedPod::NotAsked | AdmittedPod::Pod(_) => true,
        AdmittedPod::NotKnown(_) => !live.pods.iter().any(is_by_server),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::k8s::workload::Workload;
    use crate::kinds::WorkloadKind;
    use crate::status::tests::{CREATED, LATER, SET, Side, deployment, live, running};
    use crate::status::{PodState, WorkloadStatus, status};

    const TEMPLATE: &str = "acme/side:v1";
    const MIRRORED: &str = "mirror.example/acme/side:v1";

    fn made(image: &str) -> AdmittedPod {
        let object = json!({"metadata": {"name": "web-x"}, "spec": {"containers": [{"name": "side", "image": image,
            "resources": {"requests": {"cpu": "250m"}}}]}});
        AdmittedPod::Pod(Box::new(Pod::from_object(&object).unwrap()))
    }

    /// A pod whose only container has not restarted.
    fn pod(image: &'static str, set: &'static str) -> Value {
        let mut pod = Side::new(image, set, running(CREATED)).pod();
        pod["status"]["containerStatuses"][0]["restartCount"] = 0.into();
        pod
    }

    fn seen(made: AdmittedPod, owner: Value, pods: &[Value]) -> WorkloadStatus {
        let mut live = live(owner, pods);
        live.surroundings.made = made;
        status(&live)
    }

    #[test]
    fn what_the_server_makes_of_the_template_is_no_drift() {
        let unknown = || AdmittedPod::NotKnown("pods is forbidden".into());
        let cases = [
            ("made by the server", made(MIRRORED), MIRRORED, CREATED, ("rewritten", PodState::Ready, 0)),
            ("the template's own, all the same", made(MIRRORED), TEMPLATE, CREATED, ("same", PodState::Ready, 0)),
            ("another one", made(MIRRORED), "acme/side:v3", CREATED, ("drifted", PodState::Drifted, 1)),
            ("the server changes nothing", made(TEMPLATE), MIRRORED, CREATED, ("drifted", PodState::Drifted, 1)),
            ("not known, and as created", unknown(), MIRRORED, CREATED, ("drifted", PodState::Drifted, 0)),
            ("not known, and set since", unknown(), "acme/side:v3", SET, ("drifted", PodState::Drifted, 1)),
            ("not asked", AdmittedPod::NotAsked, MIRRORED, CREATED, ("drifted", PodState::Drifted, 1)),
        ];
        for (case, made, image, set, (comparison, state, commands)) in cases {
            let is_unknown = matches!(made, AdmittedPod::NotKnown(_));
            let found = seen(made, deployment(TEMPLATE), &[pod(image, set)]);
            let of_pod = &found.pods[0];
            assert_eq!(
                (of_pod.containers[0].comparison.word(), of_pod.state),
                (comparison, state),
                "{case}: {found:?}"
            );
            assert_eq!(found.next.len(), commands, "{case}: {:?}", found.next);
            assert_eq!(found.not_read.len(), usize::from(is_unknown), "{case}");
            let is_rewritten = comparison == "rewritten";
            assert_eq!((found.rewritten.len(), found.is_notable()), (usize::from(is_rewritten), commands > 0));
        }
    }

    /// What may be the server's hides nothing else.
    #[test]
    fn what_differs_beside_an_image_that_may_be_the_servers_is_reported() {
        let mut owner = deployment(TEMPLATE);
        owner["spec"]["template"]["spec"]["containers"][0]["resources"] = json!({"requests": {"cpu": "100m"}});
        for (asks, is_notable) in [("100m", false), ("300m", true)] {
            let mut pod = pod(MIRRORED, CREATED);
            pod["spec"]["containers"][0]["resources"] = json!({"requests": {"cpu": asks}});
            let found = seen(AdmittedPod::NotKnown("pods is forbidden".into()), owner.clone(), &[pod]);
            assert_eq!((found.pods[0].state, found.is_notable()), (PodState::Drifted, is_notable), "{asks}");
        }
    }

    #[test]
    fn cpu_and_memory_that_the_server_changes_are_no_drift() {
        let mut owner = deployment(TEMPLATE);
        owner["spec"]["template"]["spec"]["containers"][0]["resources"] = json!({"requests": {"cpu": "100m"}});
        for (asks, expected) in [("250m", PodState::Ready), ("300m", PodState::Drifted)] {
            let mut pod = pod(TEMPLATE, CREATED);
            pod["spec"]["containers"][0]["resources"] = json!({"requests": {"cpu": asks}});
            let found = seen(made(TEMPLATE), owner.clone(), &[pod]);
            assert_eq!(
                (found.pods[0].state, found.rewritten.len()),
                (expected, usize::from(asks == "250m")),
                "{found:?}"
            );
        }
    }

    /// An update that leaves the image alone may have been changed by admission: no entry shows it.
    #[test]
    fn an_image_that_admission_may_have_changed_in_a_running_pod_is_not_taken_for_what_runs() {
        for (generation, shows, restarts, expected) in [
            (2, TEMPLATE, 0, "unverified"),
            (1, TEMPLATE, 0, "ready"),
            (2, MIRRORED, 0, "ready"),
            (2, TEMPLATE, 1, "ready"),
        ] {
            let mut pod = pod(MIRRORED, CREATED);
            pod["metadata"]["generation"] = generation.into();
            let status = &mut pod["status"]["containerStatuses"][0];
            (status["image"], status["restartCount"]) = (shows.into(), restarts.into());
            let found = seen(made(MIRRORED), deployment(TEMPLATE), &[pod]).pods.remove(0);
            assert_eq!(found.containers[0].condition.word(), expected, "{generation} {shows} {restarts}");
        }
    }

    #[test]
    fn what_has_ended_in_a_pod_on_its_way_out_has_not_drifted() {
        let ended = json!({"state": {"terminated": {"exitCode": 143, "containerID": "containerd://new"}}});
        let mut pod = Side::new("acme/side:v3", SET, ended).not_ready().pod();
        pod["metadata"]["deletionTimestamp"] = LATER.into();
        let found = seen(AdmittedPod::NotAsked, deployment(TEMPLATE), &[pod]);
        assert_eq!(found.pods[0].state, PodState::Terminating);
        assert_ne!(found.pods[0].containers[0].comparison, Comparison::Drifted);
        assert!(!found.has_drifted() && found.next.is_empty());
    }

    #[test]
    fn the_pod_that_is_asked_about_is_whole() {
        let mut owner = deployment(TEMPLATE);
        owner["spec"]["template"]["metadata"] = json!({"labels": {"app": "web"}});
        let mut deployed = live(owner.clone(), &[pod(TEMPLATE, CREATED)]);
        let asked = pod_to_create(&deployed, deployed.workload.template());
        assert_eq!(asked["metadata"]["labels"], json!({"app": "web"}));
        assert_eq!(asked["metadata"]["ownerReferences"][0]["apiVersion"], "apps/v1");
        assert_eq!(
            (asked["metadata"]["ownerReferences"][0]["kind"].as_str(), &asked["spec"]["volumes"]),
            (Some("ReplicaSet"), &Value::Null)
        );
        owner["spec"]["volumeClaimTemplates"] = json!([{"metadata": {"name": "data"}}]);
        deployed.workload = Workload::from_object(WorkloadKind::StatefulSet, owner).unwrap();
        let volumes = json!([{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]);
        assert_eq!(pod_to_create(&deployed, deployed.workload.template())["spec"]["volumes"], volumes);
    }
}
