//! cpu and memory of the pod as a whole on the real cluster: the same pods and containers, and template, pods, kubelet and
//! cgroup files say the same.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::support::{Api, Fields, Kind, Namespace, Owner, name, running};

const BEFORE: &str = "resources: {requests: {cpu: 50m, memory: 32Mi}, limits: {cpu: 500m, memory: 64Mi}}";
const AFTER: &str = "resources: {requests: {cpu: 70m, memory: 40Mi}, limits: {cpu: 600m, memory: 80Mi}}";

const KINDS: [(Kind, &str); 3] = [
    (Kind::Deployment, "whole-deployment"),
    (Kind::StatefulSet, "whole-stateful-set"),
    (Kind::DaemonSet, "whole-daemon-set"),
];

/// The limit of memory in a pod's own cgroup, in bytes: version 1 or 2.
fn memory_in_cgroup(pod: &Value) -> Option<String> {
    let uid = pod["metadata"]["uid"].as_str()?;
    let names = [format!("pod{uid}"), format!("pod{}", uid.replace('-', "_"))];
    let mut folders = vec![PathBuf::from("/sys/fs/cgroup")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let (path, found) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
            if !path.is_dir() || path.is_symlink() {
                continue;
            }
            let read = |file: &str| std::fs::read_to_string(path.join(file)).ok().map(|text| text.trim().to_owned());
            if names.iter().any(|name| found.contains(name))
                && let Some(limit) = read("memory.max").or_else(|| read("memory.limit_in_bytes"))
            {
                return Some(limit);
            }
            let is_on_the_way =
                ["kubepods", "memory", "burstable", "guaranteed"].iter().any(|part| found.contains(part));
            if is_on_the_way || path.parent() == Some(&PathBuf::from("/sys/fs/cgroup")) {
                folders.push(path);
            }
        }
    }
    None
}

struct Case<'a> {
    namespace: &'a Namespace,
    owner: &'a Owner<'a>,
}

impl Case<'_> {
    /// Template, pods, kubelet and cgroup files say the same.
    fn has(&self, cpu: (&str, &str), memory: (u64, u64)) {
        let mebibytes = |count: u64| format!("{count}Mi");
        let wanted = json!({"requests": {"cpu": cpu.0, "memory": mebibytes(memory.0)},
            "limits": {"cpu": cpu.1, "memory": mebibytes(memory.1)}});
        assert_eq!(self.owner.object()["spec"]["template"]["spec"]["resources"], wanted);
        for pod in &self.owner.pods() {
            assert_eq!(pod["spec"]["resources"], wanted, "{}", name(pod));
            assert_eq!(pod["status"]["allocatedResources"], wanted["requests"], "{}", name(pod));
            assert_eq!(pod["status"]["resources"]["limits"], wanted["limits"], "{}", name(pod));
            assert_eq!(pod["status"]["resources"]["requests"]["cpu"], wanted["requests"]["cpu"], "{}", name(pod));
            assert_eq!(memory_in_cgroup(pod), Some((memory.1 * 1024 * 1024).to_string()), "{}", name(pod));
        }
    }

    fn is_as_it_began(&self) {
        assert_eq!(running(&self.owner.pods()), running(&self.owner.before), "the same pods and containers");
    }

    fn manifest(&self, line: &[&str], manifest: &str, code: i32) -> String {
        let output = self.namespace.inplace_input(&[line, &["-f", "-"]].concat(), manifest);
        assert_eq!(output.code, code, "{output:#?}");
        output.stdout + &output.stderr
    }

    fn inplace(&self, arguments: &[&str]) -> String {
        let output = self.namespace.inplace(arguments);
        assert_eq!(output.code, 0, "{output:#?}");
        output.stdout + &output.stderr
    }
}

/// There and back, a lost pod has it from the template, and nothing restarts.
#[test]
fn every_kind_is_resized_as_a_whole_and_nothing_restarts() {
    for (kind, name) in KINDS {
        let namespace = Namespace::new(name);
        let api = Api::open();
        let owner = Owner::with((&namespace, &api), kind, (2, 2), Fields::Pod(BEFORE));
        let (case, reference) = (Case { namespace: &namespace, owner: &owner }, owner.reference());
        case.has(("50m", "500m"), (32, 64));
        let after = owner.manifest.replace(BEFORE, AFTER);
        let reported = case.manifest(&["apply", "--yes"], &after, 0);
        let count = owner.before.len();
        let pods = if count == 1 { "1 pod".to_owned() } else { format!("{count} pods") };
        let line = format!("Resized: {pods} as a whole. Restarted as planned: nothing; nothing else restarted");
        assert!(reported.contains(&line) && reported.contains("pods replaced: 0"), "{reported}");
        assert!(reported.contains("requests.cpu of the pod"), "{reported}");
        case.has(("70m", "600m"), (40, 80));
        case.is_as_it_began();
        owner.wait_settled();
        let nothing = case.manifest(&["plan"], &after, 0);
        assert!(nothing.contains("No changes."), "{nothing}");
        let history = case.inplace(&["history", &reference]);
        assert!(history.contains("requests.cpu of the pod"), "{history}");
        case.inplace(&["undo", &reference, "--yes"]);
        case.has(("50m", "500m"), (32, 64));
        case.is_as_it_began();
        owner.wait_settled();
        // A pod that is made later has it from the template.
        case.manifest(&["apply", "--yes"], &after, 0);
        owner.wait_settled();
        namespace.kubectl(&["delete", "pod", crate::support::name(&owner.pods()[0]), "--wait=true"]);
        owner.wait_ready(count);
        case.has(("70m", "600m"), (40, 80));
    }
}

/// What containers ask for together raises the pod's request that nobody has written: one request for both, nothing restarts.
#[test]
fn containers_and_the_pod_are_resized_together() {
    let namespace = Namespace::new("whole-together");
    let api = Api::open();
    let whole = "resources: {limits: {cpu: 500m}}";
    let owner = Owner::with((&namespace, &api), Kind::Deployment, (2, 2), Fields::Pod(whole));
    let case = Case { namespace: &namespace, owner: &owner };
    let of = |cpu: &str| {
        let fields = format!("/side:v1', resources: {{requests: {{cpu: {cpu}, memory: 16Mi}}}}}}");
        owner.manifest.replace("/side:v1'}", &fields)
    };
    // Containers that ask for nothing get requests, and the pod, which asked for its limit, asks for less.
    let reported = case.manifest(&["apply", "--yes"], &of("20m"), 0);
    assert!(reported.contains("2 pods as a whole. Restarted as planned: nothing"), "{reported}");
    let requests =
        || -> Vec<Value> { owner.pods().iter().map(|pod| pod["spec"]["resources"]["requests"].clone()).collect() };
    assert_eq!(requests(), vec![json!({"cpu": "40m", "memory": "32Mi"}); 2]);
    case.is_as_it_began();
    owner.wait_settled();
    let plan = case.manifest(&["plan"], &of("300m"), 0);
    assert!(
        plan.contains("RequestAboveLimit: spec.resources.requests.cpu would be 600m, above the pod's limit of 500m"),
        "{plan}"
    );
    case.manifest(&["apply", "--yes"], &of("30m"), 0);
    assert_eq!(requests(), vec![json!({"cpu": "60m", "memory": "32Mi"}); 2]);
    case.is_as_it_began();
    owner.wait_settled();
    case.inplace(&["undo", "deployment/web", "--yes"]);
    assert_eq!(requests(), vec![json!({"cpu": "40m", "memory": "32Mi"}); 2]);
    case.is_as_it_began();
}

/// A container without a limit of its own has the pod's: the same written into it restarts nothing, whatever its policy; another
/// one does.
#[test]
fn a_limit_that_a_container_has_from_its_pod_restarts_nothing() {
    let (namespace, api) = (Namespace::new("whole-same-limit"), Api::open());
    let owner = Owner::with((&namespace, &api), Kind::Deployment, (2, 1), Fields::Pod(BEFORE));
    let case = Case { namespace: &namespace, owner: &owner };
    let with = |resources: &str| {
        let policy = "resizePolicy: [{resourceName: memory, restartPolicy: RestartContainer}]";
        owner.manifest.replace("/side:v1'}", &format!("/side:v1', {policy}, resources: {{{resources}}}}}"))
    };
    let of = |limit: &str| with(&format!("requests: {{memory: 16Mi}}, limits: {{memory: {limit}}}"));
    namespace.apply(&with("requests: {memory: 16Mi}"));
    namespace.kubectl(&["rollout", "status", "deployment/web", "--timeout=60s"]);
    owner.wait_settled();
    let before = running(&owner.pods());
    let reported = case.manifest(&["apply", "--yes"], &of("64Mi"), 0);
    assert!(
        reported.contains("none of which goes down") && reported.contains("Restarted as planned: nothing"),
        "{reported}"
    );
    assert_eq!(running(&owner.pods()), before);
    owner.wait_settled();
    let reported = case.manifest(&["apply", "--yes"], &of("48Mi"), 0);
    assert!(reported.contains("Restarted as planned: c1 in 2 pods; nothing else restarted"), "{reported}");
}

/// A resize of pods alone is noted on them and taken back by `undo`; what somebody has resized by hand is shown by `status` and
/// brought back by the manifest.
#[test]
fn what_was_resized_in_pods_alone_is_taken_back() {
    let namespace = Namespace::new("whole-pods-only");
    let api = Api::open();
    let owner = Owner::with((&namespace, &api), Kind::Deployment, (2, 1), Fields::Pod(BEFORE));
    let (case, reference) = (Case { namespace: &namespace, owner: &owner }, owner.reference());
    case.manifest(&["apply", "--yes", "--pods-only"], &owner.manifest.replace(BEFORE, AFTER), 0);
    let cpu = || -> Vec<Value> {
        owner.pods().iter().map(|pod| pod["spec"]["resources"]["requests"]["cpu"].clone()).collect()
    };
    assert_eq!(cpu(), vec![json!("70m"); 2]);
    let reported = case.inplace(&["undo", &reference, "--yes"]);
    assert!(reported.contains("Resized: 2 pods as a whole."), "{reported}");
    case.has(("50m", "500m"), (32, 64));
    let patch = r#"{"spec":{"resources":{"requests":{"cpu":"66m"}}}}"#;
    namespace.kubectl(&["patch", "pod", name(&owner.pods()[0]), "--subresource", "resize", "-p", patch]);
    let status = case.inplace(&["status", &reference]);
    assert!(status.contains("requests.cpu of the pod 66m, the template says 50m"), "{status}");
    case.manifest(&["apply", "--yes"], &owner.manifest, 0);
    case.has(("50m", "500m"), (32, 64));
    case.is_as_it_began();
}

/// The overhead of a pod's RuntimeClass is added to what its kubelet reports.
#[test]
fn what_a_runtime_class_costs_comes_on_top() {
    let namespace = Namespace::new("whole-overhead");
    let api = Api::open();
    let class = namespace.name();
    namespace.apply(&format!(
        "{{apiVersion: node.k8s.io/v1, kind: RuntimeClass, metadata: {{name: {class}}}, handler: runc, \
         overhead: {{podFixed: {{cpu: 30m, memory: 20Mi}}}}}}"
    ));
    let fields = format!("runtimeClassName: {class}\n      {BEFORE}");
    let owner = Owner::with((&namespace, &api), Kind::Deployment, (2, 1), Fields::Pod(&fields));
    let case = Case { namespace: &namespace, owner: &owner };
    let reported = case.manifest(&["apply", "--yes"], &owner.manifest.replace(BEFORE, AFTER), 0);
    assert!(reported.contains("Resized: 2 pods as a whole. Restarted as planned: nothing"), "{reported}");
    for pod in owner.pods() {
        let status = &pod["status"];
        assert_eq!(status["allocatedResources"], json!({"cpu": "100m", "memory": "60Mi"}), "{}", name(&pod));
        assert_eq!(status["resources"]["limits"], json!({"cpu": "630m", "memory": "100Mi"}), "{}", name(&pod));
        assert_eq!(memory_in_cgroup(&pod), Some((100 * 1024 * 1024).to_string()), "{}", name(&pod));
    }
    case.is_as_it_began();
    namespace.kubectl(&["delete", "runtimeclass", class]);
}
