//! The plan as a person reads it: what changes, what each pod does, what is in the way, and what to type next.
//!
//! Promise: the plan goes to one writer (a result), its warnings to another. It says nothing that the plan does not.

use std::collections::BTreeSet;
use std::io::{self, Write};

use comfy_table::{ContentArrangement, Table, presets};

use crate::engine::outcome::EndResult;
use crate::engine::plan::{Effect, HistoryPlan, Plan, PodPlan, PodVerdict, Verdict, WorkloadPlan};
use crate::engine::policy::Policy;

use super::containers::Row;
use super::style::{Meaning, Style};
use super::wide::{self, Detail};
use super::{Guide, around, containers, fields, missing, offline, refusal, replaced, words};

/// Of each verdict, at most this many pods are shown first, and [`LAST_PODS`] last, when there are many.
const FIRST_PODS: usize = 10;
/// How many of the last pods are shown when there are many.
const LAST_PODS: usize = 3;
/// More pods than these are many.
const MANY_PODS: usize = 50;
/// Longer names than this do not push the rest of the line aside.
const NAME_COLUMNS: usize = 60;

/// The order in which verdicts are listed and counted.
const VERDICTS: [PodVerdict; 5] =
    [PodVerdict::Update, PodVerdict::InProgress, PodVerdict::AlreadyThere, PodVerdict::Blocked, PodVerdict::Skipped];

/// Writes the plan. The next command is written only where there is something to carry out.
///
/// # Errors
/// The writer's.
pub(super) fn plan(
    plan: &Plan,
    guide: &Guide<'_>,
    detail: Detail,
    style: &Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    if plan.workloads.is_empty() {
        return writeln!(out, "No changes. The plan has no workload.");
    }
    for (index, workload) in plan.workloads.iter().enumerate() {
        if index > 0 {
            writeln!(out)?;
        }
        self::workload(workload, guide, detail, style, out)?;
    }
    if plan.workloads.len() > 1 {
        let order = if plan.workloads.iter().all(WorkloadPlan::is_offline) { "" } else { " (in the order shown)" };
        writeln!(
            out,
            "\nTotal: {}: {}{order}.",
            words::count(plan.workloads.len(), "workload"),
            offline::totals(plan)
        )?;
    }
    if let Some(next) = guide.next.filter(|_| plan.result() == EndResult::Changes) {
        writeln!(out, "Next: {}", style.whole(next))?;
    }
    Ok(())
}

/// Writes the plan's warnings, one a line as kubectl writes them.
///
/// # Errors
/// The writer's.
pub(super) fn warnings(plan: &Plan, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    for workload in &plan.workloads {
        let name = words::workload(style, &workload.workload);
        for warning in &workload.warnings {
            let text = words::sentence(&style.show(&warning.sentence()));
            writeln!(out, "{} {name}: {text} ({})", style.paint(Meaning::Waiting, "Warning:"), warning.code())?;
        }
    }
    Ok(())
}

fn workload(
    plan: &WorkloadPlan,
    guide: &Guide<'_>,
    detail: Detail,
    style: &Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    if plan.verdict == Verdict::NotEligible {
        return refused(plan, guide, detail, style, out);
    }
    let name = words::workload(style, &plan.workload);
    write!(out, "{}", style.paint(Meaning::Heading, &name))?;
    if plan.is_offline() {
        return offline_workload(plan, &name, style, out);
    }
    write!(out, "  namespace {}", style.show(&plan.workload.namespace))?;
    let number = words::count(plan.pods.len(), "pod");
    write!(out, "   {}", if words::pods_not_listed(plan) { "pods could not be listed" } else { &number })?;
    writeln!(out, "{}", reach(plan))?;
    changes(plan, style, out)?;
    owner_steps(plan, style, out)?;
    restart(plan, out)?;
    around::text(plan, style, out)?;
    if !plan.pods.is_empty() {
        writeln!(out)?;
        pods(plan, detail, style, out)?;
    }
    writeln!(out)?;
    closing(plan, &name, style, out)?;
    match plan.verdict {
        Verdict::InPlace => missing::text(plan, style, out),
        Verdict::NothingToDo | Verdict::NotEligible => Ok(()),
    }
}

/// Nothing in it may read like consent: what the change would be, and to which pods, is for those who ask for more.
fn refused(
    plan: &WorkloadPlan,
    guide: &Guide<'_>,
    detail: Detail,
    style: &Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    refusal::text(plan, guide, style, out)?;
    match detail {
        Detail::Short => Ok(()),
        Detail::Wide => {
            changes(plan, style, out)?;
            if !plan.pods.is_empty() {
                writeln!(out)?;
                pods(plan, detail, style, out)?;
            }
            Ok(())
        }
    }
}

/// Whether the owner goes along, and to which revision.
fn reach(plan: &WorkloadPlan) -> String {
    let Some(durable) = &plan.durable else {
        return if plan.restarts_the_same {
            "   restart, pods only".into()
        } else if plan.pods_only {
            "   pods only".into()
        } else {
            String::new()
        };
    };
    match (&durable.outgoing, durable.revision) {
        (Some(outgoing), Some(revision)) => format!("   revision {} -> {revision}   durable", outgoing.revision),
        (_, _) => "   durable".into(),
    }
}

/// What a restart with the same bits means.
fn restart(plan: &WorkloadPlan, out: &mut dyn Write) -> io::Result<()> {
    if !plan.restarts_the_same || plan.verdict != Verdict::InPlace {
        return Ok(());
    }
    let template = if plan.workload.kind.has_template() {
        "\n  The template stays as it is: a pod made later runs its tag, and a later rollout takes the pinned pods along."
    } else {
        ""
    };
    writeln!(out, "\n  The same bits run again, pinned by their digest.{template}")?;
    writeln!(out, "  Values from ConfigMaps, Secrets and the downward API in the environment are read again.")
}

/// What happens to the owner, step by step.
fn owner_steps(plan: &WorkloadPlan, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    let Some(durable) = plan.durable.as_ref().filter(|_| plan.verdict == Verdict::InPlace) else { return Ok(()) };
    replaced::text(durable, style, out)?;
    writeln!(out, "\n  Steps:")?;
    for (index, step) in durable.steps(plan.workload.kind).iter().enumerate() {
        writeln!(out, "  {}. {}", index + 1, style.show(step))?;
    }
    if durable.history == HistoryPlan::Forget {
        writeln!(out, "  The outgoing template is not kept: revisionHistoryLimit is 0.")?;
    }
    Ok(())
}

/// A plan of two manifests: there are no pods to list.
fn offline_workload(plan: &WorkloadPlan, name: &str, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    offline::heading(plan, style, out)?;
    changes(plan, style, out)?;
    writeln!(out)?;
    offline::closing(plan, name, style, out)
}

/// What changes: images and other fields.
fn changes(plan: &WorkloadPlan, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    if !plan.containers.is_empty() {
        writeln!(out)?;
        container_table(plan, style, out)?;
    }
    fields::text(&plan.fields.rows(), style, out)
}

fn container_table(plan: &WorkloadPlan, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    if let Some(width) = style.width {
        table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width.max(40));
    }
    table.set_header(containers::HEADS);
    let image = |image: Option<&str>, none: &str| image.map_or_else(|| none.to_owned(), |image| style.show(image));
    for row in containers::rows(plan) {
        let name = format!("{}{}", style.show(row.container), row.list);
        let (from, to) = (image(row.from, containers::NOT_KNOWN), image(row.to, "(unchanged)"));
        table.add_row([name, from, to, row.restarts.into()]);
    }
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_padding(if index == 0 { (2, 3) } else { (0, 3) });
    }
    // Colour after the layout: the table counts an escape sequence as columns.
    for (index, line) in table.lines().enumerate() {
        let line = line.trim_end();
        let meaning = if index == 0 { Meaning::Quiet } else { Meaning::Plain };
        writeln!(out, "{}", style.paint(meaning, line))?;
    }
    Ok(())
}

/// How the lines of pods are laid out, and which hints have been given.
struct Pods<'a> {
    plan: &'a WorkloadPlan,
    style: &'a Style,
    detail: Detail,
    containers: Vec<Row<'a>>,
    name_columns: usize,
    node_columns: usize,
}

fn pods(plan: &WorkloadPlan, detail: Detail, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    let columns = |text: &dyn Fn(&PodPlan) -> String| {
        plan.pods.iter().map(|pod| text(pod).chars().count()).max().unwrap_or(0).min(NAME_COLUMNS)
    };
    let mut lines = Pods {
        plan,
        style,
        detail,
        containers: containers::rows(plan),
        name_columns: columns(&|pod| style.show(&pod.pod.name)),
        node_columns: columns(&|pod| node(pod, style)),
    };
    if plan.pods.len() <= MANY_PODS {
        for pod in &plan.pods {
            lines.pod(pod, out)?;
        }
    } else {
        let mut left_out = 0;
        for verdict in VERDICTS {
            left_out += lines.some_of(verdict, out)?;
        }
        if left_out > 0 {
            let pods = words::count(plan.pods.len(), "pod");
            writeln!(out, "\n  {left_out} of {pods} are not shown; -o json has them all.")?;
        }
    }
    let used = VERDICTS.into_iter().filter(|verdict| plan.count(*verdict) > 0);
    let legend: Vec<String> = used.map(|verdict| format!("{} {}", symbol(verdict), meaning_of(verdict))).collect();
    writeln!(out, "\n  {}", style.paint(Meaning::Quiet, &legend.join("   ")))
}

impl Pods<'_> {
    /// Writes the first and last pods of a verdict; returns how many are left out.
    fn some_of(&mut self, verdict: PodVerdict, out: &mut dyn Write) -> io::Result<usize> {
        let plan = self.plan;
        let pods: Vec<&PodPlan> = plan.pods.iter().filter(|pod| pod.verdict == verdict).collect();
        // A line that says "1 more" is no shorter than the pod's own.
        let left_out = match pods.len().saturating_sub(FIRST_PODS + LAST_PODS) {
            1 => 0,
            many => many,
        };
        let (first, rest) = pods.split_at(FIRST_PODS.min(pods.len()));
        for pod in first {
            self.pod(pod, out)?;
        }
        if left_out > 0 {
            writeln!(out, "  {} ... {left_out} more", symbol(verdict))?;
        }
        for pod in rest.iter().skip(left_out) {
            self.pod(pod, out)?;
        }
        Ok(left_out)
    }

    fn pod(&mut self, pod: &PodPlan, out: &mut dyn Write) -> io::Result<()> {
        let style = self.style;
        let (name, node) = (style.show(&pod.pod.name), node(pod, style));
        let mark = style.paint(meaning(pod.verdict), symbol(pod.verdict));
        let mut texts = vec![];
        match pod.verdict {
            PodVerdict::Update => {
                texts.push(format!("{}{}{}", self.changes(pod), self.pulls(pod), self.drains(pod)));
            }
            PodVerdict::InProgress if pod.changes.is_empty() => {
                let off = pod.left_off.iter().map(|drained| style.show(&drained.to_string()));
                texts.push(format!("gets {} back", off.collect::<String>()));
            }
            PodVerdict::InProgress => {
                texts.push(format!("{}: already requested, {}", self.changes(pod), self.waiting(pod)));
            }
            PodVerdict::AlreadyThere => texts.push("up to date".into()),
            PodVerdict::Blocked | PodVerdict::Skipped => {}
        }
        let reasons = pod
            .reasons
            .iter()
            .map(|reason| format!("{}: {}", reason.code(), words::sentence(&style.show(&reason.sentence()))));
        texts.extend(reasons);
        let mut texts = texts.into_iter();
        let first = texts.next().unwrap_or_else(|| meaning_of(pod.verdict).into());
        writeln!(
            out,
            "  {mark} {name:name_columns$}   {node:node_columns$}   {first}",
            name_columns = self.name_columns,
            node_columns = self.node_columns
        )?;
        for text in texts {
            writeln!(out, "      {text}")?;
        }
        match self.detail {
            Detail::Short => Ok(()),
            Detail::Wide => wide::pod(pod, style, out),
        }
    }

    /// What the pod's node has to pull first.
    fn pulls(&self, pod: &PodPlan) -> String {
        let mine = self.plan.pulls.iter().filter(|pull| pull.node == pod.node);
        let images: BTreeSet<&str> = mine.flat_map(|pull| &pull.images).map(|image| image.image.as_str()).collect();
        let wanted = |image: &&str| pod.changes.values().any(|change| change.to == **image);
        let images: Vec<String> = images.into_iter().filter(wanted).map(|image| self.style.show(image)).collect();
        if images.is_empty() { String::new() } else { format!("   pulls {} first", images.join(", ")) }
    }

    /// How the pod is taken out of its Services first.
    fn drains(&self, pod: &PodPlan) -> String {
        let Some(drain) = &pod.drain else { return String::new() };
        let services: Vec<String> =
            drain.services.iter().map(|service| format!("svc/{}", self.style.show(service))).collect();
        format!("   drains {} by {}", services.join(", "), self.style.show(&drain.by.to_string()))
    }

    /// Why the containers that are on their way do not run yet, as far as the pod's status says.
    fn waiting(&self, pod: &PodPlan) -> String {
        let reasons: BTreeSet<&str> =
            pod.changes.values().filter_map(|change| change.evidence.waiting.as_deref()).collect();
        if reasons.is_empty() {
            return "not confirmed yet".into();
        }
        let reasons: Vec<String> = reasons.into_iter().map(|reason| self.style.show(reason)).collect();
        format!("waiting: {}", reasons.join(", "))
    }

    /// The containers that change; with the image before where it is not the one that the plan names for all pods.
    fn changes(&self, pod: &PodPlan) -> String {
        let changes = pod.changes.iter().map(|(name, change)| {
            let planned = self.containers.iter().find(|row| row.container == name.as_str());
            let name = self.style.show(name.as_str());
            let effect = match change.effect {
                Effect::Unchanged | Effect::Restart => "",
                Effect::NoEffectNow => " (no restart)",
            };
            match planned {
                Some(planned) if planned.to.is_some_and(|to| to != change.to) => {
                    format!(
                        "{name}{effect} (from {} to {})",
                        self.style.show(&change.from),
                        self.style.show(&change.to)
                    )
                }
                Some(planned) if planned.from == Some(change.from.as_str()) => format!("{name}{effect}"),
                Some(_) | None if change.from == change.to => format!("{name}{effect}"),
                Some(_) | None => format!("{name}{effect} (from {})", self.style.show(&change.from)),
            }
        });
        let changes: Vec<String> = changes.chain(fields::names(&pod.fields, self.style)).collect();
        changes.join(", ")
    }
}

fn node(pod: &PodPlan, style: &Style) -> String {
    if pod.node.is_empty() { "(no node)".into() } else { style.show(&pod.node) }
}

fn symbol(verdict: PodVerdict) -> &'static str {
    match verdict {
        PodVerdict::Update => "~",
        PodVerdict::InProgress => ">",
        PodVerdict::AlreadyThere => "=",
        PodVerdict::Blocked => "!",
        PodVerdict::Skipped => "-",
    }
}

fn meaning_of(verdict: PodVerdict) -> &'static str {
    match verdict {
        PodVerdict::Update => "update in place",
        PodVerdict::InProgress => "in progress",
        PodVerdict::AlreadyThere => "up to date",
        PodVerdict::Blocked => "blocked",
        PodVerdict::Skipped => "skipped",
    }
}

fn meaning(verdict: PodVerdict) -> Meaning {
    match verdict {
        PodVerdict::Update | PodVerdict::InProgress => Meaning::Waiting,
        PodVerdict::AlreadyThere => Meaning::Ok,
        PodVerdict::Blocked => Meaning::Failing,
        PodVerdict::Skipped => Meaning::Quiet,
    }
}

fn closing(plan: &WorkloadPlan, name: &str, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    match plan.verdict {
        Verdict::NothingToDo => {
            let heading = style.paint(Meaning::Ok, "No changes.");
            let skipped = plan.count(PodVerdict::Skipped) > 0;
            let why = match (plan.workload.kind.has_template(), skipped) {
                (false, true) => format!("{name} is skipped."),
                (false, false) => format!("{name} runs these images already."),
                (true, true) => format!("Every pod of {name} that is not skipped runs these images already."),
                (true, false) => format!("Every pod of {name} runs these images already."),
            };
            writeln!(out, "{heading} {why}")
        }
        Verdict::InPlace => {
            let heading = style.paint(Meaning::Heading, "Plan:");
            let counts = counts(plan, "to update in place");
            writeln!(
                out,
                "{heading} {counts}; {}, about {}.",
                pace(plan),
                words::whole_seconds(words::from_seconds(plan.estimate_seconds + 0.5).as_secs().max(1))
            )?;
            let asked = if plan.checked_by_server {
                "Server-side dry run succeeded."
            } else if !plan.missing_permissions.is_empty() {
                "Not validated by the server: you are not allowed to ask it."
            } else {
                "Not validated by the server (--dry-run=client)."
            };
            writeln!(out, "{asked}")
        }
        // Its verdict came first.
        Verdict::NotEligible => Ok(()),
    }
}

fn counts(plan: &WorkloadPlan, update: &str) -> String {
    let number = |verdict| plan.count(verdict);
    let mut counts = format!("{} {update}", words::count(number(PodVerdict::Update), "pod"));
    let under_way = number(PodVerdict::InProgress);
    if under_way > 0 {
        counts.push_str(&format!(", {under_way} in progress"));
    }
    counts.push_str(&format!(
        ", {} unchanged, {} blocked",
        number(PodVerdict::AlreadyThere),
        number(PodVerdict::Blocked)
    ));
    let skipped = number(PodVerdict::Skipped);
    if skipped > 0 {
        counts.push_str(&format!(", {skipped} skipped"));
    }
    counts
}

fn pace(plan: &WorkloadPlan) -> String {
    let allowed = plan.policy.max_unavailable.max(1);
    let restarts = plan.containers.iter().any(|container| container.effect == Effect::Restart);
    if !restarts && plan.count(PodVerdict::InProgress) == 0 {
        return format!("no pod goes down{}", pauses(&plan.policy, plan.count(PodVerdict::Update)));
    }
    // More than there are to update are never down.
    let changing = plan.count(PodVerdict::Update) + plan.count(PodVerdict::InProgress);
    let at_once = match u32::try_from(changing).map_or(allowed, |changing| allowed.min(changing)) {
        0 | 1 => format!("one at a time (maxUnavailable {allowed})"),
        many => format!("up to {many} at a time (maxUnavailable {allowed})"),
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
