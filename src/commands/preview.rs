//! The preview of `resume` and `abort`: what is left to do of a rollout, and whether the server would accept it.

use std::io;

use super::Shell;
use super::rolling::Rolling;
use crate::cli::DryRun;
use crate::cluster::error::ClusterError;
use crate::error::{CommandError, ErrorKind, Result};
use crate::render::{self, Preview, StreamFormat};
use engine::change::reason::Reason;
use engine::change::same;
use engine::plan::resize;
use engine::plan::{self, Snapshot};
use engine::rollout::patch::{NewImage, PodPart, PodPatch, patches};
use engine::rollout::{Goal, PodGoal};
use engine::state::durable::lock::Lock;
use engine::state::durable::{self, Decision, Next, ObjectWrite, Owner, OwnerView, PodsState, StepName};

/// Patches of pods that the server is asked about, at most.
const ASKED_AT_MOST: usize = 10;

impl Rolling<'_> {
    /// Shows what would be done. Only a dry run that says so asks the server: the run itself reads everything again.
    pub(super) async fn preview(&self, goal: &Goal, live: &Snapshot, shell: &Shell) -> Result<()> {
        if self.output == StreamFormat::Json && self.dry_run == DryRun::None {
            return Ok(());
        }
        let first = first_write(goal, live);
        let checked_by_server = match self.dry_run {
            DryRun::None => None,
            DryRun::Client => Some(false),
            DryRun::Server => Some(true),
        };
        if checked_by_server == Some(true) {
            self.ask_server(goal, live, first.as_ref().map(|(_, write)| write)).await?;
        }
        let found = Lock::of(&live.workload.object).ok().flatten();
        let lock = goal.owner.as_ref().map(|_| found.as_ref().unwrap_or(&goal.lock));
        let is_set =
            goal.owner.as_ref().map(|owner| same(live.workload.template(), owner.target(goal.lock.rollout.direction)));
        let preview = Preview {
            goal,
            found: lock,
            may_be_active: lock.is_some_and(|lock| plan::lease_state(live, lock).may_be_active()),
            first_step: first.map(|(step, _)| step),
            only_pod_restarts: plan::only_pod_restarts(goal, live),
            template_is_set: is_set,
            now: live.surroundings.now.as_deref(),
            checked_by_server,
        };
        render::preview(self.output, &preview, &shell.terminal.stdout, &mut io::stdout().lock())?;
        Ok(())
    }

    /// Asks by a dry run of the first write and of the first pods' patches; what has changed since is read by the run itself.
    async fn ask_server(&self, goal: &Goal, live: &Snapshot, first: Option<&ObjectWrite>) -> Result<(), ClusterError> {
        if let Some(write) = first {
            self.cluster.dry_write(write, &goal.field_manager).await?;
        }
        for patch in goal.pods.iter().flat_map(|pod| remaining_patches(goal, live, pod)).take(ASKED_AT_MOST) {
            self.cluster.send(&patch, true).await?;
        }
        Ok(())
    }

    /// A change that admission lets into no pod is not begun: the owner would be left halfway. Pods of one template are
    /// one question, unless a refused pod does not stop the others; the run itself deals with any other answer. Where
    /// admission makes another image of one, pods get that.
    pub(super) async fn refuse_what_admission_refuses(&self, goal: &mut Goal, live: &Snapshot) -> Result<()> {
        if self.dry_run == DryRun::Client || goal.policy().goes_on_after_failure {
            return Ok(());
        }
        let first = goal
            .pods
            .iter()
            .map(|pod| (pod, remaining_patches(goal, live, pod)))
            .find(|(_, patches)| !patches.is_empty());
        let Some((wanted, patches)) = first.map(|(wanted, patches)| (wanted.clone(), patches)) else { return Ok(()) };
        for patch in patches {
            let answer = self.cluster.send(&patch, true).await;
            if let Ok(pod) = &answer {
                for (name, container) in &wanted.containers {
                    let made = pod.spec_of(name).map(|container| &container.image);
                    if let (Some(image), Some(made)) = (&container.to, made)
                        && image != made
                        && patch.part == PodPart::Pod
                    {
                        goal.take_as_made(name, image, made);
                    }
                }
            }
            if let Err(ClusterError::AdmissionDenied { message }) = answer {
                let pod = live.pods.iter().find(|pod| pod.key == wanted.key);
                let others = pod.map(|pod| resize::others(&message, pod, &wanted.fields)).unwrap_or_default();
                let reason = Reason::AdmissionRefused { message, others };
                return Err(CommandError {
                    kind: ErrorKind::Forbidden,
                    ..CommandError::reasons(&goal.workload, &[reason])
                });
            }
        }
        Ok(())
    }
}

pub(super) fn first_write(goal: &Goal, live: &Snapshot) -> Option<(StepName, ObjectWrite)> {
    let owner = goal.owner.as_ref()?;
    let view = OwnerView {
        object: Some(live.workload.object.clone()),
        owned: live.surroundings.owned.clone(),
        now: live.surroundings.server_now.clone(),
    };
    let pods = PodsState::default();
    let writer = (&*goal.clock, &*goal.field_manager);
    match durable::next(&Owner::new((&goal.lock, owner), goal.workload.kind, &view, &pods, writer)) {
        Decision { conflict: None, next: Next::Write(step, write) } => Some((step, write)),
        Decision { .. } => None,
    }
}

fn remaining_patches(goal: &Goal, live: &Snapshot, wanted: &PodGoal) -> Vec<PodPatch> {
    let Some(pod) = live.pods.iter().find(|pod| pod.key == wanted.key) else { return Vec::new() };
    let changed = wanted.containers.iter().filter(|(_, container)| container.from != container.to);
    let images = changed
        .filter_map(|(name, container)| Some(NewImage { container: name.clone(), to: container.to.clone()? }))
        .collect();
    patches(pod, images, &wanted.fields, goal.id(), &goal.field_manager).unwrap_or_default()
}
