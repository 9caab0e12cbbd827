//! Ctrl-C and SIGTERM in the middle: no pod half patched, what to do next is said, and the exit code gives the signal.

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::apply::printed;
use crate::support::{Namespace, Proxy, Running, image, images, restarted, samples};

const ARGUMENTS: [&str; 7] =
    ["apply", "deploy/web", "app=:v2", "side=:v2", "--pods-only", "--yes", "--min-ready-seconds"];

/// Starts an update of both containers in three pods, and returns while the first pod has to stay ready for two seconds.
fn begun(namespace: &Namespace, more: &[&str]) -> (Vec<Value>, Running) {
    namespace.apply(&samples::deployment("web", 3));
    let before = namespace.wait_ready("app=web", 3);
    let mut running = namespace.inplace_spawn(&[ARGUMENTS.as_slice(), &["2"], more].concat());
    running.wait_for("stabilizing for 2 s");
    (before, running)
}

/// Asserts that both containers of each pod ask for the old images or both for the new ones; returns how many do for the new.
fn whole_pods(pods: &[Value]) -> usize {
    pods.iter()
        .filter(|pod| match [image(pod, "app"), image(pod, "side")] {
            ["app:v1", "side:v1"] => false,
            ["app:v2", "side:v2"] => true,
            both => panic!("half patched: {both:?}"),
        })
        .count()
}

fn signal_in_the_middle(name: &str, signal: &str, code: i32) {
    let namespace = Namespace::new(name);
    let (before, mut running) = begun(&namespace, &[]);
    // In the same turn in which the first is done, the second is taken.
    running.wait_for("done after");
    let asked = Instant::now();
    running.signal(signal);
    let output = running.wait();
    assert_eq!(output.code, code, "{output:#?}");
    assert!(output.ended - asked < Duration::from_secs(5), "{output:#?}");
    let pods = namespace.pods("app=web");
    let new = whole_pods(&pods);
    assert!((1..3).contains(&new), "not in the middle: {:?}", images(&pods, "side"));
    assert!(output.stdout.contains("Interrupted"), "{output:#?}");
    assert!(output.stdout.contains("not started"), "{output:#?}");
    printed(&output, "Roll back:");
    printed(&output, "Follow:");

    // The next command, typed as it was printed, goes on to the end.
    let go_on = namespace.type_line(&format!("{} --yes", printed(&output, "Resume:")));
    assert_eq!(go_on.code, 0, "{go_on:#?}");
    let after = namespace.pods("app=web");
    assert_eq!(whole_pods(&after), 3);
    assert_eq!(restarted(&before, &after).len(), 6, "{go_on:#?}");
}

#[test]
fn an_interrupt_leaves_no_pod_half_patched() {
    signal_in_the_middle("interrupt-int", "INT", 130);
}

#[test]
fn a_termination_leaves_no_pod_half_patched() {
    signal_in_the_middle("interrupt-term", "TERM", 143);
}

/// Brings a run to where the answer to its second patch is outstanding and will not come, and interrupts it once.
fn interrupted_with_an_answer_outstanding(namespace: &Namespace) -> Running {
    let proxy = Proxy::start(namespace);
    // Budgets would be read before the second patch is sent, and that answer would not come either.
    let flags = [proxy.flags().as_slice(), &["--disruption-budget=ignore"]].concat();
    let (_, mut running) = begun(namespace, &flags);
    // The first pod's time is over without any word of the server; then the second patch is sent.
    proxy.hold();
    running.wait_for("done after");
    running.signal("INT");
    running.wait_for("stopping");
    running
}

#[test]
fn an_outstanding_answer_is_waited_for_but_not_for_long() {
    let namespace = Namespace::new("interrupt-outstanding");
    let running = interrupted_with_an_answer_outstanding(&namespace);
    let asked = Instant::now();
    let output = running.wait();
    assert_eq!(output.code, 130, "{output:#?}");
    let waited = output.ended - asked;
    // Five seconds, and what a busy machine takes; at once would mean that no answer was outstanding.
    assert!((3..7).contains(&waited.as_secs()), "{waited:?}: {output:#?}");
    whole_pods(&namespace.pods("app=web"));
    printed(&output, "Resume:");
}

#[test]
fn a_second_interrupt_leaves_at_once() {
    let namespace = Namespace::new("interrupt-twice");
    let running = interrupted_with_an_answer_outstanding(&namespace);
    let asked = Instant::now();
    running.signal("INT");
    let output = running.wait();
    assert_eq!(output.code, 130, "{output:#?}");
    let waited = output.ended - asked;
    assert!(waited < Duration::from_secs(2), "{waited:?}: {output:#?}");
    whole_pods(&namespace.pods("app=web"));
    printed(&output, "Resume:");
}
