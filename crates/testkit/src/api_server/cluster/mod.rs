//! What makes a whole cluster of a server with controllers: a scheduler, a garbage collector, the namespaces, the endpoint
//! slices of Services, the status of disruption budgets, events. Like the controllers they are level-triggered, and see
//! everything at once.
//!
//! Left out: volumes, quotas, network policies, priorities; containers run nothing, and Services carry no traffic.

mod admission;
mod budgets;
mod events;
mod garbage;
mod scheduler;
mod services;

pub(super) use admission::{admit, admits_namespace};
pub(super) use events::{event, event_of};
pub(super) use garbage::{propagate, waits};

use super::State;

/// One look at everything.
pub(super) fn sync(state: &mut State) {
    scheduler::sync(state);
    services::sync(state);
    budgets::sync(state);
    garbage::sync(state);
}
