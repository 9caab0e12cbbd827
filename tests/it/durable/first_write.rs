//! Nothing is written before the first pod may go down: the wait says on what, and a run that ends meanwhile has changed
//! nothing.

use serde_json::{Value, json};

use super::{KINDS, Scene, side_by_side};
use crate::support::api_server::ApiServer;
use crate::support::builders;
use crate::support::clock;

const WAITS: &str = "waiting, nothing is changed yet: ";

/// A budget that has room, but not now: an eviction is in progress.
fn make_busy(server: &ApiServer) {
    let mut budget = builders::budget("w", 0);
    budget["metadata"]["name"] = "strict".into();
    budget["spec"]["minAvailable"] = 2.into();
    server.insert([budget]);
}

fn make_room(server: &ApiServer) {
    server.edit("poddisruptionbudgets", "strict", |budget| budget["status"]["disruptionsAllowed"] = 1.into());
}

impl Scene {
    /// Nothing of the owner, its history or its pods is other than before.
    #[track_caller]
    fn is_untouched(&self, what: &str) {
        assert!(self.server.writes().is_empty(), "{what}: {:?}", self.server.writes());
        assert_eq!((self.owner()["spec"].clone(), self.lock()), (self.spec.clone(), Value::Null), "{what}");
        assert!(self.history().is_empty(), "{what}");
    }

    /// Every pod runs what it asks for, and is ready.
    fn rests(&self) {
        let image = |of: &Value| of[1]["image"].as_str().unwrap_or_default().to_owned();
        let rests = |pod: &Value| {
            let mut conditions = pod["status"]["conditions"].as_array().into_iter().flatten();
            let is_ready = conditions.any(|one| one["type"] == "Ready" && one["status"] == "True");
            is_ready && image(&pod["status"]["containerStatuses"]).ends_with(&image(&pod["spec"]["containers"]))
        };
        clock::eventually("pods at rest", || self.server.objects("pods").iter().all(rests).then_some(()));
    }
}

#[test]
fn a_budget_without_room_is_waited_for_before_anything_is_written() {
    side_by_side(KINDS.to_vec(), |kind| {
        let scene = Scene::new(kind);
        make_busy(&scene.server);
        let line = "side=acme/side:v2 --timeout 2s";
        let output = scene.run("apply", line).ends_with(5);
        output
            .says(&format!("{WAITS}poddisruptionbudget/strict allows no pod to be down now: "))
            .prints("no pod may be taken down: poddisruptionbudget/strict allows no pod to be down now: ")
            .prints("side: the template, and so every new pod, has acme/side:v1; 3 pods with acme/side:v1.")
            .prints("This run changed nothing; there is nothing to resume.")
            .omits("Resume:")
            .omits("kubectl inplace abort");
        let output = scene.run("apply", &format!("{line} -o json")).ends_with(5);
        let lines = output.json_lines();
        let reported = lines.iter().find(|line| line["type"] == "waitsToBegin").cloned().unwrap_or_default();
        assert!(
            reported["message"].as_str().is_some_and(|why| why.starts_with("poddisruptionbudget/strict")),
            "{reported}"
        );
        let summary = lines.last().cloned().unwrap_or_default();
        let end = (&summary["result"], &summary["nothingChanged"], &summary["resume"], &summary["abort"]);
        assert_eq!(end, (&json!("timedOut"), &json!(true), &Value::Null, &Value::Null), "{summary}");
        scene.run("apply", &format!("{line} --on-failure=undo")).ends_with(5).says("nothing was changed");
        scene.is_untouched(kind.typed);
        let running = scene.typed("apply", "side=acme/side:v2").spawn();
        running.wait_for_stderr(WAITS);
        running.signal("INT");
        running.wait().ends_with(130).prints("This run changed nothing").omits("kubectl inplace resume");
        scene.is_untouched(kind.typed);
        let running = scene.typed("apply", "side=acme/side:v2").spawn();
        running.wait_for_stderr(WAITS);
        scene.is_untouched(kind.typed);
        make_room(&scene.server);
        running.wait().completes(kind.typed);
        scene.is_settled("acme/side:v2", kind.typed);
        // The way back is a rollout of its own.
        scene.server.edit("poddisruptionbudgets", "strict", |budget| budget["status"]["disruptionsAllowed"] = 0.into());
        let writes = scene.server.writes().len();
        scene.run("undo", "--timeout 2s").ends_with(5).prints("This run changed nothing");
        assert_eq!(scene.server.writes().len(), writes, "{}", kind.typed);
        scene.is_settled("acme/side:v2", kind.typed);
    });
}

/// A rollout without a pod in progress is unchanged until one may go down, whoever goes on with it.
#[test]
fn a_rollout_that_was_left_is_untouched_until_a_pod_may_go_down() {
    side_by_side(KINDS.to_vec(), |kind| {
        for verb in ["resume", "abort"] {
            let (scene, running) = super::holds::stuck(kind);
            running.signal("INT");
            running.wait().ends_with(130);
            super::holds::free(&scene);
            // A pod that the run before has left in progress would be carried on at once.
            scene.rests();
            make_busy(&scene.server);
            let writes = scene.server.writes().len();
            let running = scene.typed(verb, "").spawn();
            running.wait_for_stderr(WAITS);
            assert_eq!(scene.server.writes().len(), writes, "{} {verb}", kind.typed);
            make_room(&scene.server);
            running.wait().completes(kind.typed);
            scene.is_settled(if verb == "resume" { "acme/side:v2" } else { "acme/side:v1" }, kind.typed);
        }
    });
}

/// Sets a pod's conditions by hand.
fn conditions(server: &ApiServer, pod: &str, edit: impl Fn(&mut Value)) {
    server.edit("pods", pod, |pod| {
        edit(pod);
        for condition in pod["status"]["conditions"].as_array_mut().into_iter().flatten() {
            if condition["type"] == "Ready" {
                condition["status"] = "False".into();
            }
        }
    });
}

fn make_ready(server: &ApiServer, name: &str) {
    server.edit("pods", name, |pod| {
        pod["spec"]["nodeName"] = "node-a".into();
        for condition in pod["status"]["conditions"].as_array_mut().into_iter().flatten() {
            condition["status"] = "True".into();
        }
    });
}

#[test]
fn pods_that_are_down_or_without_a_node_are_waited_for_before_anything_is_written() {
    let down = |_: &mut Value| {};
    let homeless = |pod: &mut Value| {
        pod["spec"].as_object_mut().expect("a spec").remove("nodeName");
        let condition =
            json!({"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/1 nodes fit"});
        let conditions = pod["status"]["conditions"].as_array_mut().expect("conditions");
        conditions.retain(|condition| condition["type"] != "PodScheduled");
        conditions.push(condition);
    };
    type Edit = fn(&mut Value);
    let cases: [(usize, Edit, &str); 2] = [
        // Strictly by ordinal, and it is not its turn.
        (1, down, "1 pod is down or missing, such as pod/w-0, and 1 may be"),
        (0, homeless, " goes first, and is not scheduled: 0/1 nodes fit"),
    ];
    side_by_side(cases.to_vec(), |(index, edit, why)| {
        let kind = KINDS[index];
        let scene = Scene::new(kind);
        let name = scene.server.objects("pods")[0]["metadata"]["name"].as_str().unwrap_or_default().to_owned();
        conditions(&scene.server, &name, edit);
        let output = scene.run("apply", "side=acme/side:v2 --timeout 2s").ends_with(5);
        output.says(WAITS).says(why).prints("no pod may be taken down: ").prints(why);
        scene.is_untouched(why);
        let running = scene.typed("apply", "side=acme/side:v2").spawn();
        running.wait_for_stderr(why);
        make_ready(&scene.server, &name);
        running.wait().completes(why);
        scene.is_settled("acme/side:v2", why);
    });
}

/// The one pod that there is to show it cannot become ready by the update.
#[test]
fn a_pod_that_another_container_keeps_down_shows_nothing_and_is_waited_for() {
    let stuck = |scene: &Scene, count: usize, reason: &str| {
        for pod in scene.server.objects("pods").iter().take(count) {
            let name = pod["metadata"]["name"].as_str().unwrap_or_default();
            conditions(&scene.server, name, |pod| {
                let status = &mut pod["status"]["containerStatuses"][0];
                status["ready"] = false.into();
                status["state"] = json!({"waiting": {"reason": reason, "message": "connection refused"}});
                // Of a container that cannot be made the kubelet now and then shows the back-off of the one before.
                status["image"] = "acme/app:v0".into();
                for condition in pod["status"]["conditions"].as_array_mut().into_iter().flatten() {
                    if condition["type"] == "ContainersReady" {
                        condition["status"] = "False".into();
                    }
                }
            });
        }
    };
    let reasons = ["ErrImagePull", "CrashLoopBackOff"];
    let cases = KINDS.iter().flat_map(|kind| reasons.map(|reason| (*kind, reason))).collect();
    side_by_side(cases, |(kind, reason)| {
        let scene = Scene::new(kind);
        stuck(&scene, 3, reason);
        let output = scene.run("apply", "side=acme/side:v2 --timeout 2s --max-unavailable 3").ends_with(5);
        let output = output.says("(PodsStayUnready)").prints("This run changed nothing");
        output.says(&format!("goes first, and its container app, which does not change, cannot start ({reason})"));
        scene.is_untouched(kind.typed);
        // Where others can show it, they go first.
        let scene = Scene::new(kind);
        stuck(&scene, 1, reason);
        scene.run("apply", "side=acme/side:v2 --timeout 2s").ends_with(5).prints("This run changed nothing");
        scene.is_untouched(kind.typed);
    });
}
