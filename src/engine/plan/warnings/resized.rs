//! Pods that were resized alone: what they have is not what a plan shows as from before.

use std::collections::{BTreeMap, BTreeSet};

use crate::engine::change::reason::Warning;
use crate::engine::change::{FieldChanges, Row};
use crate::engine::k8s::pod::Pod;
use crate::engine::plan::PodPlan;
use crate::engine::plan::build::Context;

/// What pods have in place of what the template says, by the value that they get.
type Found = BTreeMap<(String, Option<String>, Option<String>), (BTreeSet<String>, usize)>;

pub(super) fn warn(context: &Context<'_>, pods: &[(PodPlan, &Pod)], warnings: &mut BTreeSet<Warning>) {
    let workload = &context.live.workload;
    let is_at_rest = workload.rolling_out().is_none() && super::is_free(context);
    if !workload.reference.kind.has_template() || !is_at_rest {
        return;
    }
    let mut found = Found::new();
    for (plan, pod) in super::of_the_template(context, pods) {
        let (wanted, is_set) = (plan.fields.rows(), context.wanted.fields().rows());
        for Row { path, what, before, after, .. } in FieldChanges::drift(workload.template(), pod).rows() {
            let to = wanted.iter().chain(&is_set).find(|row| row.path == path).map(|row| row.after.clone());
            // What the change sets, and the pod has already, is as it should be.
            if to.as_ref() == Some(&after) {
                continue;
            }
            let (values, pods) = found.entry((what, before, to.flatten())).or_default();
            values.extend(after.or_else(|| Some("none".to_owned())));
            *pods += 1;
        }
    }
    warnings.extend(found.into_iter().map(|((what, template, to), (values, pods))| Warning::PodsResized {
        what,
        template,
        values: values.into_iter().collect(),
        pods,
        to,
    }));
}
