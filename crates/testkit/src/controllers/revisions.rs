//! ControllerRevisions as the controllers keep them (kube-controller-manager `pkg/controller/history`).

use serde_json::{Value, json};

use super::fields::{REVISION_HASH, at, controlled_by, hash, name, namespace, number, put, same_template, template};
use super::{Api, Kind, Object};
use crate::api_model::{Part, Refused};

pub fn held(revision: &Value) -> &Value {
    at(revision, &["data", "spec", "template"])
}

pub fn revision_number(revision: &Value) -> i64 {
    number(revision, &["revision"])
}

pub fn holds(revision: &Value, owner: &Value) -> bool {
    same_template(held(revision), template(owner))
}

/// A revision of the owner's present template; annotations of the owner are copied to it.
pub fn of(owner: &Value, kind: &str, number: i64, collisions: i64) -> Value {
    let hash = hash(template(owner), collisions);
    let mut data = json!({"spec": {"template": template(owner)}});
    put(&mut data, &["spec", "template", "$patch"], json!("replace"));
    let mut revision = json!({"apiVersion": "apps/v1", "kind": "ControllerRevision",
        "metadata": {"name": format!("{}-{hash}", name(owner)), "namespace": namespace(owner),
            "labels": at(template(owner), &["metadata", "labels"]),
            "ownerReferences": controlled_by(kind, owner)},
        "data": data, "revision": number});
    // Under another key of a StatefulSet, whose pods have the whole name as label.
    let label = if kind == "StatefulSet" { "controller.kubernetes.io/hash" } else { REVISION_HASH };
    put(&mut revision, &["metadata", "labels", label], json!(hash));
    if let Value::Object(annotations) = at(owner, &["metadata", "annotations"]) {
        put(&mut revision, &["metadata", "annotations"], Value::Object(annotations.clone()));
    }
    revision
}

pub fn renumber(api: &mut impl Api, revision: &Object, to: i64) -> Result<Object, Refused> {
    let live = api.live(Kind::ControllerRevision, namespace(revision), name(revision)).ok_or(Refused::NotFound)?;
    let mut object = (*live).clone();
    put(&mut object, &["revision"], json!(to));
    api.update(Kind::ControllerRevision, object, Part::Main)
}

/// Creates it, or returns the one of that name where it has the same content.
pub fn make(api: &mut impl Api, owner: &Value, made: Value) -> Result<Object, Refused> {
    let key = name(&made).to_owned();
    match api.create(Kind::ControllerRevision, made) {
        Err(Refused::AlreadyExists) => {
            let known = api.live(Kind::ControllerRevision, namespace(owner), &key).ok_or(Refused::NotFound)?;
            if holds(&known, owner) { Ok(known) } else { Err(Refused::AlreadyExists) }
        }
        made => made,
    }
}
