//! How several workloads of one command ended: a table for people, lines for scripts.

use std::io::{self, Write};
use std::time::Duration;

use serde::Serialize;

use super::json::WorkloadName;
use super::style::{Meaning, Style};
use super::table::Column;
use super::tally::{Course, Tally};
use super::{StreamFormat, columns, escape, json_lines, words};
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

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct WorkloadLine<'a> {
    workload: WorkloadName<'a>,
    /// `notStarted` besides the words of the results.
    result: &'a str,
    exit_code: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rolled_back: Option<bool>,
    message: Option<&'a str>,
    #[serde(flatten)]
    tally: Tally,
    not_started: usize,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct EndLine<'a> {
    result: &'a str,
    exit_code: u8,
    workloads: usize,
    not_started: Vec<WorkloadName<'a>>,
}

fn lines(ends: &[WorkloadEnd], (result, elapsed): (EndResult, Duration), out: &mut dyn Write) -> io::Result<()> {
    for end in ends {
        let tally = end.outcome.as_ref().map(Tally::of).unwrap_or_default();
        let seconds = end.outcome.as_ref().map_or(0.0, |outcome| outcome.seconds);
        let body = WorkloadLine {
            workload: WorkloadName::of(&end.workload),
            result: end.result.map_or(NOT_STARTED, EndResult::word),
            exit_code: end.result.map(EndResult::exit_code),
            rolled_back: end.outcome.as_ref().and_then(|outcome| outcome.rolled_back),
            message: end.outcome.as_ref().and_then(|outcome| outcome.why.as_deref()),
            not_started: tally.not_started,
            tally,
        };
        let line = json_lines::line("workload", words::from_seconds(seconds), &body)?;
        writeln!(out, "{}", escape::json(&line.to_string()))?;
    }
    let untouched = ends.iter().filter(|end| end.result.is_none()).map(|end| WorkloadName::of(&end.workload));
    let body = EndLine {
        result: result.word(),
        exit_code: result.exit_code(),
        workloads: ends.len(),
        not_started: untouched.collect(),
    };
    let line = json_lines::line("end", elapsed, &body)?;
    writeln!(out, "{}", escape::json(&line.to_string()))
}
