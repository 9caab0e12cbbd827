//! A saved plan: what it was made from, and whether that is still so.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{PLAN_API_VERSION, Plan, PodVerdict, SkippedObject, Snapshot, WorkloadPlan};
use crate::change::reason::Reason;
use crate::change::template;
use crate::k8s::names::{ContainerName, PodKey};
use crate::k8s::pod::{ContainerList, Pod};
use crate::state::manager::{self, ManagerError};
use crate::state::outcome::EndResult;

const KIND: &str = "SavedPlan";

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SavedPlan {
    api_version: String,
    kind: String,
    pub server: String,
    pub field_manager: String,
    /// One a workload, in the plan's order.
    pub workloads: Vec<SavedWorkload>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    skipped: Vec<SkippedObject>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SavedWorkload {
    pub plan: WorkloadPlan,
    /// The owner's template; null for a pod.
    template: Value,
    images: Vec<PodImages>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct PodImages {
    pod: PodKey,
    images: BTreeMap<ContainerName, String>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SavedPlanError {
    /// Not JSON, or not of this shape.
    #[error("it is no saved plan: {0}")]
    Unreadable(String),
    #[error("it is a {kind} of {api_version}; this program reads a {KIND} of {PLAN_API_VERSION}")]
    OtherVersion { api_version: String, kind: String },
    /// What is written under its field manager would not last.
    #[error("its field manager cannot be used: {0}")]
    FieldManager(#[from] ManagerError),
    #[error("it cannot be carried out: its result is {}", .0.word())]
    NotApplyable(EndResult),
}

impl SavedPlan {
    /// Puts together what is saved. `lives` are the workloads that the plan was built from, in its order.
    pub fn new(plan: &Plan, lives: &[Snapshot], server: &str, field_manager: &str) -> Self {
        let workloads = plan.workloads.iter().zip(lives).map(|(plan, live)| SavedWorkload {
            // Somebody else may carry it out.
            plan: WorkloadPlan { missing_permissions: Vec::new(), ..plan.clone() },
            template: template_of(live),
            images: changing(plan).filter_map(|key| images(live.pods.iter().find(|pod| pod.key == *key)?)).collect(),
        });
        Self {
            api_version: PLAN_API_VERSION.into(),
            kind: KIND.into(),
            server: server.into(),
            field_manager: field_manager.into(),
            workloads: workloads.collect(),
            skipped: plan.skipped.clone(),
        }
    }

    /// Reads a saved plan that can be carried out.
    pub fn parse(text: &[u8]) -> Result<Self, SavedPlanError> {
        let value: Value =
            serde_json::from_slice(text).map_err(|error| SavedPlanError::Unreadable(error.to_string()))?;
        let text = |key: &str| value.get(key).and_then(Value::as_str).unwrap_or("(none)").to_owned();
        let (api_version, kind) = (text("apiVersion"), text("kind"));
        if api_version != PLAN_API_VERSION || kind != KIND {
            return Err(SavedPlanError::OtherVersion { api_version, kind });
        }
        let saved: Self =
            serde_json::from_value(value).map_err(|error| SavedPlanError::Unreadable(error.to_string()))?;
        manager::read(&saved.field_manager)?;
        let result = saved.plan().result();
        if !matches!(result, EndResult::Changes | EndResult::NothingToDo) {
            return Err(SavedPlanError::NotApplyable(result));
        }
        Ok(saved)
    }

    pub fn plan(&self) -> Plan {
        let workloads = self.workloads.iter().map(|workload| workload.plan.clone());
        Plan { workloads: workloads.collect(), skipped: self.skipped.clone() }
    }

    /// Returns the plan checked against the live workloads, in its order: a workload that has changed is not eligible,
    /// with the change as a reason.
    pub fn held_against(&self, lives: &[Snapshot]) -> Plan {
        let mut plan = self.plan();
        for ((plan, saved), live) in plan.workloads.iter_mut().zip(&self.workloads).zip(lives) {
            // What the server answered then is no longer valid.
            plan.checked_by_server = false;
            let moved = saved.moved(live);
            if !moved.is_empty() {
                plan.refuse();
                plan.reasons.extend(moved);
            }
        }
        plan
    }
}

impl SavedWorkload {
    /// Returns every change since the plan was made, not only the first.
    ///
    /// A changed resourceVersion does not count: every status write changes it. A pod that was created since does not
    /// count either: the plan does not show it, so it is not changed.
    fn moved(&self, live: &Snapshot) -> Vec<Reason> {
        let workload = &self.plan.workload;
        let stale = |path: String, moved: String| Reason::PlanStale { path, moved };
        let is_another = |moved: String| stale("metadata.uid".to_owned(), moved);
        if live.workload.uid != self.plan.uid {
            return vec![is_another(format!("{workload} was deleted and re-created"))];
        }
        let mut found = Vec::new();
        let paths = template::changed_paths(&self.template, &template_of(live), "template");
        if let Some(first) = paths.first() {
            found.push(stale(first.clone(), format!("the template of {workload} changed: {}", paths.join(", "))));
        }
        for PodImages { pod, images: planned } in &self.images {
            let Some(now) = live.pods.iter().find(|known| known.key == *pod).and_then(images) else {
                found.push(is_another(format!("{pod} is gone, or another pod has its name")));
                continue;
            };
            for (container, planned) in planned {
                let now = now.images.get(container).map_or("(no such container)", String::as_str);
                if now != planned {
                    let moved = format!("container {container} of {pod} has the image {now}; it was {planned}");
                    found.push(stale(format!("spec.containers[{container}].image"), moved));
                }
            }
        }
        found
    }
}

fn changing(plan: &WorkloadPlan) -> impl Iterator<Item = &PodKey> {
    plan.pods
        .iter()
        .filter(|pod| matches!(pod.verdict, PodVerdict::Update | PodVerdict::InProgress))
        .map(|pod| &pod.pod)
}

fn images(pod: &Pod) -> Option<PodImages> {
    let containers = ContainerList::ALL.map(|list| pod.containers(list));
    let images = containers.into_iter().flatten().map(|container| (container.name.clone(), container.image.clone()));
    (!pod.terminating).then(|| PodImages { pod: pod.key.clone(), images: images.collect() })
}

/// A bare pod has no template of its own; its images are compared as the pod's.
fn template_of(live: &Snapshot) -> Value {
    if live.workload.reference.kind.template_pointer().is_empty() {
        Value::Null
    } else {
        live.workload.template().clone()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::change::target;
    use crate::k8s::workload::Workload;
    use crate::kinds::WorkloadKind;
    use crate::plan::assemble::{Objects, assemble};
    use crate::plan::{Intent, Options, build};

    fn live() -> Snapshot {
        let template = json!({"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "app", "image": "a:1"}, {"name": "side", "image": "s:1"}]}});
        let object = json!({"metadata": {"name": "web", "namespace": "n", "uid": "set"}, "spec": {"replicas": 1, "template": template}});
        let pod = json!({"metadata": {"name": "web-0", "namespace": "n", "uid": "u0", "ownerReferences": [{"kind": "ReplicaSet", "name": "web", "uid": "set", "controller": true}]},
            "spec": {"containers": [{"name": "app", "image": "a:1"}, {"name": "side", "image": "s:1"}]}});
        let workload = Workload::from_object(WorkloadKind::ReplicaSet, object).unwrap();
        assemble(workload, Objects { pods: vec![Pod::from_object(&pod).unwrap()], ..Objects::default() })
    }

    fn saved() -> SavedPlan {
        let words = ["rs/web".to_owned(), "side=s:2".to_owned()];
        let images = target::parse(&words, &[], target::Unnamed::None, false).unwrap().images;
        let plan = Plan {
            workloads: vec![build(&Intent::Images(images), &live(), &Options::default()).unwrap()],
            skipped: Vec::new(),
        };
        SavedPlan::new(&plan, &[live()], "https://server", "inplace-cli")
    }

    #[test]
    fn a_saved_plan_reads_back_the_same() {
        let text = serde_json::to_vec(&saved()).unwrap();
        assert_eq!(SavedPlan::parse(&text), Ok(saved()));
        assert!(matches!(SavedPlan::parse(b"{"), Err(SavedPlanError::Unreadable(_))));
        assert!(matches!(
            SavedPlan::parse(br#"{"kind":"Pod","apiVersion":"v1"}"#),
            Err(SavedPlanError::OtherVersion { .. })
        ));
        let taken_over = SavedPlan { field_manager: "kubectl-edit".into(), ..saved() };
        let taken_over = SavedPlan::parse(&serde_json::to_vec(&taken_over).unwrap());
        assert!(matches!(taken_over, Err(SavedPlanError::FieldManager(_))), "{taken_over:?}");
    }

    #[test]
    fn a_stale_plan_says_so_with_a_code_for_each_thing_that_changed() {
        let mut live = live();
        assert_eq!(saved().held_against(&[live.clone()]), saved().plan());
        live.pods[0].spec.containers[0].image = "a:9".into();
        live.workload.object["spec"]["template"]["spec"]["hostPID"] = json!(true);
        let plan = saved().held_against(&[live]);
        let reported: Vec<_> = plan.workloads[0].reasons.iter().map(|reason| (reason.code(), reason.path())).collect();
        let path = |path: &str| ("PlanStale", Some(path.to_owned()));
        assert_eq!(reported, [path("template.spec.hostPID"), path("spec.containers[app].image")]);
        assert_eq!(plan.result(), EndResult::Superseded);
    }

    #[test]
    fn what_changed_is_named() {
        let saved = saved();
        let moved = |change: fn(&mut Snapshot)| {
            let mut live = live();
            change(&mut live);
            saved.workloads[0].moved(&live).iter().map(Reason::sentence).collect::<Vec<_>>()
        };
        assert_eq!(moved(|_| {}), [""; 0]);
        assert_eq!(moved(|live| live.pods[0].resource_version = 99), [""; 0]);
        assert_eq!(moved(|live| live.workload.uid = "other".into()), ["replicaset/web was deleted and re-created"]);
        assert_eq!(
            moved(|live| live.pods[0].key.uid = "u1".into()),
            ["pod/web-0 is gone, or another pod has its name"]
        );
        assert_eq!(moved(|live| live.pods[0].terminating = true), ["pod/web-0 is gone, or another pod has its name"]);
        assert_eq!(
            moved(|live| live.pods[0].spec.containers[0].image = "a:9".into()),
            ["container app of pod/web-0 has the image a:9; it was a:1"]
        );
        let template =
            moved(|live| live.workload.object["spec"]["template"]["spec"]["containers"][0]["image"] = json!("a:2"));
        assert_eq!(template, ["the template of replicaset/web changed: template.spec.containers[app].image"]);
    }
}
