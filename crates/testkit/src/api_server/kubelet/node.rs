//! The node of a pod: what is on it, and what its kubelet reports there.

use serde_json::{Value, json};

use super::super::{State, cluster};
use super::image;

/// What the kubelet says in an event.
pub(super) struct Said {
    container: String,
    kind: &'static str,
    reason: &'static str,
    message: String,
}

impl Said {
    pub(super) fn normal(container: &str, reason: &'static str, message: String) -> Self {
        Self { container: container.to_owned(), kind: "Normal", reason, message }
    }

    pub(super) fn warning(container: &str, reason: &'static str, message: String) -> Self {
        Self { kind: "Warning", ..Self::normal(container, reason, message) }
    }
}

/// Records an event about a container, in a whole cluster.
pub(super) fn report(state: &mut State, pod: &Value, said: &Said) {
    let is_init =
        pod["spec"]["initContainers"].as_array().into_iter().flatten().any(|one| one["name"] == said.container);
    let list = if is_init { "initContainers" } else { "containers" };
    let field = format!("spec.{list}{{{}}}", said.container);
    cluster::event_of(state, (pod, &field), "kubelet", (said.kind, said.reason), &said.message);
}

/// What a step has to know of the pod's node.
pub(super) struct Node {
    pub(super) name: String,
    pub(super) address: String,
    /// The names of the images that are there.
    images: Vec<String>,
    /// Of a whole cluster.
    pub(super) is_whole: bool,
}

impl Node {
    pub(super) fn of(state: &State, pod: &Value) -> Self {
        let name = pod["spec"]["nodeName"].as_str().filter(|name| !name.is_empty());
        let name = name.map_or_else(|| first_node(state), str::to_owned);
        let node = state.find("nodes", &name).map(|(_, node)| node);
        let status = node.as_ref().map(|node| &node["status"]);
        let list = |field: &str| status.and_then(|status| status[field].as_array()).into_iter().flatten();
        let names = list("images").flat_map(|image| image["names"].as_array().into_iter().flatten());
        let images = names.filter_map(|name| name.as_str().map(str::to_owned)).collect();
        let address = list("addresses").find(|one| one["type"] == "InternalIP");
        let address = address.and_then(|one| one["address"].as_str()).unwrap_or_default().to_owned();
        Self { name, address, images, is_whole: state.whole }
    }

    pub(super) fn has(&self, image: &str) -> bool {
        self.images.contains(&image::normalised(image)) || self.images.contains(&image::image_id(image))
    }
}

/// The image is on the node now: the node's status lists it.
pub(super) fn note_image(state: &mut State, pod: &Value, image: &str) {
    let Some((key, node)) = state.find("nodes", pod["spec"]["nodeName"].as_str().unwrap_or_default()) else { return };
    let mut node = (*node).clone();
    let entry = crate::builders::listed_image(image);
    let listed = node["status"]["images"].as_array().is_some_and(|images| images.contains(&entry));
    if !listed {
        match node["status"]["images"].as_array_mut() {
            Some(images) => images.push(entry),
            None => node["status"]["images"] = json!([entry]),
        }
        state.commit(&key, node);
    }
}

fn first_node(state: &State) -> String {
    let nodes = state.all("nodes");
    let name = nodes.first().and_then(|node| node["metadata"]["name"].as_str());
    name.unwrap_or("node-a").to_owned()
}
