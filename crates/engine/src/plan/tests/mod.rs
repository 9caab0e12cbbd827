//! Every reason and every warning, produced by a plan: a table of situations in YAML, and a test that none is missing.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::*;
use crate::change::reason::{ReasonCode, WarningCode};
use crate::change::target;
use crate::change::{Change, FieldEffect};
use crate::k8s::pod::Pod;
use crate::k8s::workload::Workload;
use crate::kinds::WorkloadKind;
use crate::merge::strategic_merge::apply;
use crate::plan::assemble::{Objects, assemble};
use crate::rollout::patch::{PodPart, PodPatch};
use crate::rollout::pre_pull::Lacking;
use crate::value::int_or_percent::IntOrPercent;

const CASES: &str = include_str!("cases.yaml");

fn yaml(text: &str) -> Value {
    serde_saphyr::from_str(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn merged(object: &Value, patch: Option<&Value>, kind: &str) -> Value {
    let Some(patch) = patch else { return object.clone() };
    apply(object, patch, WorkloadKind::named(kind).unwrap().merge()).unwrap()
}

fn text<'v>(value: &'v Value, pointer: &str) -> Option<&'v str> {
    value.pointer(pointer).and_then(Value::as_str)
}

fn list<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

fn statuses(spec: &Value, key: &str, uid: &str) -> Value {
    let status = |container: &Value| {
        let (name, image) = (text(container, "/name").unwrap(), text(container, "/image").unwrap());
        json!({"name": name, "image": image, "imageID": format!("{name}@sha256:{}", "a".repeat(64)), "ready": true,
            "containerID": format!("containerd://{uid}-{name}"), "started": true,
            "state": {"running": {"startedAt": "2026-01-01T00:00:00Z"}}})
    };
    list(spec, key).iter().map(status).collect()
}

/// A pod as the owner's controller and a kubelet would have created it, then changed as the case says.
fn pod(owner: &Value, index: usize, controller: &str, all: Option<&Value>, one: &Value) -> Value {
    let template = &owner["spec"]["template"];
    let uid = format!("pod-{index}");
    let mut spec = template["spec"].clone();
    spec["nodeName"] = "node-a".into();
    let mut metadata = template["metadata"].clone();
    for (key, value) in [
        ("name", json!(format!("web-{index}"))),
        ("namespace", "prod".into()),
        ("uid", uid.as_str().into()),
        ("ownerReferences", json!([{"kind": "X", "name": controller, "uid": controller, "controller": true}])),
    ] {
        metadata[key] = value;
    }
    let status = json!({"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}],
        "containerStatuses": statuses(&spec, "containers", &uid),
        "initContainerStatuses": statuses(&spec, "initContainers", &uid)});
    let pod = json!({"metadata": metadata, "spec": spec, "status": status});
    merged(&merged(&pod, all, "Pod"), Some(one), "Pod")
}

/// One situation of the table.
struct Case {
    name: String,
    plan: WorkloadPlan,
    reasons: BTreeSet<String>,
    warnings: BTreeSet<String>,
    paths: Vec<String>,
}

fn codes(case: &Value, key: &str) -> BTreeSet<String> {
    list(case, key).iter().map(|code| code.as_str().unwrap().to_owned()).collect()
}

fn surroundings(case: &Value) -> Surroundings {
    let mut found = Surroundings {
        nodes_not_read: text(case, "/nodesNotRead").map(str::to_owned),
        newer_in_deployment: text(case, "/newerInDeployment").map(str::to_owned),
        budgets: list(case, "budgets").to_vec(),
        autoscalers: list(case, "autoscalers").to_vec(),
        services: list(case, "services").to_vec(),
        selecting: case.get("selecting").map(|_| list(case, "selecting").to_vec()),
        server: text(case, "/server").map(|version| version.parse().unwrap()),
        vertical_autoscalers: list(case, "verticalAutoscalers").to_vec(),
        ..Surroundings::default()
    };
    found.denied.extend(list(case, "denied").iter().map(|verb| Denied {
        verb: verb.as_str().unwrap().into(),
        resource: "pods".into(),
        message: "no".into(),
        role: None,
    }));
    found
}

/// The ReplicaSets of a Deployment that has older revisions, as many as `older` says: theirs have no pods.
fn owned(case: &Value, workload: &Workload) -> Vec<Value> {
    let revision = |(number, name): (usize, &Value)| {
        json!({"metadata": {"name": name, "uid": name, "labels": {"controller-revision-hash": name},
            "annotations": {"deployment.kubernetes.io/revision": number.to_string()}}})
    };
    let revisions = list(case, "revisions").iter().enumerate().map(revision).collect();
    let Some(older) = case.get("older").and_then(Value::as_u64) else { return revisions };
    let set = |revision: u64, replicas: u64, template: Value| {
        let uid = if replicas > 0 { "rs".to_owned() } else { format!("rs{revision}") };
        json!({"metadata": {"name": format!("web-{revision}"), "uid": uid,
                "annotations": {"deployment.kubernetes.io/revision": revision.to_string()}},
            "spec": {"replicas": replicas, "template": template}, "status": {"replicas": replicas}})
    };
    let before = |revision: u64| {
        let mut template = workload.template().clone();
        template["spec"]["containers"][1]["image"] = format!("acme/side:0.{revision}").into();
        set(revision, 0, template)
    };
    (1..=older).map(before).chain([set(older + 1, 2, workload.template().clone())]).collect()
}

/// The plan with this pod as the server's answer to the only question.
fn answered(plan: WorkloadPlan, part: PodPart, answer: Pod, live: &Snapshot) -> WorkloadPlan {
    let (key, pods) = (answer.key.clone(), vec![answer.key.clone()]);
    let patch = PodPatch { key, part, operations: json_patch::Patch(Vec::new()), field_manager: String::new() };
    let answers = vec![(Question { patch, pods }, PatchAnswer::Pod(Box::new(answer)))];
    let dry_run = Some(DryRun {
        requests_refused: Vec::new(),
        answers,
        owner_refused: None,
        is_way_back: false,
        asked_all: true,
        lacking: Lacking::default(),
        pulls_denied: None,
        asked_pulls: vec![],
    });
    plan.with_answers(Ok(Vec::new()), dry_run, live)
}

/// What admission makes of the template, and of the one that the plan leads to.
fn mirror(case: &Value, live: &mut Snapshot) {
    let making = |image: &Value| {
        let mut pod = live.pods[0].clone();
        pod.spec.containers[1].image = image.as_str().unwrap().into();
        AdmittedPod::Pod(Box::new(pod))
    };
    if let [made, next] = list(case, "makes") {
        (live.surroundings.made, live.surroundings.made_next) = (making(made), making(next));
    }
}

/// Reads one situation. `owner` and `manifest` are strategic merge patches of the base owner, `pod` is one of every
/// pod, `pods` has one each.
/// The annotation with one rollout that has ended.
fn history_with(change: &Value) -> Value {
    let mut entry = json!({"id": "20260101t000000-abcd", "who": "jane", "since": "2026-01-01T00:00:00Z",
        "direction": "forward", "change": {"images": {}}, "ended": "2026-01-01T00:00:09Z", "outcome": "complete"});
    entry["change"].as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
    json!({"kubectl-inplace.io/history": json!([entry]).to_string()})
}

fn read(case: &Value, base: &Value) -> Case {
    let kind_name = text(case, "/kind").unwrap_or("Deployment");
    let kind = WorkloadKind::ALL.into_iter().find(|kind| kind.spec().kind == kind_name).unwrap();
    let owner = merged(base, case.get("owner"), if kind == WorkloadKind::Pod { "Deployment" } else { kind_name });
    let controller = text(case, "/controller").unwrap_or(if kind == WorkloadKind::Deployment { "rs" } else { "owner" });
    let default = json!([{}, {}]);
    let patches = case.get("pods").unwrap_or(&default).as_array().unwrap();
    let made = patches.iter().enumerate().map(|(index, one)| pod(&owner, index, controller, case.get("pod"), one));
    let mut pods: Vec<Value> = made.collect();
    let object = if kind == WorkloadKind::Pod {
        pods.truncate(1);
        pods[0]["metadata"]["ownerReferences"] = json!([]);
        pods[0].clone()
    } else {
        owner
    };
    let kubelets = case.get("kubelets").and_then(Value::as_object).cloned().unwrap_or_else(Map::new);
    let pods = pods.iter().map(|pod| Pod::from_object(pod).unwrap()).collect();
    let workload = Workload::from_object(kind, object.clone()).unwrap();
    let mut live = assemble(workload, Objects { pods, ..Objects::default() });
    live.controllers = if kind == WorkloadKind::Pod { [].into() } else { [controller.into()].into() };
    let version = |(node, version): (String, Value)| (node, version.as_str().unwrap().parse().unwrap());
    live.kubelets = kubelets.into_iter().map(version).collect();
    live.not_read = list(case, "notRead").iter().map(|what| what.as_str().unwrap().to_owned()).collect();
    live.surroundings = surroundings(case);
    live.surroundings.owned = owned(case, &live.workload);
    live.surroundings.now = Some("2026-01-01T00:09:59Z".into());
    mirror(case, &mut live);
    live.controllers.extend(list(case, "revisions").iter().map(|name| name.as_str().unwrap().into()));
    let intent = match (text(case, "/images"), text(case, "/refused"), text(case, "/restart")) {
        (Some(images), _, _) => {
            let words: Vec<String> = images.split(' ').map(str::to_owned).collect();
            Intent::Images(target::parse(&words, &[], target::Unnamed::None, true).unwrap().images)
        }
        (None, Some(message), _) => Intent::Manifest(Manifest::Refused { message: message.into() }),
        (None, None, Some(names)) => {
            let containers = names.split(' ').map(Into::into).collect();
            Intent::Restart { by_request: case.get("byRequest").is_some(), containers }
        }
        (None, None, None) if case.get("undoes").is_some() => {
            live.workload.object["metadata"]["annotations"] = history_with(&case["undoes"]);
            Intent::Undo { to: None, pin_digest: false }
        }
        (None, None, None) => Intent::Manifest(Manifest::Stored {
            object: merged(&object, case.get("manifest"), kind_name),
            removals_unseen: case.get("neverApplied").is_some(),
        }),
    };
    let given = list(case, "podsGiven").iter().filter_map(Value::as_str).map(str::to_owned).collect();
    let node = text(case, "/nodeGiven").map(str::to_owned);
    let subset = Subset { pods: given, node, ..Subset::default() };
    let number = |key: &str| case.get(key).and_then(Value::as_u64).map(|given| u32::try_from(given).unwrap());
    let options = Options {
        pods_only: case.get("durable").is_none(),
        subset,
        min_ready_seconds: number("minReadySeconds"),
        canary: number("canary").map(IntOrPercent::Int),
        ..Options::default()
    };
    let mut plan = build(&intent, &live, &options).unwrap();
    if let Some(image) = text(case, "/admissionMakes") {
        let mut answer = live.pods[0].clone();
        answer.spec.containers[1].image = image.into();
        plan = answered(plan, PodPart::Pod, answer, &live);
    }
    if let Some(limit) = text(case, "/admissionAdds") {
        let mut answer = plan.pods[0].fields.resources.asked_of(&live.pods[0]);
        answer.spec.containers[1].resources.map_mut("limits").insert("cpu".into(), limit.into());
        plan = answered(plan, PodPart::Resize, answer, &live);
    }
    if let Some(message) = text(case, "/serverWarns") {
        plan.warnings.push(Warning::ServerWarning { message: message.into() });
    }
    Case {
        name: text(case, "/name").unwrap().to_owned(),
        plan,
        reasons: codes(case, "reasons"),
        warnings: codes(case, "warnings"),
        paths: codes(case, "paths").into_iter().collect(),
    }
}

fn cases() -> Vec<Case> {
    let document = yaml(CASES);
    list(&document, "cases").iter().map(|case| read(case, &document["base"])).collect()
}

#[test]
fn every_situation_has_exactly_its_reasons_and_warnings() {
    let mut wrong = String::new();
    for case in cases() {
        let reasons: BTreeSet<String> = case.plan.all_reasons().map(|reason| reason.code().to_owned()).collect();
        let warnings: BTreeSet<String> = case.plan.warnings.iter().map(|warning| warning.code().to_owned()).collect();
        // Said of every change of pods that belong to somebody: the table does not repeat it.
        let warnings: BTreeSet<String> = warnings
            .into_iter()
            .filter(|code| code != "TemplateKeepsImage" || case.warnings.contains("TemplateKeepsImage"))
            .collect();
        if (&reasons, &warnings) != (&case.reasons, &case.warnings) {
            wrong.push_str(&format!("{}:\n  {reasons:?}\n  {warnings:?}\n", case.name));
        }
        // The nodes' room is read only where the plan says that it matters.
        let blocked = case.plan.verdict == Verdict::NotEligible;
        let skipped = case.plan.pods.iter().all(|pod| pod.reasons.is_empty() || pod.verdict == PodVerdict::Skipped);
        assert_eq!(blocked, !(case.plan.reasons.is_empty() && skipped), "{}", case.name);
        let paths: BTreeSet<String> = case.plan.all_reasons().filter_map(Reason::path).collect();
        for path in &case.paths {
            assert!(paths.contains(path), "{}: {path} is not in {paths:?}", case.name);
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// A pod without a node has other cpu and memory at once: that it goes first would prove nothing.
#[test]
fn where_nothing_restarts_a_pod_that_no_node_runs_goes_last() {
    let of = |name| case(name).pods.iter().map(|pod| pod.node.clone()).collect::<Vec<_>>();
    assert_eq!(of("a resize where no node runs one of the pods"), ["node-a", ""]);
}

/// A run that resumes it goes by the names in the lock.
#[test]
fn a_lock_names_the_pods_that_the_plan_changes_and_no_other() {
    let plan = case("two pods by name, of which one is on the node");
    let changed = plan.pods.iter().filter(|pod| pod.verdict == PodVerdict::Update);
    let names: BTreeSet<String> = changed.map(|pod| pod.pod.name.clone()).collect();
    assert_eq!(names.len(), 1);
    assert_eq!(plan.durable.unwrap().rollout.only, names);
}

/// A pod outside of the chosen ones is in the goal with nothing wanted of it: its label or gate is restored.
#[test]
fn what_was_removed_from_a_pod_that_is_not_chosen_is_restored() {
    let plan = case("a Service that an earlier run took pods out of, and none of them is chosen");
    assert!(plan.pods.iter().all(|pod| pod.verdict == PodVerdict::InProgress && pod.unrestored.is_some()));
    let goal = plan.goal(&"one".into(), &Start { field_manager: "me".into(), ..Start::default() });
    assert_eq!(goal.pods.len(), 2);
    assert!(goal.pods.iter().all(|pod| pod.containers.is_empty() && pod.drain.is_none()));
}

/// The label or gate by which each pod of a case is drained.
#[test]
fn pods_are_drained_where_a_label_can_be_removed_or_a_gate_be_turned_off() {
    const GATE: &str = "readiness gate example.com/serving";
    let drained: Vec<(String, Vec<Option<String>>)> = cases()
        .into_iter()
        .filter(|case| case.name.starts_with("a Service"))
        .map(|case| {
            let label = |pod: &PodPlan| pod.drain.as_ref().map(|drain| drain.by.to_string());
            (case.name, case.plan.pods.iter().map(label).collect())
        })
        .collect();
    let by = |label: Option<&str>| vec![label.map(str::to_owned); 2];
    let expected = [
        ("a Service by the owner's label", by(None)),
        ("a Service by the owner's label, and a container that serves nothing", by(None)),
        ("a Service by a label of its own", by(Some("label tier"))),
        ("a Service, and who else selects was not read", by(None)),
        ("a Service, and nothing restarts", by(None)),
        ("a Service that an earlier run took pods out of", by(None)),
        ("a Service that an earlier run took pods out of, and another image", by(Some("label tier"))),
        ("a Service whose label a pod lacks, with no note of who took it off", by(None)),
        ("a Service by the owner's label, and a gate that kubectl has set", by(Some(GATE))),
        ("a Service by the owner's label, and a gate that a controller sets", by(None)),
        ("a Service by the owner's label, and a gate that an earlier run turned off", by(None)),
        (
            "a Service by the owner's label, and a gate that an earlier run turned off, and another image",
            by(Some(GATE)),
        ),
        ("a Service that an earlier run took pods out of, and none of them is chosen", by(None)),
    ];
    assert_eq!(drained, expected.map(|(name, labels)| (name.to_owned(), labels)));
}

#[test]
fn no_reason_and_no_warning_is_without_a_situation() {
    let cases = cases();
    let reasons: BTreeSet<ReasonCode> =
        cases.iter().flat_map(|case| case.plan.all_reasons().map(Reason::kind)).collect();
    // Only a plan of two manifests, or a saved one, says these; their own tests have them. The last: tests/situations.
    let offline = [
        ReasonCode::OwnerFieldImmutable,
        ReasonCode::ControllerNotInPlace,
        ReasonCode::ManifestsNotMergeable,
        ReasonCode::PlanStale,
        ReasonCode::PullPodRefused,
        ReasonCode::KruiseNotInstalled,
        ReasonCode::PodIsControlled,
        ReasonCode::SidecarNotUpdated,
        ReasonCode::UpdateStrategyHolds,
    ];
    let forgotten: Vec<_> =
        ReasonCode::ALL.iter().filter(|it| !offline.contains(it) && !reasons.contains(it)).collect();
    assert!(forgotten.is_empty(), "{forgotten:?}");
    let warnings: BTreeSet<WarningCode> =
        cases.iter().flat_map(|case| case.plan.warnings.iter().map(Warning::kind)).collect();
    // What nodes have to pull, and what else is in the manifests, is known once the plan is made.
    let offline = [
        WarningCode::UpdatedByController,
        WarningCode::SidecarSetUpdates,
        WarningCode::ItsController,
        WarningCode::WorkloadAdded,
        WarningCode::WorkloadRemoved,
        WarningCode::NotPulledFirst,
        WarningCode::ConfigurationChanges,
    ];
    let mut forgotten = WarningCode::ALL.iter().filter(|it| !offline.contains(it) && !warnings.contains(it));
    assert_eq!(forgotten.next(), None);
}

#[test]
fn the_code_of_a_value_is_its_tag_in_json() {
    for case in cases() {
        for reason in case.plan.all_reasons() {
            let value = serde_json::to_value(reason).unwrap();
            assert_eq!(value["code"], reason.code());
            assert_eq!(serde_json::from_value::<Reason>(value).unwrap(), *reason);
            let hint = reason.hint_for(&case.plan.workload).to_string();
            assert!(!reason.sentence().ends_with('.') && !hint.is_empty(), "{reason:?}");
        }
        for warning in &case.plan.warnings {
            let value = serde_json::to_value(warning).unwrap();
            assert_eq!(value["code"], warning.code());
            assert_eq!(serde_json::from_value::<Warning>(value).unwrap(), *warning);
            assert!(!warning.sentence().ends_with('.'), "{warning:?}");
        }
    }
}

fn case(name: &str) -> WorkloadPlan {
    cases().into_iter().find(|case| case.name == name).unwrap_or_else(|| panic!("no case {name}")).plan
}

/// The template gets what was asked for, and each pod what a new one would have: forward and on the way back.
#[test]
fn under_a_mirror_pods_get_what_the_server_makes_of_the_template() {
    const MIRRORED: [&str; 2] = ["mirror.acme.example/acme/side:1", "mirror.acme.example/acme/side:2"];
    for (name, present) in [
        ("a mirror, and pods as it makes them", MIRRORED[0]),
        ("a mirror that is younger than the pods", "acme/side:1"),
    ] {
        let plan = case(name);
        let side = "side".into();
        let of_pods = plan.pods.iter().map(|pod| (pod.changes[&side].from.as_str(), pod.changes[&side].to.as_str()));
        assert_eq!(of_pods.collect::<Vec<_>>(), [(present, MIRRORED[1]); 2], "{name}");
        let durable = plan.durable.as_ref().unwrap();
        // What `undo` sets in the template is the template's.
        assert!(durable.rollout.origin.is_empty() || present != MIRRORED[0], "{name}: {:?}", durable.rollout.origin);
        let (forward, back) = (&durable.rollout.change, durable.rollout.change.reversed());
        let of = |change: &Change| (change.images[&side].to.clone(), change.images[&side].in_pods().to_owned());
        assert_eq!(of(forward), ("acme/side:2".into(), MIRRORED[1].into()), "{name}");
        assert_eq!(of(&back), ("acme/side:1".into(), MIRRORED[0].into()), "{name}");
    }
    let there = case("a mirror, and the image that the template has");
    assert_eq!(there.verdict, Verdict::NothingToDo);
}

#[test]
fn nodes_decide_pod_by_pod() {
    let plan = case("a sidecar on nodes of two ages");
    let verdicts: Vec<(&str, PodVerdict)> = plan.pods.iter().map(|pod| (pod.node.as_str(), pod.verdict)).collect();
    assert_eq!(verdicts, [("node-a", PodVerdict::Update), ("node-old", PodVerdict::Blocked)]);
}

#[test]
fn a_plain_init_container_is_recorded_and_restarts_nothing() {
    let plan = case("a plain init container");
    assert_eq!(plan.verdict, Verdict::InPlace);
    assert!(plan.estimate_seconds < 1.0);
    let goal = plan.goal(&"one".into(), &Start { field_manager: "me".into(), ..Start::default() });
    assert!(goal.pods.iter().all(|pod| !pod.containers[&"prepare".into()].restarts));
}

#[test]
fn tolerations_come_into_the_pods_and_stay_in_them_when_they_are_taken_back() {
    use PodVerdict::{AlreadyThere, Update};
    for (name, verdicts, row) in [
        ("tolerations are added", [Update, AlreadyThere], (None, Some("gpu op=Exists"), FieldEffect::InPlace)),
        (
            "tolerations that every pod has already",
            [AlreadyThere, AlreadyThere],
            (None, Some("gpu op=Exists"), FieldEffect::InPlace),
        ),
        (
            "tolerations are taken back",
            [AlreadyThere, AlreadyThere],
            (Some("gpu op=Exists"), None, FieldEffect::LaterPods),
        ),
    ] {
        let plan = case(name);
        assert_eq!(plan.verdict, Verdict::InPlace, "{name}");
        assert_eq!(plan.pods.iter().map(|pod| pod.verdict).collect::<Vec<_>>(), verdicts, "{name}");
        let change = &plan.durable.as_ref().unwrap().rollout.change.fields;
        assert_eq!(*change, plan.fields, "{name}: the template goes along");
        let rows = plan.fields.rows();
        let found = rows.iter().map(|row| (row.before.as_deref(), row.after.as_deref(), row.effect.clone()));
        assert_eq!(found.collect::<Vec<_>>(), [row], "{name}");
    }
}

#[test]
fn labels_and_annotations_change_in_place_pod_by_pod() {
    let plan = case("labels and annotations");
    assert_eq!(plan.verdict, Verdict::InPlace);
    let goal = plan.goal(&"one".into(), &Start { field_manager: "me".into(), ..Start::default() });
    let keys = |pod: &PodPlan| pod.fields.rows().into_iter().map(|row| row.what).collect::<Vec<_>>();
    assert_eq!(
        plan.pods.iter().map(keys).collect::<Vec<_>>(),
        [vec!["label tier", "annotation acme.example/level"], vec![]]
    );
    assert_eq!(plan.pods[1].verdict, PodVerdict::AlreadyThere);
    assert_eq!(goal.pods.len(), 1);
    assert_eq!(goal.pods[0].fields, plan.pods[0].fields);
}

/// The rollout patches the labels, waits until the pod shows them, and takes nothing down for it.
#[test]
fn a_rollout_of_labels_alone_ends_when_the_pods_show_them() {
    use crate::rollout::{Action, Answer, Observation, Observed, RunState, turn};
    let mut goal =
        case("labels and annotations").goal(&"one".into(), &Start { field_manager: "me".into(), ..Start::default() });
    goal.pre_pull = PrePull::Never;
    let document = yaml(CASES);
    let named = |case: &&Value| text(case, "/name") == Some("labels and annotations");
    let found = list(&document, "cases").iter().find(named).unwrap();
    let pods: Vec<Pod> = list(found, "pods")
        .iter()
        .enumerate()
        .map(|(index, one)| Pod::from_object(&pod(&document["base"], index, "rs", None, one)).unwrap())
        .collect();
    let (mut observed, mut state) = (Observed::default(), RunState::new());
    let now = std::time::Duration::ZERO;
    observed.observe(Observation::Relisted(pods.clone()));
    let first = turn(&goal, &observed, &mut state, now);
    let [(id, Action::Patch(patch))] = first.actions.as_slice() else { panic!("{:?}", first.actions) };
    assert!(patch.operations.0.iter().any(|operation| *operation.path() == "/metadata/labels/tier"));
    state.answer(*id, Answer::Accepted, now);
    assert!(turn(&goal, &observed, &mut state, now).end.is_none(), "the pod does not show it yet");
    let mut patched = pods[0].clone();
    patched.labels.insert("tier".into(), "back".into());
    patched.annotations.insert("acme.example/level".into(), "high".into());
    patched.resource_version += 1;
    observed.observe(Observation::Applied(Box::new(patched)));
    let end = turn(&goal, &observed, &mut state, now).end.unwrap();
    assert_eq!(end.result, EndResult::Complete, "{end:?}");
}

#[test]
fn a_manifest_takes_back_what_was_changed_in_the_pods() {
    let plan = case("a pod that was changed in place before");
    assert_eq!(plan.verdict, Verdict::InPlace);
    let change = &plan.pods[0].changes[&"side".into()];
    assert_eq!((change.from.as_str(), change.to.as_str()), ("acme/side:hot", "acme/side:1"));
}

#[test]
fn a_preferred_hook_and_probe_make_the_estimate_longer() {
    assert!(case("slow to stop").estimate_seconds >= 2.0 * 20.0);
    assert!(case("one image").estimate_seconds < 10.0);
    // Each pod takes one delay, half a period, and the period that ready must hold.
    let late = case("a startup and a readiness probe that both begin late").estimate_seconds;
    assert!((52.0..56.0).contains(&late), "{late}");
    // The time of the last rollout does not count for one in which ready has to hold longer.
    let held = case("ready has to hold longer than at the last rollout").estimate_seconds;
    assert!((10.0..13.0).contains(&held), "{held}");
    // The containers of a new pod start one after the other, and its times are whole seconds.
    assert!(case("ready two seconds after its first start").estimate_seconds < 2.0);
    assert!(case("ready twenty seconds after its first start").estimate_seconds > 2.0 * 20.0);
    let later = case("ready twenty seconds after its first start, and five after that of another container");
    assert!(later.estimate_seconds < 10.0, "the other container has made it wait");
}

#[test]
fn a_restart_pins_what_each_pod_runs_and_leaves_the_owner_alone() {
    let digest = format!("sha256:{}", "a".repeat(64));
    let (both, alone) = (format!("acme/side:1@{digest}"), format!("acme/side@{digest}"));
    for (name, from, to) in [
        ("a restart", "acme/side:1", both.as_str()),
        ("a fourth restart within ten seconds", &alone, &both),
        ("a restart by request", "acme/side:1", "acme/side:1"),
        // An image that the template is to have as well takes the restarted pods along.
        ("another image of a restarted pod", &alone, "acme/side:2"),
    ] {
        let plan = case(name);
        assert_eq!(plan.verdict, Verdict::InPlace, "{name}");
        assert_eq!(plan.restarts_the_same, name != "another image of a restarted pod", "{name}");
        assert!(plan.durable.is_none(), "{name}");
        assert_eq!(plan.is_by_request(), name.ends_with("by request"), "{name}");
        for pod in &plan.pods {
            let changes: Vec<_> = pod.changes.iter().map(|(name, change)| (name.as_str(), change)).collect();
            let [("side", change)] = changes.as_slice() else { panic!("{name}: {changes:?}") };
            assert_eq!(
                (change.from.as_str(), change.to.as_str(), change.effect),
                (from, to, Effect::Restart),
                "{name}"
            );
        }
    }
}

/// A restarted pod runs what the template says: an `apply` of that image must not restart it once more.
#[test]
fn a_manifest_that_equals_the_template_leaves_restarted_pods_alone() {
    for name in ["the template of a restarted pod", "the manifest of a restarted pod"] {
        let plan = case(name);
        assert_eq!(plan.verdict, Verdict::NothingToDo, "{name}: {:?}", plan.pods);
        assert!(plan.containers.iter().all(|container| container.effect == Effect::Unchanged), "{name}");
    }
}

#[test]
fn a_restart_needs_to_know_which_container() {
    let document = yaml(CASES);
    let base = &document["base"];
    let workload = Workload::from_object(WorkloadKind::Deployment, base.clone()).unwrap();
    let pods = vec![Pod::from_object(&pod(base, 0, "rs", None, &json!({}))).unwrap()];
    let mut live = assemble(workload, Objects { pods, ..Objects::default() });
    live.controllers = ["rs".into()].into();
    let wanted = |live: &Snapshot, names: &[&str]| {
        let names = names.iter().map(|name| (*name).into()).collect();
        restart::restart(live, &wanted::Known::of(live), &names, false).map_err(|error| error.to_string())
    };
    assert_eq!(wanted(&live, &[]).err().unwrap(), "it has several containers, and none was named: app, side, mesh");
    assert_eq!(
        wanted(&live, &["side", "prepare"]).err().unwrap(),
        "container prepare is an init container: it has run, and nothing of it can be restarted"
    );
    for list in ["containers", "initContainers"] {
        live.workload.object["spec"]["template"]["spec"][list].as_array_mut().unwrap().truncate(1);
    }
    live.pods.clear();
    let wanted = wanted(&live, &[]).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(wanted.containers, ["app".into()].into());
}
