//! What is asked for and what is there when a run ends: the template's image, and the pods' by number.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::change::{self, FieldEffect, Row, image_in};
use crate::k8s::names::ContainerName;
use crate::k8s::pod::Pod;
use crate::report::{FieldValue, NewPods, Standing, StandingField, StandingImage};

use super::observed::TurnContext;
use super::state::RunState;

/// Says for each container that the rollout changes what the template and the owner's pods ask for; nothing before the
/// pods were listed.
pub(super) fn of(context: TurnContext<'_>, state: &RunState) -> Vec<Standing> {
    if !state.listed {
        return Vec::new();
    }
    let of_owner = context.goal.lock.rollout.change.images.keys();
    let of_pods = context.goal.pods.iter().flat_map(|pod| pod.containers.keys());
    let names: BTreeSet<&ContainerName> = of_owner.chain(of_pods).collect();
    let (going, pods): (Vec<&Pod>, Vec<&Pod>) = pods_of(context, state).into_iter().partition(|pod| pod.terminating);
    let change = context.goal.owner.as_ref().map(|_| context.goal.lock.rollout.directed());
    let is_rewritten = |name: &ContainerName| {
        change.as_ref().and_then(|change| change.images.get(name)).is_some_and(|image| image.in_pods() != image.to)
    };
    let image = |template: &Value, name: &ContainerName| image_in(template, name).map(str::to_owned);
    let standing = |name: &ContainerName| Standing {
        container: name.clone(),
        template: state.owner.in_template(context, |template| image(template, name)),
        new_pods: match state.owner.new_pods(context, |template| image(template, name)) {
            NewPods::AsTemplate if is_rewritten(name) => NewPods::Unknown,
            new_pods @ (NewPods::AsTemplate | NewPods::Is(_) | NewPods::Without | NewPods::Unknown) => new_pods,
        },
        pods: images(name, &pods),
        going: going.len(),
    };
    names.into_iter().map(standing).collect()
}

/// Says the same for each field that the rollout changes in the template.
pub(super) fn of_fields(context: TurnContext<'_>, state: &RunState) -> Vec<StandingField> {
    let Some(owner) = context.goal.owner.as_ref().filter(|_| state.listed) else { return Vec::new() };
    let fields = context.goal.lock.rollout.directed().fields;
    let pods: Vec<&Pod> = pods_of(context, state).into_iter().filter(|pod| !pod.terminating).collect();
    let lacking: Vec<Vec<Row>> = pods.iter().map(|pod| fields.left_in(pod).rows()).collect();
    let standing = |row: Row| {
        // The diff from a template to the wanted one has the present value as `before`.
        let value = |template: &Value| {
            let left = change::diff(template, owner.target(context.goal.lock.rollout.direction)).change.fields.rows();
            left.into_iter().find(|left| left.path == row.path).map_or_else(|| row.after.clone(), |left| left.before)
        };
        let lack = lacking.iter().filter(|left| left.iter().any(|left| left.path == row.path)).count();
        let reaches_pods = row.effect != FieldEffect::LaterPods;
        StandingField {
            template: state
                .owner
                .in_template(context, |template| Some(value(template)))
                .map_or(FieldValue::Unread, FieldValue::from),
            new_pods: state.owner.new_pods(context, value),
            have: reaches_pods.then(|| pods.len().saturating_sub(lack)),
            lack: reaches_pods.then_some(lack),
            what: row.what,
            wanted: row.after.into(),
        }
    };
    fields.rows().into_iter().map(standing).collect()
}

/// The owner's pods, those of every ReplicaSet: somebody else's template may have brought another one.
fn pods_of<'a>(context: TurnContext<'a>, state: &RunState) -> Vec<&'a Pod> {
    let sets = context.observed.owner.as_ref().into_iter().flat_map(|view| &view.owned);
    let sets: BTreeSet<&str> = sets.filter_map(|set| set.pointer("/metadata/uid").and_then(Value::as_str)).collect();
    let is_owned = |pod: &Pod| pod.controller().is_some_and(|owner| sets.contains(owner.uid.as_str()));
    let pods = context.observed.pods().filter(|pod| !pod.is_finished());
    pods.filter(|pod| state.pods.is_owners(context, pod) || is_owned(pod)).collect()
}

fn images(name: &ContainerName, pods: &[&Pod]) -> Vec<StandingImage> {
    let mut images: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for pod in pods {
        let Some(container) = pod.spec_of(name) else { continue };
        let (number, ready) = images.entry(&container.image).or_default();
        *number += 1;
        *ready += usize::from(pod.is_ready());
    }
    let images = images.into_iter();
    images.map(|(image, (pods, ready))| StandingImage { image: image.to_owned(), pods, ready }).collect()
}
