//! `kubectl inplace`: changes the images of running containers without replacing their pods.
//!
//! The map, and who may import whom (`tests/it/architecture.rs` holds it against the sources):
//!
//! | module | what it is for | may import |
//! |---|---|---|
//! | [`engine`] | every rule of the product; pure: values in, values out | nothing of this package |
//! | [`manifest`] | files, folders and stdin to documents with their source positions | `engine` |
//! | [`cluster`] | the only module that names kube: reads, patches and watches | `engine`, `process` |
//! | [`drive`] | the one loop: watches, answers, time and signals into `engine::rollout::turn` | `engine`, `cluster`, `record`, the `Listener` of `render` |
//! | `hook` | runs the person's own commands around a pod, for `drive` | `engine` |
//! | `process` | this process, and whether another of this machine is there | `engine` |
//! | `signals` | the signals that ask a command to stop | `engine` |
//! | [`record`] | what a rollout was decided from, as JSON lines, and their replay | `engine` |
//! | [`render`] | plan, notices and outcome to text and JSON; prints to the writers it is given | `engine` |
//! | [`cli`] | what a person may type; clap types without behaviour | `engine`'s closed sets, `render`'s formats |
//! | [`commands`] | thin glue, one file a verb | all of the above |
//! | [`error`] | what goes wrong around the work: kind, source, hints | `engine`, `manifest`, `cluster` |

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
