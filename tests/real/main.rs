//! Tests against a real cluster, one binary: a module a theme. Each test has a namespace of its own, so that they run side
//! by side. Started by `tests/run real`; `support` says which cluster they take.
#![expect(clippy::wildcard_enum_match_arm, reason = "a test looks for what it expects, and fails for everything else")]
#![expect(clippy::disallowed_methods, reason = "the tests start programs, wait for them and read their surroundings")]
#![expect(clippy::disallowed_macros, reason = "what a failed test saw is printed for the person who reads it")]

mod admission;
mod apply;
mod bad_input;
mod container_order;
mod desired;
mod diff;
mod drain;
mod drain_gate;
mod durable;
mod durable_kill;
mod durable_races;
mod durable_traps;
mod durable_writers;
mod facts;
mod failure;
mod failure_report;
mod first_write;
mod follow;
mod hand_over;
mod hash;
mod hash_command;
mod history;
mod hooks;
mod interrupt;
mod kubeconfig;
mod leaves;
mod on_call;
mod others;
mod pages;
mod pasting;
mod permissions;
mod plan;
mod plugin;
mod pre_pull;
mod property;
mod pull_facts;
mod recordings;
mod replaced;
mod resize;
mod resize_among_others;
mod resize_as_a_whole;
mod resize_before;
mod resize_lowered;
mod resize_put_off;
mod restart;
mod restart_policy;
mod signals;
mod status;
mod superseded;
mod support;
mod tables;
mod tolerations;
mod transcripts;
mod without_servers;
mod yaml;
