//! A toleration that the template gains comes into the pods and stays in them; one that it loses, they keep.

use serde_json::{Value, json};

use super::{KINDS, Scene, side_by_side};
use crate::support::run::Output;
use crate::support::scene::typed;

impl Scene {
    /// The manifest of the owner with these tolerations.
    fn manifest(&self, tolerations: &Value) -> Value {
        let owner = self.owner();
        let mut spec = self.spec.clone();
        spec["template"]["spec"]["tolerations"] = tolerations.clone();
        json!({"apiVersion": owner["apiVersion"], "kind": owner["kind"], "metadata": {"name": "w"}, "spec": spec})
    }

    fn apply_manifest(&self, manifest: &Value, more: &str) -> Output {
        let line = format!("apply -f - --yes --min-ready-seconds 0 {more}");
        typed(&self.server, &line).stdin(manifest.to_string().as_bytes()).run()
    }

    /// The template has the tolerations, the pods so many, and nobody has a reason to replace one.
    #[track_caller]
    fn tolerates(&self, template: &Value, pods: usize, what: &str) {
        let what = format!("{} {what}", self.kind.typed);
        assert_eq!(
            self.owner()["spec"]["template"]["spec"].get("tolerations").unwrap_or(&Value::Null),
            template,
            "{what}"
        );
        let has_it = |pod: &&Value| pod["spec"]["tolerations"].as_array().is_some_and(|list| list.contains(&gpu()));
        assert_eq!(self.server.objects("pods").iter().filter(has_it).count(), pods, "{what}");
        let mut expected = self.spec["template"]["spec"].clone();
        if !template.is_null() {
            expected["tolerations"] = template.clone();
        }
        assert_eq!(self.owner()["spec"]["template"]["spec"], expected, "{what}");
        self.is_settled_but_for_the_template(&what);
    }

    fn is_settled_but_for_the_template(&self, what: &str) {
        assert_eq!(super::uids(&self.server), self.uids, "{what}: no pod was replaced");
        let mut spec = self.owner()["spec"].clone();
        spec["template"] = self.spec["template"].clone();
        assert_eq!(spec, self.spec, "{what}: the owner's spec");
        self.is_what_the_controller_wants("acme/side:v1", what);
    }
}

fn gpu() -> Value {
    json!({"key": "gpu", "operator": "Exists"})
}

#[test]
fn they_come_into_the_pods_and_undo_leaves_them_there() {
    side_by_side(KINDS.to_vec(), |kind| {
        let scene = Scene::new(kind);
        let wanted = scene.manifest(&json!([gpu()]));
        scene.apply_manifest(&wanted, "").ends_with(0).prints("spec.tolerations   (none) -> gpu op=Exists");
        scene.tolerates(&json!([gpu()]), 3, "forward");
        scene.apply_manifest(&wanted, "").ends_with(0).prints("No changes.");
        scene.apply_manifest(&scene.manifest(&json!([])), "").ends_with(3).prints("TolerationRemoved");
        scene.tolerates(&json!([gpu()]), 3, "refused");

        scene.run("undo", "").ends_with(0).prints("(only in pods made later: those that run stay as they are)");
        scene.tolerates(&Value::Null, 3, "undone");
        typed(&scene.server, &format!("status {}", scene.kind.typed)).run().ends_with(0);

        scene.apply_manifest(&wanted, "").ends_with(0);
        scene.tolerates(&json!([gpu()]), 3, "forward again");
        typed(&scene.server, &format!("history {}", scene.kind.typed)).run().prints("toleration gpu op=Exists");
    });
}

#[test]
fn a_rollout_that_is_taken_back_leaves_them_in_the_pods_that_it_came_to() {
    side_by_side(KINDS.to_vec(), |kind| {
        let scene = Scene::new(kind);
        let mut wanted = scene.manifest(&json!([gpu()]));
        wanted["spec"]["template"]["spec"]["containers"][1]["image"] = "acme/side:missing".into();
        let output = scene.apply_manifest(&wanted, "--on-failure=undo --pre-pull=never").ends_with(4);
        output.prints("Taken back:");
        scene.tolerates(&Value::Null, 1, "taken back");
    });
}
