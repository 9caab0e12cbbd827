//! Manifests that are not of the API's types: each is refused with its line, its path and what was expected.

use super::standard_input;
use crate::manifest::{ManifestError, read};
use engine::value::api_schema::Scope;

const WEB: &str = "\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
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
          limits: {cpu: 500m}
      volumes:
      - {name: v, emptyDir: {}}
";

fn is_workload(_: &str, kind: &str) -> bool {
    kind == "Deployment" || kind == "Pod"
}

/// What is said of a text on standard input: the first line of each problem, or the fields that are not known.
fn outcome(text: &str, scope: Scope) -> Vec<String> {
    let reported = match read(standard_input(), false, &mut text.as_bytes(), is_workload, scope) {
        Ok(objects) => {
            objects.iter().flat_map(|object| &object.unknown).map(|found| format!("unknown: {found}\n")).collect()
        }
        Err(error @ ManifestError::Schema(_)) => error.to_string(),
        Err(error) => format!("other: {error}"),
    };
    let places = reported.lines().filter(|line| line.contains("standard input") || line.starts_with("other"));
    places.map(|line| line.replace("standard input:", "")).collect()
}

/// Replaces a part of [`WEB`]; what is said of the rest.
fn changed(from: &str, to: &str) -> Vec<String> {
    assert!(WEB.contains(from), "{from}");
    outcome(&WEB.replacen(from, to, 1), Scope::Whole)
}

/// A part of [`WEB`]; below it, its replacement and the problem that is then reported. `@` is the container's path,
/// and the words in capitals are [`HINTS`].
const MALFORMED: &str = r"
image: 'acme/app:9.3'
    image: 5  =>  13:9: @.image is a number, not a string; QUOTE
    image: [a]  =>  13:9: @.image is an array, not a string
    image:  =>  12:9: @.image is required and not set
    image: ''  =>  12:9: @.image is required and not set
    imag: 'acme/app:9.3'  =>  12:9: @.image is required and not set
- name: app\n        image
    - image  =>  12:9: @.name is required and not set
name: app
    name: 1  =>  12:9: @.name is a number, not a string; QUOTE
    name: on  =>  12:9: @.name is a boolean, not a string; BOOLEAN
replicas: 2
    replicas: two  =>  5:3: spec.replicas is a string, not a whole number of 32 bits
    replicas: '2'  =>  5:3: spec.replicas is a number in quotes, not a whole number of 32 bits; UNQUOTE
    replicas: 1.5  =>  5:3: spec.replicas is not a whole number of 32 bits
    replicas: 4294967296  =>  5:3: spec.replicas is not a whole number of 32 bits
    replicas: {}  =>  5:3: spec.replicas is an object, not a whole number of 32 bits
    replica: 2  =>  unknown: 5:3: unknown field spec.replica; did you mean replicas?
    Replicas: 2  =>  unknown: 5:3: unknown field spec.Replicas; did you mean replicas?
    nonsense: 2  =>  unknown: 5:3: unknown field spec.nonsense
    status: {}  =>  unknown: 5:3: unknown field spec.status
selector: {matchLabels: {app: web}}
    selector: web  =>  6:3: spec.selector is a string, not an object
    selector: {matchLabels: [app]}  =>  6:14: spec.selector.matchLabels is an array, not an object
    selector: {matchLabels: {app: 1}}  =>  6:28: spec.selector.matchLabels.app is a number, not a string; QUOTE
    paused: false  =>  4:1: spec.selector is required and not set
    selector: null  =>  4:1: spec.selector is required and not set
    selector: {matchExpressions: [{key: a}]}  =>  6:33: spec.selector.matchExpressions[0].operator is required and not set
labels: {app: web}
    labels: {app: yes}  =>  9:16: spec.template.metadata.labels.app is a boolean, not a string; BOOLEAN
    labels: {app.kubernetes.io/name: 1}  =>  9:16: spec.template.metadata.labels[app.kubernetes.io/name] is a number, not a string; QUOTE
    labels: [app]  =>  9:7: spec.template.metadata.labels is an array, not an object
    label: {app: web}  =>  unknown: 9:7: unknown field spec.template.metadata.label; did you mean labels?
volumes:
    initContainers: [{name: side, image: s}, {name: app, image: a}]\n      volumes:  =>  18:49: spec.template.spec.initContainers[1].name is the name of another container, too
    - {image: a, name: app}\n      volumes:  =>  18:20: spec.template.spec.containers[1].name is the name of another container, too
containers:\n
    contianers:\n  =>  10:5: spec.template.spec.containers is required and not set
    initContainers:\n  =>  10:5: spec.template.spec.containers is required and not set
- containerPort: 80
    - containerPort: '80'  =>  15:11: @.ports[0].containerPort is a number in quotes, not a whole number of 32 bits; UNQUOTE
    - port: 80  =>  15:11: @.ports[0].containerPort is required and not set
    - 80  =>  15:11: @.ports[0] is a number, not an object
      containerPort: 80  =>  14:9: @.ports is an object, not an array
limits: {cpu: 500m}
    limits: {cpu: half}  =>  17:20: @.resources.limits.cpu is not a quantity such as 500m or 1Gi
    limits: {cpu: {}}  =>  17:20: @.resources.limits.cpu is an object, not a quantity such as 500m or 1Gi
    limits: 500m  =>  17:11: @.resources.limits is a string, not an object
    limit: {cpu: 500m}  =>  unknown: 17:11: unknown field @.resources.limit; did you mean limits?
- {name: v, emptyDir: {}}
    - {emptyDir: {}}  =>  19:9: spec.template.spec.volumes[0].name is required and not set
    - {name: v, emptyDir: true}  =>  19:19: spec.template.spec.volumes[0].emptyDir is a boolean, not an object
    - {name: v, configMap: {items: [{key: a}]}}  =>  19:39: spec.template.spec.volumes[0].configMap.items[0].path is required and not set
    - {name: v, emptydir: {}}  =>  unknown: 19:19: unknown field spec.template.spec.volumes[0].emptydir; did you mean emptyDir?
metadata: {name: web}
    metadata: {name: web, annotations: [a]}  =>  3:23: metadata.annotations is an array, not an object
    metadata: {name: web, finalizers: a}  =>  3:23: metadata.finalizers is a string, not an array
    metadata: {name: web, creationTimestamp: today}  =>  3:23: metadata.creationTimestamp is not a time such as 2026-01-31T12:00:00Z
    metadata: {name: web}\nstatus: 1  =>  4:1: status is a number, not an object
    metadata: {name: web}\ndata: {}  =>  unknown: 4:1: unknown field data
";

const HINTS: [(&str, &str); 4] = [
    ("@", "spec.template.spec.containers[0]"),
    ("UNQUOTE", "leave out the quotes"),
    ("QUOTE", "put it in quotes"),
    ("BOOLEAN", "put it in quotes, since YAML reads y, n, yes, no, on and off as booleans"),
];

#[test]
fn malformed_manifests_are_refused_with_line_path_and_what_was_expected() {
    let text = |cell: &str| cell.replace("\\n", "\n");
    let (mut part, mut cases, mut wrong) = (String::new(), 0, Vec::new());
    for line in MALFORMED.lines().filter(|line| !line.is_empty()) {
        let Some((put, expected)) = line.split_once("  =>  ") else {
            part = text(line);
            continue;
        };
        let put = text(put.strip_prefix("    ").expect("a case stands below its part"));
        let expected = HINTS.iter().fold(expected.to_owned(), |reported, (short, long)| reported.replace(short, long));
        cases += 1;
        let found = changed(&part, &put);
        if !found.contains(&expected) {
            wrong.push(format!("{put}: {found:#?} instead of {expected}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(outcome(WEB, Scope::Whole), [""; 0]);
    assert_eq!(cases, 48);
}

#[test]
fn whole_parts_that_are_missing_are_named() {
    let cut = |from: &str| WEB.split_once(from).map(|(head, _)| outcome(head, Scope::Whole)).unwrap_or_default();
    assert_eq!(cut("spec:\n"), ["1: spec is required and not set"]);
    assert_eq!(cut("  template:\n"), ["4:1: spec.template is required and not set"]);
    assert_eq!(cut("    spec:\n"), ["7:3: spec.template.spec is required and not set"]);
    assert_eq!(cut("      - name"), ["10:5: spec.template.spec.containers is required and not set"]);
    // Laid over what is in the cluster, they need not be there.
    let head = WEB.split_once("  template:\n").map_or("", |(head, _)| head);
    assert_eq!(outcome(head, Scope::Partial), [""; 0]);
}

#[test]
fn a_field_is_found_in_lists_later_documents_and_json() {
    let number = "image is a number, not a string; put it in quotes";
    let bad = WEB.replace("'acme/app:9.3'", "5");
    let item = bad.replace('\n', "\n  ");
    let list = format!(
        "apiVersion: v1\nkind: List\nitems:\n- {}\n- {}\n",
        "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}",
        item.trim_end()
    );
    let json =
        serde_json::to_string_pretty(&serde_json::json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"},
        "spec": {"containers": [{"name": "a", "image": 5}]}}));
    let json = json.unwrap_or_default();
    let merged = format!("x: &base\n  image: 5\n{}", WEB.replace("image: 'acme/app:9.3'", "<<: *base"));
    for (text, expected) in [
        (list.as_str(), format!("17:11: spec.template.spec.containers[0].{number}")),
        (&format!("# first\n---\n{bad}"), format!("15:9: spec.template.spec.containers[0].{number}")),
        (
            &format!("{bad}---\n{}", WEB.replace("name: web", "name: api")),
            format!("13:9: spec.template.spec.containers[0].{number}"),
        ),
        (&json, format!("11:15: spec.containers[0].{number}")),
        (
            &format!("\n{json}\n{}", json.replace(": 5", ": \"a\"").replace("\"a\"\n  }", "\"b\"\n  }")),
            format!("12:15: spec.containers[0].{number}"),
        ),
        // What a merge brings has no place of its own.
        (&merged, format!("1: spec.template.spec.containers[0].{number}")),
    ] {
        let found = outcome(text, Scope::Whole);
        assert!(found.contains(&expected), "{text}\n{found:#?} instead of {expected}");
    }
}

#[test]
fn all_problems_are_reported_at_once_with_their_lines() {
    let text = WEB.replace("'acme/app:9.3'", "5").replace("replicas: 2", "replicas: two");
    let error = read(standard_input(), false, &mut text.as_bytes(), is_workload, Scope::Whole).map(|_| ());
    let expected = "\
standard input:5:3: spec.replicas is a string, not a whole number of 32 bits
5 |   replicas: two
  |   ^
standard input:13:9: spec.template.spec.containers[0].image is a number, not a string; put it in quotes
13 |         image: 5
   |         ^";
    assert_eq!(error.map_err(|error| error.to_string()), Err(expected.to_owned()));
}

#[test]
fn the_words_of_an_input_with_a_secret_are_not_shown() {
    let secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\n---\n";
    let text = secret.to_owned()
        + &WEB.replace("replicas: 2", "hunter2: hunter2").replace("labels: {app: web}", "labels: {hunter2: 1}");
    let error = read(standard_input(), false, &mut text.as_bytes(), is_workload, Scope::Whole).map(|_| ());
    let reported = error.map_err(|error| error.to_string()).expect_err("it is refused");
    assert!(reported.contains("standard input:13:") && !reported.contains("hunter2"), "{reported}");
}

#[test]
fn an_input_without_objects_is_an_error() {
    for text in
        ["", "\n", "# nothing\n", "---\n", "---\n# here\n---\n", "null\n", "apiVersion: v1\nkind: List\nitems: []\n"]
    {
        let reported = outcome(text, Scope::Whole);
        let expected =
            "other: no objects in standard input; an empty manifest is often the output of a command that failed";
        assert_eq!(reported, [expected], "{text:?}");
    }
}
