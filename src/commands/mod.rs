//! Thin glue, one file a verb: arguments to engine values, engine values to renderers.

mod against;
mod apply;
mod approve;
mod complete;
mod completion;
mod diff;
mod explain;
mod follow;
mod hash;
mod history;
mod next;
mod notices;
mod plan;
mod planning;
mod pulls;
mod rbac;
mod reading;
mod recording;
mod restart;
mod resume;
mod rolling;
mod saved;
mod several;
mod shell;
mod status;
mod targets;
mod undo;
mod version;
mod witness;

pub use completion::script as completion_script;
pub use shell::Shell;

use clap::{CommandFactory, Parser};

use crate::cli::{Cli, Command};
use crate::engine::durable::change::Direction;
use crate::engine::outcome::{DiffResult, EndResult, Ending};
use crate::error::CommandError;

/// Parses the arguments, runs the command, and returns how it ended.
///
/// `arguments` begins with the program's name. Errors have been told by then.
pub async fn run(arguments: Vec<String>, shell: &mut Shell) -> Ending {
    if let Some(words) = complete::asked_for(&arguments) {
        return Ending::Command(complete::answer(words, shell).await);
    }
    let cli = match Cli::try_parse_from(&arguments) {
        Ok(cli) => cli,
        Err(error) => {
            let is_wrong = error.use_stderr();
            let result = shell.tell_usage(&error, &arguments);
            // To `diff`, 1 means that something differs.
            let is_diff = is_wrong && diff::is_asked_for(&arguments);
            return if is_diff { Ending::Diff(DiffResult::Failed) } else { Ending::Command(result) };
        }
    };
    shell.configure(&cli.global, &arguments);
    match dispatch(cli, shell).await {
        Ok(Ending::Command(result)) => Ending::Command(shell.finish(result)),
        Ok(ending @ Ending::Diff(_)) => ending,
        Err(error) => Ending::Command(shell.tell_error(&error)),
    }
}

async fn dispatch(cli: Cli, shell: &mut Shell) -> Result<Ending, CommandError> {
    if cli.version {
        return version::short(shell).map(Ending::Command);
    }
    let result = match cli.command {
        None => {
            shell.print(&Cli::command().render_help().to_string())?;
            Ok(EndResult::Complete)
        }
        Some(Command::Plan(args)) if !args.against.is_empty() => against::run(&args, &cli.global, shell),
        Some(Command::Plan(args)) => plan::run(&args, &cli.global, shell).await,
        Some(Command::Diff(args)) => return Ok(Ending::Diff(diff::run(&args, &cli.global, shell).await)),
        Some(Command::Hash(args)) => hash::run(&args, &cli.global, shell).await,
        Some(Command::Apply(args)) => apply::run(&args, &cli.global, shell).await,
        Some(Command::Restart(args)) => restart::run(&args, &cli.global, shell).await,
        Some(Command::Resume(args)) => resume::run(&args, None, &cli.global, shell).await,
        Some(Command::Abort(args)) => resume::run(&args, Some(Direction::Back), &cli.global, shell).await,
        Some(Command::Undo(args)) => undo::run(&args, &cli.global, shell).await,
        Some(Command::Follow(args)) => follow::run(&args, &cli.global, shell).await,
        Some(Command::Status(args)) => status::run(&args, &cli.global, shell).await,
        Some(Command::History(args)) => history::run(&args, &cli.global, shell).await,
        Some(Command::Rbac(args)) => rbac::run(&args, &cli.global, shell).await,
        Some(Command::Completion(args)) => completion::run(&args, shell),
        Some(Command::Explain(args)) => explain::run(&args, shell),
        Some(Command::Version(args)) => version::run(&args, &cli.global, shell).await,
        Some(Command::Complete(args)) => Ok(complete::answer(args.words, shell).await),
    };
    result.map(Ending::Command)
}
