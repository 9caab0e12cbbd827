//! The reference pages in `docs/reference`, each made from a table of the program's own. `generated` compares them.
#![expect(clippy::disallowed_methods, reason = "reads the sources")]

pub(crate) mod json;

use std::collections::BTreeSet;
use std::fmt::Write as _;

use clap::{Arg, Command, CommandFactory};
use engine::k8s::metadata::ROLLOUT_ANNOTATION;
use engine::rollout::pre_pull::{PROCESS_ANNOTATION, PULL_LABEL};
use engine::state::durable::history::{self, HISTORY_ANNOTATION, KEPT};
use engine::state::durable::lease::RENEWED_LABEL;
use engine::state::durable::lock::Lock;
use engine::state::manager::OUR_MANAGER;
use engine::state::record::{OWN_PREFIX, UPDATE_ANNOTATION};
use kubectl_inplace::cli::Cli;
use kubectl_inplace::commands::reference::ends;
use serde_json::Value;

const GENERATED: &str = "<!-- Generated: UPDATE=1 cargo test --test it generated -->\n";

/// A vertical bar would end the cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('<', "&lt;")
}

/// Every command that is shown, its own commands and clap's `help` left out.
pub(crate) fn shown_commands() -> Vec<Command> {
    let mut root = Cli::command().term_width(100);
    root.build();
    root.get_subcommands().filter(|command| !command.is_hide_set() && command.get_name() != "help").cloned().collect()
}

pub(crate) fn commands() -> String {
    let mut page = format!("{GENERATED}# Commands\n\n| command | what it does |\n|---|---|\n");
    let about = |command: &Command| command.get_about().map(ToString::to_string).unwrap_or_default();
    for command in shown_commands() {
        let name = command.get_name();
        let _ = writeln!(page, "| [`{name}`](#{name}) | {} |", cell(&about(&command)));
    }
    page.push_str("\nFlags of every command stand at the [end](#flags-of-every-command).\n");
    for mut command in shown_commands() {
        let usage = command.render_usage().to_string().replace("Usage: ", "");
        let _ = write!(page, "\n## {}\n\n{}.\n\n```\n{usage}\n```\n", command.get_name(), about(&command));
        let words = command.get_positionals().filter(|arg| !arg.is_hide_set()).map(argument).collect::<String>();
        let is_flag = |arg: &&Arg| !arg.is_positional() && !arg.is_global_set() && !arg.is_hide_set();
        let flags = command.get_arguments().filter(is_flag).filter(|arg| arg.get_id() != "help");
        let _ = write!(page, "\n| argument | meaning |\n|---|---|\n{words}{}", flags.map(argument).collect::<String>());
        if let Some(after) = command.get_after_help() {
            let _ = write!(page, "\n```\n{after}\n```\n");
        }
    }
    let global = Cli::command();
    let flags = global
        .get_arguments()
        .filter(|arg| arg.is_global_set() && !arg.is_hide_set())
        .map(argument)
        .collect::<String>();
    let _ = write!(page, "\n## Flags of every command\n\n| flag | meaning |\n|---|---|\n{flags}");
    page
}

/// The manual pages: one of the program with the flags of every command, and one of each command with its own.
pub(crate) fn man_pages() -> Vec<(String, String)> {
    let page = |mut command: Command, name: &str, exit: &str, also: &str| {
        let usage = command.render_usage().to_string().replace("Usage: ", "").replace('-', "\\-");
        let source = concat!("kubectl-inplace ", env!("CARGO_PKG_VERSION"));
        let examples = command.get_after_help().map(ToString::to_string);
        let has_commands = command.has_subcommands();
        // What `-h` leaves out has its text in a page.
        let command = command.mut_args(|arg| said_once(arg.hide_short_help(false)));
        let man = clap_mangen::Man::new(without_help(command)).title(name).source(source);
        let mut bytes = Vec::new();
        let rendered = man.render_title(&mut bytes).and_then(|()| man.render_name_section(&mut bytes));
        bytes.extend(format!(".SH SYNOPSIS\n{usage}\n").bytes());
        let rest = rendered
            .and_then(|()| man.render_description_section(&mut bytes))
            .and_then(|()| man.render_options_section(&mut bytes))
            .and_then(|()| if has_commands { man.render_subcommands_section(&mut bytes) } else { Ok(()) });
        rest.expect("a vector can be written to");
        bytes.extend(format!(".SH EXIT STATUS\n{exit}\n").bytes());
        bytes.extend(examples.iter().flat_map(|examples| examples_section(examples).into_bytes()));
        bytes.extend(format!(".SH SEE ALSO\n{also}\n").bytes());
        (format!("{name}.1"), String::from_utf8(bytes).expect("a page is text"))
    };
    let of_command = |command: Command| {
        let name = format!("kubectl-inplace-{}", command.get_name());
        let command = command.mut_args(|arg| if arg.is_global_set() { arg.hide(true) } else { arg });
        let exit = match command.get_name() {
            "diff" => "0: nothing differs; 1: something does; more than 1: an error.",
            _ => "As in\n.BR kubectl\\-inplace (1).",
        };
        page(command, &name, exit, ".BR kubectl\\-inplace (1),\nwhich has the flags of every command")
    };
    let ends: Vec<String> = ends()
        .iter()
        .map(|end| {
            let meaning = end.meaning.replace('`', "").replace('-', "\\-").replace('\'', "\\(aq");
            format!(".TP\n{} ({})\n{meaning}", end.exit_code, end.word)
        })
        .collect();
    let program = page(Cli::command().name("kubectl-inplace"), "kubectl-inplace", &ends.join("\n"), ".BR kubectl (1)");
    std::iter::once(program).chain(shown_commands().into_iter().map(of_command)).collect()
}

/// clap's own `help` has no page.
fn without_help(command: Command) -> Command {
    command.mut_subcommands(|sub| if sub.get_name() == "help" { sub.hide(true) } else { sub })
}

/// The long text begins with the short one: a page has the long one alone.
fn said_once(arg: Arg) -> Arg {
    let long = arg.get_long_help().map(ToString::to_string);
    match long.as_deref().and_then(|long| long.rsplit("\n\n").next()) {
        Some(last) => arg.help(last.to_owned()).long_help(None::<&str>),
        None => arg,
    }
}

/// The text before the examples, and the examples line by line, as the user types them.
fn examples_section(after: &str) -> String {
    let (notes, examples) = after.split_once("Examples:\n").unwrap_or((after, ""));
    let line = |line: &str| {
        let line = line.strip_prefix("  ").unwrap_or(line);
        let line = line.replace('\\', "\\e").replace('-', "\\-").replace('\'', "\\(aq");
        if line.starts_with('.') { format!("\\&{line}\n") } else { format!("{line}\n") }
    };
    let section = |(head, text): (&str, &str)| match text.trim() {
        "" => String::new(),
        text => format!(".SH {head}\n{}", text.lines().map(line).collect::<String>()),
    };
    // An example starts with its comment.
    let examples = section(("EXAMPLES", examples)).replacen('\n', "\n.nf\n", 1);
    let end = if examples.is_empty() { "" } else { ".fi\n" };
    format!("{}{examples}{end}", section(("NOTES", notes)))
}

/// A row for a flag or a word.
fn argument(arg: &Arg) -> String {
    let names = arg.get_value_names().unwrap_or_default().iter().map(|name| format!("<{name}>")).collect::<String>();
    let takes = arg.get_action().takes_values();
    let value = match (takes, arg.is_require_equals_set()) {
        (false, _) => String::new(),
        (true, true) => format!("[={names}]"),
        (true, false) => format!(" {names}"),
    };
    let long = arg.get_long().map(|long| format!("--{long}"));
    let short = arg.get_short().map(|short| format!("-{short}"));
    let flag = [short, long].into_iter().flatten().collect::<Vec<_>>().join(", ");
    let shown = if flag.is_empty() { format!("{}...", names.trim()) } else { format!("{flag}{value}") };
    let help = arg.get_long_help().or(arg.get_help()).map(ToString::to_string).unwrap_or_default();
    // The first paragraph is the short form of the last.
    let help = help.rsplit("\n\n").next().unwrap_or_default();
    let mut notes = Vec::new();
    if !arg.is_hide_default_value_set() && !arg.get_default_values().is_empty() {
        let values = arg.get_default_values().iter().map(|value| value.to_string_lossy());
        notes.push(format!("default: `{}`", values.collect::<Vec<_>>().join(",")));
    }
    let possible: Vec<String> =
        arg.get_possible_values().iter().map(|value| format!("`{}`", value.get_name())).collect();
    if !arg.is_hide_possible_values_set() && takes && !possible.is_empty() {
        notes.push(possible.join(", "));
    }
    let notes = if notes.is_empty() { String::new() } else { format!(" ({})", notes.join("; ")) };
    format!("| `{}` | {}{notes} |\n", shown.trim().replace('|', "\\|"), cell(help.trim_end_matches('.')))
}

/// What the program writes under its own prefix: where, key, meaning, and how it goes.
const OWN_KEYS: [(&str, &str, &str, &str); 7] = [
    (
        "owner, annotation",
        ROLLOUT_ANNOTATION,
        "the rollout that holds the workload: what it changes, who began it, how far it is settled",
        "removed when the rollout ends",
    ),
    (
        "owner, label",
        RENEWED_LABEL,
        "the sign of life of the run that carries it out, at most every ten seconds",
        "removed when the rollout ends",
    ),
    (
        "owner, annotation; controllers copy it to ReplicaSets and ControllerRevisions",
        HISTORY_ANNOTATION,
        "the rollouts that have ended, for `history` and `undo`",
        "kept; `history` and `undo` do not work without it",
    ),
    (
        "pod, annotation",
        UPDATE_ANNOTATION,
        "of the pod's last update: images and container IDs before it, starts that the kubelet may still count for its back-off, and a label or gate to restore",
        "kept with the pod; see below before you remove it",
    ),
    ("pre-pull pod, label", PULL_LABEL, "the rollout that it pulls for", "the pod is deleted when the run ends"),
    (
        "pre-pull pod, or ContainerRecreateRequest; label",
        "kubectl-inplace.io/workload",
        "the workload that it is for",
        "the object is deleted when the run ends",
    ),
    (
        "pre-pull pod, or ContainerRecreateRequest; annotation",
        PROCESS_ANNOTATION,
        "the process that has created it",
        "the pod is deleted when the run ends",
    ),
];

pub(crate) fn annotations() -> String {
    let mut page = format!(
        "{GENERATED}# Labels and annotations\n\nWhat the plugin records in the cluster. Their values are its own: read them with `status -o json` and `history -o json`.\n\n| where | key | what it holds | how long |\n|---|---|---|---|\n"
    );
    for (place, key, what, until) in OWN_KEYS {
        let _ = writeln!(page, "| {place} | `{key}` | {what} | {until} |");
    }
    let _ = write!(
        page,
        "\nThe history keeps the last {KEPT} rollouts.\n\nWhat it also writes, under keys of Kubernetes':\n\n| where | key | what |\n|---|---|---|\n| Deployment and its ReplicaSets, annotation | `kubernetes.io/change-cause` | the text of `--reason`, or none; `kubectl rollout history` shows it |\n| Deployment and its ReplicaSets, annotation | `deployment.kubernetes.io/revision` | as an ordinary rollout |\n| pod of a StatefulSet or DaemonSet, label | `controller-revision-hash` | the revision that the pod now equals |\n| pre-pull pod, or ContainerRecreateRequest; label | `app.kubernetes.io/managed-by` | `kubectl-inplace` |\n| pod, label or readiness gate | one that a Service selects | removed while a container restarts, then restored (`--drain`) |\n\nThe field manager is `{OUR_MANAGER}`, unless `--field-manager` names another. A name that begins with `kubectl`, `before-first-apply` or `kustomize-controller` is refused: Flux removes what such managers own.\n\n## Remove them\n\nRemove them only when `kubectl inplace status -A` shows neither of these:\n\n- an unfinished rollout: its record is needed to finish it or to roll it back;\n- a pod that is out of its Services: what was removed from it is recorded in its annotation alone. `resume`, `abort`, or the next `apply` adds the pod back first.\n\nWithout the history, `history` is empty and `undo` is refused. Without the annotation of a pod, `undo` does not know an update of pods alone, and `status` might show `unverified`.\n\n```\nkubectl annotate deployment web {HISTORY_ANNOTATION}-\nkubectl annotate replicasets -l app=web {HISTORY_ANNOTATION}-\nkubectl annotate pods -l app=web {UPDATE_ANNOTATION}-\n```\n\nOf a StatefulSet or DaemonSet, annotate `controllerrevisions` in place of `replicasets`. The ReplicaSets go second: the controller of a Deployment copies its annotations to them, and `kubectl rollout undo` copies theirs back.\n"
    );
    page.push_str("\n## What they look like\n\nThose of one rollout of a Deployment on a real cluster.\n");
    for key in [ROLLOUT_ANNOTATION, HISTORY_ANNOTATION, UPDATE_ANNOTATION] {
        let noted = RECORDING.lines().find_map(|line| noted(&serde_json::from_str(line).ok()?, key));
        let noted = noted.unwrap_or_else(|| panic!("no {key} in the recording"));
        let _ = write!(page, "\n`{key}`:\n\n```json\n{noted}\n```\n");
    }
    page
}

const RECORDING: &str = include_str!("../../recordings/deployment-complete.jsonl");

/// The first annotation of that key in a line of a recording, as a page shows it.
fn noted(value: &Value, key: &str) -> Option<String> {
    match value {
        Value::Object(fields) => {
            let text = fields.get(key).and_then(Value::as_str);
            let value = text.and_then(|text| serde_json::from_str::<Value>(text).ok());
            let shown = value.and_then(|value| serde_json::to_string_pretty(&value).ok());
            shown.or_else(|| fields.values().find_map(|value| noted(value, key)))
        }
        Value::Array(values) => values.iter().find_map(|value| noted(value, key)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

/// What the page shows is what this program reads and writes.
#[test]
fn the_lock_and_the_history_of_the_page_are_read_and_written_the_same() {
    let text = |key: &str| {
        let shown = RECORDING.lines().find_map(|line| noted(&serde_json::from_str(line).ok()?, key));
        let value: Value = serde_json::from_str(&shown.expect("it is in the recording")).expect("it is JSON");
        value.to_string()
    };
    let (lock, history) = (text(ROLLOUT_ANNOTATION), text(HISTORY_ANNOTATION));
    assert_eq!(Lock::read(&lock).map(|lock| lock.to_text()), Some(lock));
    let object = serde_json::json!({"metadata": {"annotations": {HISTORY_ANNOTATION: history}}});
    assert_eq!(history::to_text(&history::of(&object)), history);
}

/// Every key of the prefix that occurs in a source is on the page.
#[test]
fn every_label_and_annotation_of_its_own_is_listed() {
    let listed: BTreeSet<String> = OWN_KEYS.iter().map(|(_, key, _, _)| (*key).to_owned()).collect();
    let mut found = BTreeSet::new();
    for source in crate::printed_texts::program_sources() {
        let text = std::fs::read_to_string(source).expect("a source can be read");
        for part in text.split(OWN_PREFIX).skip(1) {
            let name: String = part.chars().take_while(|c| c.is_ascii_lowercase() || *c == '-').collect();
            // The version of the documents has the prefix, too.
            if !name.is_empty() && !part.starts_with("v1") {
                found.insert(format!("{OWN_PREFIX}{name}"));
            }
        }
    }
    assert_eq!(found, listed);
}
