//! What traffic will see of a restart.

use std::collections::{BTreeMap, BTreeSet};

use super::Updated;
use crate::engine::drain::Drain;
use crate::engine::plan::build::Context;
use crate::engine::plan::drains::{drain_of, left_off};
use crate::engine::plan::{PodPlan, PodVerdict};
use crate::engine::pod::Pod;
use crate::engine::reason::Warning;
use crate::engine::record::Drained;

pub(super) fn warn(
    context: &Context<'_>,
    updated: &[Updated<'_>],
    pods: &[(PodPlan, &Pod)],
    warnings: &mut BTreeSet<Warning>,
) {
    let (mut labels, mut gates): (BTreeMap<String, usize>, BTreeMap<String, usize>) = Default::default();
    for (_, pod) in pods.iter().filter(|(plan, _)| plan.verdict != PodVerdict::Skipped) {
        match left_off(pod) {
            Some(Drained::Label(label)) => *labels.entry(label.key).or_default() += 1,
            Some(Drained::Gate(gate)) => *gates.entry(gate.gate).or_default() += 1,
            None => {}
        }
    }
    warnings.extend(labels.into_iter().map(|(label, pods)| Warning::LabelLeftOff { label, pods }));
    warnings.extend(gates.into_iter().map(|(gate, pods)| Warning::GateLeftOff { gate, pods }));
    if !context.drains {
        return;
    }
    for Updated { plan, pod } in updated.iter().filter(|updated| updated.restarted().next().is_some()) {
        if let Some(Drain::NotDrainable { services, why }) = drain_of(context.live, pod, &plan.metadata) {
            let (remedy, why) = (why.hint(&services), why.to_string());
            warnings.insert(Warning::TrafficWhileDown { services, why, remedy });
        }
    }
}
