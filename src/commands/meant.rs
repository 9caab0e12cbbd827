//! What was probably meant by a command that was refused: the whole command, with other words.

use super::next;
use crate::cli::{Typed, root};
use engine::change::reason::{Reason, ReasonCode};
use engine::change::target::{self, TargetError, Unnamed};
use engine::k8s::names::WorkloadRef;
use engine::kinds::WorkloadKind;
use engine::plan::Plan;
use engine::value::hint::{Hint, Spoken, kubectl};

pub(super) const PICKING: [&str; 3] = ["selector", "field_selector", "all"];

/// What was typed: the whole line, and flag by flag.
#[derive(Clone, Copy)]
pub(super) struct Line<'a> {
    pub(super) arguments: &'a [String],
    pub(super) typed: &'a [Typed],
}

/// Returns the whole command with the name that was probably meant of a workload that is not there, where it was typed.
pub(super) fn with_name(missing: &WorkloadRef, meant: &str, line: Line<'_>) -> Option<Hint> {
    let is_kind = |word: &str| WorkloadKind::from_word(word) == Some(missing.kind);
    let words = line.typed.iter().find(|typed| typed.id == "words").map(|typed| typed.values.as_slice());
    let is_of_names = words.and_then(<[String]>::first).is_some_and(|first| is_kind(first));
    let corrected = |word: &str| match word.split_once('/') {
        Some((kind, name)) => (name == missing.name && is_kind(kind)).then(|| format!("{kind}/{meant}")),
        None => (word == missing.name && is_of_names && !is_kind(word)).then(|| meant.to_owned()),
    };
    let words = with_words(|id, word| if id == "words" { corrected(word) } else { None }, line)?;
    Some(whole_command(words, line))
}

/// Returns what was probably meant by a refused command: a container's name, or, for a pod, its workload or it alone.
pub(super) fn as_meant(plan: &Plan, line: Line<'_>) -> Vec<Hint> {
    // Of several workloads another may have what this one lacks.
    let [workload] = plan.workloads.as_slice() else { return Vec::new() };
    let is = |code: ReasonCode| !workload.reasons.is_empty() && workload.reasons.iter().all(|it| it.kind() == code);
    if is(ReasonCode::ContainerNotFound) {
        let meant = |id: &str, word: &str| workload.reasons.iter().find_map(|reason| container_meant(reason, id, word));
        return with_words(meant, line).map(|words| whole_command(words, line)).into_iter().collect();
    }
    let owner = workload.reasons.iter().find_map(|reason| {
        if let Reason::PodIsControlled { workload, .. } = reason { workload.as_deref() } else { None }
    });
    let Some(owner) = owner.filter(|_| is(ReasonCode::PodIsControlled)) else { return Vec::new() };
    let is_it = |word: &str| word.rsplit_once('/').is_some_and(|(_, name)| name == workload.workload.name);
    let of_all = with_words(|id, word| (id == "words" && is_it(word)).then(|| owner.to_owned()), line);
    let Some(of_all) = of_all else { return Vec::new() };
    let mut alone = line.typed.to_vec();
    alone.retain(|typed| typed.id != "yes");
    alone.push(Typed::new("pods_only", ["true"]));
    [("all pods of it: ", of_all), ("this pod alone: ", written(&alone))]
        .map(|(what, words)| Hint::from(what).command(as_typed(words, line)))
        .into()
}

/// Returns a word with the container that was probably meant, where it names the one that there is not.
fn container_meant(reason: &Reason, id: &str, word: &str) -> Option<String> {
    let Reason::ContainerNotFound { container, suggestion: Some(meant), .. } = reason else { return None };
    match (id, word.split_once('=')) {
        ("words" | "image", Some((name, image))) if name == container.as_str() => Some(format!("{meant}={image}")),
        ("container", None) if word == container.as_str() => Some(meant.clone()),
        (_, Some(_) | None) => None,
    }
}

/// Says how what was typed is approved; the whole command where nothing in it is a secret.
pub(super) fn approved(line: Line<'_>) -> Hint {
    if line.typed.iter().any(|typed| next::without_secrets(typed) != *typed) {
        return "say --yes to approve".into();
    }
    let typed: Vec<Typed> = line.typed.iter().cloned().chain([Typed::new("yes", ["true"])]).collect();
    Hint::from("say --yes to approve: ").command(as_typed(written(&typed), line))
}

/// Returns what was typed with other words, by the id of their argument, if one is another. What is guessed is not approved.
fn with_words(corrected: impl Fn(&str, &str) -> Option<String>, line: Line<'_>) -> Option<Vec<String>> {
    let mut typed = line.typed.to_vec();
    typed.retain(|typed| typed.id != "yes");
    let mut is_other = false;
    for Typed { id, values } in &mut typed {
        for value in values {
            let Some(meant) = corrected(id, value) else { continue };
            *value = meant;
            is_other = true;
        }
    }
    (is_other && is_request(&typed)).then(|| written(&typed))
}

/// Whether words and images say what is meant: two containers that were meant may be one.
pub(super) fn is_request(typed: &[Typed]) -> bool {
    request(typed).is_ok()
}

fn request(typed: &[Typed]) -> Result<target::Request, TargetError> {
    let values = |id: &str| -> Vec<String> {
        typed.iter().filter(|typed| typed.id == id).flat_map(|typed| typed.values.clone()).collect()
    };
    let is_typed = |id: &str| typed.iter().any(|typed| typed.id == id);
    let picks = if PICKING.into_iter().any(is_typed) { Unnamed::Picked } else { Unnamed::None };
    target::parse(&values("words"), &values("image"), picks, is_typed("all_containers"))
}

pub(super) fn whole_command(words: Vec<String>, line: Line<'_>) -> Hint {
    Hint::from("the whole command: ").command(as_typed(words, line))
}

fn as_typed(words: Vec<String>, line: Line<'_>) -> Spoken {
    let typed = kubectl(next::command_of(line.arguments).trim_start_matches("kubectl "));
    words.into_iter().fold(typed, Spoken::of).whole()
}

/// Returns what follows the command; the flags that name server and user are added to each hint.
pub(super) fn corrected(error: &TargetError, typed: &[Typed]) -> Option<Vec<String>> {
    let mut typed = typed.to_vec();
    let mut correction = error.correction()?;
    // One word may be wrong in more than one way, and others may be wrong, too.
    for _ in 0..8 {
        for list in typed.iter_mut().filter(|typed| ["words", "image"].contains(&typed.id.as_str())) {
            list.values = target::corrected(&list.values, &correction);
        }
        match request(&typed) {
            Ok(_) => return Some(written(&typed)),
            Err(error) => correction = error.correction()?,
        }
    }
    None
}

/// Returns the words that say what was typed, but for the flags of the connection and secrets.
pub(super) fn written(typed: &[Typed]) -> Vec<String> {
    let root = root();
    // Any command with a flag knows how it is written.
    let commands: Vec<&clap::Command> = root.get_subcommands().collect();
    let words = typed.iter().filter(|typed| !next::is_of_the_connection(&typed.id)).filter_map(|typed| {
        let typed = next::without_secrets(typed);
        commands.iter().find_map(|command| typed.words(command))
    });
    words.flatten().collect()
}
