//! A toleration that the template gains comes into the pods and stays in them; one that it loses, they keep.

use serde_json::{Value, json};

use super::faults::{kill_at, with_pods};
use super::{KINDS, Scene, side_by_side};
use crate::support::run::{Binary, Output};
use crate::support::scene::typed;

impl Scene {
    /// The manifest of the owner with these tolerations.
    pub(super) fn manifest(&self, tolerations: &Value) -> Value {
        let owner = self.owner();
        let mut spec = self.spec.clone();
        spec["template"]["spec"]["tolerations"] = tolerations.clone();
        json!({"apiVersion": owner["apiVersion"], "kind": owner["kind"], "metadata": {"name": "w"}, "spec": spec})
    }

    pub(super) fn apply_manifest(&self, manifest: &Value, more: &str) -> Output {
        self.typed_manifest(manifest, more).run()
    }

    fn typed_manifest(&self, manifest: &Value, more: &str) -> Binary {
        let line = format!("apply -f - --yes --min-ready-seconds 0 {more}");
        typed(&self.server, &line).stdin(manifest.to_string().as_bytes())
    }

    /// The template has the tolerations, `pods` pods have them, and no controller has a reason to replace one.
    #[track_caller]
    fn tolerates(&self, template: &Value, pods: usize, what: &str) {
        let what = format!("{} {what}", self.kind.typed);
        assert_eq!(
            self.owner()["spec"]["template"]["spec"].get("tolerations").unwrap_or(&Value::Null),
            template,
            "{what}"
        );
        assert_eq!(self.server.objects("pods").iter().filter(|pod| has_gpu(pod)).count(), pods, "{what}");
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

fn has_gpu(pod: &Value) -> bool {
    pod["spec"]["tolerations"].as_array().is_some_and(|list| list.contains(&gpu()))
}

#[test]
fn they_come_into_the_pods_and_undo_leaves_them_there() {
    side_by_side(KINDS.to_vec(), |kind| {
        let scene = Scene::new(kind);
        let wanted = scene.manifest(&json!([gpu()]));
        scene.apply_manifest(&wanted, "").ends_with(0).prints("toleration gpu op=Exists   <none>   gpu op=Exists");
        scene.tolerates(&json!([gpu()]), 3, "forward");
        scene.apply_manifest(&wanted, "").ends_with(0).prints("No changes.");
        scene.apply_manifest(&scene.manifest(&json!([])), "").ends_with(3).prints("TolerationRemoved");
        scene.tolerates(&json!([gpu()]), 3, "refused");

        scene.run("undo", "").ends_with(0).prints("new pods only");
        scene.tolerates(&Value::Null, 3, "undone");
        typed(&scene.server, &format!("status {}", scene.kind.typed)).run().ends_with(0);

        scene.apply_manifest(&wanted, "").ends_with(0);
        scene.tolerates(&json!([gpu()]), 3, "forward again");
        typed(&scene.server, &format!("history {}", scene.kind.typed)).run().prints("toleration gpu op=Exists");
    });
}

/// cpu in the same change: both come, nothing restarts, and `undo` takes back what pods can lose.
#[test]
fn with_a_resize_in_the_same_change_undo_takes_the_resize_back_alone() {
    side_by_side(KINDS.to_vec(), |kind| {
        let resources = json!({"requests": {"cpu": "10m"}});
        let scene = Scene::with(kind, |workload| {
            workload.template(|template| template["spec"]["containers"][1]["resources"] = resources)
        });
        let cpu = || -> Vec<Value> {
            let of = |pod: &Value| pod["status"]["containerStatuses"][1]["resources"]["requests"]["cpu"].clone();
            scene.server.objects("pods").iter().map(of).collect()
        };
        let mut wanted = scene.manifest(&json!([gpu()]));
        wanted["spec"]["template"]["spec"]["containers"][1]["resources"]["requests"]["cpu"] = "30m".into();
        let line = "Resized: side in 3 pods. Restarted as planned: nothing; nothing else restarted; pods replaced: 0.";
        scene.apply_manifest(&wanted, "").ends_with(0).prints(line);
        assert_eq!(
            (cpu(), scene.server.objects("pods").iter().filter(|pod| has_gpu(pod)).count()),
            (vec![json!("30m"); 3], 3)
        );
        scene.apply_manifest(&wanted, "").ends_with(0).prints("No changes.");
        scene.run("undo", "").ends_with(0).prints("new pods only").prints(line);
        assert_eq!(cpu(), vec![json!("10m"); 3], "{}", kind.typed);
        scene.tolerates(&Value::Null, 3, "undone");
    });
}

#[test]
fn a_rollout_that_is_taken_back_leaves_them_in_the_pods_that_it_came_to() {
    side_by_side(KINDS.to_vec(), |kind| {
        let scene = Scene::new(kind);
        let mut wanted = scene.manifest(&json!([gpu()]));
        wanted["spec"]["template"]["spec"]["containers"][1]["image"] = "acme/side:missing".into();
        let output = scene.apply_manifest(&wanted, "--on-failure=undo --pre-pull=never").ends_with(4);
        output.prints("Rolled back:").says("pods that have the toleration gpu op=Exists keep it");
        scene.tolerates(&Value::Null, 1, "taken back");
    });
}

/// Killed anywhere, on the way there and on the way back: it is finished, or taken back, and no pod is another one.
#[test]
fn a_run_that_is_killed_anywhere_is_finished_by_resume_or_taken_back_by_abort() {
    let cases = with_pods().into_iter().flat_map(|case| ["resume", "abort"].map(|verb| (case, verb))).collect();
    side_by_side(cases, |((kind, write), verb)| {
        let scene = Scene::new(kind);
        kill_at(&scene, write, scene.typed_manifest(&scene.manifest(&json!([gpu()])), ""));
        let what = format!("killed at {write:?}, {verb}");
        let began = scene.owner()["spec"]["template"] != scene.spec["template"];
        let is_held = scene.lock() != Value::Null;
        let had_it = scene.server.objects("pods").iter().filter(|pod| has_gpu(pod)).count();
        let output = scene.run(verb, "");
        if !is_held {
            // Before the first write, or after the last.
            assert!(!began || had_it == 3, "{} {what}", kind.typed);
            return;
        }
        let output = output.ends_with(0);
        match verb {
            "resume" => scene.tolerates(&json!([gpu()]), 3, &what),
            _ => {
                output.says("pods that have the toleration gpu op=Exists keep it; the template no longer has it");
                scene.tolerates(&Value::Null, had_it, &what);
            }
        }
    });
}
