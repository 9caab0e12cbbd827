//! Workloads that are not of the API's types: each is refused with its path and what was expected, never with a value.

use engine::kinds::WorkloadKind;

use crate::manifest::{parse, require_containers, unknown_fields};

const WEB: &str = "\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, annotations: {a: , b: c}}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata:
      labels: {app: web}
    spec:
      containers:
      - name: app
        image: 'acme/app:9.3'
        ports:
        - containerPort: 80
        resources:
          limits: {cpu: 500m, memory: 1.5}
      volumes:
      - {name: v, emptyDir: {}}
status: {replicas: 2}
";

/// What is said of a text: the fields that are not known, or what is wrong.
fn reported(text: &str) -> String {
    let manifest = parse("a.yaml", text.as_bytes()).expect("an object").remove(0);
    let kind = WorkloadKind::from_manifest(&manifest.api_version, &manifest.kind).expect("a workload");
    let checked = unknown_fields(kind, &manifest)
        .and_then(|unknown| require_containers(kind, &manifest).map(|()| unknown.join(", ")));
    checked.unwrap_or_else(|error| error.to_string().replace("a.yaml:1: ", ""))
}

/// A part of [`WEB`], its replacement, and what is then said; `@` is the container's path.
const CHANGED: [(&str, &str, &str); 33] = [
    ("image: 'acme/app:9.3'", "image: 5", "@.image is a number, not a string; put it in quotes"),
    ("image: 'acme/app:9.3'", "image: [a]", "@.image is an array, not a string"),
    ("image: 'acme/app:9.3'", "image: ", "@.image is required and not set"),
    ("image: 'acme/app:9.3'", "image: ''", "@.image is required and not set"),
    ("image: 'acme/app:9.3'", "imag: 'acme/app:9.3'", "@.image is required and not set"),
    (
        "image: 'acme/app:9.3'",
        "image: a\n        env: [{name: A, value: 1}]",
        "@.env[0].value is a number, not a string; put it in quotes",
    ),
    ("image: 'acme/app:9.3'", "image: a\n        command: sh", "@.command is a string, not an array"),
    (
        "image: 'acme/app:9.3'",
        "image: a\n        tty: 'true'",
        "@.tty is a string, not a boolean; leave out the quotes",
    ),
    ("image: 'acme/app:9.3'", "image: a\n        imagePulPolicy: Always", "@.imagePulPolicy"),
    (
        "image: 'acme/app:9.3'",
        "image: a\n        livenessProbe: {httpGet: {port: 1.5}}",
        "@.livenessProbe.httpGet.port is a number, not a whole number or a string",
    ),
    ("- name: app\n        image", "- image", "@.name is required and not set"),
    ("name: app", "name: 1", "@.name is a number, not a string; put it in quotes"),
    (
        "name: app",
        "name: on",
        "@.name is a boolean, not a string; put it in quotes, since YAML reads y, n, yes, no, on and off as booleans",
    ),
    ("replicas: 2\n  s", "replicas: two\n  s", "spec.replicas is a string, not a whole number; leave out the quotes"),
    ("replicas: 2\n  s", "replicas: 1.5\n  s", "spec.replicas is a number, not a whole number"),
    ("replicas: 2\n  s", "replicas: 4294967296\n  s", "spec.replicas is a number, not a whole number"),
    ("replicas: 2\n  s", "replicas: {}\n  s", "spec.replicas is an object, not a whole number"),
    ("replicas: 2\n  s", "replica: 2\n  nonsense: 1\n  s", "spec.replica, spec.nonsense"),
    ("selector: {matchLabels: {app: web}}", "selector: web", "spec.selector is a string, not an object"),
    (
        "selector: {matchLabels: {app: web}}",
        "selector: {matchLabels: [app]}",
        "spec.selector.matchLabels is an array, not an object",
    ),
    (
        "labels: {app: web}\n    s",
        "labels: {app: yes}\n    s",
        "spec.template.metadata.labels.app is a boolean, not a string; put it in quotes, since YAML reads y, n, yes, no, on and off as booleans",
    ),
    ("labels: {app: web}\n    s", "label: {app: web}\n    s", "spec.template.metadata.label"),
    (
        "volumes:",
        "initContainers: [{name: side, image: s}, {name: app, image: a}]\n      volumes:",
        "spec.template.spec.initContainers[1].name is the name of another container, too",
    ),
    ("containers:\n", "contianers:\n", "spec.template.spec.containers is required and not set"),
    (
        "containers:\n",
        "containers: []\n      initContainers:\n",
        "spec.template.spec.containers is required and not set",
    ),
    (
        "- containerPort: 80",
        "- containerPort: '80'",
        "@.ports[0].containerPort is a string, not a whole number; leave out the quotes",
    ),
    ("- containerPort: 80", "- 80", "@.ports[0] is a number, not an object"),
    ("cpu: 500m", "cpu: true", "@.resources.limits.cpu is a boolean, not a quantity such as 500m or 1Gi"),
    ("limits: {cpu: 500m, memory: 1.5}", "limits: 500m", "@.resources.limits is a string, not an object"),
    ("emptyDir: {}", "emptydir: {}", "spec.template.spec.volumes[0].emptydir"),
    (
        "metadata: {name: web, annotations: {a: , b: c}}",
        "metadata: {name: web, finalizers: a}",
        "metadata.finalizers is a string, not an array",
    ),
    (
        "metadata: {name: web, annotations: {a: , b: c}}",
        "metadata: {name: web, creationTimestamp: today}",
        "metadata.creationTimestamp is not valid",
    ),
    ("status: {replicas: 2}", "data: {}", "data"),
];

#[test]
fn what_is_wrong_is_said_with_its_path() {
    assert_eq!(reported(WEB), "");
    let container = "spec.template.spec.containers[0]";
    let wrong = CHANGED.iter().filter_map(|(part, put, expected)| {
        assert!(WEB.contains(part), "{part}");
        let (said, expected) = (reported(&WEB.replacen(part, put, 1)), expected.replace('@', container));
        (said != expected).then(|| format!("{put}: {said} instead of {expected}"))
    });
    let wrong: Vec<String> = wrong.collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_kind_is_looked_at() {
    for kind in WorkloadKind::ALL.into_iter().filter(|kind| !kind.is_sidecar_set()) {
        let spec = kind.spec();
        let head = format!("apiVersion: {}\nkind: {}\nmetadata: {{name: a}}\n", spec.api_version(), spec.kind);
        let object = |container: &str| {
            let pod_spec = format!("spec: {{containers: [{{{container}}}]}}");
            let spec = if kind.has_template() {
                format!("spec: {{selector: {{}}, template: {{{pod_spec}}}}}")
            } else {
                pod_spec
            };
            format!("{head}{spec}\n")
        };
        let path = if kind.has_template() { "spec.template.spec.containers[0]" } else { "spec.containers[0]" };
        assert_eq!(reported(&object("name: a, image: b")), "", "{kind:?}");
        assert_eq!(reported(&object("name: a, image: b, x: 1")), format!("{path}.x"), "{kind:?}");
        let number = format!("{path}.image is a number, not a string; put it in quotes");
        assert_eq!(reported(&object("name: a, image: 1")), number, "{kind:?}");
        assert_eq!(reported(&object("name: a")), format!("{path}.image is required and not set"), "{kind:?}");
    }
}

#[test]
fn values_are_not_shown() {
    for put in ["env: hunter2", "env: [hunter2]", "args: hunter2", "tty: hunter2", "volumeMounts: [hunter2]"] {
        let said = reported(&WEB.replace("image: 'acme/app:9.3'", &format!("image: a\n        {put}")));
        assert!(said.starts_with("spec.template") && !said.contains("hunter2"), "{put}: {said}");
    }
}
