//! The rows of the table of containers: what they say, whatever draws the table.
//!
//! Promise: a container whose update is on its way is never shown as unchanged.

use engine::k8s::pod::ContainerList;
use engine::plan::{ContainerPlan, Effect, PodVerdict, WorkloadPlan};

pub(super) const HEADS: [&str; 4] = ["container", "from", "to", "effect"];

/// Shown for an image that is no longer known: pods in progress ask for the new one already.
pub(super) const NOT_KNOWN: &str = "(not known)";

/// What is said of a container that nothing happens to.
const KEEPS: &str = "keeps running";

/// The same of one that runs in no pod.
const STAYS_DOWN: &str = "unchanged, not running";

/// One container over all pods. Images are as they came, not escaped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Row<'a> {
    pub(super) container: &'a str,
    /// After the name: its list, if it is not among the containers.
    pub(super) list: &'static str,
    /// `None` where it is not known any more.
    pub(super) from: Option<&'a str>,
    /// `None` where it stays.
    pub(super) to: Option<&'a str>,
    pub(super) effect: &'static str,
}

impl Row<'_> {
    pub(super) fn is_unchanged(&self) -> bool {
        self.to.is_none() && [KEEPS, STAYS_DOWN].contains(&self.effect)
    }
}

pub(super) fn rows(plan: &WorkloadPlan) -> Vec<Row<'_>> {
    plan.containers.iter().map(|container| row(plan, container)).collect()
}

fn row<'a>(plan: &'a WorkloadPlan, container: &'a ContainerPlan) -> Row<'a> {
    let row = Row {
        container: container.container.as_str(),
        list: match container.list {
            ContainerList::Containers => "",
            ContainerList::InitContainers => " (init)",
        },
        from: Some(&container.from),
        to: container.to.as_deref(),
        effect: match (container.effect, container.restarts()) {
            (Effect::Unchanged | Effect::Restart, 0) if container.is_down => STAYS_DOWN,
            (Effect::Unchanged | Effect::Restart, 0) => KEEPS,
            (Effect::Unchanged | Effect::Restart, 1) => "restarts in place",
            (Effect::Unchanged | Effect::Restart, _) => "restarts in place, twice",
            (Effect::NoEffectNow, _) => "used when the pod is next created",
            (Effect::LaterPods, _) => "new pods only",
        },
    };
    if container.effect != Effect::Unchanged || container.resize_restarts {
        return row;
    }
    let on_the_way = plan.pods.iter().filter(|pod| pod.verdict == PodVerdict::InProgress);
    let Some(change) = on_the_way.filter_map(|pod| pod.changes.get(&container.container)).next() else { return row };
    let from = Some(change.from.as_str()).filter(|from| *from != change.to);
    Row { from, to: Some(&change.to), effect: "in progress", ..row }
}
