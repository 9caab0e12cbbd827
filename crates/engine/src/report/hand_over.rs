//! What is said of a manifest that another tool applies next: what became of it before, and what that apply changes.

use serde::{Deserialize, Serialize};

use crate::change::reason::see_its_rollout;
use crate::k8s::names::WorkloadRef;
use crate::state::manager;
use crate::value::count::count;
use crate::value::hint::{Hint, inplace};
use crate::value::words;

words! {
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

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HandOver {
    /// The tool that applies it.
    pub owner: String,
    #[serde(flatten)]
    pub next: NextApply,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "result", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum NextApply {
    Unchanged,
    Changes {
        /// None where the object is created again.
        paths: Vec<String>,
        pods_replaced: u32,
    },
    Conflict {
        conflicts: Vec<FieldConflict>,
    },
    Refused {
        message: String,
    },
    NotKnown {
        message: String,
    },
}

/// A field, as a plan names it, and whose it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FieldConflict {
    pub field: String,
    pub manager: String,
    /// It is no field of the template.
    #[serde(skip)]
    pub is_outside: bool,
}

impl FieldConflict {
    /// Reads a conflict of the server's: a field such as `.spec.template.spec.containers[name="app"].image`, and a message such
    /// as `conflict with "kubectl-edit" using apps/v1` (`NewFromConflicts` in apimachinery's managedfields).
    pub fn of(field: &str, message: &str) -> Self {
        let of_template = field.strip_prefix(".spec.template");
        let path = of_template.unwrap_or(field).trim_start_matches('.');
        let field = path.replace("[name=\"", "[").replace("\"]", "]");
        let manager = message.split('"').nth(1).unwrap_or(message).to_owned();
        Self { field, manager, is_outside: of_template.is_none() }
    }
}

impl HandOver {
    /// Returns whether the next apply is known to leave the template as it is.
    pub fn is_clean(&self) -> bool {
        self.next == NextApply::Unchanged
    }

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
                let fields =
                    conflicts.iter().map(|FieldConflict { field, manager, .. }| format!("{field} ({manager})"));
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

    pub fn hint(&self, workload: &WorkloadRef) -> Option<Hint> {
        let NextApply::Conflict { conflicts } = &self.next else { return None };
        let mut outside = conflicts.iter().filter(|conflict| conflict.is_outside);
        if outside.clone().any(|conflict| manager::is_ours(&conflict.manager)) {
            return Some(see_its_rollout(workload));
        }
        if outside.next().is_some() {
            return Some("take the fields that are not of the template out of the manifest, or force the apply, which gives them the manifest's values: release-fields is about the template".into());
        }
        let release = inplace("release-fields").of(workload).in_namespace(&workload.namespace);
        Some(Hint::from("see whose fields they are, and release them: ").command(release))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kinds::WorkloadKind;

    #[test]
    fn each_answer_is_a_sentence_and_a_conflict_has_a_way_out() {
        let (namespace, name) = ("prod".to_owned(), "web".to_owned());
        let workload = WorkloadRef { kind: WorkloadKind::Deployment, namespace, name };
        let said = |next: NextApply| {
            let found = HandOver { owner: "helm".to_owned(), next };
            (found.is_clean(), found.sentence(), found.hint(&workload).map(|hint| hint.to_string()))
        };
        let of = |paths: &[&str], pods_replaced| NextApply::Changes {
            paths: paths.iter().map(|path| (*path).to_owned()).collect(),
            pods_replaced,
        };
        let message = "conflict with \"kubectl-edit\" using apps/v1";
        let conflict = FieldConflict::of(".spec.template.spec.containers[name=\"app\"].image", message);
        let outside = FieldConflict::of(".spec.replicas", message);
        let next = "the next apply of this manifest by helm";
        for (answer, sentence) in [
            (NextApply::Unchanged, "helm applies this manifest without a change of the template".to_owned()),
            (of(&["spec.a", "spec.b"], 1), format!("{next} changes spec.a, spec.b, and replaces 1 pod")),
            (of(&["spec.a"], 0), format!("{next} changes spec.a, and replaces no pod")),
            (of(&[], 3), format!("{next} deletes the object and creates it again, and replaces 3 pods")),
            (NextApply::Refused { message: "no".into() }, format!("the server refuses {next}: no")),
            (NextApply::NotKnown { message: "no".into() }, format!("what {next} changes could not be asked: no")),
        ] {
            assert_eq!(said(answer.clone()), (answer == NextApply::Unchanged, sentence, None));
        }
        let (.., hint) = said(NextApply::Conflict { conflicts: vec![conflict.clone()] });
        let hint = hint.unwrap();
        assert!(hint.ends_with(": kubectl inplace release-fields deployment/web -n prod"), "{hint}");
        let held = FieldConflict::of(".spec.updateStrategy.type", "conflict with \"inplace-cli\" using apps/v1");
        let (.., hint) = said(NextApply::Conflict { conflicts: vec![held] });
        let hint = hint.unwrap();
        assert!(hint.ends_with(": kubectl inplace status deployment/web -n prod"), "{hint}");
        let (is_clean, sentence, hint) = said(NextApply::Conflict { conflicts: vec![conflict, outside] });
        assert_eq!(
            (is_clean, sentence),
            (
                false,
                format!(
                    "{next} fails: others own spec.containers[app].image (kubectl-edit), spec.replicas (kubectl-edit)"
                )
            )
        );
        let hint = hint.unwrap();
        assert!(hint.contains("out of the manifest"), "{hint}");
    }
}
