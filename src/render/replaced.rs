//! The rollout whose place a plan takes before that one has ended.

use std::io::{self, Write};

use engine::change::TemplateImage;
use engine::k8s::names::ContainerName;
use engine::plan::DurablePlan;
use engine::state::durable::lock::{LockState, RolloutLock};
use engine::state::hook::HookPhase;
use engine::value::duration;
use engine::value::image::display_short;

use super::style::{Meaning, Style};
use super::words;

/// Says which one, whose, since when, and what it was about.
pub(super) fn sentence(lock: &RolloutLock, now: Option<&str>, style: &Style) -> String {
    let image = |(name, image): (&ContainerName, &TemplateImage)| {
        words::image_change(style, name, &display_short(&image.from, &image.to))
    };
    let images: Vec<String> = lock.change.images.iter().map(image).collect();
    let what = if images.is_empty() { String::new() } else { format!(": {}", images.join(", ")) };
    let since = style.show(&duration::began(&lock.since, now));
    let (id, who) = (style.show(lock.id.as_str()), style.show(&lock.who));
    // Its lock alone does not show whether a running one is still active.
    let state = match lock.state {
        LockState::Running => "not ended",
        LockState::Stopped | LockState::Paused => lock.state.word(),
    };
    let direction = words::direction(lock.direction);
    // The commands are stored nowhere: a safeguard does not go without a word.
    let hooks = match HookPhase::flags(&lock.hooks) {
        flags if flags.is_empty() => String::new(),
        flags => format!("; it ran {flags} around each pod, and this one only what is given again"),
    };
    format!("Replaces rollout \"{id}\", started by {who} {since} ({state}, {direction}){what}{hooks}")
}

/// Says it in a line of its own, where there is one.
pub(super) fn text(durable: &DurablePlan, now: Option<&str>, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    let Some(replaced) = &durable.replaced else { return Ok(()) };
    writeln!(out, "\n  {}", style.paint(Meaning::Waiting, &sentence(replaced, now, style)))
}
