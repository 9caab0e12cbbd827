//! Fills in what the API server fills in, so that a manifest looks like the stored object without asking a server.
//!
//! Done here: the defaults of Kubernetes 1.36 for pods, pod templates and the workloads; quantities in canonical form; and
//! leaving out what the server does not store (nulls, empty lists, and zeros of fields that are no pointers). The table is
//! data, in `table/`; defaults of other versions of the server may differ, so that a live answer is always the better one.
//!
//! Not done: admission (service account, token volume, tolerations, priority, limit ranges, webhooks), status, requests of
//! the whole pod from its containers' (`spec.resources`), dropping fields behind a feature gate that is off, and validation:
//! a field of a wrong type stays unchanged.

mod inventory;
mod meant;
pub(crate) mod table;

pub use self::inventory::Handling;

use self::table::{Constant, Rule, Type};
use crate::value::image::ImageReference;
use crate::value::quantity::Quantity;
use serde_json::{Map, Value};

/// Lists that are stored even if empty: their fields have no `omitempty`.
const KEPT_LISTS: [&str; 4] = ["containers", "sources", "nodeSelectorTerms", "monitors"];

/// The defaults of one type of the API.
#[derive(Clone, Copy, Debug)]
pub struct Defaults(&'static Type);

impl Defaults {
    /// Those of a type that is no built-in one: its kind's file has the table.
    pub(crate) const fn new(of: &'static Type) -> Self {
        Self(of)
    }

    /// `v1.Pod`.
    pub const POD: Self = Self::new(&table::POD);
    /// `v1.PodTemplateSpec`, e.g. of a Deployment's `spec.template`.
    pub const POD_TEMPLATE: Self = Self::new(&table::POD_TEMPLATE);
    /// `v1.PodTemplate`, the object that holds a template of its own.
    pub const POD_TEMPLATE_OBJECT: Self = Self::new(&table::POD_TEMPLATE_OBJECT);
    /// `apps/v1.Deployment`.
    pub const DEPLOYMENT: Self = Self::new(&table::DEPLOYMENT);
    /// `apps/v1.StatefulSet`.
    pub const STATEFUL_SET: Self = Self::new(&table::STATEFUL_SET);
    /// `apps/v1.DaemonSet`.
    pub const DAEMON_SET: Self = Self::new(&table::DAEMON_SET);
    /// `apps/v1.ReplicaSet`.
    pub const REPLICA_SET: Self = Self::new(&table::REPLICA_SET);

    /// Fills in the defaults of an object of this type.
    ///
    /// Upstream: `SetObjectDefaults_Pod` and its like in `pkg/apis/{core,apps}/v1/zz_generated.defaults.go`.
    pub fn fill(self, object: &Value) -> Value {
        let mut object = stored(object);
        fill_value(&mut object, self.0);
        object
    }
}

/// The value without nulls and empty lists in maps.
fn stored(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let kept = |name: &str, value: &Value| {
                !value.is_null() && (KEPT_LISTS.contains(&name) || value.as_array().is_none_or(|list| !list.is_empty()))
            };
            let fields = fields.iter().filter(|(name, value)| kept(name, value));
            Value::Object(fields.map(|(name, value)| (name.clone(), stored(value))).collect())
        }
        Value::Array(list) => Value::Array(list.iter().map(stored).collect()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

fn fill_value(value: &mut Value, of: &Type) {
    match value {
        Value::Object(fields) => fill_map(fields, of),
        Value::Array(list) => list.iter_mut().for_each(|element| fill_value(element, of)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn fill_map(fields: &mut Map<String, Value>, of: &Type) {
    for name in of.omitted {
        if fields.get(*name).is_some_and(is_zero) {
            fields.shift_remove(*name);
        }
    }
    for rule in of.rules {
        carry_out(*rule, fields);
    }
    for (name, default) in of.defaults {
        fields.entry(*name).or_insert_with(|| match default {
            Constant::Text(text) => Value::from(*text),
            Constant::Integer(number) => Value::from(*number),
            Constant::Boolean(value) => Value::from(*value),
            Constant::Map => Value::Object(Map::new()),
        });
    }
    for (name, of) in of.fields {
        if let Some(value) = fields.get_mut(*name) {
            fill_value(value, of);
        }
    }
}

fn is_zero(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(value) => !value,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(fields) => fields.is_empty(),
    }
}

fn carry_out(rule: Rule, fields: &mut Map<String, Value>) {
    match rule {
        Rule::PullPolicy { policy, image } => {
            if !fields.contains_key(policy) {
                let image = fields.get(image).and_then(Value::as_str).unwrap_or_default();
                let latest = ImageReference::parse(image).is_ok_and(|image| image.has_latest_tag());
                fields.insert(policy.to_owned(), Value::from(if latest { "Always" } else { "IfNotPresent" }));
            }
        }
        Rule::EmptyVolume => {
            if fields.keys().all(|name| name == "name") {
                fields.insert("emptyDir".to_owned(), Value::Object(Map::new()));
            }
        }
        Rule::RollingUpdate => {
            if fields.get("type").is_none_or(|name| name == "RollingUpdate") {
                fields.entry("rollingUpdate").or_insert_with(|| Value::Object(Map::new()));
            }
        }
        Rule::RollingUpdateUnlessNamed => {
            if !fields.contains_key("type") {
                fields.entry("rollingUpdate").or_insert_with(|| Value::Object(Map::new()));
            }
        }
        Rule::Quantities(names) => {
            for name in names {
                if let Some(Value::Object(quantities)) = fields.get_mut(*name) {
                    quantities.values_mut().for_each(|value| canonical(value, Quantity::rounded_up_to_thousandths));
                }
            }
        }
        Rule::Quantity(name) => {
            if let Some(value) = fields.get_mut(name) {
                canonical(value, |quantity| quantity);
            }
        }
        Rule::ServiceAccount => {
            let name = fields.get("serviceAccountName").or_else(|| fields.get("serviceAccount")).cloned();
            if let Some(name) = name {
                fields.insert("serviceAccountName".to_owned(), name.clone());
                fields.insert("serviceAccount".to_owned(), name);
            }
        }
        Rule::PodOnly => {
            if let Some(Value::Object(spec)) = fields.get_mut("spec") {
                pod_only(spec);
            }
        }
    }
}

/// Writes a quantity as the server stores it; what is none is left for validation to refuse.
fn canonical(value: &mut Value, rounded: impl Fn(Quantity) -> Quantity) {
    if let Ok(quantity) = Quantity::of(value) {
        *value = Value::from(rounded(quantity).to_string());
    }
}

/// Upstream: `SetDefaults_Pod`.
fn pod_only(spec: &mut Map<String, Value>) {
    spec.entry("enableServiceLinks").or_insert(Value::Bool(true));
    let host_network = spec.get("hostNetwork").and_then(Value::as_bool).unwrap_or_default();
    for name in ["containers", "initContainers"] {
        for container in spec.get_mut(name).and_then(Value::as_array_mut).into_iter().flatten() {
            if let Some(resources) = container.get_mut("resources").and_then(Value::as_object_mut) {
                requests_from_limits(resources);
            }
            let ports = container.get_mut("ports").and_then(Value::as_array_mut).filter(|_| host_network);
            for port in ports.into_iter().flatten().filter_map(Value::as_object_mut) {
                if let Some(number) = port.get("containerPort").cloned() {
                    let host_port = port.entry("hostPort").or_insert(Value::Null);
                    *host_port = if is_zero(host_port) { number } else { host_port.take() };
                }
            }
        }
    }
}

fn requests_from_limits(resources: &mut Map<String, Value>) {
    let Some(Value::Object(limits)) = resources.get("limits").cloned() else { return };
    let requests = resources.entry("requests").or_insert_with(|| Value::Object(Map::new()));
    for (name, limit) in limits {
        if let Value::Object(requests) = requests {
            requests.entry(name).or_insert(limit);
        }
    }
}

#[cfg(test)]
mod tests;
