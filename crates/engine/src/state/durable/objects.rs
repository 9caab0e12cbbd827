//! Writes to the owner and what belongs to it, as values: guarded JSON patches, one create, one delete by uid; and what each is
//! for.

use json_patch::jsonptr::PointerBuf;
use json_patch::{AddOperation, Patch as JsonPatch, PatchOperation, RemoveOperation, ReplaceOperation, TestOperation};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::k8s::names::Uid;
use crate::kinds::WorkloadKind;
use crate::value::json_path::text;

/// The kinds of objects that a durable rollout writes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ObjectKind {
    Workload(WorkloadKind),
    /// A revision of a StatefulSet or DaemonSet.
    ControllerRevision,
    RecreateRequest,
}

/// One object: another uid under the same name is another object.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ObjectKey {
    pub kind: ObjectKind,
    pub namespace: String,
    pub name: String,
    pub uid: Uid,
}

impl ObjectKey {
    pub fn of(kind: ObjectKind, object: &Value) -> Self {
        let field = |name: &str| text(object, &format!("/metadata/{name}"));
        Self { kind, namespace: field("namespace").into(), name: field("name").into(), uid: field("uid").into() }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ObjectWrite {
    /// A JSON patch whose first test is the uid.
    Patch { object: ObjectKey, operations: JsonPatch },
    /// A create under a name derived from the rollout: done twice it is done once.
    Create { kind: ObjectKind, namespace: String, object: Value },
    /// A delete of an object of our own, with its uid as precondition.
    Delete {
        object: ObjectKey,
        /// Its resourceVersion, as one more precondition: it must not have changed since it was read.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        version: Option<String>,
    },
}

impl ObjectWrite {
    /// The delete of an object as it was read.
    pub(super) fn delete(kind: ObjectKind, object: &Value) -> Self {
        Self::Delete { object: ObjectKey::of(kind, object), version: version_of(object) }
    }
}

/// A write of a rollout to its owner, or to what belongs to the owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum StepName {
    /// The lock of another run of the rollout becomes this run's.
    TakeLock,
    /// One patch: the template, the lock, and what keeps the controller from replacing pods.
    SetTemplate,
    /// A ReplicaSet without pods gets the outgoing template.
    KeepHistory,
    /// The reverse, on the way back.
    DropHistory,
    /// The ReplicaSet that has the pods gets the template, and keeps its name.
    SetReplicaSetTemplate,
    /// The Deployment's `spec.paused` goes.
    Unpause,
    /// The partition follows a StatefulSet that was scaled up.
    RaisePartition,
    /// `spec.updateStrategy` is what it was before the rollout.
    RestoreStrategy,
    /// One patch: the history gets an entry, and the lock goes.
    Close,
    /// A lock or a sign of life of a rollout that has ended goes.
    RemoveCopy,
    /// A ControllerRevision goes that the rollout has brought and that no pod has.
    DropRevision,
    /// The lock says that no run is active.
    MarkStopped,
    Beat,
}

impl StepName {
    /// Says what the write is for, as in "... was refused".
    pub fn wanted(self) -> &'static str {
        self.words().0
    }

    pub fn done(self) -> &'static str {
        self.words().1
    }

    fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::TakeLock => ("taking over the rollout", "took over the rollout"),
            Self::SetTemplate => ("setting the template", "set the template"),
            Self::KeepHistory => {
                ("keeping the outgoing template in the history", "saved the outgoing template as a revision")
            }
            Self::DropHistory => {
                ("taking the outgoing template out of the history", "removed the outgoing template from the history")
            }
            Self::SetReplicaSetTemplate => ("setting the ReplicaSet's template", "set the ReplicaSet's template"),
            Self::Unpause => ("unpausing", "unpaused"),
            Self::RaisePartition => ("raising the partition", "raised the partition"),
            Self::RestoreStrategy => ("restoring the update strategy", "restored the update strategy"),
            Self::Close => ("recording the rollout and releasing the lock", "recorded the rollout, released the lock"),
            Self::RemoveCopy => ("removing a copy of the lock", "removed a copy of the lock"),
            Self::DropRevision => ("removing a revision that nothing uses", "removed a revision that nothing uses"),
            Self::MarkStopped => ("noting that the rollout has stopped", "noted that the rollout has stopped"),
            Self::Beat => ("noting that the rollout is at work", "noted that the rollout is at work"),
        }
    }
}

pub(super) fn version_of(object: &Value) -> Option<String> {
    object.pointer("/metadata/resourceVersion").and_then(Value::as_str).map(str::to_owned)
}

/// Builds a guarded patch of one object as it was read.
#[derive(Debug)]
pub(super) struct Guarded<'a> {
    object: &'a Value,
    key: ObjectKey,
    operations: Vec<PatchOperation>,
}

impl<'a> Guarded<'a> {
    pub(super) fn of(kind: ObjectKind, object: &'a Value) -> Self {
        let key = ObjectKey::of(kind, object);
        let mut patch = Self { object, key, operations: Vec::new() };
        patch.test_value("/metadata/uid", json!(patch.key.uid));
        patch
    }

    fn test_value(&mut self, pointer: &str, value: Value) {
        self.operations.push(PatchOperation::Test(TestOperation { path: path(pointer), value }));
    }

    /// Tests that a value is unchanged since it was read; absent is null, which a test passes on a missing key.
    ///
    /// The server refuses a test below a map that is not there: then that map is tested for its absence.
    pub(super) fn test(mut self, pointer: &str) -> Self {
        let Some(value) = self.object.pointer(pointer) else {
            let maps = pointer.match_indices('/').filter_map(|(end, _)| pointer.get(..end)).skip(1);
            let outermost = maps.chain([pointer]).find(|pointer| self.object.pointer(pointer).is_none());
            self.test_value(outermost.unwrap_or(pointer), Value::Null);
            return self;
        };
        self.test_value(pointer, value.clone());
        self
    }

    /// Tests a value and replaces it: adds it where there is none, removes it with `None`. A value that is set already
    /// is not written.
    pub(super) fn set(mut self, pointer: &str, value: Option<Value>) -> Self {
        let present = self.object.pointer(pointer).filter(|value| !value.is_null());
        self.test_value(pointer, present.cloned().unwrap_or(Value::Null));
        let path = path(pointer);
        match (present, value) {
            (Some(present), Some(value)) if *present == value => {}
            (Some(_), Some(value)) => self.operations.push(PatchOperation::Replace(ReplaceOperation { path, value })),
            (None, Some(value)) => self.operations.push(PatchOperation::Add(AddOperation { path, value })),
            (Some(_), None) => self.operations.push(PatchOperation::Remove(RemoveOperation { path })),
            (None, None) => {}
        }
        self
    }

    /// Sets or removes annotations, each tested; `add` into an absent map fails, so an absent map is tested for and
    /// added whole.
    pub(super) fn annotate(self, values: &[(&str, Option<String>)]) -> Self {
        self.set_keys("/metadata/annotations", values)
    }

    pub(super) fn label(self, values: &[(&str, Option<String>)]) -> Self {
        self.set_keys("/metadata/labels", values)
    }

    /// The sign of life is removed with its lock. One that comes meanwhile fails the test.
    pub(super) fn without_label(self, key: &str) -> Self {
        let is_there = self.object.pointer("/metadata/labels").is_some_and(|labels| labels.get(key).is_some());
        if is_there { self.label(&[(key, None)]) } else { self }
    }

    fn set_keys(mut self, of: &str, values: &[(&str, Option<String>)]) -> Self {
        let map = self.object.pointer(of).and_then(Value::as_object);
        if map.is_some_and(|map| !map.is_empty()) {
            for (key, value) in values {
                let pointer = format!("{of}/{}", key.replace('~', "~0").replace('/', "~1"));
                self = self.set(&pointer, value.clone().map(Value::from));
            }
            return self;
        }
        let added: serde_json::Map<String, Value> =
            values.iter().filter_map(|(key, value)| Some(((*key).to_owned(), Value::from(value.clone()?)))).collect();
        self.test_value(of, map.map_or(Value::Null, |_| json!({})));
        if !added.is_empty() {
            let path = path(of);
            self.operations.push(PatchOperation::Add(AddOperation { path, value: Value::Object(added) }));
        }
        self
    }

    /// Removes what a test has just named.
    pub(super) fn remove(mut self, pointer: &str) -> Self {
        self.operations.push(PatchOperation::Remove(RemoveOperation { path: path(pointer) }));
        self
    }

    pub(super) fn write(self) -> ObjectWrite {
        ObjectWrite::Patch { object: self.key, operations: JsonPatch(self.operations) }
    }
}

/// The pointers here are written by this program; one that does not parse would test the whole document and be refused.
fn path(pointer: &str) -> PointerBuf {
    PointerBuf::parse(pointer).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The operations of a finished patch, without the first test, which is the uid's.
    fn operations(write: ObjectWrite) -> Value {
        let ObjectWrite::Patch { operations, .. } = write else { panic!("not a patch") };
        serde_json::to_value(operations.0.get(1..)).unwrap()
    }

    fn tested(object: &Value, pointer: &str) -> Value {
        operations(Guarded::of(ObjectKind::ControllerRevision, object).test(pointer).write())
    }

    #[test]
    fn what_is_absent_is_tested_where_the_server_can_look() {
        let pointer = "/metadata/annotations/a~1b";
        let cases = [
            (json!({"metadata": {"uid": "u"}}), "/metadata/annotations", Value::Null),
            (json!({"metadata": {"annotations": {"c": "d"}}}), pointer, Value::Null),
            (json!({"metadata": {"annotations": {"a/b": "d"}}}), pointer, json!("d")),
            (json!({}), "/metadata", Value::Null),
        ];
        for (object, path, value) in cases {
            let wanted = json!([{"op": "test", "path": path, "value": value}]);
            assert_eq!(tested(&object, pointer), wanted, "{object}");
        }
    }

    #[test]
    fn the_first_annotation_brings_the_map_along() {
        let object = json!({"metadata": {"uid": "u"}});
        let patch = Guarded::of(ObjectKind::ControllerRevision, &object).test("/metadata/annotations/a");
        let map = "/metadata/annotations";
        let test = json!({"op": "test", "path": map, "value": null});
        let add = json!({"op": "add", "path": map, "value": {"a": "1"}});
        assert_eq!(operations(patch.annotate(&[("a", Some("1".into()))]).write()), json!([test, test, add]));
    }
}
