//! Pods below a StatefulSet's partition, which keep what they have.

use std::collections::BTreeSet;

use crate::change::reason::Warning;
use crate::k8s::pod::Pod;
use crate::plan::context::Context;
use crate::plan::drift::Drift;
use crate::plan::{ContainerPlan, PodPlan, PodVerdict, partition};

pub(super) fn warn(
    context: &Context<'_>,
    pods: &[(PodPlan, &Pod)],
    containers: &[ContainerPlan],
    warnings: &mut BTreeSet<Warning>,
) {
    let workload = &context.live.workload;
    let partition = partition::of(workload);
    if !context.durable || partition == 0 {
        return;
    }
    let is_kept = |(plan, pod): &&(PodPlan, &Pod)| {
        let leaves = !pod.is_present();
        plan.verdict == PodVerdict::Skipped && !leaves && partition::is_below(workload, pod)
    };
    let named: BTreeSet<_> = context.wanted.named().collect();
    for plan in containers {
        if plan.to.is_none() && !named.contains(&plan.container) && !context.wanted.is_of_manifest() {
            continue;
        }
        let kept = pods.iter().filter(is_kept).map(|(_, pod)| *pod);
        let template = plan.to.as_ref().or(context.known.template.get(&plan.container).map(|known| &known.image));
        let Some(drift) = template.and_then(|image| Drift::from((image, &plan.container), context.live, kept)) else {
            continue;
        };
        warnings.insert(Warning::PodsBelowPartition {
            container: plan.container.clone(),
            images: drift.images.into_iter().map(str::to_owned).collect(),
            pods: drift.pods,
            partition,
            template: drift.template,
        });
    }
}
