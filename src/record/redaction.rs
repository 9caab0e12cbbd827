//! What must not be in a recording.

use engine::rollout::pre_pull::NO_COMMAND;
use std::collections::BTreeMap;

use serde_json::Value;

use engine::k8s::mask::{self, Secrets};

/// Replaces a text, followed by its number.
const PLACEHOLDER: &str = "redacted-";

/// Replaces texts, the same one always by the same.
#[derive(Debug, Default)]
pub(super) struct Redaction {
    placeholders: BTreeMap<String, usize>,
}

impl Redaction {
    /// Redacts a document in place, wherever in it a pod's template may be. Redacting twice is redacting once.
    pub(super) fn redact(&mut self, value: &mut Value) {
        match value {
            Value::Array(items) => items.iter_mut().for_each(|item| self.redact(item)),
            Value::Object(fields) => {
                for (name, value) in fields {
                    match (Secrets::of_field(name), name.as_str(), value) {
                        (Some(Secrets::Values), _, Value::Array(items)) => {
                            for item in items {
                                match item.get_mut("value") {
                                    Some(value) => self.replace(value),
                                    None => self.redact(item),
                                }
                            }
                        }
                        (Some(Secrets::Whole), _, Value::Array(words)) => {
                            words.iter_mut().for_each(|word| self.replace(word));
                        }
                        (Some(Secrets::Whole), _, text @ Value::String(_)) => self.replace(text),
                        // Words of a command line of the user's own.
                        (_, "beforePod" | "afterPod", value @ Value::String(_)) => self.replace(value),
                        (_, "message" | "why", Value::String(text)) => *text = mask::text(text),
                        (_, _, value) => self.redact(value),
                    }
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    fn replace(&mut self, value: &mut Value) {
        let Value::String(text) = value else { return };
        // A pod that pulls has a command of our own, which is no secret and is the same in every run.
        if text.is_empty() || text.starts_with(PLACEHOLDER) || text == NO_COMMAND {
            return;
        }
        let next = self.placeholders.len() + 1;
        let number = *self.placeholders.entry(std::mem::take(text)).or_insert(next);
        *text = format!("{PLACEHOLDER}{number}");
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use engine::k8s::metadata::LAST_APPLIED;

    use super::*;

    #[test]
    fn secrets_are_replaced_and_equal_ones_stay_equal() {
        let container = json!({"name": "app", "image": "a:1", "args": ["--password", "x"], "command": ["run"],
            "env": [{"name": "PASSWORD", "value": "hunter2"}, {"name": "AGAIN", "value": "hunter2"},
                {"name": "FROM", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}, {"name": "EMPTY", "value": ""}],
            "livenessProbe": {"httpGet": {"httpHeaders": [{"name": "X", "value": "t"}]}, "exec": {"command": ["sh"]}}});
        let mut document = json!({"op": "add", "path": "/spec/template", "value": {"spec": {"containers": [container]}},
            "metadata": {"annotations": {LAST_APPLIED: "{\"hunter2\":1}", "team": "x"}},
            "message": "token=abc"});
        let mut redaction = Redaction::default();
        redaction.redact(&mut document);
        let text = document.to_string();
        for gone in ["hunter2", "--password", "\"run\"", "\"t\"", "\"sh\"", "abc"] {
            assert!(!text.contains(gone), "{gone}: {text}");
        }
        let env = &document["value"]["spec"]["containers"][0]["env"];
        assert_eq!(env[0]["value"], env[1]["value"]);
        assert_eq!(env[2]["valueFrom"]["secretKeyRef"]["name"], "s");
        assert_eq!((&env[3]["value"], &document["path"]), (&json!(""), &json!("/spec/template")));
        assert_eq!(document["metadata"]["annotations"]["team"], "x");
        let once = document.clone();
        Redaction::default().redact(&mut document);
        assert_eq!(document, once);
    }
}
