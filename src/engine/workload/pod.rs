//! Pod: its own template.

use super::KindFacts;

pub(super) const FACTS: KindFacts =
    KindFacts { kind: "Pod", group: "", version: "v1", plural: "pods", singular: "pod", short_names: &["po"] };
