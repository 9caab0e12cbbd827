//! Ctrl-C, SIGTERM and SIGKILL at every write of a rollout that pulls first and drains: while a pod of ours pulls, while a
//! label is off, while a container restarts, while the label goes back, between the owner's steps. An interrupt puts labels
//! back and takes pods that pull away by itself; after a kill `resume` or `abort` does.

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::{Gate, Moment, Namespace, Output, Running, image, is_ready, poll, registry, side_by_side};

/// More writes than any run here makes.
const MOST_WRITES: usize = 25;

const SIDE_BY_SIDE: usize = 4;

/// What the run is asked for besides.
const POLICY: [&str; 5] = ["--yes", "--min-ready-seconds", "0", "--drain-seconds", "0"];

/// How a run is cut short, and what follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cut {
    KillAndResume,
    KillAndAbort,
    Interrupt,
    Terminate,
}

/// A Deployment or StatefulSet of one pod behind a Service, by a label that may be removed; its image is always pulled.
struct Workload {
    namespace: Namespace,
    kind: &'static str,
    uid: Value,
}

impl Workload {
    fn new(name: &str, kind: &'static str) -> Self {
        let namespace = Namespace::new(name);
        let (registry, service) = (registry(), if kind == "StatefulSet" { "serviceName: web" } else { "" });
        namespace.apply(&format!(
            "apiVersion: apps/v1
kind: {kind}
metadata: {{name: web}}
spec:
  replicas: 1
  {service}
  selector: {{matchLabels: {{app: web}}}}
  template:
    metadata: {{labels: {{app: web, serving: 'yes'}}}}
    spec:
      nodeSelector: {{kubernetes.io/hostname: node-1}}
      terminationGracePeriodSeconds: 1
      containers:
      - name: app
        image: '{registry}/app:v1'
        imagePullPolicy: Always
        readinessProbe: {{httpGet: {{path: /, port: 8080}}, periodSeconds: 1}}
---
apiVersion: v1
kind: Service
metadata: {{name: web}}
spec: {{selector: {{app: web, serving: 'yes'}}, ports: [{{port: 8080}}]}}
"
        ));
        let uid = namespace.wait_ready("app=web", 1)[0]["metadata"]["uid"].clone();
        Self { namespace, kind, uid }
    }

    fn reference(&self) -> String {
        format!("{}/web", self.kind.to_lowercase())
    }

    fn object(&self) -> Value {
        let object = self.namespace.kubectl(&["get", &self.reference(), "-o", "json"]);
        serde_json::from_str(&object).expect("kubectl prints JSON when asked to")
    }

    fn apply(&self, gate: &Gate, more: &[&str]) -> Running {
        let arguments = ["apply", &self.reference(), "app=:v2"];
        self.namespace.inplace_spawn(&[&arguments, &POLICY[..], more, &gate.flags()].concat())
    }

    fn finish(&self, verb: &str) -> Output {
        self.namespace.inplace(&[&[verb, &self.reference()], &POLICY[..]].concat())
    }

    /// What must hold once a run has ended, unless it was killed: traffic is back, and nothing of ours pulls.
    fn troubled(&self) -> Option<String> {
        let pods = self.namespace.pods("app=web");
        if let Some(pod) = pods.iter().find(|pod| pod["metadata"]["labels"]["serving"] != "yes") {
            return Some(format!("the label is off: {}", pod["metadata"]));
        }
        let record = |pod: &Value| pod["metadata"]["annotations"]["kubectl-inplace.io/update"].to_string();
        if let Some(pod) = pods.iter().find(|pod| record(pod).contains("drained")) {
            return Some(format!("the record says that the label is off: {}", record(pod)));
        }
        let ours = self.namespace.pods("kubectl-inplace.io/pull");
        let ours = ours.iter().filter(|pod| pod["metadata"]["deletionTimestamp"].is_null()).count();
        (ours > 0).then(|| format!("{ours} pods that pull are left"))
    }

    /// What must hold once no rollout is in progress.
    fn unsettled(&self) -> Option<String> {
        let (object, pods) = (self.object(), self.namespace.pods("app=web"));
        if !object["metadata"]["annotations"]["kubectl-inplace.io/rollout"].is_null() {
            return Some("the lock is left".into());
        }
        if object["spec"]["paused"] == true || object["spec"]["updateStrategy"]["type"] == "OnDelete" {
            return Some(format!("it is held: {}", object["spec"]));
        }
        let [pod] = pods.as_slice() else { return Some(format!("{} pods", pods.len())) };
        if pod["metadata"]["uid"] != self.uid {
            return Some("the pod was replaced".into());
        }
        let template = object["spec"]["template"].clone();
        if image(pod, "app") != image(&template, "app") || !is_ready(pod) {
            return Some(format!("the pod is not as the template: {}", pod["status"]));
        }
        self.troubled()
    }

    fn tag(&self) -> String {
        image(&self.object()["spec"]["template"], "app").to_owned()
    }

    fn assert_settled(&self, context: &str) {
        let mut last = None;
        let deadline = Instant::now() + Duration::from_secs(40);
        poll(|| {
            last = self.unsettled();
            (last.is_none() || Instant::now() > deadline).then_some(())
        });
        assert_eq!(last, None, "{context}");
    }
}

/// Lets a whole run go through, and returns its writes: each of them is a stage.
fn stages(name: &str, kind: &'static str) -> Vec<String> {
    let workload = Workload::new(name, kind);
    let gate = Gate::open();
    gate.stop_at(MOST_WRITES, Moment::Before);
    let output = workload.apply(&gate, &[]).wait();
    assert_eq!(output.code, 0, "{output:#?}");
    workload.assert_settled(&format!("{output:#?}"));
    let writes = gate.writes();
    let pods = format!("/api/v1/namespaces/{}/pods", workload.namespace.name());
    let count = |begin: &str| writes.iter().filter(|write| write.starts_with(begin)).count();
    assert!(
        count(&format!("POST {pods}")) == 1 && count(&format!("DELETE {pods}/")) == 1,
        "it pulls first: {writes:?}"
    );
    assert_eq!(count(&format!("PATCH {pods}/")), 3, "the label, the image, the label: {writes:?}");
    assert!(count("PATCH /apis/apps/v1/") >= 3, "the owner's steps: {writes:?}");
    writes
}

/// Cuts a run short at its write of this number.
fn cut_at(name: &str, kind: &'static str, cut: Cut, number: usize, moment: Moment) {
    let workload = Workload::new(&format!("{name}-{number}"), kind);
    let gate = Gate::open();
    gate.stop_at(number, moment);
    let mut running = workload.apply(&gate, &[]);
    let Some(write) = gate.held(&mut running) else {
        // Another run may read once more or less.
        assert_eq!(running.wait().code, 0);
        return workload.assert_settled("not cut");
    };
    let context = format!("{cut:?} {moment:?} write {number}, {write}");
    let signal = match cut {
        Cut::KillAndResume | Cut::KillAndAbort => "KILL",
        Cut::Interrupt => "INT",
        Cut::Terminate => "TERM",
    };
    running.signal(signal);
    let asked = Instant::now();
    if signal == "KILL" {
        assert_eq!(running.wait().code, 137);
        gate.lose();
    } else {
        running.wait_for("stopping");
        gate.releasing();
        let output = running.wait();
        let context = format!("{context}: {output:#?}");
        let took = output.ended - asked;
        assert_eq!(output.code, if signal == "INT" { 130 } else { 143 }, "{context}");
        assert!(took < Duration::from_secs(8), "{took:?}: {context}");
        assert_eq!(workload.troubled(), None, "{context}");
    }
    let locked = !workload.object()["metadata"]["annotations"]["kubectl-inplace.io/rollout"].is_null();
    let verb = if cut == Cut::KillAndResume { "resume" } else { "abort" };
    let finished = workload.finish(verb);
    let context = format!("{context}; {verb}: {finished:#?}");
    assert_eq!(finished.code, 0, "{context}");
    workload.assert_settled(&context);
    // Before the lock nothing was begun; after the end was written, only leavings go.
    let tag = workload.tag();
    match verb {
        "resume" if locked => assert_eq!(tag, "app:v2", "{context}"),
        _ if finished.stdout.contains("Rolled back:") => assert_eq!(tag, "app:v1", "{context}"),
        _ => {}
    }
    println!("{context:.90}: {tag}");
}

fn cut_at_every_write(name: &str, kind: &'static str, cut: Cut, first: Moment) {
    let writes = stages(name, kind).len();
    let other = if first == Moment::Before { Moment::After } else { Moment::Before };
    side_by_side(SIDE_BY_SIDE, 1..=writes, |number| {
        cut_at(name, kind, cut, number, if number % 2 == 1 { first } else { other });
    });
}

#[test]
fn a_killed_rollout_goes_on_from_every_stage() {
    cut_at_every_write("signal-resume", "Deployment", Cut::KillAndResume, Moment::After);
}

#[test]
fn a_killed_rollout_goes_back_from_every_stage() {
    cut_at_every_write("signal-abort", "Deployment", Cut::KillAndAbort, Moment::Before);
}

#[test]
fn a_killed_rollout_of_a_stateful_set_goes_on_from_every_stage() {
    cut_at_every_write("signal-sts-resume", "StatefulSet", Cut::KillAndResume, Moment::Before);
}

#[test]
fn a_killed_rollout_of_a_stateful_set_goes_back_from_every_stage() {
    cut_at_every_write("signal-sts-abort", "StatefulSet", Cut::KillAndAbort, Moment::After);
}

#[test]
fn an_interrupt_restores_everything_at_every_stage() {
    cut_at_every_write("signal-int", "Deployment", Cut::Interrupt, Moment::After);
}

#[test]
fn a_termination_restores_everything_at_every_stage() {
    cut_at_every_write("signal-term", "StatefulSet", Cut::Terminate, Moment::Before);
}
