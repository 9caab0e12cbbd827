//! Thin glue, one file for each command: arguments to engine values, engine values to renderers.

mod against;
mod apply;
mod approve;
mod complete;
mod diff;
mod explain;
mod follow;
mod hand_over;
mod hash;
mod meant;
mod next;
mod notices;
mod permitted;
mod plan;
mod planning;
mod preview;
mod pulls;
mod reading;
mod recording;
pub mod reference;
mod release;
mod release_fields;
mod resume;
mod rolling;
mod saved;
mod several;
mod shell;
mod sidecar_set;
mod sources;
mod status;
mod targets;
mod undo;
mod usage;
mod version;

use clap::{CommandFactory, FromArgMatches};

use crate::cli::{Cli, Command, Typed, resolved, root};
use crate::error::{CommandError, ErrorKind, Result};
use crate::render::{Meaning, StreamFormat};
use engine::change::Direction;
use engine::state::outcome::EndResult;

pub use complete::script as completion_script;
pub use explain::explained;
pub use shell::Shell;

/// Parses the arguments, runs the command, and returns its exit code.
///
/// `arguments` begins with the program's name. Errors have been reported by then.
pub async fn run(arguments: Vec<String>, shell: &mut Shell) -> u8 {
    if let Some((asker, words)) = complete::asked_for(&arguments) {
        return complete::answer(asker, words, shell).await.exit_code();
    }
    let (cli, typed) = match parsed(&arguments) {
        Ok(parsed) => parsed,
        Err(error) => {
            let error = usage::with_tips(error, &arguments);
            let is_wrong = error.use_stderr();
            let result = shell.tell_usage(&error, &arguments);
            // To `diff`, 1 means that something differs.
            let is_diff = is_wrong && diff::is_asked_for(&arguments);
            return if is_diff { diff::FAILED } else { result.exit_code() };
        }
    };
    shell.configure(&cli.global, &arguments, typed);
    shell.is_answer = cli.command.as_ref().is_some_and(is_answer);
    if usage::has_bare_dry_run(&arguments) {
        // kubectl's words.
        shell.say(Meaning::Waiting, "Warning:", "--dry-run is deprecated and can be replaced with --dry-run=client");
    }
    let refusal =
        cli.global.refusal().map_or_else(|| usage::one_namespace(&arguments), |why| Err(CommandError::usage(why)));
    if let Err(error) = refusal {
        return shell.tell_error(&error).exit_code();
    }
    // The last line says how it ended.
    let tells_lines = cli.command.as_ref().and_then(reports_as) == Some(StreamFormat::Json);
    dispatch(cli, shell).await.unwrap_or_else(|error| {
        let result = shell.tell_error(&error);
        if tells_lines && error.kind == ErrorKind::NothingFound && shell.tell_end_of_nothing(result).is_err() {
            return EndResult::Error.exit_code();
        }
        result.exit_code()
    })
}

/// Whether the exit code says what was done or found: then an output that nobody reads is no success.
#[expect(clippy::wildcard_enum_match_arm, reason = "the others print something, and that is all")]
fn is_answer(command: &Command) -> bool {
    match command {
        Command::Plan(args) => args.detailed_exitcode || args.hand_over,
        Command::ReleaseFields(_) => true,
        Command::Rbac(args) => args.check,
        Command::Status(args) => args.exit_code,
        other => reports_as(other).is_some(),
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the others carry out no rollout")]
fn reports_as(command: &Command) -> Option<StreamFormat> {
    match command {
        Command::Apply(args) => Some(args.act.output),
        Command::Restart(args) => Some(args.act.output),
        Command::Resume(args) => Some(args.output),
        Command::Abort(args) => Some(args.resume.output),
        Command::Undo(args) => Some(args.act.output),
        Command::Follow(args) => Some(args.output),
        _ => None,
    }
}

fn parsed(arguments: &[String]) -> Result<(Cli, Vec<Typed>), clap::Error> {
    let mut root = root().clone();
    let words = resolved(&root, arguments);
    let matches = root.try_get_matches_from_mut(words)?;
    let cli = Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut root))?;
    Ok((cli, Typed::all(&root, &matches)))
}

async fn dispatch(cli: Cli, shell: &mut Shell) -> Result<u8> {
    if cli.version {
        let result = version::short(shell)?;
        return Ok(shell.finish(result).exit_code());
    }
    let result = match cli.command {
        None => {
            shell.print(&Cli::command().render_help().to_string())?;
            Ok(EndResult::Complete)
        }
        Some(Command::Plan(args)) if !args.against.is_empty() => against::run(&args, &cli.global, shell).await,
        Some(Command::Plan(args)) => plan::run(&args, &cli.global, shell).await,
        Some(Command::Diff(args)) => return Ok(diff::run(&args, &cli.global, shell).await),
        Some(Command::Hash(args)) => hash::run(&args, &cli.global, shell).await,
        Some(Command::Apply(args)) => apply::run(&args, &cli.global, shell).await,
        Some(Command::Restart(args)) => undo::restart(&args, &cli.global, shell).await,
        Some(Command::Resume(args)) => resume::run(&args, None, &cli.global, shell).await,
        Some(Command::Abort(args)) if args.release => release::run(&args.resume, &cli.global, shell).await,
        Some(Command::Abort(args)) => resume::run(&args.resume, Some(Direction::Back), &cli.global, shell).await,
        Some(Command::Undo(args)) => undo::run(&args, &cli.global, shell).await,
        Some(Command::ReleaseFields(args)) => release_fields::run(&args, &cli.global, shell).await,
        Some(Command::Follow(args)) => follow::run(&args, &cli.global, shell).await,
        Some(Command::Status(args)) => status::run(&args, &cli.global, shell).await,
        Some(Command::History(args)) => status::history(&args, &cli.global, shell).await,
        Some(Command::Rbac(args)) => permitted::run(&args, &cli.global, shell).await,
        Some(Command::Options) => {
            shell.print(&crate::cli::options())?;
            Ok(EndResult::Complete)
        }
        Some(Command::Completion(args)) => complete::completion(&args, shell),
        Some(Command::Explain(args)) => explain::run(&args, shell),
        Some(Command::Version(args)) => version::run(&args, &cli.global, shell).await,
    };
    result.map(|result| shell.finish(result).exit_code())
}
