//! What a change of cpu and memory meets.

use super::context::Context;
use super::{PodPlan, PodVerdict};
use crate::change::reason::{Reason, Warning};
use crate::k8s::pod::Pod;
use crate::plan::resize::{self, ResizeFacts, Resized};

/// Checks what was read because of it.
pub(super) fn visit(context: &Context<'_>, pods: &[(PodPlan, &Pod)]) -> (Vec<Reason>, Vec<Warning>) {
    let which = |verdicts: &[PodVerdict]| -> Vec<Resized<'_>> {
        let resized = pods.iter().filter(|(plan, _)| verdicts.contains(&plan.verdict) && plan.fields.resizes());
        resized.map(|(plan, pod)| Resized::new(pod, &plan.fields, plan.containers_of(pod).restarting)).collect()
    };
    let resized = which(&[PodVerdict::Update]);
    // Pods that ask for it already may wait for room as well.
    let is_under_way = |(plan, _): &(PodPlan, &Pod)| plan.verdict == PodVerdict::InProgress && plan.fields.resizes();
    let both = pods.iter().any(is_under_way).then(|| which(&[PodVerdict::InProgress, PodVerdict::Update]));
    let all = both.as_ref().unwrap_or(&resized);
    if all.is_empty() {
        return (Vec::new(), Vec::new());
    }
    let (live, nothing) = (context.live, ResizeFacts::default());
    let facts = live.surroundings.resize.as_ref().unwrap_or(&nothing);
    let reasons = resize::refused(&resized, facts);
    let mut warnings = resize::warnings(&resized, facts, &live.workload, &live.surroundings.autoscalers);
    warnings.extend(resize::deferred(all, facts));
    (reasons, warnings)
}
