//! Labels and annotations: what reads them, and what somebody has set in the pods alone.

use std::collections::BTreeSet;

use super::{Found, Updated};
use crate::change::reason::Warning;
use crate::change::{FieldChanges, Row};
use crate::k8s::metadata::MetadataMap;
use crate::k8s::pod::Pod;
use crate::plan::PodPlan;
use crate::plan::context::Context;

pub(super) fn warn(
    context: &Context<'_>,
    updated: &[Updated<'_>],
    pods: &[(PodPlan, &Pod)],
    warnings: &mut BTreeSet<Warning>,
) {
    for Updated { plan, pod } in updated {
        warnings.extend(plan.fields.warnings(&plan.containers_of(pod)));
    }
    let of_old_revision: Vec<String> =
        updated.iter().filter_map(|updated| context.revision.older(updated.pod)).map(|old| old.current).collect();
    if let Some(current) = of_old_revision.first() {
        warnings.insert(Warning::PodsOfOldRevision { pods: of_old_revision.len(), current: current.clone() });
    }
    differs(context, pods, warnings);
}

/// Values that the change sets and that differ from the template in some pods: they would be lost unnoticed.
fn differs(context: &Context<'_>, pods: &[(PodPlan, &Pod)], warnings: &mut BTreeSet<Warning>) {
    if !super::is_at_rest(context) {
        return;
    }
    let rows = |fields: &FieldChanges| {
        let mut metadata = fields.metadata.clone();
        // A value that the controller gives each pod is refused.
        metadata.labels.retain(|key, _| !MetadataMap::Labels.is_reserved(key));
        metadata.annotations.retain(|key, _| !MetadataMap::Annotations.is_reserved(key));
        FieldChanges::from(metadata).rows()
    };
    let of_template = rows(context.wanted.fields());
    let mut found = Found::default();
    for (plan, _) in super::of_the_template(context, pods) {
        for Row { path, what, before, after, .. } in rows(&plan.fields) {
            let Some(template) = of_template.iter().find(|row| row.path == path) else { continue };
            if template.before != before {
                found.add((what, template.before.clone(), after), before);
            }
        }
    }
    warnings.extend(found.into_all().map(|((what, template, to), values, pods)| Warning::PodsMetadataDiffers {
        what,
        template,
        values,
        pods,
        to,
    }));
}
