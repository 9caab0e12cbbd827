//! Pods that ask for another image than the template that they were created from, with no rollout in progress that
//! changes it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::{Comparison, WorkloadStatus};
use crate::k8s::names::{ContainerName, PodKey, WorkloadRef};
use crate::value::count::pods_that;

/// One container whose image differs from the template in some pods.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Drift {
    pub workload: WorkloadRef,
    pub container: ContainerName,
    pub template: String,
    /// What pods ask for in place of it.
    pub images: BTreeSet<String>,
    pub pods: usize,
}

impl Drift {
    /// Returns the drift of these pods of a workload, by container.
    pub fn of(status: &WorkloadStatus, is_meant: impl Fn(&PodKey) -> bool) -> Vec<Self> {
        let mut found: BTreeMap<(&ContainerName, &str), (BTreeSet<String>, usize)> = BTreeMap::new();
        for pod in status.pods.iter().filter(|pod| is_meant(&pod.key)) {
            for report in pod.containers.iter().filter(|report| report.comparison == Comparison::Drifted) {
                let Some(template) = &report.asked else { continue };
                let (images, pods) = found.entry((&report.container, template)).or_default();
                images.insert(report.image.clone());
                *pods += 1;
            }
        }
        let drift = |((container, template), (images, pods)): ((&ContainerName, &str), _)| Self {
            workload: status.workload.clone(),
            container: container.clone(),
            template: template.to_owned(),
            images,
            pods,
        };
        found.into_iter().map(drift).collect()
    }
}

impl fmt::Display for Drift {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { workload, container, template, images, pods } = self;
        let pods = pods_that(*pods, "asks", "ask");
        let images = images.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
        write!(
            f,
            "{pods} for {images} in {container}; the template of {workload}, from which new pods are made, says {template}"
        )
    }
}
