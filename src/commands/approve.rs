//! The question before anything is touched.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufRead, BufReader, IsTerminal, Write};

use futures::FutureExt;
use futures::future::{self, Either};
use tokio::runtime::Handle;

use super::{Shell, meant};
use crate::cluster::Cluster;
use crate::error::{CommandError, ErrorKind, Result};
use crate::render;
use engine::k8s::names::ContainerName;
use engine::plan::{Plan, PodVerdict, Verdict};
use engine::value::count::count;

const LONGEST_ANSWER: u64 = 1024;

pub(super) fn ask(plan: &Plan, cluster: &Cluster, yes: bool, shell: &Shell) -> Result<()> {
    let pods: usize = plan.workloads.iter().map(|workload| workload.count(PodVerdict::Update)).sum();
    let changing = plan.workloads.iter().filter(|workload| workload.verdict == Verdict::InPlace);
    let of = match changing.clone().count() {
        0 | 1 => String::new(),
        many => format!(" of {many} workloads"),
    };
    let counted = count(pods, "pod");
    let question = if changing.clone().any(|workload| workload.restarts_the_same) {
        let containers = changing.flat_map(|workload| &workload.pods).flat_map(|pod| pod.changes.keys());
        let containers: BTreeSet<&str> = containers.map(ContainerName::as_str).collect();
        let containers = containers.into_iter().collect::<Vec<_>>().join(", ");
        format!("Restart {containers} in {counted}{of} in place")
    } else {
        format!("Update {counted}{of} in place")
    };
    confirm(&question, cluster, yes, shell)
}

/// Asks on a terminal; only the whole word is a yes. Without a terminal `--yes` is required. That somebody has not said yes is
/// no wrong usage, so that no help is pointed at.
pub(super) fn confirm(what: &str, cluster: &Cluster, yes: bool, shell: &Shell) -> Result<()> {
    let is_approved = yes || question(what, cluster, shell)?;
    if is_approved { Ok(()) } else { Err(CommandError::new(ErrorKind::Declined, DECLINED)) }
}

enum Answers {
    StandardInput,
    /// Standard input was a manifest: the terminal itself is asked.
    Terminal(File),
}

const TERMINAL: &str = if cfg!(windows) { "CONIN$" } else { "/dev/tty" };

#[expect(clippy::disallowed_methods, reason = "the terminal is no file that somebody names")]
fn answers(shell: &Shell) -> Option<Answers> {
    if !io::stderr().is_terminal() {
        return None;
    }
    if shell.standard_input_was_read {
        return File::open(TERMINAL).ok().filter(File::is_terminal).map(Answers::Terminal);
    }
    io::stdin().is_terminal().then_some(Answers::StandardInput)
}

const DECLINED: &str = "not approved: nothing was changed";
const MIDWAY: &str = "not approved: this run changes nothing more, and what it has changed stays";

/// Asks in the middle of a rollout, where Ctrl-C is no word that nothing was changed.
pub(super) fn question_midway(what: &str, cluster: &Cluster, shell: &Shell) -> Result<bool> {
    question(what, cluster, shell).map_err(midway(true))
}

/// Returns what is said where somebody has not said yes, once this run has changed something.
pub(super) fn midway(has_changed: bool) -> impl Fn(CommandError) -> CommandError {
    move |error| {
        let is_no = matches!(error.kind, ErrorKind::Interrupted | ErrorKind::Declined);
        if has_changed && is_no { CommandError::new(error.kind, MIDWAY) } else { error }
    }
}

pub(super) fn can_ask(shell: &Shell) -> bool {
    answers(shell).is_some()
}

fn question(what: &str, cluster: &Cluster, shell: &Shell) -> Result<bool> {
    let Some(answers) = answers(shell) else {
        let error = CommandError::usage("there is no terminal to ask on, so nothing was done");
        return Err(error.hint(meant::approved(shell.line())));
    };
    let context = cluster.context().unwrap_or("(no context)");
    let question = format!(
        "{}, in context {} (server {})?\nOnly 'yes' will be accepted to approve",
        shell.terminal.stderr.show(what),
        shell.terminal.stderr.show(context),
        shell.terminal.stderr.show(cluster.server())
    );
    let style = &shell.terminal.stderr;
    let lines = question.lines().map(|line| render::flowing(line, 2, style));
    let question = lines.collect::<Vec<_>>().join("\n");
    let runtime = Handle::current();
    let answer = tokio::task::block_in_place(|| runtime.block_on(answer_or_interrupt(&question, answers)))?;
    if !answer.as_ref().is_some_and(|answer| answer.ends_with(b"\n")) {
        // End-of-file and Ctrl-C leave the cursor behind the question.
        writeln!(io::stderr())?;
    }
    match answer {
        Some(answer) => Ok(is_yes(&answer)),
        None => Err(CommandError::new(ErrorKind::Interrupted, DECLINED)),
    }
}

/// Asks, and waits for a line; `None` for Ctrl-C, which leaves the reading thread behind: the process ends soon.
async fn answer_or_interrupt(question: &str, answers: Answers) -> io::Result<Option<Vec<u8>>> {
    let mut interrupt = std::pin::pin!(tokio::signal::ctrl_c());
    // Looked at once, so that it listens before anybody can read the question.
    let listens = interrupt.as_mut().now_or_never().is_none();
    // A terminal that cannot be written to shows no question: nobody can have agreed to it.
    let mut stderr = io::stderr();
    write!(stderr, "{question}: ").and_then(|()| stderr.flush())?;
    let reading = tokio::task::spawn_blocking(move || match answers {
        Answers::StandardInput => line(io::stdin().lock()),
        Answers::Terminal(terminal) => line(BufReader::new(terminal)),
    });
    // Without a handler Ctrl-C ends the process as it always does.
    let answer = match listens {
        false => reading.await,
        true => match future::select(reading, interrupt).await {
            Either::Left((answer, _)) => answer,
            Either::Right(_) => return Ok(None),
        },
    };
    answer.map_err(io::Error::other)?.map(Some)
}

fn line(from: impl BufRead) -> io::Result<Vec<u8>> {
    let mut answer = Vec::new();
    from.take(LONGEST_ANSWER).read_until(b'\n', &mut answer)?;
    Ok(answer)
}

/// Only the whole line is a yes: no blanks around it, no capitals, no end-of-file in its place.
fn is_yes(answer: &[u8]) -> bool {
    matches!(answer, b"yes\n" | b"yes\r\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_changed_before_a_no_is_not_denied() {
        for kind in [ErrorKind::Declined, ErrorKind::Interrupted] {
            let said = |has_changed| midway(has_changed)(CommandError::new(kind, DECLINED));
            assert_eq!((said(false).message.as_str(), said(true).message.as_str()), (DECLINED, MIDWAY));
            assert_eq!(said(true).kind, kind);
        }
        assert_eq!(midway(true)(CommandError::usage("other")).message, "other");
    }
}
