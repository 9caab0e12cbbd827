//! Every rule of the product, as pure functions over values.
//!
//! Promise: no I/O, no clock, no async, no environment, no printing and no kube type in here. Time comes in as an
//! argument. What the cluster says comes in as [`serde_json::Value`] or as the small types of [`k8s::pod`].
//!
//! Words are Kubernetes' own. A *rollout* is the process over many pods, an *update* the change to one pod, a *restart*
//! what the kubelet does to one container.

#![cfg_attr(
    test,
    expect(
        clippy::wildcard_enum_match_arm,
        reason = "a test looks for what it expects, and fails for everything else"
    )
)]

pub mod change;
pub mod k8s;
pub mod kinds;
pub mod merge;
pub mod plan;
pub mod report;
pub mod rollout;
pub mod state;
pub mod status;
pub mod value;
