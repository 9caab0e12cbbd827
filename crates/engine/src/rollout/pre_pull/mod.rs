//! Pre-pull: bad images are found before any container is killed. The kubelet kills first and pulls second; so a pod of
//! our own makes it pull first, on each node that lacks an image, with the pull secrets of the pods that change.
//!
//! This module says which node lacks what ([`lacking`]), what such a pod looks like ([`pull_pod`]) and what its status means
//! ([`judge()`]). Nothing of an image ever runs.
//!
//! Assumed: an image that a node lists is one that the pods may use. From 1.35 on a kubelet may ask the registry again for
//! pods whose credentials have not been used for it (`KubeletEnsureSecretPulledImages`); `--pre-pull=always` tries that too.

mod body;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::k8s::pod::Pod;
use crate::rollout::patch::NewImage;
use crate::value::image::{ImageReference, same_image};
use crate::value::json_path::{items, text};
use crate::value::{is_default, words};

pub use body::{
    NO_COMMAND, PROCESS_ANNOTATION, PULL_LABEL, PullState, is_left_behind, is_pull_pod, judge, process_of, pull_pod,
    pull_pod_name, pull_selector,
};
pub(super) use body::{managed_by, object_name};

words! {
    /// `--pre-pull`.
    #[derive(Default, Serialize, Deserialize)]
    #[serde(rename_all = "camelCase")]
    PrePull {
        /// Where the kubelet would pull: the node does not list the image, or the pull policy is `Always`.
        #[default]
        Auto = "auto",
        /// On every node of a pod that changes.
        Always = "always",
        Never = "never",
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeImages {
    pub name: String,
    /// The condition `Ready` is `True`: its kubelet is running.
    pub ready: bool,
    images: Vec<ImageReference>,
}

impl NodeImages {
    pub fn of(node: &Value) -> Self {
        let list = |pointer: &str| items(node, pointer);
        let is_ready = |condition: &Value| text(condition, "/type") == "Ready" && text(condition, "/status") == "True";
        let names = list("/status/images")
            .filter_map(|image| image.get("names")?.as_array())
            .flatten()
            .filter_map(|name| ImageReference::parse(name.as_str()?).ok());
        Self {
            name: text(node, "/metadata/name").to_owned(),
            ready: list("/status/conditions").any(is_ready),
            images: names.collect(),
        }
    }

    /// Returns whether the node lists the image under this name, or its digest under this repository.
    ///
    /// `false` does not mean that the image is not there: a node lists 50 images, the largest first, and five names of each
    /// (`pkg/kubelet/nodestatus/setters.go`, `Images`).
    pub fn lists(&self, image: &str) -> bool {
        ImageReference::parse(image).is_ok_and(|image| self.images.iter().any(|listed| same_image(listed, &image)))
    }
}

/// Images to be pulled on one node, with the credentials for the pull.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Pull {
    /// The node; empty for a pod that has none yet: the kubelet that gets it pulls before it starts anything.
    pub node: String,
    pub secrets: Vec<String>,
    /// The ServiceAccount: pull credentials may be its own. Its token is not mounted.
    pub service_account: String,
    pub images: Vec<ImagePull>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub asks: PullAsks,
}

/// What a pod that pulls asks for of cpu and memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum PullAsks {
    /// The least that starts a sandbox.
    #[default]
    Little,
    /// Nothing: it gets what the namespace's LimitRanges fill in.
    Nothing,
    /// What most minima of a LimitRange for whole pods, which fills in nothing, let pass.
    Enough,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ImagePull {
    pub image: String,
    /// `Always`, `IfNotPresent` or `Never`, as the container has it.
    pub policy: String,
}

impl Pull {
    /// Reads what the kubelet will have to pull when a pod gets new images.
    ///
    /// A plain init container does not restart, so its image is not pulled now; a sidecar's is.
    pub fn of(pod: &Pod, images: &[NewImage]) -> Self {
        let restarting = images.iter().filter_map(|image| {
            let (list, _, container) = pod.container(&image.container)?;
            container
                .is_long_lived(list)
                .then(|| ImagePull { image: image.to.clone(), policy: container.image_pull_policy.clone() })
        });
        Self {
            node: pod.spec.node_name.clone(),
            secrets: pod.spec.image_pull_secrets.iter().map(|secret| secret.name.clone()).collect(),
            service_account: pod.spec.service_account_name.clone(),
            images: restarting.collect(),
            asks: PullAsks::Little,
        }
    }

    /// Returns the pulls sorted into those that differ in nothing but the node: what the server says of one pod, it says of
    /// all of them.
    pub fn alike(pulls: Vec<Self>) -> Vec<Vec<Self>> {
        let mut alike: BTreeMap<Self, Vec<Self>> = BTreeMap::new();
        for pull in pulls {
            alike.entry(Self { node: String::new(), ..pull.clone() }).or_default().push(pull);
        }
        alike.into_values().collect()
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PullAnswer {
    Taken,
    Refused { message: String },
    NotKnown { why: String },
}

/// Returns the images of pulls, each once, in a list for a sentence.
pub fn images_of(pulls: &[Pull]) -> String {
    let images: BTreeSet<&str> = pulls.iter().flat_map(|pull| &pull.images).map(|image| image.image.as_str()).collect();
    images.into_iter().collect::<Vec<_>>().join(", ")
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Lacking {
    /// One pod for each, see [`pull_pod`]; in the order of the nodes' names.
    pub pulls: Vec<Pull>,
    /// Nodes that would have to pull and are not Ready: a pod there would stay Pending, and so would the restart.
    pub not_ready: Vec<String>,
}

/// Says which node lacks which image, given what the pods that change will need.
///
/// With [`PrePull::Auto`] a node is left out where it lists the image, unless the container's pull policy is `Always`: then the
/// kubelet asks the registry at every start, whatever is there, so that the registry has to answer and a tag may have
/// moved. A mutable tag under `IfNotPresent` that the node lists is not pulled, since the kubelet will not pull it either.
/// Under `Never` a node that does not list the image gets a pod as well: its kubelet reports that, and pulls nothing.
///
/// A node that could not be read (reading nodes needs a permission of its own) counts as lacking everything.
/// Pods of one node share a pull where they have the same secrets and ServiceAccount, which is nearly always.
pub fn lacking(nodes: &[NodeImages], wanted: &[Pull], mode: PrePull) -> Lacking {
    let known: BTreeMap<&str, &NodeImages> = nodes.iter().map(|node| (node.name.as_str(), node)).collect();
    let mut grouped: BTreeMap<(&str, &[String], &str), BTreeMap<&str, &str>> = BTreeMap::new();
    let mut not_ready = BTreeSet::new();
    for pull in wanted.iter().filter(|pull| !pull.node.is_empty()) {
        let node = known.get(pull.node.as_str());
        for ImagePull { image, policy } in pull.images.iter().filter(|image| needs(mode, image, node.copied())) {
            if node.is_some_and(|node| !node.ready) {
                not_ready.insert(pull.node.clone());
                continue;
            }
            let images = grouped.entry((&pull.node, &pull.secrets, &pull.service_account)).or_default();
            let kept = images.entry(image).or_insert(policy);
            // Of two policies for one image the one that asks the registry finds out more.
            if policy == "Always" {
                *kept = policy;
            }
        }
    }
    let pulls = grouped.into_iter().map(|((node, secrets, service_account), images)| Pull {
        node: node.to_owned(),
        secrets: secrets.to_vec(),
        service_account: service_account.to_owned(),
        images: images
            .into_iter()
            .map(|(image, policy)| ImagePull { image: image.to_owned(), policy: policy.to_owned() })
            .collect(),
        asks: PullAsks::Little,
    });
    Lacking { pulls: pulls.collect(), not_ready: not_ready.into_iter().collect() }
}

fn needs(mode: PrePull, image: &ImagePull, node: Option<&NodeImages>) -> bool {
    match mode {
        PrePull::Never => false,
        PrePull::Always => true,
        PrePull::Auto => image.policy == "Always" || !node.is_some_and(|node| node.lists(&image.image)),
    }
}
