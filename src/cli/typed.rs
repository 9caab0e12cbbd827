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

/// Reads the value of a boolean as Go's `strconv.ParseBool` does.
fn boolean(text: &str) -> Option<bool> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Some(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Some(false),
        _ => None,
    }
}

/// Brings boolean flags as kubectl takes them (`--yes`, `--yes=true`, `--yes=false`, `-y=false`; the last one counts) into
/// the form of flags: clap knows a flag, or an option with a value, and help shows no value. One with any other value, or of another command, is left to
/// clap's refusal. `arguments` begins with the program's name.
pub fn resolved(root: &Command, arguments: &[String]) -> Vec<String> {
    let words = arguments.get(1..).unwrap_or_default();
    let command = first_word(words, root).and_then(|at| root.find_subcommand(words.get(at)?));
    let mut resolved: Vec<String> = Vec::with_capacity(arguments.len());
    for (index, argument) in arguments.iter().enumerate() {
        if argument == "--" {
            resolved.extend(arguments.iter().skip(index).cloned());
            break;
        }
        let given =
            argument.split_once('=').and_then(|(name, value)| Some((name, value, spellings(root, command, name)?)));
        match given {
            Some((name, value, spellings)) => match boolean(value) {
                Some(true) => resolved.push(name.to_owned()),
                Some(false) => resolved.retain(|earlier| !spellings.contains(earlier)),
                None => resolved.push(argument.clone()),
            },
            None => resolved.push(argument.clone()),
        }
    }
    resolved
}

/// Returns how the boolean flag of the command is spelled that a word names, by one letter and in full.
fn spellings(root: &Command, command: Option<&Command>, word: &str) -> Option<Vec<String>> {
    let all = command.into_iter().flat_map(Command::get_arguments).chain(root.get_arguments());
    let flags = all.filter(|argument| matches!(argument.get_action(), ArgAction::SetTrue));
    flags.map(spelled).find(|spellings| spellings.iter().any(|spelling| spelling == word))
}

fn spelled(flag: &Arg) -> Vec<String> {
    let long = flag.get_long().map(|long| format!("--{long}"));
    long.into_iter().chain(flag.get_short().map(|short| format!("-{short}"))).collect()
}

/// The words before the one that is being typed.
pub struct Line<'a> {
    /// Those that are neither flags nor their values, the command first.
    pub words: Vec<&'a str>,
    /// `--` was among them: no flag follows.
    pub is_escaped: bool,
    /// The flag whose value is being typed.
    pub pending: Option<&'a Arg>,
}

impl<'a> Line<'a> {
    pub fn read(words: &'a [String], root: &'a Command) -> Self {
        let mut line = Self { words: Vec::new(), is_escaped: false, pending: None };
        for word in words {
            if line.pending.take().is_some() {
                continue;
            }
            if line.is_escaped || !word.starts_with('-') || word == "-" {
                line.words.push(word);
            } else if word == "--" {
                line.is_escaped = true;
            } else if let Some((flag, None)) = named_flag(word, &line.flags(root)) {
                let takes_next = flag.get_action().takes_values() && !flag.is_require_equals_set();
                line.pending = takes_next.then_some(flag);
            }
        }
        line
    }

    pub fn flags(&self, root: &'a Command) -> Vec<&'a Arg> {
        let command = self.words.first().and_then(|name| root.find_subcommand(name));
        root.get_arguments().chain(command.into_iter().flat_map(Command::get_arguments)).collect()
    }
}

/// Returns the position of the first word that is neither a flag nor the value of one.
pub fn first_word(words: &[String], root: &Command) -> Option<usize> {
    let line = Line::read(words, root);
    let first = *line.words.first()?;
    words.iter().position(|word| std::ptr::eq(word.as_str(), first))
}

/// Finds the flag that a word names, and its value if the word has it: `--namespace=prod`, `-nprod`, `-An`.
pub fn named_flag<'a, 'w>(word: &'w str, flags: &[&'a Arg]) -> Option<(&'a Arg, Option<&'w str>)> {
    if let Some(long) = word.strip_prefix("--") {
        let (name, value) = long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
        return Some((*flags.iter().find(|flag| flag.get_long() == Some(name))?, value));
    }
    let letters = word.strip_prefix('-')?;
    for (at, letter) in letters.char_indices() {
        let flag = *flags.iter().find(|flag| flag.get_short() == Some(letter))?;
        let rest = &letters[at + letter.len_utf8()..];
        if flag.get_action().takes_values() || rest.is_empty() {
            let value = (!rest.is_empty()).then(|| rest.strip_prefix('=').unwrap_or(rest));
            return Some((flag, value));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::root;

    #[test]
    fn a_boolean_is_read_as_kubectl_reads_it() {
        for (typed, expected) in [
            ("apply --yes=true", "apply --yes"),
            ("apply -y=T", "apply -y"),
            ("apply --yes=false", "apply"),
            ("apply -y --yes=0", "apply"),
            ("apply --yes=false --yes", "apply --yes"),
            ("apply --yes=perhaps", "apply --yes=perhaps"),
            ("status --watch=false", "status"),
            ("plan -A=1 --timeout=1", "plan -A --timeout=1"),
            ("apply -- --yes=true", "apply -- --yes=true"),
            ("follow -w=false", "follow -w=false"),
            ("-n shop status -w=false", "-n shop status"),
            ("--insecure-skip-tls-verify=false plan", "plan"),
            ("-n status apply --yes=true", "-n status apply --yes"),
        ] {
            let words: Vec<String> = format!("kubectl-inplace {typed}").split(' ').map(str::to_owned).collect();
            assert_eq!(resolved(root(), &words)[1..].join(" "), expected, "{typed}");
        }
    }
}
