//! The pods that are updated now: a row each.

use std::time::Duration;

use super::super::run::Run;
use super::super::style::{Meaning, Style, elided};
use super::super::table::{self, Before, Column};
use super::super::{columns, words};
use engine::report::progress::{BackOff, PodInProgress, UpdatePhase};
use engine::rollout::PodGoal;
use engine::state::hook::HookPhase;
use engine::value::duration::human;
use engine::value::image::display_short;

/// A longer tag is cut in its middle, so that both of a change are seen.
const VERSION_COLUMNS: usize = 20;
/// Of a digest its beginning is shown, as of a commit.
const DIGEST_COLUMNS: usize = 8;

/// A longer text is cut in its middle.
const REASON_COLUMNS: usize = 34;

const COLUMNS: [Column; 7] = [
    Column::name("POD", 10).seen(24),
    // As much as any needs: what is drawn again and again must not move.
    Column::whole("PHASE").reserved(11),
    Column::whole("TIME").goes_after_names(),
    Column::short("CHANGE", 24).goes(2),
    Column::short("WAITS FOR", 17).goes(3).reserved(17),
    Column::short("NODE", 8).goes(1),
    Column::whole("RESTARTS").goes(0),
];

/// Returns the rows, below their heads, as wide as `style` says; `before` is what they were drawn with last.
pub(super) fn lines(run: Option<&Run>, pods: &[PodInProgress], before: &mut Before, style: &Style) -> Vec<String> {
    let rows: Vec<_> = pods.iter().map(|pod| (Meaning::Waiting, cells(run, pod, style))).collect();
    table::lines_again(&COLUMNS, &rows, before, style)
}

fn cells(run: Option<&Run>, pod: &PodInProgress, style: &Style) -> Vec<String> {
    let goal = run.and_then(|run| run.step(&pod.pod));
    let (phase, waits_for) = phase(&pod.phase, style);
    let waits_for = pod.back_off.as_ref().map_or(waits_for, |back_off| held_back(back_off, style));
    let known = |text: String| if text.is_empty() { "<none>".to_owned() } else { text };
    vec![
        run.map_or_else(|| style.show(&pod.pod.name), |run| words::pod_name(style, &run.workload, &pod.pod)),
        phase.to_owned(),
        time(pod, style),
        known(goal.map(|goal| change(goal, &pod.phase, style)).unwrap_or_default()),
        elided(&waits_for, REASON_COLUMNS, style),
        known(style.show(&pod.node)),
        known(pod.restarts.map(|restarts| restarts.to_string()).unwrap_or_default()),
    ]
}

/// How long it has waited, and, where there is room, how long it does at most.
fn time(pod: &PodInProgress, style: &Style) -> String {
    let whole = |time: Duration| human(Duration::from_secs(time.as_secs()));
    let at_most = pod.at_most.filter(|_| !table::is_narrow(style)).map(|at_most| format!("/{}", whole(at_most)));
    format!("{}{}", whole(pod.waited), at_most.unwrap_or_default())
}

fn held_back(back_off: &BackOff, style: &Style) -> String {
    let exit_code = back_off.exit_code.filter(|code| *code != 0).map(|code| format!(", exit {code}"));
    let held = back_off.until.as_ref().map_or_else(|| "its start".to_owned(), |end| until(end, style));
    format!("{held}{}", exit_code.unwrap_or_default())
}

fn until(until: &str, style: &Style) -> String {
    // The kubelet starts it when it syncs the pod again, up to some twenty seconds later.
    format!("back-off past {}Z", style.show(words::clock(until)))
}

/// The containers that change now, each from what to what; else what changes besides images.
fn change(goal: &PodGoal, phase: &UpdatePhase, style: &Style) -> String {
    let version = |version: &str| {
        let parts = version.split_once('@').and_then(|(tag, digest)| Some((tag, digest.split_once(':')?.1)));
        let short = match parts {
            Some((tag, digest)) => format!("{tag}@{}", digest.chars().take(DIGEST_COLUMNS).collect::<String>()),
            None => version.to_owned(),
        };
        elided(&style.show(&short), VERSION_COLUMNS, style)
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
    let others = || columns::names(&goal.fields, style);
    // A line each: a list that is cut in its middle would show a change that nobody makes.
    if images.is_empty() { others().join("\n") } else { images.join("\n") }
}

fn phase(phase: &UpdatePhase, style: &Style) -> (&'static str, String) {
    let services = |services: &[String]| match services {
        [] => "its Services".to_owned(),
        services => words::services(style, services),
    };
    let reported =
        |why: &Option<String>, else_: &str| why.as_ref().map_or_else(|| else_.to_owned(), |why| style.show(why));
    match phase {
        UpdatePhase::Waiting => ("pending", "its turn".into()),
        UpdatePhase::Hook { hook: HookPhase::Before } => ("hook", "--before-pod".into()),
        UpdatePhase::Hook { hook: HookPhase::After } => ("hook", "--after-pod".into()),
        UpdatePhase::Next { .. } => ("next", "its patch".into()),
        UpdatePhase::Draining { services: listing } if listing.is_empty() => ("draining", "requests in flight".into()),
        UpdatePhase::Draining { services: listing } => ("draining", services(listing)),
        UpdatePhase::RejoiningService { services: missing } => ("rejoining", services(missing)),
        UpdatePhase::Patched => ("patched", "the kubelet".into()),
        UpdatePhase::Restarting { until: Some(end), .. } => ("restarting", until(end, style)),
        UpdatePhase::Restarting { waiting, until: None, .. } => ("restarting", reported(waiting, "the kubelet")),
        UpdatePhase::Resizing { deferred_by: Some(node), .. } => ("deferred", format!("room on {}", style.show(node))),
        UpdatePhase::Resizing { why, deferred_by: None } => ("resizing", reported(why, "the kubelet")),
        UpdatePhase::Left { node, .. } => ("left", format!("kubelet of {}", style.show(node))),
        UpdatePhase::Starting { .. } => ("starting", "readiness".into()),
        UpdatePhase::Stabilizing { .. } => ("stabilizing", "staying ready".into()),
        UpdatePhase::Unverified { why, .. } => ("unverified", style.show(why)),
        UpdatePhase::Done => ("done", String::new()),
        UpdatePhase::Failing(failure) => ("failed", style.show(&failure.reason)),
        UpdatePhase::Conflict { .. } | UpdatePhase::Overtaken { .. } => ("conflict", "another client".into()),
        UpdatePhase::Gone { why } => ("gone", style.show(why)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_holds_a_start_back_is_named() {
        for (until, exit_code, expected) in [
            (Some("2026-03-01T10:15:02Z"), Some(3), "back-off past 10:15:02Z, exit 3"),
            (Some("2026-03-01T10:15:02Z"), Some(0), "back-off past 10:15:02Z"),
            (None, Some(143), "its start, exit 143"),
            (None, Some(0), "its start"),
        ] {
            let back_off = BackOff { until: until.map(str::to_owned), exit_code };
            assert_eq!(held_back(&back_off, &Style::PLAIN), expected);
        }
    }
}
