//! The server's own OpenAPI (v3): which fields a type has, and of which type they are.

use std::collections::BTreeMap;

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

    /// Returns the ways to every field, element and value below a type, outermost first.
    pub(crate) fn ways(&self, name: &str) -> Vec<Vec<Step>> {
        let mut ways = Vec::new();
        self.walk(self.named(name), &mut Vec::new(), &mut ways);
        ways
    }

    fn walk(&self, schema: &Value, steps: &mut Vec<Step>, ways: &mut Vec<Vec<Step>>) {
        let schema = self.resolve(schema);
        let fields = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
        let fields = fields.map(|(name, property)| (Step::Field(name.clone()), property));
        let element = schema.get("items").map(|items| (Step::Element, items));
        let value = schema.get("additionalProperties").map(|values| (Step::Key, values));
        for (step, below) in fields.chain(element).chain(value) {
            steps.push(step);
            ways.push(steps.clone());
            self.walk(below, steps, ways);
            steps.pop();
        }
    }

    /// Returns the type at the end of a way.
    pub(crate) fn at<'a>(&'a self, schema: &'a Value, steps: &[Step]) -> &'a Value {
        steps.iter().fold(self.resolve(schema), |schema, step| {
            self.resolve(match step {
                Step::Field(name) => &schema["properties"][name],
                Step::Element => &schema["items"],
                Step::Key => &schema["additionalProperties"],
            })
        })
    }

    /// Adds a type and those of its fields, as `engine/value/api_schema` writes them: one line each.
    pub(crate) fn describe(&self, name: &str, lines: &mut BTreeMap<String, String>) {
        let short = name.rsplit('.').next().unwrap_or_default().to_owned();
        if lines.contains_key(&short) {
            return;
        }
        lines.insert(short.clone(), String::new());
        let schema = self.named(name);
        let required: Vec<&Value> = schema.get("required").and_then(Value::as_array).into_iter().flatten().collect();
        let fields: BTreeMap<&String, &Value> = schema["properties"].as_object().into_iter().flatten().collect();
        let mut line = short.clone();
        for (field, property) in fields {
            let mark = if required.iter().any(|name| *name == field) { "!" } else { "" };
            line += &format!(" {field}{mark}:{}", self.notation(property, lines));
        }
        lines.insert(short, line);
    }

    fn notation(&self, schema: &Value, lines: &mut BTreeMap<String, String>) -> String {
        let name = reference(schema);
        let schema = self.resolve(schema);
        let text = |key: &str| schema.get(key).and_then(Value::as_str).unwrap_or_default();
        match (text("type"), text("format"), name) {
            (_, "int-or-string", _) => "intOrString".to_owned(),
            ("string", "date-time", _) => "time".to_owned(),
            ("", "", Some(name)) if name.ends_with(".Quantity") => "quantity".to_owned(),
            ("object", _, Some(name)) if schema.get("properties").is_some() => {
                self.describe(name, lines);
                name.rsplit('.').next().unwrap_or_default().to_owned()
            }
            ("object", _, _) => {
                let values = schema.get("additionalProperties");
                values.map_or("any".to_owned(), |values| format!("{{{}}}", self.notation(values, lines)))
            }
            ("array", _, _) => format!("[{}]", self.notation(&schema["items"], lines)),
            ("integer", format @ ("int32" | "int64"), _) => format.to_owned(),
            (scalar @ ("string" | "boolean"), _, _) => scalar.to_owned(),
            (_, _, _) => panic!("a type that the table has no word for: {schema}"),
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
