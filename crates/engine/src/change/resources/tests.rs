use serde_json::{Value, json};

use super::*;
use crate::change::{Change, diff};
use crate::k8s::pod::PastResize;
use crate::kinds::WorkloadKind;
use crate::value::kubelet_version::KubeletVersion;

fn template(resources: &Value) -> Value {
    json!({"spec": {"containers": [{"name": "app", "image": "app:1", "resources": resources}, {"name": "side", "image": "s:1"}]}})
}

fn change(before: &Value, after: &Value) -> (Change, Vec<String>) {
    let found = diff(&template(before), &template(after));
    (found.change, found.rest.other)
}

fn rows(change: &Change) -> Vec<String> {
    let text = |value: Option<String>| value.unwrap_or_else(|| "none".into());
    let rows = change.fields.rows().into_iter();
    rows.map(|row| format!("{} {} -> {}", row.what, text(row.before), text(row.after))).collect()
}

/// A pod whose container asks for the first and has the second.
fn pod(spec: &Value, status: &Value, conditions: &Value) -> Pod {
    let object = json!({
        "metadata": {"name": "web-0", "uid": "u", "generation": 3},
        "spec": {"nodeName": "node-1", "containers": [
            {"name": "app", "image": "app:1", "resources": spec}, {"name": "side", "image": "s:1"}]},
        "status": {"observedGeneration": 3, "conditions": conditions, "containerStatuses": [
            {"name": "app", "image": "app:1", "imageID": "i", "containerID": "c-1", "ready": true, "restartCount": 0,
             "state": {"running": {"startedAt": "2026-01-01T00:00:00Z"}}, "resources": status,
             "allocatedResources": status["requests"]}]}});
    Pod::from_object(&object).expect("it is a pod")
}

#[test]
fn values_are_compared_as_quantities_and_only_cpu_and_memory_are_claimed() {
    let old = json!({"requests": {"cpu": "500m", "memory": "1Gi"}, "limits": {"cpu": 1}});
    for (new, expected, others) in [
        (json!({"requests": {"cpu": 0.5, "memory": "1024Mi"}, "limits": {"cpu": "1000m"}}), vec![], vec![]),
        (
            json!({"requests": {"cpu": "250m", "memory": "1Gi"}, "limits": {"cpu": "1"}}),
            vec!["app requests.cpu 500m -> 250m"],
            vec![],
        ),
        (json!({"requests": {"cpu": "500m", "memory": "1Gi"}}), vec!["app limits.cpu 1 -> none"], vec![]),
        (
            json!({"requests": {"cpu": "500m", "memory": "2Gi", "nvidia.com/gpu": 1}, "limits": {"cpu": "1"}}),
            vec!["app requests.memory 1Gi -> 2Gi"],
            vec!["spec.containers[app].resources.requests[nvidia.com/gpu]"],
        ),
        (
            json!({"requests": {"cpu": "500m", "memory": "1Gi"}, "limits": {"cpu": "1"}, "claims": [{"name": "x"}]}),
            vec![],
            vec!["spec.containers[app].resources.claims"],
        ),
        (
            json!({"requests": {"cpu": "half", "memory": "1Gi"}, "limits": {"cpu": "1"}}),
            vec![],
            vec!["spec.containers[app].resources.requests.cpu"],
        ),
    ] {
        let (change, rest) = change(&old, &new);
        assert_eq!(
            (rows(&change), rest),
            (expected.into_iter().map(str::to_owned).collect(), others.into_iter().map(str::to_owned).collect()),
            "{new}"
        );
    }
}

#[test]
fn a_request_that_is_not_written_follows_its_limit_in_pods_alone() {
    let (change, _) = change(&json!({"limits": {"memory": "64Mi"}}), &json!({"limits": {"memory": "96Mi"}}));
    assert_eq!(rows(&change), ["app limits.memory 64Mi -> 96Mi", "app requests.memory 64Mi -> 96Mi"]);
    let after = change.apply(&template(&json!({"limits": {"memory": "64Mi"}}))).expect("it has the container");
    assert_eq!(after, template(&json!({"limits": {"memory": "96Mi"}})), "the template has no request");
    assert_eq!(change.reversed().apply(&after), Some(template(&json!({"limits": {"memory": "64Mi"}}))));
    let has = json!({"requests": {"memory": "64Mi"}, "limits": {"memory": "64Mi"}});
    let left = change.fields.left_in(&pod(&has, &has, &json!([])));
    assert_eq!(left.rows().len(), 2, "{left:?}");
}

#[test]
fn done_is_what_the_kubelet_says_that_the_container_has() {
    let (old, new) = (json!({"requests": {"cpu": "10m"}}), json!({"requests": {"cpu": "30m"}}));
    let (change, _) = change(&old, &new);
    let waiting = |why: Option<&str>, deferred| FieldProgress::Waiting { why: why.map(str::to_owned), deferred };
    let condition = |kind: &str, reason: &str, message: &str| json!([{"type": kind, "status": "True", "reason": reason, "message": message}]);
    let failed = FieldProgress::Failed { reason: "ResizeInfeasible".into(), message: "too much".into() };
    for (spec, status, conditions, expected) in [
        (&old, &old, json!([]), FieldProgress::NotAsked),
        (&new, &old, json!([]), waiting(None, false)),
        (&new, &old, condition("PodResizePending", "Deferred", "no room"), waiting(Some("no room"), true)),
        (&new, &old, condition("PodResizePending", "Infeasible", "too much"), failed),
        (&new, &new, condition("PodResizeInProgress", "Error", "in use"), waiting(Some("in use"), false)),
        (&new, &new, json!([{"type": "PodResizePending", "status": "False"}]), FieldProgress::Done),
        (&new, &new, json!([]), FieldProgress::Done),
    ] {
        let pod = pod(spec, status, &conditions);
        assert_eq!(change.fields.progress_in(&pod), expected, "{spec} {status} {conditions}");
        assert_eq!(change.fields.left_in(&pod).is_empty(), expected == FieldProgress::Done, "what is not done is left");
    }
    let mut lagging = pod(&new, &new, &json!([]));
    lagging.status.observed_generation = Some(2);
    assert_eq!(change.fields.progress_in(&lagging), waiting(None, false), "the kubelet has not seen it");
}

/// A container that waits for init containers has nothing yet, and begins with what the pod asks for: it is not waited
/// for, whatever keeps it from beginning, and nothing restarts for it. An older kubelet does not report that it has
/// seen the spec.
#[test]
fn a_container_that_has_not_begun_begins_with_it() {
    let (old, new) = (json!({"requests": {"cpu": "10m"}}), json!({"requests": {"cpu": "30m"}}));
    let (change, _) = change(&old, &new);
    let waiting = |deferred: bool| FieldProgress::Waiting { why: deferred.then(|| "no room".into()), deferred };
    let with = |spec: &Value, conditions: &Value| {
        let mut pod = pod(spec, &json!({}), conditions);
        let status = json!({"name": "app", "state": {"waiting": {"reason": "PodInitializing"}}});
        pod.status.container_statuses = vec![serde_json::from_value(status).unwrap()];
        pod.spec.containers[0].resize_policy =
            vec![ResizePolicy { resource_name: "cpu".into(), restart_policy: "RestartContainer".into() }];
        pod
    };
    let put_off = json!([{"type": "PodResizePending", "status": "True", "reason": "Deferred", "message": "no room"}]);
    let asked = with(&new, &json!([]));
    assert_eq!(change.fields.progress_in(&asked), FieldProgress::Done);
    assert_eq!(change.fields.progress_in(&with(&new, &put_off)), waiting(true));
    assert_eq!(change.fields.progress_in(&with(&old, &json!([]))), FieldProgress::NotAsked);
    assert!(change.fields.restarting_in(&with(&old, &json!([]))).is_empty());
    for seen in [Some(2), None] {
        let mut unseen = asked.clone();
        unseen.status.observed_generation = seen;
        assert_eq!(change.fields.progress_in(&unseen), waiting(false), "{seen:?}");
    }
    let mut ran = asked;
    ran.status.container_statuses[0].restart_count = 1;
    assert_eq!(change.fields.progress_in(&ran), waiting(false), "what it has is the runtime's word");
}

/// Below the resolution of the kernel the kubelet reports another value.
#[test]
fn a_cpu_that_is_too_small_for_the_kernel_is_done_once_it_is_allocated() {
    let (old, tiny) = (json!({"requests": {"cpu": "10m"}}), json!({"requests": {"cpu": "1m"}}));
    let (change, _) = change(&old, &tiny);
    let mut reported = pod(&tiny, &json!({"requests": {"cpu": "2m"}}), &json!([]));
    reported.status.container_statuses[0].allocated_resources = Some([("cpu".to_owned(), "1m".to_owned())].into());
    assert_eq!(change.fields.progress_in(&reported), FieldProgress::Done);
}

#[test]
fn what_a_pod_cannot_have_is_refused_with_its_reason() {
    let burstable = json!({"requests": {"cpu": "10m"}, "limits": {"cpu": "1"}});
    let refused = |after: &Value, pod: &Pod| {
        let (change, _) = change(&burstable, after);
        let containers = Containers { pod: Some(pod), all: pod.all_containers().collect(), restarting: vec![] };
        change.fields.refused_in(&containers).iter().map(Reason::code).collect::<Vec<_>>()
    };
    let running = pod(&burstable, &burstable, &json!([]));
    assert_eq!(refused(&json!({"requests": {"cpu": "20m"}, "limits": {"cpu": "1"}}), &running), [""; 0]);
    assert_eq!(refused(&json!({"requests": {"cpu": "2"}, "limits": {"cpu": "1"}}), &running), ["RequestAboveLimit"]);
    let mut mute = running;
    mute.status.container_statuses[0].resources = None;
    assert_eq!(refused(&json!({"requests": {"cpu": "20m"}, "limits": {"cpu": "1"}}), &mute), ["ResizeNotSupported"]);
    let (nothing, some) = (json!({}), json!({"requests": {"cpu": "10m"}}));
    let best_effort = pod(&nothing, &nothing, &json!([]));
    let (gained, _) = change(&nothing, &some);
    let containers =
        Containers { pod: Some(&best_effort), all: best_effort.all_containers().collect(), restarting: vec![] };
    assert_eq!(gained.fields.refused_in(&containers).iter().map(Reason::code).collect::<Vec<_>>(), ["QosClassChanges"]);
}

#[test]
fn what_goes_is_refused_and_on_the_way_back_pods_keep_it() {
    let (with, without) =
        (json!({"requests": {"cpu": "10m"}, "limits": {"cpu": "1"}}), json!({"requests": {"cpu": "10m"}}));
    let fractional = change(&without, &json!({"requests": {"cpu": "10m", "memory": "0.1Gi"}})).0;
    let (change, _) = change(&with, &without);
    let object = json!({"metadata": {"name": "web", "uid": "u"}});
    let workload = Workload::from_object(WorkloadKind::Deployment, object).expect("it has a name");
    let codes = |direction| change.refused(&workload, direction).iter().map(Reason::code).collect::<Vec<_>>();
    assert_eq!((codes(Direction::Forward), codes(Direction::Back)), (vec!["ResourceRemoved"], vec![]));
    let refused = fractional.refused(&workload, Direction::Forward);
    assert_eq!(refused.iter().map(Reason::code).collect::<Vec<_>>(), ["FractionalMemory"]);
    assert!(change.fields.left_in(&pod(&with, &with, &json!([]))).is_empty());
    assert_eq!(change.fields.rows()[0].effect, FieldEffect::LaterPods);
    assert_eq!(change.reversed().apply(&template(&without)), Some(template(&with)));
}

/// No request is above a limit, and the limit stays.
#[test]
fn a_request_that_a_kept_limit_is_below_stays_unchanged() {
    let with = json!({"requests": {"cpu": "10m", "memory": "8Mi"}, "limits": {"memory": "12Mi"}});
    let back = |memory: &str| {
        let without = json!({"requests": {"cpu": "20m", "memory": memory}});
        let (change, _) = change(&with, &without);
        let pod = pod(&with, &with, &json!([]));
        let containers = Containers { pod: Some(&pod), all: pod.all_containers().collect(), restarting: vec![] };
        assert!(change.fields.refused_in(&containers).is_empty(), "{memory}");
        let rows = change.fields.left_in(&pod).rows();
        rows.into_iter().map(|row| row.what).collect::<Vec<_>>()
    };
    assert_eq!(back("16Mi"), ["app requests.cpu"]);
    assert_eq!(back("12Mi"), ["app requests.cpu", "app requests.memory"]);
}

#[test]
fn a_pod_that_has_something_else_than_its_template_is_seen() {
    let of_template = json!({"requests": {"cpu": "10m"}, "limits": {"memory": "64Mi"}});
    let has = json!({"requests": {"cpu": "0.01", "memory": "64Mi"}, "limits": {"memory": "128Mi"}});
    let found = FieldChanges::drift(&template(&of_template), &pod(&has, &has, &json!([])));
    let rows: Vec<String> =
        found.rows().into_iter().map(|row| format!("{} {:?} {:?}", row.what, row.before, row.after)).collect();
    assert_eq!(
        rows,
        ["app limits.memory Some(\"64Mi\") Some(\"128Mi\")"],
        "what the template does not say is the server's"
    );
}

/// A limit that is taken back stays in the pods; what a LimitRange gave them nobody has set.
#[test]
fn what_a_resize_has_set_is_seen_where_the_template_does_not_say_it() {
    let has = json!({"requests": {"cpu": "10m", "memory": "16Mi"}, "limits": {"memory": "64Mi"}});
    let mut pod = pod(&has, &has, &json!([]));
    let rows = |pod: &Pod| FieldChanges::drift(&template(&json!({"requests": {"cpu": "10m"}})), pod).rows();
    assert_eq!(rows(&pod), []);
    let resized = PastResize { at: "2026-01-01T00:00:00Z".into(), values: ["limits.memory".to_owned()].into() };
    pod.resized = [(ResourceHolder::Container("app".into()), resized.clone())].into();
    let found = rows(&pod);
    assert_eq!((found.len(), found[0].what.as_str()), (1, "app limits.memory"));
    assert_eq!((&found[0].before, &found[0].after), (&None, &Some("64Mi".to_owned())));
    pod.resized = [(ResourceHolder::Container("side".into()), resized)].into();
    assert_eq!(rows(&pod), []);
}

/// The server sets a request that a template does not name from its limit, and so does a resize.
#[test]
fn a_request_that_a_template_does_not_name_is_its_limit() {
    let drifted = |memory: &str| {
        let has = json!({"requests": {"memory": memory}, "limits": {"memory": "64Mi"}});
        let mut pod = pod(&has, &has, &json!([]));
        let values = ["requests.memory".to_owned(), "limits.memory".to_owned()].into();
        pod.resized =
            [(ResourceHolder::Container("app".into()), PastResize { at: "2026-01-01T00:00:00Z".into(), values })]
                .into();
        let rows = FieldChanges::drift(&template(&json!({"limits": {"memory": "64Mi"}})), &pod).rows();
        rows.into_iter().map(|row| (row.what, row.before, row.after)).collect::<Vec<_>>()
    };
    assert_eq!(drifted("64Mi"), []);
    let rest = ("app requests.memory".to_owned(), None, Some("32Mi".to_owned()));
    assert_eq!(drifted("32Mi"), [rest]);
}

#[test]
fn what_restarts_by_its_policy_is_reported_for_the_template_and_for_each_pod() {
    let before = |cpu: &str| {
        let mut template = template(&json!({"requests": {"cpu": cpu, "memory": "1Mi"}}));
        template["spec"]["containers"][0]["resizePolicy"] =
            json!([{"resourceName": "cpu", "restartPolicy": "RestartContainer"}]);
        template
    };
    let change = diff(&before("10m"), &before("20m")).change.fields;
    assert_eq!(change.rows()[0].effect, FieldEffect::Restarts("app".into()));
    // The pod was created from a template with another policy.
    let has = json!({"requests": {"cpu": "10m", "memory": "1Mi"}});
    let quiet = pod(&has, &has, &json!([]));
    assert!(change.restarting_in(&quiet).is_empty());
    assert_eq!(change.left_in(&quiet).rows()[0].effect, FieldEffect::InPlace);
    let mut restarts = quiet;
    restarts.spec.containers[0].resize_policy =
        vec![ResizePolicy { resource_name: "cpu".into(), restart_policy: "RestartContainer".into() }];
    assert_eq!(change.restarting_in(&restarts), ["app".into()].into());
    let asked = json!({"requests": {"cpu": "20m", "memory": "1Mi"}});
    restarts.spec.containers[0].resources = serde_json::from_value(asked).unwrap();
    assert!(change.restarting_in(&restarts).is_empty(), "it asks for it already");
}

/// From 1.36 on server and kubelets resize an init container that has done its work, too; before, only pods made later have
/// it, and so where its `resizePolicy` would restart it.
#[test]
fn a_plain_init_container_has_it_where_server_and_kubelets_do_it() {
    let template = |cpu: &str, policy: &str| {
        let resources = json!({"requests": {"cpu": cpu}});
        let policy = json!([{"resourceName": "memory", "restartPolicy": policy}]);
        json!({"spec": {"initContainers": [{"name": "init", "resources": resources, "resizePolicy": policy}]}})
    };
    let of_policy = |policy: &str| diff(&template("10m", policy), &template("20m", policy)).change.fields;
    let old = json!({"requests": {"cpu": "10m"}});
    let mut pod = pod(&json!({}), &json!({}), &json!([]));
    let init = json!({"name": "init", "image": "i:1", "resources": old});
    pod.spec.init_containers = vec![serde_json::from_value(init).unwrap()];
    let status = json!({"name": "init", "containerID": "c-2", "state": {"terminated": {"exitCode": 0}},
        "resources": old, "allocatedResources": old["requests"]});
    pod.status.init_container_statuses = vec![serde_json::from_value(status).unwrap()];
    let version = |text: &str| text.parse::<KubeletVersion>().expect("it is a version");
    for (policy, versions, effect) in [
        ("NotRequired", vec!["v1.36.3"], FieldEffect::InPlace),
        ("NotRequired", vec!["v1.36.0", "v1.37.1"], FieldEffect::InPlace),
        ("NotRequired", vec!["v1.35.4"], FieldEffect::LaterPods),
        ("NotRequired", vec!["v1.36.3", "v1.35.9"], FieldEffect::LaterPods),
        ("NotRequired", vec![], FieldEffect::LaterPods),
        ("RestartContainer", vec!["v1.36.3"], FieldEffect::LaterPods),
    ] {
        let versions: Vec<KubeletVersion> = versions.into_iter().map(version).collect();
        let change = of_policy(policy).done_by(&versions);
        assert_eq!(change.rows()[0].effect, effect, "{versions:?}");
        assert_eq!(change.left_in(&pod).is_empty(), effect == FieldEffect::LaterPods, "{versions:?}");
        assert!(
            change.restarting_in(&pod).is_empty() && change.resources.restarting().next().is_none(),
            "it does not run again"
        );
        let mut asked = pod.clone();
        asked.spec.init_containers[0].resources = serde_json::from_value(json!({"requests": {"cpu": "20m"}})).unwrap();
        let waits = change.progress_in(&asked) != FieldProgress::Done;
        assert_eq!(waits, effect == FieldEffect::InPlace, "{versions:?}");
    }
}
