//! A Service in front of three pods, and a client that follows its EndpointSlices: with a drain no connection fails, without
//! one some do; and the label is back at every end.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::{Api, Namespace, Output, image, is_ready, poll, registry};

const APPLY: [&str; 4] = ["apply", "deploy/web", "app=:v2", "--yes"];

/// Three pods behind a Service that selects on a label more than the Deployment does.
pub(crate) fn service(name: &str) -> Namespace {
    let namespace = Namespace::new(name);
    let registry = registry();
    namespace.apply(&format!(
        "apiVersion: apps/v1
kind: Deployment
metadata: {{name: web}}
spec:
  replicas: 3
  selector: {{matchLabels: {{app: web}}}}
  template:
    metadata: {{labels: {{app: web, serving: 'yes'}}}}
    spec:
      nodeSelector: {{kubernetes.io/hostname: node-1}}
      terminationGracePeriodSeconds: 2
      containers:
      - name: app
        image: '{registry}/app:v1'
        env: [{{name: PASSWORD, value: hunter2}}]
        readinessProbe: {{httpGet: {{path: /, port: 8080}}, periodSeconds: 1}}
---
apiVersion: v1
kind: Service
metadata: {{name: web}}
spec:
  selector: {{app: web, serving: 'yes'}}
  ports: [{{port: 8080}}]
"
    ));
    namespace.wait_ready("app=web", 3);
    namespace
}

fn ready_addresses(api: &Api, namespace: &Namespace) -> Vec<SocketAddr> {
    let path = format!(
        "/apis/discovery.k8s.io/v1/namespaces/{}/endpointslices?labelSelector=kubernetes.io/service-name=web",
        namespace.name()
    );
    let slices = api.get(&path);
    let endpoints = slices["items"].as_array().into_iter().flatten().filter_map(|slice| slice["endpoints"].as_array());
    let ready = endpoints.flatten().filter(|endpoint| endpoint["conditions"]["ready"] == true);
    let addresses = ready.filter_map(|endpoint| endpoint["addresses"].get(0)?.as_str());
    addresses.filter_map(|address| format!("{address}:8080").parse().ok()).collect()
}

/// One connection, with an answer.
fn connects(address: SocketAddr) -> bool {
    let timeout = Duration::from_secs(2);
    let Ok(mut stream) = TcpStream::connect_timeout(&address, timeout) else { return false };
    let asked = stream.set_read_timeout(Some(timeout)).and_then(|()| stream.write_all(b"GET / HTTP/1.0\r\n\r\n"));
    let mut answer = String::new();
    asked.is_ok() && stream.read_to_string(&mut answer).is_ok() && answer.contains("200 OK")
}

/// What a client has met.
#[derive(Debug)]
struct Traffic {
    connections: usize,
    failed: usize,
    seconds: f64,
}

/// Runs something while clients connect to the pods that the EndpointSlices list as ready.
fn under_traffic<R>(namespace: &Namespace, run: impl FnOnce() -> R) -> (R, Traffic) {
    let api = Api::open();
    assert!(poll(|| (ready_addresses(&api, namespace).len() == 3).then_some(())).is_some(), "three ready endpoints");
    let known = Mutex::new(ready_addresses(&api, namespace));
    let (over, count, failed) = (AtomicBool::new(false), AtomicUsize::new(0), AtomicUsize::new(0));
    let began = Instant::now();
    let result = thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                *known.lock().expect("no panic while it is held") = ready_addresses(&api, namespace);
                thread::sleep(Duration::from_millis(50));
            }
        });
        for _ in 0..3 {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    let number = count.fetch_add(1, Ordering::Relaxed);
                    let address =
                        known.lock().expect("no panic while it is held").iter().cycle().nth(number % 3).copied();
                    if !address.is_some_and(connects) {
                        failed.fetch_add(1, Ordering::Relaxed);
                    }
                    thread::sleep(Duration::from_millis(10));
                }
            });
        }
        let result = run();
        over.store(true, Ordering::Relaxed);
        result
    });
    let (connections, failed) = (count.into_inner(), failed.into_inner());
    (result, Traffic { connections, failed, seconds: began.elapsed().as_secs_f64() })
}

/// Every pod is the one of before, runs the new image, and has its label.
fn assert_whole(namespace: &Namespace, before: &[Value], tag: &str, context: &str) {
    let pods = namespace.pods("app=web");
    let uids = |pods: &[Value]| pods.iter().map(|pod| pod["metadata"]["uid"].to_string()).collect::<Vec<_>>();
    assert_eq!(uids(&pods), uids(before), "{context}");
    for pod in &pods {
        assert_eq!(pod["metadata"]["labels"]["serving"], "yes", "{context}");
        let record = pod["metadata"]["annotations"]["kubectl-inplace.io/update"].as_str().unwrap_or_default();
        assert!(!record.contains("drained"), "{record}: {context}");
        assert!(is_ready(pod), "{context}");
        assert_eq!(image(pod, "app"), tag, "{context}");
    }
}

fn rollout(name: &str, drain: &str) -> (Output, Traffic) {
    let namespace = service(name);
    let before = namespace.pods("app=web");
    let arguments = [APPLY.as_slice(), &["--drain", drain]].concat();
    let (output, traffic) = under_traffic(&namespace, || namespace.inplace(&arguments));
    assert_eq!(output.code, 0, "{output:#?}");
    let rate = traffic.connections as f64 / traffic.seconds;
    assert!(rate >= 100.0, "{rate} connections a second: {traffic:?}");
    assert_whole(&namespace, &before, "app:v2", &format!("{output:#?}"));
    (output, traffic)
}

#[test]
fn no_connection_fails_with_a_drain() {
    let (output, traffic) = rollout("drain-auto", "auto");
    assert!(output.stdout.contains("drains svc/web by label serving"), "{output:#?}");
    assert!(output.stderr.contains("draining from service/web"), "{output:#?}");
    assert_eq!(traffic.failed, 0, "{traffic:?}: {output:#?}");
}

#[test]
fn connections_fail_without_one() {
    let (output, traffic) = rollout("drain-none", "none");
    assert!(traffic.failed > 0, "{traffic:?}: {output:#?}");
}

#[test]
fn an_interrupt_puts_the_label_back_within_five_seconds() {
    let namespace = service("drain-interrupt");
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

#[test]
fn what_a_killed_run_removed_is_restored_by_resume() {
    for (mode, tag) in [(None, "app:v2"), (Some("--pods-only"), "app:v1")] {
        let namespace = service(if mode.is_some() { "drain-kill-pods" } else { "drain-kill" });
        let before = namespace.pods("app=web");
        let mut arguments = [APPLY.as_slice(), &["--drain-seconds", "20"]].concat();
        arguments.extend(mode);
        let mut running = namespace.inplace_spawn(&arguments);
        running.wait_for("removed from its Services");
        running.signal("KILL");
        assert_eq!(running.wait().code, 137);
        let off = namespace.pods("app=web").iter().filter(|pod| pod["metadata"]["labels"]["serving"].is_null()).count();
        assert_eq!(off, 1, "one pod is without its label");
        let plan = namespace.inplace(&["plan", "deploy/web", "app=:v1", "--pods-only"]);
        assert!(mode.is_none() || plan.stderr.contains("DrainLabelMissing"), "{plan:#?}");
        let output = namespace.inplace(&["resume", "deploy/web", "--yes", "--drain-seconds", "1"]);
        assert_eq!(output.code, 0, "{output:#?}");
        assert_whole(&namespace, &before, tag, &format!("{output:#?}"));
    }
}
