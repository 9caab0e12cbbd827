//! Manifests as their authors wrote them: without what a server and controllers have added where one was read from a cluster.

use serde_json::Value;

use super::outline::leave_out_notes;

/// One manifest of a comparison.
pub trait Written {
    /// Returns `apiVersion`, `kind`, the namespace (empty where it names none) and the name.
    fn identity(&self) -> [&str; 4];

    fn object(&self) -> &Value;
}

impl Written for Value {
    fn identity(&self) -> [&str; 4] {
        let text = |pointer: &str| self.pointer(pointer).and_then(Self::as_str).unwrap_or_default();
        ["/apiVersion", "/kind", "/metadata/namespace", "/metadata/name"].map(text)
    }

    fn object(&self) -> &Value {
        self
    }
}

/// The manifest without what the server and controllers write.
pub(super) fn written(manifest: &Value) -> Value {
    let mut object = manifest.clone();
    let Value::Object(fields) = &mut object else { return object };
    fields.shift_remove("status");
    if let Some(Value::Object(metadata)) = fields.get_mut("metadata") {
        leave_out_notes(metadata);
        // The pair was matched by it: as written in one manifest, as given by a flag for the other.
        metadata.shift_remove("namespace");
    }
    object
}
