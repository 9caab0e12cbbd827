//! kubectl reads the same YAML the same way: the probes of YAML 1.1 scalars, keys, anchors and streams.

use kubectl_inplace::manifest;
use serde_json::Value;

use crate::support::Namespace;

/// Scalars whose reading differs between YAML 1.1, YAML 1.2 and their readers.
const SCALARS: [&str; 59] = [
    "yes",
    "Yes",
    "YES",
    "no",
    "on",
    "On",
    "off",
    "OFF",
    "y",
    "Y",
    "n",
    "N",
    "true",
    "True",
    "TRUE",
    "false",
    "null",
    "Null",
    "~",
    "",
    "0755",
    "0o755",
    "08",
    "09.5",
    "007",
    "0x1F",
    "0b101",
    "-0b11",
    "1_000",
    "190:20:30",
    "1:30",
    "+1",
    "-1",
    "+1.5",
    ".5",
    "1.",
    "1e3",
    "1E3",
    "1e-3",
    "1.0",
    "100",
    "123456789012345678",
    "9223372036854775807",
    "0.1",
    "2026-11-21",
    "2026-11-21T10:00:00Z",
    "12:30:45",
    "=",
    "<<",
    "'yes'",
    "\"0755\"",
    "!!str 0755",
    "!!int \"12\"",
    "a b",
    "a#b",
    "a: b",
    "[1, yes, 0755]",
    "{a: yes, b: 010}",
    "1.2.3",
];

/// The one probe that is read otherwise: kubectl takes an underscored fraction for a number. No field of a workload is one.
const KNOWN: &str = "1_000.5";

/// Whole documents.
const DOCUMENTS: [&str; 6] = [
    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\nx: &x {a: 1}\ny: {<<: *x, b: 2}\n",
    "---\n# only a comment\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n",
    "apiVersion: v1\r\nkind: ConfigMap\r\nmetadata:\r\n  name: a\r\n",
    "\u{feff}apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n",
    "{\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\", \"metadata\": {\"name\": \"a\"}}",
    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\nx: {1: a, true: b, 0755: c}\ny: |\n  one\n  two\nz: >-\n  one\n  two\n",
];

/// Reads a document with kubectl: its JSON, without what `annotate` adds; `None` where kubectl refuses it.
fn by_kubectl(namespace: &Namespace, yaml: &str) -> Option<Value> {
    let output = namespace.try_kubectl(&["annotate", "--local", "-f", "-", "probe=1", "-o", "json"], yaml);
    let mut object: Value = serde_json::from_str(&output.stdout).ok()?;
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("annotations");
        metadata.remove("creationTimestamp");
        metadata.remove("namespace");
    }
    Some(object)
}

fn by_us(yaml: &str) -> Option<Value> {
    let mut read = manifest::parse("probe.yaml", yaml.as_bytes()).ok()?;
    (read.len() == 1).then(|| read.remove(0).object)
}

#[test]
fn kubectl_reads_the_same_yaml_the_same_way() {
    let namespace = Namespace::new("yaml");
    let probes = SCALARS
        .iter()
        .map(|scalar| format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a}}\nvalue: {scalar}\n"));
    let probes: Vec<String> = probes.chain(DOCUMENTS.iter().map(|document| (*document).to_owned())).collect();
    let differ = |probe: &String| {
        let (kubectl, ours) = (by_kubectl(&namespace, probe), by_us(probe));
        (kubectl != ours).then(|| format!("{probe:?}\n  kubectl: {kubectl:?}\n  here:    {ours:?}"))
    };
    let different: Vec<String> = probes.iter().filter_map(differ).collect();
    assert!(different.is_empty(), "{}", different.join("\n"));
    let known = format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a}}\nvalue: {KNOWN}\n");
    assert_ne!(by_kubectl(&namespace, &known), by_us(&known), "it is read alike now: take it up among the others");
}
