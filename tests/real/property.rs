//! "In place" is said only where the server takes the patch; and what it would take besides is known.

use engine::change::reason::Reason;
use engine::change::template::TemplateDiff;
use engine::change::{self, Change, Containers, Difference, Direction, FieldChanges};
use engine::k8s::names::RolloutId;
use engine::k8s::pod::Pod;
use engine::k8s::workload::Workload;
use engine::kinds::WorkloadKind;
use engine::plan;
use engine::rollout::patch::{NewImage, patches};
use engine::value::image::ImageReference;
use engine::value::kubelet_version::KubeletVersion;
use serde_json::{Value, json};

use crate::support::{Api, Namespace, Random};

const PODS: usize = 30;
const EDITS: usize = 15;

/// What the server lets change in a pod, and no rule of this program claims.
const TAKEN_BESIDES: [&str; 4] =
    ["metadata.labels", "metadata.annotations", "spec.activeDeadlineSeconds", "spec.tolerations"];

/// What a template would have of the pod.
fn bare(pod: &Value) -> Value {
    json!({"metadata": {"labels": pod["metadata"]["labels"], "annotations": pod["metadata"]["annotations"]}, "spec": pod["spec"]})
}

/// What some pods are to have as a whole: more than their containers.
fn as_a_whole(random: &mut Random) -> Option<Value> {
    random.one_in(3).then(|| {
        random.pick(&[
            json!({"requests": {"cpu": "4", "memory": "8Gi"}, "limits": {"cpu": "8", "memory": "16Gi"}}),
            json!({"limits": {"cpu": "8", "memory": "16Gi"}}),
            json!({"limits": {"memory": "16Gi"}}),
            json!({"requests": {"cpu": "4"}}),
            json!({"requests": {"cpu": "4", "memory": "8Gi"}, "limits": {"cpu": "4", "memory": "8Gi"}}),
            json!({}),
        ])
    })
}

fn edit_whole(random: &mut Random, resources: &mut Value) {
    let cpu = random.pick(&["0.05", "100m", "4", "6", "8"]);
    let memory = random.pick(&["32Mi", "8Gi", "9Gi", "16Gi", "17Gi"]);
    match random.below(9) {
        0 | 1 => resources["requests"]["cpu"] = json!(cpu),
        2 => resources["requests"]["memory"] = json!(memory),
        3 => resources["limits"]["cpu"] = json!(cpu),
        4 => resources["limits"]["memory"] = json!(memory),
        5 => {
            for map in ["requests", "limits"] {
                resources[map] = json!({"cpu": cpu, "memory": memory});
            }
        }
        6 => drop(resources.as_object_mut().and_then(|maps| maps.remove("limits"))),
        7 => *resources = Value::Null,
        _ => resources["limits"]["hugepages-2Mi"] = json!("2Mi"),
    }
}

fn edit(random: &mut Random, pod: &mut Value) {
    let list = if random.one_in(4) { "initContainers" } else { "containers" };
    let count = pod["spec"][list].as_array().map_or(0, Vec::len);
    if count == 0 || pod["spec"]["containers"].as_array().is_none_or(Vec::is_empty) {
        return;
    }
    let index = random.below(count);
    let spec = &mut pod["spec"];
    match random.below(26) {
        0..=7 => spec[list][index]["image"] = json!(random.image()),
        8 => spec[list][index]["image"] = json!(random.pick(&[" nginx:3", "nginx:3 ", "", "UPPER/Case:1", "nginx:"])),
        9 => spec[list][index]["env"] = json!([{"name": "E1", "value": random.pick(&["1", "2", "3"])}]),
        10 => spec[list][index]["args"] = json!(["-x"]),
        11 => spec[list][index]["imagePullPolicy"] = json!(random.pick(&["Always", "IfNotPresent"])),
        12 => {
            let resources = &mut spec[list][index]["resources"];
            let cpu = random.pick(&["50m", "100m", "0.5", "1"]);
            let memory = random.pick(&["32Mi", "64Mi", "1Gi", "0.5Gi"]);
            match random.below(6) {
                0 => resources["limits"]["cpu"] = json!(cpu),
                1 => resources["requests"]["cpu"] = json!(cpu),
                2 => resources["limits"]["memory"] = json!(memory),
                3 => resources["requests"]["memory"] = json!(memory),
                4 => {
                    let limits = json!({"cpu": "2", "memory": "2Gi"});
                    *resources = json!({"requests": {"cpu": cpu, "memory": memory}, "limits": limits});
                }
                _ => *resources = json!({"limits": {"cpu": "2"}}),
            }
        }
        13 => spec["activeDeadlineSeconds"] = json!(random.pick(&[100, 200])),
        14 => spec["terminationGracePeriodSeconds"] = json!(random.pick(&[5, 30, 31])),
        15 => spec["nodeSelector"] = json!({"nowhere": "2"}),
        16 => {
            let taint = json!({"key": random.pick(&["p", "q"]), "operator": "Exists"});
            let tolerations = spec["tolerations"].as_array_mut().expect("admission has added some");
            match random.below(4) {
                // Those of admission would be there again at once.
                0 => tolerations.retain(|known| known["effect"] == "NoExecute"),
                // Only those of this effect have seconds.
                1 => tolerations
                    .iter_mut()
                    .filter(|known| known["effect"] == "NoExecute")
                    .take(1)
                    .for_each(|known| known["tolerationSeconds"] = json!(30)),
                2 => tolerations.insert(0, taint),
                _ => tolerations.push(taint),
            }
        }
        17 => spec[list].as_array_mut().expect("a list").rotate_left(1),
        18 => drop(spec[list].as_array_mut().expect("a list").pop()),
        19 => {
            let mut container = spec["containers"][0].clone();
            container["name"] = json!("more");
            spec["containers"].as_array_mut().expect("a list").push(container);
        }
        20 => pod["metadata"]["labels"]["tier"] = json!("x"),
        21..=24 => edit_whole(random, &mut spec["resources"]),
        _ => pod["metadata"]["annotations"]["a/b"] = json!("x"),
    }
}

fn is_in_place(pod: &Value, diff: &Difference, server: KubeletVersion) -> bool {
    if diff.change.fields.resources.oldest_server(&pod["spec"]).is_some_and(|needs| server < needs) {
        return false;
    }
    let object = json!({"metadata": {"name": "p", "uid": "u"}});
    let workload = Workload::from_object(WorkloadKind::Pod, object).expect("it has a name");
    let pod = Pod::from_object(pod).expect("the server's pod can be read");
    let containers = Containers { pod: Some(&pod), all: pod.all_containers().collect(), restarting: Vec::new() };
    // Who reads which label is the kubelet's matter, not the server's.
    let of_the_server =
        |reason: &Reason| !matches!(reason, Reason::MetadataReadByContainer { .. } | Reason::PodLimitRestarts { .. });
    let in_the_pod = diff.change.fields.refused_in(&containers);
    plan::refused(diff, &workload, Direction::Forward).is_empty() && !in_the_pod.iter().any(of_the_server)
}

/// Exactly the patches that a rollout would send, each with the end of its path.
fn sent(pod: &Value, diff: &Difference) -> Vec<(&'static str, Value)> {
    let pod = Pod::from_object(pod).expect("the server's pod can be read");
    let images: Vec<NewImage> = diff
        .change
        .images
        .iter()
        .map(|(container, image)| NewImage { container: container.clone(), to: image.to.clone() })
        .collect();
    let patches =
        patches(&pod, images, &diff.change.fields, &RolloutId::from("test"), "test").expect("the containers are there");
    patches.into_iter().map(|patch| (patch.part.suffix(), json!(patch.operations))).collect()
}

fn whole(edited: &Value) -> Value {
    json!([
        {"op": "replace", "path": "/spec", "value": edited["spec"]},
        {"op": "replace", "path": "/metadata/labels", "value": edited["metadata"]["labels"]},
        {"op": "replace", "path": "/metadata/annotations", "value": edited["metadata"]["annotations"]}])
}

#[test]
fn in_place_is_said_only_where_the_server_takes_it() {
    let namespace = Namespace::new("property");
    let api = Api::open();
    let mut random = Random::new(4);
    let version = api.get("/version")["gitVersion"].as_str().map(str::to_owned).unwrap_or_default();
    let server: KubeletVersion = version.parse().expect("the server tells its version");
    let folder = format!("/api/v1/namespaces/{}/pods", namespace.name());
    let (mut in_place, mut refused, mut resized, mut wrong) = (0, 0, 0, Vec::new());
    let pods = std::env::var("PODS").ok().and_then(|pods| pods.parse().ok()).unwrap_or(PODS);
    for index in 0..pods {
        let metadata = json!({"name": format!("p{index}"), "labels": {"app": "p"}, "annotations": {"x": "y"}});
        let mut spec = random.pod_spec();
        if let Some(whole) = as_a_whole(&mut random) {
            spec["resources"] = whole;
        }
        let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec});
        let (status, pod) = api.request("POST", &folder, "application/json", &pod);
        assert_eq!(status, 201, "{pod}");
        let path = format!("{folder}/p{index}");
        for _ in 0..EDITS {
            let mut edited = pod.clone();
            for _ in 0..=random.below(2) {
                edit(&mut random, &mut edited);
            }
            let mut diff = change::diff(&bare(&pod), &bare(&edited));
            diff.change.fields = diff.change.fields.done_by([&server]);
            if is_in_place(&pod, &diff, server) {
                in_place += 1;
                for (part, patch) in sent(&pod, &diff) {
                    resized += usize::from(part == "/resize");
                    let (status, answer) = api.dry_run_patch(&format!("{path}{part}"), &patch);
                    if status != 200 {
                        wrong.push(format!("said to be in place, but refused: {diff:?}: {answer}"));
                    }
                }
                continue;
            }
            refused += 1;
            let is_known = |path: &String| TAKEN_BESIDES.iter().any(|known| path.starts_with(known));
            let malformed = diff.change.images.values().any(|image| ImageReference::parse(&image.to).is_err());
            let known = malformed || diff.rest.other.iter().any(is_known);
            let resizes = diff.change.fields.resizes();
            let (status, _) = api.dry_run_patch(&path, &whole(&edited));
            // The pod alone takes no resources, and a resize drops all else.
            let (resize, answer) = api.dry_run_patch(&format!("{path}/resize"), &whole(&edited));
            // A server that cannot resize a pod as a whole says yes, and leaves that out.
            let is_taken = !diff.change.fields.resizes_as_a_whole() || answer["spec"].get("resources").is_some();
            let rest = Difference {
                change: Change { fields: FieldChanges::default(), ..diff.change.clone() },
                ..diff.clone()
            };
            let only_resizes =
                resizes && is_in_place(&pod, &Difference { rest: TemplateDiff::default(), ..rest }, server);
            if (status == 200 && !known)
                || (only_resizes && resize == 200 && is_taken && !known && diff.rest.other.is_empty())
            {
                wrong.push(format!("refused here, but not by the server: {diff:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    println!("{in_place} in place, {resized} of them by a resize, {refused} refused");
    assert!(in_place > 80 && refused > 80 && resized > 5, "{in_place} in place, {resized} resized, {refused} refused");
}
