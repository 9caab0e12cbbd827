//! The cells of a status table: what they say of a pod and of each of its containers.

use super::super::Detail;
use super::super::style::Style;
use super::super::table::Column;
use super::super::words::{self, age};
use super::super::{columns, escape};
use super::MESSAGE_CHARACTERS;
use engine::change::FieldProgress;
use engine::k8s::failure;
use engine::k8s::names::{RolloutId, WorkloadRef};
use engine::k8s::pod::{ContainerList, Waiting};
use engine::status::{Comparison, Condition, ContainerReport, PodState, PodStatus, RunningAgain};

const NONE: &str = "<none>";
const NOT_SCHEDULED: &str = "not scheduled";
const POD: Column = Column::name("POD", 9).seen(28);
const CONTAINER: Column = Column::short("CONTAINER", 9);
const STATE: Column = Column::words("STATE").seen(18);
/// With the container before it: the two stay together.
const STATE_OF_CONTAINER: Column = Column::words("STATE").reserved(14);
const AGE: Column = Column::whole("AGE").goes(1);
const RESTARTS: Column = Column::whole("RESTARTS").goes(3);
pub(super) const IMAGES: &str = "IMAGE";
const IMAGE: Column = Column::short(IMAGES, 10).goes(2);
const TEMPLATE: Column = Column::short("TEMPLATE", 10).goes(0);
/// What `-o wide` adds; a wide table may be wider than the terminal, as kubectl's.
const WIDE: [Column; 4] =
    [Column::whole("NODE"), Column::whole("IMAGE ID"), Column::whole("UPDATE"), Column::whole("UID")];

#[derive(Debug, Clone, Copy)]
pub(super) struct Columns<'a> {
    pub(super) workload: &'a WorkloadRef,
    /// What the template asks for: where some container has something else.
    pub(super) template: bool,
    pub(super) detail: Detail,
    pub(super) now: &'a str,
    pub(super) folder: &'a str,
    /// The container is shown before its state, in no column of its own.
    pub(super) is_narrow: bool,
}

impl Columns<'_> {
    pub(super) fn heads(self) -> Vec<Column> {
        let template = self.template.then_some(TEMPLATE);
        let state = if self.is_narrow { vec![STATE_OF_CONTAINER] } else { vec![CONTAINER, STATE] };
        let heads = [POD].into_iter().chain(state).chain([AGE, RESTARTS, IMAGE]).chain(template);
        match self.detail {
            Detail::Short => heads.collect(),
            Detail::Wide => heads.chain(WIDE).collect(),
        }
    }

    /// One row for each container; the pod is in the first. A pod always has one.
    pub(super) fn rows(self, pod: &PodStatus, style: &Style) -> Vec<Vec<String>> {
        let mut shown: Vec<&ContainerReport> =
            pod.containers.iter().filter(|report| self.detail == Detail::Wide || !is_no_news(report)).collect();
        if shown.is_empty() {
            shown = pod.containers.iter().collect();
        }
        let row = |(index, report): (usize, &&ContainerReport)| self.row(index == 0, pod, report, style);
        shown.iter().enumerate().map(row).collect()
    }

    fn row(self, is_first: bool, pod: &PodStatus, report: &ContainerReport, style: &Style) -> Vec<String> {
        let list = match report.list {
            ContainerList::Containers => "",
            ContainerList::InitContainers => " (init)",
        };
        let name = if is_first { words::pod_name(style, self.workload, &pod.key) } else { String::new() };
        let mut state = vec![self.state(pod, report, style)];
        if is_first {
            state.extend(marks(pod, style));
        }
        let container = format!("{}{list}", style.show(report.container.as_str()));
        let state = state.join("; ");
        let mut row = vec![name];
        row.extend(match self.is_narrow {
            true => vec![format!("{container}: {state}")],
            false => vec![container, state],
        });
        row.extend([
            since(&report.condition).map_or_else(|| NONE.to_owned(), |since| age(since, self.now)),
            restarts(report, self.detail, self.now, style),
            columns::image_within(&report.image, self.folder, style),
        ]);
        if self.template {
            row.push(template(report, self.folder, style));
        }
        if self.detail == Detail::Wide {
            row.extend(wide(pod, report, style));
        }
        row
    }

    fn state(self, pod: &PodStatus, report: &ContainerReport, style: &Style) -> String {
        let mut text = match (&report.condition, &pod.unscheduled) {
            // The reason is below the table.
            (Condition::Starting { .. } | Condition::Updating { .. }, Some(_)) => NOT_SCHEDULED.to_owned(),
            (condition, _) => {
                let before = report.before.as_deref().map(|before| columns::image_within(before, self.folder, style));
                condition_of(condition, before, style)
            }
        };
        match report.comparison {
            Comparison::Pending => text.push_str("; pending"),
            // That the pod is going says it.
            Comparison::Older if matches!(pod.state, PodState::Terminating | PodState::Finished) => {}
            Comparison::Older => text.push_str("; of an older revision"),
            Comparison::Drifted => text.push_str("; drifted from the template"),
            Comparison::Own | Comparison::Injected | Comparison::Same | Comparison::Pinned | Comparison::Rewritten => {}
        }
        text
    }
}

/// How often it has restarted, and how it ended last where that was no success and its state does not say it; when, with the
/// words of kubectl, where there is room.
fn restarts(report: &ContainerReport, detail: Detail, now: &str, style: &Style) -> String {
    let end = report.last_end.as_ref();
    let failure = if let Condition::Failed(failure) = &report.condition { Some(failure) } else { None };
    let how = end.and_then(|end| {
        if failure::tells_more(&end.reason) {
            failure.is_none_or(|failure| failure.reason != end.reason).then(|| style.show(&end.reason))
        } else {
            let is_news = end.exit_code != 0 && failure.is_none_or(|said| said.exit_code != Some(end.exit_code));
            is_news.then(|| format!("exit {}", end.exit_code))
        }
    });
    let when = end.and_then(|end| end.finished_at.as_deref()).filter(|_| detail == Detail::Wide);
    let reported: Vec<String> = how.into_iter().chain(when.map(|at| format!("{} ago", age(at, now)))).collect();
    match reported.is_empty() {
        true => report.restarts.to_string(),
        false => format!("{} ({})", report.restarts, reported.join(", ")),
    }
}

/// Since when the container runs, as far as is known.
fn since(condition: &Condition) -> Option<&str> {
    if let Condition::Running { since, .. } | Condition::Restarted { since, .. } | Condition::Unverified { since, .. } =
        condition
    {
        since.as_deref()
    } else {
        None
    }
}

/// Whether what the container asks for differs from the template, or has to be compared with it.
pub(super) fn is_compared(report: &ContainerReport) -> bool {
    use Comparison::{Drifted, Older, Pending, Pinned};
    matches!(report.comparison, Pinned | Pending | Older | Drifted)
}

pub(super) fn names_an_image(report: &ContainerReport) -> bool {
    matches!(report.condition, Condition::Updating { .. }) && report.before.is_some()
}

/// A plain init container that has done its work and is as it should be.
fn is_no_news(report: &ContainerReport) -> bool {
    report.list == ContainerList::InitContainers
        && report.condition == Condition::Ended { exit_code: Some(0) }
        && !is_compared(report)
}

/// What there is to say of a pod's cpu and memory, and of labels that it lacks, a line each.
pub(super) fn fields(pod: &PodStatus, style: &Style) -> Vec<String> {
    let mut lines: Vec<String> = resizing(pod, style).into_iter().collect();
    let label = |(key, value): (&String, &String)| {
        format!("without label {}={} of the template: a Service may not find it", style.show(key), style.show(value))
    };
    lines.extend(pod.missing_labels.iter().map(label));
    lines.extend(pod.resources.iter().map(|row| {
        let none = || "none".to_owned();
        let (present, template) = (row.after.clone().unwrap_or_else(none), row.before.clone().unwrap_or_else(none));
        format!("{} {}, the template says {}", style.show(&row.what), style.show(&present), style.show(&template))
    }));
    lines
}

const INFEASIBLE: &str = "resize infeasible";

fn resizing(pod: &PodStatus, style: &Style) -> Option<String> {
    let (text, why) = match pod.resizing.as_ref()? {
        FieldProgress::Failed { message, .. } => (INFEASIBLE, Some(message)),
        FieldProgress::Waiting { why, deferred: true } => ("resize deferred by the node", why.as_ref()),
        FieldProgress::Waiting { why, deferred: false } => ("resizing", why.as_ref()),
        FieldProgress::NotAsked | FieldProgress::Done => return None,
    };
    Some(why.map_or_else(|| text.to_owned(), |why| format!("{text}: {}", style.show(why))))
}

/// What is so of the pod as a whole: beside the state of its first container, where it may go on below.
fn marks(pod: &PodStatus, style: &Style) -> Vec<String> {
    let mut marks = Vec::new();
    // That it is not scheduled says it.
    let is_said = pod.state == PodState::NotReady && pod.unscheduled.is_some();
    if !is_said && pod.state.is_of_the_pod() {
        marks.push(format!("pod {}", pod.state.words()));
    }
    let by_image = pod.containers.iter().any(|report| report.comparison == Comparison::Pending);
    if pod.state == PodState::Pending && !by_image {
        marks.push(pod.state.words().to_owned());
    }
    if matches!(pod.resizing, Some(FieldProgress::Failed { .. })) {
        marks.push(format!("pod {INFEASIBLE}"));
    }
    marks.extend(pod.older_revision.as_ref().map(|revision| format!("pod of revision {}", style.show(revision))));
    marks.extend(pod.out_of_services.as_ref().map(|by| format!("out of its Services by {}", style.show(by))));
    if pod.unreadable_record {
        marks.push("its note of an update cannot be read".to_owned());
    }
    marks
}

fn template(report: &ContainerReport, folder: &str, style: &Style) -> String {
    match (report.comparison, &report.asked) {
        (Comparison::Same, _) => "same".into(),
        (Comparison::Injected | Comparison::Own, _) | (_, None) => NONE.into(),
        (Comparison::Pinned, Some(asked)) => format!("{} (pinned)", columns::image_within(asked, folder, style)),
        (Comparison::Rewritten | Comparison::Pending | Comparison::Older | Comparison::Drifted, Some(asked)) => {
            columns::image_within(asked, folder, style)
        }
    }
}

fn condition_of(condition: &Condition, before: Option<String>, style: &Style) -> String {
    let waiting = |waiting: &Option<Waiting>| {
        waiting.as_ref().map(|waiting| after_colon(&waiting.reason, style)).unwrap_or_default()
    };
    match condition {
        Condition::Running { ready: true, .. } => "ready".into(),
        Condition::Running { ready: false, .. } => "running, not ready".into(),
        Condition::Restarted { ready: true, .. } => "just restarted".into(),
        Condition::Restarted { ready: false, .. } => "just restarted, not ready".into(),
        Condition::Unverified { ready: true, .. } => "ready, unverified".into(),
        Condition::Unverified { ready: false, .. } => "running, unverified".into(),
        Condition::Updating { waiting: why } => {
            let from = before.map(|before| format!(" from {before}")).unwrap_or_default();
            format!("updating{from}{}", waiting(why))
        }
        Condition::Failed(failure) => {
            let code = failure.exit_code.map(|code| format!(" (exit code {code})")).unwrap_or_default();
            format!("FAILED: {}{code}", style.show(&failure.reason))
        }
        Condition::Starting { waiting: why } => format!("starting{}", waiting(why)),
        Condition::Ended { exit_code: Some(code) } => format!("ended (exit code {code})"),
        Condition::Ended { exit_code: None } => "ended".into(),
    }
}

/// What the scheduler says of the pod and the kubelet of its containers, below the table: too long for a cell. Why something is unverified is for
/// those who ask for more.
pub(super) fn messages(pod: &PodStatus, detail: Detail, style: &Style) -> Vec<String> {
    let message = |report: &ContainerReport| match &report.condition {
        Condition::Failed(failure) => Some(failure.message.clone()),
        Condition::Unverified { why, .. } if detail == Detail::Wide => Some(why.clone()),
        Condition::Updating { waiting } | Condition::Starting { waiting } => {
            waiting.as_ref().map(|waiting| waiting.message.clone())
        }
        Condition::Restarted { .. } => report.again.map(|again| restarted(report, again)),
        Condition::Running { .. } | Condition::Unverified { .. } | Condition::Ended { .. } => None,
    };
    let cut = |text: &str| escape::cut(&style.flat(text), MESSAGE_CHARACTERS);
    let scheduler = pod.unscheduled.iter().filter(|why| !why.is_empty());
    let scheduler = scheduler.map(|why| format!("{NOT_SCHEDULED}: {}", cut(why)));
    let reported = pod.containers.iter().filter_map(|report| {
        let message = message(report).filter(|message| !message.is_empty())?;
        Some(format!("{}: {}", style.show(report.container.as_str()), cut(&message)))
    });
    scheduler.chain(reported).collect()
}

/// What is known of a container that has ended since it was changed, and may do so again.
fn restarted(report: &ContainerReport, again: RunningAgain) -> String {
    let times = words::restarts(again.times, Some(report.restarts)).unwrap_or_default();
    let exit = report.last_exit_code().map(|code| format!(", last exit code {code}")).unwrap_or_default();
    format!("{times}{exit}, up {} s: whether it stays is not known yet", again.up_seconds)
}

fn after_colon(text: &str, style: &Style) -> String {
    if text.is_empty() { String::new() } else { format!(": {}", escape::cut(&style.whole(text), MESSAGE_CHARACTERS)) }
}

fn wide(pod: &PodStatus, report: &ContainerReport, style: &Style) -> [String; 4] {
    let known = |text: Option<&str>| {
        text.filter(|text| !text.is_empty()).map_or_else(|| NONE.to_owned(), |text| style.whole(text))
    };
    [
        known(Some(&pod.node)),
        known(report.image_id.as_deref()),
        known(report.before.as_ref().and(pod.update.as_ref()).map(RolloutId::as_str)),
        known(Some(pod.key.uid.as_str())),
    ]
}
