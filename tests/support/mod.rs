//! The base of the integration tests: the API server of `testkit`, objects to fill it with, and the binary.
//!
//! Promise: hermetic. Everything listens on 127.0.0.1, writes into folders of its own, and runs the binary in a cleared
//! environment. What the fake answers was compared with Kubernetes 1.36; where it is simpler, the module says so.

pub(crate) mod getting_started;
pub(crate) mod kubeconfigs;
pub(crate) mod pages;
pub(crate) mod picture;
pub(crate) mod redact;
pub(crate) mod replay;
pub(crate) mod run;
pub(crate) mod scene;
pub(crate) mod schemas;
pub(crate) mod snapshot;
pub(crate) mod transcript;

pub(crate) use testkit::{api_server, builders, clock};
