//! Warnings about the owner: who writes it, who scales it, what guards its pods.

use serde_json::Value;

use super::Warnings;
use crate::change::reason::Warning;
use crate::k8s::names::{ContainerName, WorkloadRef};
use crate::k8s::pod::{Container, Pod};
use crate::kinds::{self, CONTROLLER_REVISION_HASH, Course};
use crate::plan::durable;
use crate::plan::held::{is_held_back, left_strategy};
use crate::plan::live::Snapshot;
use crate::plan::wanted::Context;
use crate::plan::{ContainerPlan, ImageChange, PodPlan};
use crate::state::durable::revisions;
use crate::value::json_path::text;

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
            self.found.extend(manager(live, self.containers.iter().filter_map(images).collect()));
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

    /// Said of a change that is refused, too: its controller may make it.
    pub(super) fn of_its_controller(&mut self) {
        if self.context.durable && (!self.updated.is_empty() || self.context.wanted.stored.is_some()) {
            self.found.extend(by_its_controller(self.context));
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

/// What its own controller would do, for each pod from that pod's revision on; a webhook that refuses the change is asked.
fn by_its_controller(context: &Context<'_>) -> Option<Warning> {
    let live = context.live;
    let foresee = live.workload.reference.kind.spec().foresee?;
    let of = |template: Value| {
        let mut object = live.workload.object.clone();
        object["spec"]["template"] = template;
        object
    };
    let of_change = || durable::change(context).apply(live.workload.template()).map(of);
    let after = context.wanted.stored.cloned().or_else(of_change)?;
    let (mut in_place, mut replaced, mut not_known, mut since) = (0, 0, 0, String::new());
    for pod in live.present_pods() {
        let label = pod.labels.get(CONTROLLER_REVISION_HASH).map(String::as_str).unwrap_or_default();
        let made_from = revisions::labelled(&live.surroundings.owned, label).map(revisions::template_of);
        if made_from.as_ref().map(kinds::as_read) == after.pointer("/spec/template").map(kinds::as_read) {
            continue;
        }
        let foreseen = made_from.map(|template| foresee(&of(template), &after));
        let obstacle =
            foreseen.as_ref().map(|foreseen| foreseen.obstacles.iter().min_by_key(|obstacle| obstacle.course));
        let (pods, because) = match obstacle {
            Some(None) => (&mut in_place, None),
            Some(Some(obstacle)) if obstacle.course != Course::NotKnown => (&mut replaced, Some(&*obstacle.because)),
            Some(Some(obstacle)) => (&mut not_known, Some(&*obstacle.because)),
            None => (&mut not_known, Some("the revision that pods were made from is not there")),
        };
        *pods += 1;
        since = because.map(str::to_owned).unwrap_or(since);
    }
    (in_place + replaced + not_known > 0).then_some(Warning::ItsController { in_place, replaced, not_known, since })
}

fn name_of(object: &Value) -> String {
    text(object, "/metadata/name").to_owned()
}

/// Returns the warning about what manages the object, by its marks. The first one that fits: Flux and Argo CD also render
/// charts.
pub fn manager(live: &Snapshot, images: Vec<String>) -> Option<Warning> {
    let object = &live.workload.object;
    let mark = |map: &str, key: &str| {
        let value = object.pointer(&format!("/metadata/{map}"))?.get(key)?.as_str()?;
        Some(value.to_owned())
    };
    if let Some(tracking) = mark("annotations", "argocd.argoproj.io/tracking-id") {
        // APPLICATION:GROUP/KIND:NAMESPACE/NAME
        let application = tracking.split(':').next().unwrap_or_default().to_owned();
        return Some(Warning::ManagedByArgoCd { application, images });
    }
    if let Some(application) = mark("labels", "app.kubernetes.io/instance")
        && is_written_by(object, "argocd")
    {
        return Some(Warning::ManagedByArgoCd { application, images });
    }
    for (key, kind) in
        [("kustomize.toolkit.fluxcd.io/name", "kustomization"), ("helm.toolkit.fluxcd.io/name", "helmrelease")]
    {
        if let Some(name) = mark("labels", key) {
            return Some(Warning::ManagedByFlux { source: format!("{kind}/{name}"), images });
        }
    }
    let release = mark("annotations", "meta.helm.sh/release-name");
    if release.is_some() || mark("labels", "app.kubernetes.io/managed-by").as_deref() == Some("Helm") {
        return Some(Warning::ManagedByHelm { release: release.unwrap_or_default(), images });
    }
    None
}

fn managed_fields(object: &Value) -> impl Iterator<Item = &Value> {
    object.pointer("/metadata/managedFields").and_then(Value::as_array).into_iter().flatten()
}

fn is_written_by(object: &Value, manager: &str) -> bool {
    managed_fields(object).filter_map(|entry| entry.get("manager")?.as_str()).any(|known| known.starts_with(manager))
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
    let entry = managed_fields(&live.workload.object).find(owns)?;
    entry.get("manager").and_then(Value::as_str).map(str::to_owned)
}
