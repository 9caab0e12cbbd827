//! The only module that names kube.

pub mod connect;
pub mod error;
