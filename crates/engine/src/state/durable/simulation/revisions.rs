//! ControllerRevisions as the controllers keep them (kube-controller-manager `pkg/controller/history`).

use serde_json::{Value, json};

use testkit::api_model::{Part, Refused};

use super::api_server::{Actor, ApiServer, Kind, Object};
use super::fields::{REVISION_HASH, at, controlled_by, hash, name, number, put, same_template, template, text};

pub(super) fn held(revision: &Value) -> &Value {
    at(revision, &["data", "spec", "template"])
}

pub(super) fn revision_number(revision: &Value) -> i64 {
    number(revision, &["revision"])
}

pub(super) fn holds(revision: &Value, owner: &Value) -> bool {
    same_template(held(revision), template(owner))
}

/// A revision of the owner's present template.
pub(super) fn of(owner: &Value, kind: &str, number: i64, collisions: i64) -> Value {
    let hash = hash(template(owner), collisions);
    let mut data = json!({"spec": {"template": template(owner)}});
    put(&mut data, &["spec", "template", "$patch"], json!("replace"));
    json!({"metadata": {"name": format!("{}-{hash}", name(owner)),
            "namespace": text(owner, &["metadata", "namespace"]), "labels": {REVISION_HASH: hash},
            "ownerReferences": controlled_by(kind, owner)},
        "data": data, "revision": number})
}

pub(super) fn renumber(api: &mut ApiServer, actor: Actor, revision: &Object, to: i64) -> Result<Object, Refused> {
    let live = api.live(Kind::ControllerRevision, name(revision)).ok_or(Refused::NotFound)?;
    let mut object = (*live).clone();
    put(&mut object, &["revision"], json!(to));
    api.update(actor, Kind::ControllerRevision, object, Part::Main)
}

/// Creates it, or returns the one of that name where it has the same content.
pub(super) fn make(api: &mut ApiServer, actor: Actor, owner: &Value, made: Value) -> Result<Object, Refused> {
    let key = name(&made).to_owned();
    match api.create(actor, Kind::ControllerRevision, made) {
        Err(Refused::AlreadyExists) => {
            let known = api.live(Kind::ControllerRevision, &key).ok_or(Refused::NotFound)?;
            if holds(&known, owner) { Ok(known) } else { Err(Refused::AlreadyExists) }
        }
        made => made,
    }
}
