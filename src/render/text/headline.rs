//! The first and the last words on a workload: what can be done, to how many pods, in what time; and what stays.

use std::io;

use crate::render::style::{Meaning, Style};
use crate::render::{Out, offline, words};
use engine::change::reason::Warning;
use engine::change::{FieldEffect, Row};
use engine::k8s::pod::ContainerList;
use engine::plan::{BudgetPace, Effect, PodVerdict, Verdict, WorkloadPlan};
use engine::state::policy::Policy;

/// The number of containers that keep running and are named, at most.
const NAMED_CONTAINERS: usize = 3;

pub(super) fn text(plan: &WorkloadPlan, style: &Style, out: Out<'_>) -> io::Result<()> {
    let name = words::workload(style, &plan.workload);
    let namespace = words::in_namespace(style, &plan.workload.namespace, ("   (", ")"));
    let (meaning, verdict) = match plan.verdict {
        Verdict::NothingToDo => (Meaning::Ok, format!(": No changes. {}", nothing_to_do(plan, &name))),
        // A refusal has a headline of its own.
        Verdict::InPlace | Verdict::NotEligible => (Meaning::Heading, format!(" {}", can_be_done(plan, style))),
        Verdict::InPlaceByController => (Meaning::Heading, format!(" {}", offline::BY_CONTROLLER)),
    };
    writeln!(out, "{}", style.paint(meaning, &format!("{name}{verdict}{namespace}")))
}

fn can_be_done(plan: &WorkloadPlan, style: &Style) -> String {
    let verb = if plan.restarts_the_same { "restarted" } else { "updated" };
    // Who reads no further has to know it.
    let by_whom = if plan.missing_permissions.is_empty() { "" } else { ", but you are not allowed to" };
    let can = format!("can be {verb} in place{by_whom}");
    let none = if plan.restarts_all_ready() { ", no other pod serves meanwhile" } else { "" };
    if plan.is_offline() {
        return format!("{can}{none} (pods and nodes were not asked)");
    }
    if words::pods_not_listed(plan) {
        return format!("{can}; its pods could not be listed");
    }
    format!("{can}: {}, {}{none}, {}", pods(plan), pace(plan, style), expected(plan))
}

/// Returns `about 5 s`, and what is not in it; or that it cannot be known, and why.
fn expected(plan: &WorkloadPlan) -> String {
    if plan.waits_for_nodes() {
        return "how long is not known, as no node runs its pods yet".to_owned();
    }
    let left_out = match plan.unscheduled() {
        0 => String::new(),
        pods => format!(" without {} that no node runs yet", words::count(pods, "pod")),
    };
    format!("about {}{left_out}", time(plan))
}

/// Returns `5 s`: how long it will take, as far as the cluster's history says.
pub(super) fn time(plan: &WorkloadPlan) -> String {
    if plan.waits_for_nodes() {
        return "unknown".to_owned();
    }
    let seconds = words::whole_seconds(words::from_seconds(plan.estimate_seconds + 0.5).as_secs().max(1));
    // Only the user knows how long their own commands take.
    if plan.hooks.is_empty() { seconds } else { format!("{seconds} plus hooks") }
}

/// Returns `3 pods`, or `2 of 3 pods (1 up to date)`.
pub(super) fn pods(plan: &WorkloadPlan) -> String {
    let (all, update) = (plan.pods.len(), plan.count(PodVerdict::Update));
    let others = [
        (PodVerdict::InProgress, "in progress"),
        (PodVerdict::AlreadyThere, there_already(plan)),
        (PodVerdict::Blocked, "blocked"),
        (PodVerdict::Skipped, "skipped"),
    ];
    let others =
        others.map(|(verdict, word)| (plan.count(verdict), word)).into_iter().filter(|(number, _)| *number > 0);
    let others: Vec<String> = others.map(|(number, word)| format!("{number} {word}")).collect();
    if others.is_empty() {
        words::count(all, "pod")
    } else {
        format!("{update} of {} ({})", words::count(all, "pod"), others.join(", "))
    }
}

/// What is said of a pod that nothing is done to: it may keep what only pods made later get.
pub(super) fn there_already(plan: &WorkloadPlan) -> &'static str {
    let is_later = |row: &Row| row.effect == FieldEffect::LaterPods;
    let is_later = plan.fields.rows().iter().any(is_later);
    if is_later || plan.other_pods().is_some() { "unchanged" } else { "up to date" }
}

fn nothing_to_do(plan: &WorkloadPlan, name: &str) -> String {
    if plan.is_offline() {
        return offline::nothing(plan, name);
    }
    if plan.other_pods().is_some() {
        return "The template is up to date, and not every pod is of it.".into();
    }
    let skipped = plan.count(PodVerdict::Skipped) > 0;
    match (plan.workload.kind.has_template(), skipped) {
        (false, true) => "The pod is skipped.".into(),
        (false, false) => "The pod is up to date.".into(),
        (true, true) if plan.count(PodVerdict::Skipped) == plan.pods.len() => "Every pod is skipped.".into(),
        (true, true) => "Every pod that is not skipped is up to date.".into(),
        (true, false) => "Every pod is up to date.".into(),
    }
}

/// Writes what the plan keeps, and whether the server was asked.
pub(super) fn promises(plan: &WorkloadPlan, style: &Style, out: Out<'_>) -> io::Result<()> {
    if plan.is_offline() {
        return Ok(());
    }
    let kept = kept(plan, style);
    let kept = if kept.is_empty() { kept } else { format!("; {kept}") };
    let pods = if plan.pods.len() == 1 { "The pod is not replaced" } else { "No pod is replaced" };
    let mut text = format!("{pods}{kept}{}.", new_pods(plan));
    if plan.checked_by_server {
        text.push_str(" Server-side dry run succeeded.");
    }
    writeln!(out)?;
    words::paragraph(&text, style, out)?;
    if plan.checked_by_server {
        return Ok(());
    }
    let why = if plan.missing_permissions.is_empty() { "--dry-run=client" } else { "you are not allowed to ask it" };
    writeln!(out, "  {}", style.paint(Meaning::Waiting, &format!("Not validated by the server ({why}).")))
}

/// The containers that keep running. A plan does not show which init containers are sidecars: the others have ended;
/// nor does a container keep running that runs nowhere.
fn kept(plan: &WorkloadPlan, style: &Style) -> String {
    let in_progress = plan.pods.iter().filter(|pod| pod.verdict == PodVerdict::InProgress);
    let moving: Vec<_> = in_progress.flat_map(|pod| pod.changes.keys()).collect();
    let stays = plan.containers.iter().filter(|container| {
        let is_changed = container.effect != Effect::Unchanged || container.restarts() > 0;
        let stays = !is_changed && !container.is_down && !moving.contains(&&container.container);
        container.list == ContainerList::Containers && stays
    });
    let names: Vec<String> = stays.map(|container| style.show(container.container.as_str())).collect();
    match names.len() {
        0 => String::new(),
        1 => format!("{} keeps running", names.concat()),
        2..=NAMED_CONTAINERS => format!("{} keep running", names.join(", ")),
        many => format!("{many} other containers keep running"),
    }
}

fn new_pods(plan: &WorkloadPlan) -> String {
    let Some(durable) = &plan.durable else {
        // What is a warning is not said twice.
        let is_reported = plan.warnings.contains(&Warning::TemplateKeepsImage);
        let is_alone = is_reported || !plan.workload.kind.has_template() || plan.restarts_the_same;
        return if is_alone { "" } else { "; the template stays as it is, and so does what new pods get" }.to_owned();
    };
    let revision = match (&durable.rollout.outgoing, durable.revision) {
        (Some(outgoing), Some(revision)) => format!(" (revision {} -> {revision})", outgoing.revision),
        (_, _) => String::new(),
    };
    // A pod below it is created from the old revision, also later (`newVersionedStatefulSetPod`).
    match durable.partition() {
        0 => format!("; new pods get the same{revision}"),
        _ => format!(
            "; new pods get the same{revision}, but for those below the partition, also where one is created again"
        ),
    }
}

fn pace(plan: &WorkloadPlan, style: &Style) -> String {
    let allowed = plan.policy.max_unavailable.max(1);
    let restarts = plan.containers.iter().any(|container| container.restarts() > 0);
    if !restarts && plan.count(PodVerdict::InProgress) == 0 {
        return format!("no pod goes down{}", pauses(&plan.policy, plan.count(PodVerdict::Update)));
    }
    // More than there are to update are never down.
    let changing = plan.count(PodVerdict::Update) + plan.count(PodVerdict::InProgress);
    let of_changing = |pods: u32| u32::try_from(changing).map_or(pods, |changing| pods.min(changing));
    let at_once = |pods: u32| match pods {
        0 | 1 => "one at a time".to_owned(),
        many => format!("up to {many} at a time"),
    };
    let at_once = match plan.slowed_by.as_ref().filter(|budget| of_changing(allowed) > budget.pods) {
        Some(BudgetPace { budget, pods }) => format!("{} (poddisruptionbudget/{})", at_once(*pods), style.show(budget)),
        None => at_once(of_changing(allowed)),
    };
    format!("{at_once}{}", pauses(&plan.policy, changing))
}

/// When it pauses. What was asked for and does not happen is said, too.
fn pauses(policy: &Policy, changing: usize) -> String {
    let is_short = |pods: u32| usize::try_from(pods).is_ok_and(|pods| pods < changing);
    let pods = |pods: u32| if pods == 1 { "pod".to_owned() } else { format!("{pods} pods") };
    match (policy.canary, policy.pause_after) {
        (Some(first), _) if is_short(first) => format!(", pauses after the first {}", pods(first)),
        (Some(_), _) => ", no pause (--canary covers every pod)".to_owned(),
        (None, Some(after)) if is_short(after) => format!(", pauses after every {}", pods(after)),
        (None, Some(_)) => ", no pause (--pause-after covers every pod)".to_owned(),
        (None, None) => String::new(),
    }
}
