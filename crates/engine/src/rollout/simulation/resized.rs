//! Resizes: what is wanted of a pod, what its kubelet does, and what may be reported of that.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::change::{FieldChanges, HolderChange, ResourceField, ResourcesChange, ValueChange};
use crate::k8s::names::PodKey;
use crate::k8s::pod::{Condition, Container, Pod, PodSpec, ResourceHolder, Resources};
use crate::state::hook::HookPhase;
use crate::state::outcome::EndResult;

use crate::state::policy::OnDeferred;
use crate::value::quantity::Quantity;

use super::super::pod_run::Sent;
use super::super::{Goal, Now, PodGoal};
use super::adversary::Scenario;
use super::api_server::ApiServer;
use super::invariants::{Invariant, Invariants, Truth};
use super::kubelet::{Kubelet, Later};
use super::nature::Stage;
use super::random::Random;
use super::{Simulation, pod_key};

/// The container that is resized, by its place: `side`.
const INDEX: usize = 1;
const CPU: [&str; 3] = ["100m", "200m", "300m"];
const MEMORY: [&str; 2] = ["64Mi", "128Mi"];
/// What a pod's RuntimeClass costs, where it has one: cpu, memory.
const OVERHEAD: [&str; 2] = ["30m", "20Mi"];

/// How the kubelet of one pod differs from the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Odd {
    /// There is room only after this many milliseconds.
    DeferredFor(u64),
    DeferredForEver,
    Infeasible,
    /// The runtime fails at first.
    ErrorAtFirst,
}

/// How pods are resized.
#[derive(Debug, Clone, Copy)]
pub(super) struct Resizing {
    /// Nothing else changes.
    pub(super) alone: bool,
    pub(super) slowest_millis: u64,
    pub(super) odd: Option<(usize, Odd)>,
    pub(super) on_deferred: OnDeferred,
    /// The pod-level resources have the same values, before and after.
    pub(super) as_a_whole: bool,
    pub(super) has_overhead: bool,
}

impl Resizing {
    /// A kubelet that does not report which resize its status is about is too old to resize a pod as a whole.
    pub(super) fn draw(random: &mut Random, pods: usize, observes_generation: bool) -> Self {
        let kinds = [Odd::DeferredFor(2_000), Odd::DeferredFor(50_000), Odd::DeferredForEver, Odd::Infeasible];
        let odd = random.pick(&[kinds.as_slice(), &[Odd::ErrorAtFirst]].concat());
        let pod = usize::try_from(random.below(pods as u64)).expect("small");
        Self {
            alone: random.one_in(2),
            slowest_millis: random.pick(&[50, 1_000, 20_000]),
            odd: random.one_in(3).then_some((pod, odd)),
            on_deferred: random.pick(&OnDeferred::ALL),
            as_a_whole: random.one_in(2) && observes_generation,
            has_overhead: random.one_in(2),
        }
    }

    /// What a pod has before.
    pub(super) fn size(self, spec: &mut PodSpec) {
        spec.resources = self.as_a_whole.then(before);
        let overhead = || ["cpu", "memory"].map(str::to_owned).into_iter().zip(OVERHEAD.map(str::to_owned)).collect();
        spec.overhead = if self.has_overhead { overhead() } else { BTreeMap::new() };
    }

    /// How it may end because of the kubelet that differs.
    pub(super) fn may_end(self) -> Vec<EndResult> {
        match (self.odd, self.on_deferred) {
            (Some((_, Odd::Infeasible)), _) => vec![EndResult::Failed],
            (Some((_, Odd::DeferredForEver)), OnDeferred::Wait) => vec![EndResult::TimedOut],
            (Some((_, Odd::DeferredForEver)), OnDeferred::Undo | OnDeferred::Leave) => vec![EndResult::Deferred],
            // The others may take as long as that kubelet does.
            (Some((_, Odd::DeferredFor(_))), OnDeferred::Undo | OnDeferred::Leave)
            | (Some((_, Odd::ErrorAtFirst)), OnDeferred::Leave) => {
                vec![EndResult::Deferred, EndResult::Complete]
            }
            (Some((_, Odd::DeferredFor(_) | Odd::ErrorAtFirst)) | None, _) => Vec::new(),
        }
    }

    /// That of one pod.
    fn odd_of(self, key: &PodKey) -> Option<Odd> {
        self.odd.filter(|(index, _)| pod_key(*index, 0).name == key.name).map(|(_, odd)| odd)
    }
}

fn resources(cpu: &str, memory: &str) -> Resources {
    let map = |name: &str, value: &str| BTreeMap::from([(name.to_owned(), value.to_owned())]);
    Resources { requests: map("cpu", cpu), limits: map("memory", memory) }
}

/// What the resized container of every pod has before.
pub(super) fn before() -> Resources {
    resources(CPU[0], MEMORY[0])
}

fn wanted() -> Resources {
    resources(CPU[1], MEMORY[1])
}

/// What is wanted of every pod.
pub(super) fn fields(scenario: &Scenario) -> FieldChanges {
    let Some(resizes) = scenario.resizes else { return FieldChanges::default() };
    let change = |values: [&str; 2]| ValueChange { from: Some(values[0].into()), to: Some(values[1].into()) };
    let values = BTreeMap::from([
        (ResourceField::RequestsCpu, change([CPU[0], CPU[1]])),
        (ResourceField::LimitsMemory, change(MEMORY)),
    ]);
    let holders = [Some(ResourceHolder::Container("side".into())), resizes.as_a_whole.then_some(ResourceHolder::Pod)];
    let of = |holder| (holder, HolderChange { values: values.clone(), ..HolderChange::default() });
    ResourcesChange(holders.into_iter().flatten().map(of).collect()).into()
}

fn side(pod: &Pod) -> Option<&Container> {
    pod.spec.containers.get(INDEX)
}

/// Whether the pod asks for what is wanted.
pub(super) fn asks(goal: &Goal, pod: &Pod) -> bool {
    let has = |resources: &Resources| *resources == wanted();
    !is_wanted(goal)
        || side(pod).is_some_and(|side| has(&side.resources)) && pod.spec.resources.as_ref().is_none_or(has)
}

fn is_wanted(goal: &Goal) -> bool {
    goal.pods.iter().any(|pod| pod.fields.resizes())
}

/// Whether a value is neither as before nor as wanted.
pub(super) fn is_foreign(pod: &Pod) -> bool {
    let is_known = |values: &BTreeMap<String, String>, name: &str, known: &[&str]| {
        values.get(name).is_none_or(|value| known.contains(&value.as_str()))
    };
    let is_other = |resources: &Resources| {
        !is_known(&resources.requests, "cpu", &CPU[..2]) || !is_known(&resources.limits, "memory", &MEMORY)
    };
    side(pod).is_some_and(|side| is_other(&side.resources)) || pod.spec.resources.as_ref().is_some_and(is_other)
}

/// Shows a pod as if it had what it asks for.
pub(super) fn show_as_asked(pod: &mut Pod) {
    pod.status.conditions.retain(|condition| !condition.kind.starts_with("PodResize"));
    pod.status.observed_generation = pod.generation;
    let asked = side(pod).map(|side| side.resources.clone());
    if let (Some(asked), Some(status)) = (asked, pod.status.container_statuses.get_mut(INDEX)) {
        (status.allocated_resources, status.resources) = (Some(asked.requests.clone()), Some(asked));
    }
    if let Some(whole) = pod.spec.resources.clone() {
        let with = with_overhead(&whole, pod);
        (pod.status.allocated_resources, pod.status.resources) = (Some(with.requests.clone()), Some(with));
    }
}

/// Shows a pod as if nobody had asked for another size.
pub(super) fn show_as_before(pod: &mut Pod) {
    if let Some(side) = pod.spec.containers.get_mut(INDEX) {
        side.resources = before();
    }
    pod.spec.resources = pod.spec.resources.take().map(|_| before());
}

/// Whether the kubelet of the pod has reported for good that it does not do it. A kubelet that does not report which
/// resize its status is about may mean another one.
pub(super) fn is_infeasible(pod: &Pod) -> bool {
    pod.status.observed_generation.is_some()
        && pod.condition("PodResizePending").is_some_and(|pending| pending.reason.as_deref() == Some("Infeasible"))
}

/// Whether the kubelet has really done what is wanted, and the status that is seen says so.
pub(super) fn is_done(goal: &Goal, pod: &Pod, kubelet: Option<&Kubelet>) -> bool {
    if !is_wanted(goal) {
        return true;
    }
    let shown = pod.status.container_statuses.get(INDEX);
    let is_shown = shown.is_some_and(|status| {
        status.resources.as_ref() == Some(&wanted()) && status.allocated_resources.as_ref() == Some(&wanted().requests)
    });
    let has_whole = |_: &Resources| {
        let (resources, allocated) = (pod.status.resources.as_ref(), pod.status.allocated_resources.as_ref());
        let with = with_overhead(&wanted(), pod);
        resources == Some(&with) && allocated == Some(&with.requests)
    };
    is_shown
        && pod.spec.resources.as_ref().is_none_or(has_whole)
        && kubelet.is_some_and(|kubelet| kubelet.has_had(&wanted()))
}

/// What a pod's cgroup has, and what is allocated to it: with what its RuntimeClass costs.
fn with_overhead(resources: &Resources, pod: &Pod) -> Resources {
    let mut with = resources.clone();
    for (name, cost) in &pod.spec.overhead {
        for value in [with.requests.get_mut(name), with.limits.get_mut(name)].into_iter().flatten() {
            let amount = |text: &str| text.parse::<Quantity>().ok().and_then(|quantity| quantity.thousandths());
            let sum = amount(value).zip(amount(cost)).map(|(value, cost)| value + cost).expect("they are quantities");
            *value = Quantity::of_thousandths(sum, name == "memory").to_string();
        }
    }
    with
}

/// Whether a patch resizes, or notes that it will: it takes nothing down.
pub(super) fn is_resize(sent: Sent) -> bool {
    matches!(sent, Sent::Resize | Sent::Note)
}

/// What the kubelet knows of resizes.
#[derive(Debug, Clone, Default)]
pub(super) struct Sizes {
    slowest_millis: u64,
    odd: Option<Odd>,
    began: Option<Now>,
    failed_once: bool,
    pub(super) allocated: Resources,
    pub(super) actual: Resources,
    /// The same of the pod as a whole.
    whole: Option<Resources>,
    whole_actual: Option<Resources>,
    /// All resources that the container ever had.
    had: Vec<Resources>,
    pub(super) condition: Option<Condition>,
}

impl Sizes {
    pub(super) fn new(resizes: Resizing, key: &PodKey) -> Self {
        let (allocated, actual, odd) = (before(), before(), resizes.odd_of(key));
        let whole = resizes.as_a_whole.then(before);
        let whole_actual = whole.clone();
        let slowest_millis = resizes.slowest_millis;
        Self { slowest_millis, odd, allocated, actual, whole, whole_actual, ..Self::default() }
    }

    /// Sets the resources of the pod as a whole in its status.
    pub(super) fn show(&self, pod: &mut Pod) {
        pod.status.resources = self.whole_actual.as_ref().map(|actual| with_overhead(actual, pod));
        pod.status.allocated_resources = self.whole.as_ref().map(|whole| with_overhead(whole, pod).requests);
    }
}

fn condition(kind: &str, reason: Option<&str>, message: &str) -> Option<Condition> {
    Some(Condition {
        kind: kind.into(),
        status: "True".into(),
        reason: reason.map(str::to_owned),
        message: Some(message.to_owned()),
        ..Condition::default()
    })
}

impl Kubelet {
    fn has_had(&self, resources: &Resources) -> bool {
        self.sizes.as_ref().is_some_and(|sizes| sizes.had.contains(resources))
    }

    /// Compares what the pod asks for with what was allocated.
    pub(super) fn see_resize(&mut self, pod: &Pod, now: Now) -> Later {
        let (Some(sizes), Some(asked)) = (self.sizes.as_mut(), side(pod).map(|side| side.resources.clone())) else {
            return Vec::new();
        };
        let whole = pod.spec.resources.clone();
        if asked == sizes.allocated && whole == sizes.whole {
            let is_going = sizes.allocated != sizes.actual || sizes.whole != sizes.whole_actual;
            sizes.condition = sizes.condition.take().filter(|known| is_going && known.kind == "PodResizeInProgress");
            return Vec::new();
        }
        let began = *sizes.began.get_or_insert(now);
        let (odd, again) = (sizes.odd.filter(|_| asked == wanted()), now + Duration::from_millis(3_000));
        let pending = |reason| condition("PodResizePending", Some(reason), "Node didn't have enough resource: cpu");
        match odd {
            Some(Odd::Infeasible) => {
                sizes.condition = pending("Infeasible");
                return Vec::new();
            }
            Some(Odd::DeferredForEver) => {
                sizes.condition = pending("Deferred");
                return Vec::new();
            }
            Some(Odd::DeferredFor(millis)) if now < began + Duration::from_millis(millis) => {
                sizes.condition = pending("Deferred");
                return vec![(again, Stage::See)];
            }
            Some(Odd::DeferredFor(_) | Odd::ErrorAtFirst) | None => {}
        }
        (sizes.allocated, sizes.whole) = (asked, whole);
        sizes.condition = condition("PodResizeInProgress", None, "");
        let slowest = sizes.slowest_millis;
        vec![(now + self.random.millis(1, slowest), Stage::Actuate)]
    }

    /// The runtime sets what was allocated.
    pub(super) fn actuate(&mut self, api: &mut ApiServer, now: Now) -> Later {
        let Some(sizes) = self.sizes.as_mut() else { return Vec::new() };
        if sizes.odd == Some(Odd::ErrorAtFirst) && !std::mem::replace(&mut sizes.failed_once, true) {
            sizes.condition = condition("PodResizeInProgress", Some("Error"), "runtime error");
            self.publish(api, now);
            return vec![(now + Duration::from_secs(5), Stage::Actuate)];
        }
        // Container and pod have cgroups of their own, and one is set after the other.
        let is_first = sizes.actual != sizes.allocated && sizes.whole != sizes.whole_actual;
        sizes.actual = sizes.allocated.clone();
        if is_first {
            let slowest = sizes.slowest_millis;
            self.publish(api, now);
            return vec![(now + self.random.millis(1, slowest), Stage::Actuate)];
        }
        sizes.whole_actual = sizes.whole.clone();
        sizes.had.push(sizes.actual.clone());
        sizes.condition = sizes.condition.take().filter(|known| known.kind == "PodResizePending");
        // The API shows it a little later.
        vec![(now + self.random.millis(0, 1_500), Stage::Publish)]
    }
}

impl Invariants {
    /// What somebody else has asked for stays, and a resize alone restarts nothing; the first pod goes alone.
    pub(super) fn judge_resize(&mut self, goal: &PodGoal, pod: &Pod, sent: Sent, truth: &Truth<'_>) {
        if is_foreign(pod) {
            self.broken(Invariant::OtherWriter, truth.now, format!("{} is patched over another size", pod.key));
        }
        let alone = goal.containers.is_empty();
        let has_hook = truth.goal.hooks.before_pod.is_some();
        if is_resize(sent) && has_hook && !truth.passed.contains(&(pod.key.clone(), HookPhase::Before)) {
            self.broken(Invariant::Hook, truth.now, format!("{} is resized without its command", pod.key));
        }
        if alone && !is_resize(sent) {
            self.broken(Invariant::Resized, truth.now, format!("{} is patched by {sent:?}", pod.key));
        }
        let begun = self.resized.iter().chain(self.outstanding.values());
        let others = begun.filter(|key| **key != pod.key && !self.done_ever.contains(*key));
        let others = others.filter(|key| !self.is_failing(self.said.get(*key)) && truth.observed.pod(key).is_some());
        let is_chosen = truth.goal.policy().min_ready_seconds_given == Some(0);
        if alone && !is_chosen && !self.done_in_this_run && others.count() > 0 {
            self.broken(Invariant::Canary, truth.now, format!("{} is resized beside the first", pod.key));
        }
    }
}

impl Invariants {
    /// At the end `Deferred` the policy is not to wait, and a kubelet reports the resize as deferred. A pod that is left
    /// to its kubelet has every other change.
    pub(super) fn judge_what_is_left(&mut self, truth: &Truth<'_>) {
        let pods = || truth.goal.pods.iter().filter_map(|goal| Some((goal, truth.observed.pod(&goal.key)?)));
        let policy = truth.goal.policy().on_deferred;
        let is_deferred = |pod: &Pod| {
            let says = |kind, reason| {
                let condition = pod.condition(kind).filter(|condition| condition.status == "True");
                condition.is_some_and(|condition| condition.reason.as_deref() == Some(reason))
            };
            let cannot = policy == OnDeferred::Leave && says("PodResizeInProgress", "Error");
            (says("PodResizePending", "Deferred") || cannot) && asks(truth.goal, pod)
        };
        if policy == OnDeferred::Wait || !pods().any(|(_, pod)| is_deferred(pod)) {
            self.broken(Invariant::WrongEnd, truth.now, format!("deferred with {policy:?}, and nothing is"));
        }
        let is_left = |pod: &Pod| is_deferred(pod) || is_done(truth.goal, pod, truth.kubelets.get(&pod.key));
        for (goal, pod) in pods().filter(|_| policy == OnDeferred::Leave) {
            let is_ready = goal.containers.is_empty() || pod.is_ready();
            if !is_ready || !is_left(pod) || !truth.asks(goal, pod) {
                self.broken(Invariant::WrongEnd, truth.now, format!("{} lacks more than room", pod.key));
            }
        }
    }
}

impl Simulation {
    /// A writer such as a VerticalPodAutoscaler asks for something else.
    pub(super) fn resize_otherwise(&mut self, key: &PodKey) {
        let is_sized = self.scenario.resizes.is_some();
        self.api.change(key, |pod| {
            if let Some(whole) = pod.spec.resources.as_mut().filter(|_| is_sized) {
                whole.requests.insert("cpu".into(), CPU[2].into());
            } else if let Some(side) = pod.spec.containers.get_mut(INDEX).filter(|_| is_sized) {
                side.resources.requests.insert("cpu".into(), CPU[2].into());
            }
        });
        self.notify(key);
    }

    /// A resize that was stored has only replaced what was there before the rollout.
    pub(super) fn judge_resize(&mut self, before: Option<&Pod>, key: &PodKey) {
        if before.is_none_or(|pod| is_foreign(pod) || pod.terminating) {
            self.invariants.broken(Invariant::OtherWriter, self.now, format!("{key} was resized over another value"));
        }
    }
}
