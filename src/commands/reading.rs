//! What a plan is made from: each live workload, and what is wanted of it.
#![expect(clippy::disallowed_methods, reason = "a controller that is behind is given a moment")]

use std::time::Duration;

use futures::stream::{self, StreamExt, TryStreamExt};

use super::targets;
use crate::cluster::error::ClusterError;
use crate::cluster::{Cluster, Nodes, drops_template, merged_here};
use crate::error::{CommandError, Result};
use engine::k8s::workload::Workload;
use engine::plan::{self, Intent, IntentError, Manifest, Snapshot};
use engine::value::hint::{Hint, inplace};

/// How often a workload is read again whose controller is behind, and how long that is waited for each time.
const READS_AGAIN: u32 = 20;
const READ_AGAIN_AFTER: Duration = Duration::from_millis(100);

/// Reads what is wanted and the live objects of every workload: side by side, in their order.
///
/// A controller takes a moment to observe what a manifest or another run has just written: it gets one.
pub(super) async fn all(
    found: Vec<(Workload, Intent)>,
    cluster: &Cluster,
    field_manager: &str,
    nodes: Nodes,
) -> Result<Vec<(Intent, Snapshot)>> {
    let reads = found.into_iter().map(|(mut workload, given)| async move {
        let reference = workload.reference.clone();
        for _ in 0..READS_AGAIN {
            let (intent, live) = one(workload, &given, cluster, field_manager, nodes).await?;
            if !plan::is_behind(&live) {
                return Ok((intent, live));
            }
            tokio::time::sleep(READ_AGAIN_AFTER).await;
            workload = cluster.workload(&reference).await?;
        }
        one(workload, &given, cluster, field_manager, nodes).await
    });
    stream::iter(reads).buffered(targets::AT_ONCE).try_collect().await
}

async fn one(
    workload: Workload,
    given: &Intent,
    cluster: &Cluster,
    field_manager: &str,
    nodes: Nodes,
) -> Result<(Intent, Snapshot)> {
    let mut not_asked = None;
    let intent = async {
        let Intent::Manifest(Manifest::Given { object, validation }) = given else { return Ok(given.clone()) };
        if drops_template(&workload, object) {
            return Err(CommandError::usage(format!(
                "{}: spec.template is required and not set: the manifest was applied with one, and kubectl apply of this would remove it",
                workload.reference
            )));
        }
        let manifest = match cluster.desired(&workload, object, (field_manager, *validation)).await {
            Err(error @ ClusterError::Forbidden { .. }) => {
                not_asked = Some(format!(
                    "the server could not be asked what the manifest would store ({error}), so it was merged here: what admission would change is not known"
                ));
                merged_here(&workload, object)?
            }
            answer => answer?,
        };
        Ok(Intent::Manifest(manifest))
    };
    let live = async { Ok(cluster.live(workload.clone(), nodes).await?) };
    let (intent, mut live) = futures::try_join!(intent, live)?;
    live.not_read.extend(not_asked);
    Ok((intent, live))
}

/// Why what is wanted is not known, and what the user can do.
pub(super) fn intent_error(live: &Snapshot, error: &IntentError) -> CommandError {
    let workload = &live.workload.reference;
    let error_of = CommandError::usage(format!("{workload}: {error}"));
    let error_of = if let IntentError::NameOne { .. } = error {
        return error_of.hint("name the containers to restart: -c CONTAINER");
    } else if let IntentError::InitContainer { .. } = error {
        return error_of;
    } else if let IntentError::ChangedSince { id, .. } = error {
        let undo = inplace("undo").of(workload).and("--to").of(id).in_namespace(&workload.namespace);
        error_of.hint(Hint::from("go back from that update all the same: ").command(undo))
    } else if let IntentError::EndNotRecorded { .. } = error {
        let set = inplace("apply").of(workload).in_namespace(&workload.namespace).and("CONTAINER=IMAGE");
        error_of.hint(Hint::from("set the images yourself: ").command(set))
    } else {
        error_of
    };
    let history = inplace("history").of(workload).in_namespace(&workload.namespace);
    error_of.hint(Hint::from("see what was done in place: ").command(history))
}
