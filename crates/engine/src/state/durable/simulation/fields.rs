//! Reads of raw objects, as the controllers read them.

use serde_json::Value;

pub(super) use testkit::controllers::fields::*;

/// The tolerations of a template that a pod does not have.
pub(super) fn lacking_tolerations(pod: &Value, template: &Value) -> Vec<Value> {
    let list = |of: &Value| at(of, &["spec", "tolerations"]).as_array().cloned().unwrap_or_default();
    let present = list(pod);
    list(template).into_iter().filter(|toleration| !present.contains(toleration)).collect()
}
