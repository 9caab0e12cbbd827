//! One integration binary: a module a theme, linked once.

#[path = "../support/mod.rs"]
mod container_hash;
mod defaults;
mod fake_server;
mod runner;
mod strategic_merge;
mod support;
