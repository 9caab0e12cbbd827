//! Images and workloads of OpenKruise that cannot be updated, or can all the same: it is said at once, and the command that
//! is printed leads out.

use serde_json::{Value, json};

use super::labelled;
use crate::apply::printed;
use crate::support::{Alone, Fields, Gate, Kind, Namespace, Output, Owner, container_status, name, restarted};

const PLAIN: &str = "";
const IN_PLACE: &str = "  updateStrategy: {type: InPlaceIfPossible}\n";

/// Within how many seconds what is wrong is said, of which the controller says nothing: on a quiet machine within two.
pub(super) const SOON: u64 = 30;

fn run(namespace: &Namespace, line: &str) -> Output {
    namespace.inplace(&line.split(' ').collect::<Vec<_>>())
}

pub(super) fn patch(namespace: &Namespace, owner: &Owner<'_>, patch: &Value) {
    namespace.kubectl(&["patch", &owner.reference(), "--type=merge", "-p", &patch.to_string()]);
}

/// Types a command that was printed after these words.
fn follow(namespace: &Namespace, output: &Output, words: &str) {
    let line = format!("{} --yes --min-ready-seconds 0", printed(output, words));
    let typed = namespace.type_line(&line);
    assert_eq!(typed.code, 0, "{line}: {typed:#?}");
}

/// Asserts that the strategy and the pods are those of the beginning, that this is the tag, and no run holds it.
fn assert_over(owner: &Owner<'_>, tag: &str, output: &Output) {
    let context = format!("{output:#?}");
    owner.wait_settled_or(&context);
    owner.assert_same_pods(&context);
    assert_eq!(owner.tag("c1"), tag, "{context}");
}

/// Goes forward, and back again.
fn there_and_back(namespace: &Namespace, owner: &Owner<'_>) {
    let before = owner.pods();
    let output = run(namespace, &format!("apply {} c1=:v2 --yes --min-ready-seconds 0", owner.reference()));
    assert_eq!(output.code, 0, "{output:#?}");
    assert!(output.stdout.contains("pods replaced: 0"), "{output:#?}");
    assert_over(owner, "side:v2", &output);
    assert_eq!(restarted(&before, &owner.pods()).len(), before.len(), "{output:#?}");
    follow(namespace, &output, "Roll back:");
    assert_over(owner, "side:v1", &output);
}

/// An image that the node cannot pull, found before anything is written and afterwards; and one that crashes.
fn bad_images(test: &str, kind: Kind, fields: &str) {
    let (namespace, gate) = (labelled(test), Gate::open());
    let owner = Owner::new(&namespace, &gate.api, kind, (2, 3), fields);
    let reference = owner.reference();
    let untouched = owner.object();
    let output = run(&namespace, &format!("apply {reference} c1=:nope --yes"));
    assert!(output.code == 4 && output.elapsed.as_secs() < SOON, "{output:#?}");
    assert!(output.stdout.contains("This run changed nothing"), "{output:#?}");
    assert_eq!(owner.object()["metadata"]["generation"], untouched["metadata"]["generation"]);

    let output = run(&namespace, &format!("apply {reference} c1=:nope --yes --pre-pull=never"));
    assert!(output.code == 4 && output.elapsed.as_secs() < SOON, "{output:#?}");
    assert!(output.stdout.contains("ImagePull"), "{output:#?}");
    follow(&namespace, &output, "Roll back:");
    assert_over(&owner, "side:v1", &output);

    let crash = untouched["spec"]["template"]["spec"]["containers"][1]["image"].as_str().unwrap_or_default();
    let crash = crash.replace("side:v1", "app:crash");
    let output = run(&namespace, &format!("apply {reference} c2={crash} --yes"));
    assert_eq!(output.code, 4, "{output:#?}");
    assert!(output.stdout.contains("exit code 3"), "{output:#?}");
    follow(&namespace, &output, "Roll back:");
    assert_over(&owner, "side:v1", &output);
}

#[test]
#[ignore = "needs OpenKruise: tests/run others"]
fn bad_images_of_a_clone_set_go_back() {
    bad_images("others-bad-clone", Kind::CloneSet, IN_PLACE);
}

#[test]
#[ignore = "needs OpenKruise: tests/run others"]
fn bad_images_of_an_advanced_stateful_set_go_back() {
    bad_images("others-bad-asts", Kind::AdvancedStatefulSet, PLAIN);
}

#[test]
#[ignore = "needs OpenKruise: tests/run others"]
fn bad_images_of_an_advanced_daemon_set_go_back() {
    bad_images("others-bad-ads", Kind::AdvancedDaemonSet, PLAIN);
}

#[test]
#[ignore = "needs OpenKruise: tests/run others"]
fn another_tag_of_the_same_image_restarts_and_is_proven() {
    let (namespace, gate) = (labelled("others-retag"), Gate::open());
    let owner = Owner::new(&namespace, &gate.api, Kind::CloneSet, (2, 1), IN_PLACE);
    let to = |tag: &str| {
        let object = owner.object();
        let image = object["spec"]["template"]["spec"]["containers"][0]["image"].as_str().unwrap_or_default();
        let (repository, _) = image.rsplit_once('/').unwrap_or_default();
        let before = owner.pods();
        let reference = owner.reference();
        let output = run(&namespace, &format!("apply {reference} c1={repository}/{tag} --yes --min-ready-seconds 0"));
        assert_eq!(output.code, 0, "{output:#?}");
        assert_over(&owner, tag, &output);
        assert_eq!(restarted(&before, &owner.pods()).len(), 2, "{output:#?}");
    };
    to("app:v2");
    to("app:v2-again");
}

/// Asserts that the change is refused, with these words, and that nothing is written.
fn refused(namespace: &Namespace, owner: &Owner<'_>, words: &[&str]) {
    let before = owner.object();
    let output = run(namespace, &format!("apply {} c1=:v2 --yes", owner.reference()));
    assert!(output.code == 3 && output.elapsed.as_secs() < SOON, "{output:#?}");
    let missing: Vec<_> = words.iter().filter(|word| !output.stdout.contains(**word)).collect();
    assert!(missing.is_empty(), "no {missing:?}: {output:#?}");
    assert_eq!(owner.object()["metadata"]["generation"], before["metadata"]["generation"]);
    assert_eq!(owner.object()["metadata"]["annotations"], before["metadata"]["annotations"]);
}

#[test]
#[ignore = "needs OpenKruise: tests/run others"]
fn what_only_its_controller_can_do_is_refused_until_it_is_gone() {
    let (namespace, gate) = (labelled("others-left"), Gate::open());
    let owner = Owner::new(&namespace, &gate.api, Kind::CloneSet, (2, 1), IN_PLACE);
    let hook = json!({"labelsHandler": {"example.com/wait": "true"}});
    patch(&namespace, &owner, &json!({"spec": {"lifecycle": {"inPlaceUpdate": hook}}}));
    refused(&namespace, &owner, &["LeftToController", "example.com/wait", "spec.lifecycle.inPlaceUpdate"]);
    patch(&namespace, &owner, &json!({"spec": {"lifecycle": null, "updateStrategy": {"partition": 1}}}));
    refused(&namespace, &owner, &["LeftToController", "spec.updateStrategy.partition"]);
    patch(&namespace, &owner, &json!({"spec": {"updateStrategy": {"partition": 0}}}));
    owner.wait_settled();
    there_and_back(&namespace, &owner);
}

#[test]
#[ignore = "needs OpenKruise: tests/run others"]
fn a_paused_clone_set_is_updated_and_stays_paused() {
    let (namespace, gate) = (labelled("others-paused"), Gate::open());
    let fields = "  updateStrategy: {type: ReCreate, paused: true}\n";
    let owner = Owner::new(&namespace, &gate.api, Kind::CloneSet, (2, 1), fields);
    there_and_back(&namespace, &owner);
    assert_eq!(owner.object()["spec"]["updateStrategy"]["paused"], true);
}

#[test]
#[ignore = "needs OpenKruise: tests/run others"]
fn a_pod_that_is_not_ready_is_named_and_waited_for() {
    let (namespace, gate) = (labelled("others-unready"), Gate::open());
    let probe = "readinessProbe: {exec: {command: [sh, -c, 'test ! -e /tmp/down']}, periodSeconds: 1}";
    let owner = Owner::with((&namespace, &gate.api), Kind::CloneSet, (2, 2), Fields::Container(probe));
    let down = name(&owner.before[0]).to_owned();
    let shell = |command: &str| {
        let line = format!("kubectl exec {down} -n {} -c c1 -- {command}", namespace.name());
        assert_eq!(namespace.type_line(&line).code, 0);
    };
    shell("touch /tmp/down");
    namespace.wait_pods("app=web", |pods| pods.iter().any(|pod| container_status(pod, "c1")["ready"] == false));
    let reference = owner.reference();
    let output =
        run(&namespace, &format!("apply {reference} c2=:v2 --yes --min-ready-seconds 0 --pre-pull=never --timeout 5s"));
    assert_eq!(output.code, 5, "{output:#?}");
    assert!(output.stderr.contains("PodsUnready") && output.stdout.contains(&down), "{output:#?}");
    shell("rm /tmp/down");
    follow(&namespace, &output, "Resume:");
    owner.wait_settled_or(&format!("{output:#?}"));
    owner.assert_same_pods("resumed");
    assert_eq!(owner.tag("c2"), "side:v2");
}

/// Without its webhook the server takes no change of them.
#[test]
#[ignore = "needs OpenKruise: tests/run others"]
fn without_the_manager_nothing_is_begun() {
    let Some(alone) = Alone::wait() else { return };
    let namespace = Namespace::beside(&alone, "others-down");
    super::label(&namespace);
    let gate = Gate::open();
    let owner = Owner::new(&namespace, &gate.api, Kind::CloneSet, (2, 1), IN_PLACE);
    let stopped = alone.stop("kruise-manager");
    refused(&namespace, &owner, &["AdmissionRefused", "failed calling webhook"]);
    drop(stopped);
    there_and_back(&namespace, &owner);
}
