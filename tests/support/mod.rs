//! The base of the integration tests: a stateful API server on loopback, objects to fill it with, and the binary.
//!
//! Promise: hermetic. Everything listens on 127.0.0.1, writes into folders of its own, and runs the binary in a cleared
//! environment. What the fake answers was compared with Kubernetes 1.36; where it is simpler, the module says so.

pub(crate) mod api_model;
pub(crate) mod api_server;
pub(crate) mod builders;
pub(crate) mod clock;
pub(crate) mod pages;
pub(crate) mod picture;
pub(crate) mod redact;
pub(crate) mod run;
pub(crate) mod scene;
pub(crate) mod schemas;
pub(crate) mod snapshot;
pub(crate) mod transcript;
