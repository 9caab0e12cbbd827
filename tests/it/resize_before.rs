//! What is said before cpu or memory is touched: room on the node, quotas, autoscalers, and what may not be read.

use serde_json::{Value, json};

use crate::support::api_server::{ApiServer, Effect, When};
use crate::support::builders::{self, Workload};
use crate::support::scene::{patches, run, with_controllers_of};

/// Three pods of 100m cpu on a node that has so much.
fn web(allocatable: &str) -> ApiServer {
    let resources = json!({"resources": {"requests": {"cpu": "100m"}, "limits": {"memory": "64Mi"}},
        "env": [{"name": "GOMEMLIMIT", "value": "50MiB"}]});
    let server = with_controllers_of([Workload::deployment("web").container_with("app", "acme/app:v1", resources)]);
    let mut node = builders::node("node-a", "v1.36.3");
    node["status"]["allocatable"] = json!({"cpu": allocatable, "memory": "1Gi"});
    server.insert([node]);
    server
}

fn quota(hard: &str, used: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "compute"},
        "spec": {"hard": {"requests.cpu": hard}}, "status": {"hard": {"requests.cpu": hard}, "used": {"requests.cpu": used}}})
}

#[test]
fn a_quota_that_not_all_pods_fit_in_is_found_before_the_template_is_written() {
    let server = web("4");
    server.insert([quota("450m", "300m")]);
    let refused = run(&server, "apply deploy/web --requests cpu=200m --yes").ends_with(3);
    refused.prints(
        "QuotaExceeded: the pods together ask for 300m more requests.cpu, and resourcequota/compute has 150m left",
    );
    assert!(patches(&server).is_empty(), "{:?}", patches(&server));
    run(&server, "apply deploy/web --requests cpu=150m --yes").ends_with(0).prints("Resized: app in 3 pods");
}

#[test]
fn what_a_node_never_has_is_refused_and_what_it_has_not_now_is_said() {
    let server = web("1");
    let refused = run(&server, "plan deploy/web --requests cpu=1100m --detailed-exitcode").ends_with(3);
    refused.prints("NodeTooSmall: a pod would ask for 1100m cpu, and node node-a has 1 for all pods together");
    let plan = run(&server, "plan deploy/web --requests cpu=500m --detailed-exitcode").ends_with(2);
    plan.says("the resize of 2 pods would be put off until there is room: node node-a has 300m cpu left, and a pod needs 400m more");
    run(&server, "plan deploy/web --requests cpu=300m").ends_with(0).omits("ResizeDeferred");
}

#[test]
fn what_may_not_be_read_is_unknown_only_where_it_matters() {
    let server = web("4");
    server.fault(When::verb("list").of("resourcequotas"), Effect::Forbid);
    server.fault(When::verb("get").of("nodes"), Effect::Forbid);
    let plan = run(&server, "plan deploy/web --requests cpu=200m --detailed-exitcode").ends_with(2);
    let plan = plan.says("so it is not known whether they have room for the increase");
    plan.says("so it is not known whether they leave room for the increase of all pods");
    let less = run(&server, "plan deploy/web --requests cpu=50m --detailed-exitcode").ends_with(2);
    less.omits("not known whether they");
}

#[test]
fn what_was_read_at_the_start_and_what_reads_requests_is_said() {
    let server = web("4");
    server.insert([
        json!({"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": {"name": "web"},
        "spec": {"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}, "maxReplicas": 3,
            "minReplicas": 3, "metrics": [{"type": "Resource", "resource": {"name": "cpu",
                "target": {"type": "Utilization", "averageUtilization": 80}}}]}}),
    ]);
    let plan =
        run(&server, "plan deploy/web --requests cpu=200m --limits memory=128Mi --detailed-exitcode").ends_with(2);
    let plan =
        plan.says("100m before and 200m then: 80 % becomes 40 %, and it may scale in. (AutoscalerReadsRequests)");
    plan.says(
        "what runs in app has read GOMEMLIMIT when it started, and does not notice other memory before it restarts",
    );
    let image = run(&server, "plan deploy/web app=acme/app:v2 --requests cpu=200m --limits memory=128Mi").ends_with(0);
    image.says("AutoscalerReadsRequests").omits("RuntimeSizedAtStart");
}
