//! What `apply`, `restart`, `undo`, `resume` and `abort` have in common: a goal is carried out and followed to its end.

use std::collections::BTreeSet;

use super::planning::{self, Planned};
use super::recording::RecordTo;
use super::several::Job;
use super::witness::Witness;
use super::{Shell, approve, next as commands};
use crate::cli::{GlobalArgs, OnFailure, RolloutArgs};
use crate::cluster::{Cluster, Nodes};
use crate::drive;
use crate::engine::durable::{self, change::Direction};
use crate::engine::hook::Hooks;
use crate::engine::names::ContainerName;
use crate::engine::outcome::EndResult;
use crate::engine::plan::{self, LiveWorkload, ResumeError, Start, Verdict, way_back};
use crate::engine::pre_pull::PrePull;
use crate::engine::record::UpdateRecord;
use crate::engine::report::{Outcome, PodEnd, PodPhase};
use crate::engine::rollout::{Goal, Mode};
use crate::error::CommandError;
use crate::render::{Listener, Meaning, NextSteps, OutputFormat};

/// What one command carries out its goals with.
#[derive(Clone)]
pub(super) struct Rolling<'a> {
    pub(super) cluster: &'a Cluster,
    pub(super) global: &'a GlobalArgs,
    pub(super) rollout: &'a RolloutArgs,
    pub(super) output: OutputFormat,
    pub(super) start: Start,
    /// The command that goes on after an end that is none.
    pub(super) go_on: Option<String>,
    pub(super) recording: RecordTo,
    /// Other workloads are under way at the same time: lines say whose they are, and nobody is asked at a pause.
    pub(super) side_by_side: bool,
    /// The same bits again: there is nothing to take back.
    pub(super) is_restart: bool,
}

impl<'a> Rolling<'a> {
    pub(super) async fn new(
        cluster: &'a Cluster,
        global: &'a GlobalArgs,
        rollout: &'a RolloutArgs,
        (output, yes, field_manager): (OutputFormat, bool, &str),
        shell: &Shell,
    ) -> Self {
        let start = Start {
            run: shell.rollout_id().to_string(),
            who: cluster.who_am_i().await.unwrap_or_else(|| "unknown".into()),
            clock: shell.clock(),
            reason: rollout.reason.clone(),
            field_manager: field_manager.to_owned(),
            keep_field_ownership: rollout.keep_field_ownership,
            release: yes,
            pre_pull: PrePull::Auto,
            hooks: Hooks::default(),
        };
        let recording = RecordTo::new(rollout.record.as_deref());
        Self { cluster, global, rollout, output, start, go_on: None, recording, side_by_side: false, is_restart: false }
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
            goal = next.map_err(|error| CommandError::usage(format!("{}: {error}", goal.workload)))?;
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
        if pods.is_empty() || pods.len() > commands::MOST_PODS {
            return;
        }
        let containers: BTreeSet<&str> =
            goal.pods.iter().flat_map(|pod| pod.containers.keys()).map(ContainerName::as_str).collect();
        let containers = containers.into_iter().collect::<Vec<_>>().join(",");
        let command = commands::of_workload("restart", &goal.workload, self.global, self.cluster);
        let others = format!("{command} -c {containers} --pods {}", pods.join(","));
        shell.say(Meaning::Plain, "To restart the others:", &others);
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
        Start { run, clock: shell.clock(), hooks, ..self.start.clone() }
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
                Err(error @ ResumeError::Unreadable) => {
                    return Err(CommandError::usage(format!("{} cannot be taken back: {error}", goal.workload)));
                }
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
        self.drive(&back, &live, shell).await.map(drop)
    }

    async fn drive(&self, goal: &Goal, live: &LiveWorkload, shell: &Shell) -> Result<Outcome, CommandError> {
        let next = self.next(goal);
        let mut recording = self.recording.open(shell)?;
        let mut witness = Witness::new(shell.listener(self.output, self.side_by_side));
        witness.start(goal, &next)?;
        let scope = Cluster::scope(&live.workload);
        let mut outcome = drive::drive(self.cluster, goal, &scope, &mut witness, &mut recording.recorder).await?;
        match witness.end(self.cluster, &mut outcome).await {
            // Nobody reads any more: that is why it was stopped.
            Err(_) if outcome.result == EndResult::Terminated => {}
            ended => ended?,
        }
        shell.tell_notices();
        recording.tell_trouble(shell);
        if outcome.result == EndResult::Superseded && goal.owner.is_some() {
            self.settle_what_is_held_back(goal, shell).await?;
        }
        Ok(outcome)
    }

    /// Somebody else's change may wait under what this rollout has set; only the person can say what is to become of it.
    async fn settle_what_is_held_back(&self, goal: &Goal, shell: &Shell) -> Result<(), CommandError> {
        // What cannot be read now was told as the end already.
        let Ok(found) = self.cluster.workload(&goal.workload).await else { return Ok(()) };
        let kind = goal.workload.kind;
        let release = goal.owner.as_ref().and_then(|owner| durable::release(owner, kind, &found.object));
        if let Some(release) = release
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
        let commands = commands::held_back(&found, goal, self.global);
        for (word, command) in commands {
            shell.say(Meaning::Waiting, word, &command);
        }
        Ok(())
    }

    fn next(&self, goal: &Goal) -> NextSteps {
        let command = |verb: &str| commands::of_workload(verb, &goal.workload, self.global, self.cluster);
        match goal.mode {
            Mode::Durable => NextSteps {
                take_back: Some(command("undo")),
                go_on: Some(command("resume")),
                abort: Some(command("abort")),
                follow: Some(command("follow")),
            },
            Mode::PodsOnly | Mode::Follow => NextSteps {
                take_back: if self.is_restart { None } else { self.images_back(goal) },
                go_on: self.go_on.clone(),
                abort: None,
                follow: Some(command("follow")),
            },
        }
    }

    fn images_back(&self, goal: &Goal) -> Option<String> {
        way_back(goal).and_then(|back| commands::take_back(goal, &back, self.global, self.cluster))
    }
}
