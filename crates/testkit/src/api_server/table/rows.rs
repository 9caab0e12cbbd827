//! The columns and cells of each kind (`pkg/printers/internalversion/printers.go`).

use serde_json::{Map, Value, json};

use super::{pod, since};
use crate::api_model::{at, text};
use crate::controllers::fields::{condition, number};

/// Headers: `#` before a number, `*` before what only `-o wide` shows.
fn headers(plural: &str) -> &'static str {
    match plural {
        "pods" => "Name,Ready,Status,Restarts,Age,*IP,*Node,*Nominated Node,*Readiness Gates",
        "deployments" => "Name,Ready,#Up-to-date,#Available,Age,*Containers,*Images,*Selector",
        "replicasets" => "Name,#Desired,#Current,#Ready,Age,*Containers,*Images,*Selector",
        "statefulsets" => "Name,Ready,Age,*Containers,*Images",
        "daemonsets" => {
            "Name,#Desired,#Current,#Ready,#Up-to-date,#Available,Node Selector,Age,*Containers,*Images,*Selector"
        }
        "controllerrevisions" => "Name,Controller,#Revision,Age",
        "services" => "Name,Type,Cluster-IP,External-IP,Port(s),Age,*Selector",
        "endpointslices" => "Name,AddressType,Ports,Endpoints,Age",
        "poddisruptionbudgets" => "Name,Min Available,Max Unavailable,#Allowed Disruptions,Age",
        "nodes" => {
            "Name,Status,Roles,Age,Version,*Internal-IP,*External-IP,*OS-Image,*Kernel-Version,*Container-Runtime"
        }
        "events" => "Last Seen,Type,Reason,Object,*Subobject,*Source,Message,*First Seen,*#Count,*Name",
        "namespaces" => "Name,Status,Age",
        "configmaps" => "Name,#Data,Age",
        "secrets" => "Name,Type,#Data,Age",
        _ => "Name,Age",
    }
}

/// Returns the column definitions.
pub(super) fn columns(plural: &str) -> Vec<Value> {
    let definition = |header: &str| {
        let name = header.trim_start_matches(['*', '#']);
        let kind = if header.contains('#') { "integer" } else { "string" };
        json!({"name": name, "type": kind, "format": if name == "Name" { "name" } else { "" }, "description": "",
            "priority": i32::from(header.starts_with('*'))})
    };
    headers(plural).split(',').map(definition).collect()
}

/// Returns the cells of an object.
pub(super) fn cells(plural: &str, object: &Value) -> Vec<Value> {
    let name = json!(text(object, &["metadata", "name"]));
    let age = since(text(object, &["metadata", "creationTimestamp"]));
    match plural {
        "pods" => return pod::cells(object, &age),
        "nodes" => return node(object, &age),
        "events" => return event(object),
        _ => {}
    }
    let cells = match plural {
        "deployments" | "replicasets" | "statefulsets" | "daemonsets" => return workload(plural, object, &age),
        "controllerrevisions" => vec![json!(controller(object)), at(object, &["revision"]).clone()],
        "services" => {
            let fixed =
                vec![at(object, &["spec", "type"]).clone(), json!(or(text(object, &["spec", "clusterIP"]), "<none>"))];
            let rest = vec![
                json!("<none>"),
                json!(service_ports(object)),
                json!(age),
                json!(labels(at(object, &["spec", "selector"]))),
            ];
            return [vec![name], fixed, rest].concat();
        }
        "endpointslices" => {
            let ports = at(object, &["ports"]).as_array().into_iter().flatten().map(|port| port["port"].to_string());
            vec![at(object, &["addressType"]).clone(), json!(with_more(ports)), json!(with_more(addresses(object)))]
        }
        "poddisruptionbudgets" => {
            let bound = |field: &str| {
                let given = at(object, &["spec", field]);
                if given.is_null() { json!("N/A") } else { given.clone() }
            };
            vec![
                bound("minAvailable"),
                bound("maxUnavailable"),
                json!(number(object, &["status", "disruptionsAllowed"])),
            ]
        }
        "namespaces" => vec![at(object, &["status", "phase"]).clone()],
        "configmaps" => vec![json!(entries(object))],
        "secrets" => vec![at(object, &["type"]).clone(), json!(entries(object))],
        _ => Vec::new(),
    };
    [vec![name], cells, vec![json!(age)]].concat()
}

fn workload(plural: &str, object: &Value, age: &str) -> Vec<Value> {
    let status = |field: &str| json!(number(object, &["status", field]));
    let wanted = number(object, &["spec", "replicas"]);
    let ready = json!(format!("{}/{wanted}", number(object, &["status", "readyReplicas"])));
    let cells = match plural {
        "deployments" => vec![ready, status("updatedReplicas"), status("availableReplicas")],
        "replicasets" => vec![json!(wanted), status("replicas"), status("readyReplicas")],
        "statefulsets" => vec![ready],
        _ => {
            let counts = ["desired", "current"].map(|field| status(&format!("{field}NumberScheduled")));
            let rest = ["numberReady", "updatedNumberScheduled", "numberAvailable"].map(status);
            let nodes = json!(labels(at(object, &["spec", "template", "spec", "nodeSelector"])));
            counts.into_iter().chain(rest).chain([nodes]).collect()
        }
    };
    let mut last = vec![json!(age), containers(object, "name"), containers(object, "image")];
    if plural != "statefulsets" {
        last.push(selector(object));
    }
    [vec![json!(text(object, &["metadata", "name"]))], cells, last].concat()
}

/// How much is in a ConfigMap or Secret.
fn entries(object: &Value) -> usize {
    ["data", "binaryData"].iter().map(|map| at(object, &[map]).as_object().map_or(0, Map::len)).sum()
}

fn or<'t>(text: &'t str, else_: &'t str) -> &'t str {
    if text.is_empty() { else_ } else { text }
}

fn containers(object: &Value, field: &str) -> Value {
    let all = at(object, &["spec", "template", "spec", "containers"]).as_array().into_iter().flatten();
    json!(all.map(|container| text(container, &[field])).collect::<Vec<_>>().join(","))
}

fn labels(map: &Value) -> String {
    let mut pairs: Vec<String> = map
        .as_object()
        .into_iter()
        .flatten()
        .map(|(key, value)| format!("{key}={}", value.as_str().unwrap_or_default()))
        .collect();
    pairs.sort();
    if pairs.is_empty() { "<none>".to_owned() } else { pairs.join(",") }
}

/// `FormatLabelSelector`.
fn selector(object: &Value) -> Value {
    let selector = at(object, &["spec", "selector"]);
    let mut terms: Vec<String> = match labels(at(selector, &["matchLabels"])).as_str() {
        "<none>" => Vec::new(),
        labels => labels.split(',').map(str::to_owned).collect(),
    };
    for one in at(selector, &["matchExpressions"]).as_array().into_iter().flatten() {
        let values: Vec<&str> =
            at(one, &["values"]).as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let (key, values) = (text(one, &["key"]), values.join(","));
        terms.push(match text(one, &["operator"]) {
            "In" => format!("{key} in ({values})"),
            "NotIn" => format!("{key} notin ({values})"),
            "DoesNotExist" => format!("!{key}"),
            _ => key.to_owned(),
        });
    }
    json!(if terms.is_empty() { "<none>".to_owned() } else { terms.join(",") })
}

fn controller(object: &Value) -> String {
    let owners = at(object, &["metadata", "ownerReferences"]).as_array().into_iter().flatten();
    let owner = owners.into_iter().find(|owner| owner["controller"] == true);
    owner.map_or_else(
        || "<none>".to_owned(),
        |owner| {
            let group = text(owner, &["apiVersion"]).split_once('/').map_or("", |(group, _)| group);
            let kind = text(owner, &["kind"]).to_lowercase();
            let dot = if group.is_empty() { "" } else { "." };
            format!("{kind}{dot}{group}/{}", text(owner, &["name"]))
        },
    )
}

fn service_ports(object: &Value) -> String {
    let ports = at(object, &["spec", "ports"]).as_array().into_iter().flatten();
    let ports: Vec<String> = ports
        .map(|port| {
            let node_port = port["nodePort"].as_i64().map_or_else(String::new, |number| format!(":{number}"));
            format!("{}{node_port}/{}", port["port"], text(port, &["protocol"]))
        })
        .collect();
    or(&ports.join(","), "<none>").to_owned()
}

fn addresses(slice: &Value) -> impl Iterator<Item = String> {
    let endpoints = at(slice, &["endpoints"]).as_array().into_iter().flatten();
    let lists = endpoints.filter_map(|endpoint| endpoint["addresses"].as_array());
    lists.flatten().filter_map(|address| address.as_str().map(str::to_owned))
}

/// The first three, and how many more.
fn with_more(all: impl Iterator<Item = String>) -> String {
    let all: Vec<String> = all.collect();
    let first = all.iter().take(3).cloned().collect::<Vec<_>>().join(",");
    match all.len() {
        0 => "<unset>".to_owned(),
        1..=3 => first,
        count => format!("{first} + {} more...", count - 3),
    }
}

fn node(object: &Value, age: &str) -> Vec<Value> {
    let ready = text(condition(object, "Ready"), &["status"]);
    let mut status = match ready {
        "True" => "Ready",
        "" => "Unknown",
        _ => "NotReady",
    }
    .to_owned();
    if at(object, &["spec", "unschedulable"]) == true {
        status.push_str(",SchedulingDisabled");
    }
    let address = |kind: &str| {
        let mut all = at(object, &["status", "addresses"]).as_array().into_iter().flatten();
        all.find(|one| text(one, &["type"]) == kind).map_or("<none>", |one| text(one, &["address"])).to_owned()
    };
    let info = |field: &str| text(object, &["status", "nodeInfo", field]);
    let kernel = format!("{} ({})", or(info("kernelVersion"), "<unknown>"), info("architecture"));
    vec![
        json!(text(object, &["metadata", "name"])),
        json!(status),
        json!("<none>"),
        json!(age),
        json!(info("kubeletVersion")),
        json!(address("InternalIP")),
        json!(address("ExternalIP")),
        json!(or(info("osImage"), "<unknown>")),
        json!(kernel),
        json!(or(info("containerRuntimeVersion"), "<unknown>")),
    ]
}

fn event(object: &Value) -> Vec<Value> {
    let time = |field: &str| since(text(object, &[field]));
    let about = |field: &str| text(object, &["involvedObject", field]);
    let (component, host) = (text(object, &["source", "component"]), text(object, &["source", "host"]));
    vec![
        json!(time("lastTimestamp")),
        json!(text(object, &["type"])),
        json!(text(object, &["reason"])),
        json!(format!("{}/{}", about("kind").to_lowercase(), about("name"))),
        json!(about("fieldPath")),
        json!(if host.is_empty() { component.to_owned() } else { format!("{component}, {host}") }),
        json!(text(object, &["message"]).trim()),
        json!(time("firstTimestamp")),
        json!(number(object, &["count"])),
        json!(text(object, &["metadata", "name"])),
    ]
}
