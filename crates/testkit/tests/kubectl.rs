//! The sandbox with the kubectl on the PATH, verb by verb.

mod support;

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use support::Sandbox;

const MANIFEST: &str = "apiVersion: apps/v1
kind: Deployment
metadata: {name: api, labels: {app: api}}
spec:
  replicas: 2
  selector: {matchLabels: {app: api}}
  template:
    metadata: {labels: {app: api}}
    spec:
      containers:
      - {name: app, image: \"acme/api:v1\"}
";

fn headers(text: &str) -> Vec<&str> {
    text.lines().next().unwrap_or_default().split_whitespace().collect()
}

#[track_caller]
fn has(text: &str, wanted: &[&str]) {
    for one in wanted {
        assert!(text.contains(one), "no {one:?} in:\n{text}");
    }
}

#[test]
fn get_prints_what_there_is() {
    let Some(sandbox) = Sandbox::for_kubectl() else { return };
    let pods = sandbox.kubectl("get pods");
    assert_eq!(headers(&pods), ["NAME", "READY", "STATUS", "RESTARTS", "AGE"]);
    assert_eq!(pods.matches(" Running ").count(), 8, "{pods}");
    assert_eq!(sandbox.kubectl("get nodes --no-headers").lines().count(), 2);
    let all = sandbox.kubectl("get all -A");
    has(
        &all,
        &["pod/db-2", "service/db", "daemonset.apps/agent", "deployment.apps/web", "replicaset.apps/web-", "NAMESPACE"],
    );
    has(&sandbox.kubectl("get pods -o wide"), &["NODE", "10.244.", "node-1", "node-2"]);
    has(&sandbox.kubectl("get nodes -o wide"), &["INTERNAL-IP", "v1.36.3", "containerd://"]);
    assert_eq!(sandbox.kubectl("get pods -l app=web,serving!=no --no-headers").lines().count(), 3);
    assert_eq!(sandbox.kubectl("get pods --field-selector metadata.name=db-1 -o name"), "pod/db-1\n");
    has(
        &sandbox.kubectl("get deployment web -o yaml"),
        &["kind: Deployment", "image: shop.example/app:v1", "readyReplicas: 3"],
    );
    let list: serde_json::Value = serde_json::from_str(&sandbox.kubectl("get pods -o json")).expect("JSON");
    assert_eq!((&list["kind"], list["items"].as_array().map_or(0, Vec::len)), (&"List".into(), 8));
    has(
        &sandbox.kubectl("get endpointslices,pdb,controllerrevisions,events,namespaces,serviceaccounts"),
        &[
            "IPv4",
            "10.244.",
            "poddisruptionbudget.policy/db",
            "statefulset.apps/db",
            "SuccessfulCreate",
            "namespace/kube-system",
            "serviceaccount/default",
        ],
    );
    has(&sandbox.kubectl("get pods -o wide --sort-by .metadata.name --show-labels"), &["controller-revision-hash=db-"]);
    has(&sandbox.kubectl("events --for statefulset/db"), &["create Pod db-0 in StatefulSet db successful"]);
    has(&sandbox.kubectl("version"), &["Server Version: v1.36.3"]);
}

#[test]
fn get_follows_what_changes() {
    let Some(sandbox) = Sandbox::for_kubectl() else { return };
    let mut watch = sandbox.command("get pods -w -l app=web").stdout(Stdio::piped()).spawn().expect("kubectl starts");
    let mut lines = BufReader::new(watch.stdout.take().expect("it is piped")).lines().map_while(Result::ok);
    assert_eq!(lines.by_ref().take(4).filter(|line| line.contains("Running")).count(), 3);
    sandbox.kubectl("scale deployment/web --replicas 4");
    for status in ["Pending", "ContainerCreating", "Running"] {
        assert!(lines.any(|line| line.contains(status)), "no {status}");
    }
    sandbox.kubectl("scale deployment/web --replicas 3");
    assert!(lines.any(|line| line.contains("Terminating")));
    watch.kill().expect("it runs");
    watch.wait().expect("it ends");
    sandbox.kubectl("wait deployment/web --for jsonpath={.status.replicas}=3 --timeout 20s");
}

#[test]
fn describe_has_every_part() {
    let Some(sandbox) = Sandbox::for_kubectl() else { return };
    let table: [(&str, &[&str]); 9] = [
        ("pod db-0", &["Controlled By:  StatefulSet/db", "QoS Class:", "Burstable", "Started", "Scheduled"]),
        ("deployment web", &["NewReplicaSetAvailable", "ScalingReplicaSet", "3 desired | 3 updated | 3 total"]),
        ("replicaset", &["Controlled By:  Deployment/web", "SuccessfulCreate"]),
        ("statefulset db", &["3 Running / 0 Waiting", "SuccessfulCreate"]),
        ("daemonset agent", &["Scheduled with Available Pods: 2", "SuccessfulCreate"]),
        ("service db", &["Endpoints:", "10.244."]),
        ("pdb db", &["Allowed disruptions:  1"]),
        ("node node-1", &["KubeletReady", "shop", "Allocated resources:"]),
        ("namespace shop", &["Status:       Active", "No resource quota."]),
    ];
    for (what, wanted) in table {
        has(&sandbox.kubectl(&format!("describe {what}")), wanted);
    }
}

#[test]
fn apply_merges_on_both_sides() {
    let Some(sandbox) = Sandbox::for_kubectl() else { return };
    sandbox.write("api.yaml", MANIFEST);
    has(&sandbox.kubectl("apply -f api.yaml"), &["deployment.apps/api created"]);
    has(&sandbox.kubectl("apply -f api.yaml"), &["deployment.apps/api unchanged"]);
    sandbox.write("api.yaml", &MANIFEST.replace("v1\"", "v2\""));
    has(&sandbox.refused("diff -f api.yaml"), &["-      - image: acme/api:v1", "+      - image: acme/api:v2"]);
    has(&sandbox.kubectl("apply -f api.yaml --dry-run=server"), &["configured (server dry run)"]);
    has(&sandbox.kubectl("apply -f api.yaml"), &["deployment.apps/api configured"]);
    has(&sandbox.kubectl("rollout status deployment/api"), &["successfully rolled out"]);
    sandbox.kubectl("set image deployment/api app=acme/api:v3");
    has(&sandbox.refused("apply --server-side -f api.yaml"), &["conflict with \"kubectl-set\"", "image"]);
    has(&sandbox.kubectl("apply --server-side --force-conflicts -f api.yaml"), &["serverside-applied"]);
    sandbox.until("get deployment api -o wide", "acme/api:v2");
    sandbox.write("api.yaml", &MANIFEST.replace("{app: api}}\n  template", "{app: other}}\n  template"));
    has(&sandbox.refused("apply -f api.yaml"), &["is invalid", "spec.selector"]);
    has(&sandbox.kubectl("delete -f api.yaml"), &["\"api\" deleted"]);
    sandbox.until("get pods,rs -l app=api", "No resources found");
}

#[test]
fn create_takes_what_it_can_keep() {
    let Some(sandbox) = Sandbox::for_kubectl() else { return };
    has(&sandbox.kubectl("create namespace two"), &["namespace/two created"]);
    has(&sandbox.refused("create namespace two"), &["AlreadyExists"]);
    for what in [
        "deployment x --image acme/x:v1 --replicas 2 --port 80",
        "configmap c --from-literal a=b",
        "secret generic s --from-literal a=b",
        "serviceaccount bot",
        "service clusterip x --tcp 80:8080",
        "poddisruptionbudget x --selector app=x --max-unavailable 1",
    ] {
        has(&sandbox.kubectl(&format!("create -n two {what}")), &["created"]);
    }
    has(&sandbox.kubectl("run -n two p --image acme/p:v1"), &["pod/p created"]);
    has(&sandbox.kubectl("expose -n two deployment/x --name y --port 80"), &["service/y exposed"]);
    sandbox.write("api.yaml", MANIFEST);
    has(&sandbox.kubectl("create -n two -f api.yaml"), &["deployment.apps/api created"]);
    has(&sandbox.kubectl("get -n two secret s -o yaml"), &["a: Yg=="]);
    sandbox.kubectl("wait -n two --for condition=Available deployment --all --timeout 20s");
    has(&sandbox.kubectl("get -n two pdb,svc,pods"), &["80/TCP", "pod/p", "pod/x-", "poddisruptionbudget.policy/x"]);
    has(&sandbox.refused("create -n two job j --image x"), &["does not allow this method"]);
    has(&sandbox.refused("create -n none configmap c"), &["namespaces \"none\" not found"]);
    has(&sandbox.refused("create -n two configmap C"), &["Invalid value: \"C\""]);
    has(&sandbox.kubectl("delete namespace two"), &["\"two\" deleted"]);
    has(&sandbox.refused("get namespace two"), &["NotFound"]);
    has(&sandbox.kubectl("get all -n two"), &["No resources found"]);
}

#[test]
fn rollout_and_set_and_scale_work_on_every_kind() {
    let Some(sandbox) = Sandbox::for_kubectl() else { return };
    for (of, container) in [("deployment/web", "app"), ("statefulset/db", "db"), ("daemonset/agent", "agent")] {
        has(&sandbox.kubectl(&format!("set image {of} {container}=shop/{container}:v2")), &["image updated"]);
        has(&sandbox.kubectl(&format!("rollout status {of} --timeout 60s")), &["roll"]);
        has(&sandbox.kubectl(&format!("get {of} -o wide")), &[":v2"]);
        has(&sandbox.kubectl(&format!("rollout history {of}")), &["REVISION", "\n1 ", "\n2 "]);
        has(&sandbox.kubectl(&format!("rollout history {of} --revision 2")), &[":v2"]);
        has(&sandbox.kubectl(&format!("rollout undo {of}")), &["rolled back"]);
        sandbox.until(&format!("get {of} -o wide"), ":v1");
    }
    for (verb, done) in [("pause", "paused"), ("resume", "resumed"), ("restart", "restarted")] {
        has(&sandbox.kubectl(&format!("rollout {verb} deployment/web")), &[done]);
    }
    has(&sandbox.kubectl("rollout status deployment/web --timeout 60s"), &["successfully rolled out"]);
    has(&sandbox.kubectl("scale statefulset/db --replicas 1"), &["scaled"]);
    sandbox.kubectl("wait statefulset/db --for jsonpath={.status.replicas}=1 --timeout 60s");
    has(&sandbox.kubectl("get deployment web"), &["3/3"]);
}

#[test]
fn a_bad_image_shows_as_it_does_on_a_node() {
    let Some(sandbox) = Sandbox::for_kubectl() else { return };
    sandbox.kubectl("run bad --image acme/x:nope");
    sandbox.kubectl("run worse --image acme/x:crash");
    sandbox.until("get pod bad", "ErrImagePull");
    has(&sandbox.refused("logs bad"), &["trying and failing to pull image"]);
    sandbox.until("get pod worse", "CrashLoopBackOff");
    has(&sandbox.kubectl("logs worse"), &["worse runs acme/x:crash"]);
    has(&sandbox.kubectl("logs worse --previous"), &["worse runs acme/x:crash"]);
    has(&sandbox.kubectl("describe pod worse"), &["Exit Code:    3", "Back-off restarting failed container"]);
    has(&sandbox.kubectl("describe pod bad"), &["Failed to pull image", "not found"]);
    sandbox.until("get pod bad", "ImagePullBackOff");
}

#[test]
fn logs_labels_annotations_waits_and_deletions() {
    let Some(sandbox) = Sandbox::for_kubectl() else { return };
    has(
        &sandbox.kubectl("logs deployment/web --all-containers"),
        &["app runs shop.example/app:v1", "side runs shop.example/side:v1"],
    );
    assert_eq!(sandbox.kubectl("logs -l app=db --prefix").lines().count(), 3);
    has(&sandbox.refused("logs db-0 -c none"), &["container none is not valid for pod db-0"]);
    has(&sandbox.kubectl("label pod db-0 tier=a"), &["labeled"]);
    has(&sandbox.kubectl("label pod db-0 tier-"), &["unlabeled"]);
    has(&sandbox.refused("annotate pod db-0 -- -a=1"), &["metadata.annotations", "name part must consist of"]);
    has(&sandbox.kubectl("get ds agent -o jsonpath={.metadata.annotations}"), &["daemonset.template.generation"]);
    has(&sandbox.kubectl("get pods -l pod-template-generation=1"), &["agent-"]);
    has(&sandbox.kubectl("annotate pod db-0 note=a"), &["annotated"]);
    has(&sandbox.refused("annotate pod db-0 note=b"), &["already has a value"]);
    has(&sandbox.kubectl("patch deployment web -p {\"spec\":{\"minReadySeconds\":1}}"), &["patched"]);
    has(&sandbox.kubectl("wait --for condition=Ready pod --all --timeout 20s"), &["condition met"]);
    has(&sandbox.kubectl("delete pod db-0"), &["\"db-0\" deleted"]);
    sandbox.until("get pods", "db-0");
    has(&sandbox.kubectl("delete statefulset db --cascade=orphan"), &["deleted"]);
    has(&sandbox.kubectl("get pods"), &["db-1"]);
    has(&sandbox.kubectl("delete deployment web --cascade=foreground"), &["deleted"]);
    has(&sandbox.kubectl("get rs,pods -l app=web"), &["No resources found"]);
    has(&sandbox.kubectl("delete pod -l app=db --wait=false"), &["db-2"]);
    has(&sandbox.kubectl("wait --for delete pod/db-2 --timeout 20s"), &[""]);
}

#[test]
fn a_pod_is_resized_as_far_as_its_node_has_room() {
    let Some(sandbox) = Sandbox::for_kubectl() else { return };
    let resize = |cpu: &str| {
        let resources = format!("{{\"requests\":{{\"cpu\":\"{cpu}\"}},\"limits\":{{\"cpu\":\"{cpu}\"}}}}");
        format!(
            "patch pod db-0 --subresource resize -p {{\"spec\":{{\"containers\":[{{\"name\":\"db\",\"resources\":{resources}}}]}}}}"
        )
    };
    let cpu = "get pod db-0 -o jsonpath={.status.containerStatuses[0].resources.requests.cpu}/{.status.containerStatuses[0].restartCount}";
    sandbox.kubectl(&resize("600m"));
    sandbox.until(cpu, "600m/0");
    has(&sandbox.refused(&resize("5")), &["node didn't have enough allocatable resources"]);
    sandbox.kubectl(&resize("3900m"));
    sandbox.until("get pod db-0 -o jsonpath={.status.conditions}", "Deferred");
    has(&sandbox.kubectl(cpu), &["600m/0"]);
}

#[test]
fn nodes_are_cordoned_and_drained() {
    let Some(sandbox) = Sandbox::for_kubectl() else { return };
    has(&sandbox.kubectl("cordon node-1"), &["cordoned"]);
    has(&sandbox.kubectl("get nodes"), &["Ready,SchedulingDisabled"]);
    has(&sandbox.kubectl("drain node-1 --ignore-daemonsets --timeout 60s"), &["evicted", "node/node-1 drained"]);
    let left = sandbox.kubectl("get pods -A --field-selector spec.nodeName=node-1 -o name");
    assert_eq!((left.lines().count(), left.contains("agent-")), (1, true), "{left}");
    has(&sandbox.kubectl("uncordon node-1"), &["uncordoned"]);
    has(&sandbox.kubectl("taint node node-1 a=b:NoSchedule"), &["tainted"]);
    sandbox.kubectl(
        "run big --image acme/x:v1 --overrides {\"spec\":{\"nodeSelector\":{\"kubernetes.io/hostname\":\"node-1\"}}}",
    );
    sandbox.until("describe pod big", "0/2 nodes are available: 1 node(s) didn't match");
}

#[test]
fn what_is_not_there_is_answered_as_by_an_api_server() {
    let Some(sandbox) = Sandbox::for_kubectl() else { return };
    has(&sandbox.kubectl("auth can-i delete pods"), &["yes"]);
    has(&sandbox.kubectl("auth whoami"), &["sandbox"]);
    has(&sandbox.kubectl("api-resources"), &["deploy", "apps/v1", "PodDisruptionBudget"]);
    has(&sandbox.kubectl("api-versions"), &["policy/v1"]);
    has(&sandbox.kubectl("cluster-info"), &["is running at"]);
    for (words, wanted) in [
        ("explain pods", "not found in OpenAPI schema"),
        ("get pod none", "pods \"none\" not found"),
        ("get pods -n none none", "\"none\" not found"),
        ("get things", "doesn't have a resource type \"things\""),
        ("get --raw /metrics", "could not find the requested resource"),
        ("exec db-0 -- ls", "could not find the requested resource"),
        ("top pods", "Metrics API not available"),
        ("create token default", "could not find the requested resource"),
        ("autoscale deployment web --max 3", ""),
    ] {
        has(&sandbox.refused(words), &[wanted]);
    }
    has(&sandbox.kubectl("get jobs,hpa,pvc"), &["No resources found"]);
}
