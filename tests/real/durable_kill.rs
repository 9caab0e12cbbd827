//! A run that is killed at any of its writes, on either side of it: `resume` finishes, `abort` takes it back, and no pod is
//! ever recreated.

use serde_json::Value;

use crate::support::{Gate, Kind, Moment, Namespace, Output, Owner, restarted};

/// More writes than any run here makes.
const MOST_WRITES: usize = 11;

/// Without pulling first: whether the node has the image is up to other tests, and each pull is a write more.
const AT_ONCE: [&str; 4] = ["--yes", "--min-ready-seconds", "0", "--pre-pull=never"];

/// What is done after the kill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Then {
    Resume,
    Abort,
}

impl Then {
    fn word(self) -> &'static str {
        match self {
            Self::Resume => "resume",
            Self::Abort => "abort",
        }
    }
}

fn killed_at_every_write(name: &str, kind: Kind, moment: Moment, then: Then) {
    killed_in_turn(&Namespace::new(name), (kind, 2, ""), moment, then);
}

/// Kills a run at each write in turn, each time with another container of the same pods, and finishes it. The workload has
/// this many replicas and these lines in its spec.
pub(crate) fn killed_in_turn(
    namespace: &Namespace,
    (kind, replicas, fields): (Kind, usize, &str),
    moment: Moment,
    then: Then,
) {
    let gate = Gate::open();
    let owner = Owner::new(namespace, &gate.api, kind, (replicas, MOST_WRITES), fields);
    let watch = namespace.watch("app=web");
    for number in 1..=MOST_WRITES {
        if !killed_at(namespace, &gate, &owner, (number, moment), then) {
            assert!(number > 3, "only {number} writes: {:?}", gate.writes());
            let seen: Vec<Value> = watch.seen().into_iter().map(|seen| seen.pod["metadata"]["uid"].clone()).collect();
            let known = |uid: &Value| owner.before.iter().any(|pod| pod["metadata"]["uid"] == *uid);
            assert!(seen.iter().all(known), "a pod was made meanwhile");
            return;
        }
    }
    panic!("{MOST_WRITES} writes and no end: {:?}", gate.writes());
}

/// Starts a run and kills it at a write. Returns that write, unless the run has ended before, and how it ended.
fn killed(
    namespace: &Namespace,
    gate: &Gate,
    (number, moment): (usize, Moment),
    arguments: &[&str],
) -> (Option<String>, Output) {
    gate.stop_at(number, moment);
    let mut running = namespace.inplace_spawn(&[arguments, &AT_ONCE, &gate.flags()].concat());
    let held = gate.held(&mut running);
    if held.is_some() {
        running.signal("KILL");
    }
    let ended = running.wait();
    if held.is_some() {
        assert_eq!(ended.code, 137);
        gate.lose();
    }
    (held, ended)
}

/// Returns whether the run came so far.
fn killed_at(
    namespace: &Namespace,
    gate: &Gate,
    owner: &Owner<'_>,
    (number, moment): (usize, Moment),
    then: Then,
) -> bool {
    let (reference, container) = (owner.reference(), format!("c{number}"));
    let before = owner.pods();
    let wanted = format!("{container}=:v2");
    let (held, output) = killed(namespace, gate, (number, moment), &["apply", &reference, &wanted]);
    if let Some(write) = &held {
        let finished = finish(namespace, owner, then);
        let context = format!("killed {moment:?} write {number}, {write}; {}: {finished:#?}", then.word());
        // Where its end had been written before the kill, only leavings go, and nothing else is said.
        let is_over = !finished.stdout.contains("Rolled back:");
        let tag = match (then, number, moment) {
            // Nothing to go on with.
            (_, 1, Moment::Before) => "side:v1",
            (Then::Resume, _, _) => "side:v2",
            (Then::Abort, 4.., _) if is_over => "side:v2",
            (Then::Abort, _, _) => "side:v1",
        };
        assert_eq!(finished.code, 0, "{context}");
        assert_eq!(owner.tag(&container), tag, "{context}");
        assert_settled(owner, &before, &container, &context);
    } else {
        assert_eq!(output.code, 0, "{output:#?}");
        assert_settled(owner, &before, &container, &format!("{output:#?}"));
    }
    held.is_some()
}

/// Kills a run at a write, and the run that goes on at one of its own, for every pair of the two; then finishes it.
fn killed_at_every_pair(name: &str, kind: Kind, then: Then) {
    let mut pairs = 0;
    for first in 1..=MOST_WRITES {
        // A container of the pods for each second write.
        let (namespace, gate) = (Namespace::new(&format!("{name}-{first}")), Gate::open());
        let owner = Owner::new(&namespace, &gate.api, kind, (1, MOST_WRITES), "");
        for second in 1..=MOST_WRITES {
            match killed_at_both(&namespace, &gate, &owner, (first, second), then) {
                Killed::Twice => pairs += 1,
                Killed::Once => break,
                Killed::Never => return assert!(first > 3 && pairs > 6, "only {pairs} pairs: {:?}", gate.writes()),
            }
        }
    }
    panic!("{MOST_WRITES} writes and no end after {pairs} pairs");
}

/// How many of the two runs came to the write that they were to be killed at.
enum Killed {
    Twice,
    Once,
    Never,
}

fn killed_at_both(
    namespace: &Namespace,
    gate: &Gate,
    owner: &Owner<'_>,
    (first, second): (usize, usize),
    then: Then,
) -> Killed {
    let (reference, container) = (owner.reference(), format!("c{second}"));
    let (before, wanted) = (owner.pods(), format!("{container}=:v2"));
    let side = |number: usize| (number, if number.is_multiple_of(2) { Moment::Before } else { Moment::After });
    let (held, ended) = killed(namespace, gate, side(first), &["apply", &reference, &wanted]);
    let Some(write) = held else {
        assert_eq!(ended.code, 0, "{ended:#?}");
        return Killed::Never;
    };
    let (held, ended) = killed(namespace, gate, side(second), &[then.word(), &reference]);
    let context = format!("{first}, {write}; {} killed at {second}, {held:?}: {ended:#?}", then.word());
    let last = if ended.code == 0 { ended } else { finish(namespace, owner, then) };
    assert_eq!(last.code, 0, "{last:#?}: {context}");
    assert_settled(owner, &before, &container, &context);
    // Where the end had been recorded before the first kill, there is nothing to take back.
    let (tag, may_be_over) = (owner.tag(&container), then == Then::Resume || first > 3);
    assert!(tag == "side:v2" && may_be_over || then == Then::Abort && tag == "side:v1", "{tag}: {context}");
    if held.is_some() { Killed::Twice } else { Killed::Once }
}

fn finish(namespace: &Namespace, owner: &Owner<'_>, then: Then) -> Output {
    namespace.inplace_after_a_kill(&[[then.word(), &owner.reference()].as_slice(), &AT_ONCE].concat())
}

fn assert_settled(owner: &Owner<'_>, before: &[Value], container: &str, context: &str) {
    owner.wait_settled_or(context);
    owner.assert_same_pods(context);
    let others: Vec<String> = restarted(before, &owner.pods())
        .into_iter()
        .filter(|changed| !changed.ends_with(&format!("/{container}")))
        .collect();
    assert!(others.is_empty(), "{others:?} restarted: {context}");
}

#[test]
fn a_deployment_goes_on_from_before_every_write() {
    killed_at_every_write("kill-d-resume-b", Kind::Deployment, Moment::Before, Then::Resume);
}

#[test]
fn a_deployment_goes_on_from_after_every_write() {
    killed_at_every_write("kill-d-resume-a", Kind::Deployment, Moment::After, Then::Resume);
}

#[test]
fn a_deployment_goes_back_from_before_every_write() {
    killed_at_every_write("kill-d-abort-b", Kind::Deployment, Moment::Before, Then::Abort);
}

#[test]
fn a_deployment_goes_back_from_after_every_write() {
    killed_at_every_write("kill-d-abort-a", Kind::Deployment, Moment::After, Then::Abort);
}

#[test]
fn a_stateful_set_goes_on_from_every_write() {
    killed_at_every_write("kill-s-resume-b", Kind::StatefulSet, Moment::Before, Then::Resume);
    killed_at_every_write("kill-s-resume-a", Kind::StatefulSet, Moment::After, Then::Resume);
}

#[test]
fn a_stateful_set_goes_back_from_every_write() {
    killed_at_every_write("kill-s-abort-b", Kind::StatefulSet, Moment::Before, Then::Abort);
    killed_at_every_write("kill-s-abort-a", Kind::StatefulSet, Moment::After, Then::Abort);
}

#[test]
fn a_daemon_set_goes_on_from_every_write() {
    killed_at_every_write("kill-ds-resume-b", Kind::DaemonSet, Moment::Before, Then::Resume);
    killed_at_every_write("kill-ds-resume-a", Kind::DaemonSet, Moment::After, Then::Resume);
}

#[test]
fn a_daemon_set_goes_back_from_every_write() {
    killed_at_every_write("kill-ds-abort-b", Kind::DaemonSet, Moment::Before, Then::Abort);
    killed_at_every_write("kill-ds-abort-a", Kind::DaemonSet, Moment::After, Then::Abort);
}

#[test]
#[ignore = "eight minutes: tests/run pairs"]
fn a_rollout_goes_on_and_back_from_every_pair_of_writes() {
    for (kind, word) in [(Kind::Deployment, "d"), (Kind::StatefulSet, "s"), (Kind::DaemonSet, "ds")] {
        killed_at_every_pair(&format!("pairs-{word}-resume"), kind, Then::Resume);
        killed_at_every_pair(&format!("pairs-{word}-abort"), kind, Then::Abort);
    }
}
