//! The rollout: level-triggered, a pure function from what is wanted and what is observed to what to do next.
//!
//! There is no stored step. [`turn()`] reads the goal, what is observed and the time and returns what to do now, what to
//! report, when to look again at the latest, and whether the rollout is over. Called twice on the same observations it does
//! nothing the second time. A new [`RunState`] on the same cluster continues where the old one stood.
//!
//! | file | what it is |
//! |---|---|
//! | `action` | the interface: what a turn gets and what it gives |
//! | `turn` | the order of a turn |
//! | `goal`, `observed` | what is wanted; what is observed; both and the time, for one turn |
//! | `state` | what only this run knows; which answer belongs to whom; one turn in progress |
//! | `pods`, `pod_run` | the pods of the run with every index over them, and what is known of one |
//! | `judge`, `pod_progress`, `steps`, `abandoned` | where one pod stands |
//! | `schedule`, `admission` | which pod goes next, and whether it may |
//! | `patch` | the guarded patches of a pod |
//! | `protocol`, `reads` | owner, pre-pull, budgets, drain, hooks, replacement pods, requests to kruise-daemon, the run that is followed: each with a state of its own; a read that is repeated |
//! | `drain`, `pre_pull` | the rules of taking a pod out of its Services, and of pulling images first, as a plan needs them too |
//! | `verdict`, `ended`, `restarted` | whether it is over, and how; when containers restarted |
//! | `progress` | how far it is at one moment, for a view that is redrawn |

mod abandoned;
mod action;
mod admission;
pub mod drain;
mod ended;
mod goal;
mod judge;
mod observed;
pub mod patch;
mod pod_progress;
mod pod_run;
mod pods;
pub mod pre_pull;
mod progress;
mod protocol;
mod reads;
mod restarted;
mod schedule;
#[cfg(test)]
mod simulation;
mod state;
mod steps;
mod turn;
mod verdict;

pub use crate::state::policy::{CANARY_HOLD_SECONDS, DEFAULT_TIMEOUT_SECONDS, Policy, RESTARTED_HOLD_SECONDS};
pub use action::{Action, ActionId, Answer, Now, SIGN_OF_LIFE_SECONDS, Stop, Turn};
pub use drain::DrainGoal;
pub use goal::{ContainerGoal, Follow, Goal, Mode, PodGoal};
pub use observed::{Observation, Observed, Watch};
pub use progress::progress;
pub use protocol::pulls::{create_pull_pod, delete_pull_pod, is_pull_pod_of, pull_pods_of};
pub use protocol::requests::create_request;
pub use state::RunState;
pub use turn::{leave, turn};
