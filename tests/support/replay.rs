//! The replay that holds a recording against the engine.

use std::collections::BTreeMap;
use std::io::BufRead;
use std::time::Duration;

use engine::rollout::{self, ActionId, Answer, Goal, Now, Observation, Observed, RunState, Stop};
use kubectl_inplace::record::{RECORDING_VERSION, Redaction, decisions};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Replayed {
    pub(crate) goals: usize,
    /// Turns, all with the recorded decisions.
    pub(crate) turns: usize,
    pub(crate) actions: usize,
    /// Rollouts that came to their end.
    pub(crate) ends: usize,
}

/// Why a replay did not reach the end of its recording.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReplayError {
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
    observed: Observed,
    state: RunState,
}

/// Feeds a recording to the engine, at the recorded times, and holds what it decides against what was decided then:
/// actions, notices, when it wants to be asked again, and the result of the end.
pub(crate) fn replay(recording: impl BufRead) -> Result<Replayed, ReplayError> {
    let mut replayed = Replayed::default();
    let mut replays: BTreeMap<u64, Replay> = BTreeMap::new();
    for (index, text) in recording.lines().enumerate() {
        let line = index + 1;
        let unreadable = |why: String| ReplayError::Unreadable { line, why };
        let (run, entry) =
            text.map_err(|error| error.to_string()).and_then(|text| Entry::read(&text)).map_err(unreadable)?;
        if let Entry::Goal(goal) = entry {
            replayed.goals += 1;
            replays.insert(run, Replay { goal: *goal, observed: Observed::default(), state: RunState::new() });
            continue;
        }
        let Some(replay) = replays.get_mut(&run) else { return Err(unreadable("it begins without a goal".into())) };
        match entry {
            Entry::Goal(_) => {}
            Entry::Observation(observation) => replay.observed.observe(*observation),
            Entry::Answer(at, id, answer) => replay.state.answer(id, answer, at),
            Entry::Stop(at, stop) => {
                replay.state.stop(stop, at);
            }
            Entry::Turn(at, recorded) => {
                let turn = rollout::turn(&replay.goal, &replay.observed, &mut replay.state, at);
                replayed.turns += 1;
                replayed.actions += turn.actions.len();
                replayed.ends += usize::from(turn.end.is_some());
                compare(line, &recorded, decisions(&turn))?;
            }
            Entry::Leave(at, recorded) => {
                let outcome = rollout::leave(&replay.goal, &replay.observed, &replay.state, at);
                replayed.ends += 1;
                compare(line, &recorded, vec![("end", serde_json::to_value(&outcome).unwrap_or_default())])?;
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
