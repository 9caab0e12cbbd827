//! What was typed, flag by flag: a command that is printed for copying carries flags on from here, so that it forgets none.

use std::sync::LazyLock;

use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command, CommandFactory};

use super::Cli;

/// A flag, or the words without one, with the values that were typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Typed {
    /// clap's id: the name of the field.
    pub id: String,
    /// The values, split at commas where the flag does that.
    pub values: Vec<String>,
}

impl Typed {
    /// Makes one by hand.
    pub fn new(id: &str, values: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { id: id.to_owned(), values: values.into_iter().map(Into::into).collect() }
    }

    /// Returns all that was typed of a command, in the order of its help. Defaults were not typed.
    pub fn all(root: &Command, matches: &ArgMatches) -> Vec<Self> {
        let Some((name, matches)) = matches.subcommand() else { return Vec::new() };
        let arguments = root.find_subcommand(name).into_iter().flat_map(Command::get_arguments);
        let typed = arguments.filter_map(|argument| {
            let id = argument.get_id().as_str();
            let is_typed = matches.value_source(id) == Some(ValueSource::CommandLine);
            let values = is_typed.then(|| matches.get_raw(id)).flatten()?;
            Some(Self::new(id, values.map(|value| value.to_string_lossy().into_owned())))
        });
        typed.collect()
    }

    /// Returns the words that say the same to a command; `None` where the command has no such flag.
    pub fn words(&self, command: &Command) -> Option<Vec<String>> {
        let argument = command.get_arguments().find(|argument| argument.get_id().as_str() == self.id)?;
        if argument.is_positional() {
            return Some(self.values.clone());
        }
        let name = flag(argument)?;
        if matches!(argument.get_action(), ArgAction::SetTrue) {
            return Some(vec![name]);
        }
        let values = match argument.get_value_delimiter() {
            Some(delimiter) => vec![self.values.join(&delimiter.to_string())],
            None => self.values.clone(),
        };
        let words = values.into_iter().flat_map(|value| {
            if !argument.is_require_equals_set() && !value.starts_with('-') {
                vec![name.clone(), value]
            } else if name.starts_with("--") {
                vec![format!("{name}={value}")]
            } else {
                vec![format!("{name}{value}")]
            }
        });
        Some(words.collect())
    }
}

/// Returns the command line with its flags of every command spread to each.
pub fn root() -> &'static Command {
    /// Each command that is printed is held against it.
    static ROOT: LazyLock<Command> = LazyLock::new(|| {
        let mut root = Cli::command();
        root.build();
        root
    });
    &ROOT
}

/// Flags that everybody knows by one letter.
const SHORT: [char; 7] = ['n', 'f', 'k', 'l', 'A', 'R', 'c'];

fn flag(argument: &Arg) -> Option<String> {
    match argument.get_short().filter(|short| SHORT.contains(short)) {
        Some(short) => Some(format!("-{short}")),
        None => argument.get_long().map(|long| format!("--{long}")),
    }
}
