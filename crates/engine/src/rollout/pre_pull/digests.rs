//! Whether a tag means the same image on every node, and still the same as before.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::value::image::{ImageReference, repo_digest};

/// One image as a node has pulled it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PulledImage {
    /// The node.
    pub node: String,
    /// The image as it was requested.
    pub image: String,
    /// The `imageID` that the pull pod's status reported.
    pub image_id: String,
}

/// A tag that is another image on another node: it has moved, and a node has the old one or pulled between two pushes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MovingTag {
    /// The image as it was requested.
    pub image: String,
    /// The nodes, by digest.
    pub nodes: BTreeMap<String, Vec<String>>,
}

/// Returns the images for which the nodes report different digests, by name.
///
/// An image for which a runtime reports no registry digest is left out. A runtime that reports the digest of the
/// platform's own manifest instead of the index would make nodes of two architectures look like a moving tag: so this
/// is a warning, never a refusal.
pub fn moving_tags(pulled: &[PulledImage]) -> Vec<MovingTag> {
    let mut found: BTreeMap<&str, BTreeMap<String, Vec<String>>> = BTreeMap::new();
    for one in pulled {
        let Some(digest) = repo_digest(&one.image_id) else { continue };
        let nodes = found.entry(&one.image).or_default().entry(digest.to_owned()).or_default();
        if !nodes.contains(&one.node) {
            nodes.push(one.node.clone());
        }
    }
    let moving = found.into_iter().filter(|(_, nodes)| nodes.len() > 1);
    moving.map(|(image, nodes)| MovingTag { image: image.to_owned(), nodes }).collect()
}

/// Whether an image's text still means what was recorded under it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Meaning {
    /// The recorded digest.
    Same,
    /// The tag has moved: to restore the recorded image, this reference is needed.
    TagMoved {
        /// The recorded text with the recorded digest.
        pinned: String,
    },
    /// Unknown: no digest was recorded, or none is known now.
    Unknown,
}

/// Says whether a recorded image still means the recorded `imageID`, given the `imageID` that a pull of it has reported
/// now.
///
/// A reference with a digest always means that digest, without any pull.
pub fn meaning(image: &str, recorded_id: &str, pulled_id: Option<&str>) -> Meaning {
    let Ok(reference) = ImageReference::parse(image) else { return Meaning::Unknown };
    if reference.digest().is_some() {
        return Meaning::Same;
    }
    let (Some(recorded), Some(now)) = (repo_digest(recorded_id), pulled_id.and_then(repo_digest)) else {
        return Meaning::Unknown;
    };
    match reference.with_digest(recorded) {
        _ if recorded == now => Meaning::Same,
        Ok(pinned) => Meaning::TagMoved { pinned: pinned.as_written().to_owned() },
        Err(_) => Meaning::Unknown,
    }
}
