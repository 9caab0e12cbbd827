//! Boolean flags as kubectl takes them: `--yes`, `--yes=true`, `--yes=false`, `-y=false`; the last one counts.
//!
//! clap knows a flag, or an option with a value. So what is typed is brought into the form of flags before it is parsed, and
//! help shows no value.

use clap::{Arg, ArgAction, Command};

/// The words that Go's `strconv.ParseBool` takes.
const TRUE: [&str; 6] = ["1", "t", "T", "true", "TRUE", "True"];
const FALSE: [&str; 6] = ["0", "f", "F", "false", "FALSE", "False"];

/// Reads the value of a boolean as Go does.
fn boolean(text: &str) -> Result<bool, String> {
    match (TRUE.contains(&text), FALSE.contains(&text)) {
        (true, _) => Ok(true),
        (false, true) => Ok(false),
        (false, false) => Err("true or false is expected".to_owned()),
    }
}

/// Returns the arguments without values of boolean flags; one with any other value, or of another command, is left to
/// clap's refusal.
pub fn resolved(root: &Command, arguments: &[String]) -> Vec<String> {
    let command = arguments.iter().find_map(|word| root.find_subcommand(word));
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
                Ok(true) => resolved.push(name.to_owned()),
                Ok(false) => resolved.retain(|earlier| !spellings.contains(earlier)),
                Err(_) => resolved.push(argument.clone()),
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
        ] {
            let words: Vec<String> = typed.split(' ').map(str::to_owned).collect();
            assert_eq!(resolved(root(), &words).join(" "), expected, "{typed}");
        }
    }
}
