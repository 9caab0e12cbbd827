//! The tables of data (defaults and merge keys), held against the server that they copy.

use std::collections::BTreeSet;
use std::thread;

use engine::kinds::WorkloadKind;
use engine::merge::{Field, ListMerge, Schema};
use serde_json::{Map, Value, json};

use crate::support::{Api, Leaf, OpenApi, Step};

const KINDS: [(&str, &str); 5] = [
    ("Deployment", "io.k8s.api.apps.v1.Deployment"),
    ("StatefulSet", "io.k8s.api.apps.v1.StatefulSet"),
    ("DaemonSet", "io.k8s.api.apps.v1.DaemonSet"),
    ("ReplicaSet", "io.k8s.api.apps.v1.ReplicaSet"),
    ("Pod", "io.k8s.api.core.v1.Pod"),
];

fn named(kind: &str) -> WorkloadKind {
    WorkloadKind::named(kind).expect("a kind that has tables")
}

fn defaults(kind: &str) -> Schema {
    named(kind).defaults()
}

/// Behind feature gates that are off: this server takes them and stores nothing.
const GATED: [&str; 4] = ["clusterTrustBundle", "podCertificate", "stopSignal", "schedulingGroup"];

/// Not for the author of a manifest: the server sets them, or they give the type of the object.
const NOT_WRITTEN: [&str; 5] = [
    "ephemeralContainers",
    "managedFields",
    "volumeClaimTemplates.status",
    "volumeClaimTemplates.apiVersion",
    "volumeClaimTemplates.kind",
];

/// Admission has a say in them, for pods.
const ADMITTED: [&str; 5] = [
    "spec.automountServiceAccountToken",
    "spec.priority",
    "spec.resources",
    "spec.serviceAccountName",
    "spec.tolerations",
];

fn is_left_out(kind: &str, fields: &str) -> bool {
    if kind == "Pod" && ADMITTED.iter().any(|name| fields.starts_with(name)) {
        return true;
    }
    let gated = kind == "StatefulSet" && fields == "spec.updateStrategy.rollingUpdate.maxUnavailable";
    gated || GATED.iter().chain(&NOT_WRITTEN).any(|name| fields.contains(name))
}

fn document(kind: &str) -> &'static str {
    if kind == "Pod" { "api/v1" } else { "apis/apps/v1" }
}

#[test]
fn merge_keys_are_the_servers() {
    let api = Api::open();
    let mut differences = Vec::new();
    let mut lists = 0;
    for (kind, name) in KINDS {
        let openapi = OpenApi::read(&api, document(kind));
        let schema = named(kind).merge();
        lists += compare_merging(&openapi, openapi.named(name), schema, kind, &mut differences);
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    assert!(lists > 100, "the server merges no more than {lists} lists");
}

/// Whether a field does not merge by default, or one below it.
fn merges(field: &Field) -> bool {
    field.list != ListMerge::Atomic || field.retain_keys || field.below.fields().iter().any(merges)
}

/// Compares a type and those below it, both ways; returns how many of the server's fields do not merge by default.
fn compare_merging(openapi: &OpenApi, of: &Value, schema: Schema, path: &str, differences: &mut Vec<String>) -> usize {
    let none = Map::new();
    let mut of = openapi.resolve(of);
    while let Some(items) = of.get("items") {
        of = openapi.resolve(items);
    }
    let properties = of.get("properties").and_then(Value::as_object).unwrap_or(&none);
    let merging = schema.fields().iter().filter(|field| merges(field));
    let unknown = merging.filter(|field| !properties.contains_key(field.name));
    differences.extend(unknown.map(|field| format!("{path}.{}: the server has no such field", field.name)));
    let mut special = 0;
    for (name, property) in properties {
        let path = format!("{path}.{name}");
        let text = |key: &str| property.get(key).and_then(Value::as_str);
        let strategy: Vec<&str> =
            text("x-kubernetes-patch-strategy").into_iter().flat_map(|all| all.split(',')).collect();
        let key = text("x-kubernetes-patch-merge-key").map(str::to_owned);
        let list = if strategy.contains(&"merge") {
            key.map_or("set".to_owned(), |key| format!("by {key}"))
        } else {
            "atomic".to_owned()
        };
        let theirs = (list, strategy.contains(&"retainKeys"));
        let rule = schema.field(name);
        let list = match rule.list {
            ListMerge::Atomic => "atomic".to_owned(),
            ListMerge::Set => "set".to_owned(),
            ListMerge::ByKey(key) => format!("by {key}"),
        };
        let ours = (list, rule.retain_keys);
        if ours != theirs {
            differences.push(format!("{path}: {ours:?}, the server: {theirs:?}"));
        }
        special += usize::from(!strategy.is_empty());
        // A list that is replaced as a whole merges nothing of its elements.
        if property.get("items").is_some() && !strategy.contains(&"merge") {
            continue;
        }
        special += compare_merging(openapi, property, rule.below, &path, differences);
    }
    special
}

/// A pod spec with every type that has defaults, and as little else as the server takes.
fn spec() -> Value {
    let expressions = json!([{"key": "a", "operator": "Exists"}]);
    let term = json!({"topologyKey": "t", "labelSelector": {"matchExpressions": expressions}, "namespaceSelector": {"matchExpressions": expressions}});
    let affinity = json!({
        "requiredDuringSchedulingIgnoredDuringExecution": [term],
        "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "podAffinityTerm": term}]});
    let env = json!([
        {"name": "A"},
        {"name": "B", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
        {"name": "C", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu"}}},
        {"name": "D", "valueFrom": {"fileKeyRef": {"volumeName": "empty", "path": "p", "key": "K"}}}]);
    let items = json!([
        {"path": "a", "fieldRef": {"fieldPath": "metadata.name"}},
        {"path": "b", "resourceFieldRef": {"containerName": "main", "resource": "limits.cpu"}}]);
    let mut port = 80;
    let mut container = |name: &str, more: Value| {
        port += 1;
        let mut container = json!({
            "name": name, "image": "main:1", "env": env, "envFrom": [{"configMapRef": {"name": "c"}}],
            "ports": [{"containerPort": port}], "volumeMounts": [{"name": "empty", "mountPath": "/v"}],
            "resources": {"limits": {"cpu": "0.5", "memory": "1024Mi"}, "requests": {"cpu": "0.25"}},
            "securityContext": {"seLinuxOptions": {"level": "s0"}},
            "lifecycle": {"postStart": {"httpGet": {"port": 80}}, "preStop": {"tcpSocket": {"port": 80}}},
            "livenessProbe": {"httpGet": {"port": 80}}, "readinessProbe": {"tcpSocket": {"port": 80}}, "startupProbe": {"grpc": {"port": 80}}});
        merge(&mut container, more);
        container
    };
    let probes = |kind: &str| match kind {
        "http" => json!({"httpGet": {"port": 80}}),
        "tcp" => json!({"tcpSocket": {"port": 80}}),
        _ => json!({"grpc": {"port": 80}}),
    };
    let turned = |a: &str, b: &str, c: &str| json!({"livenessProbe": probes(a), "readinessProbe": probes(b), "startupProbe": probes(c)});
    let swapped =
        json!({"lifecycle": {"postStart": {"tcpSocket": {"port": 80}}, "preStop": {"httpGet": {"port": 80}}}});
    let mut second = turned("tcp", "grpc", "http");
    merge(&mut second, swapped);
    let mut sidecar = turned("http", "tcp", "grpc");
    sidecar["restartPolicy"] = json!("Always");
    let mut second_sidecar = second.clone();
    second_sidecar["restartPolicy"] = json!("Always");
    let mut third_sidecar = turned("grpc", "http", "tcp");
    third_sidecar["restartPolicy"] = json!("Always");
    json!({
        "containers": [container("main", json!({})), container("second", second), container("third", turned("grpc", "http", "tcp"))],
        "initContainers": [container("i1", sidecar), container("i2", second_sidecar), container("i3", third_sidecar)],
        "tolerations": [{"operator": "Exists"}], "imagePullSecrets": [{"name": "s"}], "dnsConfig": {"options": [{"name": "ndots"}]},
        "serviceAccountName": "default", "automountServiceAccountToken": false, "overhead": {}, "resources": {"limits": {"cpu": "8", "memory": "8Gi"}, "requests": {"cpu": "8"}}, "securityContext": {"seLinuxOptions": {"level": "s0"}},
        "topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "t", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {"matchExpressions": expressions}}],
        "affinity": {"podAffinity": affinity, "podAntiAffinity": affinity},
        "volumes": volumes(&expressions, &items)})
}

/// A volume of every type.
fn volumes(expressions: &Value, items: &Value) -> Value {
    let claim = json!({"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1024Mi"}}, "selector": {"matchExpressions": expressions}}});
    json!([
            {"name": "empty"},
            {"name": "sized", "emptyDir": {"sizeLimit": "1024Mi"}},
            {"name": "host", "hostPath": {"path": "/h"}},
            {"name": "secret", "secret": {"secretName": "s"}},
            {"name": "config", "configMap": {"name": "c"}},
            {"name": "downward", "downwardAPI": {"items": items}},
            {"name": "projected", "projected": {"sources": [
                {"downwardAPI": {"items": items}}, {"serviceAccountToken": {"path": "t"}}]}},
            {"name": "claim", "persistentVolumeClaim": {"claimName": "c"}},
            {"name": "image", "image": {"reference": "i:1"}},
            {"name": "ephemeral", "ephemeral": {"volumeClaimTemplate": claim}},
            {"name": "csi", "csi": {"driver": "d.e", "nodePublishSecretRef": {"name": "s"}}},
            {"name": "nfs", "nfs": {"server": "s", "path": "/p"}},
            {"name": "iscsi", "iscsi": {"targetPortal": "1.2.3.4:5", "iqn": "iqn.2001-04.com.example:s", "lun": 0, "secretRef": {"name": "s"}}},
            {"name": "fc", "fc": {"targetWWNs": ["w"], "lun": 0}},
            {"name": "aws", "awsElasticBlockStore": {"volumeID": "v"}},
            {"name": "azure-disk", "azureDisk": {"diskName": "d", "diskURI": "https://a.b/c"}},
            {"name": "azure-file", "azureFile": {"secretName": "s", "shareName": "n"}},
            {"name": "ceph", "cephfs": {"monitors": ["m"], "secretRef": {"name": "s"}}},
            {"name": "cinder", "cinder": {"volumeID": "v", "secretRef": {"name": "s"}}},
            {"name": "flex", "flexVolume": {"driver": "d", "secretRef": {"name": "s"}}},
            {"name": "gce", "gcePersistentDisk": {"pdName": "p"}},
            {"name": "git", "gitRepo": {"repository": "r"}},
            {"name": "gluster", "glusterfs": {"endpoints": "e", "path": "p"}},
            {"name": "photon", "photonPersistentDisk": {"pdID": "p"}},
            {"name": "portworx", "portworxVolume": {"volumeID": "v"}},
            {"name": "quobyte", "quobyte": {"registry": "r:1", "volume": "v"}},
            {"name": "rbd", "rbd": {"monitors": ["m"], "image": "i", "secretRef": {"name": "s"}}},
            {"name": "scale", "scaleIO": {"gateway": "g", "system": "s", "volumeName": "v", "secretRef": {"name": "s"}}},
            {"name": "storageos", "storageos": {"volumeName": "v", "secretRef": {"name": "s"}}},
            {"name": "vsphere", "vsphereVolume": {"volumePath": "p"}}])
}

fn merge(into: &mut Value, from: Value) {
    if let (Value::Object(into), Value::Object(from)) = (into, from) {
        into.extend(from);
    }
}

fn object(kind: &str) -> Value {
    if kind == "Pod" {
        let mut pod = json!({"apiVersion": "v1", "kind": kind, "metadata": {"name": "p"}, "spec": spec()});
        // Admission refuses it without a RuntimeClass that has one.
        pod["spec"]["overhead"] = Value::Null;
        // What the whole pod requests follows from its containers, which is not computed here.
        pod["spec"]["resources"] = Value::Null;
        pod["spec"]["hostNetwork"] = json!(true);
        return pod;
    }
    let mut object = json!({"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": "w"}, "spec": {
        "selector": {"matchLabels": {"app": "w"}},
        "template": {"metadata": {"labels": {"app": "w"}}, "spec": spec()}}});
    if kind == "StatefulSet" {
        object["spec"]["volumeClaimTemplates"] = json!([{"metadata": {"name": "data"}, "spec": {
            "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1024Mi"}},
            "selector": {"matchExpressions": [{"key": "a", "operator": "Exists"}]}}}]);
    }
    object
}

fn path(kind: &str) -> &'static str {
    match kind {
        "Pod" => "/api/v1/namespaces/default/pods",
        "Deployment" => "/apis/apps/v1/namespaces/default/deployments",
        "StatefulSet" => "/apis/apps/v1/namespaces/default/statefulsets",
        "DaemonSet" => "/apis/apps/v1/namespaces/default/daemonsets",
        _ => "/apis/apps/v1/namespaces/default/replicasets",
    }
}

/// Removes what is set for each new object, and for a pod what admission adds.
fn cleaned(mut stored: Value, kind: &str) -> Value {
    if let Value::Object(fields) = &mut stored {
        fields.shift_remove("status");
    }
    if let Some(Value::Object(metadata)) = stored.get_mut("metadata") {
        // A DaemonSet's controller counts there.
        metadata.shift_remove("annotations");
        for name in ["uid", "creationTimestamp", "generation", "namespace", "managedFields", "resourceVersion"] {
            metadata.shift_remove(name);
        }
    }
    if let (Some(Value::Object(spec)), "Pod") = (stored.get_mut("spec"), kind) {
        spec.shift_remove("priority");
        spec.shift_remove("preemptionPolicy");
    }
    stored
}

fn differences(path: &str, ours: &Value, server: &Value, found: &mut Vec<String>) {
    match (ours, server) {
        (Value::Object(a), Value::Object(b)) => {
            for name in a.keys().chain(b.keys().filter(|name| !a.contains_key(*name))) {
                // A list that nobody made is stored as null where its field has no `omitempty`.
                let of = |fields: &Map<String, Value>| fields.get(name).cloned().unwrap_or_default();
                differences(&format!("{path}.{name}"), &of(a), &of(b), found);
            }
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            for (index, (a, b)) in a.iter().zip(b).enumerate() {
                differences(&format!("{path}[{index}]"), a, b, found);
            }
        }
        (ours, server) if ours != server => found.push(format!("{path}: {ours}, the server: {server}")),
        (_, _) => {}
    }
}

/// Every place in an object that a path of names leads to.
fn places(object: &Value, names: &[&str], pointer: &str, found: &mut Vec<String>) {
    if let Value::Array(list) = object {
        for (index, element) in list.iter().enumerate() {
            places(element, names, &format!("{pointer}/{index}"), found);
        }
        return;
    }
    match names.split_first() {
        None => found.push(pointer.to_owned()),
        Some((name, rest)) => {
            if let Some(value) = object.get(name) {
                places(value, rest, &format!("{pointer}/{name}"), found);
            }
        }
    }
}

/// The places of the types that have the field.
fn parents(object: &Value, names: &[&'static str]) -> Vec<String> {
    let mut found = Vec::new();
    let parent = names.split_last().map_or(&[][..], |(_, parent)| parent);
    places(object, parent, "", &mut found);
    found
}

/// Every field that is filled in, left out or a quantity, by the names that lead to it; and whether it is filled in.
fn handled(of: Schema, above: &[&'static str], found: &mut BTreeSet<(Vec<&'static str>, bool)>) {
    let at = |name: &'static str| [above, &[name]].concat();
    for field in of.fields() {
        if field.default.is_some() || field.left_out || field.is_quantity || field.has_quantities {
            found.insert((at(field.name), field.default.is_some()));
        }
        if let Some(name) = field.default.and_then(|default| default.strip_prefix("@alias/")) {
            found.insert((at(name), true));
        }
        handled(field.below, &at(field.name), found);
    }
}

#[test]
fn defaults_are_the_servers() {
    let api = Api::open();
    let mut found = Vec::new();
    for (kind, _) in KINDS {
        let object = object(kind);
        let (status, stored) = api.dry_run_create(path(kind), &object);
        assert_eq!(status, 201, "{kind}: {stored:#}");
        let (filled, stored) = (defaults(kind).fill(&object), cleaned(stored, kind));
        differences(kind, &filled, &stored, &mut found);
        // The sample is only worth something if it has a place for everything in the table.
        let mut table = BTreeSet::new();
        handled(defaults(kind), &[], &mut table);
        for list in ["containers", "initContainers"].into_iter().filter(|_| kind == "Pod") {
            table.insert((vec!["spec", list, "resources", "requests"], true));
            table.insert((vec!["spec", list, "ports", "hostPort"], true));
        }
        assert!(table.len() > 50, "{kind}: {}", table.len());
        for (names, is_filled_in) in &table {
            if is_left_out(kind, &names.join(".")) {
                continue;
            }
            let parents = parents(&filled, names);
            let (Some(name), false) = (names.last(), parents.is_empty()) else {
                // The claim's labels and such: filled in by no table.
                found.push(format!("{kind}: the sample has no {}", names.join(".")));
                continue;
            };
            let is_there = |of: &Value| parents.iter().any(|parent| of.pointer(&format!("{parent}/{name}")).is_some());
            if *is_filled_in && !is_there(&stored) {
                found.push(format!("{kind}: {} is filled in by nobody", names.join(".")));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// The zero of a value's type.
fn zero(leaf: &Value) -> Value {
    match leaf {
        Value::Bool(_) => json!(false),
        Value::Number(_) => json!(0),
        Value::Object(_) => json!({}),
        Value::Array(_) => json!([]),
        Value::String(_) | Value::Null => json!(""),
    }
}

/// Every field of the table that is left out where it is zero, set to its zero; and every leaf of the server's types, set to
/// two values and to its zero: where the server takes the object, it stores what is computed here.
#[test]
fn what_the_server_stores_of_any_field_is_known() {
    let api = Api::open();
    let checks = thread::scope(|scope| {
        let checks = KINDS.map(|(kind, name)| {
            let api = &api;
            scope.spawn(move || every_leaf(api, kind, name))
        });
        checks.map(|check| check.join().expect("no kind panics"))
    });
    let (asked, accepted) =
        checks.iter().fold((0, 0), |(asked, accepted), check| (asked + check.asked, accepted + check.accepted));
    let found: Vec<String> = checks.into_iter().flat_map(|check| check.found).collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
    assert!(accepted > 500 && accepted * 4 > asked, "only {accepted} of {asked} objects were taken");
}

#[derive(Default)]
struct Checked {
    asked: usize,
    accepted: usize,
    found: BTreeSet<String>,
}

fn every_leaf(api: &Api, kind: &str, name: &str) -> Checked {
    let mut checked = Checked::default();
    let openapi = OpenApi::read(api, document(kind));
    // The template is the same one in all owners.
    let in_template = |leaf: &Leaf| leaf.steps.get(1) == Some(&Step::Field("template".into()));
    let leaves = openapi.leaves(name).into_iter().filter(|leaf| {
        let of_its_own = ["status", "metadata", "apiVersion", "kind"];
        let settable = !matches!(leaf.steps.first(), Some(Step::Field(name)) if of_its_own.contains(&name.as_str()));
        settable && (kind == "Deployment" || !in_template(leaf)) && !is_left_out(kind, &leaf.fields())
    });
    for leaf in leaves {
        let [one, _] = &leaf.values;
        for value in [one.clone(), zero(one)] {
            let mut object = object(kind);
            openapi.place(openapi.named(name), &mut object, &leaf.steps, &value);
            checked.asked += 1;
            let (status, stored) = api.dry_run_create(path(kind), &object);
            if status != 201 {
                continue;
            }
            checked.accepted += 1;
            let mut here = Vec::new();
            differences(kind, &defaults(kind).fill(&object), &cleaned(stored, kind), &mut here);
            let reported = |difference| format!("{} = {value}: {difference}", leaf.fields());
            checked.found.extend(here.into_iter().map(reported));
        }
    }
    checked
}
