//! From every state that a kill, an edit or another writer leaves, the first command that is printed leads out, and every pod
//! is kept.

use serde_json::{Value, json};

use super::faults::{kill_at, killed_at};
use super::{HISTORY, KINDS, Kind, LOCK, Scene, Write, images, side_by_side, uids};
use crate::support::api_server::{Effect, When};
use crate::support::run::Output;
use crate::support::scene::typed;

const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// What is done to what a killed run has left.
#[derive(Debug, Clone, Copy)]
enum Deed {
    /// Nothing.
    None,
    /// The lock is removed by hand; its copies stay.
    Unlock,
    /// Together with its copies.
    UnlockAll,
    /// The lock is overwritten.
    Scribble,
    /// Together with its copies.
    ScribbleAll,
    /// It does not say whose it is.
    NoHolder,
    /// Numbers that nobody can reckon with.
    Hostile,
    /// The history cannot be read.
    History,
    /// What is noted on the pods cannot be read.
    Records,
    /// Somebody else sets the template back, under what the run has set.
    Revert,
}

impl Deed {
    fn is_done(self, scene: &Scene) {
        let copies = ["replicasets", "controllerrevisions"];
        match self {
            Self::None => {}
            Self::Unlock => annotate(scene, scene.kind.plural, LOCK, None),
            Self::UnlockAll => {
                annotate(scene, scene.kind.plural, LOCK, None);
                copies.iter().for_each(|plural| annotate(scene, plural, LOCK, None));
            }
            Self::Scribble => annotate(scene, scene.kind.plural, LOCK, Some("{\"id\":")),
            Self::ScribbleAll => {
                annotate(scene, scene.kind.plural, LOCK, Some("edited"));
                copies.iter().for_each(|plural| annotate(scene, plural, LOCK, None));
            }
            Self::NoHolder => {
                edit_lock(scene, |lock| drop(lock.as_object_mut().and_then(|lock| lock.remove("lease"))));
            }
            Self::Hostile => edit_lock(scene, |lock| {
                lock["policy"]["timeoutGiven"] = u64::MAX.into();
                lock["policy"]["totalTimeout"] = u64::MAX.into();
                lock["policy"]["ownerMinReadySeconds"] = 0.into();
                lock["policy"]["maxUnavailable"] = 0.into();
                lock["lease"]["pid"] = u32::MAX.into();
                if lock["outgoing"].is_object() {
                    lock["outgoing"]["revision"] = i64::MAX.into();
                }
            }),
            Self::History => annotate(scene, scene.kind.plural, HISTORY, Some("[{")),
            Self::Records => annotate(scene, "pods", "kubectl-inplace.io/update", Some("{}")),
            Self::Revert => set_image(scene, "acme/side:v1"),
        }
    }
}

fn set_image(scene: &Scene, image: &str) {
    scene.server.edit(scene.kind.plural, "w", |owner| {
        owner["spec"]["template"]["spec"]["containers"][1]["image"] = image.into();
    });
}

fn annotate(scene: &Scene, plural: &str, key: &str, value: Option<&str>) {
    for object in scene.server.objects(plural) {
        let name = object["metadata"]["name"].as_str().unwrap_or_default().to_owned();
        scene.server.edit(plural, &name, |object| match (value, object["metadata"]["annotations"].as_object_mut()) {
            (Some(value), Some(annotations)) => drop(annotations.insert(key.into(), value.into())),
            (Some(value), None) => object["metadata"]["annotations"] = json!({key: value}),
            (None, Some(annotations)) => drop(annotations.remove(key)),
            (None, None) => {}
        });
    }
}

fn edit_lock(scene: &Scene, edit: impl FnOnce(&mut Value)) {
    let mut lock = scene.lock();
    if lock.is_null() {
        return;
    }
    edit(&mut lock);
    annotate(scene, scene.kind.plural, LOCK, Some(&lock.to_string()));
}

/// Returns the first command that an output prints, but for those that only read.
fn printed(output: &Output) -> Option<String> {
    let lines = output.stdout.lines().chain(output.stderr.lines());
    let commands = lines.filter_map(|line| {
        let (before, command) = line.split_once("kubectl inplace ")?;
        // In a sentence it is in brackets.
        let in_brackets = command.split_once(')').filter(|_| before.ends_with('('));
        Some(in_brackets.map_or(command, |(command, _)| command).trim().to_owned())
    });
    let acts = |command: &String| ["resume", "abort"].iter().any(|verb| command.starts_with(verb));
    let mut commands = commands.filter(|command| acts(command) && command.contains("/w"));
    commands.next()
}

/// Types `apply` again, and then what is printed, until it ends well; returns what was typed.
fn led_out(scene: &Scene, what: &str) -> Vec<String> {
    let first = format!("apply {} side=acme/side:v2", scene.kind.typed);
    let mut typed_so_far = vec![first.clone()];
    for _ in 0..4 {
        let command = typed_so_far.last().cloned().unwrap_or_default();
        let output = typed(&scene.server, &format!("{command} --yes --min-ready-seconds 0")).run();
        let next = printed(&output);
        if output.code == Some(0) && next.is_none() {
            return typed_so_far;
        }
        // Where somebody else's change has ended the rollout, nothing of it is left, and the first one works.
        let is_free = scene.lock().is_null() && typed_so_far.len() > 1;
        let next = next.or_else(|| is_free.then(|| first.clone()));
        let Some(next) = next else { panic!("{what}: nothing leads on\n{}", output.block()) };
        assert!(
            next == first || !typed_so_far.contains(&next),
            "{what}: {typed_so_far:?} leads back\n{}",
            output.block()
        );
        typed_so_far.push(next);
    }
    panic!("{what}: {typed_so_far:?} leads nowhere");
}

/// Every place where a run may be killed, except the first, before which nothing is done, and a Deployment's last one,
/// after which only a copy of the lock is left, which the next rollout overwrites.
fn places(kind: Kind) -> Vec<Write> {
    let pods = [0, 1].map(|nth| Write { verb: "patch", plural: "pods", nth });
    let is_copy = |write: &&Write| kind.plural == "deployments" && write.plural == "replicasets" && write.nth == 1;
    kind.writes.iter().skip(1).filter(|write| !is_copy(write)).copied().chain(pods).collect()
}

#[test]
fn from_every_state_the_first_printed_command_leads_out_and_every_pod_is_kept() {
    let all = [
        Deed::None,
        Deed::Unlock,
        Deed::UnlockAll,
        Deed::Scribble,
        Deed::ScribbleAll,
        Deed::NoHolder,
        Deed::Hostile,
        Deed::History,
        Deed::Records,
    ];
    let mut cases: Vec<(Kind, Write, Deed)> = Vec::new();
    for kind in KINDS {
        for write in places(kind) {
            // The simulated controllers copy no annotations to ControllerRevisions, as the real ones do.
            let is_known = |deed: &&Deed| kind.plural == "deployments" || matches!(deed, Deed::None);
            cases.extend(all.iter().filter(is_known).map(|deed| (kind, write, *deed)));
        }
        // While no pod has the new image.
        let first = places(kind).first().copied().filter(|_| kind.plural == "deployments");
        cases.extend(first.map(|write| (kind, write, Deed::Revert)));
        // While a pod has it and its controller is held: to let the controller go would replace that pod.
        if ["statefulsets", "daemonsets"].contains(&kind.plural) {
            cases.push((kind, Write { verb: "patch", plural: "pods", nth: 1 }, Deed::Revert));
        }
    }
    let count = cases.len();
    side_by_side(cases, |(kind, write, deed)| {
        let what = format!("{} killed at {} {} {}, {deed:?}", kind.typed, write.verb, write.plural, write.nth);
        let scene = killed_at(kind, write);
        let applied = json!({"spec": {"updateStrategy": scene.spec["updateStrategy"]}}).to_string();
        if matches!(deed, Deed::UnlockAll | Deed::ScribbleAll) {
            annotate(&scene, kind.plural, LAST_APPLIED, Some(&applied));
        }
        deed.is_done(&scene);
        let typed = led_out(&scene, &what);
        let is_taken_back = matches!(deed, Deed::Revert);
        scene.is_settled(if is_taken_back { "acme/side:v1" } else { "acme/side:v2" }, &what);
        assert!(typed.len() <= 3, "{what}: {typed:?}");
    });
    assert!(count >= 60, "{count}");
}

#[test]
fn a_preview_of_what_has_lost_its_lock_invents_no_rollout() {
    let write = Write { verb: "patch", plural: "pods", nth: 1 };
    let kind = KINDS.into_iter().find(|kind| kind.plural == "deployments").expect("it is a kind");
    let scene = killed_at(kind, write);
    scene.run("resume", "--dry-run --take-over").ends_with(0).prints("resume rollout \"2").prints("started by jane ");
    Deed::ScribbleAll.is_done(&scene);
    let shown = scene.run("resume", "--dry-run --take-over").ends_with(0);
    shown.prints("resume what a rollout left whose lock is gone or unreadable").omits("of jane since");
    assert_eq!(scene.run("resume", "--dry-run --take-over -o json").ends_with(0).json()["id"], Value::Null);
}

/// The rollout has not come to its pods: going on takes them down, and going back does not.
#[test]
fn a_preview_says_that_no_pod_serves_while_the_only_one_restarts() {
    for (pods, is_said) in [(1, true), (2, false)] {
        let scene = Scene::with(KINDS[0], |workload| workload.replicas(pods));
        kill_at(&scene, Write { verb: "patch", plural: "pods", nth: 0 }, scene.typed("apply", "side=acme/side:v2"));
        let shown = scene.run("resume", "--dry-run --take-over").ends_with(0);
        assert_eq!(
            shown.stdout.contains("(maxUnavailable 1, no other pod serves meanwhile)"),
            is_said,
            "{}",
            shown.stdout
        );
        for (verb, is_said) in [("resume", is_said), ("abort", false)] {
            let document = scene.run(verb, "--dry-run --take-over -o json").ends_with(0).json();
            assert_eq!(document["onlyPodRestarts"], is_said, "{verb}, {pods}");
        }
    }
}

/// Once its pods go, nothing keeps the controller from replacing them for a template that somebody sets.
#[test]
fn a_rollout_that_a_foreign_template_has_overtaken_says_so_and_ends() {
    for container in ["side", "app"] {
        for verb in ["resume", "abort"] {
            let scene = Scene::new(KINDS[0]);
            scene.run("apply", "side=acme/side:v2 --canary 1").ends_with(0).prints("Paused");
            let index = usize::from(container == "side");
            scene.server.edit("deployments", "w", |owner| {
                owner["spec"]["template"]["spec"]["containers"][index]["image"] = format!("acme/{container}:v9").into();
            });
            let status = typed(&scene.server, &format!("status {}", KINDS[0].typed)).run();
            let status = status.prints("superseded: another client changed its template").omits("Resume: ");
            status.prints("kubectl inplace abort deployment/w --release");
            let output = scene.run(verb, "").ends_with(6).omits("To go on").omits("will be set");
            output.says("another client changed its template").says("--release");
            release(&scene).says("Follow: kubectl rollout status");
            let owner = scene.server.object("deployments", "w").unwrap_or_default();
            assert!(owner["metadata"]["annotations"][LOCK].is_null(), "{verb}: its lock is gone");
            typed(&scene.server, &format!("status {}", KINDS[0].typed)).run().omits("rollout in progress");
        }
    }
}

/// Somebody sets the template back while the rollout is left behind: nothing is promised that no run does.
#[test]
fn a_template_that_was_set_back_is_neither_pending_nor_resumed() {
    side_by_side(KINDS.to_vec(), |kind| {
        let scene = killed_at(kind, Write { verb: "patch", plural: "pods", nth: 0 });
        let owner = |text: &str| typed(&scene.server, &format!("{text} {}", kind.typed)).run();
        owner("status").prints("Resume: kubectl").prints("pending");
        set_image(&scene, "acme/side:v1");
        let status = owner("status").prints("another client set its template back to what it was before the rollout");
        status.omits("Resume: ").omits("pending").prints("--release");
        for more in ["", "--dry-run"] {
            let refused = scene.run("resume", more).ends_with(6).omits("will be set").omits("to update");
            refused.says("another client set its template back").says("--release");
        }
        if kind.plural != "deployments" {
            scene.run("resume", "--take-over").ends_with(0);
            assert_eq!(uids(&scene.server), scene.uids, "{}", kind.typed);
        }
    });
}

/// Somebody lifts the pause before the ReplicaSet has the new template: its controller replaces the pods, and to go back
/// would replace them once more.
#[test]
fn an_abort_of_what_was_resumed_too_early_replaces_no_pod() {
    let scene = killed_at(KINDS[0], Write { verb: "patch", plural: "replicasets", nth: 0 });
    scene.server.edit("deployments", "w", |owner| {
        drop(owner["spec"].as_object_mut().and_then(|spec| spec.remove("paused")));
    });
    let replaced = || {
        let is_new = |pod: &Value| pod["spec"]["containers"][1]["image"] == "acme/side:v2";
        scene.server.objects("pods").iter().all(is_new).then_some(())
    };
    crate::support::clock::eventually("its pods are replaced", replaced);
    let pods = uids(&scene.server);
    let status = typed(&scene.server, "status deploy/w").run().prints("another client resumed it before");
    status.prints("kubectl inplace abort deployment/w --release").omits("Resume: ");
    for verb in ["resume", "abort"] {
        scene.run(verb, "").ends_with(6).says("another client resumed it before its pods were updated");
    }
    release(&scene);
    assert_eq!(uids(&scene.server), pods);
    assert_eq!(scene.owner()["spec"]["template"]["spec"]["containers"][1]["image"], "acme/side:v2");
    assert_eq!(scene.lock(), Value::Null);
}

/// A copy of a Deployment brings the lock along, and its pods were created from the template of that time.
#[test]
fn the_lock_of_another_deployment_is_removed_and_replaces_no_pod() {
    let scene = killed_at(KINDS[0], Write { verb: "patch", plural: "pods", nth: 1 });
    let lock = scene.lock();
    let outgoing = lock["outgoing"]["uid"].as_str().expect("a uid");
    let of_another = lock.to_string().replace(outgoing, "of-another");
    for verb in ["abort", "resume"] {
        let copy = Scene::new(KINDS[0]);
        set_image(&copy, "acme/side:v2");
        let replaced = || {
            let pods = copy.server.objects("pods");
            let is_new = |pod: &Value| pod["spec"]["containers"][1]["image"] == "acme/side:v2";
            (pods.len() == 3 && pods.iter().all(is_new)).then_some(())
        };
        crate::support::clock::eventually("its pods are of that template", replaced);
        annotate(&copy, "deployments", "kubectl-inplace.io/rollout", Some(&of_another));
        let (pods, template) = (uids(&copy.server), copy.owner()["spec"]["template"].clone());
        let reported =
            status(&copy).prints("its lock came with a copy of another Deployment, or its ReplicaSet is gone");
        reported.prints("kubectl inplace abort deployment/w --release").omits("Resume: ");
        copy.run(verb, "").ends_with(6);
        release(&copy);
        assert_eq!((uids(&copy.server), &copy.owner()["spec"]["template"]), (pods, &template), "{verb}");
        assert_eq!(copy.lock(), Value::Null, "{verb}");
        copy.apply("acme/side:v3").ends_with(0);
    }
}

pub(super) fn release(scene: &Scene) -> Output {
    typed(&scene.server, &format!("abort {} --release --yes", scene.kind.typed)).run().ends_with(0)
}

pub(super) fn status(scene: &Scene) -> Output {
    typed(&scene.server, &format!("status {}", scene.kind.typed)).run().ends_with(0)
}

/// Lock, copies and records are gone: the state of the objects is reported, with a command that leads out.
#[test]
fn where_nothing_records_the_rollout_status_names_a_way_out() {
    let second_pod = Write { verb: "patch", plural: "pods", nth: 1 };
    side_by_side(KINDS.to_vec(), |kind| {
        let scene = killed_at(kind, second_pod);
        let applied = json!({"spec": {"updateStrategy": scene.spec["updateStrategy"]}}).to_string();
        annotate(&scene, kind.plural, LAST_APPLIED, Some(&applied));
        Deed::UnlockAll.is_done(&scene);
        for pod in scene.server.objects("pods") {
            let name = pod["metadata"]["name"].as_str().unwrap_or_default();
            // A server drops a map that is empty.
            scene.server.edit("pods", name, |pod| {
                drop(pod["metadata"].as_object_mut().and_then(|pod| pod.remove("annotations")));
            });
        }
        crate::support::clock::eventually("its controller has observed the template", || {
            let owner = scene.owner();
            (owner["status"]["observedGeneration"] == owner["metadata"]["generation"]).then_some(())
        });
        let reported = status(&scene);
        if ["statefulsets", "daemonsets"].contains(&kind.plural) {
            reported.prints("a rollout set the update strategy OnDelete, and its lock was removed");
            let reported = scene.run("resume", "").ends_with(6);
            reported.says(&format!("kubectl inplace resume {}/w --take-over", scene.singular()));
            scene.run("resume", "--take-over").ends_with(0);
        } else {
            let apply = format!("apply {}/w side=acme/side:v2", scene.singular());
            reported.prints(&format!("Bring the pods to the template, in place: kubectl inplace {apply}\n"));
            typed(&scene.server, &format!("{apply} --yes --min-ready-seconds 0")).run().ends_with(0);
        }
        scene.is_settled("acme/side:v2", kind.typed);
        status(&scene).omits("kubectl ");
    });
}

/// What a list of a whole namespace leaves out of ReplicaSets and revisions is read where it matters.
#[test]
fn the_status_of_a_namespace_says_of_a_workload_what_its_own_says() {
    let second_pod = Write { verb: "patch", plural: "pods", nth: 1 };
    side_by_side(KINDS.to_vec(), |kind| {
        let scene = killed_at(kind, second_pod);
        Deed::Unlock.is_done(&scene);
        let of_all = typed(&scene.server, "status").run().ends_with(0);
        let commands = |output: &Output| {
            let lines = output.stdout.lines().filter(|line| line.contains("kubectl inplace "));
            lines.map(|line| line.trim().to_owned()).collect::<Vec<_>>()
        };
        let of_one = commands(&status(&scene));
        assert!(!of_one.is_empty(), "{}", of_all.block());
        assert_eq!(commands(&of_all), of_one, "{}", kind.typed);
    });
}

/// Whether `kubectl rollout resume` replaces the pods depends on which ReplicaSet has the template, lock or none.
#[test]
fn what_a_resume_of_the_rollouts_would_do_is_reported() {
    let (replaces, keeps) = ("would replace every pod", "would replace none of them");
    let cases =
        [("create", "replicasets", replaces), ("patch", "replicasets", replaces), ("patch", "deployments", keeps)];
    side_by_side(cases.to_vec(), |(verb, plural, expected)| {
        let nth = usize::from(plural == "deployments");
        let scene = killed_at(KINDS[0], Write { verb, plural, nth });
        Deed::UnlockAll.is_done(&scene);
        let status = typed(&scene.server, "status deploy/w").run().ends_with(0);
        status.prints("a rollout paused it, and its lock was removed");
        let plan = typed(&scene.server, "plan deploy/w side=acme/side:v3").run().ends_with(0);
        plan.prints("OwnerPaused")
            .prints(expected)
            .prints("as an unfinished rollout in place leaves them")
            .omits("OwnerRollingOut");
    });
}

/// The user pauses a Deployment that has our history and edits it: that is no rollout, and no run takes it for one.
#[test]
fn a_users_pause_over_an_edit_is_not_called_a_rollout() {
    let scene = Scene::new(KINDS[0]);
    scene.run("apply", "side=acme/side:v2 --pre-pull=never").ends_with(0);
    scene.server.edit("deployments", "w", |owner| owner["spec"]["paused"] = true.into());
    set_image(&scene, "acme/side:v3");
    let status = typed(&scene.server, "status deploy/w").run().ends_with(0);
    status.prints("its rollouts are paused").omits("--take-over").omits("--release");
    let plan = typed(&scene.server, "plan deploy/w side=acme/side:v3").run().ends_with(0);
    plan.prints("OwnerPaused").prints("would replace every pod").omits("unfinished rollout");
    scene.run("resume", "--take-over").ends_with(0).says("no rollout of kubectl-inplace is in progress or unfinished");
    typed(&scene.server, "abort deploy/w --release --yes")
        .run()
        .ends_with(0)
        .says("no rollout of kubectl-inplace holds it");
    assert_eq!(scene.owner()["spec"]["paused"], true);
    assert!(images(&scene.server, "side").iter().all(|image| image == "acme/side:v2"));
}

/// A template that cannot reach the pods in place is not said to leave them unchanged.
#[test]
fn a_pause_over_another_template_is_reported_with_what_a_resume_would_do() {
    let scene = Scene::new(KINDS[0]);
    scene.server.edit("deployments", "w", |owner| {
        owner["spec"]["paused"] = true.into();
        owner["spec"]["template"]["spec"]["containers"][0]["env"] = json!([{"name": "A", "value": "b"}]);
    });
    let plan = typed(&scene.server, "plan deploy/w side=acme/side:v3").run().ends_with(0);
    let plan = plan.prints("would replace every pod").prints("set its template back with kubectl edit");
    plan.omits("its pods shall stay as they are").omits("OwnerRollingOut");
}

/// A change that admission lets into no pod is found before the owner is written: it stays unchanged, and both ways
/// stay open.
#[test]
fn what_admission_refuses_of_the_pods_is_not_begun_on_the_owner() {
    let cases: Vec<_> = KINDS.iter().flat_map(|kind| ["resume", "abort"].map(|verb| (*kind, verb))).collect();
    side_by_side(cases, |(kind, verb)| {
        let scene = killed_at(kind, Write { verb: "patch", plural: "pods", nth: 1 });
        let (lock, written) = (scene.lock(), scene.server.writes().len());
        let patched = When::verb("patch").of("pods");
        let deny = Effect::Deny { webhook: "images.acme.example".into(), message: "frozen".into(), code: 403 };
        scene.server.fault(patched, deny);
        let refused = scene.run(verb, "").ends_with(3);
        refused.says("denied the request: frozen");
        assert_eq!(scene.lock(), lock, "{} {verb}", kind.typed);
        assert_eq!(scene.server.writes().len(), written, "{} {verb}: nothing was written", kind.typed);
        scene.server.clear_faults();
        scene.run(verb, "").ends_with(0);
        assert_eq!(scene.lock(), Value::Null, "{} {verb}", kind.typed);
    });
}

/// What goes back first fails, and the other container of the pod goes back all the same.
const IN_ORDER: &str = "app=acme/app:v2 --container-order app,side";

/// The second container has crashed again and again.
fn crashed(pod: &mut Value) {
    let ended = json!({"terminated": {"exitCode": 3, "reason": "Error", "finishedAt": "2026-01-01T00:00:00Z"}});
    let status = &mut pod["status"]["containerStatuses"][1];
    status["state"] = json!({"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 5m0s"}});
    (status["lastState"], status["ready"], status["restartCount"]) = (ended, json!(false), json!(7));
    for condition in pod["status"]["conditions"].as_array_mut().into_iter().flatten() {
        if condition["type"] == "Ready" || condition["type"] == "ContainersReady" {
            condition["status"] = "False".into();
        }
    }
}

/// With an order, a pod has changed one container of two, and the other one may crash as it did before.
fn killed_with(kind: Kind, before: &str, more: &str) -> Scene {
    let scene = Scene::with(kind, |workload| {
        workload.template(|template| template["spec"]["containers"][1]["image"] = before.into())
    });
    kill_at(
        &scene,
        Write { verb: "patch", plural: "pods", nth: if more.is_empty() { 2 } else { 3 } },
        scene.typed("apply", &format!("side=acme/side:v2 {more}")),
    );
    let image = |pod: &Value, index: usize| pod["spec"]["containers"][index]["image"].clone();
    let untouched = |pod: &Value| image(pod, 0) == "acme/app:v2" && image(pod, 1) == before;
    for pod in scene.server.objects("pods").iter().filter(|pod| before.ends_with("crash") && untouched(pod)) {
        scene.server.edit("pods", pod["metadata"]["name"].as_str().unwrap_or_default(), crashed);
    }
    scene
}

/// The old image may need a database that the new one has changed meanwhile. The first pod that goes back shows it, and
/// the others keep what works unless the user goes on; then the rollout is over all the same.
#[test]
fn what_fails_with_the_image_before_too_is_led_out_of() {
    let tags = [("crash", ""), ("never-ready", ""), ("crash", IN_ORDER), ("never-ready", IN_ORDER)];
    let cases: Vec<_> = KINDS.iter().flat_map(|kind| tags.map(|(tag, order)| (*kind, tag, order))).collect();
    side_by_side(cases, |(kind, tag, order)| {
        let (what, old) = (format!("{} {tag} {order}", kind.typed), format!("acme/side:{tag}"));
        let scene = killed_with(kind, &old, order);
        let mut output = scene.run("abort", "--timeout 4s");
        let mut typed_so_far = Vec::new();
        while !scene.lock().is_null() {
            assert!(matches!(output.code, Some(4 | 5)) && typed_so_far.len() < 4, "{what}: {}", output.block());
            let next = printed(&output).unwrap_or_else(|| panic!("{what}: nothing leads on\n{}", output.block()));
            assert!(!typed_so_far.contains(&next), "{what}: {typed_so_far:?} leads back\n{}", output.block());
            let status = typed(&scene.server, &format!("status {}", kind.typed)).run();
            assert!(
                printed(&status).is_some_and(|way| way.starts_with("abort")),
                "{what}: {}{}",
                output.block(),
                status.block()
            );
            output = typed(&scene.server, &format!("{next} --yes --timeout 4s")).run();
            typed_so_far.push(next);
        }
        assert!(!typed_so_far.is_empty(), "{what}: the first failure stops it");
        assert!(matches!(output.code, Some(4 | 5)), "{what}: {}", output.block());
        assert_eq!(printed(&output), None, "{what}: {}", output.block());
        let says = "every pod is back and the lock is released";
        assert!(output.block().contains(says), "{what}: {}", output.block());
        let is_back = |pod: &Value| {
            let image = |index: usize| &pod["spec"]["containers"][index]["image"];
            *image(0) == "acme/app:v1" && *image(1) == old.as_str()
        };
        assert!(scene.server.objects("pods").iter().all(is_back), "{what}");
        assert_eq!(uids(&scene.server), scene.uids, "{what}: no pod was replaced");
        assert_eq!(scene.owner()["spec"], scene.spec, "{what}");
    });
}

/// A way back that cannot begin, because the image before is gone from its registry, changes nothing: on it goes.
#[test]
fn where_the_image_before_is_gone_the_way_on_is_printed() {
    side_by_side(KINDS.to_vec(), |kind| {
        let scene = killed_with(kind, "acme/side:missing", "");
        let output = scene.run("abort", "").ends_with(4).prints("no container was touched");
        let next = printed(&output).unwrap_or_default();
        assert!(next.starts_with("resume "), "{}: {next}\n{}", kind.typed, output.block());
        typed(&scene.server, &format!("{next} --yes")).run().ends_with(0);
        assert_eq!(uids(&scene.server), scene.uids, "{}: no pod was replaced", kind.typed);
    });
}
