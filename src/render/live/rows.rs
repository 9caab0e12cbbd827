//! The pods that are updated now: a row each.

use std::time::Duration;

use crate::engine::report::progress::{PodPhase, PodProgress};
use crate::engine::rollout::PodGoal;
use crate::engine::state::hook::HookPhase;
use crate::engine::value::duration::human;
use crate::engine::value::image::display_short;
use crate::render::run::Run;
use crate::render::style::{Meaning, Style};
use crate::render::table::{self, Column};
use crate::render::{fields, words};

/// A longer tag is cut in its middle, so that both of a change are seen.
const VERSION_COLUMNS: usize = 20;
/// Of a digest its beginning is shown, as of a commit.
const DIGEST: &str = "@sha256:";
const DIGEST_COLUMNS: usize = 8;

const COLUMNS: [Column; 7] = [
    Column::short("POD", 15),
    Column::whole("PHASE"),
    Column::whole("TIME").goes(4),
    Column::short("CHANGE", 17).goes(2),
    Column::short("WAITS FOR", 10).goes(3),
    Column::short("NODE", 8).goes(1),
    Column::whole("RESTARTS").goes(0),
];

/// Returns the rows, below their heads. `style` says how wide they may be.
pub(super) fn lines(run: Option<&Run>, pods: &[PodProgress], style: &Style) -> Vec<String> {
    let rows: Vec<_> = pods.iter().map(|pod| (Meaning::Waiting, cells(run, pod, style))).collect();
    table::lines(&COLUMNS, &rows, style)
}

fn cells(run: Option<&Run>, pod: &PodProgress, style: &Style) -> Vec<String> {
    let goal = run.and_then(|run| run.step(&pod.pod));
    let (phase, waits_for) = phase(&pod.phase, style);
    let known = |text: String| if text.is_empty() { "<none>".to_owned() } else { text };
    vec![
        style.show(&pod.pod.name),
        phase.to_owned(),
        time(pod, style),
        known(goal.map(|goal| change(goal, &pod.phase, style)).unwrap_or_default()),
        waits_for,
        known(style.show(&pod.node)),
        known(pod.restarts.map(|restarts| restarts.to_string()).unwrap_or_default()),
    ]
}

/// How long it has waited, and how long it does at most; or until when the kubelet does.
fn time(pod: &PodProgress, style: &Style) -> String {
    if let PodPhase::Restarting { until: Some(until), .. } = &pod.phase {
        return format!("until {}Z", style.show(words::clock(until)));
    }
    let whole = |time: Duration| human(Duration::from_secs(time.as_secs()));
    let at_most = pod.at_most.map(|at_most| format!("/{}", whole(at_most))).unwrap_or_default();
    format!("{}{at_most}", whole(pod.waited))
}

/// The containers that change now, each from what to what; else what changes besides images.
fn change(goal: &PodGoal, phase: &PodPhase, style: &Style) -> String {
    let version = |version: &str| {
        let short = match version.split_once(DIGEST) {
            Some((tag, digest)) => format!("{tag}@{}", digest.chars().take(DIGEST_COLUMNS).collect::<String>()),
            None => version.to_owned(),
        };
        table::elided(&style.show(&short), VERSION_COLUMNS, style)
    };
    let images = words::changing(phase, goal).filter_map(|(name, wanted)| {
        let name = style.show(name.as_str());
        Some(match (&wanted.from, wanted.to.as_ref().or(wanted.asks.as_ref())?) {
            // Of one that asks for it already nothing changes but what runs.
            (Some(from), to) if from != to => {
                let pair = display_short(from, to);
                format!("{name} {} -> {}", version(&pair.from), version(&pair.to))
            }
            (_, to) => format!("{name} {}", version(to)),
        })
    });
    let images: Vec<String> = images.collect();
    let others = || fields::names(&goal.fields, style);
    // A line each: cut in its middle, a list would tell of a change that nobody makes.
    if images.is_empty() { others().join("\n") } else { images.join("\n") }
}

/// What the pod is at, and what it waits for.
fn phase(phase: &PodPhase, style: &Style) -> (&'static str, String) {
    let services = |services: &[String]| match services {
        [] => "its Services".to_owned(),
        services => words::services(style, services),
    };
    let told = |why: &Option<String>, else_: &str| why.as_ref().map_or_else(|| else_.to_owned(), |why| style.show(why));
    match phase {
        PodPhase::Waiting => ("pending", "its turn".into()),
        PodPhase::Hook { hook: HookPhase::Before } => ("hook", "--before-pod".into()),
        PodPhase::Hook { hook: HookPhase::After } => ("hook", "--after-pod".into()),
        PodPhase::Next { .. } => ("next", "its patch".into()),
        PodPhase::Draining { services: listing } if listing.is_empty() => ("draining", "requests in flight".into()),
        PodPhase::Draining { services: listing } => ("draining", services(listing)),
        PodPhase::Restoring { services: missing } => ("rejoining", services(missing)),
        PodPhase::Patched => ("patched", "the kubelet".into()),
        PodPhase::Restarting { until: Some(_), .. } => ("restarting", "the back-off".into()),
        PodPhase::Restarting { waiting, until: None, .. } => ("restarting", told(waiting, "the kubelet")),
        PodPhase::Resizing { deferred_by: Some(node), .. } => ("deferred", format!("room on {}", style.show(node))),
        PodPhase::Resizing { why, deferred_by: None } => ("resizing", told(why, "the kubelet")),
        PodPhase::Left { node, .. } => ("left", format!("room on {}", style.show(node))),
        PodPhase::Starting => ("starting", "readiness".into()),
        PodPhase::Settling { .. } => ("stabilizing", "staying ready".into()),
        PodPhase::Unverified { why } => ("unverified", style.show(why)),
        PodPhase::Done => ("done", String::new()),
        PodPhase::Failing(failure) => ("failed", style.show(&failure.reason)),
        PodPhase::Moved { .. } => ("conflict", "another client".into()),
        PodPhase::Gone { why } => ("gone", style.show(why)),
    }
}
