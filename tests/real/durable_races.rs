//! Two runs, one of which sleeps at a write, however long: the other one takes over, and the first one's request in
//! flight arrives once everything is over. And a client that restores the whole old owner.

use serde_json::Value;

use crate::support::{Gate, Kind, Moment, Namespace, Output, Owner};

/// More writes than any run here makes.
const MOST_WRITES: usize = 9;

/// Holds a run before each of its writes in turn, aborts the rollout beside it, and lets the run go on with that write.
fn aborted_while_it_slept(name: &str, kind: Kind) {
    let namespace = Namespace::new(name);
    let gate = Gate::open();
    let owner = Owner::new(&namespace, &gate.api, kind, (2, MOST_WRITES), "");
    for number in 1..=MOST_WRITES {
        let (reference, container) = (owner.reference(), format!("c{number}"));
        gate.stop_at(number, Moment::Before);
        let wanted = format!("{container}=:v2");
        let arguments = ["apply", &reference, &wanted, "--yes", "--min-ready-seconds", "0"];
        let mut running = namespace.inplace_spawn(&[arguments.as_slice(), &gate.flags()].concat());
        let Some(write) = gate.held(&mut running) else {
            assert!(number > 3, "only {number} writes: {:?}", gate.writes());
            return;
        };
        running.signal("STOP");
        let aborted = namespace.inplace(&["abort", &reference, "--yes", "--take-over", "--min-ready-seconds", "0"]);
        running.signal("CONT");
        gate.releasing();
        let output = running.wait();
        let context = format!("asleep before write {number}, {write}: {output:#?}; beside it: {aborted:#?}");
        assert_eq!(aborted.code, 0, "{context}");
        owner.wait_settled_or(&context);
        owner.assert_same_pods(&context);
        // Nothing was written yet, or the end was recorded: there is nothing to abort.
        let is_before_all = number == 1 || says(&output, "recorded the rollout");
        let tag = if is_before_all { "side:v2" } else { "side:v1" };
        assert_eq!(owner.tag(&container), tag, "{context}");
        assert_eq!(output.code, if is_before_all { 0 } else { 6 }, "{context}");
        // Which of the two it sees first, the owner or a pod, is the watch's.
        let is_reported = ["by another run", "which this run did not set"].iter().any(|text| says(&output, text));
        assert!(is_before_all || is_reported, "{context}");
        assert_nothing_is_spare(&owner, &context);
    }
    panic!("{MOST_WRITES} writes and no end: {:?}", gate.writes());
}

fn says(output: &Output, text: &str) -> bool {
    output.stdout.contains(text) || output.stderr.contains(text)
}

/// No ReplicaSet without pods keeps a template that another one has.
fn assert_nothing_is_spare(owner: &Owner<'_>, context: &str) {
    let images = |set: &Value| set["spec"]["template"]["spec"]["containers"].clone();
    let sets = owner.sets();
    for (at, set) in sets.iter().enumerate() {
        let twin = sets.iter().enumerate().find(|(other, twin)| *other != at && images(twin) == images(set));
        assert!(twin.is_none() || set["spec"]["replicas"] != 0, "{}: {context}", set["metadata"]["name"]);
    }
}

#[test]
fn a_deployments_run_that_slept_finds_its_rollout_aborted() {
    aborted_while_it_slept("races-d-abort", Kind::Deployment);
}

#[test]
fn a_stateful_sets_run_that_slept_finds_its_rollout_aborted() {
    aborted_while_it_slept("races-s-abort", Kind::StatefulSet);
}

#[test]
fn a_daemon_sets_run_that_slept_finds_its_rollout_aborted() {
    aborted_while_it_slept("races-ds-abort", Kind::DaemonSet);
}

/// Puts the owner back as it was, after the first write and before the second.
fn put_back_under_the_run(name: &str, kind: Kind) {
    let namespace = Namespace::new(name);
    let gate = Gate::open();
    let owner = Owner::new(&namespace, &gate.api, kind, (2, 1), "");
    let mut old = owner.object();
    for path in ["resourceVersion", "managedFields", "generation", "uid", "creationTimestamp"] {
        old["metadata"].as_object_mut().expect("an object").remove(path);
    }
    old.as_object_mut().expect("an object").remove("status");
    gate.stop_at(1, Moment::After);
    // On a node without the image the first write would be the pod that pulls it.
    let arguments = ["apply", &owner.reference(), "c1=:v2", "--yes", "--min-ready-seconds", "0", "--pre-pull", "never"];
    let mut running = namespace.inplace_spawn(&[arguments.as_slice(), &gate.flags()].concat());
    gate.held(&mut running).expect("it writes");
    // kubectl reads before it writes, and the controller may write between.
    let replaced = (0..20).any(|_| namespace.try_kubectl(&["replace", "-f", "-"], &old.to_string()).code == 0);
    assert!(replaced, "kubectl replace found a conflict 20 times");
    gate.releasing();
    let output = running.wait();
    let context = format!("{output:#?}");
    assert_eq!(output.code, 6, "{context}");
    assert!(says(&output, "its lock was removed"), "{context}");
    owner.wait_settled_or(&context);
    owner.assert_same_pods(&context);
    assert_eq!(owner.tag("c1"), "side:v1", "theirs stands: {context}");
}

#[test]
fn a_deployment_that_somebody_puts_back_stays_so() {
    put_back_under_the_run("races-d-put", Kind::Deployment);
}

#[test]
fn a_stateful_set_that_somebody_puts_back_stays_so() {
    put_back_under_the_run("races-s-put", Kind::StatefulSet);
}

#[test]
fn a_daemon_set_that_somebody_puts_back_stays_so() {
    put_back_under_the_run("races-ds-put", Kind::DaemonSet);
}
