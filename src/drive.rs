//! The one loop: watches, answers, time and signals go into [`rollout::turn`]; what it says is carried out.
//!
//! No rules in here. It decides nothing about pods: it observes, asks `turn`, sends what it says, and reports to the
//! listener.
#![expect(clippy::disallowed_methods, reason = "the one place that has a clock and waits")]

use std::io;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use futures::stream::{FuturesUnordered, StreamExt};
use tokio::sync::{Semaphore, mpsc};
use tokio::time::Instant;

use crate::cluster::error::ClusterError;
use crate::cluster::{self, Cluster, Nodes, PodScope, WatchedPods};
use crate::hook::{self, HookLine, HookRunner, HookSignal};
use crate::record::Recorder;
use crate::render::Listener;
use crate::signals::Signals;
use engine::k8s::events::PodEvents;
use engine::k8s::names::PodKey;
use engine::kinds::PODS;
use engine::plan::live::Snapshot;
use engine::report::progress::UpdatePhase;
use engine::report::{Notice, Outcome};
use engine::rollout::{self, Action, ActionId, Answer, Goal, Observation, Observed, RunState, Stop, Watch};
use engine::state::durable::ObjectKind;

/// Requests at once: the API server's own limits are meant for many clients.
const IN_FLIGHT: usize = 10;

/// Observations taken in before the next turn, so that a burst costs one turn.
const AT_ONCE: usize = 1000;

/// The number of pods whose progress the listener gets whenever it asks; the others are counted.
const SHOWN_PODS: usize = 10;

/// How long to sleep when nobody names a time.
const IDLE: Duration = Duration::from_secs(30);

/// What ends a drive without an outcome.
#[derive(Debug, thiserror::Error)]
pub enum DriveError {
    #[error("the pods cannot be watched: {0}")]
    Watch(#[source] ClusterError),
    /// The output is gone, of a run that only follows.
    #[error("failed to write: {0}")]
    Output(#[from] io::Error),
}

/// What was seen of pods, and when.
pub type Seen = Vec<(Duration, PodKey, UpdatePhase)>;

type Answered = (ActionId, Option<Observation>, Answer);

/// The time and the signals of a command that drives several workloads.
#[derive(Debug)]
pub struct Session {
    signals: Signals,
    began: Instant,
}

impl Session {
    pub fn begin() -> io::Result<Self> {
        Ok(Self { signals: Signals::listen()?, began: Instant::now() })
    }

    /// Returns a signal that came, also between two rollouts.
    pub fn heard(&mut self) -> Option<Stop> {
        self.signals.next().now_or_never()
    }

    pub fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }
}

/// Who listens, for as long as anybody does: a run that acts is not torn down in the middle by a reader that went away
/// (`| head`, a terminal that is closed), it stops as after SIGTERM.
struct Audience<'a> {
    listener: &'a mut dyn Listener,
    may_go: bool,
    is_gone: bool,
}

impl Audience<'_> {
    fn tell(&mut self, tell: impl FnOnce(&mut dyn Listener) -> io::Result<()>) -> io::Result<()> {
        if self.is_gone {
            return Ok(());
        }
        let reported = tell(self.listener);
        self.is_gone = self.may_go && reported.is_err();
        if self.is_gone { Ok(()) } else { reported }
    }

    fn next_tick(&self) -> Option<Duration> {
        if self.is_gone { None } else { self.listener.next_tick() }
    }
}

struct Driver<'a> {
    cluster: &'a Cluster,
    observed: Observed,
    state: RunState,
    began: Instant,
    permits: Arc<Semaphore>,
    answers: FuturesUnordered<BoxFuture<'static, Answered>>,
    hooks: HookRunner,
    recorder: &'a mut Recorder,
    seen: Seen,
    /// It was stopped because nobody reads what it says.
    is_unheard: bool,
}

/// Runs a rollout to its end, which the listener does not hear yet. What goes into `turn` and what comes out is recorded in
/// this order.
///
/// # Errors
/// When the pods may not be watched, or the output is gone of a run that only follows.
pub async fn drive(
    cluster: &Cluster,
    goal: &Goal,
    scope: &PodScope,
    listener: &mut dyn Listener,
    recorder: &mut Recorder,
) -> Result<(Outcome, Seen), DriveError> {
    let (hooks, mut lines) = HookRunner::new(&goal.hooks);
    recorder.goal(goal);
    let mut driver = Driver::new(cluster, hooks, recorder);
    let mut audience = Audience { listener, may_go: !goal.is_followed(), is_gone: false };
    let mut signals = Signals::listen()?;
    let mut watch = cluster.watch(&goal.workload.namespace, scope);
    loop {
        let now = driver.now();
        let turn = rollout::turn(goal, &driver.observed, &mut driver.state, now);
        driver.recorder.turn(now, &turn);
        for (id, action) in turn.actions {
            driver.carry_out(id, action);
        }
        for notice in &turn.notices {
            if let Notice::Pod { pod, phase } = notice {
                driver.seen.push((now, pod.clone(), phase.clone()));
            }
            audience.tell(|listener| listener.notice(notice, now))?;
        }
        if let Some(outcome) = turn.end {
            driver.end_hooks(&mut lines, &mut audience).await?;
            return Ok((outcome, driver.seen));
        }
        if audience.is_gone && !driver.is_unheard {
            driver.is_unheard = true;
            driver.stop(Stop::Terminate);
            continue;
        }
        let tick = audience.next_tick();
        let wake = [turn.wake, tick].into_iter().flatten().min().unwrap_or(now + IDLE);
        tokio::select! {
            Some(item) = watch.next() => {
                driver.observe(item)?;
                driver.drain(&mut watch)?;
            }
            Some(line) = lines.recv() => driver.pass_on(&line, &mut audience)?,
            Some(answered) = driver.answers.next() => driver.answered(answered),
            () = tokio::time::sleep_until(driver.began + wake) => {}
            stop = signals.next() => {
                if driver.stop(stop) {
                    return Ok((driver.leave(goal), driver.seen));
                }
            }
        }
        let now = driver.now();
        if tick.is_some_and(|tick| tick <= now) {
            let progress = rollout::progress(goal, &driver.observed, &driver.state, now, SHOWN_PODS);
            audience.tell(|listener| listener.tick(&progress, now))?;
        }
    }
}

impl<'a> Driver<'a> {
    fn new(cluster: &'a Cluster, hooks: HookRunner, recorder: &'a mut Recorder) -> Self {
        Self {
            cluster,
            observed: Observed::default(),
            state: RunState::new(),
            began: Instant::now(),
            permits: Arc::new(Semaphore::new(IN_FLIGHT)),
            answers: FuturesUnordered::new(),
            hooks,
            recorder,
            seen: Seen::new(),
            is_unheard: false,
        }
    }
}

impl Driver<'_> {
    /// The user does not wait for what is still outstanding.
    fn leave(&mut self, goal: &Goal) -> Outcome {
        self.hooks.tell(HookSignal::Kill);
        let now = self.now();
        let outcome = rollout::leave(goal, &self.observed, &self.state, now);
        self.recorder.leave(now, &outcome);
        outcome
    }

    fn now(&self) -> Duration {
        self.began.elapsed()
    }

    fn observe(&mut self, item: Result<Observation, ClusterError>) -> Result<(), DriveError> {
        let observation = match item {
            Ok(observation) => observation,
            Err(error @ (ClusterError::Forbidden { .. } | ClusterError::Unauthorized))
                if *self.observed.watch() == Watch::Opening =>
            {
                return Err(DriveError::Watch(error));
            }
            Err(error) => Observation::WatchLost(error.to_string()),
        };
        self.see(observation);
        Ok(())
    }

    fn see(&mut self, observation: Observation) {
        self.recorder.observation(self.began.elapsed(), &observation);
        self.observed.observe(observation);
    }

    fn drain(&mut self, watch: &mut WatchedPods) -> Result<(), DriveError> {
        for _ in 0..AT_ONCE {
            match watch.next().now_or_never() {
                Some(Some(item)) => self.observe(item)?,
                Some(None) | None => break,
            }
        }
        Ok(())
    }

    fn answered(&mut self, (id, observation, answer): Answered) {
        if let Some(observation) = observation {
            self.see(observation);
        }
        let now = self.now();
        self.recorder.answer(now, id, &answer);
        self.state.answer(id, answer, now);
    }

    /// Notes a signal; returns whether it is the second one.
    fn stop(&mut self, stop: Stop) -> bool {
        let now = self.now();
        self.recorder.stop(now, stop);
        // Nobody waits for them any longer.
        self.hooks.tell(HookSignal::Terminate);
        !self.state.stop(stop, now)
    }

    fn carry_out(&mut self, id: ActionId, action: Action) {
        if let Action::Hook(run) = action {
            let end = self.hooks.run(run);
            self.answers.push(async move { (id, None, Answer::Hook(end.await)) }.boxed());
            return;
        }
        let (cluster, permits) = (self.cluster.clone(), Arc::clone(&self.permits));
        let answered = async move {
            let _permit = permits.acquire().await;
            let (observation, answer) = perform(&cluster, action).await;
            (id, observation, answer)
        };
        self.answers.push(answered.boxed());
    }

    fn pass_on(&self, line: &HookLine, audience: &mut Audience<'_>) -> io::Result<()> {
        audience.tell(|listener| listener.hook_line(&line.pod, line.hook, &line.text, self.now()))
    }

    /// Sees to it that no command outlives the rollout, and that its last words are heard.
    async fn end_hooks(
        &mut self,
        lines: &mut mpsc::UnboundedReceiver<HookLine>,
        audience: &mut Audience<'_>,
    ) -> io::Result<()> {
        if self.hooks.is_any() {
            self.hooks.tell(HookSignal::Terminate);
            let ended = async { while self.hooks.is_any() && self.answers.next().await.is_some() {} };
            drop(tokio::time::timeout(hook::LEAVES_WITHIN, ended).await);
            self.hooks.tell(HookSignal::Kill);
        }
        while let Ok(line) = lines.try_recv() {
            self.pass_on(&line, audience)?;
        }
        Ok(())
    }
}

async fn perform(cluster: &Cluster, action: Action) -> (Option<Observation>, Answer) {
    match action {
        Action::Patch(patch) => match cluster.send(&patch, false).await {
            Ok(pod) => (Some(Observation::Applied(Box::new(pod))), Answer::Accepted),
            Err(error) => (None, cluster::answer(&error)),
        },
        Action::Write { write, field_manager } => match cluster.write(&write, &field_manager).await {
            Ok(()) => (None, Answer::Accepted),
            Err(error) => (None, cluster::answer(&error)),
        },
        Action::ReadOwner(workload) => {
            read(cluster.owner(&workload).await, |view| Some(Observation::Owner(Box::new(view))))
        }
        Action::ReadPullPods { namespace, selector } => {
            let found = cluster.left_or_own(ObjectKind::Workload(PODS), &namespace, &selector).await;
            read(found, |(pods, _)| Some(Observation::PullPods(pods)))
        }
        Action::ReadRequests { namespace, selector } => {
            let found = cluster.left_or_own(ObjectKind::RecreateRequest, &namespace, &selector).await;
            read(found, |(requests, _)| Some(Observation::Requests(requests)))
        }
        Action::ReadBudgets { namespace } => match cluster.budgets(&namespace).await {
            Err(error @ ClusterError::Forbidden { .. }) => (None, cluster::answer(&error)),
            found => read(found, |budgets| Some(Observation::Budgets(budgets))),
        },
        Action::ReadSlices { namespace, services } => {
            read(cluster.endpoint_slices(&namespace, &services).await, |slices| Some(Observation::Slices(slices)))
        }
        // Carried out apart: it is nobody's request.
        Action::Hook(_) => (None, Answer::ReadFailed { message: "no request".into() }),
        Action::Read(key) => read(cluster.read_pod(&key).await, |found| match found {
            Some(pod) if pod.key == key => Some(Observation::Applied(Box::new(pod))),
            Some(_) | None => Some(Observation::Deleted(key)),
        }),
        Action::ReadEvents(key) => read(cluster.pod_events(&key).await, |events| {
            (events != PodEvents::default()).then_some(Observation::Events(key, events))
        }),
    }
}

fn read<T>(
    found: Result<T, ClusterError>,
    observed: impl FnOnce(T) -> Option<Observation>,
) -> (Option<Observation>, Answer) {
    match found {
        Ok(found) => (observed(found), Answer::Read),
        Err(error) => (None, Answer::ReadFailed { message: error.to_string() }),
    }
}

/// How often a workload is read again whose controller has not observed its newest change, and the pause between two reads.
const OBSERVED_READS: u32 = 50;
const OBSERVED_PAUSE: Duration = Duration::from_millis(200);

/// Waits a while until a workload's controller has observed its newest change, as `kubectl rollout status` does: before
/// that its status describes the old template.
pub async fn until_observed(cluster: &Cluster, mut live: Snapshot) -> Result<Snapshot, ClusterError> {
    for _ in 0..OBSERVED_READS {
        if live.workload.is_observed() {
            break;
        }
        tokio::time::sleep(OBSERVED_PAUSE).await;
        let workload = cluster.workload(&live.workload.reference).await?;
        live = cluster.live(workload, Nodes::WhereDecisive).await?;
    }
    Ok(live)
}

/// Asks again after each pause until something is found; returns it, and how many seconds that took.
pub async fn until_found<T>(pause: Duration, look: impl AsyncFn() -> Option<T>) -> (T, f64) {
    let began = Instant::now();
    loop {
        tokio::time::sleep(pause).await;
        if let Some(found) = look().await {
            return (found, began.elapsed().as_secs_f64());
        }
    }
}
