//! What kubelets say of a resize that they do not do, and kubelets older than the server: KWOK plays them
//! (`tests/cluster/kwok-stages.yaml`).

use crate::support::{Api, Namespace, SimulatedNode, samples};

/// `web` on that node: three containers, one of them an init container that has done its work.
fn web(namespace: &Namespace, node: &SimulatedNode<'_>) {
    let sized = "resources: {requests: {cpu: 10m}, limits: {memory: 64Mi}}";
    let manifest = samples::with_app_fields(&samples::deployment("web", 2), sized);
    let image = format!("{}/app:v1", crate::support::registry());
    let init = format!("      initContainers: [{{name: init, image: '{image}', {sized}}}]\n");
    let there = format!(
        "      nodeSelector: {{kubernetes.io/hostname: {}}}\n      tolerations: [{{key: kwok, operator: Exists}}]\n{init}",
        node.name()
    );
    namespace.apply(&manifest.replacen("      containers:\n", &format!("{there}      containers:\n"), 1));
    namespace.wait_ready("app=web", 2);
}

fn cpus(namespace: &Namespace) -> Vec<serde_json::Value> {
    let cpu = |pod: &serde_json::Value| pod["status"]["containerStatuses"][0]["allocatedResources"]["cpu"].clone();
    namespace.pods("app=web").iter().map(cpu).collect()
}

#[test]
fn what_a_kubelet_does_not_do_is_said_in_its_words_and_taken_back() {
    let (namespace, api) = (Namespace::new("put-off"), Api::open());
    let Some(node) = SimulatedNode::start(&api, namespace.name(), "v1.35.4") else { return };
    web(&namespace, &node);
    let inplace = |line: &str, code: i32| {
        let output = namespace.inplace(&line.split(' ').collect::<Vec<_>>());
        assert_eq!(output.code, code, "{line}: {output:#?}");
        output.stdout + &output.stderr
    };
    inplace("apply deploy/web -c app --requests cpu=20m --yes", 0);
    assert_eq!(cpus(&namespace), ["20m", "20m"]);
    for (what, code, reported, state) in [
        ("Deferred", 5, "deferred by node", "1 resize deferred"),
        ("Infeasible", 4, "FAILED: ResizeInfeasible", "1 failed"),
        ("Error", 5, "resizing app requests.cpu: failed to resize: the cgroup could not be written", "1 resizing"),
    ] {
        namespace.kubectl(&["annotate", "pods", "--all", "--overwrite", &format!("resize={what}")]);
        let output = inplace("apply deploy/web -c app --requests cpu=55m --yes --timeout 4s", code);
        assert!(output.contains(reported) && output.contains("Roll back: kubectl inplace abort"), "{what}: {output}");
        let status = inplace("status deploy/web", 0);
        assert!(status.contains(state), "{what}: {status}");
        let back = inplace("abort deploy/web --yes", 0);
        assert!(back.contains("nothing else restarted; pods replaced: 0"), "{what}: {back}");
        assert_eq!(cpus(&namespace), ["20m", "20m"], "{what}");
    }
    // The kubelet is older than the server.
    let reported = inplace("apply deploy/web -c init --requests cpu=30m --yes", 0);
    assert!(reported.contains("new pods only") && reported.contains("No pod had to change"), "{reported}");
    let later = namespace.pods("app=web");
    assert!(later.iter().all(|pod| pod["spec"]["initContainers"][0]["resources"]["requests"]["cpu"] == "10m"));
}
