//! One integration binary: a module a theme, linked once.

mod container_hash;
mod defaults;
mod fake_server;
mod runner;
mod strategic_merge;
#[path = "../support/mod.rs"]
mod support;
