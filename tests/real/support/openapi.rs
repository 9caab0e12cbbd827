//! The server's own OpenAPI (v3): which fields a type has, and of which type they are.

use serde_json::{Map, Value, json};

use super::api::Api;

/// The schemas of one group and version, and all that they refer to.
pub(crate) struct OpenApi(Map<String, Value>);

/// A step from a type to one of its leaves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    Field(String),
    /// Any element of a list.
    Element,
    /// Any value of a map of free keys.
    Key,
}

/// A field that has no fields of its own.
#[derive(Debug, Clone)]
pub(crate) struct Leaf {
    pub(crate) steps: Vec<Step>,
    /// Two values of its type, neither of them its zero, but for a boolean.
    pub(crate) values: [Value; 2],
}

impl Leaf {
    /// Returns the path without a place in lists: `spec.containers.env.name`, `metadata.labels.key`.
    pub(crate) fn fields(&self) -> String {
        let names = self.steps.iter().filter_map(|step| match step {
            Step::Field(name) => Some(name.as_str()),
            Step::Key => Some("key"),
            Step::Element => None,
        });
        names.collect::<Vec<_>>().join(".")
    }
}

impl OpenApi {
    /// Asks the server for a document, such as `apis/apps/v1`.
    pub(crate) fn read(api: &Api, group: &str) -> Self {
        let mut document = api.get(&format!("/openapi/v3/{group}"));
        let schemas = document.pointer_mut("/components/schemas").map(Value::take);
        let Some(Value::Object(schemas)) = schemas else { panic!("no schemas in {group}") };
        Self(schemas)
    }

    /// Returns the type by its full name, such as `io.k8s.api.core.v1.Pod`.
    pub(crate) fn named(&self, name: &str) -> &Value {
        self.0.get(name).unwrap_or_else(|| panic!("no schema {name}"))
    }

    /// Returns the type itself of what may be a reference to one.
    pub(crate) fn resolve<'a>(&'a self, schema: &'a Value) -> &'a Value {
        reference(schema).map_or(schema, |name| self.named(name))
    }

    /// Returns every leaf of a type.
    pub(crate) fn leaves(&self, name: &str) -> Vec<Leaf> {
        let mut leaves = Vec::new();
        self.collect(self.named(name), &mut Vec::new(), &mut leaves);
        leaves
    }

    fn collect(&self, schema: &Value, steps: &mut Vec<Step>, leaves: &mut Vec<Leaf>) {
        let schema = self.resolve(schema);
        let mut below = |step: Step, schema: &Value| {
            steps.push(step);
            self.collect(schema, steps, leaves);
            steps.pop();
        };
        if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
            for (name, property) in properties {
                below(Step::Field(name.clone()), property);
            }
        } else if let Some(items) = schema.get("items") {
            below(Step::Element, items);
        } else if let Some(values) = schema.get("additionalProperties") {
            below(Step::Key, values);
        } else {
            leaves.push(Leaf { steps: steps.clone(), values: values(schema) });
        }
    }

    /// Returns the least value of a type: an object with its required fields alone, or a scalar.
    pub(crate) fn least(&self, schema: &Value) -> Value {
        let schema = self.resolve(schema);
        if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
            let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
            let required =
                required.filter_map(|name| Some((name.as_str()?.to_owned(), properties.get(name.as_str()?)?)));
            return Value::Object(required.map(|(name, property)| (name, self.least(property))).collect());
        }
        if let Some(items) = schema.get("items") {
            return json!([self.least(items)]);
        }
        if let Some(values) = schema.get("additionalProperties") {
            return json!({"key": self.least(values)});
        }
        let [value, _] = values(schema);
        value
    }

    /// Puts a value at a leaf of the object; the path to it is created with required fields and merge keys.
    pub(crate) fn place(&self, schema: &Value, object: &mut Value, steps: &[Step], value: &Value) {
        let schema = self.resolve(schema);
        let Some((step, rest)) = steps.split_first() else {
            *object = value.clone();
            return;
        };
        match step {
            Step::Field(name) => {
                let property = &schema["properties"][name];
                if object.get(name).is_none() {
                    object[name] = if rest.is_empty() { Value::Null } else { self.least_around(property) };
                }
                self.place(property, &mut object[name], rest, value);
            }
            Step::Element => {
                if object.as_array().is_none_or(Vec::is_empty) {
                    *object = json!([self.least(&schema["items"])]);
                }
                self.place(&schema["items"], &mut object[0], rest, value);
            }
            Step::Key => {
                if object.get("key").is_none() {
                    *object = json!({"key": null});
                }
                self.place(&schema["additionalProperties"], &mut object["key"], rest, value);
            }
        }
    }

    fn least_around(&self, property: &Value) -> Value {
        let mut least = self.least(property);
        let key = property.get("x-kubernetes-patch-merge-key").and_then(Value::as_str);
        if let (Some(key), Some(items)) = (key, property.get("items")) {
            let schema = &self.resolve(items)["properties"][key];
            if least[0].get(key).is_none() {
                least[0][key] = self.least(schema);
            }
        }
        least
    }
}

/// Returns the full name of the type that a schema refers to.
fn reference(schema: &Value) -> Option<&str> {
    let reference = schema.get("$ref").or_else(|| schema.pointer("/allOf/0/$ref")).and_then(Value::as_str);
    reference.and_then(|reference| reference.rsplit('/').next())
}

fn values(schema: &Value) -> [Value; 2] {
    let text = |name: &str| schema.get(name).and_then(Value::as_str).unwrap_or_default();
    if let Some([first, second, ..]) = schema.get("enum").and_then(Value::as_array).map(Vec::as_slice) {
        return [first.clone(), second.clone()];
    }
    match (text("type"), text("format")) {
        ("string", "date-time") => [json!("2026-01-01T00:00:00Z"), json!("2026-01-02T00:00:00Z")],
        ("string", _) => [json!("a"), json!("b")],
        ("integer", _) | (_, "int-or-string") => [json!(7), json!(8)],
        ("boolean", _) => [json!(true), json!(false)],
        ("object", _) => [json!({"a": 1}), json!({"a": 2})],
        // A quantity.
        (_, _) => [json!("7"), json!("8")],
    }
}
