//! What a seed decides: the workload, who disturbs, and when.

use crate::kinds::WorkloadKind;

use super::random::Random;

/// The most that a client's clock is off.
const MOST_HOURS_OFF: i64 = 8;

/// What the run after a killed one does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Then {
    Resume,
    Abort,
}

/// What becomes of the write that a run is killed with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Request {
    Stored,
    Lost,
    /// It is stored some time after the next run has begun.
    Late,
    /// It is stored once everything is over.
    VeryLate,
}

/// What becomes of the run itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    Killed,
    /// It sleeps, and wakes at some time; a request that is late is sent then.
    Sleeps,
    /// It wakes once everything is over.
    SleepsLong,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Kill {
    /// Counted over all runs, from 1.
    pub(super) at_write: u32,
    pub(super) request: Request,
    pub(super) fate: Fate,
    pub(super) then: Then,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Deed {
    DeletePod,
    /// Replicas; nodes of a DaemonSet.
    Scale(i64),
    /// A label of the owner, nothing of its template.
    Label,
    SetImage,
    /// `kubectl apply` of the old manifest: the template, and with `true` the strategy and the pause too.
    Apply(bool),
    Unpause,
    /// `kubectl rollout undo`.
    Undo,
    Delete,
    /// `kubectl replace` with the whole owner from the beginning, or from this many versions ago.
    Put(Option<usize>),
    /// The lock is removed by hand.
    RemoveLock,
    /// The lock is edited by hand, so that nobody can read it.
    EditLock,
}

impl Deed {
    /// Whether it changes what the rollout rests on.
    pub(super) fn is_foreign(self) -> bool {
        match self {
            Self::DeletePod | Self::Scale(_) | Self::Label => false,
            Self::SetImage | Self::Apply(_) | Self::Unpause | Self::Undo | Self::Delete => true,
            Self::Put(_) | Self::RemoveLock | Self::EditLock => true,
        }
    }
}

/// The clocks of the clients, and the server's.
#[derive(Debug, Clone)]
pub(super) struct Clocks {
    /// The server's answers have its time.
    pub(super) server_tells: bool,
    /// The offset of each client's clock in hours, one after the other.
    pub(super) hours_off: Vec<i64>,
    /// The same of those whose rollouts have ended before.
    pub(super) earlier: Vec<i64>,
}

impl Clocks {
    fn new(seed: u64) -> Self {
        let mut random = Random::new(seed ^ 0xC10C);
        let mut hours =
            |count| (0..count).map(|_| random.between(-MOST_HOURS_OFF, MOST_HOURS_OFF)).collect::<Vec<i64>>();
        let (hours_off, earlier) = (hours(4), hours(3));
        let count = random.below(4);
        Self { server_tells: !random.one_in(3), hours_off, earlier: earlier.into_iter().take(count).collect() }
    }

    /// By how many hours the clock of this client is off.
    pub(super) fn hours_off(&self, client: u32) -> i64 {
        let client = usize::try_from(client).expect("few");
        self.hours_off.iter().cycle().nth(client).copied().unwrap_or(0)
    }
}

#[derive(Debug, Clone)]
pub(super) struct Scenario {
    pub(super) seed: u64,
    pub(super) kind: WorkloadKind,
    pub(super) replicas: i64,
    pub(super) history_limit: i64,
    pub(super) recreate: bool,
    pub(super) on_delete: bool,
    pub(super) partition: i64,
    pub(super) start: i64,
    /// An old revision without pods holds the new template.
    pub(super) known: bool,
    /// Another old revision.
    pub(super) older: bool,
    /// Labels and annotations of the template change too.
    pub(super) metadata: bool,
    /// The template gains a toleration: when it goes back, pods keep it.
    pub(super) tolerations: bool,
    pub(super) annotated: bool,
    /// The ReplicaSet controller reads the same caches as the Deployment controller.
    pub(super) shared: bool,
    /// The controllers' cache of pods is fresh when a rollout changes direction.
    pub(super) seen_at_turn: bool,
    /// How rarely caches move.
    pub(super) lag: usize,
    pub(super) loses_answers: bool,
    pub(super) quiet_after: u32,
    pub(super) clocks: Clocks,
    /// The steps from which and until which a PodDisruptionBudget stands over the pods; it lets none of them go down.
    pub(super) budget: Option<(u32, u32)>,
    pub(super) kills: Vec<Kill>,
    /// The steps from which on a run falls asleep between its read and its decision, and another one comes.
    pub(super) naps: Vec<(u32, Then)>,
    pub(super) deeds: Vec<(u32, Deed)>,
}

impl Scenario {
    /// Nothing happens but caches that lag.
    pub(super) fn calm(seed: u64, kind: WorkloadKind) -> Self {
        let mut random = Random::new(seed);
        let partitioned = kind == WorkloadKind::StatefulSet && random.one_in(3);
        let replicas = random.between(1, 4);
        Self {
            seed,
            kind,
            replicas,
            history_limit: *random.pick(&[10, 10, 2, 1, 0]),
            recreate: random.one_in(5),
            on_delete: !partitioned && random.one_in(5),
            partition: if partitioned { random.between(1, replicas) } else { 0 },
            start: if random.one_in(3) { 5 } else { 0 },
            known: random.one_in(3),
            older: random.one_in(2),
            metadata: random.one_in(3),
            tolerations: Random::new(seed.rotate_left(7)).one_in(3),
            annotated: !random.one_in(3),
            shared: !random.one_in(3),
            seen_at_turn: false,
            lag: random.below(4),
            loses_answers: false,
            quiet_after: u32::try_from(random.between(0, 220)).expect("small"),
            clocks: Clocks::new(seed),
            budget: None,
            kills: Vec::new(),
            naps: Vec::new(),
            deeds: Vec::new(),
        }
    }

    /// Kills, lost answers, deleted pods and scaling, and nobody else who writes to the template.
    pub(super) fn disturbed(seed: u64, kind: WorkloadKind) -> Self {
        let mut scenario = Self::calm(seed, kind);
        let mut random = Random::new(seed ^ 0x5EED);
        scenario.loses_answers = random.one_in(2);
        let mut at_write = 0;
        for _ in 0..random.below(4) {
            at_write += u32::try_from(random.between(1, 7)).expect("small");
            let request = *random.pick(&[Request::Stored, Request::Lost, Request::Late]);
            let then = *random.pick(&[Then::Resume, Then::Abort]);
            scenario.kills.push(Kill { at_write, request, fate: Fate::Killed, then });
        }
        for _ in 0..random.below(4) {
            let step = u32::try_from(random.between(0, 200)).expect("small");
            let deed = match random.below(5) {
                0 | 1 => Deed::DeletePod,
                2 | 3 => Deed::Scale(random.between(0, 5)),
                _ => Deed::Label,
            };
            scenario.deeds.push((step, deed));
        }
        scenario.budgeted()
    }

    /// A PodDisruptionBudget comes and goes; it may have been there before anybody came.
    fn budgeted(mut self) -> Self {
        let mut random = Random::new(self.seed ^ 0xB4D6);
        if random.one_in(2) {
            let step = |random: &mut Random, from, to| u32::try_from(random.between(from, to)).expect("small");
            let from = if random.one_in(4) { 0 } else { step(&mut random, 1, 120) };
            self.budget = Some((from, from + step(&mut random, 30, 150)));
        }
        self
    }

    /// Whether a PodDisruptionBudget stands over the pods.
    pub(super) fn has_budget(&self, step: u32) -> bool {
        self.budget.is_some_and(|(from, until)| from <= step && step < until)
    }

    /// Somebody else writes to the template too.
    pub(super) fn contested(seed: u64, kind: WorkloadKind) -> Self {
        let mut scenario = Self::disturbed(seed, kind);
        let mut random = Random::new(seed ^ 0xF0E);
        for _ in 0..=random.below(2) {
            let step = u32::try_from(random.between(0, 150)).expect("small");
            let strategy = random.one_in(2);
            let deeds =
                [Deed::SetImage, Deed::SetImage, Deed::Apply(strategy), Deed::Unpause, Deed::Undo, Deed::Delete];
            scenario.deeds.push((step, *random.pick(&deeds)));
        }
        scenario
    }

    /// Runs that are taken for dead and only sleep, and late requests, also once everything is over.
    pub(super) fn raced(seed: u64, kind: WorkloadKind) -> Self {
        let mut scenario = Self::disturbed(seed, kind);
        let mut random = Random::new(seed ^ 0xACE);
        scenario.kills.clear();
        let mut at_write = 0;
        for _ in 0..random.between(1, 3) {
            at_write += u32::try_from(random.between(1, 7)).expect("small");
            let fate = *random.pick(&[Fate::Sleeps, Fate::SleepsLong, Fate::Killed]);
            let request = *random.pick(&[Request::Stored, Request::Late, Request::VeryLate]);
            let then = *random.pick(&[Then::Resume, Then::Abort, Then::Abort]);
            scenario.kills.push(Kill { at_write, request, fate, then });
        }
        let mut random = Random::new(seed ^ 0x4A9);
        for _ in 0..random.below(3) {
            let step = u32::try_from(random.between(1, 120)).expect("small");
            scenario.naps.push((step, *random.pick(&[Then::Resume, Then::Abort, Then::Abort])));
        }
        scenario
    }

    /// Somebody restores the whole earlier owner, or removes the lock.
    pub(super) fn overwritten(seed: u64, kind: WorkloadKind) -> Self {
        let mut scenario = Self::disturbed(seed, kind);
        let mut random = Random::new(seed ^ 0xB17);
        for _ in 0..=random.below(2) {
            let step = u32::try_from(random.between(0, 150)).expect("small");
            let back = usize::try_from(random.between(1, 6)).expect("small");
            let deeds = [Deed::Put(None), Deed::Put(Some(back)), Deed::RemoveLock, Deed::EditLock];
            scenario.deeds.push((step, *random.pick(&deeds)));
        }
        scenario
    }
}
