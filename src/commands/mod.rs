//! Thin glue, one file a verb: arguments to engine values, engine values to renderers.

mod against;
mod apply;
mod approve;
mod complete;
mod completion;
mod explain;
mod follow;
mod next;
mod plan;
mod planning;
mod saved;
mod shell;
mod targets;
mod version;

pub use completion::script as completion_script;
pub use shell::Shell;

use clap::{CommandFactory, Parser};

use crate::cli::{Cli, Command};
use crate::engine::outcome::EndResult;
use crate::error::CommandError;

/// Parses the arguments, runs the command, and returns how it ended.
///
/// `arguments` begins with the program's name. Errors have been told by then.
pub async fn run(arguments: Vec<String>, shell: &mut Shell) -> EndResult {
    if complete::is_asked_for(&arguments) {
        return complete::answer(arguments.into_iter().skip(1).collect(), shell);
    }
    let cli = match Cli::try_parse_from(&arguments) {
        Ok(cli) => cli,
        Err(error) => return shell.tell_usage(&error),
    };
    shell.configure(&cli.global, &arguments);
    let result = dispatch(cli, shell).await;
    match result {
        Ok(result) => shell.finish(result),
        Err(error) => shell.tell_error(&error),
    }
}

async fn dispatch(cli: Cli, shell: &mut Shell) -> Result<EndResult, CommandError> {
    if cli.version {
        return version::short(shell);
    }
    match cli.command {
        None => {
            shell.print(&Cli::command().render_help().to_string())?;
            Ok(EndResult::Complete)
        }
        Some(Command::Plan(args)) if !args.against.is_empty() => against::run(&args, &cli.global, shell),
        Some(Command::Plan(args)) => plan::run(&args, &cli.global, shell).await,
        Some(Command::Apply(args)) => apply::run(&args, &cli.global, shell).await,
        Some(Command::Follow(args)) => follow::run(&args, &cli.global, shell).await,
        Some(Command::Completion(args)) => completion::run(&args, shell),
        Some(Command::Explain(args)) => explain::run(&args, shell),
        Some(Command::Version(args)) => version::run(&args, &cli.global, shell).await,
        Some(Command::Complete(args)) => Ok(complete::answer(args.words, shell)),
    }
}
