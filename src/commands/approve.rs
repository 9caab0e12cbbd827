//! The question before anything is touched.

use std::io::{self, IsTerminal};

use super::Shell;
use crate::cluster::Cluster;
use crate::engine::plan::{Plan, PodVerdict};
use crate::error::CommandError;

/// Asks on a terminal; only the whole word is a yes. Without a terminal `--yes` is required.
pub(super) fn ask(plan: &Plan, cluster: &Cluster, yes: bool, shell: &Shell) -> Result<bool, CommandError> {
    if yes {
        return Ok(true);
    }
    if shell.standard_input_was_read || !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return Err(
            CommandError::usage("there is no terminal to ask on, so nothing was done").hint("say --yes to approve")
        );
    }
    let pods: usize = plan.workloads.iter().map(|workload| workload.count(PodVerdict::Update)).sum();
    let context = cluster.context().unwrap_or("(no context)");
    let question = format!(
        "Update {pods} pod{} in place, in context {} (server {})?\nOnly 'yes' will be accepted to approve",
        if pods == 1 { "" } else { "s" },
        shell.terminal.stderr.show(context),
        shell.terminal.stderr.show(cluster.server())
    );
    let answer = dialoguer::Input::<String>::new().with_prompt(question).allow_empty(true).interact_text();
    match answer {
        Ok(answer) => Ok(answer == "yes"),
        Err(error) => {
            Err(CommandError::usage(format!("the question could not be asked, so nothing was done: {error}"))
                .hint("say --yes to approve"))
        }
    }
}
