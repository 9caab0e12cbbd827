//! `--record FILE`: everything that a rollout was decided from, and what was decided, one JSON object a line. The
//! tests hold recordings against the engine (`tests/support/replay.rs`).
//!
//! Promise: a recording holds no value of an environment variable, no word of a command line, no header of a probe and
//! no `last-applied-configuration`: each is replaced by `redacted-N`, the same one for the same text, so that what
//! compares equal still does. Text of others is masked ([`engine::k8s::mask`]). Writing never disturbs a
//! rollout: what cannot be written is reported afterwards.
//!
//! Lines have a `type`: `goal` begins a rollout, `observation`, `answer` and `stop` go in, `turn` comes out, `leave` is a
//! second interrupt. `run` numbers the rollouts of one file. `at` is the time since the rollout's start in nanoseconds.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Write};

use serde::Serialize;
use serde_json::{Map, Value};

use engine::k8s::mask::{self, Secrets};
use engine::report::Outcome;
use engine::rollout::pre_pull::NO_COMMAND;
use engine::rollout::{ActionId, Answer, Goal, Now, Observation, Stop, Turn};

/// The version of the lines; of another one nothing is replayed.
pub const RECORDING_VERSION: &str = "v1alpha2";

/// Writes down what happens in a rollout; the default one writes nothing.
#[derive(Default)]
pub struct Recorder {
    out: Option<Box<dyn Write + Send>>,
    run: u64,
    redaction: Redaction,
    trouble: Option<io::Error>,
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder").field("on", &self.out.is_some()).field("trouble", &self.trouble).finish()
    }
}

impl Recorder {
    /// Returns a recorder that writes each line in one write; `run` distinguishes rollouts that write at the same time.
    pub fn to(out: Box<dyn Write + Send>, run: u64) -> Self {
        Self { out: Some(out), run, ..Self::default() }
    }

    pub fn goal(&mut self, goal: &Goal) {
        let fields = || {
            [
                ("version", RECORDING_VERSION.into()),
                ("program", env!("CARGO_PKG_VERSION").into()),
                ("goal", value(goal)),
            ]
        };
        self.write("goal", None, fields);
    }

    pub fn observation(&mut self, now: Now, observation: &Observation) {
        self.write("observation", Some(now), || [("observation", value(observation))]);
    }

    pub fn answer(&mut self, now: Now, id: ActionId, answer: &Answer) {
        self.write("answer", Some(now), || [("id", value(&id)), ("answer", value(answer))]);
    }

    pub fn stop(&mut self, now: Now, stop: Stop) {
        self.write("stop", Some(now), || [("stop", value(&stop))]);
    }

    pub fn turn(&mut self, now: Now, turn: &Turn) {
        self.write("turn", Some(now), || decisions(turn));
    }

    /// Notes that the run was left before its end.
    pub fn leave(&mut self, now: Now, outcome: &Outcome) {
        self.write("leave", Some(now), || [("end", value(outcome))]);
    }

    /// Returns why the recording is not whole, once.
    pub fn trouble(&mut self) -> Option<io::Error> {
        self.trouble.take()
    }

    fn write<F: IntoIterator<Item = (&'static str, Value)>>(
        &mut self,
        name: &str,
        at: Option<Now>,
        fields: impl FnOnce() -> F,
    ) {
        let Some(out) = &mut self.out else { return };
        let mut line = Map::new();
        line.insert("type".into(), name.into());
        line.insert("run".into(), self.run.into());
        if let Some(at) = at {
            line.insert("at".into(), u64::try_from(at.as_nanos()).unwrap_or(u64::MAX).into());
        }
        line.extend(fields().into_iter().map(|(name, value)| (name.to_owned(), value)));
        let mut line = Value::Object(line);
        self.redaction.redact(&mut line);
        if let Err(error) = out.write_all(format!("{line}\n").as_bytes()).and_then(|()| out.flush()) {
            self.trouble = Some(error);
            self.out = None;
        }
    }
}

/// The engine's types are maps with names as keys, lists and plain values: JSON has them all.
fn value(of: &impl Serialize) -> Value {
    serde_json::to_value(of).unwrap_or_default()
}

/// What a turn decided; empty parts are left out.
pub fn decisions(turn: &Turn) -> Vec<(&'static str, Value)> {
    let mut decided = Vec::new();
    if !turn.actions.is_empty() {
        decided.push(("actions", value(&turn.actions)));
    }
    if !turn.notices.is_empty() {
        decided.push(("notices", value(&turn.notices)));
    }
    if let Some(wake) = turn.wake {
        decided.push(("wake", u64::try_from(wake.as_nanos()).unwrap_or(u64::MAX).into()));
    }
    if let Some(end) = &turn.end {
        decided.push(("end", value(end)));
    }
    decided
}

/// Replaces a text, followed by its number.
const PLACEHOLDER: &str = "redacted-";

/// Replaces texts, the same one always by the same.
#[derive(Debug, Default)]
pub struct Redaction {
    placeholders: BTreeMap<String, usize>,
}

impl Redaction {
    /// Redacts a document in place, wherever in it a pod's template may be. Redacting twice is redacting once.
    pub fn redact(&mut self, value: &mut Value) {
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
