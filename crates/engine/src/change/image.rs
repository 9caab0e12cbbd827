//! The image of a container: the one change whose container restarts, and proves that it did.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Claimed, container_in, container_mut, in_both, is_plain};
use crate::change::reason::Reason;
use crate::k8s::names::ContainerName;
use crate::k8s::pod::ContainerList;
use crate::value::image::{ImageError, ImageReference};
use crate::value::json_path::element;

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TemplateImage {
    #[serde(default, skip_serializing_if = "is_plain")]
    pub list: ContainerList,
    pub from: String,
    pub to: String,
    /// What pods get in place of the one before, where the server makes another one of it when it creates them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_in_pods: Option<String>,
    /// The same of the one after.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_in_pods: Option<String>,
}

impl TemplateImage {
    pub fn in_pods(&self) -> &str {
        self.to_in_pods.as_deref().unwrap_or(&self.to)
    }

    /// Returns whether pods had this image before: the template's, or what the server made of that.
    pub fn was_in_pods(&self, image: &str) -> bool {
        image == self.from || self.from_in_pods.as_deref() == Some(image)
    }

    pub(super) fn reversed(&self) -> Self {
        let Self { list, from, to, from_in_pods, to_in_pods } = self.clone();
        Self { list, from: to, to: from, from_in_pods: to_in_pods, to_in_pods: from_in_pods }
    }

    pub(super) fn apply(&self, name: &ContainerName, template: &mut Value) -> Option<()> {
        *container_mut(template, self.list, name)?.get_mut("image")? = Value::from(self.to.as_str());
        Some(())
    }

    pub(crate) fn refused(&self, container: &ContainerName) -> Option<Reason> {
        let (list, container, image) = (self.list, container.clone(), self.to.clone());
        match ImageReference::parse(&self.to) {
            Ok(_) => None,
            Err(ImageError::SurroundingWhitespace) => Some(Reason::ImageWhitespace { list, container, image }),
            Err(error) => Some(Reason::ImageMalformed { list, container, image, why: error.to_string() }),
        }
    }
}

pub(super) fn between(before: &Value, after: &Value, claimed: &mut Claimed) -> BTreeMap<ContainerName, TemplateImage> {
    let mut changes = BTreeMap::new();
    for (list, name, container, other) in in_both(before, after) {
        // What is no text is not what the API serves.
        let (Some(from), Some(to)) = (image(container), image(other)) else { continue };
        claimed.insert(format!("{}.image", element(&format!("spec.{}", list.spec_field()), &name)));
        if from != to {
            let (from, to) = (from.to_owned(), to.to_owned());
            changes.insert(
                ContainerName::from(name.as_str()),
                TemplateImage { list, from, to, ..TemplateImage::default() },
            );
        }
    }
    changes
}

pub(crate) fn list_in(template: &Value, name: &ContainerName) -> Option<ContainerList> {
    ContainerList::ALL.into_iter().find(|list| container_in(template, *list, name).is_some())
}

pub(crate) fn image_in<'t>(template: &'t Value, name: &ContainerName) -> Option<&'t str> {
    container_in(template, list_in(template, name)?, name)?.get("image")?.as_str()
}

fn image(container: &Value) -> Option<&str> {
    match container.get("image") {
        None | Some(Value::Null) => Some(""),
        Some(image) => image.as_str(),
    }
}
