//! Which fields the API's own types of a workload have, of which type, and which of them are required: what an object
//! must be before it can be compared with another one.
//!
//! Promise: what passes here is decoded by an API server of the version in `fields.txt` under `fieldValidation=Strict`;
//! what the server then thinks of the values (enumerations, names, references) is validation, and not done here, but
//! for names that two containers of a pod have: nothing could distinguish them. `null` means an absent field, in an
//! element of a list or a map its zero value, as Go decodes it.
//!
//! Upstream: `sigs.k8s.io/json` and the types' own `UnmarshalJSON` (`resource.Quantity`, `intstr.IntOrString`,
//! `metav1.Time`). A server of a newer version may know more fields, and never fewer or others: `v1` only grows.

mod scalar;
mod table;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::fmt;

use serde_json::{Map, Value};

use crate::value::kubelet_version::KubeletVersion;
use crate::value::{suggest, words};
use table::{Fields, Shape};

pub use table::FIELDS;

/// The version of Kubernetes whose fields are known here.
pub const KNOWN: KubeletVersion = KubeletVersion::new(1, 36);

words! {
    /// What becomes of fields that the API does not have: the request parameter `fieldValidation`, and `kubectl apply --validate`.
    #[derive(Default)]
    Validation {
        /// They are errors.
        #[default]
        Strict = "Strict",
        /// They are reported, and dropped by the server.
        Warn = "Warn",
        /// They are dropped by the server.
        Ignore = "Ignore",
    }
}

/// Bounds the problems of one object: nobody reads more, and hostile input has no end of them.
const MAX_PROBLEMS: usize = 20;

/// Of what value a field may not be left out, and may not be empty, though the API's types let it: validation refuses it.
const ALSO_REQUIRED: [(&str, &str); 10] = [
    ("Container", "image"),
    ("Container", "name"),
    ("DaemonSet", "spec"),
    ("Deployment", "spec"),
    ("Pod", "spec"),
    ("PodSpec", "containers"),
    ("PodTemplateSpec", "spec"),
    ("ReplicaSet", "spec"),
    ("ReplicaSetSpec", "template"),
    ("StatefulSet", "spec"),
];

/// Which fields may be left out though the API's types require them: validation takes what Go decodes then.
const MAY_BE_LEFT_OUT: [(&str, &str); 6] = [
    ("HTTPHeader", "value"),
    ("ISCSIVolumeSource", "lun"),
    ("PreferredSchedulingTerm", "preference"),
    ("ScaleIOVolumeSource", "secretRef"),
    ("SleepAction", "seconds"),
    ("Sysctl", "value"),
];

/// The lists of a pod's containers, as the API server checks them.
const CONTAINER_LISTS: [&str; 3] = ["containers", "initContainers", "ephemeralContainers"];

/// How much of an object a manifest is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// All of it: there is nothing else that it is laid over.
    Whole,
    /// What its author has a say in, laid over the live object: only elements of lists need their required fields.
    Partial,
}

/// One step of a path into an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// To a field that the API has.
    Field(&'static str),
    /// To a key that the manifest's author chose, or a field that the API does not have.
    Key(String),
    /// To an element of a list.
    Index(usize),
}

/// What is wrong with a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// It is of another type.
    Type {
        /// The type with its article.
        found: &'static str,
        /// The type it must be, with its article.
        expected: &'static str,
    },
    /// It is of the right type, but its value cannot be read.
    Malformed {
        /// What it must be.
        expected: &'static str,
    },
    /// It is required and not there.
    NotSet,
    /// It is the name of another container of the pod, too.
    Taken,
    /// The API has no such field.
    Unknown {
        /// The field that was probably meant.
        suggestion: Option<&'static str>,
    },
}

/// One field that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Where; the last step is the field itself.
    pub steps: Vec<Step>,
    /// What is wrong with it.
    pub fault: Fault,
}

impl Problem {
    /// Says the problem. `withheld` leaves out the words of the manifest itself, such as its keys.
    pub fn sentence(&self, withheld: bool) -> String {
        let path = Path { steps: &self.steps, withheld };
        match self.fault {
            Fault::Type { found, expected } => {
                let hint = match (found, expected) {
                    (BOOLEAN, STRING) => "; put it in quotes, since YAML reads y, n, yes, no, on and off as booleans",
                    (NUMBER, STRING) => "; put it in quotes",
                    (QUOTED_NUMBER | QUOTED_BOOLEAN, _) => "; leave out the quotes",
                    (_, _) => "",
                };
                format!("{path} is {found}, not {expected}{hint}")
            }
            Fault::Malformed { expected } => format!("{path} is not {expected}"),
            Fault::NotSet => format!("{path} is required and not set"),
            Fault::Taken => format!("{path} is the name of another container, too"),
            Fault::Unknown { suggestion } => {
                let meant = suggestion.map(|name| format!("; did you mean {name}?")).unwrap_or_default();
                format!("unknown field {path}{meant}")
            }
        }
    }
}

/// A path as the API server writes it: `spec.template.spec.containers[0].image`.
struct Path<'p> {
    steps: &'p [Step],
    withheld: bool,
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, step) in self.steps.iter().enumerate() {
            let dot = if index == 0 { "" } else { "." };
            match step {
                Step::Field(name) => write!(f, "{dot}{name}")?,
                Step::Key(_) if self.withheld => write!(f, "{dot}(not shown, since the input holds a Secret)")?,
                Step::Key(key) if key.contains(['.', '/']) => write!(f, "[{key}]")?,
                Step::Key(key) => write!(f, "{dot}{key}")?,
                Step::Index(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}

const STRING: &str = "a string";
const NUMBER: &str = "a number";
const BOOLEAN: &str = "a boolean";
const QUOTED_NUMBER: &str = "a number in quotes";
const QUOTED_BOOLEAN: &str = "a boolean in quotes";
const WHOLE: &str = "a whole number of 64 bits";
const WHOLE_32: &str = "a whole number of 32 bits";

/// Names a value's type with its article, in JSON's terms.
pub fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => BOOLEAN,
        Value::Number(_) => NUMBER,
        Value::String(_) => STRING,
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// Checks an object of a kind; of a kind that has no types here nothing is reported. The problems are in the object's
/// order, required fields that are missing after the others, and not more than people read.
pub fn check(kind: &str, object: &Value, scope: Scope) -> Vec<Problem> {
    let mut check = Check { scope, steps: Vec::new(), problems: Vec::new() };
    if let Some(fields) = table::fields_of(kind) {
        check.object(fields, object, false);
    }
    check.problems
}

struct Check {
    scope: Scope,
    steps: Vec<Step>,
    problems: Vec<Problem>,
}

impl Check {
    fn add(&mut self, fault: Fault) {
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(Problem { steps: self.steps.clone(), fault });
        }
    }

    fn below(&mut self, step: Step, check: impl FnOnce(&mut Self)) {
        if self.problems.len() < MAX_PROBLEMS {
            self.steps.push(step);
            check(self);
            self.steps.pop();
        }
    }

    fn value(&mut self, shape: Shape, value: &Value, in_list: bool) {
        match (shape, value) {
            (Shape::Object(fields), value) if in_list || !value.is_null() => self.object(fields, value, in_list),
            (_, Value::Null) => {}
            (Shape::List(element), Value::Array(list)) => {
                for (index, value) in list.iter().enumerate() {
                    self.below(Step::Index(index), |check| check.value(element.shape(), value, true));
                }
            }
            (Shape::Map(element), Value::Object(map)) => {
                for (key, value) in map {
                    self.below(Step::Key(key.clone()), |check| check.value(element.shape(), value, false));
                }
            }
            (Shape::Scalar(scalar), value) => {
                if let Some(fault) = scalar::fault(scalar, value) {
                    self.add(fault);
                }
            }
            (Shape::List(_), other) => self.add(Fault::Type { found: type_name(other), expected: "an array" }),
            (Shape::Map(_) | Shape::Object(_), other) => {
                self.add(Fault::Type { found: type_name(other), expected: "an object" });
            }
        }
    }

    fn object(&mut self, fields: &'static Fields, value: &Value, in_list: bool) {
        let nothing = Map::new();
        let given = match value {
            Value::Object(given) => given,
            Value::Null => &nothing,
            Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                return self.add(Fault::Type { found: type_name(value), expected: "an object" });
            }
        };
        for (name, value) in given {
            match fields.get(name) {
                Some(field) => {
                    self.below(Step::Field(field.name), |check| check.value(field.value.shape(), value, false));
                }
                None => self.below(Step::Key(name.clone()), |check| {
                    let suggestion = suggest::closest(name, fields.names());
                    check.add(Fault::Unknown { suggestion });
                }),
            }
        }
        if fields.of == "PodSpec" {
            self.container_names(given);
        }
        // A server drops the status that it is sent.
        if self.steps.contains(&Step::Field("status")) {
            return;
        }
        for field in fields.iter().filter(|field| !MAY_BE_LEFT_OUT.contains(&(fields.of, field.name))) {
            let also = self.scope == Scope::Whole && ALSO_REQUIRED.contains(&(fields.of, field.name));
            let required = also || field.required && (in_list || self.scope == Scope::Whole);
            let is_missing = match given.get(field.name) {
                None | Some(Value::Null) => true,
                Some(Value::Array(list)) => also && list.is_empty(),
                Some(Value::String(text)) => also && text.is_empty(),
                Some(Value::Bool(_) | Value::Number(_) | Value::Object(_)) => false,
            };
            if required && is_missing {
                self.below(Step::Field(field.name), |check| check.add(Fault::NotSet));
            }
        }
    }

    /// The names of all containers of a pod are one set (`ValidatePodSpec`: "Duplicate value").
    fn container_names(&mut self, pod_spec: &Map<String, Value>) {
        let mut known = BTreeSet::new();
        for list in CONTAINER_LISTS {
            let containers = pod_spec.get(list).and_then(Value::as_array).into_iter().flatten();
            for (index, name) in containers.map(|container| container.get("name").and_then(Value::as_str)).enumerate() {
                if name.is_some_and(|name| !name.is_empty() && !known.insert(name)) {
                    self.below(Step::Field(list), |check| {
                        check.below(Step::Index(index), |check| {
                            check.below(Step::Field("name"), |check| check.add(Fault::Taken));
                        });
                    });
                }
            }
        }
    }
}
