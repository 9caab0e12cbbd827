//! How several workloads of one command ended: a table for people, lines for scripts.

use std::io::{self, Write};
use std::time::Duration;

use serde_json::{Value, json};

use super::json_lines::joined;
use super::style::{Meaning, Style};
use super::table::Column;
use super::tally::{Course, Tally};
use super::{StreamFormat, columns, json_lines, words};
use engine::report::WorkloadEnd;
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
    out: &mut dyn Write,
) -> io::Result<()> {
    match format {
        StreamFormat::Json => lines(ends, (result, elapsed), out)?,
        StreamFormat::Text => words::in_lines(style, out, |out| text(ends, (result, elapsed), style, out))?,
    }
    out.flush()
}

fn word(end: &WorkloadEnd) -> &'static str {
    match end.result {
        None => "not started",
        Some(EndResult::Complete) => "complete",
        Some(EndResult::NothingToDo) => "up to date",
        Some(EndResult::Paused) => "paused",
        Some(EndResult::Aborted) => "rolled back",
        Some(EndResult::Error) => "error",
        Some(EndResult::Changes) => "changes",
        Some(EndResult::NotEligible) => "not eligible",
        Some(EndResult::Failed) => "failed",
        Some(EndResult::TimedOut) => "timed out",
        Some(EndResult::Deferred) => "deferred",
        Some(EndResult::Superseded) => "superseded",
        Some(EndResult::Interrupted | EndResult::Terminated) => "interrupted",
    }
}

fn text(
    ends: &[WorkloadEnd],
    (result, elapsed): (EndResult, Duration),
    style: &Style,
    out: &mut dyn Write,
) -> io::Result<()> {
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
        let word = format!("{}{then}", word(end));
        (meaning, vec![name, namespace, word, pods, took.unwrap_or_else(|| "-".into())])
    };
    let rows: Vec<(Meaning, Vec<String>)> = ends.iter().map(row).collect();
    writeln!(out)?;
    columns::placed_table(&COLUMNS, rows, style, out)?;
    let of = |result: Option<EndResult>| ends.iter().filter(|end| end.result == result).count();
    let (complete, untouched) = (of(Some(EndResult::Complete)) + of(Some(EndResult::Aborted)), of(None));
    let there = of(Some(EndResult::NothingToDo));
    let other = ends.len() - complete - untouched - there;
    let head = style.paint(words::meaning(result), &format!("Total: {}:", words::count(ends.len(), "workload")));
    writeln!(
        out,
        "\n{head} {complete} done, {there} up to date, {other} not done, {untouched} not started; {}.",
        words::duration(elapsed)
    )
}

fn lines(ends: &[WorkloadEnd], (result, elapsed): (EndResult, Duration), out: &mut dyn Write) -> io::Result<()> {
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
        let message = json!({"message": outcome.and_then(|outcome| outcome.why.as_ref())});
        let rest = json!({"notStarted": tally.not_started});
        let fields = joined([head, rolled_back, message, json!(tally), rest]);
        let seconds = outcome.map_or(0.0, |outcome| outcome.seconds);
        json_lines::line("workload", words::from_seconds(seconds), fields, out)?;
    }
    let untouched = ends.iter().filter(|end| end.result.is_none()).map(|end| json!(end.workload));
    let fields = json!({
        "result": result.word(),
        "exitCode": result.exit_code(),
        "workloads": ends.len(),
        "notStarted": untouched.collect::<Value>(),
    });
    json_lines::line("end", elapsed, fields, out)
}
