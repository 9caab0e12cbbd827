//! What `kubectl apply` of a manifest would store, what the workload's own tool would, and the pod that the server makes of a
//! template: asked by a dry run.

use serde_json::{Value, json};

use super::Cluster;
use super::error::{ClusterError, Result};
use super::objects::PatchKind;
use super::send::read_pod;
use engine::k8s::metadata::LAST_APPLIED;
use engine::k8s::workload::Workload;
use engine::kinds::{PODS, WorkloadKind};
use engine::merge::strategic_merge;
use engine::plan::hand_over::{NextQuestion, Way};
use engine::plan::{AdmittedPod, Manifest, Snapshot, Validation};
use engine::report::hand_over::{FieldConflict, HandOver, NextApply};
use engine::state::field_managers::{applier, helms_template};
use engine::state::manager::OUR_MANAGER;
use engine::status::{WorkloadStatus, note_kept, pod_to_create, recorded_as_made, status, template_patch};

impl Cluster {
    /// Returns the object as `kubectl apply` of the manifest would leave it.
    ///
    /// Under server-side apply: a forced server-side apply as the manager that owns the template. Otherwise the patch that
    /// kubectl computes from the last applied manifest, this one and the live object. A pod is merged here: the server would refuse the dry run of any field but the image, and which field it is is what is asked.
    ///
    /// # Errors
    /// What the way to the server says, and that the caller may not ask. What the server itself refuses is an answer:
    /// [`Manifest::Refused`].
    pub async fn desired(
        &self,
        live: &Workload,
        manifest: &Value,
        (field_manager, validation): (&str, Validation),
    ) -> Result<Manifest> {
        let kind = live.reference.kind;
        let removals_unseen = removals_unseen(live);
        let asked = match applier(&live.object, kind) {
            _ if !kind.has_template() && kind.is_built_in() => return merged_here(live, manifest),
            Some(manager) => (PatchKind::Apply, manifest.clone(), (manager, true)),
            None => (merge_of(kind), three_way(live, manifest)?, (field_manager, false)),
        };
        match self.stored(live, asked, validation).await {
            Ok(object) => Ok(Manifest::Stored { object, removals_unseen }),
            Err(error) if is_refusal(&error) => {
                Ok(Manifest::Refused { message: without_patch(&error.to_string()).to_owned() })
            }
            Err(error) => Err(error),
        }
    }

    /// Returns what the next apply of a manifest by the workload's own tool would change in the template.
    pub async fn next_apply(&self, live: &Workload, manifest: &Value, validation: Validation) -> HandOver {
        let question = NextQuestion::of(live, manifest);
        let next = match question.re_created(live) {
            Some(known) => known,
            None => self.ask_next(&question, (live, manifest), validation).await.unwrap_or_else(no_answer),
        };
        question.hand_over(live, next)
    }

    async fn ask_next(
        &self,
        question: &NextQuestion,
        (live, manifest): (&Workload, &Value),
        validation: Validation,
    ) -> Result<NextApply> {
        let kind = live.reference.kind;
        let asked = match (question.way, &question.manager) {
            (Way::ServerSide, Some(manager)) => {
                (PatchKind::Apply, manifest.clone(), (manager.as_str(), question.forces))
            }
            (Way::Replace, _) => {
                let pointer = kind.template_pointer();
                let template = manifest.pointer(pointer);
                let patch = json!([{"op": "replace", "path": pointer, "value": template}]);
                (PatchKind::Json, patch, (OUR_MANAGER, false))
            }
            (_, _) => (merge_of(kind), three_way(live, manifest)?, (OUR_MANAGER, false)),
        };
        let stored = self.stored(live, asked, validation).await?;
        Ok(question.answered(live, &stored))
    }

    /// Asks by a dry run what a patch would store; `forces`: as an apply that takes fields over.
    async fn stored(
        &self,
        live: &Workload,
        (kind, body, (manager, forces)): (PatchKind, Value, (&str, bool)),
        validation: Validation,
    ) -> Result<Value> {
        if body.as_object().is_some_and(serde_json::Map::is_empty) {
            return Ok(live.object.clone());
        }
        let mut parameters = vec![("dryRun", "All"), ("fieldManager", manager), ("fieldValidation", validation.word())];
        parameters.extend(forces.then_some(("force", "true")));
        let reference = &live.reference;
        let place = (reference.namespace.as_str(), reference.name.as_str(), None);
        self.patch(reference.kind.into(), place, (kind, body.to_string().into_bytes()), &parameters).await
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the patch was not judged")]
fn no_answer(error: ClusterError) -> NextApply {
    match error {
        ClusterError::Conflict { causes, .. } if !causes.is_empty() => {
            let conflicts = causes.iter().map(|(field, message)| FieldConflict::of(field, message));
            NextApply::Conflict { conflicts: conflicts.collect() }
        }
        error if is_refusal(&error) => NextApply::Refused { message: without_patch(&error.to_string()).to_owned() },
        error => NextApply::NotKnown { message: error.to_string() },
    }
}

/// Whether an error is the server's word on the manifest. That a field is not known, server-side apply says by a 500
/// (`Apply` in `structuredmerge.go` of apimachinery).
fn is_refusal(error: &ClusterError) -> bool {
    let is_unknown_field = matches!(error, ClusterError::ServerFailed { message, .. }
        if message.starts_with("failed to create typed patch object"));
    is_unknown_field
        || matches!(
            error,
            ClusterError::Invalid { .. } | ClusterError::AdmissionDenied { .. } | ClusterError::Rejected { .. }
        )
}

/// Leaves out the patch, values and all, that the server quotes where it cannot decode what becomes of it
/// (`applyPatchToObject` in `patch.go` of apiserver).
fn without_patch(message: &str) -> &str {
    let quoted = message.contains("patch: Invalid value: \"map[");
    message.rsplit_once("]\": ").filter(|_| quoted).map_or(message, |(_, why)| why)
}

/// Returns the object as `kubectl apply` of the manifest would leave it, merged without the server: its defaults are filled
/// in here, and of admission nothing is known.
pub fn merged_here(live: &Workload, manifest: &Value) -> Result<Manifest> {
    let kind = live.reference.kind;
    let patch = three_way(live, manifest)?;
    let object = strategic_merge::apply(&live.object, &patch, kind.merge()).map_err(not_sent)?;
    let object = if kind.has_template() { kind.defaults().fill(&object) } else { object };
    Ok(Manifest::Stored { object, removals_unseen: removals_unseen(live) })
}

/// Returns whether `kubectl apply` of a manifest would take the template away that it set last.
pub fn drops_template(live: &Workload, manifest: &Value) -> bool {
    let has_template = |object: &Value| object.pointer("/spec/template").is_some_and(|template| !template.is_null());
    let kind = live.reference.kind;
    let was_set = || original(live).is_some_and(|applied| has_template(&applied));
    kind.has_template() && !has_template(manifest) && (was_set() || applier(&live.object, kind).is_some())
}

/// No server merges a custom resource strategically: without merge keys its patch is one of JSON.
fn merge_of(kind: WorkloadKind) -> PatchKind {
    if kind.is_built_in() { PatchKind::StrategicMerge } else { PatchKind::Merge }
}

/// The patch that kubectl computes from the last applied manifest, this one and the live object.
fn three_way(live: &Workload, manifest: &Value) -> Result<Value> {
    let modified = as_kubectl_reads(manifest, &live.reference.namespace);
    strategic_merge::three_way(original(live).as_ref(), &modified, &live.object, live.reference.kind.merge())
        .map_err(not_sent)
}

fn not_sent(error: impl std::fmt::Display) -> ClusterError {
    ClusterError::NotSent { why: error.to_string() }
}

/// What was applied last: kubectl's own note, or what Helm's client side has set of the template.
fn original(live: &Workload) -> Option<Value> {
    let annotations = live.object.pointer("/metadata/annotations")?;
    match annotations.get(LAST_APPLIED) {
        Some(applied) => serde_json::from_str(applied.as_str()?).ok(),
        None => Some(json!({"spec": {"template": helms_template(&live.object, live.reference.kind)?}})),
    }
}

fn removals_unseen(live: &Workload) -> bool {
    original(live).is_none() && applier(&live.object, live.reference.kind).is_none()
}

/// Returns a manifest with the namespace and the annotations that kubectl gives every object it reads, even if empty.
///
/// The last applied manifest has them, so that their absence would count as a removal, of all annotations even.
/// Upstream: `GetModifiedConfiguration` in kubectl's `pkg/util/apply.go`.
fn as_kubectl_reads(manifest: &Value, namespace: &str) -> Value {
    let mut manifest = manifest.clone();
    if let Some(Value::Object(metadata)) = manifest.get_mut("metadata") {
        if !namespace.is_empty() {
            metadata.entry("namespace").or_insert_with(|| namespace.into());
        }
        let annotations = metadata.entry("annotations").or_insert(Value::Null);
        match annotations {
            Value::Object(annotations) => drop(annotations.remove(LAST_APPLIED)),
            Value::Null => *annotations = Value::Object(serde_json::Map::new()),
            Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {}
        }
    }
    manifest
}

impl Cluster {
    /// Returns the state of a workload. Where pods differ from its template, the server is asked once whether it makes that of
    /// the template; the answer is kept in `live`.
    pub async fn status(&self, live: &mut Snapshot) -> WorkloadStatus {
        let found = status(live);
        if !found.has_drifted() || live.surroundings.made != AdmittedPod::NotAsked {
            return found;
        }
        live.surroundings.made = self.what_is_made(live, None).await.0;
        status(live)
    }

    /// Returns what the server makes of the template, and of the one that follows it.
    pub async fn what_is_made(&self, live: &Snapshot, next: Option<&Value>) -> (AdmittedPod, AdmittedPod) {
        let of_next = async {
            match next {
                Some(next) => self.made(live, next).await,
                None => AdmittedPod::NotAsked,
            }
        };
        let (mut made, made_next) = futures::join!(self.made(live, live.workload.template()), of_next);
        // A policy may act on updates alone. Who may not patch pods does not learn of it.
        if let Some(patch) = template_patch(live, &made)
            && let Ok(answer) = self.send(&patch, true).await
        {
            note_kept(live, &mut made, &answer);
        }
        (made, made_next)
    }

    async fn made(&self, live: &Snapshot, template: &Value) -> AdmittedPod {
        let (namespace, pod) = (&live.workload.reference.namespace, pod_to_create(live, template));
        let made =
            self.create(PODS.into(), Some(namespace), &pod, &[("dryRun", "All")]).await.and_then(|pod| read_pod(&pod));
        let recorded = |error: ClusterError| recorded_as_made(live, template).ok_or_else(|| error.to_string());
        made.or_else(recorded).map_or_else(AdmittedPod::NotKnown, |pod| AdmittedPod::Pod(Box::new(pod)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_does_not_quote_the_patch() {
        let quoted = "the server refused the object: Deployment.apps \"web\" is invalid: patch: Invalid value: \
            \"map[spec:map[template:map[spec:map[containers:[map[env:[map[name:A value:hunter2]]]]]]]]\": strict decoding \
            error: unknown field \"spec.template.spec.contianers\"";
        let why = "strict decoding error: unknown field \"spec.template.spec.contianers\"";
        assert_eq!(without_patch(quoted), why);
        assert_eq!(without_patch("admission webhook \"a[0]\": no"), "admission webhook \"a[0]\": no");
    }

    #[test]
    fn what_kubectl_adds_to_a_manifest_is_not_seen_as_removed() {
        let applied =
            json!({"metadata": {"name": "web", "namespace": "prod", "annotations": {}}, "spec": {"replicas": 1}});
        let mut live = applied.clone();
        live["metadata"]["annotations"] = json!({"deployment.kubernetes.io/revision": "3", LAST_APPLIED: "{}"});
        for manifest in [
            json!({"metadata": {"name": "web"}, "spec": {"replicas": 1}}),
            json!({"metadata": {"name": "web", "annotations": null}, "spec": {"replicas": 1}}),
            json!({"metadata": {"name": "web", "annotations": {LAST_APPLIED: "old"}}, "spec": {"replicas": 1}}),
        ] {
            let modified = as_kubectl_reads(&manifest, "prod");
            let patch =
                strategic_merge::three_way(Some(&applied), &modified, &live, WorkloadKind::Deployment.merge()).unwrap();
            assert_eq!(patch, json!({}), "{manifest}");
        }
    }
}
