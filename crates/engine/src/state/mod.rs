//! What a rollout is asked to do, and what is written of it into the cluster: record, lock, history, and the evidence.

pub mod again;
pub mod durable;
pub mod evidence;
pub mod field_managers;
pub mod hook;
pub mod manager;
pub mod outcome;
pub mod policy;
pub mod record;
pub mod starts;
pub mod unpulled;
