//! Which nodes have to pull what, before anything is touched.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::cluster::Cluster;
use crate::engine::plan::LiveWorkload;
use crate::engine::rollout::PodGoal;
use crate::engine::rollout::patch::NewImage;
use crate::engine::rollout::pre_pull::{Lacking, NodeImages, PrePull, Pull, lacking};

/// Asks the nodes of the pods that change.
pub(super) async fn find(pods: &[Arc<PodGoal>], live: &LiveWorkload, mode: PrePull, cluster: &Cluster) -> Lacking {
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

fn of_pod(goal: &PodGoal, live: &LiveWorkload) -> Option<Pull> {
    let pod = live.pods.iter().find(|pod| pod.key == goal.key)?;
    let images: Vec<NewImage> = goal
        .containers
        .iter()
        .filter_map(|(name, wanted)| {
            let to = wanted.to.clone()?;
            let (_, _, container) = pod.container(name)?;
            (wanted.restarts && container.image != to).then(|| NewImage { container: name.clone(), to })
        })
        .collect();
    let pull = Pull::of(pod, &images);
    (!pull.images.is_empty() && !pull.node.is_empty()).then_some(pull)
}
