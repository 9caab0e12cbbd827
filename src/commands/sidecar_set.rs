//! A SidecarSet: its controller updates the pods. What is left is the write of its images, and what leads on.

use super::Shell;
use super::next::Invocation;
use crate::cluster::Cluster;
use crate::cluster::error::ClusterError;
use crate::error::{CommandError, ErrorKind, Result};
use crate::render::NextSteps;
use engine::k8s::workload::Workload;
use engine::kinds::{WorkloadKind, lifts_hold};
use engine::plan::{Intent, Options, Plan, Snapshot, sidecar_set};
use engine::rollout::Goal;
use engine::value::hint::{Hint, inplace, kubectl};

/// Refuses a SidecarSet where a command does what its controller does.
pub(super) fn refuse(kinds: impl IntoIterator<Item = WorkloadKind>) -> Result<()> {
    if !kinds.into_iter().any(WorkloadKind::is_sidecar_set) {
        return Ok(());
    }
    Err(CommandError::usage("a SidecarSet's own controller updates its pods: plan, apply, follow, and status take one")
        .hint(Hint::from("for other images: ").command(inplace("apply sidecarset/NAME CONTAINER=IMAGE"))))
}

/// Refuses to plan a SidecarSet together with others, and the flags that its controller knows nothing of.
pub(super) fn refuse_flags(found: &[(Workload, Intent)], options: &Options, shell: &Shell) -> Result<()> {
    let Options { min_ready_seconds, timeout, total_timeout, shows_kubelets, .. } = *options;
    let taken = Options { min_ready_seconds, timeout, total_timeout, shows_kubelets, ..Options::default() };
    let others = ["on_failure", "deferred", "reason", "keep_field_ownership", "out"];
    let has_others = *options != taken || shell.typed.iter().any(|typed| others.contains(&typed.id.as_str()));
    let why = if !found.iter().any(|(workload, _)| workload.reference.kind.is_sidecar_set()) {
        return Ok(());
    } else if found.len() > 1 {
        "a SidecarSet is planned by itself: its controller updates pods of other workloads"
    } else if has_others {
        "a SidecarSet's own controller updates its pods: of the flags for the rollout only --min-ready-seconds, --timeout, and --total-timeout apply"
    } else {
        return Ok(());
    };
    Err(CommandError::usage(why).hint("its spec.updateStrategy says how fast, and which pods"))
}

/// Sets the images of a SidecarSet, whose controller begins then.
pub(super) async fn write((plan, lives): (&Plan, &[Snapshot]), cluster: &Cluster, field_manager: &str) -> Result<()> {
    let writes = plan.workloads.iter().zip(lives).filter(|(plan, _)| plan.workload.kind.is_sidecar_set());
    for write in writes.filter_map(|(plan, live)| sidecar_set::write(plan, live)) {
        let Err(error) = cluster.write(&write, field_manager).await else { continue };
        let is_changed =
            matches!(error, ClusterError::Invalid { is_bare_test_failure: true, .. } | ClusterError::Conflict { .. });
        let error = CommandError::from(error);
        return Err(if is_changed { CommandError { kind: ErrorKind::Held, ..error } } else { error });
    }
    Ok(())
}

/// Returns the next steps where the controller of a SidecarSet updates the pods: the way back is another `apply`, and what keeps
/// pods is lifted by kubectl.
pub(super) fn next(
    next: NextSteps,
    (goal, live): (&Goal, &Snapshot),
    invocation: &Invocation,
    shell: &Shell,
) -> NextSteps {
    if !goal.is_in_turns() {
        return next;
    }
    let back = sidecar_set::words_back(goal, live);
    let lift = kubectl("patch").of(&goal.workload).and("--type=merge -p").of(lifts_hold("partition"));
    NextSteps {
        take_back: (!back.is_empty()).then(|| invocation.with_images(&goal.workload, &back)),
        // Only a partition makes a pause.
        go_on: goal.policy().canary.map(|_| shell.with_flags(&Hint::default().command(lift))),
        ..next
    }
}
