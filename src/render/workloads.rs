//! How many pods of a rollout ended where; and how several workloads of one command ended: a table for people, lines for
//! scripts.

use std::io;
use std::time::Duration;

use serde::Serialize;
use serde_json::{Value, json};

use super::json::without_empty;
use super::json_lines::joined;
use super::style::{Meaning, Style};
use super::table::Column;
use super::{Out, StreamFormat, columns, json_lines, words};
use engine::report::hand_over::HandedOver;
use engine::report::progress::{Stage, UpdatePhase};
use engine::report::{Outcome, WorkloadEnd};
use engine::state::outcome::EndResult;

const COLUMNS: [Column; 5] = [
    Column::name("WORKLOAD", 16),
    Column::name("NAMESPACE", 9),
    Column::whole("RESULT"),
    Column::words("PODS").seen(24).goes(2),
    Column::whole("TOOK").goes(1),
];

const NOT_STARTED: &str = "notStarted";

/// Writes how each ended, in the order of the plan, and the result of all: a table, or a `workload` line each and an
/// `end` line. `elapsed` is the time of the whole command.
pub fn workload_ends(
    format: StreamFormat,
    ends: &[WorkloadEnd],
    (result, elapsed): (EndResult, Duration),
    style: &Style,
    out: Out<'_>,
) -> io::Result<()> {
    match format {
        StreamFormat::Json => lines(ends, (result, elapsed), out)?,
        StreamFormat::Text => words::in_lines(style, out, |out| text(ends, (result, elapsed), style, out))?,
    }
    out.flush()
}

/// Writes the same of workloads that another tool applies next: as text a line each that is left to it, below the table if
/// there are several.
pub fn handed_over(
    format: StreamFormat,
    ends: &[WorkloadEnd],
    (result, elapsed): (EndResult, Duration),
    style: &Style,
    out: Out<'_>,
) -> io::Result<()> {
    let line = |end: &WorkloadEnd| Some(format!("{}: {}\n", words::workload(style, &end.workload), left(end)?));
    let lines = match format {
        StreamFormat::Json => String::new(),
        StreamFormat::Text => ends.iter().filter_map(line).collect(),
    };
    // The last line shall not say less than the exit code.
    let (first, last) = if result.exit_code() == 0 { ("", lines.as_str()) } else { (lines.as_str(), "") };
    out.write_all(first.as_bytes())?;
    if format == StreamFormat::Json || ends.len() > 1 {
        workload_ends(format, ends, (result, elapsed), style, out)?;
    }
    out.write_all(last.as_bytes())?;
    out.flush()
}

/// What of a workload is left to the next apply, and why.
fn left(end: &WorkloadEnd) -> Option<String> {
    match (end.result, end.handed_over.as_ref()?) {
        (_, (HandedOver::Left, code)) => Some(format!("left to the next apply: {code}")),
        (_, (HandedOver::Absent, _)) => Some("not there yet: left to the next apply".to_owned()),
        (Some(EndResult::NothingToDo), (HandedOver::InPlace, _)) => Some("nothing to do".to_owned()),
        (_, (HandedOver::InPlace, _)) => None,
    }
}

fn text(ends: &[WorkloadEnd], (result, elapsed): (EndResult, Duration), style: &Style, out: Out<'_>) -> io::Result<()> {
    let row = |end: &WorkloadEnd| {
        let tally = end.outcome.as_ref().map(Tally::of);
        let pods = tally.map_or_else(|| "-".to_owned(), |tally| tally.words(Course::Forward));
        let took = end.outcome.as_ref().map(|outcome| words::duration(words::from_seconds(outcome.seconds)));
        let [name, namespace] = columns::place(&end.workload, style);
        let meaning = end.result.map_or(Meaning::Waiting, words::meaning);
        let then = match end.outcome.as_ref().and_then(|outcome| outcome.rolled_back) {
            None => "",
            Some(true) => ", rolled back",
            Some(false) => ", roll-back unfinished",
        };
        let word = format!("{}{then}", end.result.map_or("not started", words::ended));
        (meaning, vec![name, namespace, word, pods, took.unwrap_or_else(|| "-".into())])
    };
    let rows: Vec<(Meaning, Vec<String>)> = ends.iter().map(row).collect();
    writeln!(out)?;
    columns::placed_table(&COLUMNS, rows, style, out)?;
    let of = |result: Option<EndResult>| ends.iter().filter(|end| end.result == result).count();
    let (complete, untouched) = (of(Some(EndResult::Complete)) + of(Some(EndResult::Aborted)), of(None));
    let (there, left) = (of(Some(EndResult::NothingToDo)), of(Some(EndResult::Left)));
    let other = ends.len() - complete - untouched - there - left;
    let left = if left == 0 { String::new() } else { format!(" {left} left to the next apply,") };
    let head = style.paint(words::meaning(result), &format!("Total: {}:", words::count(ends.len(), "workload")));
    writeln!(
        out,
        "\n{head} {complete} done, {there} up to date,{left} {other} not done, {untouched} not started; {}.",
        words::duration(elapsed)
    )
}

fn lines(ends: &[WorkloadEnd], (result, elapsed): (EndResult, Duration), out: Out<'_>) -> io::Result<()> {
    for end in ends {
        let outcome = end.outcome.as_ref();
        let tally = outcome.map(Tally::of).unwrap_or_default();
        let head = json!({
            "workload": end.workload,
            "result": end.result.map_or(NOT_STARTED, EndResult::word),
            "exitCode": end.result.map(EndResult::exit_code),
        });
        let rolled_back = outcome.and_then(|outcome| outcome.rolled_back);
        let rolled_back = rolled_back.map_or_else(|| json!({}), |is_whole| json!({"rolledBack": is_whole}));
        let message = outcome.and_then(|outcome| outcome.why.clone()).or_else(|| left(end));
        let message = json!({ "message": message });
        let handed_over = end.handed_over.as_ref().map(|(word, _)| word);
        let rest = without_empty(json!({"notStarted": tally.not_started, "handedOver": handed_over}), &["handedOver"]);
        let fields = joined([head, rolled_back, message, json!(tally), rest]);
        let seconds = outcome.map_or(0.0, |outcome| outcome.seconds);
        json_lines::line("workload", words::from_seconds(seconds), fields, out)?;
    }
    let is_of_one =
        |word: &HandedOver| ends.iter().any(|end| end.handed_over.as_ref().is_some_and(|(of, _)| of == word));
    // What is left to the next apply comes before what is not there yet.
    let handed_over = [HandedOver::Left, HandedOver::Absent, HandedOver::InPlace].into_iter().find(is_of_one);
    let untouched = ends.iter().filter(|end| end.result.is_none()).map(|end| json!(end.workload));
    let fields = json!({
        "result": result.word(),
        "exitCode": result.exit_code(),
        "workloads": ends.len(),
        "notStarted": untouched.collect::<Value>(),
        "handedOver": handed_over,
    });
    let fields = without_empty(fields, &["handedOver"]);
    json_lines::line("end", elapsed, fields, out)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Tally {
    /// Done, and patched by this run.
    pub(super) updated: usize,
    /// Done without a patch of this run.
    pub(super) up_to_date: usize,
    /// Patched, and neither done nor failed.
    pub(super) in_progress: usize,
    /// Left to the kubelet, which has put it off.
    pub(super) left_to_kubelet: usize,
    /// Followed, not done, and nobody has changed it.
    #[serde(skip)]
    pub(super) unchanged: usize,
    pub(super) failed: usize,
    pub(super) conflict: usize,
    pub(super) gone: usize,
    /// In documents it follows what else is said of pods that are gone.
    #[serde(skip)]
    pub(super) not_started: usize,
    /// This run changed them, however they ended.
    #[serde(skip)]
    pub(super) patched: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Course {
    Forward,
    Back,
    Followed,
}

impl Tally {
    pub(super) fn of(outcome: &Outcome) -> Self {
        let mut tally = Self::default();
        for pod in &outcome.pods {
            tally.patched += usize::from(pod.patched);
            let counter = match (pod.phase.stage(), pod.patched) {
                (Stage::Done, true) => &mut tally.updated,
                (Stage::Done, false) => &mut tally.up_to_date,
                (Stage::Left, _) => &mut tally.left_to_kubelet,
                (Stage::Failed, _) => &mut tally.failed,
                (Stage::Lost, _)
                    if matches!(pod.phase, UpdatePhase::Conflict { .. } | UpdatePhase::Overtaken { .. }) =>
                {
                    &mut tally.conflict
                }
                (Stage::Lost, _) => &mut tally.gone,
                (Stage::Waiting | Stage::InProgress, false) if pod.phase.is_before_any_change() => {
                    &mut tally.not_started
                }
                (Stage::InProgress, false) if pod.unchanged => &mut tally.unchanged,
                (Stage::Waiting | Stage::InProgress, _) => &mut tally.in_progress,
            };
            *counter += 1;
        }
        tally
    }

    /// Says what there is of it; of pods that are only followed, or go back, in other words.
    pub(super) fn words(&self, course: Course) -> String {
        let (updated, up_to_date, not_started) = match course {
            Course::Forward => ("updated", "up to date", "not started"),
            Course::Back => ("taken back", "as before", "not taken back"),
            Course::Followed => ("done", "done", "waiting"),
        };
        let counts = [
            (self.updated, updated),
            (self.up_to_date, up_to_date),
            (self.in_progress, "in progress"),
            (self.unchanged, "unchanged"),
            (self.left_to_kubelet, "left to the kubelet"),
            (self.failed, "failed"),
            (self.conflict, "changed outside this run"),
            (self.gone, "gone"),
            (self.not_started, not_started),
        ];
        let counts = counts.into_iter().filter(|(number, _)| *number > 0);
        counts.map(|(number, word)| format!("{number} {word}")).collect::<Vec<_>>().join(", ")
    }
}
