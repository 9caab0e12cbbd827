//! What a rollout changes in the owner's template, small enough to be kept in an annotation, and in both directions.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::engine::metadata::{MetadataChange, MetadataMap, ValueChange};
use crate::engine::names::ContainerName;
use crate::engine::pod::ContainerList;
use crate::engine::template::{self, TemplateDiff};

/// Whether a rollout brings in what was wanted, or takes it back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Direction {
    /// To what was wanted.
    Forward,
    /// To what was there before.
    Back,
}

/// One container's image in the template, before and after.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TemplateImage {
    /// Where the container stands.
    #[serde(default, skip_serializing_if = "is_plain")]
    pub list: ContainerList,
    /// Before.
    pub from: String,
    /// After.
    pub to: String,
}

fn is_plain(list: &ContainerList) -> bool {
    *list == ContainerList::Containers
}

/// The images, labels and annotations of a template that a rollout changes.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TemplateChange {
    /// By container.
    pub images: BTreeMap<ContainerName, TemplateImage>,
    /// Labels and annotations.
    #[serde(skip_serializing_if = "MetadataChange::is_empty")]
    pub metadata: MetadataChange,
}

impl TemplateChange {
    /// Takes from a difference of templates what can be rolled out in place.
    pub fn of(diff: &TemplateDiff) -> Self {
        let images = diff.images.iter().map(|(name, image)| {
            (name.clone(), TemplateImage { list: image.list, from: image.from.clone(), to: image.to.clone() })
        });
        Self { images: images.collect(), metadata: diff.metadata.clone() }
    }

    /// Returns whether nothing changes.
    pub fn is_empty(&self) -> bool {
        self.images.is_empty() && self.metadata.is_empty()
    }

    /// Returns the same change the other way round.
    #[must_use]
    pub fn reversed(&self) -> Self {
        let images = self.images.iter().map(|(name, image)| {
            (name.clone(), TemplateImage { list: image.list, from: image.to.clone(), to: image.from.clone() })
        });
        let reversed = |map: MetadataMap| {
            let values = self.metadata.of(map).iter();
            values
                .map(|(key, change)| (key.clone(), ValueChange { from: change.to.clone(), to: change.from.clone() }))
                .collect()
        };
        let metadata =
            MetadataChange { labels: reversed(MetadataMap::Labels), annotations: reversed(MetadataMap::Annotations) };
        Self { images: images.collect(), metadata }
    }

    /// Returns the template with every changed value as it is after the change; `None` where a container is missing.
    pub fn apply(&self, template: &Value) -> Option<Value> {
        let mut template = template.clone();
        for (name, image) in &self.images {
            let containers = template.pointer_mut(&format!("/spec/{}", image.list.spec_field()))?.as_array_mut()?;
            let is_it = |container: &&mut Value| container.get("name").and_then(Value::as_str) == Some(name.as_str());
            *containers.iter_mut().find(is_it)?.get_mut("image")? = Value::from(image.to.as_str());
        }
        for map in MetadataMap::ALL {
            for (key, change) in self.metadata.of(map) {
                set(&mut template, map, key, change.to.as_deref())?;
            }
        }
        Some(template)
    }

    /// Returns the two templates that this change leads between, worked out from either of them; `None` when the
    /// template is on neither side.
    pub fn sides(&self, template: &Value) -> Option<(Value, Value)> {
        let (before, after) = (self.reversed().apply(template)?, self.apply(template)?);
        (same(template, &before) || same(template, &after)).then_some((before, after))
    }
}

fn set(template: &mut Value, map: MetadataMap, key: &str, to: Option<&str>) -> Option<()> {
    let metadata = template.as_object_mut()?.entry("metadata").or_insert_with(|| Value::Object(Default::default()));
    let metadata = metadata.as_object_mut()?;
    match to {
        Some(to) => {
            let values = metadata.entry(map.field()).or_insert_with(|| Value::Object(Default::default()));
            values.as_object_mut()?.insert(key.to_owned(), Value::from(to));
        }
        None => {
            if let Some(values) = metadata.get_mut(map.field()).and_then(Value::as_object_mut) {
                values.remove(key);
                if values.is_empty() {
                    metadata.remove(map.field());
                }
            }
        }
    }
    Some(())
}

/// Returns whether two templates say the same; an order of containers alone is none.
pub fn same(a: &Value, b: &Value) -> bool {
    template::diff(a, b).is_empty()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn change() -> TemplateChange {
        let after = json!({"metadata": {"labels": {"app": "web", "tier": "b"}, "annotations": {"new": "1"}},
            "spec": {"containers": [{"name": "app", "image": "app:1"}, {"name": "side", "image": "side:2"}],
                     "initContainers": [{"name": "init", "image": "init:2"}]}});
        TemplateChange::of(&template::diff(&before(), &after))
    }

    fn before() -> Value {
        json!({"metadata": {"labels": {"app": "web", "tier": "a"}},
            "spec": {"containers": [{"name": "app", "image": "app:1"}, {"name": "side", "image": "side:1"}],
                     "initContainers": [{"name": "init", "image": "init:1"}]}})
    }

    #[test]
    fn a_change_leads_there_and_back() {
        let after = change().apply(&before()).unwrap();
        assert_eq!(after["spec"]["containers"][1]["image"], "side:2");
        assert_eq!(after["spec"]["initContainers"][0]["image"], "init:2");
        assert_eq!(after["metadata"]["labels"]["tier"], "b");
        assert_eq!(change().reversed().apply(&after).unwrap(), before());
        assert_eq!(change().sides(&after), Some((before(), after.clone())));
        assert_eq!(change().sides(&before()), Some((before(), after)));
    }

    #[test]
    fn a_template_of_somebody_else_is_on_no_side() {
        let mut other = before();
        other["spec"]["containers"][1]["image"] = json!("side:3");
        assert_eq!(change().sides(&other), None);
        other["spec"]["containers"] = json!([]);
        assert_eq!(change().sides(&other), None);
    }

    #[test]
    fn it_survives_the_annotation() {
        let text = serde_json::to_string(&change()).unwrap();
        assert_eq!(serde_json::from_str::<TemplateChange>(&text).unwrap(), change());
    }
}
