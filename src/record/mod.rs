//! `--record FILE`: everything that a rollout was decided from, and what was decided, one JSON object a line; and the
//! replay that holds a recording against the engine.
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
use std::io::{self, BufRead, Write};
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use engine::k8s::mask::{self, Secrets};
use engine::report::Outcome;
use engine::rollout::pre_pull::NO_COMMAND;
use engine::rollout::{self, ActionId, Answer, Goal, Now, Observation, RunState, Stop, Turn, World};

/// The version of the lines; of another one nothing is replayed.
pub const RECORDING_VERSION: &str = "v1alpha1";

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
    /// Returns a recorder that writes to `out`, each line in one write; `run` distinguishes the lines of rollouts that
    /// write to the same place at the same time.
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
fn decisions(turn: &Turn) -> Vec<(&'static str, Value)> {
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

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Replayed {
    pub goals: usize,
    /// Turns, all with the recorded decisions.
    pub turns: usize,
    pub actions: usize,
    /// Rollouts that came to their end.
    pub ends: usize,
}

/// Why a replay did not reach the end of its recording.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    #[error("line {line} of the recording cannot be read: {why}")]
    Unreadable {
        /// Counted from 1.
        line: usize,
        why: String,
    },
    #[error("line {line}: the recorded decision was {recorded}, and is now {now}")]
    Decided {
        /// Counted from 1.
        line: usize,
        recorded: String,
        now: String,
    },
}

struct Replay {
    goal: Goal,
    world: World,
    state: RunState,
}

/// Feeds a recording to the engine, at the recorded times, and holds what it decides against what was decided then:
/// actions, notices, when it wants to be asked again, and the result of the end.
pub fn replay(recording: impl BufRead) -> Result<Replayed, ReplayError> {
    let mut replayed = Replayed::default();
    let mut replays: BTreeMap<u64, Replay> = BTreeMap::new();
    for (index, text) in recording.lines().enumerate() {
        let line = index + 1;
        let unreadable = |why: String| ReplayError::Unreadable { line, why };
        let (run, entry) =
            text.map_err(|error| error.to_string()).and_then(|text| Entry::read(&text)).map_err(unreadable)?;
        if let Entry::Goal(goal) = entry {
            replayed.goals += 1;
            replays.insert(run, Replay { goal: *goal, world: World::default(), state: RunState::new() });
            continue;
        }
        let Some(replay) = replays.get_mut(&run) else { return Err(unreadable("it begins without a goal".into())) };
        match entry {
            Entry::Goal(_) => {}
            Entry::Observation(observation) => replay.world.observe(*observation),
            Entry::Answer(at, id, answer) => replay.state.answer(id, answer, at),
            Entry::Stop(at, stop) => {
                replay.state.stop(stop, at);
            }
            Entry::Turn(at, recorded) => {
                let turn = rollout::turn(&replay.goal, &replay.world, &mut replay.state, at);
                replayed.turns += 1;
                replayed.actions += turn.actions.len();
                replayed.ends += usize::from(turn.end.is_some());
                compare(line, &recorded, decisions(&turn))?;
            }
            Entry::Leave(at, recorded) => {
                let outcome = rollout::leave(&replay.goal, &replay.world, &replay.state, at);
                replayed.ends += 1;
                compare(line, &recorded, vec![("end", value(&outcome))])?;
            }
        }
    }
    Ok(replayed)
}

fn compare(line: usize, recorded: &Value, decided: Vec<(&'static str, Value)>) -> Result<(), ReplayError> {
    let mut now: Value =
        decided.into_iter().map(|(name, value)| (name.to_owned(), value)).collect::<Map<_, _>>().into();
    Redaction::default().redact(&mut now);
    // Through text, as what was recorded: a number may lose its last digit there.
    let now: Value = serde_json::from_str(&now.to_string()).unwrap_or_default();
    let [recorded, now] = [recorded, &now].map(compared);
    if recorded == now {
        return Ok(());
    }
    Err(ReplayError::Decided { line, recorded: recorded.to_string(), now: now.to_string() })
}

/// What must be the same: a field that was added to the end since is no other decision.
fn compared(decisions: &Value) -> Value {
    let end = |key: &str| decisions.pointer(&format!("/end/{key}")).cloned().unwrap_or_default();
    let of = |key: &str| decisions.get(key).cloned().unwrap_or_default();
    Value::Array(vec![of("actions"), of("notices"), of("wake"), end("result"), end("why")])
}

enum Entry {
    Goal(Box<Goal>),
    Observation(Box<Observation>),
    Answer(Now, ActionId, Answer),
    Stop(Now, Stop),
    Turn(Now, Value),
    Leave(Now, Value),
}

impl Entry {
    fn read(text: &str) -> Result<(u64, Self), String> {
        let mut line: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let at = line.get("at").and_then(Value::as_u64).map(Duration::from_nanos);
        let at = || at.ok_or_else(|| "it has no time".to_owned());
        let run = line.get("run").and_then(Value::as_u64).unwrap_or(0);
        let entry = match line.get("type").and_then(Value::as_str).unwrap_or_default() {
            "goal" if line.get("version").and_then(Value::as_str) != Some(RECORDING_VERSION) => {
                Err(format!("its version is not {RECORDING_VERSION}"))
            }
            "goal" => Ok(Self::Goal(Box::new(field(&mut line, "goal")?))),
            "observation" => Ok(Self::Observation(Box::new(field(&mut line, "observation")?))),
            "answer" => Ok(Self::Answer(at()?, field(&mut line, "id")?, field(&mut line, "answer")?)),
            "stop" => Ok(Self::Stop(at()?, field(&mut line, "stop")?)),
            "turn" => Ok(Self::Turn(at()?, line)),
            "leave" => Ok(Self::Leave(at()?, line)),
            other => Err(format!("unknown type {other:?}")),
        };
        entry.map(|entry| (run, entry))
    }
}

fn field<T: DeserializeOwned>(line: &mut Value, name: &str) -> Result<T, String> {
    let value = line.get_mut(name).map(Value::take).unwrap_or_default();
    serde_json::from_value(value).map_err(|error| format!("{name}: {error}"))
}

#[cfg(test)]
mod tests;

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
mod redaction_tests {
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
