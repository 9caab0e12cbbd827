//! Going first: what of a manifest is left to the next apply of the tool that owns the workload, and what that apply would
//! then change in the template. The server is asked, as the tool would ask it; nothing here goes by `metadata.generation`.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::warnings::manager;
use super::{Verdict, WorkloadPlan};
use crate::change::reason::{Reason, ReasonClass, Warning};
use crate::change::template::changed_paths;
use crate::k8s::names::WorkloadRef;
use crate::k8s::workload::Workload;
use crate::kinds::{self, HoldsBy};
use crate::state::durable::stateful_set::partition_of;
use crate::state::field_managers::{applier, fluxs_template};
use crate::state::manager::{KUSTOMIZE_CONTROLLER, forces_conflicts};
use crate::value::count::count;
use crate::value::hint::{Hint, inplace};
use crate::value::words;

/// Argo CD's options of one object (`HasAnnotationOption` in pkg/sync/resource of its gitops-engine).
const SYNC_OPTIONS: &str = "argocd.argoproj.io/sync-options";

words! {
    /// What was made of a manifest before its tool applies it.
    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "camelCase")]
    HandedOver {
        /// The pods have it.
        InPlace = "inPlace",
        /// Nothing was written: its tool rolls it out.
        Left = "left",
        /// The workload is not there yet.
        Absent = "absent",
    }
}

words! {
    /// How the tool that owns a workload applies a manifest.
    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "camelCase")]
    Way {
        /// Server-side apply under the field manager that owns the template.
        ServerSideApply = "serverSideApply",
        /// A three-way merge with what it has applied last.
        ClientSideApply = "clientSideApply",
        /// Another template in place of the one that is there.
        Replace = "replace",
        /// A delete and a create.
        ReCreate = "reCreate",
    }
}

/// What the next apply of a manifest does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HandOver {
    /// The tool that applies it.
    pub owner: String,
    pub way: Way,
    #[serde(flatten)]
    pub next: NextApply,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "result", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum NextApply {
    /// The template stays as it is.
    Unchanged,
    Changes {
        /// None where the object is created again.
        paths: Vec<String>,
        pods_replaced: u32,
    },
    Conflict {
        /// The fields, as the server names them, and whose they are.
        conflicts: Vec<(String, String)>,
    },
    Refused {
        message: String,
    },
    /// The server could not be asked.
    NotKnown {
        message: String,
    },
}

/// A question to the server about the next apply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NextQuestion {
    pub way: Way,
    /// The field manager of a server-side apply.
    pub manager: Option<String>,
    /// It takes fields over, whoever owns them.
    pub forces: bool,
}

impl NextQuestion {
    pub fn of(workload: &Workload, manifest: &Value) -> Self {
        let object = &workload.object;
        let manager = applier(object, workload.reference.kind).map(str::to_owned);
        let way = match (sync_options(&[object, manifest]), &manager) {
            ((true, true), _) => Way::ReCreate,
            ((true, false), _) => Way::Replace,
            ((false, _), Some(_)) => Way::ServerSideApply,
            ((false, _), None) => Way::ClientSideApply,
        };
        Self { way, forces: manager.as_deref().is_some_and(forces_conflicts), manager }
    }

    /// Returns what the next apply does whose answer is this object.
    pub fn answered(&self, workload: &Workload, stored: &Value) -> NextApply {
        let kind = workload.reference.kind;
        let is_flux = self.manager.as_deref() == Some(KUSTOMIZE_CONTROLLER);
        let taken = if is_flux { fluxs_template(stored, kind) } else { None };
        let after = taken.as_ref().or_else(|| stored.pointer(kind.template_pointer())).unwrap_or(&Value::Null);
        let paths = changed_paths(workload.template(), after, "");
        if paths.is_empty() {
            return NextApply::Unchanged;
        }
        NextApply::Changes { paths, pods_replaced: replaced(workload, stored) }
    }

    /// Returns what an object that is created again costs, which needs no question.
    pub fn re_created(&self, workload: &Workload) -> Option<NextApply> {
        let all = NextApply::Changes { paths: Vec::new(), pods_replaced: workload.desired_replicas() };
        (self.way == Way::ReCreate).then_some(all)
    }

    pub fn hand_over(&self, workload: &Workload, next: NextApply) -> HandOver {
        HandOver { owner: self.owner(workload), way: self.way, next }
    }

    /// The tool's name, as far as the object tells.
    fn owner(&self, workload: &Workload) -> String {
        let by = |tool: Warning| match tool {
            Warning::ManagedByArgoCd { .. } => Some("Argo CD"),
            Warning::ManagedByFlux { .. } => Some("Flux"),
            Warning::ManagedByHelm { .. } => Some("Helm"),
            _ => None,
        };
        let tool = manager(workload, Vec::new()).and_then(by);
        tool.or(self.manager.as_deref()).unwrap_or("kubectl").to_owned()
    }
}

/// Whether Argo CD replaces an object in place of applying it, and whether it forces that.
fn sync_options(objects: &[&Value]) -> (bool, bool) {
    let has = |wanted: &str| {
        objects.iter().any(|object| {
            let options = object.pointer("/metadata/annotations").and_then(|all| all.get(SYNC_OPTIONS)?.as_str());
            options.is_some_and(|options| options.split(',').any(|option| option.trim() == wanted))
        })
    };
    (has("Replace=true"), has("Force=true"))
}

/// Returns the warning that the next sync creates the object again.
pub(super) fn re_creates(objects: &[&Value]) -> Option<Warning> {
    (sync_options(objects) == (true, true)).then_some(Warning::ApplyReplaces)
}

/// How many pods the controller replaces once the object has another template.
fn replaced(workload: &Workload, after: &Value) -> u32 {
    let kind = workload.reference.kind;
    let is_left = kind.holds_by() == HoldsBy::Nothing || kinds::is_on_delete(after) || kinds::is_paused(after);
    let in_place = || kind.spec().foresee.is_some_and(|foresee| foresee(&workload.object, after).obstacles.is_empty());
    if is_left || in_place() {
        return 0;
    }
    let below = after.pointer("/spec/updateStrategy").filter(|_| kind.has_partition()).map_or(0, partition_of);
    workload.desired_replicas().saturating_sub(u32::try_from(below).unwrap_or(0))
}

impl HandOver {
    /// Returns whether the next apply is known to leave the template as it is.
    pub fn is_clean(&self) -> bool {
        self.next == NextApply::Unchanged
    }

    /// Returns it as a sentence without a full stop.
    pub fn sentence(&self) -> String {
        let owner = &self.owner;
        match &self.next {
            NextApply::Unchanged => format!("{owner} applies this manifest without a change of the template"),
            NextApply::Changes { paths, pods_replaced } => {
                let what = match paths.as_slice() {
                    [] => "deletes the object and creates it again".to_owned(),
                    paths => format!("changes {}", paths.join(", ")),
                };
                let pods = if *pods_replaced == 0 { "no pod".to_owned() } else { count(*pods_replaced, "pod") };
                format!("the next apply of this manifest by {owner} {what}, and replaces {pods}")
            }
            NextApply::Conflict { conflicts } => {
                let fields = conflicts.iter().map(|(field, manager)| format!("{field} ({manager})"));
                let fields = fields.collect::<Vec<_>>().join(", ");
                format!("the next apply of this manifest by {owner} fails: others own {fields}")
            }
            NextApply::Refused { message } => {
                format!("the server refuses the next apply of this manifest by {owner}: {message}")
            }
            NextApply::NotKnown { message } => {
                format!("what the next apply of this manifest by {owner} changes could not be asked: {message}")
            }
        }
    }

    /// Returns what to do about it.
    pub fn hint(&self, workload: &WorkloadRef) -> Option<Hint> {
        let NextApply::Conflict { .. } = self.next else { return None };
        let release = inplace("release-fields").of(workload).in_namespace(&workload.namespace);
        Some(Hint::from("see whose fields they are, and release them: ").command(release))
    }
}

impl WorkloadPlan {
    /// Leaves out the warning of the tool that makes the object: the manifest is that tool's.
    pub fn forget_its_tool(&mut self) {
        let names_tool = |warning: &Warning| {
            matches!(
                warning,
                Warning::ManagedByArgoCd { .. } | Warning::ManagedByFlux { .. } | Warning::ManagedByHelm { .. }
            )
        };
        self.warnings.retain(|warning| !names_tool(warning));
    }

    /// Returns what becomes of a manifest that is applied in place where that is possible, and of one that is left the code
    /// that says why; `None` where it is neither, but an error: a permission is missing, or another rollout holds it.
    pub fn handed_over(&self) -> Option<(HandedOver, &'static str)> {
        let is_error = |reason: &Reason| {
            let held = matches!(reason, Reason::OwnerPaused { by_a_rollout: true, .. });
            held || matches!(reason.kind().class(), ReasonClass::Permission | ReasonClass::Held | ReasonClass::Stale)
        };
        let leaves = |warning: &&Warning| {
            matches!(warning, Warning::ApplyReplaces | Warning::ConfigurationChanges { .. })
        };
        match self.verdict {
            _ if self.is_offline() => Some((HandedOver::Absent, "")),
            Verdict::NothingToDo => Some((HandedOver::InPlace, "")),
            Verdict::InPlace => match self.warnings.iter().find(leaves) {
                Some(warning) => Some((HandedOver::Left, warning.code())),
                None => self.missing_permissions.is_empty().then_some((HandedOver::InPlace, "")),
            },
            Verdict::InPlaceByController => None,
            Verdict::NotEligible if self.all_reasons().any(is_error) => None,
            Verdict::NotEligible => self.all_reasons().next().map(|reason| (HandedOver::Left, reason.code())),
        }
    }
}

/// Returns the ConfigMaps and Secrets that the pods of a template read, by kind and name.
pub fn configuration(template: &Value) -> BTreeSet<(&'static str, String)> {
    let mut found = BTreeSet::new();
    add_configuration(template.get("spec").unwrap_or(&Value::Null), &mut found);
    found
}

/// The fields of a pod's spec that name one: volumes, and the environment.
const NAMES_ONE: [(&str, &str, &str); 7] = [
    ("configMap", "name", "ConfigMap"),
    ("configMapRef", "name", "ConfigMap"),
    ("configMapKeyRef", "name", "ConfigMap"),
    ("secret", "secretName", "Secret"),
    ("secret", "name", "Secret"),
    ("secretRef", "name", "Secret"),
    ("secretKeyRef", "name", "Secret"),
];

fn add_configuration(value: &Value, found: &mut BTreeSet<(&'static str, String)>) {
    match value {
        Value::Object(fields) => {
            for (field, key, kind) in NAMES_ONE {
                let name = fields.get(field).and_then(|source| source.get(key)?.as_str());
                found.extend(name.map(|name| (kind, name.to_owned())));
            }
            fields.values().for_each(|value| add_configuration(value, found));
        }
        Value::Array(items) => items.iter().for_each(|item| add_configuration(item, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Returns whether a ConfigMap or Secret has what a manifest says. A manifest without data leaves that to somebody else.
pub fn has_configuration(live: &Value, manifest: &Value) -> bool {
    let map = |object: &Value, field: &str| object.get(field).and_then(Value::as_object).cloned().unwrap_or_default();
    let all = |object: &Value| {
        let mut data = map(object, "data");
        data.extend(map(object, "binaryData"));
        let texts = map(object, "stringData").into_iter();
        data.extend(texts.map(|(key, text)| (key, json!(base64(text.as_str().unwrap_or_default().as_bytes())))));
        data
    };
    let wanted = all(manifest);
    wanted.is_empty() || wanted == all(live)
}

fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for part in bytes.chunks(3) {
        let bits = part.iter().enumerate().fold(0_u32, |bits, (at, byte)| bits | u32::from(*byte) << (16 - 8 * at));
        for place in 0..4_usize {
            let at = usize::try_from(bits >> (18 - 6 * place) & 63).unwrap_or(0);
            let letter = ALPHABET.get(at).filter(|_| place <= part.len()).copied().unwrap_or(b'=');
            text.push(char::from(letter));
        }
    }
    text
}
