//! What a change of cpu and memory meets.

use super::build::Context;
use super::{PodPlan, PodVerdict};
use crate::engine::change::reason::{Reason, Warning};
use crate::engine::k8s::pod::Pod;
use crate::engine::plan::resize::{self, ResizeFacts, Resized};

/// Looks at what was read because of it.
pub(super) fn look(context: &Context<'_>, pods: &[(PodPlan, &Pod)]) -> (Vec<Reason>, Vec<Warning>) {
    let resized = pods.iter().filter(|(plan, _)| plan.verdict == PodVerdict::Update && plan.fields.resizes());
    let resized: Vec<Resized<'_>> =
        resized.map(|(plan, pod)| Resized::new(pod, &plan.fields, plan.containers_of(pod).restarting)).collect();
    if resized.is_empty() {
        return (Vec::new(), Vec::new());
    }
    let (live, nothing) = (context.live, ResizeFacts::default());
    let facts = live.surroundings.resize.as_ref().unwrap_or(&nothing);
    let around = (live.surroundings.autoscalers.as_slice(), live.surroundings.quotas_not_read.as_ref());
    let reasons = resize::refused(&resized, facts, &live.surroundings.quotas);
    (reasons, resize::warnings(&resized, facts, &live.workload, around))
}
