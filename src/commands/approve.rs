//! The question before anything is touched.

use std::collections::BTreeSet;
use std::io::{self, BufRead, IsTerminal, Read, Write};

use super::Shell;
use crate::cluster::Cluster;
use crate::engine::names::ContainerName;
use crate::engine::plan::{Plan, PodVerdict, Verdict};
use crate::error::CommandError;

/// Bytes of an answer that are looked at.
const LONGEST_ANSWER: u64 = 1024;

/// Asks on a terminal; only the whole word is a yes. Without a terminal `--yes` is required.
pub(super) fn ask(plan: &Plan, cluster: &Cluster, yes: bool, shell: &Shell) -> Result<bool, CommandError> {
    let pods: usize = plan.workloads.iter().map(|workload| workload.count(PodVerdict::Update)).sum();
    let changing = plan.workloads.iter().filter(|workload| workload.verdict == Verdict::InPlace);
    let of = match changing.clone().count() {
        0 | 1 => String::new(),
        many => format!(" of {many} workloads"),
    };
    let plural = if pods == 1 { "" } else { "s" };
    let question = if changing.clone().any(|workload| workload.restarts_the_same) {
        let containers = changing.flat_map(|workload| &workload.pods).flat_map(|pod| pod.changes.keys());
        let containers: BTreeSet<&str> = containers.map(ContainerName::as_str).collect();
        let containers = containers.into_iter().collect::<Vec<_>>().join(", ");
        format!("Restart {containers} in {pods} pod{plural}{of} in place")
    } else {
        format!("Update {pods} pod{plural}{of} in place")
    };
    self::question(&question, cluster, yes, shell)
}

/// Returns whether there is a terminal to ask on.
pub(super) fn can_ask(shell: &Shell) -> bool {
    !shell.standard_input_was_read && io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Asks whether something shall be done, naming context and server.
pub(super) fn question(what: &str, cluster: &Cluster, yes: bool, shell: &Shell) -> Result<bool, CommandError> {
    if yes {
        return Ok(true);
    }
    if !can_ask(shell) {
        return Err(
            CommandError::usage("there is no terminal to ask on, so nothing was done").hint("say --yes to approve")
        );
    }
    let context = cluster.context().unwrap_or("(no context)");
    let question = format!(
        "{}, in context {} (server {})?\nOnly 'yes' will be accepted to approve",
        shell.terminal.stderr.show(what),
        shell.terminal.stderr.show(context),
        shell.terminal.stderr.show(cluster.server())
    );
    let mut stderr = io::stderr().lock();
    // A terminal that cannot be written to shows no question: nobody can have agreed to it.
    write!(stderr, "{question}: ").and_then(|()| stderr.flush())?;
    let mut answer = Vec::new();
    io::stdin().lock().take(LONGEST_ANSWER).read_until(b'\n', &mut answer)?;
    if !answer.ends_with(b"\n") {
        // End-of-file leaves the cursor behind the question.
        writeln!(stderr)?;
    }
    Ok(is_yes(&answer))
}

/// Only the whole line is a yes: no blanks around it, no capitals, no end-of-file in its place.
fn is_yes(answer: &[u8]) -> bool {
    matches!(answer, b"yes\n" | b"yes\r\n")
}
