//! Names that only the cluster or the engine knows: workloads, namespaces, codes of reasons.
//!
//! Promise: nothing is written, nothing is asked twice, no credential plugin asks a question, and whatever goes wrong or
//! takes longer than [`PATIENCE`] is no candidate.

use std::time::Duration;

use clap::{CommandFactory, Parser};

use super::{NO_FILES, NO_FILES_NO_BLANK};
use crate::cli::Cli;
use crate::commands::Shell;
use crate::engine::change::reason::{ReasonCode, WarningCode};
use crate::engine::kinds::WorkloadKind;

/// How long a person who pressed the tabulator waits for names.
const PATIENCE: Duration = Duration::from_secs(2);

/// Flags whose value is the namespace.
const NAMESPACE_FLAGS: [&str; 2] = ["-n", "--namespace"];

/// What is being typed.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// `-n prod`: a namespace; what stands before it in the same word.
    Namespace {
        /// `--namespace=`, or nothing.
        before: String,
    },
    /// `explain Temp`: a code.
    Code,
    /// `deploy/we` or `deploy we`: a workload; what stands before its name in the same word.
    Workload {
        /// Its kind.
        kind: WorkloadKind,
        /// `deploy/`, or nothing.
        before: String,
    },
    /// `dep`: a kind of workloads.
    Kind,
}

/// Returns what names are wanted of the words after the plugin's name, the last of which is being typed; `None` where the
/// command line itself knows the candidates.
pub(super) fn wanted(words: &[String]) -> Option<Wanted> {
    let (typed, before) = words.split_last()?;
    let last = before.last().map(String::as_str).unwrap_or_default();
    if NAMESPACE_FLAGS.contains(&last) {
        return Some(Wanted::Namespace { before: String::new() });
    }
    if let Some(before) = ["--namespace=", "-n="].into_iter().find(|flag| typed.starts_with(flag)) {
        return Some(Wanted::Namespace { before: before.to_owned() });
    }
    let root = Cli::command();
    if typed.starts_with('-') || before.iter().any(|word| word == "--") {
        return None;
    }
    let positions = positionals(before, &root)?;
    let (name, positions) = positions.split_first()?;
    let command = root.find_subcommand(name)?;
    if command.get_name() == "explain" {
        return positions.is_empty().then_some(Wanted::Code);
    }
    // Those that take workloads have the words for them.
    if !command.get_arguments().any(|argument| argument.get_id() == "words") || command.is_hide_set() {
        return None;
    }
    if let Some((kind, _)) = typed.split_once('/') {
        let kind_of = of_word(kind)?;
        return Some(Wanted::Workload { kind: kind_of, before: format!("{kind}/") });
    }
    match positions.first() {
        None => Some(Wanted::Kind),
        Some(first) => match of_word(first) {
            Some(kind) => Some(Wanted::Workload { kind, before: String::new() }),
            None => (!typed.is_empty()).then_some(Wanted::Kind),
        },
    }
}

/// Finds the kind of workloads that a word stands for, if a command takes them.
fn of_word(word: &str) -> Option<WorkloadKind> {
    WorkloadKind::from_word(word).filter(|kind| kind.is_updated_here())
}

/// Returns the words that are neither flags nor their values; `None` while a flag's value is being typed.
fn positionals<'w>(words: &'w [String], root: &clap::Command) -> Option<Vec<&'w str>> {
    let mut found: Vec<&str> = Vec::new();
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        let command = found.first().and_then(|name| root.find_subcommand(name));
        let arguments = root.get_arguments().chain(command.into_iter().flat_map(clap::Command::get_arguments));
        if !word.starts_with('-') {
            found.push(word);
        } else if takes_next_word(word, arguments) {
            rest.next()?;
        }
    }
    Some(found)
}

/// Returns whether a flag's value is the word after it.
fn takes_next_word<'a>(word: &str, mut arguments: impl Iterator<Item = &'a clap::Arg>) -> bool {
    let is_meant = |argument: &clap::Arg| match word.strip_prefix("--") {
        Some(long) => argument.get_long() == Some(long),
        // A longer word carries its value: `-nprod`.
        None => argument.get_short().is_some_and(|short| word.strip_prefix('-') == Some(short.to_string().as_str())),
    };
    arguments
        .find(|argument| is_meant(argument))
        .is_some_and(|flag| flag.get_action().takes_values() && !flag.is_require_equals_set())
}

/// Returns the answer: the candidates that begin as what is typed.
pub(super) async fn candidates(wanted: &Wanted, words: &[String], shell: &mut Shell) -> String {
    let (before, names) = match wanted {
        Wanted::Code => {
            let reasons = ReasonCode::ALL.iter().map(|code| code.explanation());
            let all = reasons.chain(WarningCode::ALL.iter().map(|code| code.explanation()));
            ("", all.map(|known| format!("{}\t{}", known.code, known.summary)).collect())
        }
        Wanted::Kind => {
            let typed = words.last().map(String::as_str).unwrap_or_default();
            let kinds = WorkloadKind::updated_here().map(|kind| format!("{}/", kind.spec().singular));
            // Somebody who typed a short name goes on with it.
            let short = of_word(typed).map(|_| format!("{typed}/"));
            let mut names: Vec<String> = kinds.chain(short).collect();
            names.sort();
            names.dedup();
            return answer("", names, words, NO_FILES_NO_BLANK);
        }
        Wanted::Namespace { before } => (before.as_str(), asked(None, words, shell).await),
        Wanted::Workload { kind, before } => (before.as_str(), asked(Some(*kind), words, shell).await),
    };
    answer(before, names, words, NO_FILES)
}

fn answer(before: &str, names: Vec<String>, words: &[String], directive: &str) -> String {
    let typed = words.last().map(String::as_str).unwrap_or_default();
    let candidates = names.into_iter().map(|name| format!("{before}{name}"));
    let fitting = candidates.filter(|candidate| candidate.to_lowercase().starts_with(&typed.to_lowercase()));
    let lines: String = fitting.map(|candidate| candidate + "\n").collect();
    format!("{lines}{directive}\n")
}

/// Asks the cluster that the words lead to; `None` asks for namespaces.
async fn asked(kind: Option<WorkloadKind>, words: &[String], shell: &mut Shell) -> Vec<String> {
    let before = words.split_last().map_or(&[][..], |(_, before)| before);
    // The flag whose value is being typed has none yet.
    let before = match before.split_last() {
        Some((flag, rest)) if NAMESPACE_FLAGS.contains(&flag.as_str()) => rest,
        Some(_) | None => before,
    };
    let line = std::iter::once("kubectl-inplace").chain(before.iter().map(String::as_str));
    // Words that do not parse lead to no cluster for certain.
    let Ok(Cli { global, .. }) = Cli::try_parse_from(line) else { return Vec::new() };
    shell.ask_in_silence();
    let question = async {
        let cluster = shell.connect(&global).await.ok()?;
        match kind {
            Some(kind) => cluster.workload_names(kind, cluster.namespace()).await.ok(),
            None => cluster.namespace_names().await.ok(),
        }
    };
    let mut names = tokio::time::timeout(PATIENCE, question).await.ok().flatten().unwrap_or_default();
    // What is no name in Kubernetes is none here: it would be typed into a shell.
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._:".contains(c);
    names.retain(|name| name.chars().all(is_plain));
    names.sort();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_say_which_names_are_wanted() {
        use WorkloadKind::{DaemonSet, Deployment, Pod};
        let workload = |kind, before: &str| Some(Wanted::Workload { kind, before: before.into() });
        let namespace = |before: &str| Some(Wanted::Namespace { before: before.into() });
        let cases = [
            ("apply deploy/", workload(Deployment, "deploy/")),
            ("plan -n prod Deployments.apps/we", workload(Deployment, "Deployments.apps/")),
            ("apply ds ", workload(DaemonSet, "")),
            ("watch po we", workload(Pod, "")),
            ("apply deploy/web side=acme/side:v2 pod/", workload(Pod, "pod/")),
            ("-n prod apply --pods-only --yes deploy/w", workload(Deployment, "deploy/")),
            ("apply nonsense/", None),
            ("apply ", Some(Wanted::Kind)),
            ("apply dep", Some(Wanted::Kind)),
            ("apply deploy/web ", None),
            ("explain ", Some(Wanted::Code)),
            ("explain Temp", Some(Wanted::Code)),
            ("explain NoPods ", None),
            ("plan -n ", namespace("")),
            ("plan --namespace pro", namespace("")),
            ("plan --namespace=pro", namespace("--namespace=")),
            ("-n ", namespace("")),
            ("plan -f ", None),
            ("plan --timeout ", None),
            ("plan -o ", None),
            ("plan --det", None),
            ("apply --max-unavailable 2 deploy/", workload(Deployment, "deploy/")),
            ("version ", None),
            ("rbac ", None),
            ("rbac apply ", None),
            ("", None),
            ("pl", None),
        ];
        for (line, expected) in cases {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            assert_eq!(wanted(&words), expected, "{line:?}");
        }
    }
}
