//! Every rule of the product, as pure functions over values.
//!
//! Promise: no I/O, no clock, no async, no environment, no printing and no kube type in here. Time comes in as an
//! argument. What the cluster says comes in as [`serde_json::Value`] or as the small types of [`pod`].
//!
//! Words are Kubernetes' own. A *rollout* is the process over many pods, an *update* the change to one pod, a *restart*
//! what the kubelet does to one container.

pub mod address;
pub mod api_schema;
pub mod asked_resources;
pub mod budget;
pub mod change;
pub mod container_hash;
pub mod defaults;
pub mod drain;
pub mod durable;
pub mod duration;
pub mod events;
pub mod evidence;
pub mod failure;
pub mod failure_report;
pub mod hash_comparison;
pub mod hook;
pub mod image;
pub mod int_or_percent;
pub mod json_path;
pub mod kinds;
pub mod kubelet_version;
pub mod live;
pub mod mask;
pub mod metadata;
pub mod names;
pub mod new_images;
mod operations;
pub mod outcome;
pub mod patch;
pub mod permissions;
pub mod plan;
pub mod pod;
pub mod policy;
pub mod pre_pull;
pub mod progress;
pub mod proof;
pub mod qos;
pub mod quantity;
pub mod reason;
pub mod record;
pub mod report;
pub mod resize;
pub mod restart;
pub mod rollout;
pub mod selector;
pub mod shell_words;
pub mod status;
pub mod strategic_merge;
pub mod suggest;
pub mod target;
pub mod template;
pub mod updates;
pub mod workload;
pub mod workload_diff;
