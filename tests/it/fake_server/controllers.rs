//! The simulated controllers: the durable sequences keep the pods, and a wrong one loses them.

use serde_json::{Value, json};

use super::*;
use crate::support::{builders, clock};

fn uids(server: &ApiServer) -> Vec<Value> {
    server.objects("pods").iter().map(|pod| pod["metadata"]["uid"].clone()).collect()
}

fn write(server: &ApiServer, plural: &str, name: &str, body: &Value) {
    let path = format!("/apis/apps/v1/namespaces/default/{plural}/{name}");
    let got = send(server, "PATCH", &path, STRATEGIC, body);
    assert_eq!(got.code, 200, "{}", got.body);
}

fn template(image: &str) -> Value {
    json!({"spec": {"containers": [{"name": "app", "image": image}]}})
}

fn observed(object: &Value) -> bool {
    object["status"]["observedGeneration"] == object["metadata"]["generation"]
}

fn cluster(workload: &Workload) -> ApiServer {
    let server = ApiServer::with([builders::node("node-a", "v1.36.3"), builders::node("node-b", "v1.36.3")]);
    server.insert(workload.objects());
    server.run_controllers(true);
    server
}

/// Waits a while in which a wrong controller would have acted.
fn settle() {
    clock::sleep(Duration::from_millis(150));
}

#[test]
fn a_deployment_changed_while_paused_keeps_its_pods_and_one_changed_at_once_does_not() {
    let server = cluster(&Workload::deployment("web").container("app", "acme/app:v1"));
    let pods = uids(&server);
    let set = server.objects("replicasets").remove(0)["metadata"]["name"].as_str().unwrap_or_default().to_owned();
    write(&server, "deployments", "web", &json!({"spec": {"paused": true, "template": template("acme/app:v2")}}));
    server.wait_for("deployments", "web", |object| observed(object) && object["status"]["updatedReplicas"].is_null());
    let mut history = server.object("replicasets", &set).expect("it is there");
    history["metadata"] = json!({"name": "web-history", "ownerReferences": history["metadata"]["ownerReferences"],
        "labels": history["metadata"]["labels"], "annotations": {"deployment.kubernetes.io/revision": "1"}});
    history["spec"]["replicas"] = 0.into();
    history["status"] = json!({});
    server.insert([history]);
    write(&server, "replicasets", &set, &json!({"spec": {"template": template("acme/app:v2")}}));
    server.wait_for("deployments", "web", |object| {
        object["metadata"]["annotations"]["deployment.kubernetes.io/revision"] == "2"
    });
    write(
        &server,
        "deployments",
        "web",
        &json!({"spec": {"paused": false}, "metadata": {"annotations": {"note": "copied"}}}),
    );
    server.wait_for("deployments", "web", |object| observed(object) && object["status"]["updatedReplicas"] == 3);
    server.wait_for("replicasets", &set, |object| object["metadata"]["annotations"]["note"] == "copied");
    settle();
    assert_eq!(uids(&server), pods, "in place");
    assert_eq!(server.objects("replicasets").len(), 2);

    write(&server, "deployments", "web", &json!({"spec": {"template": template("acme/app:v3")}}));
    clock::eventually("other pods", || {
        let all = uids(&server);
        (all.len() == 3 && all.iter().all(|uid| !pods.contains(uid))).then_some(())
    });
}

#[test]
fn a_stateful_set_on_delete_keeps_labelled_pods_and_replaces_the_others() {
    let server = cluster(&Workload::stateful_set("db").container("app", "acme/db:v1"));
    let pods = uids(&server);
    let on_delete = json!({"type": "OnDelete", "rollingUpdate": null});
    write(
        &server,
        "statefulsets",
        "db",
        &json!({"spec": {"updateStrategy": on_delete, "template": template("acme/db:v2")}}),
    );
    let set =
        server.wait_for("statefulsets", "db", |object| observed(object) && object["status"]["updatedReplicas"] == 0);
    let revision = set["status"]["updateRevision"].as_str().expect("it has one").to_owned();
    for name in ["db-1", "db-2"] {
        server
            .edit("pods", name, |pod| pod["metadata"]["labels"]["controller-revision-hash"] = revision.as_str().into());
    }
    server.wait_for("statefulsets", "db", |object| object["status"]["updatedReplicas"] == 2);
    write(&server, "statefulsets", "db", &json!({"spec": {"updateStrategy": {"type": "RollingUpdate"}}}));
    let set = server.wait_for("statefulsets", "db", |object| object["status"]["currentRevision"] == revision.as_str());
    assert_eq!(set["status"]["updatedReplicas"], 3);
    let after = uids(&server);
    assert_eq!((after.get(1), after.get(2)), (pods.get(1), pods.get(2)), "the labelled ones stay");
    assert_ne!(after.first(), pods.first(), "the one without the label was replaced");
}

#[test]
fn a_daemon_set_goes_by_the_hash_and_pods_lost_come_back() {
    let server = cluster(&Workload::daemon_set("log").nodes(&["node-a", "node-b"]).container("app", "acme/log:v1"));
    let pods = uids(&server);
    write(
        &server,
        "daemonsets",
        "log",
        &json!({"spec": {"updateStrategy": {"type": "OnDelete"}, "template": template("acme/log:v2")}}),
    );
    server.wait_for("daemonsets", "log", |object| {
        observed(object) && object["status"]["updatedNumberScheduled"].is_null()
    });
    let revisions = server.objects("controllerrevisions");
    let newest = revisions.iter().max_by_key(|one| one["revision"].as_u64()).expect("there are two");
    let hash = newest["metadata"]["labels"]["controller-revision-hash"].clone();
    for pod in server.objects("pods") {
        let name = pod["metadata"]["name"].as_str().unwrap_or_default();
        server.edit("pods", name, |pod| pod["metadata"]["labels"]["controller-revision-hash"] = hash.clone());
    }
    server.wait_for("daemonsets", "log", |object| object["status"]["updatedNumberScheduled"] == 2);
    write(&server, "daemonsets", "log", &json!({"spec": {"updateStrategy": {"type": "RollingUpdate"}}}));
    server.wait_for("daemonsets", "log", observed);
    settle();
    assert_eq!(uids(&server), pods, "in place");
    let first = server.objects("pods").remove(0)["metadata"]["name"].as_str().unwrap_or_default().to_owned();
    server.delete("pods", &first);
    clock::eventually("a new pod", || {
        let pods = server.objects("pods");
        let new = pods.iter().find(|pod| pod["spec"]["containers"][0]["image"] == "acme/log:v2")?;
        (pods.len() == 2 && new["status"]["phase"] == "Running").then_some(())
    });
}
