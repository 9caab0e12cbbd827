//! One integration binary: a module a theme, linked once.

#[path = "../support/mod.rs"]
mod support;

mod fake_server;
mod runner;
