//! Labels, annotations, cpu and memory: what reads them, and what somebody has set in the pods alone.

use std::collections::{BTreeMap, BTreeSet};

use super::Warnings;
use crate::change::reason::Warning;
use crate::change::{FieldChanges, Row};
use crate::k8s::metadata::MetadataMap;

/// What differs, the template's value, and the one that pods get.
type Differs = (String, Option<String>, Option<String>);

/// What pods have in place of what the template says, each pod's value.
type Found = Vec<(Differs, Option<String>)>;

/// Groups what was found: the values, and how many pods.
fn grouped(found: Found) -> impl Iterator<Item = (Differs, Vec<String>, usize)> {
    let mut grouped: BTreeMap<Differs, (BTreeSet<String>, usize)> = BTreeMap::new();
    for (differs, value) in found {
        let (values, pods) = grouped.entry(differs).or_default();
        values.insert(value.unwrap_or_else(|| "none".to_owned()));
        *pods += 1;
    }
    grouped.into_iter().map(|(differs, (values, pods))| (differs, values.into_iter().collect(), pods))
}

impl Warnings<'_> {
    pub(super) fn of_fields(&mut self) {
        for (plan, pod) in &self.updated {
            self.found.extend(plan.fields.warnings(&plan.containers_of(pod)));
        }
        let old = self.updated.iter().filter_map(|(_, pod)| self.context.revision.older(pod));
        let old: Vec<String> = old.map(|old| old.current).collect();
        if let Some(current) = old.first() {
            self.found.insert(Warning::PodsOfOldRevision { pods: old.len(), current: current.clone() });
        }
        if self.is_at_rest() {
            let (metadata, resized) = (self.metadata_differs(), self.resized());
            let metadata = grouped(metadata).map(|((what, template, to), values, pods)| Warning::PodsMetadataDiffers {
                what,
                template,
                values,
                pods,
                to,
            });
            let resized = grouped(resized).map(|((what, template, to), values, pods)| Warning::PodsResized {
                what,
                template,
                values,
                pods,
                to,
            });
            self.found.extend(metadata.chain(resized));
        }
    }

    /// Values that the change sets and that differ from the template in some pods: they would be lost unnoticed.
    fn metadata_differs(&self) -> Found {
        let rows = |fields: &FieldChanges| {
            let mut metadata = fields.metadata.clone();
            // A value that the controller gives each pod is refused.
            metadata.labels.retain(|key, _| !MetadataMap::Labels.is_reserved(key));
            metadata.annotations.retain(|key, _| !MetadataMap::Annotations.is_reserved(key));
            FieldChanges::from(metadata).rows()
        };
        let of_template = rows(self.context.wanted.fields());
        let mut found = Found::new();
        for (plan, _) in self.of_the_template() {
            for Row { path, what, before, after, .. } in rows(&plan.fields) {
                let Some(template) = of_template.iter().find(|row| row.path == path) else { continue };
                if template.before != before {
                    found.push(((what, template.before.clone(), after), before));
                }
            }
        }
        found
    }

    /// Pods that have other cpu or memory than their template: the plan shows the pods' own values as the old ones.
    fn resized(&self) -> Found {
        let is_set = self.context.wanted.fields().of_resize().rows();
        let of_template = |path: &str| is_set.iter().find(|row| row.path == path).map(|row| row.before.clone());
        let mut found = Found::new();
        for (plan, pod) in self.of_the_template() {
            let changed = plan.fields.of_resize().rows();
            let drift = FieldChanges::drift(self.context.live.workload.template(), pod).rows();
            // What the pod asks for already is right.
            for Row { path, what, before, after, .. } in changed.iter().filter(|row| row.before != row.after).cloned() {
                let drifted = || drift.iter().find(|row| row.path == path).map(|row| row.before.clone());
                if let Some(template) = of_template(&path).or_else(drifted).filter(|template| *template != before) {
                    found.push(((what, template, after), before));
                }
            }
            for Row { path, what, before, after, .. } in drift {
                if of_template(&path).is_none() && !changed.iter().any(|row| row.path == path) {
                    found.push(((what, before, None), after));
                }
            }
        }
        found
    }
}
