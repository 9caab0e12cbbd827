//! What `apply`, `restart`, `undo`, `resume` and `abort` have in common: a goal is carried out and followed to its end.

use std::collections::BTreeSet;

use super::next::{MOST_PODS, Typing, Verb};
use super::planning::{self, Planned};
use super::recording::RecordTo;
use super::several::Job;
use super::witness::Witness;
use super::{Shell, approve};
use crate::cli::{DryRun, OnFailure, RolloutArgs};
use crate::cluster::{Cluster, Nodes};
use crate::drive;
use crate::engine::change::{Direction, FieldEffect, same};
use crate::engine::durable::{self, lock::RolloutLock};
use crate::engine::hook::Hooks;
use crate::engine::kinds::Release;
use crate::engine::names::{ContainerName, WorkloadRef};
use crate::engine::outcome::EndResult;
use crate::engine::plan::{self, LiveWorkload, ResumeError, Start, Verdict, way_back};
use crate::engine::pre_pull::PrePull;
use crate::engine::progress::PodPhase;
use crate::engine::record::UpdateRecord;
use crate::engine::report::{Outcome, PodEnd};
use crate::engine::rollout::{Goal, Mode};
use crate::engine::workload::Workload;
use crate::error::{CommandError, ErrorKind};
use crate::process;
use crate::render::{Listener, Meaning, NextSteps, OutputFormat};

/// What one command carries out its goals with.
#[derive(Clone)]
pub(super) struct Rolling<'a> {
    pub(super) cluster: &'a Cluster,
    pub(super) rollout: &'a RolloutArgs,
    pub(super) output: OutputFormat,
    pub(super) start: Start,
    pub(super) typing: Typing,
    pub(super) recording: RecordTo,
    /// Other workloads are under way at the same time: lines say whose they are, and nobody is asked at a pause.
    pub(super) side_by_side: bool,
    /// The same bits again: there is nothing to take back.
    pub(super) is_restart: bool,
    /// `--no-hooks`: without the commands that the rollout began with.
    pub(super) no_hooks: bool,
    /// `--dry-run` of `resume` and `abort`.
    pub(super) dry_run: DryRun,
}

impl<'a> Rolling<'a> {
    pub(super) async fn new(
        cluster: &'a Cluster,
        rollout: &'a RolloutArgs,
        (output, yes, field_manager): (OutputFormat, bool, &str),
        shell: &Shell,
    ) -> Self {
        let start = Start {
            run: shell.rollout_id().to_string(),
            continues: None,
            who: cluster.who_am_i().await.unwrap_or_else(|| "unknown".into()),
            process: process::this(),
            clock: shell.clock(cluster),
            reason: rollout.reason.clone(),
            field_manager: field_manager.to_owned(),
            keep_field_ownership: rollout.keep_field_ownership,
            release: yes,
            take_over: false,
            pre_pull: PrePull::Auto,
            hooks: Hooks::default(),
        };
        let recording = RecordTo::new(rollout.record.as_deref());
        let typing = shell.typing(cluster);
        Self {
            cluster,
            rollout,
            output,
            start,
            typing,
            recording,
            side_by_side: false,
            is_restart: false,
            no_hooks: false,
            dry_run: DryRun::None,
        }
    }

    /// Carries out a plan, in its order.
    pub(super) async fn each(&self, planned: &Planned, shell: &Shell) -> Result<EndResult, CommandError> {
        let jobs = planned.plan.workloads.iter().zip(&planned.lives).map(|(plan, live)| Job {
            live,
            goal: (plan.verdict == Verdict::InPlace).then(|| plan.durable_goal(&planned.id, live, &self.start)),
        });
        self.all(jobs.collect(), shell).await
    }

    /// Carries out one goal, and takes it back where that is asked for after a failure.
    pub(super) async fn one(
        &self,
        mut goal: Goal,
        live: &LiveWorkload,
        shell: &Shell,
    ) -> Result<Outcome, CommandError> {
        goal.policy.goes_on_after_failure = self.rollout.on_failure == OnFailure::Continue;
        let mut outcome = self.drive(&goal, live, shell).await?;
        while outcome.result == EndResult::Paused && goal.owner.is_some() && self.goes_on(&goal, shell)? {
            let live = self.reread(&goal).await?;
            let start = self.another_run(&goal, shell);
            let next = plan::resume(&live, None, None, &start);
            goal = next.map_err(|error| self.not_resumed(&goal.workload, Verb::Resume, &error))?;
            goal.policy.goes_on_after_failure = self.rollout.on_failure == OnFailure::Continue;
            outcome = self.drive(&goal, &live, shell).await?;
        }
        let failed = matches!(outcome.result, EndResult::Failed | EndResult::TimedOut);
        if failed && self.rollout.on_failure == OnFailure::Undo {
            let what = format!("taking {} back (--on-failure=undo)", goal.workload);
            shell.say(Meaning::Waiting, "undo:", &what);
            self.take_back(&goal, shell).await?;
        }
        if self.is_restart {
            self.tell_the_others(&goal, &outcome, shell);
        }
        Ok(outcome)
    }

    /// A restart is never done already: the command that goes on names the pods that were not restarted.
    fn tell_the_others(&self, goal: &Goal, outcome: &Outcome, shell: &Shell) {
        let waits = |end: &&PodEnd| !end.patched && matches!(end.phase, PodPhase::Waiting);
        let pods: Vec<&str> = outcome.pods.iter().filter(waits).map(|end| end.pod.name.as_str()).collect();
        if pods.is_empty() || pods.len() > MOST_PODS {
            return;
        }
        let containers: BTreeSet<&str> =
            goal.pods.iter().flat_map(|pod| pod.containers.keys()).map(ContainerName::as_str).collect();
        let containers: Vec<&str> = containers.into_iter().collect();
        let others = self.typing.restart_pods(&goal.workload, &containers, &pods);
        shell.say(Meaning::Plain, "To restart the others:", &others.to_string());
    }

    /// At a pause a terminal is asked; without one the run ends here, and the command to go on was printed.
    fn goes_on(&self, goal: &Goal, shell: &Shell) -> Result<bool, CommandError> {
        let question = format!("Go on with the other pods of {}", goal.workload);
        if self.side_by_side || !approve::can_ask(shell) {
            return Ok(false);
        }
        approve::question(&question, self.cluster, false, shell)
    }

    async fn reread(&self, goal: &Goal) -> Result<LiveWorkload, CommandError> {
        let workload = self.cluster.workload(&goal.workload).await?;
        let mut live = self.cluster.live(workload, Nodes::WhereDecisive).await?;
        planning::read_services(&mut live, self.cluster).await;
        Ok(live)
    }

    fn another_run(&self, goal: &Goal, shell: &Shell) -> Start {
        let (run, hooks) = (shell.rollout_id().to_string(), goal.hooks.clone());
        let continues = goal.owner.as_ref().map(|owner| owner.lock.run.clone());
        let clock = shell.clock(self.cluster);
        Start { run, continues, clock, hooks, take_over: false, ..self.start.clone() }
    }

    /// Takes a goal back that has failed; how that ends is told, and the exit code stays that of the failure.
    async fn take_back(&self, goal: &Goal, shell: &Shell) -> Result<(), CommandError> {
        let live = self.reread(goal).await?;
        let start = self.another_run(goal, shell);
        let back = if goal.owner.is_some() {
            match plan::resume(&live, Some(Direction::Back), None, &start) {
                Ok(back) => back,
                // It failed before the first write on the owner, such as when an image could not be pulled.
                Err(ResumeError::NoRollout) => {
                    shell.note(&format!("{}: nothing was changed, so there is nothing to take back", goal.workload));
                    return Ok(());
                }
                Err(error) => return Err(self.not_resumed(&goal.workload, Verb::Abort, &error)),
            }
        } else if live.pods.iter().all(|pod| UpdateRecord::of(pod).is_none_or(|record| record.id != goal.id)) {
            shell.note(&format!("{}: no pod was changed, so there is nothing to take back", goal.workload));
            return Ok(());
        } else {
            let desired = plan::undo(&live, Some(goal.id.as_str()), false);
            let desired = desired
                .map_err(|error| CommandError::usage(format!("{} cannot be taken back: {error}", goal.workload)))?;
            let hooks = goal.hooks.clone();
            let options = plan::Options { pods_only: true, hooks, ..plan::Options::default() };
            let mut plan = plan::build(&desired, &live, &options);
            plan.policy.container_order = goal.policy.container_order.iter().rev().cloned().collect();
            plan.goal(&shell.rollout_id(), &self.start.field_manager)
        };
        say_what_pods_keep(&back, shell);
        self.drive(&back, &live, shell).await.map(drop)
    }

    /// Why a rollout cannot be gone on with or taken back, and what a person can do.
    pub(super) fn not_resumed(&self, workload: &WorkloadRef, verb: Verb, error: &ResumeError) -> CommandError {
        let command = |verb: Verb| self.typing.of_workload(verb, workload, None);
        let message = format!("{workload}: {error}");
        match error {
            ResumeError::AtWork(_) => CommandError::new(ErrorKind::Held, message)
                .hint(format!("watch it: {}", command(Verb::Follow)))
                .hint(format!("to act in its place all the same: {} --take-over", command(verb))),
            ResumeError::Unreadable | ResumeError::LockLost(_) => CommandError::new(ErrorKind::Cluster, message)
                .hint(format!("to finish it in place: {} --take-over", command(Verb::Resume)))
                .hint(format!("to roll it back in place: {} --take-over", command(Verb::Abort))),
            ResumeError::SetBack => CommandError::new(ErrorKind::Held, message)
                .hint(format!("restore its pods in place: {}", command(Verb::Abort)))
                .hint(format!("let its controller replace them: {} --take-over", command(Verb::Resume))),
            ResumeError::NoWayOn(_) => CommandError::new(ErrorKind::Cluster, message),
            ResumeError::NoRollout => CommandError::usage(message),
        }
    }

    async fn drive(&self, goal: &Goal, live: &LiveWorkload, shell: &Shell) -> Result<Outcome, CommandError> {
        let goal = &Goal { process: Some(self.start.process.clone()), ..goal.clone() };
        let next = self.next(goal);
        let mut recording = self.recording.open(shell)?;
        let mut witness = Witness::new(shell.listener(self.output, self.side_by_side));
        witness.start(goal, &next)?;
        let scope = Cluster::scope(&live.workload);
        let mut outcome = drive::drive(self.cluster, goal, &scope, &mut witness, &mut recording.recorder).await?;
        witness.end(self.cluster, &mut outcome).await?;
        shell.tell_notices();
        recording.tell_trouble(shell);
        if outcome.result == EndResult::Superseded && goal.owner.is_some() {
            let is_whole = outcome.pods.iter().all(|pod| pod.phase == PodPhase::Done);
            self.settle_what_is_held_back(goal, is_whole, shell).await?;
        }
        if outcome.result == EndResult::Complete && goal.owner.is_some() {
            self.tell_of_a_pause(goal, shell).await;
        }
        Ok(outcome)
    }

    /// A pause is no matter of a rollout whose pods have its template; that it was set meanwhile has to be known all the same.
    async fn tell_of_a_pause(&self, goal: &Goal, shell: &Shell) {
        let workload = &goal.workload;
        if workload.kind.holds_by().restores_the_field() {
            return;
        }
        let Ok(found) = self.cluster.workload(workload).await else { return };
        if let Some(Release::Remove(_)) = workload.kind.holds_by().release(&found.object, None) {
            shell.note(&format!(
                "{workload} was paused by somebody else meanwhile and stays so: no later change of its template rolls out \
                 before kubectl rollout resume {workload} -n {}",
                workload.namespace
            ));
        }
    }

    /// Somebody else's change may wait under what this rollout has set; only the person can say what is to become of it.
    async fn settle_what_is_held_back(&self, goal: &Goal, is_whole: bool, shell: &Shell) -> Result<(), CommandError> {
        // What cannot be read now was told as the end already.
        let Ok(found) = self.cluster.workload(&goal.workload).await else { return Ok(()) };
        // Another run that is at work has its own pause.
        let lock = RolloutLock::of(&found.object);
        if matches!(lock, Ok(Some(_))) {
            return Ok(());
        }
        let kind = goal.workload.kind;
        let release = goal.owner.as_ref().and_then(|owner| durable::release(owner, kind, &found.object));
        if let Some(release) = release
            && lock.is_ok()
            && !self.side_by_side
            && approve::can_ask(shell)
        {
            let question = format!(
                "{} has somebody else's template, held back by what this rollout had set. Let it roll out, which replaces pods",
                goal.workload
            );
            if approve::question(&question, self.cluster, false, shell)? {
                self.cluster.write(&release, &self.start.field_manager).await?;
                return Ok(());
            }
        }
        let held_back = self.typing.held_back(&found, goal);
        for (word, command) in &held_back {
            shell.say(Meaning::Waiting, word, command);
        }
        if held_back.is_empty() && !is_whole {
            self.name_the_way_out(goal, &found, lock.is_err(), shell);
        }
        Ok(())
    }

    /// Nothing holds its controller, and pods lack what its template says.
    fn name_the_way_out(&self, goal: &Goal, found: &Workload, is_unreadable: bool, shell: &Shell) {
        let Some(owner) = &goal.owner else { return };
        if !same(found.template(), owner.target()) {
            if found.rolling_out().is_some() || !found.is_observed() {
                let workload = &goal.workload;
                shell.note(&format!(
                    "its controller rolls out the template that {workload} has now, and replaces pods for it"
                ));
                shell.say(Meaning::Plain, "To watch it:", &self.typing.rollout_status(workload));
            }
            return;
        }
        let take_over = |verb| format!("{} --take-over", self.typing.of_workload(verb, &goal.workload, Some(goal)));
        if is_unreadable {
            shell.say(Meaning::Waiting, "To finish it in place:", &take_over(Verb::Resume));
            shell.say(Meaning::Waiting, "To roll it back in place:", &take_over(Verb::Abort));
        } else if let Some(command) = self.typing.finish(goal) {
            let what = if owner.lock.direction == Direction::Back {
                "To finish the way back:"
            } else {
                "To finish it in place:"
            };
            shell.say(Meaning::Waiting, what, &command);
        }
    }

    fn next(&self, goal: &Goal) -> NextSteps {
        let command = |verb| self.typing.of_workload(verb, &goal.workload, Some(goal)).to_string();
        let is_back = goal.owner.as_ref().is_some_and(|owner| owner.lock.direction == Direction::Back);
        let undoes_failures = self.rollout.on_failure == OnFailure::Undo && !is_back;
        match goal.mode {
            // On the way back there is one way on.
            Mode::Durable if is_back => NextSteps {
                go_on: Some(command(Verb::Abort)),
                follow: Some(command(Verb::Follow)),
                ..NextSteps::default()
            },
            Mode::Durable => NextSteps {
                take_back: Some(command(Verb::Undo)),
                go_on: Some(command(Verb::Resume)),
                abort: Some(command(Verb::Abort)),
                follow: Some(command(Verb::Follow)),
                undoes_failures,
            },
            Mode::PodsOnly | Mode::Follow => NextSteps {
                take_back: if self.is_restart { None } else { self.images_back(goal) },
                go_on: if self.is_restart { None } else { self.typing.go_on(goal) },
                abort: None,
                follow: Some(command(Verb::Follow)),
                undoes_failures,
            },
        }
    }

    fn images_back(&self, goal: &Goal) -> Option<String> {
        way_back(goal).and_then(|back| self.typing.images_back(goal, &back))
    }
}

/// Says what goes out of the template alone.
pub(super) fn say_what_pods_keep(goal: &Goal, shell: &Shell) {
    let rows = goal.owner.iter().flat_map(|owner| owner.lock.directed().fields.rows());
    for row in rows.filter(|row| row.effect == FieldEffect::LaterPods) {
        shell.note(&format!(
            "{}: pods that have the {} keep it, those made later do not have it",
            goal.workload, row.what
        ));
    }
}
