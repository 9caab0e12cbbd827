//! cpu and memory on the command line, in the grammar of `kubectl set resources`: `cpu=200m,memory=256Mi`.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::change::ResourceField;
use crate::change::reason::Reason;
use crate::k8s::names::ContainerName;
use crate::k8s::pod::ContainerList;
use crate::value::quantity::Quantity;
use crate::value::suggest;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AskedResources {
    /// The containers; the only one, or all where that was said, if none is named.
    pub containers: BTreeSet<ContainerName>,
    /// Every container of `spec.containers`.
    pub all: bool,
    /// As the API writes quantities.
    pub values: BTreeMap<ResourceField, String>,
}

/// What is wrong with a list of resources, in one sentence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{flag}: {problem}")]
pub struct AskedResourcesError {
    flag: &'static str,
    problem: String,
}

impl AskedResources {
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Reads one of the two lists; `map` is `requests` or `limits`.
    pub fn add(&mut self, map: &'static str, list: &str) -> Result<(), AskedResourcesError> {
        let flag = if map == "requests" { "--requests" } else { "--limits" };
        let error = |problem: String| AskedResourcesError { flag, problem };
        for word in list.split(',').filter(|word| !word.is_empty()) {
            let malformed = || error(format!("{word:?} is not of the form RESOURCE=QUANTITY"));
            let (resource, quantity) = word.split_once('=').ok_or_else(malformed)?;
            let field = ResourceField::ALL.into_iter().find(|field| field.parts() == (map, resource));
            let field = field.ok_or_else(|| error(unknown(resource)))?;
            let example = if resource == "cpu" { "200m" } else { "256Mi" };
            let no_quantity = || error(format!("{quantity:?} is not a quantity of {resource}, such as {example}"));
            let read: Quantity = quantity.parse().map_err(|_| no_quantity())?;
            if read.is_negative() {
                return Err(no_quantity());
            }
            if self.values.insert(field, read.rounded_up_to_thousandths().to_string()).is_some() {
                return Err(error(format!("{resource} is named twice")));
            }
        }
        Ok(())
    }

    /// Sets what is wanted in a pod spec, raw as the API has it, and leaves everything else unchanged.
    /// Returns every name that no container has.
    pub fn put(&self, spec: &mut Value) -> Result<(), Vec<Reason>> {
        self.edit(spec, true)
    }

    /// Takes what is wanted out of a pod spec: between this and [`Self::put`] lies everything that a pod is to have.
    pub fn take_out(&self, spec: &mut Value) {
        // The other method reports a name that no container has.
        let _ = self.edit(spec, false);
    }

    fn edit(&self, spec: &mut Value, is_put: bool) -> Result<(), Vec<Reason>> {
        if self.is_empty() {
            return Ok(());
        }
        let known = each_container(spec, |list, name, container| {
            let is_meant = match self.containers.is_empty() {
                true => list == ContainerList::Containers,
                false => self.containers.contains(name),
            };
            for (field, value) in self.values.iter().filter(|_| is_meant) {
                // What is no container the server refuses.
                let _ = field.set(container, Some(value.as_str()).filter(|_| is_put));
            }
        });
        let reasons: Vec<Reason> = missing(self.containers.iter(), &known).collect();
        if reasons.is_empty() { Ok(()) } else { Err(reasons) }
    }

    /// Returns the containers among which the user has to choose, where none is named and there are several.
    pub fn ambiguous(&self, spec: &Value) -> Option<Vec<String>> {
        if self.is_empty() || self.all || !self.containers.is_empty() {
            return None;
        }
        let containers = spec.get("containers").and_then(Value::as_array)?;
        let name = |container: &Value| container.get("name").and_then(Value::as_str).map(str::to_owned);
        (containers.len() > 1).then(|| containers.iter().filter_map(name).collect())
    }
}

/// A word that is neither cpu nor memory; a gpu is no slip of the fingers.
fn unknown(resource: &str) -> String {
    let written = resource.to_lowercase();
    let near = suggest::closest(&written, ["cpu", "memory"].into_iter());
    let near = near.filter(|near| near.chars().next() == written.chars().next());
    let meant = near.map(|near| format!("; did you mean {near}?")).unwrap_or_default();
    format!("{resource:?} cannot be changed in a running pod, only cpu and memory can{meant}")
}

/// Shows every container of a pod spec, and returns their names.
pub(super) fn each_container(
    spec: &mut Value,
    mut show: impl FnMut(ContainerList, &ContainerName, &mut Value),
) -> Vec<ContainerName> {
    let mut known: Vec<ContainerName> = Vec::new();
    for list in ContainerList::ALL {
        let containers = spec.get_mut(list.spec_field()).and_then(Value::as_array_mut);
        for container in containers.into_iter().flatten() {
            let name = ContainerName::from(container.get("name").and_then(Value::as_str).unwrap_or_default());
            show(list, &name, container);
            known.push(name);
        }
    }
    known
}

pub(super) fn missing<'n>(
    names: impl Iterator<Item = &'n ContainerName>,
    known: &[ContainerName],
) -> impl Iterator<Item = Reason> {
    names.filter(|name| !known.contains(name)).map(|name| Reason::container_not_found(name, known))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_grammar_is_that_of_kubectl_set_resources() {
        let mut asked = AskedResources::default();
        asked.add("requests", "cpu=0.2,memory=256Mi").unwrap();
        asked.add("limits", "memory=0.5Gi").unwrap();
        let found: Vec<(ResourceField, &str)> =
            asked.values.iter().map(|(field, value)| (*field, value.as_str())).collect();
        let expected = [
            (ResourceField::RequestsCpu, "200m"),
            (ResourceField::RequestsMemory, "256Mi"),
            (ResourceField::LimitsMemory, "512Mi"),
        ];
        assert_eq!(found, expected);
        for (list, error) in [
            ("cpu", "--limits: \"cpu\" is not of the form RESOURCE=QUANTITY"),
            ("cpu=x", "--limits: \"x\" is not a quantity of cpu, such as 200m"),
            ("cpu=-1", "--limits: \"-1\" is not a quantity of cpu, such as 200m"),
            (
                "nvidia.com/gpu=1",
                "--limits: \"nvidia.com/gpu\" cannot be changed in a running pod, only cpu and memory can",
            ),
            ("gpu=1", "--limits: \"gpu\" cannot be changed in a running pod, only cpu and memory can"),
            (
                "memroy=1Gi",
                "--limits: \"memroy\" cannot be changed in a running pod, only cpu and memory can; did you mean memory?",
            ),
            (
                "CPU=1",
                "--limits: \"CPU\" cannot be changed in a running pod, only cpu and memory can; did you mean cpu?",
            ),
            ("cpu=1,cpu=2", "--limits: cpu is named twice"),
        ] {
            assert_eq!(AskedResources::default().add("limits", list).unwrap_err().to_string(), error);
        }
    }

    #[test]
    fn only_what_is_meant_is_set_and_a_choice_is_asked_for() {
        let spec = json!({"containers": [{"name": "app"}, {"name": "side", "resources": {"limits": {"cpu": "1"}}}],
            "initContainers": [{"name": "init"}]});
        let mut asked = AskedResources::default();
        asked.add("limits", "memory=1Gi").unwrap();
        assert_eq!(asked.ambiguous(&spec), Some(vec!["app".into(), "side".into()]));
        asked.containers = ["side".into()].into();
        assert_eq!(asked.ambiguous(&spec), None);
        let mut set = spec.clone();
        asked.put(&mut set).unwrap();
        assert_eq!(set["containers"][1]["resources"], json!({"limits": {"cpu": "1", "memory": "1Gi"}}));
        assert_eq!((&set["containers"][0], &set["initContainers"]), (&spec["containers"][0], &spec["initContainers"]));
        asked.containers = ["sied".into()].into();
        let mut spec = spec;
        let reasons = asked.put(&mut spec).unwrap_err();
        assert!(
            matches!(&reasons[0], Reason::ContainerNotFound { suggestion: Some(name), .. } if name.as_str() == "side")
        );
    }
}
