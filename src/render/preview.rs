//! What `resume` and `abort` would do with a rollout that was interrupted, before it is done.

use std::io;
use std::sync::Arc;

use serde_json::json;

use super::style::{Meaning, Style};
use super::table::{self, Column};
use super::{Out, StreamFormat, columns, json, words};
use engine::change::{Direction, FieldChanges, Row, TemplateImage};
use engine::k8s::names::ContainerName;
use engine::plan::{DurablePlan, PLAN_API_VERSION};
use engine::rollout::{ContainerGoal, Goal, PodGoal};
use engine::state::durable::StepName;
use engine::state::durable::lock::{Lock, LockState};
use engine::state::hook::HookPhase;
use engine::value::duration;
use engine::value::image::display_short;

const NAMED_PODS: usize = 10;
const CHANGES: [Column; 3] = [Column::short("CHANGE", 12), Column::short("FROM", 10), Column::short("TO", 10)];

/// A rollout that was interrupted, and what is left to do of it.
#[derive(Debug, Clone, Copy)]
pub struct Preview<'a> {
    pub goal: &'a Goal,
    /// The lock as it was found; `None` where pods only get a removed label or gate restored.
    pub found: Option<&'a Lock>,
    pub may_be_active: bool,
    pub first_step: Option<StepName>,
    pub only_pod_restarts: bool,
    /// The owner has the template that is wanted; `None` where pods only get a removed label or gate restored.
    pub template_is_set: Option<bool>,
    pub now: Option<&'a str>,
    /// Of a dry run: whether the server was asked, and accepted the writes.
    pub checked_by_server: Option<bool>,
}

impl Preview<'_> {
    fn pods(&self) -> impl Iterator<Item = &PodGoal> {
        self.goal.pods.iter().map(Arc::as_ref)
    }

    fn changing(&self) -> Vec<&PodGoal> {
        let changes = |pod: &PodGoal| pod.containers.values().any(|container| container.from != container.to);
        self.pods().filter(|pod| changes(pod) || !pod.fields.is_empty()).collect()
    }

    /// What gets its image in place of one that somebody else has set.
    fn foreign(&self) -> Vec<(&PodGoal, &ContainerName, &ContainerGoal)> {
        let change = self.goal.lock.rollout.directed();
        let is_foreign = |name: &ContainerName, goal: &ContainerGoal| {
            let from = goal.from.as_ref();
            let before =
                self.goal.lock.rollout.replaced.iter().filter_map(|entry| entry.rollout.change.images.get(name));
            let known = change.images.get(name).is_some_and(|image| from.is_some_and(|from| image.was_in_pods(from)))
                || before
                    .flat_map(|image| {
                        [Some(&image.from), Some(&image.to), image.from_in_pods.as_ref(), image.to_in_pods.as_ref()]
                    })
                    .any(|image| image.is_some() && from == image);
            goal.from != goal.to && (goal.overrides || !known)
        };
        let pods = self.pods().flat_map(|pod| pod.containers.iter().map(move |(name, goal)| (pod, name, goal)));
        pods.filter(|(_, name, goal)| is_foreign(name, goal)).collect()
    }

    /// The same of what is no image, with the pod's own value before.
    fn foreign_fields(&self) -> Vec<(&PodGoal, Row)> {
        let wanted = self.fields().rows();
        let replaced = &self.goal.lock.rollout.replaced;
        let earlier: Vec<Row> = replaced.iter().flat_map(|entry| entry.rollout.change.fields.rows()).collect();
        let was_brought_in = |row: &Row| {
            let mut same = earlier.iter().filter(|known| known.path == row.path);
            same.any(|known| known.before == row.before || known.after == row.before)
        };
        let is_foreign = |row: &Row| {
            let is_other = |known: &Row| known.path == row.path && known.before != row.before;
            row.before != row.after && wanted.iter().any(is_other) && !was_brought_in(row)
        };
        let rows = |pod: &PodGoal| pod.fields.rows().into_iter().filter(is_foreign).collect::<Vec<_>>();
        self.pods().flat_map(|pod| rows(pod).into_iter().map(move |row| (pod, row))).collect()
    }

    fn fields(&self) -> FieldChanges {
        self.goal.lock.rollout.directed().fields
    }

    /// Container, from, to. What came back to where it began goes there from what the rollout before had brought in.
    fn images(&self) -> Vec<(String, String, String)> {
        let left = |name: &ContainerName| {
            self.goal.lock.rollout.replaced.iter().rev().find_map(|entry| entry.rollout.change.images.get(name))
        };
        let images = self.goal.lock.rollout.directed().images.into_iter().map(|(name, image)| {
            let left = left(&name).filter(|_| image.from == image.to);
            (name.to_string(), left.map_or(image.from, |left| left.to.clone()), image.to)
        });
        images.collect()
    }

    /// Returns whether the lock is one that this run makes: the id of the rollout before is not known.
    fn lock_is_gone(&self) -> bool {
        self.goal.owner.is_some() && self.goal.lock.run == self.goal.id().as_str()
    }

    fn verb(&self) -> &'static str {
        match self.goal.lock.rollout.direction {
            Direction::Back => "abort",
            Direction::Forward => "resume",
        }
    }
}

pub fn preview(format: StreamFormat, preview: &Preview<'_>, style: &Style, out: Out<'_>) -> io::Result<()> {
    match format {
        StreamFormat::Text => words::in_lines(style, out, |out| text(preview, style, out)),
        StreamFormat::Json => document(preview, out),
    }
}

fn text(preview: &Preview<'_>, style: &Style, out: Out<'_>) -> io::Result<()> {
    let goal = preview.goal;
    let name = words::workload(style, &goal.workload);
    let what = what(preview, style);
    let heading = style.paint(Meaning::Heading, &format!("{name}: {what}"));
    let namespace = style.paint(Meaning::Quiet, &format!("(namespace {})", style.show(&goal.workload.namespace)));
    writeln!(out, "{heading}   {namespace}\n")?;
    changes(preview, style, out)?;
    if let Some(is_set) = preview.template_is_set {
        writeln!(out, "  Template: {}", if is_set { "already set" } else { "will be set" })?;
    }
    if let Some(step) = preview.first_step {
        writeln!(out, "  First write: {}", step.wanted())?;
    }
    let changing = preview.changing();
    let named = changing.iter().map(|pod| style.show(&pod.key.name));
    let named = words::first_of(named, NAMED_PODS);
    match changing.len() {
        0 if preview.found.is_none() => {
            let pods = words::first_of(goal.pods.iter().map(|pod| style.show(&pod.key.name)), NAMED_PODS);
            writeln!(out, "  Pods: {pods}")?;
        }
        0 if goal.pods.is_empty() => writeln!(out, "  Pods: none to update")?,
        0 => {
            let pods = words::first_of(goal.pods.iter().map(|pod| style.show(&pod.key.name)), NAMED_PODS);
            writeln!(out, "  Pods: none to update, {} to be verified: {pods}", goal.pods.len())?;
        }
        number => {
            let none = if preview.only_pod_restarts { ", no other pod serves meanwhile" } else { "" };
            let pace = match changing.iter().any(|pod| pod.restarts()) {
                true => format!("maxUnavailable {}{none}", goal.policy().max_unavailable),
                false => "no pod goes down".to_owned(),
            };
            writeln!(out, "  Pods: {number} of {} to update ({pace}): {named}", goal.pods.len().max(number))?;
        }
    }
    if let Some(canary) = goal.policy().canary.filter(|_| goal.owner.is_some()) {
        writeln!(
            out,
            "  Pauses: after {} (--canary), unless they are done already",
            words::count(usize::try_from(canary).unwrap_or(usize::MAX), "pod")
        )?;
    }
    foreign(preview, style, out)?;
    match preview.checked_by_server {
        None => Ok(()),
        Some(true) => writeln!(out, "Server-side dry run succeeded."),
        Some(false) => writeln!(out, "Not validated by the server (--dry-run=client)."),
    }
}

fn what(preview: &Preview<'_>, style: &Style) -> String {
    match preview.found {
        Some(_) if preview.lock_is_gone() => {
            format!("{} what a rollout left whose lock is gone or unreadable", preview.verb())
        }
        Some(lock) => {
            let who = style.show(&lock.rollout.who);
            let since = style.show(&duration::began(&lock.rollout.since, preview.now));
            // A copy of the lock has the state of the time when it was made.
            let is_copy = preview.goal.owner.as_ref().is_some_and(|owner| owner.adopts);
            let state =
                if is_copy { "its lock is gone or unreadable" } else { lock.state.words(preview.may_be_active) };
            format!("{} rollout \"{}\", started by {who} {since} ({state})", preview.verb(), preview.goal.id())
        }
        None => "restore what an interrupted run removed from its pods".to_owned(),
    }
}

fn foreign(preview: &Preview<'_>, style: &Style, out: Out<'_>) -> io::Result<()> {
    if preview.lock_is_gone() {
        // Which images were the rollout's is not known.
        return Ok(());
    }
    let images = preview.foreign().into_iter().map(|(pod, container, goal)| {
        let (from, to) = (goal.from.as_deref().unwrap_or_default(), goal.to.as_deref().unwrap_or_default());
        (pod, style.show(container.as_str()), style.show(from), style.show(to))
    });
    let fields = preview.foreign_fields().into_iter().map(|(pod, row)| {
        let value = |value: &Option<String>| columns::value(value.as_deref(), style);
        (pod, style.show(&row.what), value(&row.before), value(&row.after))
    });
    for (pod, what, from, to) in images.chain(fields) {
        let text =
            format!("{}: {what} is {from}, which this rollout has not set; it gets {to}", style.show(&pod.key.name));
        writeln!(out, "  {}", style.paint(Meaning::Waiting, &text))?;
    }
    Ok(())
}

fn changes(preview: &Preview<'_>, style: &Style, out: Out<'_>) -> io::Result<()> {
    let (images, fields) = (preview.images(), preview.fields());
    if images.is_empty() && fields.is_empty() {
        return Ok(());
    }
    let folder = columns::common_folder(images.iter().flat_map(|(_, from, to)| [from.as_str(), to.as_str()]));
    columns::images_heading(folder, style, out)?;
    let shown = |image: &str| columns::image_within(image, folder, style);
    let images = images.iter().map(|(name, from, to)| vec![style.show(name), shown(from), shown(to)]);
    let value = |value: &Option<String>| columns::value(value.as_deref(), style);
    let rows = fields.rows();
    let fields = rows.iter().map(|row| vec![style.show(&row.what), value(&row.before), value(&row.after)]);
    let rows: Vec<_> = images.chain(fields).map(|cells| (Meaning::Plain, cells)).collect();
    table::write(&CHANGES, &rows, style, out)?;
    writeln!(out)
}

fn document(preview: &Preview<'_>, out: Out<'_>) -> io::Result<()> {
    let goal = preview.goal;
    let images = preview.images().into_iter();
    let images = images.map(|(container, from, to)| json!({"container": container, "from": from, "to": to}));
    let changing = preview.changing();
    let pods = goal.pods.iter().map(|pod| {
        let update = changing.iter().any(|changing| changing.key == pod.key);
        json!({"name": pod.key.name, "uid": pod.key.uid, "update": update})
    });
    let document = json!({
        "apiVersion": PLAN_API_VERSION, "kind": "RolloutPreview", "workload": goal.workload, "command": preview.verb(),
        "id": (!preview.lock_is_gone()).then_some(goal.id()), "state": preview.found.map(|lock| lock.state.word()), "images": images.collect::<Vec<_>>(),
        "fields": columns::fields(&preview.fields()),
        "templateIsSet": preview.template_is_set == Some(true),
        "firstStep": preview.first_step,
        "checkedByServer": preview.checked_by_server, "maxUnavailable": goal.policy().max_unavailable,
        "onlyPodRestarts": preview.only_pod_restarts,
        "pods": pods.collect::<Vec<_>>(),
    });
    json::write(&document, out)
}

/// Says which one, whose, since when, and what it was about.
pub(super) fn replaced_sentence(lock: &Lock, now: Option<&str>, style: &Style) -> String {
    let image = |(name, image): (&ContainerName, &TemplateImage)| {
        words::image_change(style, name, &display_short(&image.from, &image.to))
    };
    let images: Vec<String> = lock.rollout.change.images.iter().map(image).collect();
    let what = if images.is_empty() { String::new() } else { format!(": {}", images.join(", ")) };
    let since = style.show(&duration::began(&lock.rollout.since, now));
    let (id, who) = (style.show(lock.rollout.id.as_str()), style.show(&lock.rollout.who));
    // Its lock alone does not show whether a running one is still active.
    let state = match lock.state {
        LockState::Running => "not ended",
        LockState::Stopped | LockState::Paused => lock.state.word(),
    };
    let direction = if lock.rollout.goes_back() { "back" } else { "forward" };
    // The commands are stored nowhere: a safeguard does not go without a word.
    let hooks = match HookPhase::flags(&lock.rollout.hooks) {
        flags if flags.is_empty() => String::new(),
        flags => format!("; it ran {flags} around each pod, and this one only what is given again"),
    };
    format!("Replaces rollout \"{id}\", started by {who} {since} ({state}, {direction}){what}{hooks}")
}

pub(super) fn replaced(durable: &DurablePlan, now: Option<&str>, style: &Style, out: Out<'_>) -> io::Result<()> {
    let Some(replaced) = &durable.takes_over else { return Ok(()) };
    writeln!(out, "\n  {}", style.paint(Meaning::Waiting, &replaced_sentence(replaced, now, style)))
}
