//! What the tests and the sandbox stand on: an API server, its controllers and its kubelets as a model.
//!
//! | module | what |
//! |---|---|
//! | [`api_model`] | what an API server does with objects, without I/O and time: both simulations use it too |
//! | [`api_server`] | the model over HTTP on loopback, with watches, faults, controllers and kubelets |
//! | [`builders`] | objects to fill a server with |
//! | [`clock`] | the real time |
//! | [`controllers`] | the controllers of the stock workloads: the simulation of an owner uses them too |
//! | [`sandbox`] | a whole cluster of these, for people who try the program |
//! | [`tls`] | TLS on loopback, for who begins with it |
//!
//! Knows nothing of the product: what the two agree on is Kubernetes.
#![expect(missing_docs, reason = "a field is documented where its name does not say everything")]

pub mod api_model;
pub mod api_server;
pub mod builders;
pub mod clock;
pub mod controllers;
mod quantity;
pub mod sandbox;
pub mod tls;
