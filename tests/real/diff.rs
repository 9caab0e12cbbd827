//! `diff`: the exit codes of `kubectl diff` for the same manifest, and nothing shown but what the user wrote.

use std::fs;
use std::path::PathBuf;

use super::support::{Namespace, command, samples};

/// A manifest's file, in a folder of its own.
struct File(PathBuf);

impl File {
    fn new(namespace: &Namespace, name: &str, yaml: &str) -> Self {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(namespace.name());
        fs::create_dir_all(&folder).expect("a folder in the target folder can be made");
        let path = folder.join(name);
        fs::write(&path, yaml).expect("a file in the target folder can be written");
        Self(path)
    }

    fn path(&self) -> &str {
        self.0.to_str().expect("the target folder's path is UTF-8")
    }
}

/// Runs `kubectl diff` and returns its exit code.
fn kubectl_diff(namespace: &Namespace, file: &File, external: Option<&str>) -> Option<i32> {
    let mut kubectl = command("kubectl", "real-kubectl");
    kubectl.args(["diff", "-n", namespace.name(), "-f", file.path()]);
    if let Some(external) = external {
        kubectl.env("KUBECTL_EXTERNAL_DIFF", external);
    }
    kubectl.output().expect("kubectl runs").status.code()
}

#[test]
fn the_exit_codes_are_those_of_kubectl() {
    let namespace = Namespace::new("diff-codes");
    let manifest = samples::deployment("web", 1);
    namespace.apply(&manifest);
    let generation = || namespace.kubectl(&["get", "deployment/web", "-o", "jsonpath={.metadata.generation}"]);
    let before = generation();
    let changed = manifest.replace("/side:v1", "/side:v2");
    let defaults = manifest
        .replace("terminationGracePeriodSeconds", "dnsPolicy: ClusterFirst\n      terminationGracePeriodSeconds");
    assert_ne!(manifest, defaults);
    for (name, yaml, expected) in [
        ("equal.yaml", manifest.clone(), 0),
        ("defaults.yaml", defaults, 0),
        ("replicas.yaml", manifest.replace("replicas: 1", "replicas: 2"), 1),
        ("changed.yaml", changed, 1),
        ("broken.yaml", manifest.replace("terminationGracePeriodSeconds: 2", "terminationGracePeriodSeconds: two"), 2),
        ("invalid.yaml", manifest.replace("name: side", "name: SIDE"), 2),
        ("no-yaml.yaml", "a: b: c".to_owned(), 2),
    ] {
        let file = File::new(&namespace, name, &yaml);
        let output = namespace.inplace(&["diff", "-f", file.path()]);
        assert_eq!(output.code, expected, "{name}: {output:?}");
        assert_eq!(kubectl_diff(&namespace, &file, None), Some(expected), "{name}");
        assert_eq!(output.stdout.is_empty(), expected != 1, "{name}: {output:?}");
        assert_eq!(output.stderr.is_empty(), expected != 2, "{name}: {output:?}");
    }
    for wrong in [vec!["diff", "--no-such-flag"], vec!["diff"], vec!["diff", "deployment/none", "a=b"]] {
        assert_eq!(namespace.inplace(&wrong).code, 2, "{wrong:?}");
    }
    assert_eq!(generation(), before, "a diff changes nothing");
}

#[test]
fn only_what_the_user_wrote_is_shown_and_each_change_is_marked() {
    let namespace = Namespace::new("diff-marks");
    let manifest = samples::deployment_with_sidecar("web", 1);
    namespace.apply(&manifest);
    let file = File::new(
        &namespace,
        "web.yaml",
        &manifest
            .replace("/side:v1", "/side:v2")
            .replace("Seconds: 2", "Seconds: 3")
            .replace("replicas: 1", "replicas: 2"),
    );
    let shown = namespace.inplace(&["diff", "-f", file.path(), "-C", "1000"]).stdout;
    let changed = |sign: char| -> Vec<&str> {
        let lines =
            shown.lines().filter(|line| line.starts_with(sign) && !line.starts_with("---") && !line.starts_with("+++"));
        lines.filter_map(|line| line.rsplit_once(": ").map(|(_, end)| end)).collect()
    };
    assert_eq!(changed('-').len(), 3, "{shown}");
    for mark in [
        "  # in place: restarts side (kubelet 1.32 or newer)\n",
        ": 3  # not in place (TemplateFieldNotInPlace)\n",
        "replicas: 2  # not changed: outside the pod template\n",
    ] {
        assert!(shown.contains(mark), "{mark} in\n{shown}");
    }
    for noise in [
        "uid:",
        "managedFields",
        "last-applied",
        "status:",
        "terminationMessagePath",
        "imagePullPolicy",
        "dnsPolicy",
        "revision",
    ] {
        assert!(!shown.contains(noise), "{noise} in\n{shown}");
    }
    // Every field that is shown was written.
    let manifest = manifest.replace("  replicas: 1", "");
    let written = |key: &str| manifest.contains(&format!("{key}:"));
    for line in shown.lines().skip(3).filter(|line| line.starts_with(' ')) {
        let key = line.trim_start_matches([' ', '-']).split(':').next().unwrap_or_default();
        assert!(written(key) || key == "namespace", "{key} in\n{shown}");
    }
    let by_hand = namespace.inplace(&["diff", "deployment/web", "side=:v2"]);
    assert_eq!(by_hand.code, 1, "{by_hand:?}");
    assert_eq!(by_hand.stdout.matches("\n+ ").count(), 1, "{by_hand:?}");
}

#[test]
fn another_order_of_containers_is_no_difference() {
    let namespace = Namespace::new("diff-order");
    let manifest = samples::pod("web");
    namespace.apply(&manifest);
    let lines: Vec<&str> = manifest.lines().collect();
    let at = |name: &str| {
        lines.iter().position(|line| line.contains(&format!("- {{name: {name},"))).expect("the sample has it")
    };
    let mut reordered = lines.clone();
    reordered.swap(at("app"), at("side"));
    let file = File::new(&namespace, "web.yaml", &(reordered.join("\n") + "\n"));
    let output = namespace.inplace(&["diff", "-f", file.path()]);
    assert_eq!((output.code, output.stdout.as_str()), (0, ""), "{output:?}");
}

#[test]
fn another_program_gets_the_files_as_from_kubectl() {
    let namespace = Namespace::new("diff-external");
    let manifest = samples::deployment("web", 1);
    namespace.apply(&manifest);
    let file = File::new(&namespace, "web.yaml", &manifest.replace("/side:v1", "/side:v2"));
    let program = File::new(
        &namespace,
        "program",
        "#!/bin/sh\nfor f in \"$1\"/* \"$2\"/*; do echo \"${f##*/}\"; done\necho \"$3 $4\" \"$@\"\nexit ${CODE:-1}\n",
    );
    let made = command("chmod", "real-home").args(["+x", program.path()]).status().expect("chmod runs");
    assert!(made.success());
    let external = format!("{} -x --y=z /left/out", program.path());
    let ours = |code: &str| {
        let mut binary = command(env!("CARGO_BIN_EXE_kubectl-inplace"), "real-home");
        binary.args(["diff", "-f", file.path(), "-n", namespace.name()]);
        let output =
            binary.env("KUBECTL_EXTERNAL_DIFF", &external).env("CODE", code).output().expect("the binary runs");
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let (code, stdout) = ours("1");
    assert_eq!(code, kubectl_diff(&namespace, &file, Some(&external)));
    let name = format!("apps.v1.Deployment.{}.web", namespace.name());
    let lines: Vec<&str> = stdout.lines().collect();
    let [live, merged, arguments] = lines.as_slice() else { panic!("{stdout}") };
    assert_eq!((*live, *merged), (name.as_str(), name.as_str()));
    let words: Vec<&str> = arguments.split(' ').collect();
    let ["-x", "--y=z", live, merged, "-x", "--y=z"] = words.as_slice() else { panic!("{arguments}") };
    assert!(live.contains("/LIVE-") && merged.contains("/MERGED-"), "{arguments}");
    assert!(!fs::exists(live).unwrap_or(true) && !fs::exists(merged).unwrap_or(true), "{arguments}");
    assert_eq!((ours("0").0, ours("7").0), (Some(0), Some(7)));
}
