//! Every single field that the server's own OpenAPI gives a pod template: a change of it is refused, and named.

use engine::change;
use engine::change::reason::Reason;
use engine::k8s::names::WorkloadRef;
use engine::kinds::WorkloadKind;
use engine::merge::Schema;
use engine::plan::offline::build;
use engine::plan::{Options, Verdict};
use serde_json::{Value, json};

use crate::support::{Api, Leaf, OpenApi};

const TEMPLATE: &str = "io.k8s.api.core.v1.PodTemplateSpec";

/// What the rules claim: these change in place.
const CLAIMED: [&str; 4] =
    ["spec.containers.image", "spec.initContainers.image", "metadata.labels.key", "metadata.annotations.key"];

/// An old name of `serviceAccountName`: the server stores both, and where they differ takes the newer name's value.
const ALIAS: &str = "spec.serviceAccount";

/// Taken out of the manifest, the value stays: the server finds it under the other of the two names.
const NOT_REMOVED: [&str; 2] = [ALIAS, "spec.serviceAccountName"];

/// Returns the fields of a path as this program names it: `spec.containers[app].env[A].value` is
/// `spec.containers.env.value`.
fn fields(path: &str) -> String {
    let mut names = Vec::new();
    let path = path.trim_end_matches(" (order)");
    for part in path.split('.') {
        names.push(part.split('[').next().unwrap_or_default());
    }
    names.join(".")
}

/// Whether one of the paths is the leaf's, one that it lies in, or, of a leaf of any content, one within it.
fn named(paths: &[String], leaf: &str) -> bool {
    let is_in = |path: &str, other: &str| path.strip_prefix(other).is_some_and(|rest| rest.starts_with('.'));
    paths.iter().map(|path| fields(path)).any(|path| leaf == path || is_in(leaf, &path) || is_in(&path, leaf))
}

struct Templates {
    api: OpenApi,
}

impl Templates {
    fn with(&self, leaf: &Leaf, value: Option<&Value>) -> Value {
        let mut template = json!({"metadata": {}, "spec": {"containers": [{"name": "main", "image": "main:1"}]}});
        // Without a value the leaf is null, which is as good as absent, and everything around it exists.
        self.api.place(self.api.named(TEMPLATE), &mut template, &leaf.steps, value.unwrap_or(&Value::Null));
        template
    }
}

/// Paths that the comparison of two templates names, containers that come or go among them.
fn compared(before: &Value, after: &Value) -> Vec<String> {
    let diff = change::diff(&Schema::POD_TEMPLATE.fill(before), &Schema::POD_TEMPLATE.fill(after)).rest;
    let containers = diff.added.iter().chain(&diff.removed).chain(diff.renamed.iter().map(|(container, _)| container));
    let containers = containers.map(|(list, name)| format!("spec.{}[{name}]", list.spec_field()));
    diff.other.iter().cloned().chain(containers).collect()
}

/// The verdict on two Deployments, and the paths that it names.
fn planned(before: &Value, after: &Value) -> (Verdict, Vec<String>) {
    let owner = |template: &Value| json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": {"template": template}});
    let reference = WorkloadRef { kind: WorkloadKind::Deployment, namespace: String::new(), name: "web".into() };
    let plan = build(&reference, &owner(before), &owner(after), &Options::default());
    let paths = plan.reasons.iter().filter_map(Reason::path);
    let paths = paths.flat_map(|path| [path.replace("spec.containers[", "spec.initContainers["), path]);
    (plan.verdict, paths.collect())
}

#[test]
fn a_change_of_any_single_field_of_a_template_is_refused_but_for_those_with_rules() {
    let api = Api::open();
    let templates = Templates { api: OpenApi::read(&api, "apis/apps/v1") };
    let leaves = templates.api.leaves(TEMPLATE);
    assert!(leaves.len() > 500, "the template has more than {} fields", leaves.len());
    let mut wrong = Vec::new();
    for leaf in &leaves {
        let name = leaf.fields();
        let [one, other] = [0, 1].map(|index| templates.with(leaf, leaf.values.get(index)));
        let none = templates.with(leaf, None);
        if CLAIMED.contains(&name.as_str()) {
            let verdict = planned(&one, &other).0;
            // A plain init container's image is recorded for later, and restarts nothing now.
            let claimed = matches!(verdict, Verdict::InPlace | Verdict::NothingToDo);
            assert!(claimed && compared(&one, &other).is_empty(), "{name}: {verdict:?}");
            continue;
        }
        if let Some(field) = name.strip_prefix("spec.tolerations.") {
            // Another one is one that is lost and one that is gained; its seconds alone may change.
            let changed = if field == "tolerationSeconds" { Verdict::InPlace } else { Verdict::NotEligible };
            for (before, after) in [(&one, &other), (&none, &one), (&one, &none)] {
                let (verdict, paths) = planned(before, after);
                let is_named = verdict != Verdict::NotEligible || paths.contains(&"spec.tolerations".to_owned());
                if verdict != changed || !is_named {
                    wrong.push(format!("{name}: {before} -> {after}: {verdict:?}, {paths:?}"));
                }
            }
            continue;
        }
        for (before, after) in [(&one, &other), (&other, &one)] {
            if !named(&compared(before, after), &name) {
                wrong.push(format!("{name}: {:?}", compared(before, after)));
            }
            let (verdict, paths) = planned(before, after);
            if name != ALIAS && (verdict != Verdict::NotEligible || !named(&paths, &name)) {
                wrong.push(format!("{name}, offline: {verdict:?}, {paths:?}"));
            }
        }
        // Of two values one may be the default, and so be there already.
        let refused = |before: &Value, after: &Value| planned(before, after).0 == Verdict::NotEligible;
        if ![&one, &other].into_iter().any(|value| refused(&none, value)) {
            wrong.push(format!("{name}: added and not seen"));
        }
        if !NOT_REMOVED.contains(&name.as_str()) && ![&one, &other].into_iter().any(|value| refused(value, &none)) {
            wrong.push(format!("{name}: removed and not seen"));
        }
    }
    assert!(wrong.is_empty(), "{} of {} fields:\n{}", wrong.len(), leaves.len(), wrong.join("\n"));
}
