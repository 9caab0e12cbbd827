//! `apply` on every kind of workload: the pods stay, the planned containers restart, and nothing else.

use serde_json::Value;

use crate::support::{
    Namespace, Output, Watch, container_status, image, images, is_ready, name, registry, restarted, samples,
};

/// What makes a run quick: the hold of the first pod is a matter of other tests.
const NO_HOLD: [&str; 2] = ["--min-ready-seconds", "0"];

/// Asserts that the run bumped `side` to `v2` in each of the pods and restarted nothing else, and that it says so.
fn assert_side_alone_restarted(before: &[Value], after: &[Value], output: &Output) {
    assert_eq!(output.code, 0, "{output:#?}");
    let expected: Vec<String> = before.iter().map(|pod| format!("{}/side", name(pod))).collect();
    assert_eq!(restarted(before, after), expected);
    for pod in after {
        assert!(is_ready(pod), "{pod:#}");
        assert_eq!(image(pod, "side"), "side:v2");
        assert_eq!(container_status(pod, "side")["restartCount"], 1, "{pod:#}");
        assert_eq!(container_status(pod, "app")["restartCount"], 0, "{pod:#}");
    }
    let pods = if after.len() == 1 { "1 pod".to_owned() } else { format!("{} pods", after.len()) };
    for said in
        [format!("Updated {pods} in place"), format!("side in {pods}; nothing else restarted; pods replaced: 0")]
    {
        assert!(output.stdout.contains(&said), "{said:?} is missing: {output:#?}");
    }
}

/// Applies the sample, runs `apply` with the arguments, and asserts that `side` alone restarted, once in each pod.
fn side_alone_restarts(
    namespace: &Namespace,
    manifest: &str,
    workload: &str,
    count: usize,
    arguments: &[&str],
) -> Output {
    namespace.apply(manifest);
    let selector = format!("app={workload}");
    let before = namespace.wait_ready(&selector, count);
    let output = namespace.inplace(&[&["apply"], arguments].concat());
    assert_side_alone_restarted(&before, &namespace.pods(&selector), &output);
    output
}

#[test]
fn a_deployment_keeps_its_pods_and_its_template() {
    let namespace = Namespace::new("apply-deployment");
    let manifest = samples::deployment("web", 3);
    let output =
        side_alone_restarts(&namespace, &manifest, "web", 3, &["deployment/web", "side=:v2", "--pods-only", "--yes"]);
    // The first pod's hold, because no readiness probe vouches for the new container.
    assert!(output.stderr.contains("stabilizing for 5 s"), "{}", output.stderr);
    assert!(output.stderr.contains("TemplateKeepsImage"), "{}", output.stderr);
    let deployment = namespace.kubectl(&["get", "deployment/web", "-o", "jsonpath={.metadata.generation} {..image}"]);
    assert_eq!(deployment, format!("1 {0}/app:v1 {0}/side:v1", registry()));

    // Again: nothing to do. And the way back that was printed, typed unchanged.
    let again = namespace.inplace(&["apply", "deployment/web", "side=:v2", "--pods-only", "--yes"]);
    assert_eq!(again.code, 0, "{again:#?}");
    assert!(again.stdout.contains("No changes."), "{again:#?}");
    let before = namespace.pods("app=web");
    let back = namespace.type_line(&format!("{} --yes {}", printed(&output, "Roll back:"), NO_HOLD.join(" ")));
    assert_eq!(back.code, 0, "{back:#?}");
    let after = namespace.pods("app=web");
    assert_eq!(restarted(&before, &after).len(), 3);
    assert_eq!(images(&after, "side"), ["side:v1"; 3]);
}

/// Returns the command that follows a label in what the program said.
pub(crate) fn printed<'a>(output: &'a Output, label: &str) -> &'a str {
    let line = output.stdout.lines().find_map(|line| line.strip_prefix(label));
    line.unwrap_or_else(|| panic!("no {label:?}: {output:#?}")).trim()
}

#[test]
fn a_stateful_set_goes_one_by_one_from_the_highest_ordinal() {
    let namespace = Namespace::new("apply-statefulset");
    namespace.apply(&samples::stateful_set("db", 3));
    let before = namespace.wait_ready("app=db", 3);
    let watch = namespace.watch("app=db");
    let output =
        namespace.inplace(&[&["apply", "sts", "db", "side=:v2", "--pods-only", "--yes"], NO_HOLD.as_slice()].concat());
    assert_side_alone_restarted(&before, &namespace.pods("app=db"), &output);
    assert_eq!(taken_one_by_one(&watch, &before), ["db-2", "db-1", "db-0"]);
}

/// Returns the pods in the order in which they were patched. Panics if one was before its predecessor ran the new
/// container and was ready.
fn taken_one_by_one(watch: &Watch, before: &[Value]) -> Vec<String> {
    let mut states: Vec<Value> = before.to_vec();
    let mut taken: Vec<String> = Vec::new();
    let old =
        |pod: &Value| before.iter().find(|old| name(old) == name(pod)).expect("the pods are the same ones").clone();
    for seen in watch.seen() {
        let pod = seen.pod;
        if image(&pod, "side") == "side:v2" && !taken.iter().any(|taken| taken == name(&pod)) {
            for state in states.iter().filter(|state| taken.iter().any(|taken| taken == name(state))) {
                let is_new = container_status(state, "side")["containerID"]
                    != container_status(&old(state), "side")["containerID"];
                assert!(is_new && is_ready(state), "{} was patched while {state:#} was not done", name(&pod));
            }
            taken.push(name(&pod).to_owned());
        }
        states.retain(|state| name(state) != name(&pod));
        states.push(pod);
    }
    taken
}

#[test]
fn a_daemon_set_takes_its_image_from_a_flag() {
    let namespace = Namespace::new("apply-daemonset");
    let arguments = [&["ds/agent", "--image", "side=:v2", "--pods-only", "--yes"], NO_HOLD.as_slice()].concat();
    side_alone_restarts(&namespace, &samples::daemon_set("agent"), "agent", 1, &arguments);
}

#[test]
fn a_replica_set_is_found_by_its_label() {
    let namespace = Namespace::new("apply-replicaset");
    // A namesake without the label stays unchanged.
    namespace.apply(&samples::replica_set("other", 1));
    let manifest =
        samples::replica_set("set", 2).replace("metadata: {name: set}", "metadata: {name: set, labels: {team: shop}}");
    let arguments =
        [&["replicasets", "-l", "team=shop", "side=:v2", "--pods-only", "--yes"], NO_HOLD.as_slice()].concat();
    side_alone_restarts(&namespace, &manifest, "set", 2, &arguments);
    assert_eq!(images(&namespace.wait_ready("app=other", 1), "side"), ["side:v1"]);
}

#[test]
fn a_pod_of_nobody_needs_no_consent_about_a_template() {
    let namespace = Namespace::new("apply-pod");
    namespace.apply(&samples::pod("alone"));
    let before = namespace.wait_ready("app=alone", 1);
    let manifest = samples::with_tag(&samples::pod("alone"), "side", "v2");
    let output = namespace.inplace_input(&["apply", "-f", "-", "--yes", "--min-ready-seconds", "0"], &manifest);
    assert_side_alone_restarted(&before, &namespace.pods("app=alone"), &output);
    assert!(!output.stderr.contains("TemplateKeepsImage"), "{}", output.stderr);
}

#[test]
fn a_native_sidecar_restarts_alone() {
    let namespace = Namespace::new("apply-sidecar");
    let manifest = samples::deployment_with_sidecar("mesh", 2);
    let arguments = [&["deploy/mesh", "side=:v2", "--pods-only", "--yes"], NO_HOLD.as_slice()].concat();
    side_alone_restarts(&namespace, &manifest, "mesh", 2, &arguments);
}

#[test]
fn a_manifest_says_what_is_wanted() {
    let namespace = Namespace::new("apply-manifest");
    let manifest = samples::deployment("web", 2);
    let file = std::env::temp_dir().join(format!("{}.yaml", namespace.name()));
    std::fs::write(&file, samples::with_tag(&manifest, "side", "v2")).expect("a temporary file can be written");
    let path = file.to_str().expect("a path of ours is text");
    let arguments = [&["-f", path, "--pods-only", "--yes"], NO_HOLD.as_slice()].concat();
    side_alone_restarts(&namespace, &manifest, "web", 2, &arguments);
    std::fs::remove_file(&file).expect("it is still there");
}

#[test]
fn another_tag_of_the_same_digest_completes() {
    let namespace = Namespace::new("apply-retag");
    namespace.apply(&samples::deployment("web", 2));
    let before = namespace.wait_ready("app=web", 2);
    let output = namespace
        .inplace(&[&["apply", "deploy/web", "app=:v1-again", "--pods-only", "--yes"], NO_HOLD.as_slice()].concat());
    assert_eq!(output.code, 0, "{output:#?}");
    let after = namespace.pods("app=web");
    assert_eq!(restarted(&before, &after).len(), 2, "{after:#?}");
    for (old, new) in before.iter().zip(&after) {
        let id = |pod| container_status(pod, "app")["imageID"].clone();
        assert_eq!(id(old), id(new), "the two tags must be one digest, or this shows nothing");
        assert_eq!(image(new, "app"), "app:v1-again");
    }
}

#[test]
fn a_digest_keeps_the_repository() {
    let namespace = Namespace::new("apply-digest");
    namespace.apply(&samples::with_tag(&samples::pod("other"), "side", "v2"));
    namespace.apply(&samples::pod("alone"));
    let other = namespace.wait_ready("app=other", 1);
    let id = other.first().map(|pod| container_status(pod, "side")["imageID"].clone()).expect("one pod");
    let (_, digest) = id.as_str().and_then(|id| id.split_once('@')).expect("an imageID with a digest");
    let before = namespace.wait_ready("app=alone", 1);
    let output =
        namespace.inplace(&["apply", "pod/alone", &format!("side=@{digest}"), "--yes", "--min-ready-seconds", "0"]);
    assert_eq!(output.code, 0, "{output:#?}");
    let after = namespace.pods("app=alone");
    assert_eq!(restarted(&before, &after), ["alone/side"]);
    assert_eq!(images(&after, "side"), [format!("side@{digest}")]);
}

#[test]
fn both_containers_change_in_one_patch() {
    let namespace = Namespace::new("apply-both");
    namespace.apply(&samples::deployment("web", 2));
    let before = namespace.wait_ready("app=web", 2);
    let watch = namespace.watch("app=web");
    let arguments = ["apply", "deploy/web", "app=:v2", "side=:v2", "--pods-only", "--yes", "--max-unavailable", "100%"];
    let output = namespace.inplace(&[arguments.as_slice(), NO_HOLD.as_slice()].concat());
    assert_eq!(output.code, 0, "{output:#?}");
    assert_eq!(restarted(&before, &namespace.pods("app=web")).len(), 4);
    for seen in watch.seen() {
        let both = [image(&seen.pod, "app"), image(&seen.pod, "side")];
        assert!([["app:v1", "side:v1"], ["app:v2", "side:v2"]].contains(&both), "half patched: {both:?}");
    }
}

#[test]
fn a_container_that_ignores_the_signal_is_killed_after_its_grace() {
    let namespace = Namespace::new("apply-deaf");
    namespace.apply(&samples::with_tag(&samples::deployment("web", 1), "app", "deaf"));
    let before = namespace.wait_ready("app=web", 1);
    let output =
        namespace.inplace(&[&["apply", "deploy/web", "app=:v2", "--pods-only", "--yes"], NO_HOLD.as_slice()].concat());
    assert_eq!(output.code, 0, "{output:#?}");
    let after = namespace.pods("app=web");
    assert_eq!(restarted(&before, &after), before.iter().map(|pod| format!("{}/app", name(pod))).collect::<Vec<_>>());
    for pod in &after {
        let ended = &container_status(pod, "app")["lastState"]["terminated"];
        assert_eq!(ended["exitCode"], 137, "it was not killed: {ended}");
    }
    assert!(output.elapsed.as_secs() >= 2, "done before the grace was over: {output:#?}");
}

#[test]
fn json_is_one_object_a_line_and_ends_with_a_summary() {
    let namespace = Namespace::new("apply-json");
    namespace.apply(&samples::deployment("web", 2));
    let before = namespace.wait_ready("app=web", 2);
    let arguments = ["apply", "deploy/web", "side=:v2", "--pods-only", "--yes", "-o", "json"];
    let output = namespace.inplace(&[arguments.as_slice(), NO_HOLD.as_slice()].concat());
    assert_eq!(output.code, 0, "{output:#?}");
    let lines: Vec<Value> = output
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect();
    assert!(lines.iter().all(|line| line["type"].is_string() && line["version"].is_string()), "{lines:#?}");
    let last = lines.last().expect("there are lines");
    assert_eq!(
        (&last["type"], &last["result"], &last["exitCode"], &last["updated"]),
        (&"summary".into(), &"complete".into(), &0.into(), &2.into())
    );
    for pod in &before {
        let done = lines.iter().any(|line| line["pod"]["uid"] == pod["metadata"]["uid"] && line["phase"] == "done");
        assert!(done, "{} is not said to be done: {lines:#?}", name(pod));
    }
}
