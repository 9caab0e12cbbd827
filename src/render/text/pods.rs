//! The lines of a plan's pods.
//!
//! Promise: a pod to which something else happens than to the others has a line of its own, whatever the detail.

use std::collections::BTreeSet;
use std::io;

use super::super::containers::{self, ContainerRow};
use super::super::style::{Meaning, Style};
use super::super::{Detail, Out, columns, words};
use super::headline;
use engine::plan::{Effect, ImageChange, PodPlan, PodVerdict, WorkloadPlan};

/// Of each verdict, at most this many pods are shown first, and [`LAST_PODS`] last, when there are many.
const FIRST_PODS: usize = 10;
const LAST_PODS: usize = 3;
const MANY_PODS: usize = 50;
/// Longer names than this do not push the rest of the line aside.
const NAME_COLUMNS: usize = 60;

/// The order in which verdicts are listed and counted.
const VERDICTS: [PodVerdict; 5] =
    [PodVerdict::Update, PodVerdict::InProgress, PodVerdict::AlreadyThere, PodVerdict::Blocked, PodVerdict::Skipped];

/// How the lines of pods are laid out, and which hints have been given.
struct Pods<'a> {
    plan: &'a WorkloadPlan,
    style: &'a Style,
    detail: Detail,
    containers: Vec<ContainerRow<'a>>,
    name_columns: usize,
    node_columns: usize,
    /// Of what is done to a pod, and of what its node pulls first.
    update_columns: [usize; 2],
}

/// Writes the pods: all of them where more is asked for, else those that differ from the rest.
pub(super) fn text(plan: &WorkloadPlan, detail: Detail, style: &Style, out: Out<'_>) -> io::Result<()> {
    let mut lines = Pods::of(plan, detail, style);
    let common = lines.common();
    let is_shown = |pod: &&PodPlan| detail == Detail::Wide || common.is_none() || !is_plain(pod);
    let shown: Vec<&PodPlan> = plan.pods.iter().filter(is_shown).collect();
    if let Some(common) = common.filter(|_| detail == Detail::Short) {
        lines.each(&common, out)?;
    }
    if shown.is_empty() {
        return Ok(());
    }
    writeln!(out)?;
    if shown.len() <= MANY_PODS {
        for pod in &shown {
            lines.pod(pod, out)?;
        }
    } else {
        let mut left_out = 0;
        for verdict in VERDICTS {
            left_out += lines.some_of(&shown, verdict, out)?;
        }
        if left_out > 0 {
            let pods = words::count(plan.pods.len(), "pod");
            writeln!(out, "\n  {left_out} of {pods} are not shown; -o json has them all.")?;
        }
    }
    if detail == Detail::Short {
        return Ok(());
    }
    let used = VERDICTS.into_iter().filter(|verdict| shown.iter().any(|pod| plan.becomes(pod) == *verdict));
    let legend: Vec<String> = used.map(sign).map(|(_, symbol, words)| format!("{symbol} {words}")).collect();
    writeln!(out, "\n  {}", style.paint(Meaning::Quiet, &legend.join("   ")))
}

pub(super) fn differ(plan: &WorkloadPlan, style: &Style) -> bool {
    Pods::of(plan, Detail::Short, style).common().is_none() || !plan.pods.iter().all(|pod| is_plain(&pod))
}

/// Returns what is done to each pod before it is updated, where that is the same for all.
pub(super) fn before_each(plan: &WorkloadPlan, style: &Style) -> Option<String> {
    Pods::of(plan, Detail::Short, style).common().filter(|before| !before.is_empty())
}

/// Whether nothing else is to be said of it than what the headline counts.
fn is_plain(pod: &&PodPlan) -> bool {
    matches!(pod.verdict, PodVerdict::Update | PodVerdict::AlreadyThere) && pod.reasons.is_empty()
}

impl<'a> Pods<'a> {
    fn of(plan: &'a WorkloadPlan, detail: Detail, style: &'a Style) -> Self {
        let columns = |text: &dyn Fn(&PodPlan) -> String| {
            plan.pods.iter().map(|pod| text(pod).chars().count()).max().unwrap_or(0).min(NAME_COLUMNS)
        };
        let pods = Self {
            plan,
            style,
            detail,
            containers: containers::rows(plan),
            name_columns: columns(&|pod| words::pod_name(style, &plan.workload, &pod.pod)),
            node_columns: columns(&|pod| node(pod, style)),
            update_columns: [0; 2],
        };
        let is_updated = |pod: &PodPlan| pod.verdict == PodVerdict::Update;
        let changes = columns(&|pod| if is_updated(pod) { pods.changes(pod) } else { String::new() });
        let pulls = columns(&|pod| if is_updated(pod) { pods.pulls(pod) } else { String::new() });
        Self { update_columns: [changes, pulls], ..pods }
    }

    /// Returns what is done before each pod that is updated: pulls and drains; `None` where not all are updated alike.
    fn common(&self) -> Option<String> {
        let updated = self.plan.pods.iter().filter(|pod| pod.verdict == PodVerdict::Update);
        let mut texts = updated.map(|pod| (self.changes(pod), self.pulls(pod) + &self.drains(pod)));
        let Some(first) = texts.next() else { return Some(String::new()) };
        texts.all(|other| other == first).then(|| first.1.trim().replace("   ", ", "))
    }

    fn each(&self, before: &str, out: Out<'_>) -> io::Result<()> {
        if before.is_empty() {
            return Ok(());
        }
        writeln!(out)?;
        words::paragraph(&format!("Each pod: {before}"), self.style, out)
    }

    /// Writes the first and last pods of a verdict; returns how many are left out.
    fn some_of(&mut self, pods: &[&PodPlan], verdict: PodVerdict, out: Out<'_>) -> io::Result<usize> {
        let pods: Vec<&PodPlan> = pods.iter().filter(|pod| self.plan.becomes(pod) == verdict).copied().collect();
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
            writeln!(out, "  {} ... {left_out} more", sign(verdict).1)?;
        }
        for pod in rest.iter().skip(left_out) {
            self.pod(pod, out)?;
        }
        Ok(left_out)
    }

    fn pod(&mut self, pod: &PodPlan, out: Out<'_>) -> io::Result<()> {
        let style = self.style;
        let (name, node) = (words::pod_name(style, &self.plan.workload, &pod.pod), node(pod, style));
        let verdict = self.plan.becomes(pod);
        let (meaning, symbol, verdict_words) = sign(verdict);
        let mark = style.paint(meaning, symbol);
        let mut texts = vec![];
        match verdict {
            PodVerdict::Update => {
                let [changes, pulls] = self.update_columns;
                let line = format!("{:changes$}{:pulls$}{}", self.changes(pod), self.pulls(pod), self.drains(pod));
                texts.push(line.trim_end().to_owned());
            }
            PodVerdict::InProgress if pod.changes.is_empty() && pod.unrestored.is_some() => {
                let off = pod.unrestored.iter().map(|drained| style.show(&drained.to_string()));
                texts.push(format!("gets {} back", off.collect::<String>()));
            }
            PodVerdict::InProgress => {
                texts.push(format!("{}: already requested, {}", self.changes(pod), self.waiting(pod)));
            }
            PodVerdict::AlreadyThere => texts.push(headline::there_already(self.plan).into()),
            PodVerdict::Blocked | PodVerdict::Skipped => {}
        }
        let reasons = pod
            .reasons
            .iter()
            .map(|reason| format!("{}: {}", reason.code(), words::sentence(&style.show(&reason.sentence()))));
        texts.extend(reasons);
        let mut texts = texts.into_iter();
        let first = texts.next().unwrap_or_else(|| verdict_words.into());
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
            Detail::Wide => wide(pod, style, out),
        }
    }

    fn pulls(&self, pod: &PodPlan) -> String {
        let mine = self.plan.pulls.iter().filter(|pull| pull.node == pod.node);
        let images: BTreeSet<&str> = mine.flat_map(|pull| &pull.images).map(|image| image.image.as_str()).collect();
        let wanted = |image: &&str| pod.changes.values().any(|change| change.to == **image);
        let images: Vec<String> = images.into_iter().filter(wanted).map(|image| self.style.show(image)).collect();
        if images.is_empty() { String::new() } else { format!("   pulls {} first", images.join(", ")) }
    }

    fn drains(&self, pod: &PodPlan) -> String {
        let Some(drain) = &pod.drain else { return String::new() };
        let services: Vec<String> =
            drain.services.iter().map(|service| format!("svc/{}", self.style.show(service))).collect();
        format!("   drains {} by {}", services.join(", "), self.style.show(&drain.by.to_string()))
    }

    /// Why the containers that are on their way do not run yet, as far as the pod's status says.
    fn waiting(&self, pod: &PodPlan) -> String {
        let reasons: BTreeSet<&str> = pod.changes.values().filter_map(|change| change.waiting.as_deref()).collect();
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
                Effect::Unchanged | Effect::Restart | Effect::LaterPods => "",
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
        let changes: Vec<String> = changes.chain(columns::names(&pod.fields, self.style)).collect();
        changes.join(", ")
    }
}

fn node(pod: &PodPlan, style: &Style) -> String {
    if pod.node.is_empty() { "(no node)".into() } else { style.show(&pod.node) }
}

fn sign(verdict: PodVerdict) -> (Meaning, &'static str, &'static str) {
    match verdict {
        PodVerdict::Update => (Meaning::Waiting, "~", "update in place"),
        PodVerdict::InProgress => (Meaning::Waiting, ">", "in progress"),
        PodVerdict::AlreadyThere => (Meaning::Ok, "=", "up to date"),
        PodVerdict::Blocked => (Meaning::Failing, "!", "blocked"),
        PodVerdict::Skipped => (Meaning::Quiet, "-", "skipped"),
    }
}

const UNKNOWN: &str = "unknown";

/// What `-o wide` adds: what is not known is called unknown, and why; nothing is guessed.
fn wide(pod: &PodPlan, style: &Style, out: Out<'_>) -> io::Result<()> {
    let known = |text: Option<&str>| text.map_or_else(|| UNKNOWN.to_owned(), |text| style.whole(text));
    let line = |text: String| style.paint(Meaning::Quiet, &text);
    let uid = Some(pod.pod.uid.as_str()).filter(|uid| !uid.is_empty());
    let kubelet = known(pod.kubelet.map(|kubelet| kubelet.to_string()).as_deref());
    writeln!(out, "      {}", line(format!("uid {}   kubelet {kubelet}", known(uid))))?;
    for (name, change) in &pod.changes {
        let name = style.show(name.as_str());
        let image = known(change.image_id.as_deref());
        let hash = hash(change, pod.kubelet.is_some());
        writeln!(out, "      {}", line(format!("{name}: image ID {image}   hash {hash}")))?;
    }
    Ok(())
}

/// The kubelet's hash before and after: where they are equal, nothing restarts.
fn hash(change: &ImageChange, kubelet_known: bool) -> String {
    match (&change.hash_from, &change.hash_to) {
        (Some(from), Some(to)) if from == to => format!("{from}, the same after: no restart"),
        (Some(from), Some(to)) => format!("{from} -> {to}"),
        (None, Some(to)) => format!("{UNKNOWN} -> {to}"),
        (_, None) if kubelet_known => format!("{UNKNOWN} (kubelet < 1.31)"),
        (_, None) => UNKNOWN.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_is_called_so() {
        let change = |from: Option<&str>, to: Option<&str>| ImageChange {
            hash_from: from.map(str::to_owned),
            hash_to: to.map(str::to_owned),
            ..ImageChange::new("a:1", "a:2", Effect::Restart)
        };
        for (from, to, kubelet_known, text) in [
            (Some("1a"), Some("2b"), true, "1a -> 2b"),
            (Some("1a"), Some("1a"), true, "1a, the same after: no restart"),
            (None, Some("2b"), true, "unknown -> 2b"),
            (None, None, true, "unknown (kubelet < 1.31)"),
            (None, None, false, "unknown"),
        ] {
            assert_eq!(hash(&change(from, to), kubelet_known), text);
        }
    }
}
