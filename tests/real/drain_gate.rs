//! Pods whose Service selects by the owner's label alone, and which have a readiness gate that kubectl has set: they are
//! taken out by the gate, and it is on again at every end.

use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::{Api, Gate, Moment, Namespace, image, is_ready, name, poll, registry};

const GATE: &str = "example.com/serving";

const APPLY: [&str; 4] = ["apply", "deploy/web", "app=:v2", "--yes"];

/// Two pods whose gate was set by somebody who calls himself so.
fn gated(namespace_name: &str, manager: &str) -> Namespace {
    let namespace = Namespace::new(namespace_name);
    let registry = registry();
    namespace.apply(&format!(
        "apiVersion: apps/v1
kind: Deployment
metadata: {{name: web}}
spec:
  replicas: 2
  selector: {{matchLabels: {{app: web}}}}
  template:
    metadata: {{labels: {{app: web}}}}
    spec:
      nodeSelector: {{kubernetes.io/hostname: node-1}}
      terminationGracePeriodSeconds: 2
      readinessGates: [{{conditionType: {GATE}}}]
      containers:
      - name: app
        image: '{registry}/app:v1'
        readinessProbe: {{httpGet: {{path: /, port: 8080}}, periodSeconds: 1}}
---
apiVersion: v1
kind: Service
metadata: {{name: web}}
spec:
  selector: {{app: web}}
  ports: [{{port: 8080}}]
"
    ));
    let condition = |pod: &Value, kind: &str| status_of(pod, kind) == Some("True".into());
    let pods = namespace
        .wait_pods("app=web", |pods| pods.len() == 2 && pods.iter().all(|pod| condition(pod, "ContainersReady")));
    let patch = json!({"status": {"conditions": [
        {"type": GATE, "status": "True", "reason": "Checked", "lastTransitionTime": "2026-01-01T00:00:00Z"}]}});
    for pod in &pods {
        let manager = format!("--field-manager={manager}");
        namespace.kubectl(&["patch", "pod", name(pod), "--subresource=status", &manager, "-p", &patch.to_string()]);
    }
    namespace.wait_ready("app=web", 2);
    namespace
}

fn condition<'p>(pod: &'p Value, kind: &str) -> Option<&'p Value> {
    pod["status"]["conditions"].as_array()?.iter().find(|condition| condition["type"] == kind)
}

fn status_of(pod: &Value, kind: &str) -> Option<String> {
    condition(pod, kind)?["status"].as_str().map(str::to_owned)
}

/// Every pod is the one of before, is ready, and its gate's condition is what it was.
fn assert_whole(namespace: &Namespace, before: &[Value], tag: &str, context: &str) {
    // The kubelet makes it ready a moment after its gate is on.
    let pods = namespace.wait_pods("app=web", |pods| pods.iter().all(is_ready));
    let uids = |pods: &[Value]| pods.iter().map(|pod| pod["metadata"]["uid"].to_string()).collect::<Vec<_>>();
    assert_eq!(uids(&pods), uids(before), "{context}");
    for (pod, before) in pods.iter().zip(before) {
        let record = pod["metadata"]["annotations"]["kubectl-inplace.io/update"].as_str().unwrap_or_default();
        assert!(!record.contains("drained"), "{record}: {context}");
        assert_eq!(condition(pod, GATE), condition(before, GATE), "{context}");
        assert_eq!(image(pod, "app"), tag, "{context}");
    }
}

/// The addresses that the slices list as ready, by time.
fn ready_pods(api: &Api, namespace: &Namespace) -> Vec<String> {
    let path = format!(
        "/apis/discovery.k8s.io/v1/namespaces/{}/endpointslices?labelSelector=kubernetes.io/service-name=web",
        namespace.name()
    );
    let slices = api.get(&path);
    let endpoints = slices["items"].as_array().into_iter().flatten().filter_map(|slice| slice["endpoints"].as_array());
    let ready = endpoints.flatten().filter(|endpoint| endpoint["conditions"]["ready"] == true);
    ready.filter_map(|endpoint| endpoint["targetRef"]["uid"].as_str().map(str::to_owned)).collect()
}

/// The state of each pod's slices at the moment when its image changed is what traffic sees of the kill.
#[test]
fn a_pod_is_out_by_its_gate_before_its_container_stops_and_in_again_at_the_end() {
    let namespace = gated("gate-rollout", "kubectl-patch");
    let before = namespace.pods("app=web");
    let plan = namespace.inplace(&["plan", "deploy/web", "app=:v2"]);
    assert!(plan.stdout.contains(&format!("drains svc/web by readiness gate {GATE}")), "{plan:#?}");
    assert!(!plan.stdout.contains("TrafficWhileDown") && !plan.stderr.contains("TrafficWhileDown"), "{plan:#?}");

    let api = Api::open();
    assert!(poll(|| (ready_pods(&api, &namespace).len() == 2).then_some(())).is_some(), "two ready endpoints");
    let watch = namespace.watch("app=web");
    let over = std::sync::atomic::AtomicBool::new(false);
    let (output, seen) = thread::scope(|scope| {
        let listing = scope.spawn(|| {
            let mut seen = Vec::new();
            while !over.load(std::sync::atomic::Ordering::Relaxed) {
                let asked = Instant::now();
                seen.push((asked, ready_pods(&api, &namespace)));
                thread::sleep(Duration::from_millis(20));
            }
            seen
        });
        let output = namespace.inplace(&APPLY);
        over.store(true, std::sync::atomic::Ordering::Relaxed);
        (output, listing.join().expect("no panic"))
    });
    assert_eq!(output.code, 0, "{output:#?}");
    assert!(output.stderr.contains("draining from service/web"), "{output:#?}");
    assert_whole(&namespace, &before, "app:v2", &format!("{output:#?}"));
    for pod in &before {
        let uid = pod["metadata"]["uid"].as_str().expect("a uid").to_owned();
        let patched = watch.wait(|seen| seen["metadata"]["uid"] == uid && image(seen, "app") == "app:v2");
        assert_eq!(status_of(&patched.pod, GATE), Some("False".into()), "{output:#?}");
        let (_, listed) = seen.iter().rfind(|(asked, _)| *asked < patched.at).expect("looks before");
        assert!(!listed.contains(&uid), "{uid} is listed when its image changes: {output:#?}");
    }
    let (_, last) = seen.last().expect("looks");
    assert_eq!(last.len(), 2, "both are listed again when it ends: {output:#?}");
    let never_two_out = seen.iter().all(|(_, listed)| !listed.is_empty());
    assert!(never_two_out, "one at a time: {output:#?}");
    // What we have written ourselves does not make the gate anybody's.
    let again = namespace.inplace(&["plan", "deploy/web", "app=:v3"]);
    assert!(again.stdout.contains(&format!("by readiness gate {GATE}")), "{again:#?}");
}

#[test]
fn a_gate_that_a_controller_sets_is_left_alone() {
    let namespace = gated("gate-foreign", "balancer");
    let before = namespace.pods("app=web");
    let output = namespace.inplace(&APPLY);
    assert_eq!(output.code, 0, "{output:#?}");
    assert!(output.stderr.contains("TrafficWhileDown"), "{output:#?}");
    assert!(output.stderr.contains(&format!("readiness gate {GATE} is set by balancer")), "{output:#?}");
    assert!(!output.stderr.contains("draining from service/web"), "{output:#?}");
    assert_whole(&namespace, &before, "app:v2", &format!("{output:#?}"));
}

#[test]
fn an_interrupt_turns_the_gate_on_again() {
    let namespace = gated("gate-interrupt", "kubectl-patch");
    let before = namespace.pods("app=web");
    let mut running = namespace.inplace_spawn(&[APPLY.as_slice(), &["--pods-only", "--drain-seconds", "30"]].concat());
    running.wait_for("removed from its Services");
    let asked = Instant::now();
    running.signal("INT");
    let output = running.wait();
    assert!(asked.elapsed() < Duration::from_secs(6), "{:?}: {output:#?}", asked.elapsed());
    assert_eq!(output.code, 130, "{output:#?}");
    assert_whole(&namespace, &before, "app:v1", &format!("{output:#?}"));
}

/// The writes of a run of pods alone: the note, the gate off, the images, the gate on, the note gone. Wherever it is
/// killed, the next command brings the gate back.
fn killed_at_every_write(namespace_name: &str, moment: Moment, then: &str) {
    let namespace = gated(namespace_name, "kubectl-patch");
    let way = Gate::open();
    let pod = namespace.pods("app=web").first().map(|pod| name(pod).to_owned()).expect("a pod");
    let mut tag = "v1";
    for number in 1..=5 {
        let before = namespace.pods("app=web");
        let wanted = if tag == "v1" { "v2" } else { "v1" };
        way.stop_at(number, moment);
        let arguments = ["apply", "deploy/web", &format!("app=:{wanted}"), "--yes", "--pods-only", "--pods", &pod];
        let more = ["--drain-seconds", "0", "--pre-pull=never", "--min-ready-seconds", "0"];
        let mut running = namespace.inplace_spawn(&[&arguments[..], &more, &way.flags()].concat());
        let write = way.held(&mut running);
        let context = format!("killed {moment:?} write {number}, {write:?}");
        assert!(write.is_some(), "{context}: {:?}", running.wait());
        running.signal("KILL");
        assert_eq!(running.wait().code, 137, "{context}");
        way.lose();
        if number >= 4 || number == 3 && moment == Moment::After {
            tag = wanted;
        }
        let output = match then {
            // The same pod is outside of what is chosen.
            "apply" => {
                let other = before.iter().map(name).find(|other| *other != pod).expect("another pod");
                let image = format!("app=:{tag}");
                namespace.inplace(&["apply", "deploy/web", &image, "--yes", "--pods-only", "--pods", other])
            }
            then => namespace.inplace(&[then, "deploy/web", "--yes"]),
        };
        assert_eq!(output.code, 0, "{context}: {output:#?}");
        let pods = namespace.wait_pods("app=web", |pods| pods.iter().all(is_ready));
        for (pod_now, before) in pods.iter().zip(&before) {
            let record = pod_now["metadata"]["annotations"]["kubectl-inplace.io/update"].as_str().unwrap_or_default();
            assert!(!record.contains("drained"), "{context}: {record}: {output:#?}");
            assert_eq!(condition(pod_now, GATE), condition(before, GATE), "{context}: {output:#?}");
        }
    }
}

#[test]
fn a_run_that_was_killed_before_a_write_is_put_right_by_resume() {
    killed_at_every_write("gate-kill-before", Moment::Before, "resume");
}

#[test]
fn a_run_that_was_killed_after_a_write_is_put_right_by_abort() {
    killed_at_every_write("gate-kill-after", Moment::After, "abort");
}

#[test]
fn a_run_of_other_pods_turns_a_gate_on_that_was_left_off() {
    killed_at_every_write("gate-kill-other", Moment::After, "apply");
}

#[test]
fn a_durable_rollout_that_was_killed_with_the_gate_off_is_finished_or_taken_back() {
    for (then, tag) in [("resume", "app:v2"), ("abort", "app:v1")] {
        let namespace = gated(&format!("gate-durable-{then}"), "kubectl-patch");
        let before = namespace.pods("app=web");
        let mut running = namespace.inplace_spawn(&[APPLY.as_slice(), &["--drain-seconds", "20"]].concat());
        running.wait_for("removed from its Services");
        running.signal("KILL");
        assert_eq!(running.wait().code, 137);
        let off = namespace.pods("app=web").iter().filter(|pod| status_of(pod, GATE) == Some("False".into())).count();
        assert_eq!(off, 1, "one gate is off");
        let output = namespace.inplace(&[then, "deploy/web", "--yes", "--drain-seconds", "1"]);
        assert_eq!(output.code, 0, "{output:#?}");
        assert_whole(&namespace, &before, tag, &format!("{output:#?}"));
    }
}
