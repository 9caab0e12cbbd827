//! The owner's part of a durable plan, in the plan's document.

use serde::Serialize;
use serde_json::Value;

use super::super::columns::{self, FieldView};
use engine::change::TemplateImage;
use engine::k8s::names::ContainerName;
use engine::plan::{DurablePlan, HistoryPlan, WorkloadPlan};
use engine::state::durable::lock::Outgoing;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DurableView<'a> {
    outgoing: Option<RevisionView<'a>>,
    revision: Option<i64>,
    reuses: Option<&'a str>,
    history: HistoryView<'a>,
    steps: Vec<String>,
    change: ChangeView<'a>,
    strategy: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    replaced: Option<ReplacedView<'a>>,
}

/// The rollout whose place it takes before that one has ended.
#[derive(Serialize)]
struct ReplacedView<'a> {
    id: &'a str,
    who: &'a str,
    since: &'a str,
    state: &'static str,
    images: Vec<ImageView<'a>>,
}

#[derive(Serialize)]
struct RevisionView<'a> {
    name: &'a str,
    revision: i64,
}

impl<'a> RevisionView<'a> {
    fn of(outgoing: &'a Outgoing) -> Self {
        Self { name: &outgoing.name, revision: outgoing.revision }
    }
}

#[derive(Serialize)]
struct HistoryView<'a> {
    r#do: &'static str,
    name: Option<&'a str>,
}

#[derive(Serialize)]
struct ChangeView<'a> {
    images: Vec<ImageView<'a>>,
    fields: Vec<FieldView>,
}

#[derive(Serialize)]
struct ImageView<'a> {
    container: &'a str,
    list: &'static str,
    from: &'a str,
    to: &'a str,
}

pub(super) fn view<'a>(plan: &WorkloadPlan, durable: &'a DurablePlan) -> DurableView<'a> {
    let (r#do, name) = match &durable.history {
        HistoryPlan::Create => ("create", None),
        HistoryPlan::Swap { name, .. } => ("swap", Some(name.as_str())),
        HistoryPlan::Forget => ("forget", None),
        HistoryPlan::ByController => ("byController", None),
    };
    let image = |(name, image): (&'a ContainerName, &'a TemplateImage)| ImageView {
        container: name.as_str(),
        list: image.list.spec_field(),
        from: &image.from,
        to: &image.to,
    };
    DurableView {
        outgoing: durable.outgoing.as_ref().map(RevisionView::of),
        revision: durable.revision,
        reuses: durable.reuses.as_deref(),
        history: HistoryView { r#do, name },
        steps: durable.steps(plan.workload.kind),
        change: ChangeView {
            images: durable.change.images.iter().map(image).collect(),
            fields: columns::views(&durable.change.fields),
        },
        strategy: durable.strategy.as_ref(),
        replaced: durable.replaced.as_deref().map(|lock| ReplacedView {
            id: lock.id.as_str(),
            who: &lock.who,
            since: &lock.since,
            state: lock.state.word(),
            images: lock.change.images.iter().map(image).collect(),
        }),
    }
}
