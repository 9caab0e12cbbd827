//! Admission that changes pods when they are created: containers that it injects are verified all the same, and images that
//! it rewrites are no drift.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::support::{Alone, Namespace, Output, container_status, images, name, poll, registry, samples, side_by_side};

/// A policy for one namespace that exists as long as this value does.
struct Policy<'n> {
    namespace: &'n Namespace,
}

impl<'n> Policy<'n> {
    /// Creates it, and waits until the server goes by it where it acts on new pods.
    fn new(namespace: &'n Namespace, operations: &[&str], condition: &str, mutation: &str) -> Self {
        let name = namespace.name();
        let policy = json!({"apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingAdmissionPolicy",
            "metadata": {"name": name}, "spec": {"reinvocationPolicy": "Never",
            "matchConstraints": {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": name}},
                "resourceRules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": operations, "resources": ["pods"]}]},
            "matchConditions": [{"name": "once", "expression": condition}],
            "mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": mutation}}]}});
        let binding = json!({"apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingAdmissionPolicyBinding",
            "metadata": {"name": name}, "spec": {"policyName": name}});
        namespace.apply(&policy.to_string());
        namespace.apply(&binding.to_string());
        let create = ["create", "--dry-run=server", "-f", "-", "-o", "json"];
        let plain = samples::pod("probe");
        let spec = |text: &str| serde_json::from_str::<Value>(text).map(|pod| pod["spec"]["containers"].clone()).ok();
        let acts = || {
            let made = spec(&namespace.kubectl_input(&create, &plain))?;
            let is_as_asked = made.as_array().is_some_and(|all| all.len() == 2 && all[0]["image"] == app().as_str());
            (!is_as_asked).then_some(())
        };
        if operations.contains(&"CREATE") {
            poll(acts).expect("the policy acts");
        }
        Self { namespace }
    }

    /// A mesh: each pod gets a container `proxy`, which ends with 3 once it is told to.
    fn injector(namespace: &'n Namespace) -> Self {
        let command = "while ! test -e /tmp/end; do sleep 0.2; done; exit 3";
        let proxy = format!(
            "Object.spec.containers{{name: \"proxy\", image: \"{}\", command: [\"sh\", \"-c\", \"{command}\"]}}",
            side()
        );
        let mutation = format!("[JSONPatch{{op: \"add\", path: \"/spec/containers/-\", value: {proxy}}}]");
        Self::new(namespace, &["CREATE"], "!object.spec.containers.exists(c, c.name == 'proxy')", &mutation)
    }

    /// A mirror: the image of `app` gets another name of the same digest.
    fn mirror(namespace: &'n Namespace, operations: &[&str]) -> Self {
        let image = "object.spec.containers[0].image";
        let replaced = format!("path: \"/spec/containers/0/image\", value: {image} + \"-again\"");
        let is_other = format!("{image}.startsWith('{}/app:') && !{image}.endsWith('-again')", registry());
        Self::new(namespace, operations, &is_other, &format!("[JSONPatch{{op: \"replace\", {replaced}}}]"))
    }
}

impl Drop for Policy<'_> {
    fn drop(&mut self) {
        for kind in ["mutatingadmissionpolicybinding", "mutatingadmissionpolicy"] {
            self.namespace.try_kubectl(&["delete", kind, self.namespace.name(), "--wait=false"], "");
        }
    }
}

fn uids(pods: &[Value]) -> BTreeSet<String> {
    pods.iter().map(|pod| pod["metadata"]["uid"].to_string()).collect()
}

fn app() -> String {
    format!("{}/app:v1", registry())
}

fn side() -> String {
    format!("{}/side:v1", registry())
}

/// A workload of each kind, and how many pods it has.
fn kinds() -> [(&'static str, String, usize); 3] {
    [
        ("deployment/web", samples::deployment("web", 2), 2),
        ("statefulset/web", samples::stateful_set("web", 2), 2),
        ("daemonset/web", samples::daemon_set("web"), 1),
    ]
}

/// What is so of a workload.
struct Seen<'n> {
    namespace: &'n Namespace,
    workload: &'static str,
    count: usize,
}

impl Seen<'_> {
    fn run(&self, arguments: &[&str]) -> Output {
        self.namespace.inplace(arguments)
    }

    /// Every command says that all is well.
    fn is_well(&self, when: &str) {
        self.is_ready(when);
        let follow = self.run(&["follow", self.workload, "--timeout", "60s"]);
        assert_eq!(follow.code, 0, "{when}: {follow:#?}");
        assert!(!follow.stderr.contains("verified"), "{when}: {follow:#?}");
    }

    /// `status` says so.
    fn is_ready(&self, when: &str) {
        let all_ready = |document: &Value| document["workloads"][0]["summary"]["ready"] == self.count;
        let read = || serde_json::from_str(&self.run(&["status", self.workload, "-o", "json"]).stdout).ok();
        let well = poll(|| read().filter(all_ready));
        assert!(well.is_some(), "{when}: {:#?}", read());
        let status = self.run(&["status", self.workload, "--exit-code"]);
        assert_eq!(status.code, 0, "{when}: {status:#?}");
    }

    fn pods(&self) -> Vec<Value> {
        let pods = self.namespace.wait_ready("app=web", self.count);
        // Its controller may count them a moment later.
        self.namespace.kubectl(&["rollout", "status", self.workload, "--timeout=30s"]);
        pods
    }
}

/// Each of the times at which somebody looks at pods of a mesh.
#[test]
fn an_injected_container_is_verified() {
    side_by_side(3, kinds(), |(workload, manifest, count)| {
        let namespace = Namespace::new("inject");
        let _policy = Policy::injector(&namespace);
        namespace.apply(&manifest);
        let seen = Seen { namespace: &namespace, workload, count };
        assert!(seen.pods().iter().all(|pod| pod["spec"]["containers"].as_array().is_some_and(|all| all.len() == 3)));
        seen.is_well("before any update");
        let plan = seen.run(&["plan", workload, "app=:v2"]);
        assert_eq!(plan.code, 0, "{plan:#?}");
        let undo = seen.run(&["undo", workload, "--yes"]);
        assert_ne!(undo.code, 0, "there is nothing to undo: {undo:#?}");

        let apply = seen.run(&["apply", workload, "app=:v2", "--yes", "--min-ready-seconds", "0"]);
        assert_eq!(apply.code, 0, "{apply:#?}");
        seen.is_well("after an update");
        let undo = seen.run(&["undo", workload, "--yes", "--min-ready-seconds", "0"]);
        assert_eq!(undo.code, 0, "{undo:#?}");
        seen.is_well("after its undo");

        let pod = seen.pods().remove(0);
        let old = container_status(&pod, "proxy")["containerID"].clone();
        let path = format!("/api/v1/namespaces/{}/pods/{}", namespace.name(), name(&pod));
        namespace.kubectl(&["set", "image", &format!("pod/{}", name(&pod)), &format!("proxy={}/side:v2", registry())]);
        // Never is the container from before called ready.
        poll(|| {
            let document: Value = serde_json::from_str(&seen.run(&["status", workload, "-o", "json"]).stdout).ok()?;
            let of_pod =
                document["workloads"][0]["pods"].as_array()?.iter().find(|one| one["name"] == name(&pod))?.clone();
            let now: Value = serde_json::from_str(&namespace.kubectl(&["get", "--raw", &path])).ok()?;
            let is_old = container_status(&now, "proxy")["containerID"] == old;
            assert!(!is_old || of_pod["state"] != "ready", "{of_pod:#}");
            (!is_old).then_some(())
        })
        .expect("another container runs");
        seen.is_well("after kubectl set image pod");

        let pod = format!("pod/{}", name(&pod));
        namespace.kubectl(&["exec", "-n", namespace.name(), &pod, "-c", "proxy", "--", "sh", "-c", "touch /tmp/end"]);
        let restarted = |pods: &[Value]| {
            pods.iter().any(|pod| container_status(pod, "proxy")["lastState"]["terminated"]["exitCode"] == 3)
        };
        namespace.wait_pods("app=web", restarted);
        seen.is_well("after a crash");
    });
}

#[test]
fn an_injected_container_is_verified_after_its_kubelet_has_started_again() {
    let Some(alone) = Alone::wait() else { return };
    let namespace = Namespace::beside(&alone, "inject-kubelet");
    let _policy = Policy::injector(&namespace);
    namespace.apply(&samples::deployment("web", 2));
    let seen = Seen { namespace: &namespace, workload: "deployment/web", count: 2 };
    seen.pods();
    drop(alone.stop("kubelet"));
    seen.is_well("after a restart of the kubelet");
    let apply = seen.run(&["apply", "deployment/web", "app=:v2", "--yes", "--min-ready-seconds", "0"]);
    assert_eq!(apply.code, 0, "{apply:#?}");
    drop(alone.stop("kubelet"));
    seen.is_well("after an update and a restart of the kubelet");
}

#[test]
fn an_image_that_admission_rewrites_is_no_drift() {
    side_by_side(3, kinds(), |(workload, manifest, count)| {
        let namespace = Namespace::new("mirror");
        let _policy = Policy::mirror(&namespace, &["CREATE", "UPDATE"]);
        namespace.apply(&manifest);
        let seen = Seen { namespace: &namespace, workload, count };
        seen.pods();
        seen.is_well("as created");
        let status = seen.run(&["status", workload]);
        let said = format!("rewritten by admission: app: {0} -> {0}-again", app());
        assert_eq!(status.stdout.matches(&said).count(), 1, "{status:#?}");
        assert!(!status.stdout.contains("kubectl inplace"), "no command leads on: {status:#?}");

        // Who may not create pods learns that it is not known, and gets no command that may be refused.
        let user = format!("{}:looks", namespace.name());
        namespace.kubectl(&["create", "serviceaccount", "looks"]);
        namespace.kubectl(&[
            "create",
            "rolebinding",
            "looks",
            "--clusterrole=view",
            &format!("--serviceaccount={user}"),
        ]);
        let user = format!("system:serviceaccount:{user}");
        let looks = || seen.run(&["status", workload, "--as", &user]);
        let status = poll(|| Some(looks()).filter(|status| status.code == 0)).expect("the account may look");
        assert!(status.stdout.contains("so it is not known whether its admission"), "{status:#?}");
        assert!(status.stdout.contains("drifted") && !status.stdout.contains("kubectl inplace"), "{status:#?}");

        let other = format!("app={}/app:v2", registry());
        let pod = format!("pod/{}", name(&seen.pods()[0]));
        namespace.kubectl(&["set", "image", &pod, &other]);
        let drifted = || {
            Some(seen.run(&["status", workload, "--exit-code"])).filter(|status| status.stdout.contains("1 drifted"))
        };
        let status = poll(drifted).expect("one pod has another image");
        assert_eq!(status.code, 2, "{status:#?}");
        // The command that it prints brings the pod to what a new one would have.
        let mut lines = status.stdout.lines().map(str::trim);
        let command = lines.find_map(|line| line.strip_prefix("Bring the pods to the template, in place:"));
        let command = command.unwrap_or_else(|| panic!("no way back: {status:#?}")).trim();
        let brought = namespace.type_line(&format!("{command} --yes --min-ready-seconds 0"));
        assert_eq!(brought.code, 0, "{command}: {brought:#?}");
        seen.is_ready("after that");
        assert_eq!(images(&seen.pods(), "app"), vec!["app:v1-again"; count]);
    });
}

/// Forward and back, the template gets the names that were asked for, and the pods what a new pod has; no pod restarts that
/// had it already. So it is after a kill in the middle.
#[test]
fn a_rollout_under_a_mirror_goes_on_and_back() {
    let cases = kinds().into_iter().flat_map(|kind| [(kind.clone(), &["CREATE"][..]), (kind, &["CREATE", "UPDATE"])]);
    side_by_side(3, cases.collect::<Vec<_>>(), |((workload, manifest, count), operations)| {
        let namespace = Namespace::new("mirrored");
        let _policy = Policy::mirror(&namespace, operations);
        namespace.apply(&manifest);
        let seen = Seen { namespace: &namespace, workload, count };
        let before = seen.pods();
        let context = format!("{workload} {operations:?}");
        let has = |tag: &str| {
            let template =
                namespace.kubectl(&["get", workload, "-o", "jsonpath={.spec.template.spec.containers[0].image}"]);
            let pods = seen.pods();
            assert_eq!(template, format!("{}/app:{tag}", registry()), "{context}");
            assert_eq!(images(&pods, "app"), vec![format!("app:{tag}-again"); count], "{context}");
            assert_eq!(uids(&pods), uids(&before), "{context}");
            seen.is_ready(&context);
            pods
        };
        let run = |arguments: &[&str], code: i32| {
            let output = namespace.inplace_after_a_kill(&[arguments, &["--yes", "--min-ready-seconds", "0"]].concat());
            assert_eq!(output.code, code, "{context}: {output:#?}");
            assert!(!output.stdout.contains("PodsDrifted"), "{context}: {output:#?}");
        };
        run(&["apply", workload, "app=:nope", "--pre-pull=never"], 4);
        run(&["abort", workload], 0);
        let restarts = |pod: &Value| container_status(pod, "app")["restartCount"] != 0;
        assert_eq!(has("v1").iter().filter(|pod| restarts(pod)).count(), 1, "{context}");

        let apply = ["apply", workload, "app=:v2", "--yes", "--min-ready-seconds", "0"];
        let mut running = namespace.inplace_spawn(&apply);
        running.wait_for("patch sent: app");
        running.signal("KILL");
        running.wait();
        run(&["resume", workload], 0);
        has("v2");
        run(&["undo", workload], 0);
        has("v1");
        let same = namespace.inplace(&["plan", workload, &format!("app={}", app())]);
        assert!(same.stdout.contains("No changes."), "{context}: {same:#?}");
    });
}

/// A policy on updates alone: an update that it changes is refused with the form that it leaves, the way back from there takes
/// what the server makes of it, and no command is printed that would be refused.
#[test]
fn what_admission_makes_of_an_update_is_no_drift() {
    side_by_side(3, kinds(), |(workload, manifest, count)| {
        let namespace = Namespace::new("updated");
        namespace.apply(&manifest);
        let seen = Seen { namespace: &namespace, workload, count };
        let before = uids(&seen.pods());
        let _policy = Policy::mirror(&namespace, &["UPDATE"]);
        let refused = || {
            let output = seen.run(&["apply", workload, "app=:v2", "--dry-run=server", "--yes"]);
            let hint = format!("(app={}/app:v2-again)", registry());
            (output.code == 3 && output.stdout.contains(&hint)).then_some(())
        };
        poll(refused).expect("the policy acts");
        let failing = format!("app={}/app:nope-again", registry());
        let run = |arguments: &[&str], code: i32| {
            let output = seen.run(&[arguments, &["--yes", "--min-ready-seconds", "0"]].concat());
            assert_eq!(output.code, code, "{workload}: {output:#?}");
            output
        };
        let undone = run(&["apply", workload, &failing, "--pre-pull=never", "--on-failure=undo"], 4);
        assert!(undone.stdout.contains("Rolled back"), "{workload}: {undone:#?}");
        seen.is_ready("after the way back");
        let status = seen.run(&["status", workload]);
        let said = format!("rewritten by admission: app: {0} -> {0}-again", app());
        assert_eq!(status.stdout.matches(&said).count(), 1, "{workload}: {status:#?}");
        assert!(!status.stdout.contains("kubectl inplace"), "{workload}: {status:#?}");
        let plan = seen.run(&["plan", workload, &format!("app={}", app())]);
        assert!(plan.stdout.contains("No changes."), "{workload}: {plan:#?}");
        run(&["apply", workload, &format!("app={}/app:v2-again", registry())], 0);
        run(&["undo", workload], 0);
        let status = seen.run(&["status", workload, "--exit-code"]);
        assert!(status.code == 0 && status.stdout.contains(&said), "{workload}: {status:#?}");
        assert_eq!(uids(&seen.pods()), before, "{workload}");
    });
}

#[test]
fn managed_fields_do_not_always_say_who_has_set_an_image() {
    let namespace = Namespace::new("managed-fields");
    let _policy = Policy::injector(&namespace);
    namespace.apply(&samples::deployment("web", 1));
    let read = || namespace.wait_ready("app=web", 1).remove(0);
    let entries = |pod: &Value| pod["metadata"]["managedFields"].as_array().cloned().unwrap_or_default();
    let of_spec = |pod: &Value| {
        entries(pod).into_iter().filter(|entry| entry["fieldsV1"]["f:spec"].is_object()).collect::<Vec<_>>()
    };
    let pod = read();
    let injected = of_spec(&pod);
    assert_eq!((injected.len(), &injected[0]["manager"]), (1, &json!("kube-controller-manager")), "{injected:#?}");
    assert!(!injected[0].to_string().contains("proxy") && pod["metadata"]["generation"] == 1, "{pod:#}");

    std::thread::sleep(std::time::Duration::from_millis(1100));
    namespace.kubectl(&["delete", "replicasets", "-l", "app=web", "--cascade=orphan"]);
    let is_adopted = |pods: &[Value]| pods.iter().any(|pod| of_spec(pod)[0]["time"] != injected[0]["time"]);
    let adopted = namespace.wait_pods("app=web", is_adopted).remove(0);
    assert_eq!((of_spec(&adopted).len(), &adopted["metadata"]["generation"]), (1, &json!(1)), "{adopted:#}");

    let pod = format!("pod/{}", name(&pod));
    namespace.kubectl(&["patch", &pod, "--type=merge", "-p", r#"{"metadata":{"managedFields":[{}]}}"#]);
    namespace.kubectl(&["set", "image", &pod, &format!("proxy={}/side:v2", registry())]);
    let emptied = read();
    assert!(of_spec(&emptied).is_empty() && emptied["metadata"]["generation"] == 2, "{emptied:#}");
}
