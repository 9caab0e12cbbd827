//! Warnings about the owner: who writes it, who scales it, what guards its pods.

use serde_json::Value;

use super::Warnings;
use crate::change::reason::Warning;
use crate::k8s::names::{ContainerName, WorkloadRef};
use crate::k8s::pod::{Container, Pod};
use crate::k8s::workload::Workload;
use crate::kinds;
use crate::plan::courses::{Courses, with_template};
use crate::plan::durable;
use crate::plan::hand_over::re_creates;
use crate::plan::held::{is_held_back, left_strategy};
use crate::plan::live::Snapshot;
use crate::plan::{ContainerPlan, ImageChange, PodPlan};
use crate::state::field_managers::{
    FLUX_SOURCES, FieldManager, RELEASE_NAME, RELEASE_NAMESPACE, TRACKING_ID, applier, foreign, is_managed_by_helm,
};
use crate::state::manager::{forces_conflicts, is_ours};
use crate::value::json_path::{items, text};

impl Warnings<'_> {
    pub(super) fn of_the_owner(&mut self) {
        let (context, live) = (self.context, self.context.live);
        let kind = live.workload.reference.kind;
        let owner_is_left_alone = !context.durable || !kind.has_template();
        // A restart brings nothing that a later pod, or the owner's source, would lack.
        let restart = context.wanted.is_restart();
        if owner_is_left_alone && !restart && !live.controllers.is_empty() && self.template_differs() {
            self.found.insert(Warning::TemplateKeepsImage);
        }
        let images = |plan: &ContainerPlan| Some(format!("{}={}", plan.container, plan.to.as_ref()?));
        if !restart {
            self.found.extend(manager(&live.workload, self.containers.iter().filter_map(images).collect()));
        }
        if context.durable && kinds::is_on_delete(&live.workload.object) && is_held_back(live) {
            let left = |before: Value| Warning::OnDeleteLeft { before: text(&before, "/type").to_owned() };
            self.found.extend(left_strategy(live).map(left));
        }
        self.found.extend(live.surroundings.autoscalers.iter().filter_map(|autoscaler| scales(autoscaler, live)));
        let vertical = live.surroundings.vertical_autoscalers.iter();
        self.found.extend(vertical.filter_map(|autoscaler| resizes(autoscaler, live)));
        let changed = self.containers.iter().filter(|plan| plan.to.is_some());
        self.found.extend(changed.filter_map(|plan| {
            let manager = apply_manager(live, &plan.container, plan.list.spec_field())?;
            Some(Warning::ImageFieldOwned { container: plan.container.clone(), manager })
        }));
    }

    /// Said whatever the plan is: the next apply by the owner's tool fails because of them.
    pub(super) fn of_other_managers(&mut self) {
        let (object, kind) = (&self.context.live.workload.object, self.context.live.workload.reference.kind);
        let stored = self.context.wanted.stored;
        self.found.extend(stored.and_then(|stored| re_creates(&[object, stored])));
        let mut foreign = foreign(object, kind);
        // What a rollout has set is given up at its end.
        foreign.retain(|known| !is_ours(known.name));
        let owner = applier(object, kind).filter(|owner| !foreign.is_empty() && !forces_conflicts(owner));
        self.found.extend(owner.map(|owner| Warning::ForeignFieldManagers {
            owner: owner.to_owned(),
            managers: foreign.iter().map(|known| known.name.to_owned()).collect(),
            paths: foreign.iter().flat_map(FieldManager::paths).collect(),
        }));
    }

    /// Said of a change that is refused, too: its controller may make it.
    pub(super) fn of_its_controller(&mut self) {
        if self.context.durable && (!self.updated.is_empty() || self.context.wanted.stored.is_some()) {
            let (context, live) = (self.context, self.context.live);
            let of_change = || {
                let template = durable::change(context).apply(live.workload.template())?;
                with_template(live, template)
            };
            let after = context.wanted.stored.cloned().or_else(of_change);
            self.found.extend(after.and_then(|after| Courses::of(live, &after)).and_then(Courses::warning));
        }
    }

    /// Whether the owner's template will differ from the pods: a pod's owner is not read, so it may.
    fn template_differs(&self) -> bool {
        let (live, template) = (self.context.live, &self.context.known.template);
        let is_other = |container: &Container, change: &ImageChange| {
            let known = template.get(&container.name);
            known.is_some_and(|known| !live.is_image(&container.name, &known.image, &change.to))
        };
        let differs = |(plan, pod): &(&PodPlan, &Pod)| {
            !plan.fields.is_empty() || plan.changed(pod).any(|(container, change)| is_other(container, change))
        };
        !live.workload.reference.kind.has_template() || self.updated.iter().any(differs)
    }
}

fn name_of(object: &Value) -> String {
    text(object, "/metadata/name").to_owned()
}

/// Returns the warning about what manages the object, by its marks. The first one that fits: Flux and Argo CD also render
/// charts.
pub fn manager(workload: &Workload, images: Vec<String>) -> Option<Warning> {
    let object = &workload.object;
    let mark = |map: &str, key: &str| {
        let value = object.pointer(&format!("/metadata/{map}"))?.get(key)?.as_str()?;
        Some(value.to_owned())
    };
    if let Some(tracking) = mark("annotations", TRACKING_ID) {
        // APPLICATION:GROUP/KIND:NAMESPACE/NAME, and of an application in another namespace NAMESPACE_APPLICATION.
        let application = tracking.split(':').next().unwrap_or_default().replacen('_', "/", 1);
        return Some(Warning::ManagedByArgoCd { application, images });
    }
    if let Some(application) = mark("labels", "app.kubernetes.io/instance")
        && is_written_by(object, "argocd")
    {
        return Some(Warning::ManagedByArgoCd { application, images });
    }
    for (kind, [name, namespace]) in FLUX_SOURCES {
        if let Some(name) = mark("labels", name) {
            let namespace = mark("labels", namespace).unwrap_or_default();
            return Some(Warning::ManagedByFlux { source: format!("{kind}/{name}"), namespace, images });
        }
    }
    let release = mark("annotations", RELEASE_NAME);
    if release.is_some() || is_managed_by_helm(object) {
        let namespace = mark("annotations", RELEASE_NAMESPACE).unwrap_or_default();
        return Some(Warning::ManagedByHelm { release: release.unwrap_or_default(), namespace, images });
    }
    None
}

fn is_written_by(object: &Value, manager: &str) -> bool {
    items(object, "/metadata/managedFields")
        .filter_map(|entry| entry.get("manager")?.as_str())
        .any(|known| known.starts_with(manager))
}

/// A HorizontalPodAutoscaler that may really scale the workload: its bounds leave room.
fn scales(autoscaler: &Value, live: &Snapshot) -> Option<Warning> {
    let target = autoscaler.pointer("/spec/scaleTargetRef")?;
    let number = |key: &str| autoscaler.pointer(&format!("/spec/{key}")).and_then(Value::as_i64);
    let has_room = number("minReplicas").unwrap_or(1) < number("maxReplicas").unwrap_or(1);
    let is_target = targets(target, &live.workload.reference);
    (is_target && has_room).then(|| Warning::AutoscalerActive { autoscaler: name_of(autoscaler) })
}

/// A VerticalPodAutoscaler that acts on the workload: without a mode it does (`GetUpdateMode` of its updater).
fn resizes(autoscaler: &Value, live: &Snapshot) -> Option<Warning> {
    let target = autoscaler.pointer("/spec/targetRef")?;
    let mode = Some(text(autoscaler, "/spec/updatePolicy/updateMode")).filter(|mode| !mode.is_empty());
    let mode = mode.unwrap_or("Auto").to_owned();
    let acts = targets(target, &live.workload.reference) && mode != "Off";
    acts.then(|| Warning::VerticalAutoscalerActs { autoscaler: name_of(autoscaler), mode })
}

/// Whether an autoscaler's reference names the workload.
fn targets(reference: &Value, workload: &WorkloadRef) -> bool {
    let spec = workload.kind.spec();
    let group = text(reference, "/apiVersion").split_once('/').map_or("", |(group, _)| group);
    text(reference, "/kind") == spec.kind && text(reference, "/name") == workload.name && group == spec.group
}

/// The server-side apply manager of a bare pod's image. The owner's template is not written, so its ownership stays.
fn apply_manager(live: &Snapshot, container: &ContainerName, list: &str) -> Option<String> {
    if live.workload.reference.kind.has_template() {
        return None;
    }
    let key = format!("k:{}", serde_json::json!({ "name": container }));
    let owns = |entry: &&Value| {
        entry.get("operation").and_then(Value::as_str) == Some("Apply")
            && entry
                .pointer(&format!("/fieldsV1/f:spec/f:{list}"))
                .and_then(|containers| containers.get(&key)?.get("f:image"))
                .is_some()
    };
    let entry = items(&live.workload.object, "/metadata/managedFields").find(owns)?;
    entry.get("manager").and_then(Value::as_str).map(str::to_owned)
}
