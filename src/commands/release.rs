//! `abort --release`: removes what a rollout has set on a workload, and lets its controller go.

use super::rolling::Rolling;
use super::several::Job;
use super::{Shell, approve, planning, targets};
use crate::cli::{DryRun, GlobalArgs, ResumeArgs};
use crate::cluster::error::ClusterError;
use crate::cluster::{Nodes, answer};
use crate::error::{CommandError, ErrorKind, Result};
use crate::render::Meaning;
use engine::k8s::workload::Workload;
use engine::plan::{self, RolloutState, Snapshot};
use engine::rollout::Answer;
use engine::state::durable::ObjectWrite;
use engine::state::outcome::EndResult;
use engine::value::hint::{Hint, kubectl};

/// How often the removal is tried where objects change meanwhile.
const MAX_TRIES: u32 = 5;

pub(super) async fn run(args: &ResumeArgs, global: &GlobalArgs, shell: &mut Shell) -> Result<EndResult> {
    let why = "abort --release restores no image; pass only the workload";
    let (cluster, found) = targets::connect_and_find(&args.targets, why, global, shell).await?;
    let writer = (args.output, args.field_manager.as_str());
    let mut rolling = Rolling::new(&cluster, &args.rollout, writer, shell).await;
    rolling.start.take_over = args.pace.take_over;
    rolling.dry_run = args.dry_run;
    let mut released = false;
    for (workload, _) in found {
        released |= rolling.release(workload, args.yes, shell).await.map_err(approve::midway(released))?;
    }
    Ok(if released { EndResult::Complete } else { EndResult::NothingToDo })
}

impl Rolling<'_> {
    /// Returns whether there was something to release.
    async fn release(&self, workload: Workload, yes: bool, shell: &Shell) -> Result<bool> {
        let mut live = self.read(workload).await?;
        let workload = live.workload.reference.clone();
        if !self.may_release(&live, shell)? {
            return Ok(false);
        }
        let mut writes = plan::release(&live, &self.start);
        if self.dry_run == DryRun::Server {
            for write in &writes {
                self.cluster.dry_write(write, &self.start.field_manager).await?;
            }
        }
        let what =
            "what the rollout set on it is removed, no image is rolled back, and its controller may then replace pods";
        shell.say(Meaning::Waiting, &format!("{workload}:"), what);
        if self.dry_run != DryRun::None {
            return Ok(true);
        }
        approve::confirm(&format!("Release {workload} from its rollout"), self.cluster, yes, shell)?;
        // Its controller writes too: where an object has changed since it was read, what is left to remove is read again.
        let mut tries = 1;
        loop {
            match self.write_all(&writes).await {
                Err(error) if tries < MAX_TRIES && matches!(answer(&error), Answer::Conflict { .. }) => {
                    tries += 1;
                    live = self.read(self.cluster.workload(&workload).await?).await?;
                    if !self.may_release(&live, shell)? {
                        break;
                    }
                    writes = plan::release(&live, &self.start);
                }
                result => {
                    result?;
                    break;
                }
            }
        }
        self.say_what_follows(&live, shell).await;
        // Pods that the rollout had taken out of their Services come back.
        let policy = plan::policy_of(&live, &plan::Options::default());
        if let Some(goal) = plan::restore_all(&live, policy, &shell.rollout_id(), &self.start) {
            self.all(vec![Job { goal: Some(goal), live, expected: None }], shell).await?;
        }
        Ok(true)
    }

    async fn read(&self, workload: Workload) -> Result<Snapshot> {
        let mut live = self.cluster.live(workload, Nodes::Nowhere).await?;
        planning::read_services(&mut live, self.cluster).await;
        Ok(live)
    }

    async fn write_all(&self, writes: &[ObjectWrite]) -> Result<(), ClusterError> {
        for write in writes {
            self.cluster.write(write, &self.start.field_manager).await?;
        }
        Ok(())
    }

    /// Whether a rollout holds it, and no run may be carrying that out unless it is to be taken over.
    fn may_release(&self, live: &Snapshot, shell: &Shell) -> Result<bool> {
        let workload = &live.workload.reference;
        match plan::rollout_state(live) {
            RolloutState::None => {
                shell.note(&format!("{workload}: no rollout of kubectl-inplace holds it"));
                Ok(false)
            }
            state @ (RolloutState::Active | RolloutState::MaybeActive) if !self.start.take_over => {
                let is = if state == RolloutState::Active { "is active" } else { "may be active" };
                let error = CommandError::new(ErrorKind::Held, format!("{workload}: the run of its rollout {is}"));
                Err(error.hint("stop that run first, or say --take-over as well"))
            }
            RolloutState::Active
            | RolloutState::MaybeActive
            | RolloutState::Unfinished
            | RolloutState::Superseded(_)
            | RolloutState::Unclear(_) => Ok(true),
        }
    }

    async fn say_what_follows(&self, before: &Snapshot, shell: &Shell) {
        let workload = &before.workload.reference;
        shell.say(Meaning::Plain, "Released:", &format!("{workload} is its controller's again"));
        // What cannot be read now is not known, and nothing more is said of it.
        let Ok(now) = self.cluster.workload(workload).await else { return };
        if engine::kinds::is_on_delete(&now.object) {
            let edit = kubectl("edit").of(workload).in_namespace(&workload.namespace);
            let what = "its updateStrategy keeps its controller from replacing pods, and nothing tells another one from before; if yours was another, set it: ";
            let note = shell.with_flags(&Hint::from(format!("{workload}: {what}")).command(edit));
            if !shell.global.quiet {
                shell.say_whole(Meaning::Plain, "note:", &note);
            }
        } else if workload.kind.holds_by().field().is_some() {
            shell.say_whole(Meaning::Plain, "Follow:", &self.invocation.rollout_status(workload).to_string());
        }
    }
}
