//! `status`: shows where workloads and their pods stand, once or whenever it changes, and changes nothing.
#![expect(clippy::disallowed_methods, reason = "waits between two looks, and knows how long one took")]

use std::io;
use std::pin::pin;
use std::time::Duration;

use futures::future::{Either, select};
use tokio::time::Instant;

use super::Shell;
use super::next::Verb;
use super::targets::{self, Asked};
use crate::cli::{GlobalArgs, StatusArgs, TargetArgs};
use crate::cluster::{Cluster, Nodes};
use crate::engine::names::WorkloadRef;
use crate::engine::outcome::EndResult;
use crate::engine::rollout::Stop;
use crate::engine::status::{WorkloadStatus, status};
use crate::error::CommandError;
use crate::render::{self, HeldCommands, OutputFormat, Redrawn, StatusContext};
use crate::signals::Signals;

/// The shortest time between two looks.
const PAUSE: Duration = Duration::from_secs(1);

/// A look that took long asks much of the server: so many times as long nothing is asked.
const REST: u32 = 4;

/// What is looked at.
struct Look<'a> {
    /// `None` is every workload.
    asked: Option<Asked>,
    words: TargetArgs,
    global: &'a GlobalArgs,
    cluster: Cluster,
    output: OutputFormat,
}

pub(super) async fn run(args: &StatusArgs, global: &GlobalArgs, shell: &mut Shell) -> Result<EndResult, CommandError> {
    let words = TargetArgs::from(&args.targets);
    let named = !words.words.is_empty() || !words.filename.is_empty() || words.selector.is_some();
    let asked = if named { Some(targets::read_without_images(&words, shell)?) } else { None };
    let cluster = shell.connect(global).await?;
    let look = Look { asked, words, global, cluster, output: args.output };
    if args.watch {
        return watch(&look, shell).await;
    }
    let (text, notes) = look.text(shell).await?;
    shell.print(&text)?;
    for note in &notes {
        shell.note(note);
    }
    Ok(EndResult::Complete)
}

/// Looks again and again until a signal comes. What cannot be read for a while is said once; what was named and is gone,
/// or may not be read, ends it.
async fn watch(look: &Look<'_>, shell: &Shell) -> Result<EndResult, CommandError> {
    let mut signals = Signals::listen()?;
    let (in_place, separator) = match look.output {
        OutputFormat::Text | OutputFormat::Wide | OutputFormat::Markdown => (true, "\n"),
        OutputFormat::Yaml => (false, "---\n"),
        OutputFormat::Json | OutputFormat::Name => (false, ""),
    };
    let mut shown = Redrawn::new(in_place, separator);
    let mut said: Vec<String> = Vec::new();
    let mut has_shown = false;
    loop {
        let began = Instant::now();
        let seen = match unless_stopped(&mut signals, look.text(shell)).await {
            Ok(seen) => seen,
            Err(stop) => return Ok(leave(&shown, stop)),
        };
        let notes = match seen {
            Ok((text, notes)) => {
                shown.show(&text, &mut io::stdout().lock())?;
                has_shown = true;
                notes
            }
            Err(error) if has_shown && error.may_pass => vec![format!("{}; looking again", error.message)],
            Err(error) => {
                shown.leave();
                return Err(error);
            }
        };
        for note in notes.iter().filter(|note| !said.contains(note)) {
            shown.aside(|| shell.note(note));
        }
        said = notes;
        let pause = PAUSE.max(began.elapsed() * REST);
        if let Err(stop) = unless_stopped(&mut signals, tokio::time::sleep(pause)).await {
            return Ok(leave(&shown, stop));
        }
    }
}

fn leave(shown: &Redrawn, stop: Stop) -> EndResult {
    shown.leave();
    match stop {
        Stop::Interrupt => EndResult::Interrupted,
        Stop::Terminate => EndResult::Terminated,
    }
}

/// Does something to its end unless a signal comes before.
async fn unless_stopped<T>(signals: &mut Signals, work: impl Future<Output = T>) -> Result<T, Stop> {
    match select(pin!(work), pin!(signals.next())).await {
        Either::Left((done, _)) => Ok(done),
        Either::Right((stop, _)) => Err(stop),
    }
}

impl Look<'_> {
    /// Reads, and returns what to show, and what to say beside it.
    async fn text(&self, shell: &Shell) -> Result<(String, Vec<String>), CommandError> {
        let (workloads, notes) = self.read().await?;
        let mut text = Vec::new();
        let typing = shell.typing(&self.cluster);
        let command = |verb: Verb, workload: &WorkloadRef| typing.of_workload(verb, workload, None).to_string();
        let commands = |workload: &WorkloadRef| HeldCommands {
            follow: command(Verb::Follow, workload),
            resume: command(Verb::Resume, workload),
            abort: command(Verb::Abort, workload),
        };
        let now = shell.clock(&self.cluster);
        let context = StatusContext {
            asked_for: self.asked.is_some(),
            namespace: (!self.words.all_namespaces).then(|| self.cluster.namespace()),
            not_read: &notes,
            now: &now,
            commands: &commands,
        };
        render::status(self.output, &workloads, &context, &shell.terminal.stdout, &mut text)?;
        Ok((String::from_utf8_lossy(&text).into_owned(), notes))
    }

    async fn read(&self) -> Result<(Vec<WorkloadStatus>, Vec<String>), CommandError> {
        let Some(asked) = &self.asked else {
            let namespace = (!self.words.all_namespaces).then(|| self.cluster.namespace());
            let overview = self.cluster.overview(namespace).await?;
            if let (true, Some(forbidden)) = (overview.workloads.is_empty(), overview.forbidden) {
                // What may not be listed is not known to be empty.
                return Err(forbidden.into());
            }
            return Ok((overview.workloads.iter().map(status).collect(), overview.not_read));
        };
        let found = targets::find(asked.clone(), &self.words, self.global, &self.cluster).await?;
        let workloads = found.into_iter().map(|(workload, _)| workload).collect();
        let lives = targets::read_side_by_side(&self.cluster, workloads, Nodes::Nowhere).await?;
        Ok((lives.iter().map(status).collect(), Vec::new()))
    }
}
