//! Objects of manifests that were not looked at, in text and document: a plan that has no change to show may have missed one there.

use std::io::{self, Write};

use serde::Serialize;

use engine::plan::{Plan, SkippedChange, SkippedObject};

use super::style::Style;
use super::words;

/// The number of objects that are named for people, at most.
const MAX_NAMED: usize = 100;

/// Writes what was not looked at, the same said once.
pub(super) fn text(plan: &Plan, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    let object = |object: &SkippedObject| {
        let change = object.change.words().map(|change| format!("{change}; ")).unwrap_or_default();
        let place = match object.namespace.as_str() {
            "" => String::new(),
            namespace => format!(" (namespace {})", style.show(namespace)),
        };
        (style.show(&object.resource()), format!("{change}{}{place}", object.why.sentence()))
    };
    for (what, names) in words::said_once(plan.skipped.iter().take(MAX_NAMED).map(object)) {
        writeln!(out, "{}", words::flowing(&format!("Not checked: {}: {what}", names.join(", ")), 2, style))?;
    }
    let left = plan.skipped.len().saturating_sub(MAX_NAMED);
    if left > 0 {
        writeln!(out, "Not checked: {}; -o json has them all", words::count(left, "more object"))?;
    }
    Ok(())
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SkippedView<'a> {
    api_version: &'a str,
    kind: &'a str,
    namespace: &'a str,
    name: &'a str,
    change: &'a str,
    message: String,
}

impl<'a> SkippedView<'a> {
    pub(super) fn of(object: &'a SkippedObject) -> Self {
        Self {
            api_version: &object.api_version,
            kind: &object.kind,
            namespace: &object.namespace,
            name: &object.name,
            change: match object.change {
                SkippedChange::NotCompared => "notCompared",
                SkippedChange::Added => "added",
                SkippedChange::Removed => "removed",
                SkippedChange::Changed => "changed",
                SkippedChange::PodTemplateChanged => "podTemplateChanged",
            },
            message: object.why.sentence(),
        }
    }
}
