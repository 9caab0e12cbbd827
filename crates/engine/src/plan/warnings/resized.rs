//! Pods that have other cpu or memory than their template: the plan shows the pods' own values as the old ones.

use std::collections::BTreeSet;

use super::Found;
use crate::change::reason::Warning;
use crate::change::{FieldChanges, Row};
use crate::k8s::pod::Pod;
use crate::plan::PodPlan;
use crate::plan::context::Context;

pub(super) fn warn(context: &Context<'_>, pods: &[(PodPlan, &Pod)], warnings: &mut BTreeSet<Warning>) {
    if !super::is_at_rest(context) {
        return;
    }
    let is_set = context.wanted.fields().of_resize().rows();
    let of_template = |path: &str| is_set.iter().find(|row| row.path == path).map(|row| row.before.clone());
    let mut found = Found::default();
    for (plan, pod) in super::of_the_template(context, pods) {
        let changed = plan.fields.of_resize().rows();
        let drift = FieldChanges::drift(context.live.workload.template(), pod).rows();
        // What the pod asks for already is right.
        for Row { path, what, before, after, .. } in changed.iter().filter(|row| row.before != row.after).cloned() {
            let drifted = || drift.iter().find(|row| row.path == path).map(|row| row.before.clone());
            if let Some(template) = of_template(&path).or_else(drifted).filter(|template| *template != before) {
                found.add((what, template, after), before);
            }
        }
        for Row { path, what, before, after, .. } in drift {
            if of_template(&path).is_none() && !changed.iter().any(|row| row.path == path) {
                found.add((what, before, None), after);
            }
        }
    }
    warnings.extend(found.into_all().map(|((what, template, to), values, pods)| Warning::PodsResized {
        what,
        template,
        values,
        pods,
        to,
    }));
}
