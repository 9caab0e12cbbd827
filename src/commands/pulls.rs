//! Which nodes have to pull what, before anything is touched, and whether the server takes the pods for it.

use std::collections::BTreeSet;
use std::sync::Arc;

use futures::stream::{self, StreamExt};

use super::targets;
use crate::cluster::Cluster;
use crate::cluster::error::ClusterError;
use engine::plan::Snapshot;
use engine::rollout::patch::NewImage;
use engine::rollout::pre_pull::{Lacking, NodeImages, PrePull, Pull, PullAnswer, PullAsks, lacking};
use engine::rollout::{Goal, PodGoal, create_pull_pod};

pub(super) async fn find(pods: &[Arc<PodGoal>], live: &Snapshot, mode: PrePull, cluster: &Cluster) -> Lacking {
    if mode == PrePull::Never {
        return Lacking::default();
    }
    let wanted: Vec<Pull> = pods.iter().filter_map(|goal| of_pod(goal, live)).collect();
    let names: BTreeSet<String> = wanted.iter().map(|pull| pull.node.clone()).collect();
    if names.is_empty() {
        return Lacking::default();
    }
    // A node that may not be read counts as lacking everything: pulling a present image costs nothing.
    let nodes: Vec<NodeImages> = cluster
        .nodes(names.into_iter().collect())
        .await
        .map(|nodes| nodes.iter().map(NodeImages::of).collect())
        .unwrap_or_default();
    lacking(&nodes, &wanted, mode)
}

/// Asks the server by a dry run of the very pods that would be created, one of those that differ in nothing but their node.
/// Where it refuses the little that they ask for, they ask for nothing, and LimitRanges may fill that in; else for more.
pub(super) async fn ask(goal: &Goal, pulls: Vec<Pull>, cluster: &Cluster) -> Vec<(Vec<Pull>, PullAnswer)> {
    let ask = |pulls: Vec<Pull>| async move {
        let answer = dry_run(goal, &pulls, cluster).await;
        if matches!(answer, PullAnswer::Refused { .. }) {
            for asks in [PullAsks::Nothing, PullAsks::Enough] {
                let pulls: Vec<Pull> = pulls.iter().map(|pull| Pull { asks, ..pull.clone() }).collect();
                if dry_run(goal, &pulls, cluster).await == PullAnswer::Taken {
                    return (pulls, PullAnswer::Taken);
                }
            }
        }
        (pulls, answer)
    };
    stream::iter(Pull::alike(pulls)).map(ask).buffered(targets::AT_ONCE).collect().await
}

async fn dry_run(goal: &Goal, alike: &[Pull], cluster: &Cluster) -> PullAnswer {
    let Some(pull) = alike.first() else { return PullAnswer::Taken };
    match cluster.dry_write(&create_pull_pod(goal, pull), &goal.field_manager).await {
        // A run that was killed has left it.
        Ok(()) | Err(ClusterError::AlreadyExists { .. }) => PullAnswer::Taken,
        Err(error) if error.may_pass() && !error.lacks_webhook() || error.is_no_dry_run() => {
            PullAnswer::NotKnown { why: error.to_string() }
        }
        Err(error) => PullAnswer::Refused { message: error.to_string() },
    }
}

fn of_pod(goal: &PodGoal, live: &Snapshot) -> Option<Pull> {
    let pod = live.pods.iter().find(|pod| pod.key == goal.key)?;
    let images: Vec<NewImage> = goal
        .containers
        .iter()
        .filter_map(|(name, wanted)| {
            let to = wanted.to.clone()?;
            let container = pod.spec_of(name)?;
            (wanted.restarts && container.image != to).then(|| NewImage { container: name.clone(), to })
        })
        .collect();
    let pull = Pull::of(pod, &images);
    (!pull.images.is_empty() && !pull.node.is_empty()).then_some(pull)
}
