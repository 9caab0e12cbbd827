//! Commands that are printed for a person to copy.

use std::collections::BTreeMap;
use std::path::Path;

use clap::CommandFactory;
use serde_json::Value;

use crate::cli::{Cli, GlobalArgs};
use crate::cluster::Cluster;
use crate::engine::address;
use crate::engine::names::{ContainerName, PodKey, WorkloadRef};
use crate::engine::plan::WayBack;
use crate::engine::rollout::Goal;
use crate::engine::workload::{Workload, WorkloadKind};

/// Quotes a word for a POSIX shell where it needs it.
pub(super) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@=,+%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// Flags of every command that take no value of their own.
const SWITCHES: [&str; 5] =
    ["-q", "--quiet", "--warnings-as-errors", "--insecure-skip-tls-verify", "--disable-compression"];

/// Returns the `apply` that was typed, to go on after its pause: pods that are done are no canaries any more.
pub(super) fn go_on(arguments: &[String]) -> String {
    let mut words = arguments.iter();
    let mut kept = Vec::new();
    while let Some(word) = words.next() {
        if word == "--canary" {
            words.next();
        } else if !word.starts_with("--canary=") {
            kept.push(word.clone());
        }
    }
    apply_as_typed(&kept)
}

/// Returns the command as typed, as an `apply`: without the flags that only `plan` has.
pub(super) fn apply_as_typed(arguments: &[String]) -> String {
    let mut words = vec!["kubectl".to_owned(), "inplace".to_owned()];
    let mut replaced = false;
    let mut rest = arguments.iter().skip(1);
    let mut before = "";
    while let Some(word) = rest.next() {
        // Before the command, a word after a flag is that flag's value.
        let is_value = before.starts_with('-') && !before.contains('=') && !SWITCHES.contains(&before);
        before = word;
        match word.as_str() {
            "plan" if !replaced && !is_value => {
                replaced = true;
                words.push("apply".to_owned());
            }
            "-o" | "--output" => drop(rest.next()),
            flag if flag.starts_with("-o")
                || flag.starts_with("--output=")
                || flag.starts_with("--detailed-exitcode") => {}
            "--token" => {
                rest.next();
                words.push("--token=...".to_owned());
            }
            flag if flag.starts_with("--token=") => words.push("--token=...".to_owned()),
            word => words.push(quoted(&address::without_credentials(word))),
        }
    }
    words.join(" ")
}

/// Returns the flags that lead another command to the same place.
fn place(workload: &WorkloadRef, global: &GlobalArgs, cluster: &Cluster) -> String {
    let mut flags = String::new();
    let mut flag = |name: &str, value: &str| flags.push_str(&format!(" {name} {}", quoted(value)));
    if workload.namespace != "default" || cluster.namespace() != workload.namespace || global.namespace.is_some() {
        flag("-n", &workload.namespace);
    }
    flags.push_str(&connection(global));
    flags
}

/// Returns the flags that name server and user, without the secrets among them.
fn connection(global: &GlobalArgs) -> String {
    let flags = [
        ("--kubeconfig", &global.kubeconfig),
        ("--context", &global.context),
        ("--cluster", &global.cluster),
        ("--user", &global.user),
        ("--server", &global.server),
        ("--as", &global.as_user),
    ];
    let groups = global.as_group.iter().map(|group| ("--as-group", group));
    let given = flags.into_iter().filter_map(|(flag, value)| Some((flag, value.as_ref()?))).chain(groups);
    given.map(|(flag, value)| format!(" {flag} {}", quoted(&address::without_credentials(value)))).collect()
}

/// Groups of pods that a printed way back may name, and pods in them: more is no command to copy.
const MOST_GROUPS: usize = 3;
pub(super) const MOST_PODS: usize = 20;

/// Returns the command that puts images back: one for the workload where all of its pods were changed, or one for each
/// group of pods that came from other images; `None` where that would be no command for a person.
pub(super) fn take_back(goal: &Goal, back: &[WayBack], global: &GlobalArgs, cluster: &Cluster) -> Option<String> {
    let workload = &goal.workload;
    let command = |targets: &str, images: &BTreeMap<ContainerName, String>| {
        let images = images.iter().map(|(container, image)| quoted(&format!("{container}={image}")));
        let images = images.collect::<Vec<_>>().join(" ");
        format!("kubectl inplace apply {targets} {images} --pods-only{}", place(workload, global, cluster))
    };
    let pods: usize = back.iter().map(|(pods, _)| pods.len()).sum();
    let are_all = u32::try_from(pods).is_ok_and(|pods| pods >= goal.replicas);
    if let ([(_, images)], true) = (back, are_all) {
        return Some(command(&workload.to_string(), images));
    }
    if back.len() > MOST_GROUPS || pods > MOST_PODS {
        return None;
    }
    let targets = |pods: &[PodKey]| pods.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
    Some(back.iter().map(|(pods, images)| command(&targets(pods), images)).collect::<Vec<_>>().join(" && "))
}

/// Returns the command that carries out a saved plan.
pub(super) fn apply_saved(file: &Path, global: &GlobalArgs) -> String {
    format!("kubectl inplace apply --plan {}{}", quoted(&file.to_string_lossy()), connection(global))
}

/// Returns the command that does something with a workload.
pub(super) fn of_workload(verb: &str, workload: &WorkloadRef, global: &GlobalArgs, cluster: &Cluster) -> String {
    format!("kubectl inplace {verb} {workload}{}", place(workload, global, cluster))
}

/// Returns what is held back of a workload that somebody else has changed meanwhile, and the commands to choose from:
/// one starts their rollout, which replaces pods; the other goes back to the images from before. Nothing where nothing waits.
pub(super) fn held_back(found: &Workload, goal: &Goal, global: &GlobalArgs) -> Vec<(&'static str, String)> {
    let Some(owner) = &goal.owner else { return Vec::new() };
    let workload = &goal.workload;
    let flags = kubectl_flags(workload, global);
    let images = owner.lock.change.images.iter().map(|(name, image)| quoted(&format!("{name}={}", image.from)));
    let back = format!("kubectl set image {workload} {}{flags}", images.collect::<Vec<_>>().join(" "));
    let start = match workload.kind {
        WorkloadKind::Deployment if found.object.pointer("/spec/paused").and_then(Value::as_bool) == Some(true) => {
            format!("kubectl rollout resume {workload}{flags}")
        }
        WorkloadKind::StatefulSet | WorkloadKind::DaemonSet
            if owner.lock.strategy.is_some()
                && found.object.pointer("/spec/updateStrategy") != owner.lock.strategy.as_ref() =>
        {
            let spec = serde_json::json!({"spec": {"updateStrategy": owner.lock.strategy}});
            format!("kubectl patch {workload} -p {}{flags}", quoted(&spec.to_string()))
        }
        WorkloadKind::Deployment
        | WorkloadKind::StatefulSet
        | WorkloadKind::DaemonSet
        | WorkloadKind::ReplicaSet
        | WorkloadKind::Pod => return Vec::new(),
    };
    let note = format!("{workload} has somebody else's template, which does not roll out yet");
    vec![
        ("note:", note),
        ("To let it roll out, which replaces pods:", start.clone()),
        ("To go back to the images from before:", format!("{back} && {start}")),
    ]
}

/// The flags that lead kubectl to the same place.
fn kubectl_flags(workload: &WorkloadRef, global: &GlobalArgs) -> String {
    format!(" -n {}{}", quoted(&workload.namespace), connection(global))
}

/// Returns the command that watches a workload's update.
pub(super) fn follow(workload: &WorkloadRef, global: &GlobalArgs, cluster: &Cluster) -> String {
    of_workload("follow", workload, global, cluster)
}

/// Returns the command whose help fits a usage error: the first word typed that is one. A flag's value that is spelled
/// as a command leads to that command's help, which costs nobody anything.
pub(super) fn command_of(arguments: &[String]) -> String {
    let root = Cli::command();
    let typed = arguments.iter().skip(1).find_map(|word| root.find_subcommand(word));
    let name = typed.filter(|command| !command.is_hide_set()).map(|command| format!(" {}", command.get_name()));
    format!("kubectl inplace{}", name.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_command_is_the_same_without_what_only_plan_has() {
        let typed = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let cases = [
            ("x plan deploy/web side=a:1 -o json", "kubectl inplace apply deploy/web side=a:1"),
            ("x plan deploy/plan side=a:1 -ojson --detailed-exitcode", "kubectl inplace apply deploy/plan side=a:1"),
            ("x plan deploy -l a=b --output=json *=a:1", "kubectl inplace apply deploy -l a=b '*=a:1'"),
            ("x -n plan -q plan deploy/web side=a:1", "kubectl inplace -n plan -q apply deploy/web side=a:1"),
            ("x plan deploy/web --token secret side=a:1", "kubectl inplace apply deploy/web --token=... side=a:1"),
        ];
        for (line, expected) in cases {
            assert_eq!(apply_as_typed(&typed(line)), expected);
        }
    }

    #[test]
    fn after_a_pause_nothing_is_a_canary_any_more() {
        let typed = |line: &str| go_on(&line.split(' ').map(str::to_owned).collect::<Vec<_>>());
        let expected = "kubectl inplace apply deploy/web side=a:1 --pods-only --pause-after 2";
        for flag in ["--canary 1 ", "--canary=2 ", ""] {
            assert_eq!(typed(&format!("x apply deploy/web side=a:1 {flag}--pods-only --pause-after 2")), expected);
        }
    }

    #[test]
    fn a_word_is_quoted_for_a_shell() {
        assert_eq!(quoted("side=acme/side:1.2@sha256:ab"), "side=acme/side:1.2@sha256:ab");
        assert_eq!(quoted("it's $HOME"), r"'it'\''s $HOME'");
        assert_eq!(quoted(""), "''");
    }

    #[test]
    fn a_usage_error_names_its_command() {
        let typed = |line: &str| command_of(&line.split(' ').map(str::to_owned).collect::<Vec<_>>());
        assert_eq!(typed("x plan --nope"), "kubectl inplace plan");
        assert_eq!(typed("x -n prod watch -o yml"), "kubectl inplace follow");
        assert_eq!(typed("x nope"), "kubectl inplace");
        assert_eq!(typed("x __complete"), "kubectl inplace");
    }
}
