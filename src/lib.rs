//! `kubectl inplace`: changes image, cpu and memory of running containers without replacing their pods.
//!
//! The map, and who may import whom (`tests/it/architecture.rs` holds it against the sources):
//!
//! | module | what it is for | may import |
//! |---|---|---|
//! | [`engine`] | every rule of the product; pure: values in, values out | nothing of this package |
//! | [`manifest`] | files, folders and stdin to documents with their source positions | `engine` |
//! | `process` | this process, and whether another of this machine is there | `engine` |
//! | `signals` | the signals that ask a command to stop | `engine` |
//! | `hook` | runs the user's own commands around a pod, for `drive` | `engine` |
//! | [`cluster`] | the only module that names kube: reads, patches and watches | `engine`, `process` |
//! | [`record`] | what a rollout was decided from, as JSON lines, and their replay | `engine` |
//! | [`render`] | plan, notices and outcome to text and JSON; prints to the writers it is given | `engine` |
//! | [`drive`] | the one loop: watches, answers, time and signals into `engine::rollout::turn` | `engine`, `cluster`, `hook`, `record`, `render` (its listeners), `signals` |
//! | [`error`] | what goes wrong around the work: kind, source, hints | `engine`, `manifest`, `cluster`, `drive` |
//! | [`cli`] | the command line; clap types without behaviour | `engine` (its closed sets), `render` (its formats) |
//! | [`commands`] | thin glue, one file a command | all of the above |

#![cfg_attr(
    test,
    expect(
        clippy::wildcard_enum_match_arm,
        reason = "a test looks for what it expects, and fails for everything else"
    )
)]

pub mod cli;
pub mod cluster;
pub mod commands;
pub mod drive;
pub mod engine;
pub mod error;
mod hook;
pub mod manifest;
mod process;
pub mod record;
pub mod render;
mod signals;
