//! Objects of manifests that are not looked at: of a kind that is not updated here, and hooks.
//!
//! Promise: what is skipped is named in the plan; of two manifests only what differs, so that a plan without a change is not
//! taken for manifests without one.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::kinds::WorkloadKind;
use crate::plan::outline::{Hook, Outline, Written};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SkippedObject {
    pub api_version: String,
    pub kind: String,
    /// The namespace as written; empty where there is none.
    pub namespace: String,
    pub name: String,
    pub why: SkippedBecause,
    pub change: SkippedChange,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum SkippedBecause {
    /// A tool makes it at certain times, each time again, and nothing updates it.
    Hook(Hook),
    /// A kind of another group or version has this name.
    OtherVersion(WorkloadKind),
    OtherKind,
    /// It is planned by itself: its controller updates pods that others may update here.
    SidecarSet,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum SkippedChange {
    /// It was not compared with what the cluster has.
    NotCompared,
    Added,
    Removed,
    /// It differs, and its pods, if it has some, keep their template.
    Changed,
    /// The template of its pods differs, too: what becomes of them is not known.
    PodTemplateChanged,
}

/// Returns the kind of an object that is looked at, by `apiVersion`, `kind` and whether it is a hook; else why it is
/// skipped.
pub fn taken((api_version, kind): (&str, &str), hook: Option<Hook>) -> Result<WorkloadKind, SkippedBecause> {
    let namesake = WorkloadKind::of_owner(api_version, kind).or_else(|| WorkloadKind::named(kind));
    match (hook, WorkloadKind::from_manifest(api_version, kind), namesake) {
        (Some(hook), _, _) => Err(SkippedBecause::Hook(hook)),
        (None, Some(known), _) if known.is_sidecar_set() => Err(SkippedBecause::SidecarSet),
        (None, Some(known), _) => Ok(known),
        (None, None, Some(known)) => Err(SkippedBecause::OtherVersion(known)),
        (None, None, None) => Err(SkippedBecause::OtherKind),
    }
}

impl SkippedBecause {
    /// Returns it as a sentence that needs no subject, without a full stop.
    pub fn sentence(self) -> String {
        match self {
            Self::Hook(Hook::Helm) => "a Helm hook (annotation helm.sh/hook)".to_owned(),
            Self::Hook(Hook::ArgoCd) => "an Argo CD hook (annotation argocd.argoproj.io/hook)".to_owned(),
            Self::OtherVersion(known) => {
                format!("of this kind only {} is updated in place", known.spec().api_version())
            }
            Self::SidecarSet => "its controller updates pods of other workloads: plan it by itself".to_owned(),
            Self::OtherKind => "not a kind that is updated in place".to_owned(),
        }
    }
}

impl SkippedChange {
    /// Returns it in words, which follow the object's name; `None` where nothing is known.
    pub fn words(self) -> Option<&'static str> {
        match self {
            Self::NotCompared => None,
            Self::Added => Some("added"),
            Self::Removed => Some("removed"),
            Self::Changed => Some("changed"),
            Self::PodTemplateChanged => Some("pod template changed"),
        }
    }
}

impl SkippedObject {
    /// Returns the object as `kubectl apply` names it, such as `cronjob.batch/backup`.
    pub fn resource(&self) -> String {
        let group = self.api_version.split_once('/').map(|(group, _)| format!(".{group}")).unwrap_or_default();
        format!("{}{group}/{}", self.kind.to_lowercase(), self.name)
    }
}

/// The name of an object in any version of its group, and why it is skipped: what becomes a hook is another object.
type Key = (String, String, String, String, SkippedBecause);

/// Returns the objects of two sets of manifests that differ and are not compared, those whose pods may change first.
pub(super) fn of_two<M: Written>(old: &[M], new: &[M], namespace: Option<&str>) -> Vec<SkippedObject> {
    let mut found: BTreeMap<Key, ([BTreeSet<Outline>; 2], [&str; 2])> = BTreeMap::new();
    for (side, objects) in [old, new].into_iter().enumerate() {
        for object in objects {
            let [api_version, kind, given, name] = object.identity();
            let hook = Hook::of(object.object());
            let Err(why) = taken((api_version, kind), hook) else { continue };
            let group = api_version.split_once('/').map_or("", |(group, _)| group);
            let place = if given.is_empty() { namespace.unwrap_or_default() } else { given };
            let [group, kind, place, name] = [group, kind, place, name].map(str::to_owned);
            let (sides, as_written) = found.entry((group, kind, place, name, why)).or_default();
            if let Some(side) = sides.get_mut(side) {
                side.insert(Outline::of(object.object()));
            }
            *as_written = [api_version, given];
        }
    }
    let differs = found.into_iter().filter(|(_, ([old, new], _))| old != new);
    let mut skipped: Vec<SkippedObject> = differs
        .map(|((_, kind, _, name, why), ([old, new], [api_version, namespace]))| {
            let (api_version, namespace) = (api_version.to_owned(), namespace.to_owned());
            SkippedObject { api_version, kind, namespace, name, why, change: change(&old, &new) }
        })
        .collect();
    skipped.sort_by_key(|object| object.change != SkippedChange::PodTemplateChanged);
    skipped
}

fn change(old: &BTreeSet<Outline>, new: &BTreeSet<Outline>) -> SkippedChange {
    let templates = |side: &BTreeSet<Outline>| side.iter().map(|one| one.templates().to_vec()).collect::<Vec<_>>();
    let are_hooks = old.iter().chain(new).any(|one| one.hook().is_some());
    match () {
        () if old.is_empty() => SkippedChange::Added,
        () if new.is_empty() => SkippedChange::Removed,
        // A hook that has run is not changed by the next one.
        () if are_hooks || templates(old) == templates(new) => SkippedChange::Changed,
        () => SkippedChange::PodTemplateChanged,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::k8s::metadata::LAST_APPLIED;

    fn object(api_version: &str, kind: &str, rest: &Value) -> Value {
        let mut object = json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": "web"}});
        for (field, value) in rest.as_object().into_iter().flatten() {
            object[field] = value.clone();
        }
        object
    }

    fn template(image: &str) -> Value {
        json!({"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "app", "image": image}]}})
    }

    fn change_of(old: &Value, new: &Value) -> Option<SkippedChange> {
        let found = of_two(std::slice::from_ref(old), std::slice::from_ref(new), Some("prod"));
        assert!(found.len() < 2, "{found:?}");
        found.first().map(|skipped| skipped.change)
    }

    #[test]
    fn a_pod_template_is_recognized_wherever_it_is() {
        type Make = fn(Value) -> Value;
        let places: [(&str, &str, Make); 8] = [
            ("acme.example/v1", "Web", |template| json!({"spec": {"replicas": 1, "template": template}})),
            ("batch/v1", "Job", |template| json!({"spec": {"template": template}})),
            ("batch/v1", "CronJob", |template| json!({"spec": {"jobTemplate": {"spec": {"template": template}}}})),
            ("apps.kruise.io/v1alpha1", "StatefulSet", |template| json!({"spec": {"template": template}})),
            ("apps.kruise.io/v1alpha1", "SidecarSet", |template| json!({"spec": template["spec"]})),
            ("v1", "PodTemplate", |template| json!({"template": template})),
            (
                "jobset.x-k8s.io/v1alpha2",
                "JobSet",
                |template| json!({"spec": {"replicatedJobs": [{"name": "a", "template": {"spec": {"template": template}}}]}}),
            ),
            ("a.b/v1", "Own", |template| json!({"spec": {"deep": [{"podTemplate": template}]}})),
        ];
        for (api_version, kind, make) in places {
            let with = |image: &str| object(api_version, kind, &make(template(image)));
            let (old, mut other) = (with("app:1"), with("app:1"));
            assert_eq!(change_of(&old, &with("app:2")), Some(SkippedChange::PodTemplateChanged), "{kind}");
            assert_eq!(change_of(&old, &old), None, "{kind}");
            other["spec"]["schedule"] = json!("x");
            let only = if kind == "SidecarSet" { SkippedChange::PodTemplateChanged } else { SkippedChange::Changed };
            assert_eq!(change_of(&old, &other), Some(only), "{kind}");
            let mut hook = with("app:1");
            hook["metadata"]["annotations"] = json!({"helm.sh/hook": "test"});
            let mut again = hook.clone();
            again["spec"] = with("app:2")["spec"].clone();
            again["template"] = with("app:2")["template"].clone();
            assert_eq!(change_of(&hook, &again), Some(SkippedChange::Changed), "a hook: {kind}");
        }
        // Words are no template: what has no list of containers, and a list elsewhere.
        for rest in
            [json!({"spec": {"template": {"spec": {"containers": "x"}}}}), json!({"spec": {"x": template("a")}})]
        {
            let old = object("a.b/v1", "Own", &json!({"spec": {}}));
            assert_eq!(change_of(&old, &object("a.b/v1", "Own", &rest)), Some(SkippedChange::Changed));
        }
    }

    #[test]
    fn only_what_its_author_wrote_counts() {
        let old = object("v1", "ConfigMap", &json!({"data": {"a": "1", "b": "2"}}));
        let mut read = object("v1", "ConfigMap", &json!({"data": {"b": "2", "a": "1"}, "status": {"x": 1}}));
        read["metadata"] = json!({"uid": "0e6b", "resourceVersion": "12", "namespace": "prod", "name": "web",
            "annotations": {LAST_APPLIED: "{}"}});
        assert_eq!(change_of(&old, &read), None);
        assert_eq!(change_of(&read, &old), None);
        for (pointer, value) in [("/data/a", json!("2")), ("/metadata/annotations", json!({"a": "b"}))] {
            let mut new = old.clone();
            let (parent, key) = pointer.rsplit_once('/').unwrap();
            new.pointer_mut(parent).unwrap()[key] = value;
            assert_eq!(change_of(&old, &new), Some(SkippedChange::Changed), "{pointer}");
        }
        let other_version = object("batch/v1beta1", "CronJob", &json!({}));
        assert_eq!(change_of(&other_version, &object("batch/v1", "CronJob", &json!({}))), Some(SkippedChange::Changed));
    }

    #[test]
    fn what_one_side_has_alone_is_added_or_removed_and_workloads_are_none_of_them() {
        let job = |name: &str| {
            let mut job = object("batch/v1", "Job", &json!({"spec": {"template": template("a")}}));
            job["metadata"]["name"] = json!(name);
            job
        };
        let deployment = |image: &str| object("apps/v1", "Deployment", &json!({"spec": {"template": template(image)}}));
        let mut hook = deployment("a");
        hook["metadata"]["annotations"] = json!({"argocd.argoproj.io/hook": "PreSync"});
        let found = of_two(&[job("old"), deployment("a")], &[job("new"), deployment("b"), hook], None);
        let found: Vec<(String, SkippedChange)> = found.iter().map(|one| (one.resource(), one.change)).collect();
        let expected = [
            ("deployment.apps/web".to_owned(), SkippedChange::Added),
            ("job.batch/new".to_owned(), SkippedChange::Added),
            ("job.batch/old".to_owned(), SkippedChange::Removed),
        ];
        assert_eq!(found, expected);
    }
}
