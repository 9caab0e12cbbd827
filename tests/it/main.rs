//! One integration binary: a module a theme, linked once.

mod apply;
mod architecture;
mod cli;
mod connection;
mod container_hash;
mod defaults;
mod fake_server;
mod faults;
mod follow;
mod generated;
mod plan;
#[cfg(test)]
mod render;
mod runner;
mod strategic_merge;
#[path = "../support/mod.rs"]
mod support;
mod watch;
