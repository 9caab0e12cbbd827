//! Processes that size themselves when they start, as far as the spec itself shows it: by what it names, never by an
//! image.

use std::collections::BTreeSet;

use serde_json::Value;

use super::Resized;
use crate::change::ResourceField;
use crate::change::reason::Warning;
use crate::k8s::pod::ContainerList;

/// Words of a command line, or of a variable that holds one, by how they begin.
const FLAGS: [(&str, ResourceField); 10] = [
    ("-Xmx", ResourceField::LimitsMemory),
    ("-XX:MaxHeapSize=", ResourceField::LimitsMemory),
    ("-XX:MaxRAM=", ResourceField::LimitsMemory),
    ("-XX:MaxRAMPercentage=", ResourceField::LimitsMemory),
    ("-XX:MinRAMPercentage=", ResourceField::LimitsMemory),
    ("-XX:InitialRAMPercentage=", ResourceField::LimitsMemory),
    ("--max-old-space-size", ResourceField::LimitsMemory),
    ("--max_old_space_size", ResourceField::LimitsMemory),
    ("-XX:ActiveProcessorCount=", ResourceField::LimitsCpu),
    ("-XX:ParallelGCThreads=", ResourceField::LimitsCpu),
];

/// Variables that a runtime reads when it starts.
const VARIABLES: [(&str, ResourceField); 7] = [
    ("GOMEMLIMIT", ResourceField::LimitsMemory),
    ("DOTNET_GCHeapHardLimit", ResourceField::LimitsMemory),
    ("DOTNET_GCHeapHardLimitPercent", ResourceField::LimitsMemory),
    ("GOMAXPROCS", ResourceField::LimitsCpu),
    ("DOTNET_PROCESSOR_COUNT", ResourceField::LimitsCpu),
    ("DOTNET_GCHeapCount", ResourceField::LimitsCpu),
    ("OMP_NUM_THREADS", ResourceField::LimitsCpu),
];

/// No flag is longer.
const LONGEST: usize = 60;

/// Returns the containers that keep what they read when they started.
pub(in crate::plan) fn sized_at_start(pods: &[Resized<'_>], template: &Value) -> BTreeSet<Warning> {
    let mut warnings = BTreeSet::new();
    for pod in pods {
        for field in [ResourceField::LimitsCpu, ResourceField::LimitsMemory] {
            for (name, ..) in pod.changed_limits(field).filter(|(name, ..)| !pod.restarting.contains(name)) {
                let lists = ContainerList::ALL;
                let containers = lists.into_iter().filter_map(|list| template.get("spec")?.get(list.spec_field()));
                let mut containers = containers.filter_map(Value::as_array).flatten();
                let is_it = |one: &&Value| one.get("name").and_then(Value::as_str) == Some(name.as_str());
                let Some(container) = containers.find(is_it) else { continue };
                let signs = signs(container, name.as_str(), field);
                if !signs.is_empty() {
                    let resource = field.parts().1.to_owned();
                    warnings.insert(Warning::RuntimeSizedAtStart { container: name.clone(), resource, signs });
                }
            }
        }
    }
    warnings
}

/// The parts of a container's spec that are read only at the start, each once.
fn signs(container: &Value, name: &str, field: ResourceField) -> Vec<String> {
    let mut signs: Vec<String> = Vec::new();
    for list in ["command", "args"] {
        let words = container.get(list).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        signs.extend(words.flat_map(|words| flags(words, field)));
    }
    for variable in container.get("env").and_then(Value::as_array).into_iter().flatten() {
        let text = |pointer: &str| variable.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        let (variable, value) = (text("/name"), text("/value"));
        let (map, resource) = field.parts();
        let of = text("/valueFrom/resourceFieldRef/containerName");
        let is_own = of.is_empty() || of == name;
        if is_own && text("/valueFrom/resourceFieldRef/resource") == format!("{map}.{resource}") {
            signs.push(format!("{variable} ({map}.{resource})"));
        } else if !value.is_empty() && VARIABLES.contains(&(variable, field)) {
            signs.push(variable.to_owned());
        } else {
            signs.extend(flags(value, field).map(|flag| format!("{flag} in {variable}")));
        }
    }
    let mut seen = BTreeSet::new();
    signs.retain(|sign| seen.insert(sign.clone()));
    signs
}

fn flags(words: &str, field: ResourceField) -> impl Iterator<Item = String> {
    let is_flag = move |word: &&str| FLAGS.iter().any(|(flag, of)| *of == field && word.starts_with(flag));
    let words = words.split(|character: char| character.is_whitespace() || matches!(character, '"' | '\'' | ';' | '&'));
    words.filter(is_flag).filter(|word| word.len() <= LONGEST).map(str::to_owned)
}
