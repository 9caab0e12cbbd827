//! Wrong usage, and what was probably meant: words that other tools have for what this one does, and the whole command.

use std::time::Duration;

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::Shell;
use super::meant::{PICKING, corrected, is_request, whole_command, written};
use super::next;
use crate::cli::{Typed, first_word, root};
use crate::error::{CommandError, Result};
use engine::change::target::{self, TargetError, Unnamed};
use engine::kinds::WorkloadKind;
use engine::value::hint::quoted;
use engine::value::suggest;

/// Commands by the words that somebody who knows kubectl, Helm or Argo Rollouts tries first.
const MEANT: &[(&str, &[&str])] = &[
    ("apply", &["update", "set", "patch", "upgrade", "deploy", "promote", "run", "set-image", "bump"]),
    ("undo", &["rollback", "revert", "roll-back", "rollout-undo"]),
    ("abort", &["cancel", "stop"]),
    ("resume", &["continue", "retry", "unpause"]),
    ("status", &["get", "list", "ls", "describe", "pods", "ps", "top"]),
    ("follow", &["wait", "progress"]),
    ("plan", &["preview", "check", "validate", "what-if", "dry-run"]),
    ("history", &["revisions", "audit"]),
    ("rbac", &["auth", "can-i", "role"]),
    ("explain", &["reasons", "codes", "why"]),
];

/// Adds what was probably meant to an error of clap's, and takes away what was not.
#[expect(clippy::wildcard_enum_match_arm, reason = "the kinds of clap's errors, which it adds to")]
pub(super) fn with_tips(error: clap::Error, arguments: &[String]) -> clap::Error {
    match error.kind() {
        ErrorKind::InvalidSubcommand => with_command(error, arguments),
        ErrorKind::UnknownArgument => with_near_flag_only(error),
        ErrorKind::ArgumentConflict if is_about(&error, "--filename") && is_about(&error, "--kustomize") => {
            // kubectl's sentence.
            clap::Error::raw(ErrorKind::ArgumentConflict, "only one of -f or -k can be specified\n")
        }
        _ => error,
    }
}

fn text(error: &clap::Error, kind: ContextKind) -> String {
    match error.get(kind) {
        Some(ContextValue::String(text)) => text.clone(),
        _ => String::new(),
    }
}

fn is_about(error: &clap::Error, flag: &str) -> bool {
    let parts = [ContextKind::InvalidArg, ContextKind::PriorArg].map(|kind| match error.get(kind) {
        Some(ContextValue::String(text)) => text.contains(flag),
        Some(ContextValue::Strings(texts)) => texts.iter().any(|text| text.contains(flag)),
        _ => false,
    });
    parts.contains(&true)
}

/// clap finds `--order` like `--force`; and nobody means a flag for the name of a workload.
fn with_near_flag_only(mut error: clap::Error) -> clap::Error {
    error.remove(ContextKind::Suggested);
    let flag = |kind| text(&error, kind).trim_start_matches('-').to_owned();
    let (given, suggested) = (flag(ContextKind::InvalidArg), flag(ContextKind::SuggestedArg));
    if suggest::closest(&given, std::iter::once(suggested.as_str())).is_none() {
        error.remove(ContextKind::SuggestedArg);
        error.remove(ContextKind::Usage);
    }
    error
}

fn with_command(mut error: clap::Error, arguments: &[String]) -> clap::Error {
    let word = text(&error, ContextKind::InvalidSubcommand);
    error.remove(ContextKind::SuggestedSubcommand);
    let words = arguments.get(1..).unwrap_or_default();
    let Some(at) = words.iter().position(|typed| *typed == word) else { return error };
    let (before, after) = (words.get(..at).unwrap_or_default(), words.get(at + 1..).unwrap_or_default());
    let near = || Some((closest_command(&word)?, None));
    let Some((command, also_replaced)) = meant(&word, after).or_else(near) else { return error };
    let kept = after.iter().enumerate().filter(|(at, _)| Some(*at) != also_replaced);
    // What follows a flag may be its value.
    let is_flag = |at: Option<usize>| at.and_then(|at| after.get(at)).is_some_and(|word| word.starts_with('-'));
    let kept = kept.map(|(at, word)| match is_flag(Some(at)) || is_flag(at.checked_sub(1)) {
        true => word.clone(),
        false => with_sign(word),
    });
    let kept: Vec<String> = kept.collect();
    let rest = masked(before.iter().chain(&kept));
    let whole = StyledStr::from(format!("the whole command: kubectl inplace {command}{rest}"));
    error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(vec![command]));
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![whole]));
    error
}

/// Returns the word, an image with the sign that is missing before its tag or digest.
fn with_sign(word: &str) -> String {
    let Some(kind) = WorkloadKind::written_by_users().next() else { return word.to_owned() };
    let among = [format!("{}/x", kind.spec().singular), word.to_owned()];
    let error = target::parse(&among, &[], Unnamed::None, false).err();
    let Some(TargetError::SignMissing { container, image, sign }) = error else { return word.to_owned() };
    format!("{container}={sign}{image}")
}

/// Returns the command for a word of another tool, and which word after it is part of that: `rollout -n prod undo`.
fn meant(word: &str, after: &[String]) -> Option<(String, Option<usize>)> {
    let next = first_word(after, root());
    let next_word = next.and_then(|at| after.get(at)).map(String::as_str).unwrap_or_default();
    if word == "rollout" {
        return root().find_subcommand(next_word).is_some().then(|| (next_word.to_owned(), next));
    }
    let (command, _) = MEANT.iter().find(|(_, words)| words.contains(&word))?;
    Some(((*command).to_owned(), next.filter(|_| word == "set" && next_word == "image")))
}

fn closest_command(word: &str) -> Option<String> {
    let root = root();
    let names = root.get_subcommands().filter(|command| !command.is_hide_set()).map(clap::Command::get_name);
    suggest::closest(word, names).map(str::to_owned)
}

/// Returns words as they follow a command, but for secrets. A word that does not parse is known by the flag before it alone.
fn masked<'w>(words: impl Iterator<Item = &'w String>) -> String {
    let mut kept = String::new();
    let mut flag = String::new();
    for word in words {
        let id = |word: &str| word.strip_prefix("--").map(|name| name.replace('-', "_")).unwrap_or_default();
        let shown = match word.split_once('=').filter(|_| word.starts_with("--")) {
            Some((name, value)) => format!("{name}={}", quoted(&next::shown(&id(name), value))),
            None => quoted(&next::shown(&flag, word)),
        };
        flag = id(word);
        kept.push_str(&format!(" {shown}"));
    }
    kept
}

/// How long a server may take to say which workloads have that name: the command is wrong all the same.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Adds the whole command with the words that were probably meant, where it is known to be one.
pub(super) async fn with_what_was_meant(error: TargetError, shell: &mut Shell) -> CommandError {
    let TargetError::UnknownKind { word, .. } = &error else { return hinted(&error, shell) };
    if let Some(whole) = without_all(word, &shell.typed) {
        let unsupported = TargetError::UnknownKind { word: word.clone(), suggestion: None };
        return CommandError::from(unsupported).hint(whole_command(whole, shell.line()));
    }
    let called = tokio::time::timeout(TIMEOUT, called(word, shell)).await.unwrap_or_default();
    let names: Vec<String> = called.iter().map(|kind| format!("{}/{word}", kind.spec().singular)).collect();
    let suggested = |suggestion| TargetError::UnknownKind { word: word.clone(), suggestion };
    match names.as_slice() {
        [] => hinted(&error, shell),
        [name] => hinted(&suggested(Some(name.clone())), shell),
        several => CommandError::from(suggested(None)).hint(format!("did you mean {}?", several.join(" or "))),
    }
}

/// `all` is every kind to kubectl: returns the command that says so here.
fn without_all(word: &str, typed: &[Typed]) -> Option<Vec<String>> {
    if word != "all" || !is_word(typed, word) {
        return None;
    }
    let mut typed = typed.to_vec();
    // Nobody has approved every workload.
    typed.retain(|typed| typed.id != "yes");
    typed.iter_mut().filter(|typed| typed.id == "words").for_each(|typed| typed.values.retain(|value| value != word));
    if !typed.iter().any(|typed| PICKING.contains(&typed.id.as_str())) {
        typed.push(Typed::new("all", ["true"]));
    }
    is_request(&typed).then(|| written(&typed))
}

/// Says what is wrong, and what was probably meant.
fn hinted(error: &TargetError, shell: &Shell) -> CommandError {
    let refusal = CommandError::from(error.clone());
    if let TargetError::UnknownKind { word, .. } = error
        && std::path::Path::new(word).is_file()
    {
        let refusal = CommandError::from(TargetError::UnknownKind { word: word.clone(), suggestion: None });
        return refusal.hint("that is a file: -f takes a manifest, and apply --plan a plan that plan --out has saved");
    }
    if let Some(words) = corrected(error, &shell.typed) {
        return refusal.hint(whole_command(words, shell.line()));
    }
    if let TargetError::UnknownKind { word, .. } = error
        && is_word(&shell.typed, word)
    {
        // Whether a word is a name, or an unknown kind, is not clear.
        let named = WorkloadKind::written_by_users().map(|kind| format!("{}/{word}", kind.spec().singular));
        let named = named.collect::<Vec<_>>().join(", ");
        refusal.hint(format!("name a workload as TYPE/NAME, such as {named}"))
    } else if let TargetError::MixedForms { word } = error
        && !word.contains('/')
        && takes_images(shell)
    {
        refusal.hint(format!("an image is written CONTAINER=IMAGE, such as {word}=:TAG"))
    } else {
        refusal
    }
}

fn takes_images(shell: &Shell) -> bool {
    let name = next::command_of(&shell.arguments);
    let command = root().find_subcommand(name.rsplit(' ').next().unwrap_or_default());
    command.is_some_and(|command| command.get_arguments().any(|argument| argument.get_id() == "image"))
}

/// Asks for the kinds of workloads of that name, where a name alone was given; none without a server.
async fn called(word: &str, shell: &mut Shell) -> Vec<WorkloadKind> {
    // A name alone says nothing about every namespace.
    if !is_word(&shell.typed, word) || shell.typed.iter().any(|typed| typed.id == "all_namespaces") {
        return Vec::new();
    }
    shell.ask_in_silence();
    let global = shell.global.clone();
    match shell.connect(&global).await {
        Ok(cluster) => cluster.workloads_called(word).await,
        Err(_) => Vec::new(),
    }
}

fn is_word(typed: &[Typed], word: &str) -> bool {
    typed.iter().any(|typed| typed.id == "words" && typed.values.iter().any(|value| value == word))
}

pub(super) fn has_bare_dry_run(arguments: &[String]) -> bool {
    arguments.iter().take_while(|word| *word != "--").any(|word| word == "--dry-run")
}

/// Refuses targets that are each followed by a namespace of their own, as `plan -A -o name | xargs` types them: all
/// would be looked for in the last one. Of two before or after all targets the last counts, as with kubectl.
pub(super) fn one_namespace(arguments: &[String]) -> Result<()> {
    let mut words = arguments.iter().skip(1).take_while(|word| *word != "--");
    let (mut given, mut has_target): (Option<&str>, bool) = (None, false);
    while let Some(word) = words.next() {
        let namespace = match word.as_str() {
            "-n" | "--namespace" => words.next().map(String::as_str),
            word => word.strip_prefix("--namespace="),
        };
        has_target |= namespace.is_none() && !word.starts_with('-') && word.contains('/') && !word.contains('=');
        let Some(namespace) = namespace.filter(|_| has_target) else { continue };
        if let Some(other) = given.filter(|other| *other != namespace) {
            let error = CommandError::usage(format!("targets of two namespaces were given: {other} and {namespace}"));
            return Err(error.hint("with xargs, give a line at a time: xargs -L1"));
        }
        (given, has_target) = (Some(namespace), false);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::root;

    fn refusal(line: &str) -> String {
        let words = std::iter::once("kubectl-inplace").chain(line.split_whitespace());
        let words: Vec<String> = words.map(str::to_owned).collect();
        with_tips(root().clone().try_get_matches_from(&words).unwrap_err(), &words).to_string()
    }

    #[test]
    fn words_of_other_tools_lead_to_the_command_that_does_it() {
        for (line, command) in [("rollback deployment/web", "undo"), ("update deployment/web", "apply")] {
            assert!(refusal(line).contains(&format!("'{command}'")), "{}", refusal(line));
        }
        for (line, whole) in [
            ("rollback deployment/web", "undo deployment/web"),
            ("-n shop update deployment/web side=:v2 --yes", "apply -n shop deployment/web side=:v2 --yes"),
            ("set image deploy/web side=:v2", "apply deploy/web side=:v2"),
            ("update deploy/web side=v2 --timeout=5m -l a=v2", "apply deploy/web side=:v2 --timeout=5m -l a=v2"),
            ("rollout undo deploy/web", "undo deploy/web"),
            ("rollout -n shop undo deploy/web", "undo -n shop deploy/web"),
            ("set -n shop image deploy/web side=:v2", "apply -n shop deploy/web side=:v2"),
            ("paln deploy/web side=:v2 --token abc --token=def", "plan deploy/web side=:v2 --token ... --token=..."),
            ("paln -s https://u:hidden@h -f https://u:hidden@h/x", "plan -s https://h -f https://h/x"),
            ("aply a --server=https://u:hidden@h --yes", "apply a --server=https://h --yes"),
        ] {
            let whole = format!("tip: the whole command: kubectl inplace {whole}\n");
            assert!(refusal(line).contains(&whole), "{}", refusal(line));
        }
        for line in ["weather", "logs deployment/web", "rollout pause deployment/web", "rollout"] {
            assert!(!refusal(line).contains("tip: "), "{}", refusal(line));
        }
        for (command, words) in MEANT {
            assert!(root().find_subcommand(command).is_some(), "{command}");
            assert!(words.iter().all(|word| root().find_subcommand(word).is_none()), "{command}");
        }
    }

    #[test]
    fn flags_are_suggested_only_where_they_are_near() {
        for (line, tip) in [
            ("apply deploy/web --force", None),
            ("plan deploy/web --wait", None),
            ("status deploy/web --wide", None),
            ("plan deploy/web --timout 3", Some("'--timeout'")),
            ("plan deploy/web --all-container", Some("'--all-containers'")),
        ] {
            let refusal = refusal(line);
            assert_eq!(refusal.contains("tip: "), tip.is_some(), "{refusal}");
            assert!(tip.is_none_or(|tip| refusal.contains(tip)), "{refusal}");
            assert!(tip.is_some() || !refusal.contains("--order") && !refusal.contains("Usage: "), "{refusal}");
        }
        assert_eq!(refusal("plan -f a.yaml -k dir"), "error: only one of -f or -k can be specified\n");
        assert_eq!(refusal("status -k dir -f a.yaml"), "error: only one of -f or -k can be specified\n");
    }

    #[test]
    fn two_namespaces_are_refused() {
        let refusal = |line: &str| {
            let words = std::iter::once("kubectl-inplace").chain(line.split_whitespace());
            one_namespace(&words.map(str::to_owned).collect::<Vec<_>>()).map_err(|error| error.message)
        };
        for (line, others) in [
            ("plan deploy/a --namespace=x deploy/b --namespace=y side=:v2", "x and y"),
            ("plan deploy/a -n x deploy/b --namespace y", "x and y"),
        ] {
            assert_eq!(refusal(line), Err(format!("targets of two namespaces were given: {others}")));
        }
        for line in [
            "plan deploy/a -n x --namespace=x",
            "plan -n x deploy/a side=acme/side:v1 --namespace=y",
            "plan deploy/a -n x deploy/b --namespace=x",
            "plan -n x deploy/a -- -n y",
            "plan deploy/a",
            "plan -n",
        ] {
            assert_eq!(refusal(line), Ok(()), "{line}");
        }
    }

    #[test]
    fn a_format_that_there_is_not_is_refused_in_kubectls_words() {
        for (line, tip) in [
            ("plan deploy/web -o yml", "a similar value exists: 'yaml'"),
            ("history deploy/web -o name", "allowed formats are: text,json,yaml\n"),
        ] {
            let refusal = refusal(line);
            let sentence = "error: unable to match a printer suitable for the output format \"";
            assert!(refusal.starts_with(sentence) && refusal.contains(tip), "{refusal}");
        }
    }
}
