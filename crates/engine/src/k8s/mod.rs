//! Kubernetes' own objects, and what its kubelet does with them; no rule of ours.

pub mod budget;
pub mod container_hash;
pub mod events;
pub mod failure;
pub mod hash_comparison;
pub mod mask;
pub mod metadata;
pub mod names;
pub(crate) mod operations;
pub mod permissions;
pub mod pod;
pub mod restart;
pub mod workload;
