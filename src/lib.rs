//! `kubectl inplace`: changes image, cpu and memory of running containers without replacing their pods.
//!
//! Every rule of the product is in the crate [`engine`], whose `Cargo.toml` names no kube, tokio or clap; each module here may
//! import it. The table says what each is for, and which others it may import (`tests/it/architecture.rs` checks that):
//!
//! | module | what it is for | may import |
//! |---|---|---|
//! | [`manifest`] | files, directories and stdin to documents with their source positions | nothing of this package |
//! | `process` | this process, and whether another of this machine is there | nothing of this package |
//! | `signals` | the signals that ask a command to stop | nothing of this package |
//! | `hook` | runs the user's own commands around a pod, for `drive` | nothing of this package |
//! | [`cluster`] | the only module that names kube: reads, patches and watches | `process`, `cli` (its connection flags) |
//! | [`record`] | what a rollout was decided from, as JSON lines, and their replay | nothing of this package |
//! | [`render`] | plan, notices and outcome to text and JSON; prints to the writers it is given | nothing of this package |
//! | [`drive`] | the one loop: watches, answers, time and signals into `engine::rollout::turn` | `cluster`, `hook`, `record`, `render` (its listeners), `signals` |
//! | [`error`] | what goes wrong around the work: kind, source, hints | `manifest`, `cluster`, `drive` |
//! | [`cli`] | the command line; clap types without behaviour | `render` (its formats) |
//! | [`commands`] | thin glue, one file a command | all of the above |

pub mod cli;
pub mod cluster;
pub mod commands;
pub mod drive;
pub mod error;
mod hook;
pub mod manifest;
mod process;
pub mod record;
pub mod render;
mod signals;
