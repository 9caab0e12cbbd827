//! One integration binary: a module a theme, linked once.
#![expect(clippy::wildcard_enum_match_arm, reason = "a test looks for what it expects, and fails for everything else")]

mod against;
mod against_codes;
mod apply;
mod architecture;
mod budgets;
mod by_request;
mod circles;
mod cli;
mod completion;
mod connection;
mod container_hash;
mod container_order;
mod defaults;
mod dependencies;
mod drain_gate;
mod durable;
mod failure_report;
mod fake_server;
mod faults;
mod follow;
mod formats;
mod fuzz;
mod generated;
mod hand_over;
mod history;
mod hooks;
mod kept;
mod kubeconfig;
mod machine;
mod memory;
mod pages;
mod plan;
mod pre_pull;
mod printed;
mod printed_texts;
mod rbac;
mod reference;
mod release;
#[cfg(test)]
mod render;
mod replay;
mod resize;
mod resize_as_a_whole;
mod resize_before;
mod resize_versions;
mod restart;
mod runner;
mod sandbox;
mod saved;
mod schemas;
mod several;
#[cfg(test)]
mod situations;
mod skipped;
mod sources;
mod status;
mod strategic_merge;
#[path = "../support/mod.rs"]
mod support;
mod transcripts;
mod watch;

/// The servers of a hundred scenes make and drop objects by the million.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
