//! Deliberate faults, so that a test can show that the simulation would catch them. Outside tests there are none.

/// What is broken on purpose, in a test.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Faults {
    #[cfg(test)]
    pub(super) fault: Option<Fault>,
}

impl Faults {
    #[cfg(test)]
    pub(super) fn has(self, fault: Fault) -> bool {
        self.fault == Some(fault)
    }

    #[cfg(not(test))]
    #[expect(clippy::unused_self, reason = "the same call as in tests")]
    pub(super) const fn has(self, _fault: Fault) -> bool {
        false
    }
}

/// What may be broken on purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    /// Takes pods down beyond the budget.
    IgnoresBudget,
    /// Takes the old container for the new one.
    ReadyIsDone,
    /// Ready need not hold.
    NoHold,
    /// Nothing wakes the loop when the hold is over.
    ForgetsHoldTimer,
    /// Sends without bound.
    RetriesForever,
    /// Sends again while an answer is unknown.
    SendsOnUnknown,
    /// Patches a pod though it saw another image than the plan.
    IgnoresOtherWriter,
    /// Goes on with the next pod after a failure.
    IgnoresFailure,
    /// Goes on sending after an interrupt.
    IgnoresInterrupt,
    /// Acts while the watch is lost.
    ActsBlind,
    /// Takes all pods at once though the first has not proven itself.
    NoCanary,
    /// Never abandons a pod at its deadline.
    NoDeadline,
    /// Takes pods before their images are pulled.
    IgnoresPulls,
    /// Ends while pull pods are left.
    LeavesPulls,
    /// Ignores a PodDisruptionBudget.
    IgnoresDisruptionBudget,
    /// Patches a pod while its Services list it.
    KillsWhatIsListed,
    /// Takes a pod whose gate it has turned off for one that was broken anyway.
    TakesItsGateForBroken,
    /// Never turns a gate on again.
    LeavesGateOff,
    /// Changes all containers of a pod at once, whatever their order.
    IgnoresContainerOrder,
    /// Patches a pod without its hook.
    ForgetsHook,
    /// Takes no restart for evidence where the kubelet has no event of it.
    NeedsEvents,
    /// Waits for a pod that has failed though the others go on.
    WaitsForFailed,
    /// Stops reading budgets where there was none at first.
    FreezesBudgets,
    /// Takes a container that the kubelet's back-off holds for a crashed one.
    TakesBackOffForFailure,
    /// Takes a resize that is asked for for a finished one.
    TakesAskedForResized,
    /// Resizes a pod for which somebody else has asked for something else.
    IgnoresOtherSize,
    /// Waits for a pod that is gone to show what was sent to it.
    WaitsForTheGone,
    /// Counts a pod that its controller has released.
    CountsTheReleased,
    /// Never ends a way back on which a pod fails with what it had before.
    StaysAtAFailure,
    /// Writes to the owner while no pod may go down.
    WritesAtOnce,
}

impl Fault {
    /// Every fault of what is done to pods; the simulation of the first write has its own.
    #[cfg(test)]
    pub(super) const ALL: [Self; 29] = [
        Self::IgnoresBudget,
        Self::ReadyIsDone,
        Self::NoHold,
        Self::ForgetsHoldTimer,
        Self::RetriesForever,
        Self::SendsOnUnknown,
        Self::IgnoresOtherWriter,
        Self::IgnoresFailure,
        Self::IgnoresInterrupt,
        Self::ActsBlind,
        Self::NoCanary,
        Self::NoDeadline,
        Self::IgnoresPulls,
        Self::LeavesPulls,
        Self::IgnoresDisruptionBudget,
        Self::KillsWhatIsListed,
        Self::TakesItsGateForBroken,
        Self::LeavesGateOff,
        Self::IgnoresContainerOrder,
        Self::ForgetsHook,
        Self::NeedsEvents,
        Self::WaitsForFailed,
        Self::FreezesBudgets,
        Self::TakesBackOffForFailure,
        Self::TakesAskedForResized,
        Self::IgnoresOtherSize,
        Self::WaitsForTheGone,
        Self::CountsTheReleased,
        Self::StaysAtAFailure,
    ];
}
