//! Where workloads and their pods stand: a table a workload for a person, one document for a script.

mod cells;
mod document;
#[cfg(test)]
mod tests;

use std::io::{self, Write};

use comfy_table::{ContentArrangement, Table, presets};

use crate::engine::image::display_short;
use crate::engine::status::{Held, OwnerState, PodState, PodStatus, WorkloadStatus};

use super::style::{Meaning, Style};
use super::wide::Detail;
use super::{OutputFormat, diff, escape, words};

/// Of a workload with more pods than these, those that are ready are only counted, and of the others so many are shown.
const MANY_PODS: usize = 50;

/// How much of a message stands in a table.
const MESSAGE_CHARACTERS: usize = 200;

/// Writes where workloads stand: a result, for stdout. `asked_for` says that each was named, so that each is shown; else
/// text and names are of those on which there is something to say.
///
/// # Errors
/// The writer's.
pub fn status(
    format: OutputFormat,
    workloads: &[WorkloadStatus],
    asked_for: bool,
    style: &Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    match format {
        OutputFormat::Json => {
            let text = serde_json::to_string_pretty(&document::of(workloads)?).map_err(io::Error::other)?;
            writeln!(out, "{}", escape::json(&text))
        }
        OutputFormat::Yaml => out.write_all(diff::yaml(&document::of(workloads)?).as_bytes()),
        OutputFormat::Name => {
            for workload in workloads.iter().filter(|workload| asked_for || workload.is_notable()) {
                writeln!(out, "{}", style.whole(&workload.workload.to_string()))?;
            }
            // Without a workload nothing is written; a closed pipe is still told.
            out.flush()
        }
        OutputFormat::Text | OutputFormat::Markdown => text(workloads, asked_for, Detail::Short, style, out),
        OutputFormat::Wide => text(workloads, asked_for, Detail::Wide, style, out),
    }
}

fn text(
    workloads: &[WorkloadStatus],
    asked_for: bool,
    detail: Detail,
    style: &Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let is_shown = |workload: &&WorkloadStatus| asked_for || workload.is_notable();
    let shown: Vec<&WorkloadStatus> = workloads.iter().filter(is_shown).collect();
    if workloads.is_empty() {
        return writeln!(out, "There is no workload.");
    }
    if shown.is_empty() {
        return workloads.iter().try_for_each(|workload| heading(workload, style, out));
    }
    for (index, status) in shown.iter().enumerate() {
        if index > 0 {
            writeln!(out)?;
        }
        workload(status, detail, style, out)?;
    }
    let others = workloads.len() - shown.len();
    if others > 0 {
        writeln!(out, "\nNothing to say of {}.", words::count(others, "other workload"))?;
    }
    Ok(())
}

fn heading(status: &WorkloadStatus, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    let name = style.paint(Meaning::Heading, &words::workload(style, &status.workload));
    let namespace = style.show(&status.workload.namespace);
    writeln!(out, "{name}  namespace {namespace}   {}", summary(status))
}

/// How many pods are how; each pod counts once.
fn summary(status: &WorkloadStatus) -> String {
    let (present, wanted) = (status.present(), usize::try_from(status.desired).unwrap_or(usize::MAX));
    let all = if present == wanted {
        words::count(present, "pod")
    } else {
        format!("{} ({wanted} wanted)", words::count(present, "pod"))
    };
    let counts = PodState::ALL.into_iter().rev().filter_map(|state| {
        let count = status.count(state);
        (count > 0).then(|| format!("{count} {}", state.words()))
    });
    let counts: Vec<String> = counts.collect();
    if counts.is_empty() { all } else { format!("{all}: {}", counts.join(", ")) }
}

fn workload(status: &WorkloadStatus, detail: Detail, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    heading(status, style, out)?;
    held(&status.held, style, out)?;
    for state in &status.owner {
        let meaning = match state {
            OwnerState::Stuck { .. } => Meaning::Failing,
            OwnerState::Terminating | OwnerState::NotObserved | OwnerState::RollingOut { .. } | OwnerState::Paused => {
                Meaning::Waiting
            }
        };
        writeln!(out, "  {} {}", style.paint(meaning, "owner:"), style.show(&state.sentence()))?;
    }
    for what in &status.not_read {
        writeln!(out, "  {} {}", style.paint(Meaning::Waiting, "not read:"), style.show(what))?;
    }
    let shown = shown(status, detail);
    if !shown.is_empty() {
        writeln!(out)?;
        table(status, &shown, detail, style, out)?;
    }
    let left = status.pods.len() - shown.len();
    if left > 0 {
        let noun = if shown.is_empty() { "pod" } else { "other pod" };
        writeln!(out, "  {} not listed; -o wide lists every pod", words::count(left, noun))?;
    }
    Ok(())
}

fn held(held: &Held, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    match held {
        Held::No => Ok(()),
        Held::Unreadable { text } => {
            let heading = style.paint(Meaning::Failing, "held:");
            let text = escape::cut(&style.whole(text), MESSAGE_CHARACTERS);
            writeln!(out, "  {heading} by a note that cannot be read (made by another version, or edited): {text}")
        }
        Held::By(lock) => {
            writeln!(
                out,
                "  {} by rollout {} of {} since {}: {}, {}",
                style.paint(Meaning::Waiting, "held:"),
                style.show(lock.id.as_str()),
                style.show(&lock.who),
                style.show(&lock.since),
                lock.state.word(),
                words::direction(lock.direction)
            )?;
            for (name, image) in &lock.change.images {
                let pair = display_short(&image.from, &image.to);
                writeln!(out, "        {}", words::image_change(style, name, &pair))?;
            }
            match &lock.reason {
                Some(reason) => writeln!(out, "        reason: {}", style.show(reason)),
                None => Ok(()),
            }
        }
    }
}

fn shown(status: &WorkloadStatus, detail: Detail) -> Vec<&PodStatus> {
    if detail == Detail::Wide || status.pods.len() <= MANY_PODS {
        return status.pods.iter().collect();
    }
    status.pods.iter().filter(|pod| pod.state != PodState::Ready).take(MANY_PODS).collect()
}

fn table(
    status: &WorkloadStatus,
    pods: &[&PodStatus],
    detail: Detail,
    style: &Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let columns = cells::Columns { template: !status.template.is_empty(), detail };
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    // A wide table may be wider than the terminal, as kubectl's.
    if let Some(width) = style.width.filter(|_| detail == Detail::Short) {
        table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width.max(40));
    }
    table.set_header(columns.heads());
    for pod in pods {
        for row in columns.rows(pod, style) {
            table.add_row(row);
        }
    }
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_padding(if index == 0 { (2, 3) } else { (0, 3) });
    }
    // Colour after the layout: the table counts an escape sequence as columns.
    for (index, line) in table.lines().enumerate() {
        let meaning = if index == 0 { Meaning::Quiet } else { Meaning::Plain };
        writeln!(out, "{}", style.paint(meaning, line.trim_end()))?;
    }
    Ok(())
}
