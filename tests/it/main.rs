//! One integration binary: a module a theme, linked once.

mod against;
mod architecture;
mod container_hash;
mod defaults;
mod fake_server;
mod generated;
#[cfg(test)]
mod render;
mod runner;
#[cfg(test)]
mod situations;
mod strategic_merge;
#[path = "../support/mod.rs"]
mod support;
