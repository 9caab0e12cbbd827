//! The in-place updates of workloads: a table for people, one document for scripts.

use std::io;

use serde_json::{Value, json};

use super::json::{self, each, without_empty};
use super::style::{Meaning, Style, elided};
use super::table::{self, Column};
use super::{DocumentFormat, Out, columns, diff, words};
use engine::change::Direction;
use engine::plan::PLAN_API_VERSION;
use engine::plan::updates::{Course, Update, UpdatedImage, WorkloadUpdates};
use engine::state::outcome::EndResult;
use engine::value::image::display_short;

const NONE: &str = "<none>";

const COLUMNS: [Column; 7] = [
    Column::whole("ID"),
    Column::whole("AGE").goes(3),
    Column::whole("TOOK").goes(1),
    Column::short("WHO", 8).goes(0),
    Column::name("CHANGE", 16).seen(36),
    Column::words("OUTCOME"),
    Column::words("REASON").goes(2).reserved(16),
];

/// Without one of these a line below the other says more than the table.
const TOLD: [&str; 4] = ["AGE", "TOOK", "WHO", "REASON"];

pub struct HistoryContext<'a> {
    /// The wall clock (RFC 3339).
    pub now: &'a str,
    /// Gives the commands for a workload that a rollout holds, each with what is printed before it.
    pub commands: &'a dyn Fn(&WorkloadUpdates) -> Vec<(String, String)>,
}

pub fn history(
    format: DocumentFormat,
    workloads: &[WorkloadUpdates],
    context: &HistoryContext<'_>,
    style: &Style,
    out: Out<'_>,
) -> io::Result<()> {
    match format {
        DocumentFormat::Text => words::in_lines(style, out, |out| text(workloads, context, style, out)),
        DocumentFormat::Json => json::write(&document(workloads), out),
        DocumentFormat::Yaml => out.write_all(diff::yaml(&document(workloads)).as_bytes()),
    }
}

fn text(workloads: &[WorkloadUpdates], context: &HistoryContext<'_>, style: &Style, out: Out<'_>) -> io::Result<()> {
    for (index, workload) in workloads.iter().enumerate() {
        if index > 0 {
            writeln!(out)?;
        }
        let name = style.paint(Meaning::Heading, &words::workload(style, &workload.workload));
        writeln!(out, "{name}  namespace {}", style.show(&workload.workload.namespace))?;
        writeln!(out)?;
        if workload.updates.is_empty() {
            writeln!(out, "  No in-place updates recorded.")?;
        } else {
            updates(workload, context.now, style, out)?;
        }
        let is_under_way = workload.updates.iter().any(|update| matches!(update.course, Course::UnderWay { .. }));
        let commands = if is_under_way { (context.commands)(workload) } else { Vec::new() };
        for (index, (label, command)) in commands.iter().enumerate() {
            let gap = if index == 0 { "\n" } else { "" };
            writeln!(out, "{gap}  {label} {}", style.whole(command))?;
        }
        for note in &workload.unreadable {
            let heading = style.paint(Meaning::Waiting, "not readable:");
            let object = style.show(&note.object);
            writeln!(out, "  {heading} {} of {object} (made by another version, or edited)", note.annotation)?;
        }
        for what in &workload.not_read {
            writeln!(out, "  {} {}", style.paint(Meaning::Waiting, "not read:"), style.show(what))?;
        }
    }
    Ok(())
}

/// As a table, where it has room for all that is known.
fn updates(of: &WorkloadUpdates, now: &str, style: &Style, out: Out<'_>) -> io::Result<()> {
    let rows = rows(of, now, style);
    let has_room = TOLD.iter().all(|head| table::tells(&COLUMNS, &rows, head, style));
    if has_room { table::write(&COLUMNS, &rows, style, out) } else { list(of, now, style, out) }
}

fn rows(of: &WorkloadUpdates, now: &str, style: &Style) -> Vec<(Meaning, Vec<String>)> {
    let is_pods_own = !of.workload.kind.has_template();
    let row = |update: &Update| {
        let known = |text: Option<String>| text.unwrap_or_else(|| NONE.to_owned());
        let shown = |text: &Option<String>| known(text.as_ref().map(|text| style.show(text)));
        let cells = vec![
            style.whole(update.id.as_str()),
            known(age(update, now, style)),
            known(took(update)),
            shown(&update.who),
            change(update, style),
            outcome(update, is_pods_own),
            shown(&update.reason),
        ];
        (Meaning::Plain, cells)
    };
    of.updates.iter().map(row).collect()
}

/// The same, one below the other.
fn list(of: &WorkloadUpdates, now: &str, style: &Style, out: Out<'_>) -> io::Result<()> {
    let room = style.width.map_or(usize::MAX, usize::from).saturating_sub(4);
    let is_pods_own = !of.workload.kind.has_template();
    for update in &of.updates {
        let age = age(update, now, style).map(|age| format!("  {age} ago")).unwrap_or_default();
        words::whole_line(&format!("  {}{age}", style.whole(update.id.as_str())), style, out)?;
        for line in change(update, style).lines() {
            words::whole_line(&format!("    {}", elided(line, room, style)), style, out)?;
        }
        let took = took(update).map(|took| format!(", took {took}")).unwrap_or_default();
        let who = update.who.as_ref().map(|who| format!(", by {}", style.show(who))).unwrap_or_default();
        writeln!(out, "    {}{took}{who}", outcome(update, is_pods_own))?;
        if let Some(reason) = &update.reason {
            writeln!(out, "    {}", style.show(reason))?;
        }
    }
    Ok(())
}

fn age(update: &Update, now: &str, style: &Style) -> Option<String> {
    update.began.as_deref().map(|began| style.show(&words::age(began, now)))
}

/// What is recorded is whole seconds.
fn took(update: &Update) -> Option<String> {
    update.seconds().map(|seconds| if seconds == 0 { "<1 s".to_owned() } else { words::whole_seconds(seconds) })
}

/// A line a container, and a line a field.
fn change(update: &Update, style: &Style) -> String {
    let images = update.images.iter().map(|image| match image.from == image.to {
        true => format!("{}: restarted", style.show(image.container.as_str())),
        false => words::version_change(style, &image.container, &display_short(&image.from, &image.to)),
    });
    let lines: Vec<String> = images.chain(columns::lines(&update.fields, style)).collect();
    // The lock of a rollout that has left nothing else.
    if lines.is_empty() { NONE.to_owned() } else { lines.join("\n") }
}

/// How it ended; that of a pod's owner is in its owner's history alone.
fn outcome(update: &Update, is_pods_own: bool) -> String {
    match &update.course {
        Course::Ended(result) => words::ended(*result).to_owned(),
        Course::Replaced { by } => format!("replaced by \"{by}\""),
        Course::UnderWay { state, direction, is_left } => {
            let back = match direction {
                Direction::Forward => "",
                Direction::Back => ", rolling back",
            };
            format!("{}{back}", state.words(!is_left))
        }
        Course::Unrecorded { .. } if is_pods_own => "see its owner's history".to_owned(),
        Course::Unrecorded { pods } => format!("not recorded: {}", words::count(pods.len(), "pod")),
        Course::PodsOnly { pods } => format!("pods only: {}", words::count(pods.len(), "pod")),
    }
}

fn document(workloads: &[WorkloadUpdates]) -> Value {
    json!({"apiVersion": PLAN_API_VERSION, "kind": "History", "workloads": each(workloads, workload)})
}

fn workload(updates: &WorkloadUpdates) -> Value {
    json!({
        "workload": updates.workload,
        "uid": updates.uid,
        "updates": each(&updates.updates, update),
        "unreadable": each(&updates.unreadable, |note| json!({"object": note.object, "annotation": note.annotation})),
        "notRead": updates.not_read,
    })
}

fn update(update: &Update) -> Value {
    let course = match &update.course {
        Course::Ended(ended) => json!({"course": "ended", "result": ended.word()}),
        Course::Replaced { by } => json!({"course": "ended", "result": EndResult::Superseded.word(), "replacedBy": by}),
        Course::UnderWay { state, direction, is_left } => {
            json!({"course": "inProgress", "state": state.word(), "direction": direction, "interrupted": is_left})
        }
        Course::Unrecorded { pods } => json!({"course": "unrecorded", "pods": pods}),
        Course::PodsOnly { pods } => json!({"course": "podsOnly", "pods": pods}),
    };
    let document = json!({
        "id": update.id,
        "course": course["course"],
        "result": course["result"],
        "replacedBy": course["replacedBy"],
        "state": course["state"],
        "direction": course["direction"],
        "interrupted": course["interrupted"],
        "who": update.who,
        "began": update.began,
        "ended": update.ended,
        "seconds": update.seconds(),
        "reason": update.reason,
        "images": each(&update.images, |UpdatedImage { container, from, to, image_id }| {
            json!({"container": container, "from": from, "to": to, "imageID": image_id})
        }),
        "fields": columns::fields(&update.fields),
        "pods": course["pods"],
    });
    without_empty(document, &["replacedBy", "interrupted", "fields", "pods"])
}

#[cfg(test)]
mod tests;
