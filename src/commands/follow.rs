//! `follow`: watches an update to its end, and changes nothing.

use super::planning::follow_options;
use super::recording::RecordTo;
use super::targets::{self, Wish};
use super::witness::Witness;
use super::{Shell, next as commands};
use crate::cli::{FollowArgs, GlobalArgs};
use crate::cluster::{Cluster, Nodes};
use crate::drive;
use crate::engine::names::ContainerName;
use crate::engine::outcome::EndResult;
use crate::engine::pod::{ContainerList, Pod};
use crate::engine::reason::Reason;
use crate::engine::target::Images;
use crate::engine::{plan, suggest};
use crate::error::{CommandError, ErrorKind};
use crate::render::{Listener, NextSteps};

pub(super) async fn run(args: &FollowArgs, global: &GlobalArgs, shell: &mut Shell) -> Result<EndResult, CommandError> {
    let options = follow_options(&args.policy)?;
    let asked = targets::read(&args.targets, false, shell)?;
    let cluster = shell.connect(global).await?;
    let id = shell.rollout_id();
    let record_to = RecordTo::new(args.record.as_deref());
    let mut result = EndResult::NothingToDo;
    for (workload, wish) in targets::find(asked, &args.targets, global, &cluster).await? {
        let images = match wish {
            Wish::Images(images) => Some(images).filter(|images| !images.is_empty()),
            Wish::Manifest(_) | Wish::Undo { .. } | Wish::Restart { .. } => None,
        };
        let live = cluster.live(workload, Nodes::WhereDecisive).await?;
        if let Some(denied) = live.surroundings.denied.first() {
            let message = format!("from server (Forbidden): {}", denied.message);
            let namespace = &live.workload.reference.namespace;
            let hint = format!("check it with: kubectl auth can-i {} {} -n {namespace}", denied.verb, denied.resource);
            return Err(CommandError::new(ErrorKind::Cluster, message).hint(hint));
        }
        if let Some(images) = &images {
            let unknown = unknown_containers(&live.pods, images);
            if !unknown.is_empty() {
                return Err(CommandError::reasons(&live.workload.reference, &unknown));
            }
        }
        let goal = plan::follow(&live, images.as_ref(), &options, &id);
        if goal.pods.is_empty() {
            let message = format!("{} has no pod to follow", goal.workload);
            return Err(CommandError::new(ErrorKind::Cluster, message).hint("see its pods with: kubectl get pods"));
        }
        cluster.check_watch(&goal.workload.namespace).await?;
        let next =
            NextSteps { follow: Some(commands::follow(&goal.workload, global, &cluster)), ..NextSteps::default() };
        let mut recording = record_to.open(shell)?;
        let mut witness = Witness::new(shell.listener(args.output, false));
        witness.start(&goal, &next)?;
        let scope = Cluster::scope(&live.workload);
        let mut outcome = drive::drive(&cluster, &goal, &scope, &mut witness, &mut recording.recorder).await?;
        witness.end(&cluster, &mut outcome).await?;
        shell.tell_notices();
        recording.tell_trouble(shell);
        result = outcome.result;
        if result != EndResult::Complete {
            break;
        }
    }
    Ok(result)
}

/// Returns a reason for each name that no pod has a container of: waiting for it would end well or never.
fn unknown_containers(pods: &[Pod], images: &Images) -> Vec<Reason> {
    let lists = [ContainerList::Containers, ContainerList::InitContainers];
    let containers = pods.iter().flat_map(|pod| lists.into_iter().flat_map(|list| pod.containers(list)));
    let mut known: Vec<ContainerName> = Vec::new();
    for container in containers {
        if !known.contains(&container.name) {
            known.push(container.name.clone());
        }
    }
    if known.is_empty() {
        return Vec::new();
    }
    let unknown = images.by_container.keys().filter(|name| !known.contains(name));
    let reasons = unknown.map(|container| Reason::ContainerNotFound {
        container: container.clone(),
        suggestion: suggest::closest(container.as_str(), known.iter().map(ContainerName::as_str)).map(str::to_owned),
        known: known.clone(),
    });
    reasons.collect()
}
