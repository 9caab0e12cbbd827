//! The plan of a command: what `plan` shows and `apply` does.

use std::collections::BTreeSet;

use futures::stream::{self, StreamExt};

use super::Shell;
use super::targets::{self, Wish};
use crate::cli::{FollowPolicyArgs, GlobalArgs, PolicyArgs, TargetArgs};
use crate::cluster::Cluster;
use crate::cluster::error::ClusterError;
use crate::engine::duration;
use crate::engine::int_or_percent::IntOrPercent;
use crate::engine::names::{PodKey, RolloutId};
use crate::engine::patch::{NewImage, PodPatch, pod_patch};
use crate::engine::plan::{self, Desired, LiveWorkload, Options, Plan, PodVerdict, Verdict, WorkloadPlan};
use crate::engine::reason::{Reason, Warning};
use crate::error::CommandError;

/// Patches that the server is asked about, at most: more pods of one workload have the same spec anyway.
const ASKED_AT_MOST: usize = 50;

/// Questions at once.
const AT_ONCE: usize = 10;

/// A plan, and what it was made from.
pub(super) struct Planned {
    pub(super) plan: Plan,
    pub(super) lives: Vec<LiveWorkload>,
    pub(super) cluster: Cluster,
    /// The id that stands in the patches of the dry run, and in those that are sent.
    pub(super) id: RolloutId,
}

/// Reads, compares, and asks the server whether it would take the very patches.
pub(super) async fn make(
    args: &TargetArgs,
    policy: &PolicyArgs,
    global: &GlobalArgs,
    field_manager: &str,
    ask_server: bool,
    shell: &mut Shell,
) -> Result<Planned, CommandError> {
    let options = options(policy)?;
    let asked = targets::read(args, true, shell)?;
    let cluster = shell.connect(global).await?;
    let id = shell.rollout_id();
    let mut workloads = Vec::new();
    let mut lives = Vec::new();
    for (workload, wish) in targets::find(asked, args, global, &cluster).await? {
        let desired = match wish {
            Wish::Images(images) => Desired::Images(images),
            Wish::Manifest(manifest) => cluster.desired(&workload, &manifest, field_manager).await?,
        };
        let live = cluster.live(workload).await?;
        let mut plan = plan::build(&desired, &live, &options);
        if ask_server {
            check(&mut plan, &live, &cluster, &id, field_manager).await?;
        }
        workloads.push(plan);
        lives.push(live);
    }
    let told: BTreeSet<String> = cluster.warnings().into_iter().collect();
    if let Some(first) = workloads.first_mut() {
        first.warnings.extend(told.into_iter().map(|message| Warning::ServerWarning { message }));
    }
    Ok(Planned { plan: Plan { workloads }, lives, cluster, id })
}

fn seconds(flag: &str, given: Option<&String>) -> Result<Option<u64>, CommandError> {
    let Some(given) = given else { return Ok(None) };
    let duration = duration::parse(given).map_err(|error| CommandError::usage(format!("{flag}: {error}")))?;
    if duration.is_zero() {
        return Err(CommandError::usage(format!("{flag} must be longer than nothing")));
    }
    Ok(Some(duration.as_secs().max(1)))
}

/// Turns the flags into the engine's options.
pub(super) fn options(policy: &PolicyArgs) -> Result<Options, CommandError> {
    let max_unavailable = policy.max_unavailable.as_deref().map(str::parse::<IntOrPercent>).transpose();
    let max_unavailable =
        max_unavailable.map_err(|error| CommandError::usage(format!("--max-unavailable: {error}")))?;
    if max_unavailable == Some(IntOrPercent::Int(0)) || max_unavailable == Some(IntOrPercent::Percent(0)) {
        return Err(CommandError::usage("--max-unavailable must be at least 1: a restart in place takes a pod down"));
    }
    Ok(Options {
        max_unavailable,
        min_ready_seconds: policy.min_ready_seconds,
        timeout: seconds("--timeout", policy.timeout.as_ref())?,
        total_timeout: seconds("--total-timeout", policy.total_timeout.as_ref())?,
    })
}

/// Turns the flags of `follow` into the engine's options.
pub(super) fn follow_options(policy: &FollowPolicyArgs) -> Result<Options, CommandError> {
    Ok(Options {
        max_unavailable: None,
        min_ready_seconds: policy.min_ready_seconds,
        timeout: seconds("--timeout", policy.timeout.as_ref())?,
        total_timeout: seconds("--total-timeout", policy.total_timeout.as_ref())?,
    })
}

/// Asks the server by a dry run of the very patches; what it refuses becomes a reason of that pod.
async fn check(
    plan: &mut WorkloadPlan,
    live: &LiveWorkload,
    cluster: &Cluster,
    id: &RolloutId,
    field_manager: &str,
) -> Result<(), CommandError> {
    if plan.verdict != Verdict::InPlace {
        return Ok(());
    }
    let patches: Vec<PodPatch> = plan
        .pods
        .iter()
        .filter(|pod| pod.verdict == PodVerdict::Update)
        .take(ASKED_AT_MOST)
        .filter_map(|pod| {
            let images: Vec<NewImage> = pod
                .changes
                .iter()
                .map(|(container, change)| NewImage { container: container.clone(), to: change.to.clone() })
                .collect();
            let live = live.pods.iter().find(|live| live.key == pod.pod)?;
            pod_patch(live, &images, id, field_manager).ok()
        })
        .collect();
    let answers: Vec<(PodKey, Result<_, ClusterError>)> = stream::iter(patches)
        .map(|patch| async move { (patch.key.clone(), cluster.send(&patch, true).await) })
        .buffered(AT_ONCE)
        .collect()
        .await;
    for (key, answer) in answers {
        let Err(error) = answer else { continue };
        let reason = match &error {
            ClusterError::Forbidden { message, .. } => {
                Reason::PermissionMissing { verb: "patch".into(), resource: "pods".into(), message: message.clone() }
            }
            ClusterError::AdmissionDenied { message } => Reason::AdmissionRefused { message: message.clone() },
            ClusterError::Invalid { message, is_bare_test_failure: false, .. } => {
                Reason::AdmissionRefused { message: message.clone() }
            }
            ClusterError::Rejected { message, .. } => Reason::AdmissionRefused { message: message.clone() },
            // The pod moved since it was listed: the rollout looks at it afresh before it sends anything.
            ClusterError::Invalid { is_bare_test_failure: true, .. }
            | ClusterError::Conflict { .. }
            | ClusterError::NotFound { .. } => {
                plan.warnings.push(Warning::NotRead {
                    what: format!("{key} changed while the plan was made; plan again to be sure"),
                });
                continue;
            }
            _ => return Err(error.into()),
        };
        if let Some(pod) = plan.pods.iter_mut().find(|pod| pod.pod == key) {
            pod.verdict = PodVerdict::Blocked;
            pod.reasons.push(reason);
        }
        plan.verdict = Verdict::NotEligible;
    }
    // Whoever may list and patch but not watch would change a pod and never see what came of it.
    if let Err(ClusterError::Forbidden { message, .. }) = cluster.check_watch(&plan.workload.namespace).await {
        let (verb, resource) = ("watch".into(), "pods".into());
        plan.reasons.push(Reason::PermissionMissing { verb, resource, message });
        plan.verdict = Verdict::NotEligible;
    }
    plan.checked_by_server = true;
    Ok(())
}
