//! Commands that are printed for the user to copy.
//!
//! Promise: a printed command leads to the same server as the same user, and drops no safeguard: the policy is in the lock
//! where there is one, and else what was typed is repeated; [`carry::CARRY`] says of each flag what becomes of it. Secrets
//! are left out.

mod carry;

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use clap::Command;

use crate::cli::{Typed, first_word, root};
use engine::change::Direction;
use engine::k8s::mask;
use engine::k8s::names::{ContainerName, PodKey, WorkloadRef};
use engine::k8s::permissions::ClusterCommand;
use engine::plan::{Plan, Verdict, WayBack, WorkloadPlan};
use engine::rollout::pre_pull::PrePull;
use engine::rollout::{DEFAULT_TIMEOUT_SECONDS, Goal, PodGoal};
use engine::state::hook::HookPhase;
use engine::status::{NextAction, NextCommand};
use engine::value::hint::Flags;
use engine::value::hint::quoted;
use engine::value::{address, duration};

pub(super) use carry::is_of_the_connection;
use carry::{Carry, carry};

/// A command line to copy; its words are quoted when it is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Printed {
    words: Vec<String>,
}

impl fmt::Display for Printed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" "))
    }
}

/// Returns the command that goes on in a direction.
pub(super) fn goes_on(direction: Direction) -> ClusterCommand {
    match direction {
        Direction::Forward => ClusterCommand::Resume,
        Direction::Back => ClusterCommand::Abort,
    }
}

/// Where the manifest is read from that came on standard input, or through a pipe that is gone.
const MANIFEST: &str = "manifest.yaml";

/// The command line, and the namespace that it selected: every command that is printed is made from it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Invocation {
    typed: Vec<Typed>,
    namespace: String,
}

impl Invocation {
    pub(super) fn new(typed: &[Typed], namespace: &str) -> Self {
        Self { typed: typed.to_vec(), namespace: namespace.to_owned() }
    }

    /// The same with these flags, each in place of one of that name.
    pub(super) fn with(&self, flags: &[(&str, String)]) -> Self {
        let mut typed = self.typed.clone();
        typed.retain(|typed| flags.iter().all(|(id, _)| typed.id != *id));
        typed.extend(flags.iter().map(|(id, value)| Typed::new(id, [value.clone()])));
        Self { typed, ..self.clone() }
    }

    /// The same without the commands around each pod.
    pub(super) fn without_hooks(&self) -> Self {
        let mut typed = self.typed.clone();
        typed.retain(|typed| !matches!(typed.id.as_str(), "before_pod" | "after_pod" | "no_hooks"));
        typed.push(Typed::new("no_hooks", [""; 0]));
        Self { typed, ..self.clone() }
    }

    /// Returns whether a `--timeout` or `--total-timeout` was typed that ends a run before it would end by itself.
    pub(super) fn is_short_of_time(&self) -> bool {
        self.typed
            .iter()
            .any(|typed| typed.id == "total_timeout" || typed.id == "timeout" && is_shorter_than_usual(typed))
    }

    /// The same again, where what was typed says what is wanted; how long a run waits is its own.
    pub(super) fn again(&self) -> Option<String> {
        self.names_what_is_wanted().then(|| self.the_same(&["timeout", "total_timeout"]))
    }

    pub(super) fn apply_planned(&self) -> String {
        self.the_same(&[])
    }

    /// Returns the command that goes on with pods alone: pods that are done are no canaries any more. A saved plan no
    /// longer fits then, and an undo names none, so the images are named; `None` where pods get different ones.
    pub(super) fn go_on(&self, goal: &Goal) -> Option<String> {
        if self.names_what_is_wanted() {
            // How long a run waits is its own.
            return Some(self.the_same(&["canary", "take_over", "timeout", "total_timeout"]));
        }
        let images = |pod: &PodGoal| {
            let images = pod.containers.iter().map(|(name, container)| Some((name.clone(), container.to.clone()?)));
            images.collect::<Option<BTreeMap<_, _>>>()
        };
        let first = images(goal.pods.first()?)?;
        let is_same = goal.pods.iter().all(|pod| images(pod).as_ref() == Some(&first) && pod.fields.is_empty());
        let task = task(vec![goal.workload.to_string()], &first);
        is_same.then(|| self.about(ClusterCommand::Apply, task, &goal.workload, Some(goal), false).to_string())
    }

    /// The same again, as an `apply`, but for these flags.
    fn the_same(&self, but: &[&str]) -> String {
        let is_pipe = |name: &str| name == "-" || name.starts_with("/dev/fd/") || name.starts_with("/proc/");
        let mut from_a_pipe = false;
        let typed = self.typed.iter().filter(|typed| !but.contains(&typed.id.as_str())).map(|typed| {
            let mut typed = typed.clone();
            for name in typed.values.iter_mut().filter(|name| typed.id == "filename" && is_pipe(name)) {
                from_a_pipe = true;
                MANIFEST.clone_into(name);
            }
            typed
        });
        let typed: Vec<Typed> = typed.collect();
        let command = command(ClusterCommand::Apply, Vec::new(), &typed, &EVERYTHING);
        if from_a_pipe {
            format!("save the manifest, which came through a pipe, as {MANIFEST}; then: {command}")
        } else {
            command.to_string()
        }
    }

    /// Returns the command that does it to those workloads alone that can be updated, where it would otherwise be refused for
    /// the others' sake; `None` where what was typed does not say what is wanted of each.
    pub(super) fn apply_to_the_others(&self, plan: &Plan) -> Option<String> {
        let (can, cannot): (Vec<_>, Vec<_>) =
            plan.workloads.iter().partition(|workload| workload.verdict != Verdict::NotEligible);
        let can: Vec<&WorkloadPlan> =
            can.into_iter().filter(|workload| workload.verdict == Verdict::InPlace && !workload.is_offline()).collect();
        let first = &can.first()?.workload;
        let is_one_place = can.iter().all(|workload| workload.workload.namespace == first.namespace);
        let is_allowed = can.iter().all(|workload| workload.missing_permissions.is_empty());
        let by_file = |typed: &Typed| matches!(typed.id.as_str(), "filename" | "kustomize");
        if cannot.is_empty() || !is_one_place || !is_allowed || can.len() > MOST_NAMED {
            return None;
        }
        if !self.names_what_is_wanted() || self.typed.iter().any(by_file) {
            return None;
        }
        let is_dropped = |typed: &Typed| {
            matches!(typed.id.as_str(), "selector" | "field_selector" | "all" | "all_namespaces" | "namespace")
        };
        let mut typed = self.typed.clone();
        typed.retain(|typed| !is_dropped(typed));
        let mut task: Vec<String> = can.iter().map(|workload| workload.workload.to_string()).collect();
        for words in typed.iter_mut().filter(|typed| typed.id == "words") {
            task.extend(std::mem::take(&mut words.values).into_iter().filter(|word| word.contains('=')));
        }
        typed.retain(|typed| typed.id != "words");
        task.extend(self.place(first));
        Some(command(ClusterCommand::Apply, task, &typed, &EVERYTHING).to_string())
    }

    /// Returns the command that carries out a saved plan, which has its own safeguards.
    pub(super) fn apply_saved(&self, file: &Path) -> String {
        let task = vec!["--plan".to_owned(), file.to_string_lossy().into_owned()];
        command(ClusterCommand::Apply, task, &self.typed, &[Carry::Connection]).to_string()
    }

    /// Returns the command that does something with a workload, with the safeguards of this run.
    pub(super) fn of_workload(&self, verb: ClusterCommand, workload: &WorkloadRef, goal: Option<&Goal>) -> Printed {
        let goes_back = verb == ClusterCommand::Undo;
        self.about(verb, vec![workload.to_string()], workload, goal, goes_back)
    }

    /// Returns the command that sets these images, as words.
    pub(super) fn with_images(&self, workload: &WorkloadRef, images: &[String]) -> String {
        let task = std::iter::once(workload.to_string()).chain(images.iter().cloned());
        self.about(ClusterCommand::Apply, task.collect(), workload, None, false).to_string()
    }

    fn about(
        &self,
        verb: ClusterCommand,
        mut task: Vec<String>,
        workload: &WorkloadRef,
        goal: Option<&Goal>,
        goes_back: bool,
    ) -> Printed {
        task.extend(self.place(workload));
        let mut typed = self.typed.clone();
        let given = goal.filter(|_| verb == ClusterCommand::Undo).map(given).unwrap_or_default();
        let hooks = goal.filter(|_| verb != ClusterCommand::Follow).map(hooks).unwrap_or_default();
        for known in hooks.into_iter().chain(given) {
            if !typed.iter().any(|typed| typed.id == known.id) {
                typed.push(known);
            }
        }
        // The pauses are for what is new.
        typed
            .retain(|typed| typed.id != "pause_after" || !matches!(verb, ClusterCommand::Undo | ClusterCommand::Abort));
        // What was changed last goes back first; `abort` knows that.
        for order in typed.iter_mut().filter(|typed| goes_back && typed.id == "container_order") {
            let changed = goal.and_then(|goal| goal.pods.first()).map(|pod| pod.containers.keys());
            let listed = std::mem::take(&mut order.values);
            let changed = changed.into_iter().flatten().map(|name| name.as_str().to_owned());
            order.values = changed.filter(|name| !listed.contains(name)).collect();
            order.values.extend(listed.into_iter().rev());
        }
        command(verb, task, &typed, carried(verb.word()))
    }

    /// The same with flags that change what the lock says.
    pub(super) fn of_workload_with(&self, verb: ClusterCommand, goal: &Goal, flags: &[(&str, String)]) -> String {
        let with: Vec<Typed> = flags.iter().map(|(id, value)| Typed::new(id, [value.clone()])).collect();
        let root = root();
        let known = root.find_subcommand(verb.word());
        let words = known.into_iter().flat_map(|known| with.iter().filter_map(|typed| typed.words(known)).flatten());
        let mut printed = self.of_workload(verb, &goal.workload, Some(goal));
        printed.words.extend(words);
        printed.to_string()
    }

    /// Whether what was typed says what the pods are to have, as the words of an `apply` do.
    fn names_what_is_wanted(&self) -> bool {
        let names = |typed: &Typed| match typed.id.as_str() {
            "words" => typed.values.iter().any(|word| word.contains('=')),
            id => matches!(id, "image" | "filename" | "kustomize" | "requests" | "limits"),
        };
        !self.is_saved_plan() && self.typed.iter().any(names)
    }

    fn is_saved_plan(&self) -> bool {
        self.typed.iter().any(|typed| typed.id == "plan")
    }

    /// Returns the command that restarts the pods that were not restarted yet.
    pub(super) fn restart_pods(&self, workload: &WorkloadRef, containers: &[&str], pods: &[&str]) -> Printed {
        let task = [workload.to_string(), "-c".into(), containers.join(","), "--pods".into(), pods.join(",")];
        self.about(ClusterCommand::Restart, task.into(), workload, None, false)
    }

    fn place(&self, workload: &WorkloadRef) -> Vec<String> {
        if workload.namespace.is_empty() {
            return Vec::new();
        }
        let is_typed = self.typed.iter().any(|typed| typed.id == "namespace");
        if workload.namespace != "default" || self.namespace != workload.namespace || is_typed {
            vec!["-n".into(), workload.namespace.clone()]
        } else {
            Vec::new()
        }
    }

    /// Returns the command that restores images: one for the workload where all of its pods were changed, or one for
    /// each group of pods that came from other images; `None` where that would be no command to type.
    pub(super) fn images_back(&self, goal: &Goal, back: &[WayBack]) -> Option<String> {
        let workload = &goal.workload;
        let command = |targets: Vec<String>, images: &BTreeMap<ContainerName, String>| {
            self.about(ClusterCommand::Apply, task(targets, images), workload, Some(goal), true).to_string()
        };
        let pods: usize = back.iter().map(|(pods, _)| pods.len()).sum();
        let are_all = u32::try_from(pods).is_ok_and(|pods| pods >= goal.replicas);
        if let ([(_, images)], true) = (back, are_all) {
            return Some(command(vec![workload.to_string()], images));
        }
        if back.len() > MOST_GROUPS || pods > MOST_PODS {
            return None;
        }
        let targets = |pods: &[PodKey]| pods.iter().map(ToString::to_string).collect();
        Some(back.iter().map(|(pods, images)| command(targets(pods), images)).collect::<Vec<_>>().join(" && "))
    }

    /// Returns kubectl's command that lets an owner's controller re-create pods.
    pub(super) fn replacing<'p>(&self, pods: impl Iterator<Item = &'p str>, workload: &WorkloadRef) -> Printed {
        self.kubectl(&["delete", "pod"], pods.map(str::to_owned).collect(), workload)
    }

    /// Returns what leads on: what is printed before each command, and the command. A rollout that began with commands
    /// around each pod is refused without them, unless that is meant.
    pub(super) fn next_commands(
        &self,
        commands: &[NextCommand],
        workload: &WorkloadRef,
        goal: Option<&Goal>,
    ) -> Vec<(String, String)> {
        commands.iter().flat_map(|next| self.next_command(next, workload, goal)).collect()
    }

    fn next_command(&self, next: &NextCommand, workload: &WorkloadRef, goal: Option<&Goal>) -> Vec<(String, String)> {
        let verb = |verb| self.of_workload(verb, workload, goal).to_string();
        let mut line = match &next.action {
            NextAction::Follow => verb(ClusterCommand::Follow),
            NextAction::Resume => verb(ClusterCommand::Resume),
            NextAction::Abort => verb(ClusterCommand::Abort),
            NextAction::Release => {
                let mut task = vec![workload.to_string()];
                task.extend(self.place(workload));
                format!("{} --release", command(ClusterCommand::Abort, task, &self.typed, &[Carry::Connection]))
            }
            NextAction::Apply(images) => {
                let mut task = with_images(vec![workload.to_string()], images);
                task.extend((!workload.kind.can_be_durable()).then(|| "--pods-only".to_owned()));
                task.extend(self.place(workload));
                command(ClusterCommand::Apply, task, &self.typed, &[Carry::Safeguard, Carry::Connection]).to_string()
            }
            NextAction::SetImage(images) => {
                let words = with_images(vec![workload.to_string()], images);
                self.kubectl(&["set", "image"], words, workload).to_string()
            }
            NextAction::Replace(pods) => self.replacing(pods.iter().map(String::as_str), workload).to_string(),
        };
        if let Some(most) = next.despite {
            line.push_str(&format!(" --max-unavailable {most} --on-failure continue"));
        }
        if next.take_over {
            line.push_str(" --take-over");
        }
        let is_given = |phase: &&HookPhase| {
            let is_known = goal.is_some_and(|goal| goal.hooks.command(**phase).is_some());
            is_known || self.typed.iter().any(|typed| typed.id == "no_hooks" || typed.id == hook_id(**phase))
        };
        let missing: Vec<HookPhase> = next.hooks.iter().filter(|phase| !is_given(phase)).copied().collect();
        let label = next.label;
        if missing.is_empty() {
            return vec![(format!("{label}:"), line)];
        }
        let flags = HookPhase::flags(&missing);
        let note = format!("it began with {flags}: give that again in place of --no-hooks to keep it");
        vec![(format!("{label}, without {flags}:"), format!("{line} --no-hooks")), ("note:".to_owned(), note)]
    }

    /// Returns the command that watches a rollout of the owner's controller: kubectl's where that knows the kind.
    pub(super) fn rollout_status(&self, workload: &WorkloadRef) -> Printed {
        let words = if workload.kind.has_kubectl_rollout() { ["rollout", "status"] } else { ["inplace", "status"] };
        self.kubectl(&words, vec![workload.to_string()], workload)
    }

    fn kubectl(&self, words: &[&str], more: Vec<String>, workload: &WorkloadRef) -> Printed {
        let words = ["kubectl"].iter().chain(words).map(|word| (*word).to_owned()).chain(more);
        let namespace = Some(&workload.namespace).filter(|namespace| !namespace.is_empty());
        let place = namespace.into_iter().flat_map(|namespace| ["-n".to_owned(), namespace.clone()]);
        Printed { words: words.chain(place).chain(self.connection_words()).collect() }
    }

    fn connection_words(&self) -> Vec<String> {
        let root = root();
        let known = root.find_subcommand(ClusterCommand::Apply.word());
        known.map(|known| flags(known, &self.typed, &[Carry::Connection])).unwrap_or_default()
    }

    /// Returns what the commands in hints have from what was typed.
    pub(super) fn flags(&self) -> Flags {
        let of = |command: &Command| {
            let name = command.get_name();
            (name.to_owned(), flags(command, &self.typed, carried(name)))
        };
        Flags { connection: self.connection_words(), own: root().get_subcommands().map(of).collect() }
    }
}

/// What a printed command has of what was typed: where a rollout goes on, the lock has the policy.
fn carried(command: &str) -> &'static [Carry] {
    match command {
        "follow" => &[Carry::Connection],
        "resume" | "abort" => &[Carry::Safeguard, Carry::Connection],
        _ => &[Carry::Policy, Carry::Safeguard, Carry::Connection],
    }
}

/// What the same command again has of what was typed.
const EVERYTHING: [Carry; 4] = [Carry::Task, Carry::Policy, Carry::Safeguard, Carry::Connection];

/// Workloads that a printed command may name: more is no command to copy.
const MOST_NAMED: usize = 20;

/// Groups of pods that a printed way back may name, and pods in them: more is no command to copy.
const MOST_GROUPS: usize = 3;
pub(super) const MOST_PODS: usize = 20;

/// The commands around each pod of a rollout: no lock has them.
fn hooks(goal: &Goal) -> Vec<Typed> {
    let phases = goal.hooks.phases();
    phases.filter_map(|phase| Some(Typed::new(hook_id(phase), [goal.hooks.command(phase)?]))).collect()
}

/// What of a rollout's policy somebody must have given, perhaps to a run before this one: the way back keeps it.
fn given(goal: &Goal) -> Vec<Typed> {
    let policy = goal.policy();
    let number = |id: &str, value: Option<String>| value.map(|value| Typed::new(id, [value]));
    let order = policy.container_order.iter().map(ContainerName::as_str);
    let given = [
        number("min_ready_seconds", policy.min_ready_seconds_given.map(|seconds| seconds.to_string())),
        (!policy.respects_budgets).then(|| Typed::new("disruption_budget", ["ignore"])),
        (goal.pre_pull != PrePull::default()).then(|| Typed::new("pre_pull", [goal.pre_pull.word()])),
        (!policy.container_order.is_empty()).then(|| Typed::new("container_order", order)),
    ];
    given.into_iter().flatten().collect()
}

fn hook_id(phase: HookPhase) -> &'static str {
    match phase {
        HookPhase::Before => "before_pod",
        HookPhase::After => "after_pod",
    }
}

fn is_shorter_than_usual(timeout: &Typed) -> bool {
    let given = timeout.values.first().and_then(|value| duration::parse(value).ok());
    // 0 is no limit.
    given.is_some_and(|given| !given.is_zero() && given.as_secs() < DEFAULT_TIMEOUT_SECONDS)
}

/// The words of an `apply` of pods alone.
fn task(targets: Vec<String>, images: &BTreeMap<ContainerName, String>) -> Vec<String> {
    let mut task = with_images(targets, images);
    task.push("--pods-only".to_owned());
    task
}

/// Targets and images, as `apply` and `kubectl set image` take them.
fn with_images(mut targets: Vec<String>, images: &BTreeMap<ContainerName, String>) -> Vec<String> {
    targets.extend(images.iter().map(|(container, image)| format!("{container}={image}")));
    targets
}

/// Returns a command of this program: its task, and of what was typed the flags that it has and that are carried on.
fn command(verb: ClusterCommand, task: Vec<String>, typed: &[Typed], carried: &[Carry]) -> Printed {
    let root = root();
    let known = root.find_subcommand(verb.word());
    let words = ["kubectl", "inplace", verb.word()].map(str::to_owned);
    let flags = known.map(|known| flags(known, typed, carried)).unwrap_or_default();
    Printed { words: words.into_iter().chain(task).chain(flags).collect() }
}

fn flags(command: &Command, typed: &[Typed], carried: &[Carry]) -> Vec<String> {
    let is_carried = |typed: &&Typed| carried.contains(&carry(&typed.id));
    let mut kept: Vec<&Typed> = typed.iter().filter(is_carried).collect();
    // The task first, then how, then where.
    kept.sort_by_key(|typed| carried.iter().position(|known| *known == carry(&typed.id)));
    kept.into_iter().filter_map(|typed| without_secrets(typed).words(command)).flatten().collect()
}

pub(super) fn without_secrets(typed: &Typed) -> Typed {
    Typed { id: typed.id.clone(), values: typed.values.iter().map(|value| shown(&typed.id, value)).collect() }
}

/// Returns the value of a flag as it may be printed.
pub(super) fn shown(id: &str, value: &str) -> String {
    match id {
        "token" | "password" => "...".to_owned(),
        "before_pod" | "after_pod" => mask::text(value),
        _ => address::without_credentials(value),
    }
}

/// Returns the command that was typed, or whose help fits what was: a word that is one, and no flag's value where flags are
/// known.
pub(super) fn command_of(arguments: &[String]) -> String {
    let root = root();
    let words = arguments.get(1..).unwrap_or_default();
    let first = first_word(words, root).and_then(|at| root.find_subcommand(words.get(at)?));
    let typed = first.or_else(|| words.iter().find_map(|word| root.find_subcommand(word)));
    // clap's own `help` has none.
    let has_help = |command: &&Command| !command.is_hide_set() && command.get_name() != "help";
    let name = typed.filter(has_help).map(|command| format!(" {}", command.get_name()));
    format!("kubectl inplace{}", name.unwrap_or_default())
}

#[cfg(test)]
mod tests;
