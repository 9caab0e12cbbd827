//! A ReplicaSet of its own: its controller never replaces a pod because the template changed, so lock and template go in
//! one patch, then the pods, then the lock.

use super::{CHANGED_MEANWHILE, Cleanup, Fence, OwnerPhase, OwnerStep, Step};
use crate::change::same;
use crate::state::outcome::EndResult;

pub(super) fn held(step: &Step<'_>) -> OwnerPhase {
    if !same(step.template(), step.goal.target()) {
        let write = step.closing(EndResult::Superseded).write();
        let cleanup = Cleanup::Write(OwnerStep::Close, Box::new(write));
        return OwnerPhase::Superseded { why: CHANGED_MEANWHILE.into(), cleanup };
    }
    if !step.is_observed() {
        return OwnerPhase::WaitFor(Fence::Observed);
    }
    if !step.pods.done {
        return OwnerPhase::PodsReleased { revision: None };
    }
    if usize::try_from(step.integer("/status/replicas")) != Ok(step.pods.present) {
        return OwnerPhase::WaitFor(Fence::PodsListed);
    }
    step.close()
}
