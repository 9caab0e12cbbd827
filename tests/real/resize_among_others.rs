//! A resize among others: a run that is killed at any of its writes, a client that sets cpu in a pod as an autoscaler would,
//! one that edits the template, and an init container that crashes all along. Nothing of it restarts a container.

use serde_json::{Value, json};

use crate::support::{Api, Fields, Gate, Kind, Moment, Namespace, Owner, container_status, name, poll, running};

/// More writes than any run here makes.
const MOST_WRITES: usize = 11;

pub(crate) const RESOURCES: &str = "resources: {requests: {cpu: 10m, memory: 16Mi}, limits: {memory: 64Mi}}";

fn of_template(owner: &Owner<'_>) -> String {
    let cpu = &owner.object()["spec"]["template"]["spec"]["containers"][0]["resources"]["requests"]["cpu"];
    cpu.as_str().unwrap_or_default().to_owned()
}

/// What each pod asks for, what the kubelet has kept for it, and what it has.
fn of_pods(owner: &Owner<'_>) -> Vec<[Value; 3]> {
    let of = |pod: &Value| {
        let status = container_status(pod, "c1");
        let asked = pod["spec"]["containers"][0]["resources"]["requests"]["cpu"].clone();
        [asked, status["allocatedResources"]["cpu"].clone(), status["resources"]["requests"]["cpu"].clone()]
    };
    owner.pods().iter().map(of).collect()
}

/// Template, pods and kubelet say the same.
pub(crate) fn is_whole(owner: &Owner<'_>, cpu: &str, context: &str) {
    owner.wait_settled_or(context);
    assert_eq!(of_template(owner), cpu, "{context}");
    let wanted = vec![[json!(cpu), json!(cpu), json!(cpu)]; owner.pods().len()];
    assert!(poll(|| (of_pods(owner) == wanted).then_some(())).is_some(), "{:?}: {context}", of_pods(owner));
}

pub(crate) fn same_containers(owner: &Owner<'_>, context: &str) {
    assert_eq!(running(&owner.pods()), running(&owner.before), "{context}");
}

/// A cpu that the kernel can represent, and a total that fits the node.
fn cpu_of(turn: usize) -> String {
    format!("{}m", 20 + turn)
}

/// Starts a resize and has it held at a write; `None` where it has ended before, and well.
fn held(
    namespace: &Namespace,
    (gate, owner): (&Gate, &Owner<'_>),
    (number, moment): (usize, Moment),
) -> Option<(crate::support::Running, String)> {
    gate.stop_at(number, moment);
    let requests = format!("cpu={}", cpu_of(number));
    let reference = owner.reference();
    let line = ["apply", &reference, "-c", "c1", "--requests", &requests, "--yes", "--timeout", "40s"];
    let mut running = namespace.inplace_spawn(&[line.as_slice(), &gate.flags()].concat());
    if let Some(write) = gate.held(&mut running) {
        return Some((running, write));
    }
    let output = running.wait();
    assert_eq!(output.code, 0, "{output:#?}");
    assert!(number > 3, "only {number} writes: {:?}", gate.writes());
    is_whole(owner, &cpu_of(number), "nobody came between");
    None
}

fn killed_at_every_write(kind: Kind, name: &str, (moment, verb): (Moment, &str)) {
    let (namespace, gate) = (Namespace::new(name), Gate::open());
    let owner = Owner::with((&namespace, &gate.api), kind, (2, 1), Fields::Container(RESOURCES));
    for number in 1..=MOST_WRITES {
        let before = of_template(&owner);
        let Some((running, write)) = held(&namespace, (&gate, &owner), (number, moment)) else {
            same_containers(&owner, "in the end");
            return;
        };
        running.signal("KILL");
        assert_eq!(running.wait().code, 137);
        gate.lose();
        let reported = namespace.inplace(&[verb, &owner.reference(), "--yes"]);
        let context = format!("killed {moment:?} write {number}, {write}; {verb}: {reported:#?}");
        assert_eq!(reported.code, 0, "{context}");
        // Before its first write there is nothing; where its end was written, abort finds nothing to take back.
        let is_new = match (verb, number, moment) {
            (_, 1, Moment::Before) => false,
            ("resume", _, _) => true,
            _ => !reported.stdout.contains("Rolled back:"),
        };
        let expected = if is_new { cpu_of(number) } else { before };
        is_whole(&owner, &expected, &context);
        same_containers(&owner, &context);
    }
    panic!("{MOST_WRITES} writes and no end: {:?}", gate.writes());
}

fn killed_on_either_side(kind: Kind, name: &str) {
    for (moment, side) in [(Moment::Before, "b"), (Moment::After, "a")] {
        for verb in ["resume", "abort"] {
            killed_at_every_write(kind, &format!("{name}-{verb}-{side}"), (moment, verb));
        }
    }
}

/// Before each write of a resize somebody sets cpu in one of its pods: what the plan did not show is not overwritten, and
/// one command leads out.
fn resized_by_another(kind: Kind, name: &str) {
    let (namespace, gate) = (Namespace::new(name), Gate::open());
    let owner = Owner::with((&namespace, &gate.api), kind, (2, 1), Fields::Container(RESOURCES));
    for number in 1..=MOST_WRITES {
        let before = of_template(&owner);
        let Some((running, write)) = held(&namespace, (&gate, &owner), (number, Moment::Before)) else {
            same_containers(&owner, "in the end");
            return;
        };
        let theirs = format!("{}m", 50 + number);
        let pods = owner.pods();
        let patch = json!({"spec": {"containers": [{"name": "c1", "resources": {"requests": {"cpu": theirs}}}]}});
        let pod = crate::support::name(&pods[number % pods.len()]);
        namespace.kubectl(&["patch", "pod", pod, "--subresource", "resize", "-p", &patch.to_string()]);
        gate.releasing();
        let ended = running.wait();
        let context = format!("cpu of {pod} set before write {number}, {write}: {ended:#?}");
        let asked = cpu_of(number);
        if ended.code == 0 {
            // It came after the pod had been proven, or before the pod had been visited.
            let requests = format!("cpu={asked}");
            let again = namespace.inplace(&["apply", &owner.reference(), "-c", "c1", "--requests", &requests, "--yes"]);
            assert_eq!(again.code, 0, "{again:#?}: {context}");
            is_whole(&owner, &asked, &context);
        } else {
            assert_eq!(ended.code, 6, "{context}");
            assert!(ended.stdout.contains("was changed by another client"), "{context}");
            let abort = namespace.inplace(&["abort", &owner.reference(), "--yes"]);
            assert_eq!(abort.code, 0, "{abort:#?}: {context}");
            is_whole(&owner, &before, &format!("{abort:#?}: {context}"));
        }
        same_containers(&owner, &context);
    }
    panic!("{MOST_WRITES} writes and no end: {:?}", gate.writes());
}

/// What the program prints before the command that lets a controller replace the pods.
const LET_IT_ROLL_OUT: &str = "Let its controller go, which may then replace pods: ";

/// Before each write of a resize somebody sets other resources in the template: theirs is rolled out by the controller once
/// somebody lets it, and nothing of the resize is left.
fn template_edited(kind: Kind, name: &str) {
    let (namespace, gate) = (Namespace::new(name), Gate::open());
    let owner = Owner::with((&namespace, &gate.api), kind, (1, 1), Fields::Container(RESOURCES));
    let reference = owner.reference();
    for number in 1..=MOST_WRITES {
        let Some((running, write)) = held(&namespace, (&gate, &owner), (number, Moment::Before)) else { return };
        let requests = format!("--requests=cpu={}m,memory=16Mi", 50 + number);
        let said = namespace.try_kubectl(&["set", "resources", &reference, "-c", "c1", &requests], "");
        gate.releasing();
        let ended = running.wait();
        let context = format!("{said:?} before write {number}, {write}: {ended:#?}");
        assert!([0, 6].contains(&ended.code), "{context}");
        if let Some(release) = ended.stderr.lines().find_map(|line| line.strip_prefix(LET_IT_ROLL_OUT)) {
            namespace.paste(&format!("{release} --yes"));
        }
        namespace.kubectl(&["rollout", "status", &reference, "--timeout=60s"]);
        is_whole(&owner, &format!("{}m", 50 + number), &context);
    }
    panic!("{MOST_WRITES} writes and no end: {:?}", gate.writes());
}

macro_rules! among_others {
    ($($test:ident: $does:ident, $kind:ident;)*) => {$(
        #[test]
        fn $test() {
            $does(Kind::$kind, &stringify!($test).replace('_', "-"));
        }
    )*};
}

among_others! {
    resized_deployment_killed: killed_on_either_side, Deployment;
    resized_stateful_set_killed: killed_on_either_side, StatefulSet;
    resized_daemon_set_killed: killed_on_either_side, DaemonSet;
    resized_deployment_and_its_pods: resized_by_another, Deployment;
    resized_stateful_set_and_its_pods: resized_by_another, StatefulSet;
    resized_daemon_set_and_its_pods: resized_by_another, DaemonSet;
    resized_deployment_and_its_template: template_edited, Deployment;
    resized_stateful_set_and_its_template: template_edited, StatefulSet;
    resized_daemon_set_and_its_template: template_edited, DaemonSet;
}

/// The init container and the one that waits for it are resized, and taken back, while it crashes again and again; so is another
/// image.
#[test]
fn what_waits_for_an_init_container_that_crashes_is_resized_and_taken_back() {
    let (namespace, api) = (Namespace::new("resize-crashing"), Api::open());
    let image = format!("{}/side:v1", crate::support::registry());
    let resources = json!({"requests": {"cpu": "10m", "memory": "16Mi"}, "limits": {"memory": "64Mi"}});
    let setup = json!({"name": "setup", "image": image, "command": ["sh", "-c", "exit 3"], "resources": resources});
    let app = json!({"name": "app", "image": image, "resources": resources,
        "resizePolicy": [{"resourceName": "memory", "restartPolicy": "RestartContainer"}]});
    let spec = json!({"initContainers": [setup], "containers": [app], "terminationGracePeriodSeconds": 1,
        "nodeSelector": {"kubernetes.io/hostname": "node-1"}});
    let labels = json!({"app": "web"});
    let owner = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": {
        "replicas": 2, "selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": spec}}});
    namespace.apply(&owner.to_string());
    let pods = || {
        let list = api.get(&format!("/api/v1/namespaces/{}/pods", namespace.name()));
        list["items"].as_array().cloned().unwrap_or_default()
    };
    let crashed = |pod: &Value| pod["status"]["initContainerStatuses"][0]["restartCount"].as_u64() > Some(0);
    poll(|| (pods().len() == 2 && pods().iter().all(crashed)).then_some(())).expect("it crashes");
    let names = || -> Vec<String> { pods().iter().map(|pod| name(pod).to_owned()).collect() };
    let before = names();
    for container in ["setup", "app"] {
        let asked = ["-c", container, "--requests", "cpu=20m", "--limits", "memory=80Mi"];
        for (verb, more) in [("apply", asked.as_slice()), ("undo", &[])] {
            let reported = namespace.inplace(&[&[verb, "deployment/web", "--yes", "--timeout", "20s"], more].concat());
            assert_eq!(reported.code, 0, "{container}: {reported:#?}");
            let resized = format!("Resized: {container} in 2 pods. Restarted as planned: nothing");
            assert!(reported.stdout.contains(&resized), "{container}: {reported:#?}");
            let waits = reported.stdout.matches("  done, but app is not ready (PodInitializing)\n").count();
            assert_eq!(waits, 2, "{container}: {reported:#?}");
        }
    }
    // Another image has to prove itself, and cannot; to go back there is nothing to wait for.
    let image = ["apply", "deployment/web", "app=:v2", "--yes", "--pre-pull=never", "--timeout", "5s"];
    assert_eq!(namespace.inplace(&image).code, 5);
    let reported = namespace.inplace(&["abort", "deployment/web", "--yes", "--timeout", "20s"]);
    assert_eq!(reported.code, 0, "{reported:#?}");
    assert!(
        reported.stdout.contains("Rolled back:") && reported.stdout.contains("Restarted as planned: nothing"),
        "{reported:#?}"
    );
    assert_eq!(names(), before);
}

/// A container that has not begun restarts for nothing; where it begins between the plan and its pod's turn, it is one that is
/// resized and restarts, as was asked for, and has its hook and its drain.
#[test]
fn what_begins_after_the_plan_restarts_as_planned() {
    let (namespace, api) = (Namespace::new("resize-begun"), Api::open());
    let image = format!("{}/side:v1", crate::support::registry());
    let setup =
        json!({"name": "setup", "image": image, "command": ["sh", "-c", "until [ -e /tmp/go ]; do sleep 0.2; done"]});
    let app = json!({"name": "app", "image": image, "resources": {"limits": {"memory": "64Mi"}},
        "resizePolicy": [{"resourceName": "memory", "restartPolicy": "RestartContainer"}]});
    let spec = json!({"initContainers": [setup], "containers": [app], "terminationGracePeriodSeconds": 1});
    let labels = json!({"app": "web"});
    let owner = json!({"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "web"}, "spec": {
        "serviceName": "web", "replicas": 1, "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": spec}}});
    namespace.apply(&owner.to_string());
    let pod = || api.get(&format!("/api/v1/namespaces/{}/pods/web-0", namespace.name()));
    namespace.wait_pods("app=web", |pods| pods.len() == 1);
    poll(|| pod()["status"]["initContainerStatuses"][0]["state"]["running"].is_object().then_some(()))
        .expect("it waits");
    let uid = pod()["metadata"]["uid"].clone();
    let asked = ["apply", "statefulset/web", "-c", "app", "--limits", "memory=80Mi", "--yes", "--timeout", "60s"];
    // The plan has been made by the time the command lets it begin.
    let kubectl = format!("kubectl -n {} ", namespace.name());
    let begins =
        format!("{kubectl} exec web-0 -c setup -- touch /tmp/go && {kubectl} wait --for=condition=Ready pod/web-0");
    let reported = namespace.inplace(&[asked.as_slice(), &["--before-pod", &begins]].concat());
    assert_eq!(reported.code, 0, "{reported:#?}");
    assert!(reported.stdout.contains("Restarted as planned: app in 1 pod; nothing else restarted"), "{reported:#?}");
    assert_eq!(pod()["metadata"]["uid"], uid);
}
