//! cpu and memory on the real cluster: the same pods, the same containers, and template, revision, pods, kubelet and cgroup
//! files say the same.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::support::{
    Api, Fields, Gate, Kind, Moment, Namespace, Owner, Random, container_status, name, running, samples,
};

/// Resizes in a row; `RESIZES=1000` for as many.
const RESIZES: usize = 8;

const RESOURCES: &str = "resources: {requests: {cpu: 10m, memory: 16Mi}, limits: {cpu: 500m, memory: 64Mi}}";

/// The file of a container's cgroup that holds its limit of memory, in bytes: version 1 or 2.
fn memory_in_cgroup(pod: &Value) -> Option<String> {
    let uid = pod["metadata"]["uid"].as_str()?.to_owned();
    let id = pod["status"]["containerStatuses"][0]["containerID"].as_str()?.rsplit('/').next()?.to_owned();
    let mut folders = vec![PathBuf::from("/sys/fs/cgroup")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
            if !path.is_dir() || path.is_symlink() {
                continue;
            }
            if name.contains(&id) {
                let read =
                    |file: &str| std::fs::read_to_string(path.join(file)).ok().map(|text| text.trim().to_owned());
                if let Some(limit) = read("memory.max").or_else(|| read("memory.limit_in_bytes")) {
                    return Some(limit);
                }
            }
            let is_on_the_way = ["kubepods", "memory", "burstable", "guaranteed", &uid, &uid.replace('-', "_")]
                .iter()
                .any(|part| name.contains(part));
            if is_on_the_way || path.parent() == Some(&PathBuf::from("/sys/fs/cgroup")) {
                folders.push(path);
            }
        }
    }
    None
}

/// A little less than `cpus` cpus, which other pods of the node do not leave.
fn less_a_bit(cpus: &str) -> String {
    format!("{}m", cpus.parse::<u64>().unwrap_or(2) * 1000 - 50)
}

struct Case<'a> {
    namespace: &'a Namespace,
    owner: &'a Owner<'a>,
}

impl Case<'_> {
    /// Template, pods, kubelet and cgroup files say the same, and nothing restarted.
    fn has(&self, cpu: &str, memory_request: &str, mebibytes: u64) {
        let wanted = json!({"requests": {"cpu": cpu, "memory": memory_request},
            "limits": {"cpu": "500m", "memory": format!("{mebibytes}Mi")}});
        assert_eq!(self.owner.object()["spec"]["template"]["spec"]["containers"][0]["resources"], wanted);
        let pods = self.owner.pods();
        for pod in &pods {
            assert_eq!(pod["spec"]["containers"][0]["resources"], wanted, "{}", name(pod));
            assert_eq!(pod["status"]["containerStatuses"][0]["resources"], wanted, "{}", name(pod));
            assert_eq!(
                pod["status"]["containerStatuses"][0]["allocatedResources"],
                wanted["requests"],
                "{}",
                name(pod)
            );
            let bytes = (mebibytes * 1024 * 1024).to_string();
            assert_eq!(memory_in_cgroup(pod), Some(bytes), "{}", name(pod));
        }
        assert_eq!(running(&pods), running(&self.owner.before), "the same containers");
    }

    /// What kubectl does with it next starts nothing wrong.
    fn behaves_as_after_an_ordinary_rollout(&self, kind: Kind, mebibytes: u64) {
        let (namespace, owner, reference) = (self.namespace, self.owner, self.owner.reference());
        let limits = |mebibytes: u64, pods: &[Value]| {
            let limit = format!("{mebibytes}Mi");
            assert!(
                pods.iter().all(|pod| pod["spec"]["containers"][0]["resources"]["limits"]["memory"] == limit.as_str())
            );
        };
        // The manifest that says the same, applied again.
        let mut manifest = owner.object();
        manifest["metadata"] = json!({"name": "web"});
        namespace.apply(&manifest.to_string());
        owner.wait_settled();
        assert_eq!(running(&owner.pods()), running(&owner.before), "the same containers after kubectl apply");
        // Pods that are made later have it from the template.
        let mut count = owner.before.len();
        if kind != Kind::DaemonSet {
            count += 1;
            namespace.kubectl(&["scale", &reference, &format!("--replicas={count}")]);
            limits(mebibytes, &owner.wait_ready(count));
        }
        namespace.kubectl(&["delete", "pod", name(&owner.pods()[0]), "--wait=true"]);
        limits(mebibytes, &owner.wait_ready(count));
        // Back to the revision before, by the controller.
        namespace.kubectl(&["rollout", "undo", &reference]);
        namespace.kubectl(&["rollout", "status", &reference, "--timeout=60s"]);
        owner.wait_settled();
        limits(mebibytes - 1, &owner.wait_ready(count));
        let status = self.inplace(&["status", &reference], 0);
        assert!(status.contains(&format!("{count} ready")) && !status.contains("rollout in progress"), "{status}");
    }

    fn inplace(&self, arguments: &[&str], code: i32) -> String {
        let output = self.namespace.inplace(arguments);
        assert_eq!(output.code, code, "{output:#?}");
        output.stdout + &output.stderr
    }
}

fn many_in_a_row(kind: Kind, name: &str) {
    let namespace = Namespace::new(name);
    let api = Api::open();
    let owner = Owner::with((&namespace, &api), kind, (3, 2), Fields::Container(RESOURCES));
    owner.wait_settled();
    let (case, reference) = (Case { namespace: &namespace, owner: &owner }, owner.reference());
    let count = std::env::var("RESIZES").ok().and_then(|count| count.parse().ok()).unwrap_or(RESIZES);
    let mut random = Random::new(7);
    let mut mebibytes = 64;
    for turn in 0..count {
        let (cpu, memory) = (format!("{}m", 11 + (turn * 7 + random.below(5)) % 40), format!("{}Mi", 17 + turn % 13));
        // A limit is lowered only as far as its use allows, which the kubelet may not know yet.
        // The server writes 1024Mi as 1Gi.
        mebibytes += if mebibytes == 1023 { 2 } else { 1 };
        let (requests, limits) = (format!("cpu={cpu},memory={memory}"), format!("memory={mebibytes}Mi"));
        let line = ["apply", &reference, "-c", "c1", "--requests", &requests, "--limits", &limits, "--yes"];
        let reported = case.inplace(&line, 0);
        assert!(
            reported.contains("Restarted as planned: nothing; nothing else restarted; pods replaced: 0."),
            "{reported}"
        );
        case.has(&cpu, &memory, mebibytes);
        if turn % 50 == 0 {
            namespace.kubectl(&["rollout", "status", &reference, "--timeout=30s"]);
            owner.wait_settled();
        }
    }
    case.behaves_as_after_an_ordinary_rollout(kind, mebibytes);
}

#[test]
fn a_deployment_is_resized_and_nothing_restarts() {
    many_in_a_row(Kind::Deployment, "resize-deployment");
}

#[test]
fn a_stateful_set_is_resized_and_nothing_restarts() {
    many_in_a_row(Kind::StatefulSet, "resize-stateful-set");
}

#[test]
fn a_daemon_set_is_resized_and_nothing_restarts() {
    many_in_a_row(Kind::DaemonSet, "resize-daemon-set");
}

/// What the node puts off ends after the timeout with the kubelet's words, is not taken for done by `resume`, and is taken
/// back by `abort`; more than the node has is refused before anything is written.
#[test]
fn what_does_not_fit_is_refused_or_put_off_and_is_taken_back() {
    for (kind, name) in [
        (Kind::Deployment, "resize-deferred-deployment"),
        (Kind::StatefulSet, "resize-deferred-stateful-set"),
        (Kind::DaemonSet, "resize-deferred-daemon-set"),
    ] {
        let namespace = Namespace::new(name);
        let api = Api::open();
        let resources = "resources: {requests: {cpu: 10m, memory: 16Mi}, limits: {memory: 64Mi}}";
        let owner = Owner::with((&namespace, &api), kind, (2, 1), Fields::Container(resources));
        owner.wait_settled();
        let (case, reference) = (Case { namespace: &namespace, owner: &owner }, owner.reference());
        // So that the node has less left than is asked for, whatever else runs there.
        namespace.apply(&samples::with_app_fields(&samples::pod("filler"), "resources: {requests: {cpu: 100m}}"));
        namespace.kubectl(&["wait", "--for=condition=Ready", "pod/filler", "--timeout=60s"]);
        let ask = |cpu: &str, code: i32| {
            let requests = format!("cpu={cpu}");
            case.inplace(&["apply", &reference, "--requests", &requests, "--yes", "--timeout", "5s"], code)
        };
        let refused = ask("9999", 3);
        assert!(refused.contains("AdmissionRefused") && refused.contains("enough allocatable resources"), "{refused}");
        assert_eq!(owner.pods()[0]["spec"]["containers"][0]["resources"]["requests"]["cpu"], "10m");
        // All that the node has: the other pods there have some of it.
        let late = ask(
            &api.get("/api/v1/nodes/node-1")["status"]["allocatable"]["cpu"]
                .as_str()
                .map(less_a_bit)
                .unwrap_or_default(),
            5,
        );
        assert!(late.contains("resize of c1 requests.cpu deferred by node node-1"), "{late}");
        let again = case.inplace(&["resume", &reference, "--yes", "--timeout", "3s"], 5);
        assert!(again.contains("resize of c1 requests.cpu deferred by node node-1"), "{again}");
        let status = case.inplace(&["status", &reference], 0);
        assert!(status.contains("resize deferred by the node"), "{status}");
        case.inplace(&["abort", &reference, "--yes"], 0);
        owner.wait_settled();
        assert_eq!(running(&owner.pods()), running(&owner.before));
        let cpus = || -> Vec<Value> {
            let of = |pod: &Value| pod["spec"]["containers"][0]["resources"]["requests"]["cpu"].clone();
            owner.pods().iter().map(of).collect()
        };
        assert!(cpus().iter().all(|cpu| cpu == "10m"), "{:?}", cpus());
        let cpu = api.get("/api/v1/nodes/node-1")["status"]["allocatable"]["cpu"]
            .as_str()
            .map(less_a_bit)
            .unwrap_or_default();
        let requests = format!("cpu={cpu}");
        let with = |deferred: &str| {
            case.inplace(&["apply", &reference, "--requests", &requests, "--yes", "--deferred", deferred], 5)
        };
        let undone = with("undo");
        assert!(undone.contains("taking") && undone.contains("back (--deferred=undo)"), "{undone}");
        assert!(cpus().iter().all(|cpu| cpu == "10m"), "{:?}", cpus());
        let left = with("leave");
        assert!(left.contains("resize of c1 requests.cpu left to the kubelet of node node-1"), "{left}");
        // The controller is at rest, and holds no pod for an old one.
        owner.wait_settled();
        assert!(cpus().iter().all(|asked| *asked == cpu.as_str()), "{:?}", cpus());
        case.inplace(&["undo", &reference, "--yes"], 0);
        owner.wait_settled();
        assert_eq!(running(&owner.pods()), running(&owner.before));
        assert!(cpus().iter().all(|cpu| cpu == "10m"), "{:?}", cpus());
    }
}

const RESTARTS: &str = "readinessProbe: {exec: {command: [sh, -c, 'exit 0']}, periodSeconds: 1}, \
    resources: {requests: {cpu: 10m, memory: 16Mi}, limits: {cpu: 500m, memory: 64Mi}}, \
    resizePolicy: [{resourceName: memory, restartPolicy: RestartContainer}]";

/// By its `resizePolicy` a container restarts for its resize, once; and with an image in the same change twice, whichever
/// is asked for first. The other containers run on, and the pods are the same.
#[test]
fn a_container_restarts_for_its_resize_by_its_policy_and_with_an_image_twice() {
    let kinds = [
        (Kind::Deployment, "resize-restarts-deployment"),
        (Kind::StatefulSet, "resize-restarts-stateful-set"),
        (Kind::DaemonSet, "resize-restarts-daemon-set"),
    ];
    for (kind, name) in kinds {
        let namespace = Namespace::new(name);
        let api = Api::open();
        let owner = Owner::with((&namespace, &api), kind, (2, 2), Fields::Container(RESTARTS));
        owner.wait_settled();
        let (case, reference) = (Case { namespace: &namespace, owner: &owner }, owner.reference());
        let counts = || -> Vec<(Value, Value)> {
            let count = |pod: &Value, name: &str| container_status(pod, name)["restartCount"].clone();
            owner.pods().iter().map(|pod| (count(pod, "c1"), count(pod, "c2"))).collect()
        };
        let all = |first: u64| vec![(json!(first), json!(0)); owner.before.len()];
        let restarted = format!("Restarted as planned: c1 in {} pod", owner.before.len());
        let plan = case.inplace(&["plan", &reference, "-c", "c1", "--limits", "memory=80Mi"], 0);
        assert!(plan.contains("c1 restarts in place"), "{plan}");
        // A request alone restarts it too, though no file of the cgroup shows it.
        let reported = case.inplace(&["apply", &reference, "-c", "c1", "--requests", "memory=17Mi", "--yes"], 0);
        assert!(
            reported.contains(&restarted) && reported.contains("nothing else restarted; pods replaced: 0"),
            "{reported}"
        );
        assert_eq!(counts(), all(1));
        let image = format!("c1={}/side:v2", crate::support::registry());
        let both = ["apply", &reference, &image, "-c", "c1", "--limits", "memory=80Mi", "--yes"];
        let plan = case.inplace(&["plan", &reference, &image, "-c", "c1", "--limits", "memory=80Mi"], 0);
        assert!(plan.contains("restarts in place, twice"), "{plan}");
        let reported = case.inplace(&both, 0);
        let twice = format!("({} of them twice)", owner.before.len());
        assert!(reported.contains(&restarted) && reported.contains(&twice), "{reported}");
        assert_eq!(counts(), all(3));
        assert!(owner.pods().iter().all(|pod| memory_in_cgroup(pod) == Some((80 * 1024 * 1024).to_string())));
        owner.wait_settled();
        case.inplace(&["undo", &reference, "--yes"], 0);
        let back = owner.pods().iter().all(|pod| {
            container_status(pod, "c1")["resources"]["limits"]["memory"] == "64Mi"
                && pod["spec"]["containers"][0]["image"].as_str().is_some_and(|image| image.ends_with("/side:v1"))
        });
        assert!(back, "{:?}", owner.pods());
        owner.assert_same_pods("after undo");
        owner.wait_settled();
    }
}

/// A resize of pods alone is noted on them: `undo` takes it back, and a manifest that says what the template says brings back
/// what somebody has resized in the pods, with kubectl as well.
#[test]
fn what_was_resized_in_pods_alone_is_taken_back_by_undo_and_by_the_manifest() {
    let namespace = Namespace::new("resize-pods-only");
    let api = Api::open();
    let owner = Owner::with((&namespace, &api), Kind::Deployment, (2, 2), Fields::Container(RESOURCES));
    owner.wait_settled();
    let (case, reference) = (Case { namespace: &namespace, owner: &owner }, owner.reference());
    let cpu = || -> Vec<Value> {
        let of = |pod: &Value| pod["spec"]["containers"][0]["resources"]["requests"]["cpu"].clone();
        owner.pods().iter().map(of).collect()
    };
    case.inplace(&["apply", &reference, "-c", "c1", "--requests", "cpu=21m", "--pods-only", "--yes"], 0);
    assert_eq!(cpu(), [json!("21m"), json!("21m")]);
    let history = case.inplace(&["history", &reference], 0);
    assert!(history.contains("c1 requests.cpu"), "{history}");
    let reported = case.inplace(&["undo", &reference, "--yes"], 0);
    assert!(reported.contains("Resized: c1 in 2 pods. Restarted as planned: nothing"), "{reported}");
    assert_eq!(cpu(), [json!("10m"), json!("10m")]);
    let (pods, manifest) = (owner.pods(), owner.object().to_string());
    let patch = r#"{"spec":{"containers":[{"name":"c1","resources":{"requests":{"cpu":"31m"}}}]}}"#;
    namespace.kubectl(&["patch", "pod", name(&pods[0]), "--subresource", "resize", "-p", patch]);
    assert!(cpu().contains(&json!("31m")));
    let applied = namespace.inplace_input(&["apply", "-f", "-", "--yes"], &manifest);
    assert_eq!(applied.code, 0, "{applied:#?}");
    assert_eq!(cpu(), [json!("10m"), json!("10m")]);
    assert_eq!(running(&owner.pods()), running(&owner.before));
    owner.wait_settled();
}

/// A run that is killed at any of its writes, on either side of it, while a container restarts for its resize: `resume`
/// finishes it, `abort` takes it back, and nothing else restarts. Each time with another container of the same pods: the
/// kubelet holds back one that restarts again and again.
fn killed_at_every_write(kind: Kind, name: &str, (moment, verb): (Moment, &str)) {
    const MOST_WRITES: usize = 11;
    let fields = "resources: {requests: {cpu: 1m, memory: 4Mi}, limits: {memory: 64Mi}}, \
        resizePolicy: [{resourceName: memory, restartPolicy: RestartContainer}]";
    let namespace = Namespace::new(name);
    let gate = Gate::open();
    let owner = Owner::with((&namespace, &gate.api), kind, (2, MOST_WRITES), Fields::Containers(fields));
    let reference = owner.reference();
    for number in 1..=MOST_WRITES {
        let container = format!("c{number}");
        gate.stop_at(number, moment);
        let line =
            ["apply", &reference, "-c", &container, "--limits", "memory=65Mi", "--yes", "--min-ready-seconds", "0"];
        let mut running = namespace.inplace_spawn(&[line.as_slice(), &gate.flags()].concat());
        let Some(write) = gate.held(&mut running) else {
            assert_eq!(running.wait().code, 0);
            assert!(number > 4, "only {number} writes: {:?}", gate.writes());
            return;
        };
        running.signal("KILL");
        assert_eq!(running.wait().code, 137);
        gate.lose();
        let finished = namespace.inplace_after_a_kill(&[verb, &reference, "--yes", "--min-ready-seconds", "0"]);
        assert_eq!(finished.code, 0, "{finished:#?}");
        let reported = finished.stdout + &finished.stderr;
        let context = format!("killed {moment:?} write {number}, {write}; {verb}: {reported}");
        owner.wait_settled_or(&context);
        owner.assert_same_pods(&context);
        // Before its first write there is nothing; where its end was written, abort finds nothing to take back.
        let is_new = match (verb, number, moment) {
            (_, 1, Moment::Before) => false,
            ("resume", _, _) => true,
            _ => !reported.contains("Rolled back:"),
        };
        let expected = if is_new { "65Mi" } else { "64Mi" };
        let template = &owner.object()["spec"]["template"]["spec"]["containers"][number - 1];
        assert_eq!(template["resources"]["limits"]["memory"], expected, "{context}");
        for pod in owner.pods() {
            assert_eq!(container_status(&pod, &container)["resources"]["limits"]["memory"], expected, "{context}");
            let later = (number + 1..=MOST_WRITES).map(|later| format!("c{later}"));
            let others = later.filter(|other| container_status(&pod, other)["restartCount"] != 0);
            assert_eq!(others.collect::<Vec<_>>(), Vec::<String>::new(), "{context}");
        }
    }
    panic!("{MOST_WRITES} writes and no end: {:?}", gate.writes());
}

fn killed_at_every_write_on_either_side(kind: Kind, name: &str) {
    for (moment, side) in [(Moment::Before, "b"), (Moment::After, "a")] {
        for verb in ["resume", "abort"] {
            killed_at_every_write(kind, &format!("{name}-{verb}-{side}"), (moment, verb));
        }
    }
}

#[test]
fn a_deployment_whose_container_restarts_for_its_resize_is_killed_at_every_write() {
    killed_at_every_write_on_either_side(Kind::Deployment, "rkill-d");
}

#[test]
fn a_stateful_set_whose_container_restarts_for_its_resize_is_killed_at_every_write() {
    killed_at_every_write_on_either_side(Kind::StatefulSet, "rkill-s");
}

#[test]
fn a_daemon_set_whose_container_restarts_for_its_resize_is_killed_at_every_write() {
    killed_at_every_write_on_either_side(Kind::DaemonSet, "rkill-ds");
}

/// The server sets a request that neither template nor change names from its limit, in new pods and in the resized ones.
#[test]
fn a_request_that_is_left_to_its_limit_follows_it() {
    let namespace = Namespace::new("resize-limit-alone");
    let api = Api::open();
    let limit = Fields::Container("resources: {limits: {memory: 64Mi}}");
    let owner = Owner::with((&namespace, &api), Kind::Deployment, (2, 2), limit);
    owner.wait_settled();
    let (case, reference) = (Case { namespace: &namespace, owner: &owner }, owner.reference());
    case.inplace(&["apply", &reference, "-c", "c1", "--limits", "memory=96Mi", "--yes"], 0);
    let all = json!({"limits": {"memory": "96Mi"}, "requests": {"memory": "96Mi"}});
    assert!(owner.pods().iter().all(|pod| pod["spec"]["containers"][0]["resources"] == all), "{:?}", owner.pods());
    assert_eq!(
        owner.object()["spec"]["template"]["spec"]["containers"][0]["resources"],
        json!({"limits": all["limits"]})
    );
    let status = case.inplace(&["status", &reference, "--exit-code"], 0);
    assert!(!status.contains("the template says"), "{status}");
    case.inplace(&["undo", &reference, "--yes"], 0);
    case.inplace(&["status", &reference, "--exit-code"], 0);
    owner.wait_settled();
}

/// On 1.36 an init container that has done its work is resized, too, and nothing runs again for it.
#[test]
fn an_init_container_that_has_done_its_work_is_resized() {
    let namespace = Namespace::new("resize-init");
    let image = format!("{}/side:v1", crate::support::registry());
    let resources = json!({"requests": {"cpu": "10m", "memory": "16Mi"}, "limits": {"memory": "64Mi"}});
    let once = json!({"name": "once", "image": image, "command": ["sh", "-c", "exit 0"], "resources": resources});
    let spec = json!({"initContainers": [once], "terminationGracePeriodSeconds": 1,
        "nodeSelector": {"kubernetes.io/hostname": "node-1"},
        "containers": [{"name": "c1", "image": image, "resources": resources}]});
    let labels = json!({"app": "web"});
    namespace.apply(
        &json!({"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "web"}, "spec": {"replicas": 2,
            "serviceName": "web", "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": spec}}})
        .to_string(),
    );
    namespace.kubectl(&["rollout", "status", "sts/web", "--timeout=60s"]);
    let api = Api::open();
    let pods = || {
        let list = api.get(&format!("/api/v1/namespaces/{}/pods", namespace.name()));
        list["items"].as_array().cloned().unwrap_or_default()
    };
    let has = || -> Vec<Value> {
        let of = |pod: &Value| pod["status"]["initContainerStatuses"][0]["resources"]["requests"]["cpu"].clone();
        pods().iter().map(of).collect()
    };
    let before = running(&pods());
    let reported = namespace.inplace(&["apply", "sts/web", "-c", "once", "--requests", "cpu=20m", "--yes"]);
    assert_eq!(reported.code, 0, "{reported:#?}");
    let line = "Resized: once in 2 pods. Restarted as planned: nothing; nothing else restarted; pods replaced: 0.";
    assert!(reported.stdout.contains(line), "{reported:#?}");
    assert_eq!((has(), running(&pods())), (vec![json!("20m"); 2], before.clone()));
    assert_eq!(namespace.inplace(&["undo", "sts/web", "--yes"]).code, 0);
    assert_eq!((has(), running(&pods())), (vec![json!("10m"); 2], before));
}
