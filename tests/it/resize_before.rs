//! What is said of a change of cpu and memory, and what a server says that has no room for all of it.

use serde_json::json;

use crate::support::api_server::{ApiServer, Effect, When};
use crate::support::builders::Workload;
use crate::support::scene::{run, with_controllers_of};

/// Three pods of 100m cpu.
fn web() -> ApiServer {
    let resources = json!({"resources": {"requests": {"cpu": "100m"}, "limits": {"memory": "64Mi"}},
        "env": [{"name": "GOMEMLIMIT", "value": "50MiB"}]});
    with_controllers_of([Workload::deployment("web").container_with("app", "acme/app:v1", resources)])
}

/// A dry run asks of each pod alone.
#[test]
fn a_quota_that_not_all_pods_fit_in_stops_the_rollout_and_abort_takes_it_back() {
    let server = web();
    let message =
        "exceeded quota: compute, requested: requests.cpu=100m, used: requests.cpu=500m, limited: requests.cpu=500m";
    let full = Effect::Deny { webhook: "quota".to_owned(), message: message.to_owned(), code: 403 };
    server.fault(When::verb("patch").of("pods/resize").for_real().after(2).times(1), full);
    let stopped = run(&server, "apply deploy/web --requests cpu=200m --yes").ends_with(4);
    stopped.prints("AdmissionRefused").prints("exceeded quota: compute");
    run(&server, "abort deploy/web --yes").ends_with(0).prints("Resized: app in 2 pods");
    run(&server, "apply deploy/web --requests cpu=150m --yes").ends_with(0).prints("Resized: app in 3 pods");
}

#[test]
fn what_was_read_at_the_start_and_what_may_act_meanwhile_is_said() {
    let server = web();
    server.insert([
        json!({"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": {"name": "web"},
        "spec": {"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}, "maxReplicas": 3,
            "minReplicas": 2}}),
    ]);
    let plan =
        run(&server, "plan deploy/web --requests cpu=200m --limits memory=128Mi --detailed-exitcode").ends_with(2);
    plan.says("(AutoscalerActive)").says(
        "what runs in app has read GOMEMLIMIT when it started, and does not notice other memory before it restarts",
    );
    let image = run(&server, "plan deploy/web app=acme/app:v2 --requests cpu=200m --limits memory=128Mi").ends_with(0);
    image.says("AutoscalerActive").omits("RuntimeSizedAtStart");
}
