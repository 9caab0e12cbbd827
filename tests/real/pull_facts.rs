//! What pre-pull pods and drained labels do on a real cluster: both features rest on it.

use engine::change::MetadataChange;
use engine::k8s::budget::{CountedPod, limits};
use engine::k8s::names::{RolloutId, WorkloadRef};
use engine::k8s::pod::Pod;
use engine::k8s::restart::{is_pinned, pinned_image};
use engine::kinds::WorkloadKind;
use engine::rollout::drain::{Drain, DrainGoal, LabelUsers, drain, serving_in};
use engine::rollout::patch::{PodPatch, drain_patch, restore_patch};
use engine::rollout::pre_pull::{ImagePull, NodeImages, Pull, PullAsks, PullState, judge, pull_pod, pull_selector};
use engine::state::record::UpdateRecord;
use serde_json::{Value, json};

use crate::support::{Namespace, container_status, name, poll, registry, restarted, samples};

fn id() -> RolloutId {
    RolloutId::from("20260102-030405-0a1b2c")
}

fn web(namespace: &str) -> WorkloadRef {
    WorkloadRef { kind: WorkloadKind::Deployment, namespace: namespace.to_owned(), name: "web".into() }
}

fn pull(images: &[&str]) -> Pull {
    let image = |image: &&str| ImagePull { image: format!("{}/{image}", registry()), policy: "IfNotPresent".into() };
    let images = images.iter().map(image).collect();
    Pull { node: "node-1".into(), secrets: vec![], service_account: "default".into(), images, asks: PullAsks::Little }
}

/// Creates the pull pod and waits until every image has been judged for good.
fn judged(namespace: &Namespace, pull: &Pull) -> (Value, Vec<PullState>) {
    let body = pull_pod(&id(), &web(namespace.name()), pull, 60).to_string();
    namespace.kubectl_input(&["create", "-f", "-"], &body);
    let states =
        |pods: &[Value]| -> Option<Vec<(String, PullState)>> { Some(judge(pods.first()?).expect("the node takes it")) };
    let is_open = |(_, state): &(String, PullState)| matches!(state, PullState::Pulling { .. });
    let pods = namespace.wait_pods(&selector(), |pods| states(pods).is_some_and(|all| !all.iter().any(is_open)));
    let states = states(&pods).unwrap_or_default();
    assert!(states.iter().map(|(image, _)| image).eq(pull.images.iter().map(|image| &image.image)), "{states:?}");
    (pods[0].clone(), states.into_iter().map(|(_, state)| state).collect())
}

/// As `pull_selector` gives it, in the one place of a URL where the test's kubectl takes it.
fn selector() -> String {
    pull_selector(Some(&id())).replace(',', "%2C")
}

#[test]
fn a_pull_pod_reports_the_digest_or_the_registrys_words_and_runs_nothing() {
    let namespace = Namespace::new("pull-restricted");
    namespace.kubectl(&[
        "label",
        "namespace",
        namespace.name(),
        "pod-security.kubernetes.io/enforce=restricted",
        "pod-security.kubernetes.io/enforce-version=latest",
    ]);
    let wanted = pull(&["app:nope", "app:v3", "side:v1"]);
    let (pod, states) = judged(&namespace, &wanted);
    let [missing, app, side] = states.as_slice() else { panic!("three images: {states:?}") };
    match missing {
        PullState::Failed { reason, message } => {
            assert!(["ErrImagePull", "ImagePullBackOff"].contains(&reason.as_str()), "{reason}");
            assert!(message.contains("app:nope") && message.contains("not found"), "{message}");
        }
        other => panic!("app:nope does not exist: {other:?}"),
    }
    for (state, repository) in [(app, "app"), (side, "side")] {
        let prefix = format!("{}/{repository}@sha256:", registry());
        let has_digest = matches!(state, PullState::Pulled { image_id: Some(id) } if id.starts_with(&prefix));
        assert!(has_digest, "{state:?}");
    }
    let statuses = pod["status"]["containerStatuses"].as_array().expect("each container has a status");
    for status in statuses {
        assert!(status["state"]["running"].is_null() && status["lastState"] == json!({}), "{status}");
    }
    let events = namespace.kubectl(&["get", "events", "-o", "jsonpath={.items[*].reason}"]);
    assert!(events.contains("Pulled") && !events.split(' ').any(|reason| reason == "Started"), "{events}");

    // Made twice it is made once.
    let body = pull_pod(&id(), &web(namespace.name()), &wanted, 60).to_string();
    let again = namespace.try_kubectl(&["create", "-f", "-"], &body);
    assert!(again.code != 0 && again.stderr.contains("AlreadyExists"), "{again:?}");
}

#[test]
fn the_names_that_a_node_lists_are_read() {
    let namespace = Namespace::new("pull-node");
    let (_, states) = judged(&namespace, &pull(&["app:v2"]));
    assert!(matches!(states.as_slice(), [PullState::Pulled { .. }]), "{states:?}");
    let node: Value = serde_json::from_str(&namespace.kubectl(&["get", "node", "node-1", "-o", "json"])).expect("JSON");
    let images = node["status"]["images"].as_array().cloned().unwrap_or_default();
    let node = NodeImages::of(&node);
    assert!(node.ready && node.name == "node-1");
    // A new node's list comes half a minute late.
    for listed in images.iter().flat_map(|image| image["names"].as_array().into_iter().flatten()) {
        let listed = listed.as_str().unwrap_or_default();
        assert!(node.lists(listed) || listed.starts_with("<none>"), "{listed}");
    }
    assert!(!node.lists(&format!("{}/app:nope", registry())));
}

/// What LimitRanger and a quota say of a pull pod: one that they refuse is taken where it asks for nothing, or for more.
#[test]
fn a_pull_pod_asks_for_what_limit_ranges_and_quotas_take() {
    let range = |limits: &str| {
        format!("apiVersion: v1\nkind: LimitRange\nmetadata: {{name: sizes}}\nspec: {{limits: [{limits}]}}\n")
    };
    let quota = |hard: &str| {
        format!("apiVersion: v1\nkind: ResourceQuota\nmetadata: {{name: compute}}\nspec: {{hard: {{{hard}}}}}\n")
    };
    use PullAsks::{Enough, Little, Nothing};
    for (name, rule, refused) in [
        (
            "min",
            range("{type: Container, min: {memory: 64Mi, cpu: 60m}}"),
            Some(("minimum memory usage per Container", Nothing)),
        ),
        (
            "max",
            range("{type: Container, max: {cpu: 20m, memory: 16Mi}}"),
            Some(("maximum cpu usage per Container", Nothing)),
        ),
        ("pod-min", range("{type: Pod, min: {cpu: 80m, memory: 64Mi}}"), Some(("minimum cpu usage per Pod", Enough))),
        ("pod-max", range("{type: Pod, max: {cpu: 500m, memory: 64Mi}}"), None),
        ("ratio", range("{type: Container, maxLimitRequestRatio: {cpu: 2, memory: 1}}"), None),
        ("limits", quota("limits.cpu: '1', limits.memory: 1Gi"), None),
        ("requests", quota("requests.cpu: '1', requests.memory: 1Gi, pods: '1'"), None),
    ] {
        let namespace = Namespace::new(&format!("pull-{name}"));
        namespace.apply(&rule);
        let create = |asks: PullAsks| {
            let pull = Pull { asks, ..pull(&["side:v1"]) };
            let body = pull_pod(&id(), &web(namespace.name()), &pull, 60).to_string();
            namespace.try_kubectl(&["create", "--dry-run=server", "-f", "-"], &body)
        };
        if let Some((words, _)) = refused {
            // The informer of the admission plugin may be a moment late.
            let refused = poll(|| Some(create(Little)).filter(|refused| refused.code != 0));
            let refused = refused.unwrap_or_else(|| panic!("{name}: it is never refused"));
            assert!(refused.stderr.contains(words), "{name}: {refused:?}");
        } else if name == "limits" || name == "requests" {
            // A quota counts nothing before its controller has seen it.
            poll(|| {
                items(&namespace, "resourcequotas")
                    .iter()
                    .any(|quota| quota["status"]["hard"].is_object())
                    .then_some(())
            });
            let none = create(Nothing);
            assert!(none.code != 0 && none.stderr.contains("must specify"), "{name}: {none:?}");
        }
        let taken = create(refused.map_or(Little, |(_, asks)| asks));
        assert_eq!(taken.code, 0, "{name}: {taken:?}");
    }
}

fn read(pod: &Value) -> Pod {
    Pod::from_object(pod).expect("the server's pods can be read")
}

fn items(namespace: &Namespace, kind: &str) -> Vec<Value> {
    let list: Value = serde_json::from_str(&namespace.kubectl(&["get", kind, "-o", "json"])).expect("JSON");
    list["items"].as_array().cloned().unwrap_or_default()
}

fn send(namespace: &Namespace, patch: &PodPatch) {
    let operations = serde_json::to_string(&patch.operations).expect("a patch is JSON");
    namespace.kubectl(&["patch", "pod", &patch.key.name, "--type=json", "-p", &operations]);
}

/// Waits until `count` of the Services list the pod.
fn wait_serving(namespace: &Namespace, services: &[String], pod: &Pod, count: usize) {
    namespace.wait_pods("app=web", |_| {
        serving_in(&items(namespace, "endpointslices"), services, &pod.key.uid).len() == count
    });
}

#[test]
fn a_drained_pod_leaves_its_services_and_not_its_owner_and_comes_back() {
    let namespace = Namespace::new("pull-drain");
    let manifest = samples::deployment("web", 2).replace("labels: {app: web}", "labels: {app: web, serving: 'yes'}");
    namespace.apply(&manifest);
    for (service, more) in [("web", ""), ("headless", "clusterIP: None, publishNotReadyAddresses: true, ")] {
        namespace.apply(&format!(
            "apiVersion: v1\nkind: Service\nmetadata: {{name: {service}}}\n\
             spec: {{{more}selector: {{app: web, serving: 'yes'}}, ports: [{{port: 80}}]}}\n"
        ));
    }
    let before = namespace.wait_ready("app=web", 2);
    let pod = read(before.first().expect("two pods"));
    let owner = items(&namespace, "replicasets").iter().map(|set| set["spec"]["selector"].clone()).collect::<Vec<_>>();
    let changes = MetadataChange::default();
    let surroundings = LabelUsers { owner: &owner, budgets: &[], others: &[], changes: &changes, status_denied: None };
    let found = drain(&pod, &items(&namespace, "services"), &surroundings);
    let Drain::Drainable(DrainGoal { by, services }) = found else { panic!("drainable by `serving`: {found:?}") };
    assert_eq!((by.to_string().as_str(), services.len()), ("label serving", 2));
    wait_serving(&namespace, &services, &pod, 2);

    send(&namespace, &drain_patch(&pod, &by, "inplace-cli").expect("it has the label"));
    wait_serving(&namespace, &services, &pod, 0);
    let drained = namespace.wait_ready("app=web", 2);
    assert_eq!(restarted(&before, &drained), [""; 0], "the same pods, and nothing restarted");
    let off = drained.iter().find(|one| name(one) == pod.key.name).expect("the pod is there");
    assert_eq!(off["metadata"]["labels"].get("serving"), None);
    assert_eq!(UpdateRecord::drained(&read(off)), Some(by));

    send(&namespace, &restore_patch(&read(off), "inplace-cli").expect("a label is off"));
    wait_serving(&namespace, &services, &pod, 2);
    let after = namespace.wait_ready("app=web", 2);
    assert_eq!(restarted(&before, &after), [""; 0]);
    let on = after.iter().find(|one| name(one) == pod.key.name).expect("the pod is there");
    assert_eq!(read(on).labels, pod.labels);
    assert_eq!(read(on).annotations, pod.annotations);
}

/// What our own count says, the status's figure left aside, is what the disruption controller says. One budget after the
/// other: of several that select one pod the controller keeps only one up to date.
#[test]
fn budgets_are_counted_as_the_disruption_controller_counts() {
    let namespace = Namespace::new("pull-budget");
    namespace.apply(&samples::deployment("web", 3));
    let pods: Vec<Pod> = namespace.wait_ready("app=web", 3).iter().map(read).collect();
    let counted: Vec<CountedPod<'_>> = pods
        .iter()
        .map(|pod| CountedPod { labels: &pod.labels, ready: true, terminating: false, in_progress: false })
        .collect();
    let rules = ["minAvailable: 2", "minAvailable: 50%", "minAvailable: 100%", "minAvailable: 0"];
    for rule in
        rules.iter().chain(&["maxUnavailable: 0", "maxUnavailable: 1%", "maxUnavailable: 50%", "maxUnavailable: 2"])
    {
        let name = rule.to_lowercase().replace([' ', ':', '%'], "");
        namespace.apply(&format!(
            "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {{name: {name}}}\n\
             spec: {{{rule}, selector: {{matchLabels: {{app: web}}}}}}\n"
        ));
        let read_budget = || items(&namespace, "poddisruptionbudgets").first().cloned().unwrap_or_default();
        namespace.wait_pods("app=web", |_| {
            let status = &read_budget()["status"];
            status["currentHealthy"] == 3 && status["expectedPods"] == 3 && status["observedGeneration"] == 1
        });
        let budget = read_budget();
        let mut open = budget.clone();
        open["status"]["disruptionsAllowed"] = json!(99);
        let found = limits(&[open], 3, &counted);
        let [limit] = found.as_slice() else { panic!("it selects the pods: {found:?}") };
        assert_eq!(json!(limit.allowed), budget["status"]["disruptionsAllowed"], "{limit}: {budget:#}");
        namespace.kubectl(&["delete", "poddisruptionbudget", &name]);
    }
}

#[test]
fn a_pinned_image_restarts_the_same_bits_again_and_again() {
    let namespace = Namespace::new("pull-restart");
    namespace.apply(&samples::pod("web"));
    let mut before = namespace.wait_ready("app=web", 1);
    let template = format!("{}/side:v1", registry());
    let ran = container_status(&before[0], "side")["imageID"].clone();
    // `repo:tag@digest`, `repo@digest`, and without a known tag `repo:restarted@digest`. A text that was used before would
    // wait for the kubelet's back-off, which goes by name and image.
    for template in [Some(template.as_str()), Some(&template), None] {
        let pod = read(&before[0]);
        let (_, _, container) = pod.container(&"side".into()).expect("there is a side");
        let (_, _, status) = pod.container_status(&"side".into()).expect("it has a status");
        let pinned = pinned_image(&container.image, &status.image_id, template).expect("it was pulled by digest");
        namespace.kubectl(&["set", "image", "pod/web", &format!("side={pinned}")]);
        let count = status.restart_count + 1;
        let after = namespace.wait_pods("app=web", |pods| {
            let status = pods.first().map(|pod| container_status(pod, "side"));
            status.is_some_and(|status| status["restartCount"] == count && status["ready"] == true)
        });
        assert_eq!(restarted(&before, &after), ["web/side"], "{pinned}");
        assert_eq!(container_status(&after[0], "side")["imageID"], ran, "{pinned}");
        assert!(template.is_none_or(|known| is_pinned(known, &pinned, &status.image_id, Some(&container.image))));
        before = after;
    }
}
