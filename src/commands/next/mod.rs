//! Commands that are printed for the user to copy.
//!
//! Promise: a printed command leads to the same server as the same user, and keeps every safeguard of the run that it
//! follows: flags are carried on from what was typed, and [`carry::CARRY`] says of each what becomes of it. Secrets are left out.

mod carry;
mod others;

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use clap::Command;
use serde_json::{Value, json};

use super::complete::first_word;
use crate::cli::{Typed, root};
use engine::change::{Direction, same};
use engine::k8s::mask;
use engine::k8s::metadata::ROLLOUT_ANNOTATION;
use engine::k8s::names::{ContainerName, PodKey, WorkloadRef};
use engine::kinds::{HoldsBy, IfResumed, Release};
use engine::plan::{self, LiveWorkload, WayBack};
use engine::rollout::drain::{DEFAULT_DRAIN_SECONDS, DrainBy};
use engine::rollout::pre_pull::PrePull;
use engine::rollout::{DEFAULT_TIMEOUT_SECONDS, Goal, PodGoal};
use engine::state::durable::stateful_set;
use engine::state::hook::HookPhase;
use engine::state::policy::LONGEST_SECONDS;
use engine::status::{Deed, Way, status};
use engine::value::hint::Flags;
use engine::value::shell_words::quoted;
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

/// The commands of this program that are printed after a rollout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verb {
    /// The images by hand.
    Apply,
    /// The same images again.
    Restart,
    /// On with what was interrupted.
    Resume,
    /// Back from what was interrupted.
    Abort,
    /// Back from what is complete.
    Undo,
    /// Only watches.
    Follow,
}

impl Verb {
    /// Returns the command that goes on in a direction.
    pub(super) fn of(direction: Direction) -> Self {
        match direction {
            Direction::Forward => Self::Resume,
            Direction::Back => Self::Abort,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Apply => "apply",
            Self::Restart => "restart",
            Self::Resume => "resume",
            Self::Abort => "abort",
            Self::Undo => "undo",
            Self::Follow => "follow",
        }
    }
}

/// Where the manifest is read from that came on standard input, or through a pipe that is gone.
const MANIFEST: &str = "manifest.yaml";

/// The command line, and the namespace that it selected: every command that is printed is made from it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Typing {
    typed: Vec<Typed>,
    namespace: String,
    /// How many pods its owner lets be down, where that is known: nobody has to give that number.
    of_owner: Option<u32>,
}

impl Typing {
    pub(super) fn new(typed: &[Typed], namespace: &str) -> Self {
        Self { typed: typed.to_vec(), namespace: namespace.to_owned(), of_owner: None }
    }

    /// The same for a workload whose owner lets `unavailable` pods be down.
    pub(super) fn of_owner(&self, unavailable: u32) -> Self {
        Self { of_owner: Some(unavailable), ..self.clone() }
    }

    /// The same without a `--timeout` that was too short, where one was typed: what follows it is not bound by it again.
    pub(super) fn with_more_time(&self) -> Option<Self> {
        self.without(|typed| typed.id == "timeout" && is_shorter_than_usual(typed))
    }

    /// The same without the time of the whole run, where one was typed: a way back is not cut off by what has run out.
    pub(super) fn with_all_the_time(&self) -> Option<Self> {
        self.without(|typed| typed.id == "total_timeout")
    }

    /// The same that goes on after a pod that fails, with that many pods down where the flag is needed.
    pub(super) fn despite_failures(&self, max_unavailable: Option<usize>) -> Self {
        let is_replaced =
            |typed: &Typed| typed.id == "on_failure" || typed.id == "max_unavailable" && max_unavailable.is_some();
        let mut typing = self.with(Typed::new("on_failure", ["continue"]), is_replaced);
        typing.typed.extend(max_unavailable.map(|most| Typed::new("max_unavailable", [most.to_string()])));
        typing
    }

    /// The same that takes pods down without asking budgets.
    pub(super) fn ignoring_budgets(&self) -> Self {
        self.with(Typed::new("disruption_budget", ["ignore"]), |typed| typed.id == "disruption_budget")
    }

    /// The same without the commands around each pod.
    pub(super) fn without_hooks(&self) -> Self {
        let is_hook = |typed: &Typed| matches!(typed.id.as_str(), "before_pod" | "after_pod" | "no_hooks");
        self.with(Typed::new("no_hooks", [""; 0]), is_hook)
    }

    /// The same that waits for no resize which the kubelet does not do now.
    pub(super) fn leaving_resizes(&self) -> Self {
        self.with(Typed::new("deferred", ["leave"]), |typed| typed.id == "deferred")
    }

    /// The same again, where what was typed says what is wanted.
    pub(super) fn again(&self) -> Option<String> {
        self.names_what_is_wanted().then(|| self.the_same(&[]))
    }

    /// Returns the command that follows, without how long ready must hold: who only watches decides nothing by it.
    pub(super) fn watching(&self, workload: &WorkloadRef, goal: Option<&Goal>) -> Printed {
        let typing = self.without(|typed| typed.id == "min_ready_seconds");
        typing.as_ref().unwrap_or(self).of_workload(Verb::Follow, workload, goal)
    }

    /// The same for what goes on with a rollout that was only watched: for how long somebody watches, and how long ready must
    /// hold for him, is no matter of the rollout.
    pub(super) fn of_what_is_watched(&self) -> Self {
        let of_the_watching =
            |typed: &Typed| matches!(typed.id.as_str(), "timeout" | "total_timeout" | "min_ready_seconds");
        self.without(of_the_watching).unwrap_or_else(|| self.clone())
    }

    /// The same with a flag, in place of those that it takes the place of.
    fn with(&self, flag: Typed, is_replaced: impl Fn(&Typed) -> bool) -> Self {
        let mut typing = self.without(is_replaced).unwrap_or_else(|| self.clone());
        typing.typed.push(flag);
        typing
    }

    fn without(&self, is_left_out: impl Fn(&Typed) -> bool) -> Option<Self> {
        let others = || self.typed.iter().filter(|typed| !is_left_out(typed)).cloned().collect();
        self.typed.iter().any(&is_left_out).then(|| Self { typed: others(), ..self.clone() })
    }

    /// Returns the command that does what was planned.
    pub(super) fn apply_planned(&self) -> String {
        self.the_same(&[])
    }

    /// Returns the command that goes on with pods alone: pods that are done are no canaries any more. A saved plan no
    /// longer fits then, and an undo names none, so the images are named; `None` where pods get different ones.
    pub(super) fn go_on(&self, goal: &Goal) -> Option<String> {
        if self.names_what_is_wanted() {
            return Some(self.the_same(&["canary", "take_over"]));
        }
        let images = |pod: &PodGoal| {
            let images = pod.containers.iter().map(|(name, container)| Some((name.clone(), container.to.clone()?)));
            images.collect::<Option<BTreeMap<_, _>>>()
        };
        let first = images(goal.pods.first()?)?;
        let is_same = goal.pods.iter().all(|pod| images(pod).as_ref() == Some(&first) && pod.fields.is_empty());
        let task = task(vec![goal.workload.to_string()], &first);
        is_same.then(|| self.about(Verb::Apply, task, &goal.workload, Some(goal), false).to_string())
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
        let carried = [Carry::Task, Carry::Safeguard, Carry::Connection];
        let command = command(Verb::Apply, Vec::new(), &typed, &carried);
        if from_a_pipe {
            format!("save the manifest, which came through a pipe, as {MANIFEST}; then: {command}")
        } else {
            command.to_string()
        }
    }

    /// Returns the command that carries out a saved plan, which has its own safeguards.
    pub(super) fn apply_saved(&self, file: &Path) -> String {
        let task = vec!["--plan".to_owned(), file.to_string_lossy().into_owned()];
        command(Verb::Apply, task, &self.typed, &[Carry::Connection]).to_string()
    }

    /// Returns the command that does something with a workload, with the safeguards of this run.
    pub(super) fn of_workload(&self, verb: Verb, workload: &WorkloadRef, goal: Option<&Goal>) -> Printed {
        let goes_back = verb == Verb::Undo;
        self.about(verb, vec![workload.to_string()], workload, goal, goes_back)
    }

    fn about(
        &self,
        verb: Verb,
        mut task: Vec<String>,
        workload: &WorkloadRef,
        goal: Option<&Goal>,
        goes_back: bool,
    ) -> Printed {
        task.extend(self.place(workload));
        let mut typed = self.typed.clone();
        let known = match (self.is_saved_plan(), verb) {
            (true, _) => Known::All,
            (false, Verb::Undo) => Known::Given,
            (false, Verb::Apply | Verb::Restart | Verb::Resume | Verb::Abort | Verb::Follow) => Known::Hooks,
        };
        let planned = goal.map(|goal| of_goal(goal, known)).unwrap_or_default();
        let of_owner = self.of_owner.map(|pods| Typed::new("max_unavailable", [pods.to_string()]));
        for known in planned.into_iter().filter(|known| Some(known) != of_owner.as_ref()) {
            if !typed.iter().any(|typed| typed.id == known.id) {
                typed.push(known);
            }
        }
        // The pauses are for what is new.
        typed.retain(|typed| typed.id != "pause_after" || !matches!(verb, Verb::Undo | Verb::Abort));
        // What was changed last goes back first; `abort` knows that.
        for order in typed.iter_mut().filter(|typed| goes_back && typed.id == "container_order") {
            let changed = goal.and_then(|goal| goal.pods.first()).map(|pod| pod.containers.keys());
            let listed = std::mem::take(&mut order.values);
            let changed = changed.into_iter().flatten().map(|name| name.as_str().to_owned());
            order.values = changed.filter(|name| !listed.contains(name)).collect();
            order.values.extend(listed.into_iter().rev());
        }
        command(verb, task, &typed, &[Carry::Safeguard, Carry::Connection])
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
        self.about(Verb::Restart, task.into(), workload, None, false)
    }

    fn place(&self, workload: &WorkloadRef) -> Vec<String> {
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
            self.about(Verb::Apply, task(targets, images), workload, Some(goal), true).to_string()
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

    /// Returns what is held back of a workload by what a rollout that was superseded has set, and the commands to choose
    /// from: those that keep the pods first. Nothing where nothing waits.
    pub(super) fn held_back(&self, live: &LiveWorkload, goal: &Goal) -> Vec<(String, String)> {
        let Some(owner) = &goal.owner else { return Vec::new() };
        let found = &live.workload;
        let workload = &goal.workload;
        let release = workload.kind.holds_by().release(&found.object, owner.lock.strategy.as_ref());
        let held = match release {
            Some(Release::Remove(_)) => "is paused",
            Some(Release::Restore(..)) => "has the update strategy of this rollout",
            None => return Vec::new(),
        };
        let start = self.releasing(release.as_ref(), false, workload);
        let is_ours = [&owner.before, &owner.after].into_iter().any(|template| same(found.template(), template));
        let whose = if is_ours { "its template" } else { "another client's template" };
        // A template that cannot be brought into the pods cannot be finished in place, nor rolled back while it is
        // there.
        let leads = is_ours || plan::leads_in_place(found, &owner.before, found.template());
        // Without the lock nobody knows which pods were to keep the old revision.
        let is_partitioned =
            owner.lock.strategy.as_ref().is_some_and(|strategy| stateful_set::partition_of(strategy) > 0);
        let (ways, but) = if is_partitioned {
            (Vec::new(), "")
        } else if leads {
            let hooks = &owner.lock.hooks;
            let ways = match () {
                () if same(found.template(), owner.target()) => Way::without_lock(hooks).to_vec(),
                // The way back of the present template would be to go on with this rollout.
                () if is_ours => vec![Way::template_to_pods(hooks)],
                () => Way::held_back(hooks).to_vec(),
            };
            (self.ways(&ways, workload, Some(goal)), "")
        } else {
            let mut ways = status(live).ways;
            ways.retain(|way| matches!(way.deed, Deed::Apply(_)));
            ways.extend(Way::template_set_back(live));
            (self.ways(&ways, workload, Some(goal)), "; it differs in more than can be changed in place")
        };
        let note = ("note:".to_owned(), format!("{workload} still {held}, so {whose} does not roll out{but}"));
        // The ReplicaSet of the pods has the template: nothing would roll out.
        let rolls_out = workload.kind.holds_by() != HoldsBy::Paused || plan::if_resumed(live) != IfResumed::KeepsPods;
        let start = ("Let it roll out, which can replace every pod:".to_owned(), start.to_string());
        [note].into_iter().chain(ways).chain(rolls_out.then_some(start)).collect()
    }

    /// Returns kubectl's command that gives an owner an update strategy.
    fn restore(&self, strategy: &Value, workload: &WorkloadRef) -> Printed {
        self.patch(&json!({"spec": {"updateStrategy": strategy}}), workload)
    }

    /// Returns kubectl's command that lets an owner's controller act again, and takes a lock away with it.
    fn releasing(&self, release: Option<&Release>, drops_lock: bool, workload: &WorkloadRef) -> Printed {
        let field = match release {
            Some(Release::Remove(_)) if !drops_lock => {
                return self.kubectl(&["rollout", "resume"], vec![workload.to_string()], workload);
            }
            Some(Release::Remove(field)) => Some((*field, Value::Null)),
            Some(Release::Restore(field, before)) => Some((*field, before.clone())),
            None => None,
        };
        let mut patch =
            if drops_lock { json!({"metadata": {"annotations": {ROLLOUT_ANNOTATION: null}}}) } else { json!({}) };
        if let Some((name, value)) = field.and_then(|(field, value)| Some((field.strip_prefix("/spec/")?, value))) {
            patch["spec"][name] = value;
        }
        self.patch(&patch, workload)
    }

    /// Returns kubectl's command that lets an owner's controller re-create pods.
    pub(super) fn replacing<'p>(&self, pods: impl Iterator<Item = &'p str>, workload: &WorkloadRef) -> Printed {
        self.kubectl(&["delete", "pod"], pods.map(str::to_owned).collect(), workload)
    }

    fn patch(&self, patch: &Value, workload: &WorkloadRef) -> Printed {
        // A list of operations is a JSON patch.
        let kind = patch.is_array().then(|| "--type=json".to_owned());
        let more = kind.into_iter().chain(["-p".into(), patch.to_string()]).collect();
        self.kubectl(&["patch", &workload.to_string()], more, workload)
    }

    /// Returns what leads on from a rollout: what is printed before each command, and the command. One that began with
    /// commands around each pod is refused without them, unless that is meant.
    pub(super) fn ways(&self, ways: &[Way], workload: &WorkloadRef, goal: Option<&Goal>) -> Vec<(String, String)> {
        let mut shown = Vec::new();
        for way in ways {
            let despite = way.despite.map(|most| self.despite_failures(Some(most)));
            let verb = |verb| despite.as_ref().unwrap_or(self).of_workload(verb, workload, goal);
            let command = match &way.deed {
                Deed::Follow => self.watching(workload, goal),
                Deed::RolloutStatus => self.rollout_status(workload),
                Deed::Replace(pods) => self.replacing(pods.iter().map(String::as_str), workload),
                Deed::Resume => verb(Verb::Resume),
                Deed::Abort => verb(Verb::Abort),
                Deed::Apply(images) => {
                    self.about(Verb::Apply, with_images(vec![workload.to_string()], images), workload, goal, false)
                }
                Deed::SetImage(images) => {
                    self.kubectl(&["set", "image"], with_images(vec![workload.to_string()], images), workload)
                }
                Deed::Restore(strategy) => self.restore(strategy, workload),
                Deed::TemplateBack(Some(patch)) => self.patch(patch, workload),
                Deed::TemplateBack(None) => self.kubectl(&["edit"], vec![workload.to_string()], workload),
                Deed::Release { release, drops_lock } => self.releasing(release.as_ref(), *drops_lock, workload),
            };
            let take_over = if way.take_over { " --take-over" } else { "" };
            let command = format!("{command}{take_over}");
            let is_given = |phase: &&HookPhase| {
                let is_known = goal.is_some_and(|goal| goal.hooks.command(**phase).is_some());
                is_known || self.typed.iter().any(|typed| typed.id == "no_hooks" || typed.id == hook_id(**phase))
            };
            let missing: Vec<HookPhase> = way.hooks.iter().filter(|phase| !is_given(phase)).copied().collect();
            let label = way.label;
            if missing.is_empty() {
                shown.push((format!("{label}:"), command));
            } else {
                let flags = HookPhase::flags(&missing);
                let note = format!("it began with {flags}: give that again in place of --no-hooks to keep it");
                shown.push((format!("{label}, without {flags}:"), format!("{command} --no-hooks")));
                shown.push(("note:".to_owned(), note));
            }
        }
        shown
    }

    /// Returns the command that finishes in place what a rollout whose lock is gone has begun; `None` where images alone do
    /// not say it.
    pub(super) fn finish(&self, goal: &Goal) -> Option<String> {
        let change = goal.owner.as_ref()?.lock.directed();
        let images = change.images.iter().map(|(container, image)| format!("{container}={}", image.to));
        let task = std::iter::once(goal.workload.to_string()).chain(images).collect();
        change.fields.is_empty().then(|| self.about(Verb::Apply, task, &goal.workload, Some(goal), false).to_string())
    }

    /// Returns kubectl's command that watches a rollout of the owner's controller.
    pub(super) fn rollout_status(&self, workload: &WorkloadRef) -> Printed {
        self.kubectl(&["rollout", "status"], vec![workload.to_string()], workload)
    }

    fn kubectl(&self, words: &[&str], more: Vec<String>, workload: &WorkloadRef) -> Printed {
        let words = ["kubectl"].iter().chain(words).map(|word| (*word).to_owned()).chain(more);
        let place = ["-n".to_owned(), workload.namespace.clone()];
        Printed { words: words.chain(place).chain(self.connection_words()).collect() }
    }

    fn connection_words(&self) -> Vec<String> {
        let root = root();
        let known = root.find_subcommand(Verb::Apply.word());
        known.map(|known| flags(known, &self.typed, &[Carry::Connection])).unwrap_or_default()
    }

    /// Returns what the commands in hints have from what was typed.
    pub(super) fn flags(&self) -> Flags {
        let watches = self.without(|typed| typed.id == "min_ready_seconds");
        let of = |command: &Command| {
            let typing = watches.as_ref().filter(|_| command.get_name() == Verb::Follow.word()).unwrap_or(self);
            let own = flags(command, &typing.typed, &[Carry::Safeguard, Carry::Connection]);
            (command.get_name().to_owned(), own)
        };
        Flags { connection: self.connection_words(), own: root().get_subcommands().map(of).collect() }
    }
}

/// Groups of pods that a printed way back may name, and pods in them: more is no command to copy.
const MOST_GROUPS: usize = 3;
pub(super) const MOST_PODS: usize = 20;

/// What is taken from a rollout for a command that is printed after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Known {
    /// The commands around each pod, which are in no lock.
    Hooks,
    /// And what somebody must have given, perhaps to a run before this one.
    Given,
    /// And everything else: a saved plan has its safeguards inside.
    All,
}

/// What a rollout has that may not have been typed.
fn of_goal(goal: &Goal, known: Known) -> Vec<Typed> {
    let hooks = goal.hooks.phases();
    let hooks = hooks.filter_map(|phase| Some(Typed::new(hook_id(phase), [goal.hooks.command(phase)?])));
    let policy = &goal.policy;
    let number = |id: &str, value: Option<String>| value.map(|value| Typed::new(id, [value]));
    let seconds = |value: Option<u64>| {
        value.map(|seconds| if seconds < LONGEST_SECONDS { format!("{seconds}s") } else { "0".to_owned() })
    };
    let order = policy.container_order.iter().map(ContainerName::as_str);
    let given = [
        number("min_ready_seconds", policy.min_ready_seconds_given.map(|seconds| seconds.to_string())),
        number("pause_after", policy.pause_after.map(|pods| pods.to_string())),
        (!policy.respects_budgets).then(|| Typed::new("disruption_budget", ["ignore"])),
        (goal.pre_pull != PrePull::default()).then(|| Typed::new("pre_pull", [goal.pre_pull.word()])),
        (!policy.container_order.is_empty()).then(|| Typed::new("container_order", order)),
    ];
    let more = [
        number("max_unavailable", Some(policy.max_unavailable.to_string())),
        number("timeout", seconds(policy.timeout_given)),
        number("total_timeout", seconds(policy.total_timeout)),
        match policy.drain_seconds {
            None => Some(Typed::new("drain", [DrainBy::None.word()])),
            Some(DEFAULT_DRAIN_SECONDS) => None,
            Some(seconds) => Some(Typed::new("drain_seconds", [seconds.to_string()])),
        },
    ];
    let given = given.into_iter().flatten().filter(|_| known != Known::Hooks);
    hooks.chain(given).chain(more.into_iter().flatten().filter(|_| known == Known::All)).collect()
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
fn command(verb: Verb, task: Vec<String>, typed: &[Typed], carried: &[Carry]) -> Printed {
    let root = root();
    let known = root.find_subcommand(verb.word());
    let words = ["kubectl", "inplace", verb.word()].map(str::to_owned);
    let flags = known.map(|known| flags(known, typed, carried)).unwrap_or_default();
    Printed { words: words.into_iter().chain(task).chain(flags).collect() }
}

fn flags(command: &Command, typed: &[Typed], carried: &[Carry]) -> Vec<String> {
    let is_carried = |typed: &&Typed| carry(&typed.id).is_some_and(|carry| carried.contains(&carry));
    let mut kept: Vec<&Typed> = typed.iter().filter(is_carried).collect();
    // The task first, then how, then where.
    kept.sort_by_key(|typed| carried.iter().position(|known| Some(*known) == carry(&typed.id)));
    kept.into_iter().filter_map(|typed| without_secrets(typed).words(command)).flatten().collect()
}

/// Returns what was typed as it may be printed.
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
