//! What `apply`, `restart`, `undo`, `resume` and `abort` have in common: a goal is carried out and followed to its end.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use super::follow::report_end;
use super::next::{Invocation, MOST_PODS};
use super::planning::Manifests;
use super::recording::{RecordTo, tell_trouble};
use super::several::Job;
use super::sidecar_set;
use super::undo::say_what_goes_back_keeps;
use super::{Shell, approve, planning};
use crate::cli::{DryRun, RolloutArgs};
use crate::cluster::{Cluster, Nodes};
use crate::error::{CommandError, ErrorKind};
use crate::render::{Meaning, NextSteps, StreamFormat};
use crate::{drive, process};
use engine::change::Direction;
use engine::change::reason::Reason;
use engine::k8s::names::{ContainerName, RolloutId};
use engine::k8s::permissions::ClusterCommand;
use engine::plan::{
    self, Intent, Plan, PodVerdict, ResumeError, RolloutState, Snapshot, Start, Verdict, WorkloadPlan, way_back,
};
use engine::report::hand_over::HandOver;
use engine::report::progress::UpdatePhase;
use engine::report::{Outcome, PodEnd};
use engine::rollout::drain::DrainBy;
use engine::rollout::pre_pull::PrePull;
use engine::rollout::{Goal, Mode};
use engine::state::hook::Hooks;
use engine::state::outcome::EndResult;
use engine::state::policy::OnDeferred;
use engine::state::record::UpdateRecord;
use engine::state::unpulled::cannot_be_pulled;
use engine::status::{OwnerState, only_fails, status};

/// What one command carries out its goals with.
#[derive(Clone)]
pub(super) struct Rolling<'a> {
    pub(super) cluster: &'a Cluster,
    pub(super) rollout: &'a RolloutArgs,
    pub(super) output: StreamFormat,
    pub(super) start: Start,
    pub(super) invocation: Invocation,
    pub(super) recording: RecordTo,
    /// Other workloads are in progress at the same time: lines say whose they are, and nobody is asked at a pause.
    pub(super) side_by_side: bool,
    /// The same bits again: there is nothing to take back.
    pub(super) is_restart: bool,
    /// `--no-hooks`: without the commands that the rollout began with.
    pub(super) no_hooks: bool,
    /// `--dry-run` of `resume` and `abort`.
    pub(super) dry_run: DryRun,
    /// `--deferred`.
    pub(super) on_deferred: Option<OnDeferred>,
    /// How the rollout ended that is taken back by itself.
    pub(super) after: Option<EndResult>,
    /// The manifests that were applied, if any: their tool applies them next.
    pub(super) manifests: Arc<Manifests>,
}

impl<'a> Rolling<'a> {
    pub(super) async fn new(
        cluster: &'a Cluster,
        rollout: &'a RolloutArgs,
        (output, field_manager): (StreamFormat, &str),
        shell: &Shell,
    ) -> Self {
        let start = Start {
            run: shell.rollout_id().to_string(),
            continues: None,
            who: cluster.who_am_i().await.unwrap_or_else(|| "unknown".into()),
            process: process::this(),
            clock: shell.clock(cluster),
            reason: None,
            field_manager: field_manager.to_owned(),
            keep_field_ownership: false,
            take_over: false,
            pre_pull: PrePull::Auto,
            hooks: Hooks::default(),
        };
        let recording = RecordTo::new(rollout.record.as_deref());
        let invocation = shell.invocation(cluster);
        Self {
            cluster,
            rollout,
            output,
            start,
            invocation,
            recording,
            side_by_side: false,
            is_restart: false,
            no_hooks: false,
            dry_run: DryRun::None,
            on_deferred: None,
            after: None,
            manifests: Arc::default(),
        }
    }

    /// Carries out a plan, in its order. What it was made from is kept no longer than it is of use: with thousands of
    /// pods that is most of what this program takes.
    pub(super) async fn each(
        &self,
        (plan, lives): (Plan, Vec<Snapshot>),
        id: &RolloutId,
        shell: &Shell,
    ) -> Result<EndResult, CommandError> {
        let jobs = plan.workloads.into_iter().zip(lives).map(|(plan, live)| self.job_of(&plan, live, id));
        self.all(jobs.collect(), shell).await
    }

    pub(super) fn job_of(&self, plan: &WorkloadPlan, live: Snapshot, id: &RolloutId) -> Job {
        Job {
            goal: (plan.verdict == Verdict::InPlace).then(|| plan.durable_goal(id, &live, &self.start)),
            expected: plan.estimate().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()),
            live,
        }
    }

    /// Carries out one goal, and takes it back where that is asked for after a failure. `expected` is how long the plan
    /// expects it to take.
    pub(super) async fn one(
        &self,
        mut goal: Goal,
        live: Snapshot,
        expected: Option<Duration>,
        shell: &Shell,
    ) -> Result<Outcome, CommandError> {
        goal.begins_at(shell.clock(self.cluster));
        self.choose(&mut goal);
        let mut outcome = self.drive(&goal, live, expected, shell).await?;
        while outcome.result == EndResult::Paused && goal.owner.is_some() && self.goes_on(&goal, shell)? {
            let live = self.reread(&goal).await?;
            let start = self.another_run(&goal, shell);
            let next = plan::resume(&live, None, &start);
            goal = next.map_err(|error| self.not_resumed(&live, ClusterCommand::Resume, &error))?;
            self.choose(&mut goal);
            outcome = self.drive(&goal, live, None, shell).await?;
        }
        let failed = matches!(outcome.result, EndResult::Failed | EndResult::TimedOut);
        let undone_by = if failed && goal.policy().undoes_failures {
            Some("--on-failure=undo")
        } else if outcome.result == EndResult::Deferred && goal.undoes_deferred() {
            Some("--deferred=undo")
        } else {
            None
        };
        if let Some(flag) = undone_by {
            shell.say(Meaning::Waiting, "undo:", &format!("taking {} back ({flag})", goal.workload));
            let back = Self { after: Some(outcome.result), ..self.clone() };
            outcome.rolled_back = match back.take_back(&goal, shell).await {
                Ok(whole) => whole,
                Err(error) if error.closed_pipe => return Err(error),
                // The end of this run is still that it failed.
                Err(error) => {
                    shell.tell_error(&error);
                    Some(false)
                }
            };
        }
        if self.is_restart {
            self.tell_the_others(&goal, &outcome, shell);
        }
        Ok(outcome)
    }

    /// Sets what the user has chosen for this run.
    fn choose(&self, goal: &mut Goal) {
        let is_back = goal.is_back();
        goal.lock.rollout.policy.choose(self.rollout.on_failure, self.on_deferred, is_back);
    }

    /// A restart is never done already: the command that goes on names the pods that were not restarted.
    fn tell_the_others(&self, goal: &Goal, outcome: &Outcome, shell: &Shell) {
        // By request, a pod is patched before anything restarts.
        let is_as_before = |end: &PodEnd| {
            let asked = matches!(end.phase, UpdatePhase::Restarting { .. } | UpdatePhase::Failing(_));
            goal.by_request && asked && end.containers.iter().any(|container| !container.changed)
        };
        let waits = |end: &&PodEnd| !end.patched && matches!(end.phase, UpdatePhase::Waiting) || is_as_before(end);
        let pods: Vec<&str> = outcome.pods.iter().filter(waits).map(|end| end.pod.name.as_str()).collect();
        if pods.is_empty() || pods.len() > MOST_PODS {
            return;
        }
        let containers: BTreeSet<&str> =
            goal.pods.iter().flat_map(|pod| pod.containers.keys()).map(ContainerName::as_str).collect();
        let containers: Vec<&str> = containers.into_iter().collect();
        let others = self.invocation.restart_pods(&goal.workload, &containers, &pods);
        shell.say_whole(Meaning::Plain, "To restart the others:", &others.to_string());
    }

    /// No image starts a container again that the kubelet leaves down: its controller has to replace the pod. Where the rollout is
    /// taken back by itself, that is said at its end.
    fn tell_what_stays_down(&self, goal: &Goal, outcome: &Outcome, shell: &Shell) {
        let down = outcome.pods.iter().filter(|end| end.phase.stays_down());
        let pods: Vec<&str> = down.map(|end| end.pod.name.as_str()).collect();
        let goes_back = goal.policy().undoes_failures && !goal.is_back();
        if pods.is_empty() || goal.controllers.is_empty() || goes_back {
            return;
        }
        let replace = self.invocation.replacing(pods.into_iter(), &goal.workload);
        shell.say_whole(Meaning::Plain, "Replace what is not started again:", &replace.to_string());
    }

    /// At a pause a terminal is asked; without one the run ends here, and the command to go on was printed.
    fn goes_on(&self, goal: &Goal, shell: &Shell) -> Result<bool, CommandError> {
        let question = format!("Continue with the other pods of {}", goal.workload);
        if self.side_by_side || !approve::can_ask(shell) {
            return Ok(false);
        }
        approve::question_midway(&question, self.cluster, shell)
    }

    async fn reread(&self, goal: &Goal) -> Result<Snapshot, CommandError> {
        let workload = self.cluster.workload(&goal.workload).await?;
        let mut live = self.cluster.live(workload, Nodes::WhereDecisive).await?;
        planning::read_services(&mut live, self.cluster).await;
        self.cluster.status(&mut live).await;
        Ok(live)
    }

    fn another_run(&self, goal: &Goal, shell: &Shell) -> Start {
        let (run, hooks) = (shell.rollout_id().to_string(), goal.hooks.clone());
        let continues = goal.owner.as_ref().map(|_| goal.lock.run.clone());
        let clock = shell.clock(self.cluster);
        Start { run, continues, clock, hooks, take_over: false, ..self.start.clone() }
    }

    /// Takes a goal back that has failed; how that ends is reported, and the exit code stays that of the failure. Returns
    /// whether it came to its end; nothing where there was nothing to take back.
    async fn take_back(&self, goal: &Goal, shell: &Shell) -> Result<Option<bool>, CommandError> {
        let live = self.reread(goal).await?;
        let start = self.another_run(goal, shell);
        let (mut back, leaves_some) = if goal.owner.is_some() {
            match plan::resume(&live, Some(Direction::Back), &start) {
                Ok(back) => (back, false),
                // It failed before the first write on the owner, such as when an image could not be pulled.
                Err(ResumeError::NoRollout) => {
                    shell.note(&format!("{}: nothing was changed, so there is nothing to roll back", goal.workload));
                    return Ok(None);
                }
                Err(error) => return Err(self.not_resumed(&live, ClusterCommand::Abort, &error)),
            }
        } else if live
            .pods
            .iter()
            .all(|pod| UpdateRecord::of_rollout(pod, goal.id()).is_none_or(|record| !record.changes_pods()))
        {
            shell.note(&format!("{}: this run changed no pod, so it has nothing to roll back", goal.workload));
            let before = Intent::Undo { to: None, pin_digest: false };
            let before = plan::build(&before, &live, &plan::Options::default());
            if before.is_ok_and(|plan| plan.verdict == Verdict::InPlace) {
                let undo = self.invocation.of_workload(ClusterCommand::Undo, &goal.workload, None);
                shell.say_whole(Meaning::Plain, "Roll back what was asked for before:", &undo.to_string());
            }
            return Ok(None);
        } else {
            let intent = Intent::Undo { to: Some(goal.id().to_string()), pin_digest: false };
            let (hooks, order) = (goal.hooks.clone(), goal.policy().order);
            let drain = if goal.policy().drain_seconds.is_some() { DrainBy::Auto } else { DrainBy::None };
            let chosen = plan::Options { pods_only: true, hooks, order, drain: Some(drain), ..Default::default() };
            let mut plan = plan::build(&intent, &live, &chosen)
                .map_err(|error| CommandError::usage(format!("{} cannot be rolled back: {error}", goal.workload)))?;
            plan.policy = goal.policy().on_the_way_back();
            let leaves_some = say_what_is_left(&plan, shell);
            (plan.goal(&shell.rollout_id(), &self.start), leaves_some)
        };
        self.refuse_what_the_server_lacks(&back, &live).await?;
        self.refuse_what_admission_refuses(&mut back, &live).await?;
        say_what_goes_back_keeps(&live, &back, shell);
        let outcome = self.drive(&back, live, None, shell).await?;
        Ok(Some(matches!(outcome.result, EndResult::Aborted | EndResult::Complete) && !leaves_some))
    }

    /// What the server does in no pod is not begun: the owner would be left half way.
    pub(super) async fn refuse_what_the_server_lacks(&self, goal: &Goal, live: &Snapshot) -> Result<(), CommandError> {
        if goal.pods.iter().all(|pod| !pod.fields.resizes()) {
            return Ok(());
        }
        // A server that does not answer is no obstacle.
        let server = self.cluster.server_version().await.ok().and_then(|version| version.parse().ok());
        let Some(reason) = server.and_then(|server| plan::server_lacks(goal, live, server)) else { return Ok(()) };
        let is_back = goal.is_back();
        let (what, verb) = if is_back {
            ("what was raised is kept, and the rollout finished", ClusterCommand::Resume)
        } else {
            ("it is rolled back", ClusterCommand::Abort)
        };
        let error = CommandError::new(ErrorKind::Forbidden, format!("{}: {}", goal.workload, reason.sentence()));
        Err(error.hint(format!("{what}: {}", self.invocation.of_workload(verb, &goal.workload, Some(goal)))))
    }

    /// Why a rollout cannot be resumed or aborted, and what the user can do.
    pub(super) fn not_resumed(&self, live: &Snapshot, verb: ClusterCommand, error: &ResumeError) -> CommandError {
        let workload = &live.workload.reference;
        let message = format!("{workload}: {error}");
        let next = self.invocation.next_commands(&status(live).next, workload, None);
        let with_next = |kind| CommandError { next: next.clone(), ..CommandError::new(kind, message.clone()) };
        match error {
            ResumeError::AtWork(_) if plan::rollout_state(live) == RolloutState::Active => {
                let take_over = format!("{} --take-over", self.invocation.of_workload(verb, workload, None));
                with_next(ErrorKind::Held).hint(format!("to act in its place all the same: {take_over}"))
            }
            ResumeError::AtWork(_) | ResumeError::NoWayOn(_) => with_next(ErrorKind::Held),
            ResumeError::NoRollout => CommandError::usage(message),
        }
    }

    async fn drive(
        &self,
        goal: &Goal,
        live: Snapshot,
        expected: Option<Duration>,
        shell: &Shell,
    ) -> Result<Outcome, CommandError> {
        let next = sidecar_set::next(self.next(goal), (goal, &live), &self.invocation, shell);
        let next = NextSteps { expected, after: self.after, ..unless_of_no_use(next, goal, &live) };
        let mut recorder = self.recording.open(shell)?;
        let mut listener = shell.listener(self.output, self.side_by_side);
        listener.start(goal, &next)?;
        let scope = Cluster::scope(&live.workload);
        drop(live);
        let (mut outcome, seen) = drive::drive(self.cluster, goal, &scope, &mut *listener, &mut recorder).await?;
        outcome.hand_over = self.next_apply(&outcome).await;
        if !report_end(listener, self.cluster, (goal, &seen), &mut outcome).await? {
            shell.tell_the_end(goal, &next, &outcome);
        }
        self.tell_what_stays_down(goal, &outcome, shell);
        shell.tell_notices();
        tell_trouble(&mut recorder, shell);
        self.say_what_is_left(goal, &outcome, shell).await;
        Ok(outcome)
    }

    /// Asks what the next apply of the manifest changes that a rollout has brought to its end.
    async fn next_apply(&self, outcome: &Outcome) -> Option<HandOver> {
        let (manifest, validation) = self.manifests.get(&outcome.workload)?;
        if outcome.result != EndResult::Complete || !outcome.workload.kind.has_template() {
            return None;
        }
        // Where it cannot be read, nothing is said of it.
        let workload = self.cluster.workload(&outcome.workload).await.ok()?;
        Some(self.cluster.next_apply(&workload, manifest, *validation).await)
    }

    /// Says what holds the workload after this run, or waits under it, and what leads on, in the words of `status`.
    async fn say_what_is_left(&self, goal: &Goal, outcome: &Outcome, shell: &Shell) {
        let Some(owner) = &goal.owner else { return };
        let may_be_held = matches!(outcome.result, EndResult::Complete | EndResult::Superseded);
        if !may_be_held && (!owner.adopts || outcome.held || has_ended(outcome.result)) {
            return;
        }
        // A failure to read it was reported as the end already.
        let Ok(live) = self.reread(goal).await else { return };
        let found = status(&live);
        let workload = &goal.workload;
        if let Some(what) = found.state.what_ended_it() {
            shell.note(&format!("{workload}: {what}"));
        }
        let is_worth_a_note =
            |state: &&OwnerState| !matches!(state, OwnerState::NotObserved | OwnerState::DisruptionBudget { .. });
        for state in found.owner.iter().filter(is_worth_a_note) {
            shell.note(&format!("{workload}: {}", state.sentence()));
        }
        if outcome.result == EndResult::Superseded
            && (live.workload.rolling_out().is_some() || !live.workload.is_observed())
        {
            shell.say_whole(Meaning::Plain, "Follow:", &self.invocation.rollout_status(workload).to_string());
        }
        for (label, command) in self.invocation.next_commands(&found.next, workload, Some(goal)) {
            shell.say_whole(Meaning::Waiting, &label, &command);
        }
    }

    fn next(&self, goal: &Goal) -> NextSteps {
        let (invocation, workload) = (&self.invocation, &goal.workload);
        let command = |verb| invocation.of_workload(verb, workload, Some(goal)).to_string();
        let with = |verb, id, value: &str| invocation.of_workload_with(verb, goal, &[(id, value.to_owned())]);
        let on = if goal.is_back() { ClusterCommand::Abort } else { ClusterCommand::Resume };
        let common = NextSteps {
            follow: Some(command(ClusterCommand::Follow)),
            is_short_of_time: invocation.is_short_of_time(),
            undoes_failures: goal.policy().undoes_failures,
            undoes_deferred: goal.undoes_deferred(),
            ..NextSteps::default()
        };
        if goal.owner.is_none() {
            let ignoring = invocation.with(&[("disruption_budget", "ignore".to_owned())]);
            return NextSteps {
                take_back: match goal.pods.iter().any(|pod| pod.fields.resizes()) {
                    _ if self.is_restart => None,
                    // Images alone would leave cpu and memory.
                    true => (goal.mode() == Mode::PodsOnly).then(|| command(ClusterCommand::Undo)),
                    false => way_back(goal).and_then(|images| invocation.images_back(goal, &images)),
                },
                go_on: if self.is_restart { None } else { invocation.go_on(goal) },
                despite_budget: if self.is_restart { None } else { ignoring.go_on(goal) },
                ..common
            };
        }
        let common = NextSteps {
            go_on: Some(command(on)),
            despite_budget: Some(with(on, "disruption_budget", "ignore")),
            leaving_resizes: Some(with(on, "deferred", "leave")),
            ..common
        };
        if !goal.is_back() {
            return NextSteps {
                // Where there was only a lock to remove, it would undo the update before it.
                take_back: (!changes_nothing(goal)).then(|| command(ClusterCommand::Undo)),
                abort: Some(command(ClusterCommand::Abort)),
                again_despite_budget: invocation.with(&[("disruption_budget", "ignore".to_owned())]).again(),
                ..common
            };
        }
        // On the way back there is one way on.
        let most = goal.policy().max_unavailable;
        let despite = [most, most.saturating_add(1)].map(|most| {
            let flags = [("max_unavailable", most.to_string()), ("on_failure", "continue".to_owned())];
            invocation.of_workload_with(ClusterCommand::Abort, goal, &flags)
        });
        let bare = Goal { hooks: Hooks::default(), ..goal.clone() };
        let without_hooks =
            || invocation.without_hooks().of_workload(ClusterCommand::Abort, workload, Some(&bare)).to_string();
        NextSteps {
            despite_failures: Some((most, despite)),
            without_hooks: (!goal.hooks.is_empty()).then(without_hooks),
            forward: Some(command(ClusterCommand::Resume)),
            undoes_failures: false,
            undoes_deferred: false,
            ..common
        }
    }
}

/// Whether nothing is left of a rollout with such an end, or it was reported already.
fn has_ended(result: EndResult) -> bool {
    use EndResult::{Changes, Deferred, NotEligible, Superseded};
    result.is_done() || matches!(result, Deferred | Superseded | Changes | NotEligible)
}

/// The next steps without a way back to an image that cannot be pulled, as the pods show, and without undoing what repairs:
/// where the rollout came from nothing but what only fails in the pods.
fn unless_of_no_use(mut next: NextSteps, goal: &Goal, live: &Snapshot) -> NextSteps {
    // What has the new image already was patched by an earlier run: it does not come from there.
    let of_pods = goal.pods.iter().flat_map(|pod| &pod.containers).filter(|(_, wanted)| wanted.from != wanted.to);
    let from: BTreeSet<_> = of_pods.filter_map(|(name, wanted)| Some((name, wanted.from.as_deref()?))).collect();
    if goal.is_back() || from.is_empty() {
        return next;
    }
    let pods = status(live).pods;
    // Of a rollout that took another's place, that goes back to what was there before either.
    let origin = |name| goal.lock.rollout.origin.get(name).map(String::as_str);
    let back: Vec<_> = from.iter().map(|(name, image)| (*name, origin(*name).unwrap_or(image))).collect();
    let is_gone = back.iter().any(|(name, image)| cannot_be_pulled(&live.pods, name, image));
    if is_gone {
        next.abort = None;
    }
    if is_gone || back.iter().all(|(name, image)| only_fails(&pods, name, image)) {
        next.take_back = None;
    }
    next
}

/// Says which pods cannot go back; returns whether there are any.
fn say_what_is_left(plan: &WorkloadPlan, shell: &Shell) -> bool {
    let blocked: Vec<_> = plan.pods.iter().filter(|pod| pod.verdict == PodVerdict::Blocked).collect();
    for pod in &blocked {
        let why: Vec<String> = pod.reasons.iter().map(Reason::sentence).collect();
        shell.note(&format!("{}: it is not rolled back: {}", pod.pod, why.join("; ")));
    }
    !blocked.is_empty()
}

fn changes_nothing(goal: &Goal) -> bool {
    goal.owner.is_some() && (goal.lock.rollout.change.is_empty() || goal.lock.rollout.goes_back())
}
