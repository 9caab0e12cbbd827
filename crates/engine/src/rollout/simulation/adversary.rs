//! What goes wrong in one scenario, chosen by its seed alone.

use std::time::Duration;

use crate::state::hook::HookPhase;
use crate::state::outcome::EndResult;

use super::super::{Answer, Now, Stop};
use super::drained::Way;
use super::nature::{Fate, Nature};
use super::random::Random;
use super::resized::Resizing;

/// What another actor does at some time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Deed {
    /// Another writer sets another image.
    OtherImage(usize),
    /// Another writer sets the wanted image.
    SameImage(usize),
    /// Another writer restores the old image, once the pod was patched.
    Revert(usize),
    /// Another writer sets other cpu.
    OtherResize(usize),
    Delete(usize),
    Terminate(usize),
    /// Its controller releases it.
    Orphan(usize),
    /// A pod under the same name with another uid.
    Replace(usize),
    /// Another container of the pod is not ready for this many seconds.
    SiblingDown(usize, u64),
    /// A label of the pod changes that is not ours.
    Relabel(usize),
    Stop(Stop),
    /// The watch is lost for this many seconds.
    WatchLost(u64),
    Relist,
    Repeat,
}

/// What becomes of a patch.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Fortune {
    Arrives,
    NotDone(Answer),
    Refused(Answer),
    /// The answer is lost; the patch is carried out now, later, or never.
    Lost {
        executed: Option<Duration>,
    },
    /// The container crashes just before it.
    Moves,
}

/// What the nodes have to pull, and how that goes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pulling {
    pub(super) nodes: usize,
    /// The node that cannot.
    pub(super) fails: Option<usize>,
    /// No pod may be created.
    pub(super) is_refused: bool,
    /// A quota has room for so many pods at once.
    pub(super) room: Option<usize>,
    pub(super) slowest_millis: u64,
    /// Another run has left a pod.
    pub(super) leftover: bool,
}

/// The commands around each pod, and how they go.
#[derive(Debug, Clone, Copy)]
pub(super) struct Hooking {
    pub(super) before: bool,
    pub(super) after: bool,
    pub(super) slowest_millis: u64,
    /// The pod whose command fails, and when.
    pub(super) fails: Option<(usize, HookPhase)>,
}

/// Gives a scenario one more feature.
type Draw = fn(Scenario) -> Scenario;

/// One scenario.
#[derive(Debug, Clone)]
pub(super) struct Scenario {
    pub(super) seed: u64,
    pub(super) pods: usize,
    pub(super) both_containers: bool,
    /// A pod of the owner that the goal does not name.
    pub(super) bystander: bool,
    pub(super) nature: Nature,
    pub(super) fates: Vec<Fate>,
    /// Pods that are down before the rollout begins.
    pub(super) broken: Vec<usize>,
    /// They run and are never ready, where they would crash.
    pub(super) broken_run: bool,
    pub(super) max_unavailable: u32,
    pub(super) min_ready_given: Option<u32>,
    pub(super) owner_min_ready: u32,
    pub(super) timeout_given: Option<u64>,
    pub(super) total_timeout: Option<u64>,
    pub(super) ordered: bool,
    pub(super) deeds: Vec<(Now, Deed)>,
    pub(super) slowest_watch: u64,
    pub(super) slowest_answer: u64,
    pub(super) bad_answers: bool,
    /// All patches of this pod are throttled, for ever.
    pub(super) throttled: Option<usize>,
    pub(super) refused: Option<usize>,
    /// Stop after this many actions and go on with a new [`RunState`].
    pub(super) new_state_after: Option<u64>,
    /// Only watches: every change is somebody else's.
    pub(super) follows: bool,
    /// Pods are drained first; the seconds that traffic gets.
    pub(super) drain_seconds: Option<u32>,
    pub(super) drains_by: Way,
    /// A pod that fails does not stop the others.
    pub(super) goes_on: bool,
    /// The first list comes late.
    pub(super) opens_late: bool,
    /// The nodes have to pull first.
    pub(super) pulls: Option<Pulling>,
    /// A PodDisruptionBudget over all pods: this many must stay ready.
    pub(super) min_available: Option<usize>,
    /// Containers change one after the other.
    pub(super) container_order: &'static [&'static str],
    /// Commands run around each pod.
    pub(super) hooks: Option<Hooking>,
    /// Until then the budget's status allows nothing, or is of an older budget.
    pub(super) budget_lags_until: Now,
    /// The budget is created then, and deleted.
    pub(super) budget_from: Now,
    pub(super) budget_until: Option<Now>,
    /// It pauses once this many pods were taken.
    pub(super) pause_after: Option<u32>,
    /// The kubelet has used up its events.
    pub(super) events_run_out: bool,
    /// cpu and memory change as well, or alone.
    pub(super) resizes: Option<Resizing>,
    /// The template of their owner changes too.
    pub(super) owned: bool,
    /// And goes back: what is wanted is what was there before a rollout whose lock is on the owner.
    pub(super) back: bool,
    /// Some of its pods are deleted while the answer to their patch is on its way.
    pub(super) patched_pods_leave: bool,
}

impl Scenario {
    /// Nothing goes wrong, everything takes its time.
    pub(super) fn calm(seed: u64) -> Self {
        let mut random = Random::named(seed, "calm");
        let random = &mut random;
        let pods = usize::try_from(random.between(1, 5)).expect("small");
        let startup = random.one_in(4);
        let (observes_generation, same_digest) = (!random.one_in(4), random.one_in(3));
        // A container that did not run when its image changed leaves no event: nothing proves such a restart.
        let provable = !same_digest;
        // In a strict order a pod that is down further on rightly holds the budget for ever.
        let ordered = random.one_in(4);
        let may_be_broken = provable && !ordered;
        Self {
            seed,
            pods,
            both_containers: random.one_in(4),
            bystander: random.one_in(3),
            nature: Nature {
                observes_generation,
                readiness: random.one_in(2),
                flaps: random.one_in(3),
                startup,
                born_started: random.one_in(2),
                same_digest,
                shown_tag: random.pick(&["v1", "v2"]),
                crashes_early: false,
                slowest_millis: random.pick(&[200, 2_000, 30_000]),
                holds_back: false,
            },
            fates: vec![Fate::Good; pods],
            broken: (0..pods).filter(|_| may_be_broken && random.one_in(6)).collect(),
            broken_run: Random::named(seed, "broken runs").one_in(2),
            max_unavailable: u32::try_from(random.between(1, 3)).expect("small"),
            min_ready_given: random.pick(&[None, None, None, Some(0), Some(7)]),
            owner_min_ready: random.pick(&[0, 0, 3]),
            timeout_given: None,
            total_timeout: None,
            ordered,
            deeds: Vec::new(),
            slowest_watch: random.pick(&[0, 300, 5_000]),
            slowest_answer: random.pick(&[50, 2_000, 15_000]),
            bad_answers: false,
            throttled: None,
            refused: None,
            new_state_after: None,
            follows: false,
            drain_seconds: None,
            drains_by: Way::Label,
            goes_on: false,
            opens_late: random.one_in(4),
            pulls: None,
            min_available: None,
            container_order: &[],
            hooks: None,
            budget_lags_until: Now::ZERO,
            budget_from: Now::ZERO,
            budget_until: None,
            pause_after: None,
            // Only an event shows somebody else's image that is set in the second of a start.
            events_run_out: random.one_in(3),
            resizes: None,
            owned: false,
            back: false,
            patched_pods_leave: false,
        }
    }

    /// The same scenario with every feature drawn by itself, so that no combination is left out.
    pub(super) fn featured(self) -> Self {
        let mut random = Random::named(self.seed, "features");
        let random = &mut random;
        let draws: [(u64, Draw); 11] = [
            (5, Self::held_back),
            (3, Self::drained),
            (2, |scenario| Self { drains_by: Way::Gate, ..scenario }),
            (3, Self::in_order),
            (3, Self::hooked),
            (4, Self::pulling),
            (3, Self::budgeted),
            (8, Self::pausing),
            (3, Self::going_on),
            (4, Self::resized),
            (3, Self::owned),
        ];
        draws.into_iter().fold(self, |scenario, (n, draw)| if random.one_in(n) { draw(scenario) } else { scenario })
    }

    /// cpu and memory change.
    pub(super) fn resized(mut self) -> Self {
        let mut random = Random::named(self.seed, "resized");
        let resizes = Resizing::draw(&mut random, self.pods, self.nature.observes_generation);
        if resizes.alone {
            // Nothing restarts, so nothing has to come before it.
            (self.pulls, self.hooks, self.drain_seconds, self.min_available) = (None, None, None, None);
            self.container_order = &[];
        }
        let has_adversary = self.bad_answers || !self.deeds.is_empty();
        if has_adversary && random.one_in(3) {
            self.deeds.push((random.millis(0, 40_000), Deed::OtherResize(self.any_pod(&mut random))));
        }
        self.resizes = Some(resizes);
        self
    }

    /// Whether no container changes its image.
    pub(super) fn only_resizes(&self) -> bool {
        self.resizes.is_some_and(|resizes| resizes.alone)
    }

    /// Nodes pull first.
    pub(super) fn pulling(mut self) -> Self {
        let mut random = Random::named(self.seed, "pulling");
        // More than are pulled on at once, now and then.
        let most = if random.one_in(6) { 25 } else { 4 };
        let nodes = usize::try_from(random.between(1, most)).expect("small");
        self.pulls = Some(Pulling {
            nodes,
            fails: random.one_in(4).then(|| usize::try_from(random.below(nodes as u64)).expect("small")),
            is_refused: random.one_in(8),
            room: random.one_in(6).then(|| usize::try_from(random.between(1, 3)).expect("small")),
            slowest_millis: random.pick(&[100, 3_000, 60_000]),
            leftover: random.one_in(4),
        });
        self
    }

    /// There is a budget over the pods: from the beginning, or later on, for ever, or for a while.
    pub(super) fn budgeted(mut self) -> Self {
        let mut random = Random::named(self.seed, "budgeted");
        let all = self.pods + usize::from(self.bystander);
        self.min_available = Some(usize::try_from(random.between(0, all as u64)).expect("small"));
        self.budget_lags_until = random.pick(&[Now::ZERO, Now::from_secs(3), Now::from_secs(40)]);
        if random.one_in(2) {
            self.budget_from = random.millis(1, 40_000);
            self.budget_lags_until = Now::ZERO;
        }
        self.budget_until = random.one_in(3).then(|| self.budget_from + random.millis(1_000, 60_000));
        self.max_unavailable = u32::try_from(random.between(1, 5)).expect("small");
        self
    }

    /// The kubelet's back-off holds every container once.
    pub(super) fn held_back(mut self) -> Self {
        self.nature.holds_back = true;
        self
    }

    /// It stops after the first few pods.
    pub(super) fn pausing(mut self) -> Self {
        self.pause_after = Some(u32::try_from(Random::named(self.seed, "pausing").between(1, 3)).expect("small"));
        self
    }

    /// The same scenario with containers that change one after the other.
    pub(super) fn in_order(mut self) -> Self {
        let mut random = Random::named(self.seed, "in order");
        self.both_containers = !self.follows;
        self.container_order =
            random.pick(&[&["side", "second"], &["second", "side"], &["side"], &["second"], &["second", "side"]]);
        self
    }

    /// The same scenario with commands around each pod.
    pub(super) fn hooked(mut self) -> Self {
        let mut random = Random::named(self.seed, "hooked");
        let (before, after) = random.pick(&[(true, true), (true, true), (true, false), (false, true)]);
        let phase = random.pick(&[HookPhase::Before, HookPhase::After]);
        let fails = random.one_in(4).then(|| (self.any_pod(&mut random), phase));
        let slowest_millis = random.pick(&[10, 2_000, 20_000]);
        self.hooks = Some(Hooking { before, after, slowest_millis, fails });
        self
    }

    /// The same scenario behind a Service.
    pub(super) fn drained(mut self) -> Self {
        self.drain_seconds = Some(Random::named(self.seed, "drained").pick(&[0, 2, 2, 10]));
        self
    }

    /// The same scenario behind a Service whose labels are all needed, of pods with a readiness gate.
    pub(super) fn gated(self) -> Self {
        Self { drains_by: Way::Gate, ..self.drained() }
    }

    /// The same scenario, in which pods may fail and the others go on.
    pub(super) fn going_on(mut self) -> Self {
        let mut random = Random::named(self.seed, "goes on");
        self.goes_on = true;
        for _ in 0..random.between(0, 2) {
            self.fail_one(&mut random);
        }
        self
    }

    /// Somebody else updates every pod, and it is followed.
    pub(super) fn followed(seed: u64) -> Self {
        let mut scenario = Self::calm(seed);
        let mut random = Random::named(seed, "followed");
        (scenario.follows, scenario.both_containers, scenario.events_run_out) = (true, false, false);
        scenario.broken.clear();
        if random.one_in(3) {
            scenario.fail_one(&mut random);
        }
        let mut earlier = Random::named(seed, "followed, set twice");
        for pod in 0..scenario.pods {
            let at = random.millis(0, 60_000);
            // With equal digests the runtime may show the requested name before the kubelet has seen it: the image is
            // the same.
            if earlier.one_in(2) && !scenario.nature.same_digest {
                // Another image just before it: the kubelet may be pulling or starting that one.
                scenario.deeds.push((at.saturating_sub(earlier.millis(0, 4_000)), Deed::OtherImage(pod)));
            }
            scenario.deeds.push((at, Deed::SameImage(pod)));
        }
        if random.one_in(3) {
            scenario.disturb(&mut random);
        }
        scenario
    }

    /// Whatever an adversary can think of.
    pub(super) fn of(seed: u64) -> Self {
        let mut scenario = Self::calm(seed);
        let mut random = Random::named(seed, "adversary");
        let random = &mut random;
        scenario.nature.crashes_early = random.one_in(4);
        scenario.bad_answers = random.one_in(2);
        if random.one_in(3) {
            scenario.fail_one(random);
        }
        if random.one_in(8) {
            scenario.timeout_given = Some(random.between(5, 40));
        }
        if random.one_in(12) {
            scenario.total_timeout = Some(random.between(1, 90));
        }
        if random.one_in(20) {
            scenario.throttled = Some(scenario.any_pod(random));
        }
        if random.one_in(20) {
            scenario.refused = Some(scenario.any_pod(random));
        }
        if random.one_in(3) {
            scenario.new_state_after = Some(random.between(1, 2 * scenario.pods as u64));
        }
        if random.one_in(2) {
            scenario.disturb(random);
        }
        if random.one_in(3) {
            scenario.meddle(random);
        }
        // After another writer's image a later start counts as proof, so the proof must be true here.
        if scenario.deeds.iter().any(|(_, deed)| matches!(deed, Deed::SameImage(_))) {
            scenario.nature.crashes_early = false;
            scenario.events_run_out = false;
            scenario.broken.clear();
        }
        if random.one_in(6) {
            let stop = random.pick(&[Stop::Interrupt, Stop::Terminate]);
            scenario.deeds.push((random.millis(0, 30_000), Deed::Stop(stop)));
        }
        scenario
    }

    fn any_pod(&self, random: &mut Random) -> usize {
        usize::try_from(random.below(self.pods as u64)).expect("small")
    }

    pub(super) fn fail_one(&mut self, random: &mut Random) {
        let fate = random.pick(&[
            Fate::PullHeals,
            Fate::PullNotFound,
            Fate::PullNeverHeals,
            Fate::InvalidName,
            Fate::ConfigError,
            Fate::CreateHeals,
            Fate::CreateLasts,
            Fate::Crashes { after_millis: 50 },
            Fate::Crashes { after_millis: 2_500 },
            Fate::NeverReady,
        ]);
        let victim = self.any_pod(random);
        if let Some(slot) = self.fates.get_mut(victim) {
            *slot = fate;
        }
    }

    /// What heals by itself.
    fn disturb(&mut self, random: &mut Random) {
        for _ in 0..random.between(1, 4) {
            let pod = self.any_pod(random) + usize::from(self.bystander && random.one_in(3));
            let deed = random.pick(&[
                Deed::WatchLost(random.clone().between(1, 40)),
                Deed::Relist,
                Deed::Repeat,
                Deed::SiblingDown(pod, random.clone().between(1, 40)),
                Deed::Relabel(pod),
            ]);
            self.deeds.push((random.millis(0, 40_000), deed));
        }
    }

    /// What another writer does.
    fn meddle(&mut self, random: &mut Random) {
        for _ in 0..random.between(1, 2) {
            let pod = self.any_pod(random);
            let deed = random.pick(&[
                Deed::OtherImage(pod),
                Deed::SameImage(pod),
                Deed::Revert(pod),
                Deed::Delete(pod),
                Deed::Terminate(pod),
                Deed::Orphan(pod),
                Deed::Replace(pod),
            ]);
            self.deeds.push((random.millis(0, 40_000), deed));
        }
    }

    /// What becomes of a patch; a pod's first few only, unless it is throttled for ever.
    pub(super) fn fortune(&self, pod: usize, send: u8, random: &mut Random) -> Fortune {
        let put_off = |after| Fortune::NotDone(Answer::NotDone { after, message: "429".into() });
        if self.throttled == Some(pod) {
            return put_off(Some(Duration::from_secs(1)));
        }
        if self.refused == Some(pod) {
            let (reason, message) = ("AdmissionRefused".to_owned(), "no".to_owned());
            return Fortune::Refused(Answer::Refused { reason, message });
        }
        if !self.bad_answers || send > 2 {
            return Fortune::Arrives;
        }
        match random.below(8) {
            0 => put_off(None),
            1 => put_off(Some(random.millis(0, 5_000))),
            2 => Fortune::Lost { executed: None },
            3 => Fortune::Lost { executed: Some(Duration::ZERO) },
            4 => Fortune::Lost { executed: Some(random.millis(1, 6_000)) },
            5 => Fortune::Moves,
            _ => Fortune::Arrives,
        }
    }

    /// Returns whether nothing but a pod's own failure keeps any pod from being updated.
    pub(super) fn is_undisturbed(&self) -> bool {
        let by_itself = |(_, deed): &(Now, Deed)| matches!(deed, Deed::Relabel(_) | Deed::Repeat | Deed::Relist);
        let is_limited = self.timeout_given.is_some() || self.total_timeout.is_some() || self.pause_after.is_some();
        let is_guarded = self.min_available.is_some() || self.pulls.is_some();
        !is_limited
            && !is_guarded
            && !self.patched_pods_leave
            && self.broken.is_empty()
            && self.deeds.iter().all(by_itself)
    }

    /// How it may end.
    pub(super) fn may_end(&self) -> Vec<EndResult> {
        let mut may = Vec::new();
        let dooms = |fate: &Fate| match fate {
            Fate::Good | Fate::PullHeals | Fate::CreateHeals => None,
            Fate::NeverReady if !self.nature.readiness && !self.nature.startup => None,
            // With a short timeout, whichever comes first.
            Fate::NeverReady => Some(EndResult::TimedOut),
            Fate::PullNotFound | Fate::PullNeverHeals | Fate::InvalidName | Fate::ConfigError | Fate::CreateLasts => {
                Some(EndResult::Failed)
            }
            Fate::Crashes { .. } => Some(EndResult::Failed),
        };
        let dooms = |fate: &Fate| dooms(fate).filter(|_| !self.only_resizes());
        if self.goes_on {
            may.extend(self.fates.iter().filter_map(dooms));
        } else {
            may.extend(self.fates.iter().find_map(dooms));
        }
        if self.throttled.is_some() || self.refused.is_some() {
            may.push(EndResult::Failed);
        }
        may.extend(self.resizes.into_iter().flat_map(Resizing::may_end));
        // A container may crash only after its pod, the last one, was rightly done.
        if may.is_empty()
            || self.patched_pods_leave
            || self.fates.iter().any(|fate| matches!(fate, Fate::Crashes { .. }))
        {
            may.push(EndResult::Complete);
        }
        if self.timeout_given.is_some() || self.total_timeout.is_some() {
            may.push(EndResult::TimedOut);
        }
        for (_, deed) in &self.deeds {
            match deed {
                Deed::SameImage(_) | Deed::OtherImage(_) if self.follows => {}
                // A replacement pod comes.
                Deed::Delete(_) | Deed::Orphan(_) | Deed::Terminate(_) | Deed::Replace(_) if self.owned => {
                    may.push(EndResult::Complete);
                }
                Deed::OtherImage(_)
                | Deed::SameImage(_)
                | Deed::Revert(_)
                | Deed::OtherResize(_)
                | Deed::Delete(_)
                | Deed::Orphan(_)
                | Deed::Terminate(_)
                | Deed::Replace(_) => may.extend([EndResult::Superseded, EndResult::Complete, EndResult::TimedOut]),
                Deed::Stop(Stop::Interrupt) => may.push(EndResult::Interrupted),
                Deed::Stop(Stop::Terminate) => may.push(EndResult::Terminated),
                Deed::SiblingDown(..) | Deed::Relabel(_) | Deed::WatchLost(_) | Deed::Relist | Deed::Repeat => {}
            }
        }
        if let Some(pulls) = self.pulls {
            // With a short timeout, whichever comes first; two runs may have judged two things.
            if pulls.fails.is_some() && !pulls.is_refused {
                may.push(EndResult::Failed);
            }
            may.push(EndResult::TimedOut);
        }
        if self.hooks.is_some_and(|hooks| hooks.fails.is_some()) {
            may.push(EndResult::Failed);
        }
        if self.min_available.is_some() {
            may.push(EndResult::TimedOut);
        }
        if self.goes_on && !self.broken.is_empty() {
            // Failed pods and pods that were down already may be as many as may be down.
            may.push(EndResult::TimedOut);
        }
        if self.broken.len() > 1 && self.drain_seconds.is_some() && self.nature.crashes_early {
            // A pod that was down, and becomes ready by itself while it is drained, keeps its place and waits for
            // another.
            may.push(EndResult::TimedOut);
        }
        if self.pause_after.is_some() {
            may.push(EndResult::Paused);
        }
        let was_restored_whole = self.deeds.iter().any(|(_, deed)| matches!(deed, Deed::SameImage(_)));
        // A pod is visited again for its size or its label as well.
        let is_seen_again =
            was_restored_whole || self.resizes.is_some_and(|resizes| !resizes.alone) || self.drain_seconds.is_some();
        if is_seen_again && self.fates.contains(&Fate::CreateHeals) {
            // The kubelet starts its tries again.
            may.push(EndResult::Failed);
        }
        if self.deeds.iter().any(|(_, deed)| matches!(deed, Deed::Stop(_))) {
            // It may have ended before.
            may.push(EndResult::Complete);
        }
        may
    }
}
