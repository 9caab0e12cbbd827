//! Lists and objects as `kubectl get` prints them (`pkg/printers/internalversion/printers.go`): the columns of each kind.

use serde_json::{Value, json};

use super::http::Request;
use super::resource::Resource;
use crate::api_model::{at, text};
use crate::clock;
use crate::controllers::fields::number;

/// Whether the client asks for a Table, and what it wants with each row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// The objects themselves.
    Objects,
    Table(Include),
}

/// What comes with a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Include {
    Nothing,
    Metadata,
    Object,
}

impl Form {
    /// Reads what a request accepts.
    pub(crate) fn of(request: &Request) -> Self {
        let first = request.header("accept").unwrap_or_default().split(',').next().unwrap_or_default();
        if !(first.contains("as=Table") && first.contains("g=meta.k8s.io")) {
            return Self::Objects;
        }
        Self::Table(match request.parameter("includeObject") {
            Some("None") => Include::Nothing,
            Some("Object") => Include::Object,
            _ => Include::Metadata,
        })
    }
}

/// A column: its header, its type, and whether only `-o wide` shows it.
type Column = (&'static str, &'static str, bool);

const NAME: Column = ("Name", "string", false);
const AGE: Column = ("Age", "string", false);
const CONTAINERS: Column = ("Containers", "string", true);
const IMAGES: Column = ("Images", "string", true);
const SELECTOR: Column = ("Selector", "string", true);

const fn wide(name: &'static str) -> Column {
    (name, "string", true)
}

const fn string(name: &'static str) -> Column {
    (name, "string", false)
}

const fn integer(name: &'static str) -> Column {
    (name, "integer", false)
}

fn columns(plural: &str) -> Vec<Column> {
    match plural {
        "pods" => vec![
            NAME,
            string("Ready"),
            string("Status"),
            string("Restarts"),
            AGE,
            wide("IP"),
            wide("Node"),
            wide("Nominated Node"),
            wide("Readiness Gates"),
        ],
        "deployments" => {
            vec![NAME, string("Ready"), string("Up-to-date"), string("Available"), AGE, CONTAINERS, IMAGES, SELECTOR]
        }
        "replicasets" => {
            vec![NAME, integer("Desired"), integer("Current"), integer("Ready"), AGE, CONTAINERS, IMAGES, SELECTOR]
        }
        "statefulsets" => vec![NAME, string("Ready"), AGE, CONTAINERS, IMAGES],
        "daemonsets" => vec![
            NAME,
            integer("Desired"),
            integer("Current"),
            integer("Ready"),
            integer("Up-to-date"),
            integer("Available"),
            string("Node Selector"),
            AGE,
            CONTAINERS,
            IMAGES,
            SELECTOR,
        ],
        "controllerrevisions" => vec![NAME, string("Controller"), string("Revision"), AGE],
        "services" => {
            vec![NAME, string("Type"), string("Cluster-IP"), string("External-IP"), string("Port(s)"), AGE, SELECTOR]
        }
        "endpointslices" => vec![NAME, string("AddressType"), string("Ports"), string("Endpoints"), AGE],
        "poddisruptionbudgets" => {
            vec![NAME, string("Min Available"), string("Max Unavailable"), integer("Allowed Disruptions"), AGE]
        }
        "nodes" => vec![
            NAME,
            string("Status"),
            string("Roles"),
            AGE,
            string("Version"),
            wide("Internal-IP"),
            wide("External-IP"),
            wide("OS-Image"),
            wide("Kernel-Version"),
            wide("Container-Runtime"),
        ],
        "events" => vec![
            string("Last Seen"),
            string("Type"),
            string("Reason"),
            string("Object"),
            wide("Subobject"),
            wide("Source"),
            string("Message"),
            wide("First Seen"),
            wide("Count"),
            wide("Name"),
        ],
        "namespaces" => vec![NAME, string("Status"), AGE],
        "configmaps" => vec![NAME, string("Data"), AGE],
        "secrets" => vec![NAME, string("Type"), string("Data"), AGE],
        _ => vec![NAME, AGE],
    }
}

fn cells(plural: &str, object: &Value) -> Vec<Value> {
    let name = text(object, &["metadata", "name"]);
    let age = since(text(object, &["metadata", "creationTimestamp"]));
    let status = |field: &str| number(object, &["status", field]);
    let wanted = number(object, &["spec", "replicas"]);
    let ready = || format!("{}/{wanted}", status("readyReplicas"));
    match plural {
        "pods" => super::table_pod::cells(object, &age),
        "deployments" => vec![
            json!(name),
            json!(ready()),
            json!(status("updatedReplicas")),
            json!(status("availableReplicas")),
            json!(age),
            containers(object, "name"),
            containers(object, "image"),
            selector(object),
        ],
        "replicasets" => vec![
            json!(name),
            json!(wanted),
            json!(status("replicas")),
            json!(status("readyReplicas")),
            json!(age),
            containers(object, "name"),
            containers(object, "image"),
            selector(object),
        ],
        "statefulsets" => {
            vec![json!(name), json!(ready()), json!(age), containers(object, "name"), containers(object, "image")]
        }
        "daemonsets" => vec![
            json!(name),
            json!(status("desiredNumberScheduled")),
            json!(status("currentNumberScheduled")),
            json!(status("numberReady")),
            json!(status("updatedNumberScheduled")),
            json!(status("numberAvailable")),
            json!(labels(at(object, &["spec", "template", "spec", "nodeSelector"]))),
            json!(age),
            containers(object, "name"),
            containers(object, "image"),
            selector(object),
        ],
        "controllerrevisions" => {
            vec![json!(name), json!(controller(object)), at(object, &["revision"]).clone(), json!(age)]
        }
        "services" => vec![
            json!(name),
            at(object, &["spec", "type"]).clone(),
            json!(or(text(object, &["spec", "clusterIP"]), "<none>")),
            json!("<none>"),
            json!(service_ports(object)),
            json!(age),
            json!(labels(at(object, &["spec", "selector"]))),
        ],
        "endpointslices" => vec![
            json!(name),
            at(object, &["addressType"]).clone(),
            json!(with_more(
                at(object, &["ports"]).as_array().into_iter().flatten().map(|port| port["port"].to_string())
            )),
            json!(with_more(addresses(object))),
            json!(age),
        ],
        "poddisruptionbudgets" => {
            let bound = |field: &str| match at(object, &["spec", field]) {
                Value::Null => "N/A".to_owned(),
                Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            let (least, most) = (bound("minAvailable"), bound("maxUnavailable"));
            vec![json!(name), json!(least), json!(most), json!(status("disruptionsAllowed")), json!(age)]
        }
        "nodes" => node(object, &age),
        "events" => event(object),
        "namespaces" => vec![json!(name), at(object, &["status", "phase"]).clone(), json!(age)],
        "configmaps" | "secrets" => {
            let data = ["data", "binaryData"].map(|map| at(object, &[map]).as_object().map_or(0, serde_json::Map::len));
            let data = json!(data.iter().sum::<usize>());
            let kind = at(object, &["type"]).clone();
            if plural == "secrets" {
                vec![json!(name), kind, data, json!(age)]
            } else {
                vec![json!(name), data, json!(age)]
            }
        }
        _ => vec![json!(name), json!(age)],
    }
}

/// Returns objects as a Table; later events of a watch do without the columns.
pub(crate) fn table<'o>(
    resource: &Resource,
    objects: impl IntoIterator<Item = &'o Value>,
    metadata: &Value,
    include: Include,
    with_columns: bool,
) -> Value {
    let rows: Vec<Value> = objects
        .into_iter()
        .map(|object| {
            let mut row = json!({"cells": cells(resource.plural, object)});
            match include {
                Include::Nothing => {}
                Include::Metadata => {
                    row["object"] = json!({"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1",
                        "metadata": object["metadata"]});
                }
                Include::Object => row["object"] = object.clone(),
            }
            row
        })
        .collect();
    let definition = |(name, kind, is_wide): Column| {
        json!({"name": name, "type": kind, "format": if name == "Name" { "name" } else { "" }, "description": "",
            "priority": i32::from(is_wide)})
    };
    let columns: Vec<Value> =
        if with_columns { columns(resource.plural).into_iter().map(definition).collect() } else { Vec::new() };
    json!({"kind": "Table", "apiVersion": "meta.k8s.io/v1", "metadata": metadata, "columnDefinitions": columns, "rows": rows})
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
    let ready = text(crate::controllers::fields::condition(object, "Ready"), &["status"]);
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

/// How long ago a time is, as kubectl writes it.
pub(crate) fn since(time: &str) -> String {
    if time.is_empty() { "<unknown>".to_owned() } else { human(clock::seconds_since(time)) }
}

/// `duration.HumanDuration` (`apimachinery/pkg/util/duration`).
fn human(seconds: i64) -> String {
    let two = |large: i64, unit: &str, small: i64, small_unit: &str| {
        if small == 0 { format!("{large}{unit}") } else { format!("{large}{unit}{small}{small_unit}") }
    };
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86_400);
    match seconds {
        ..-1 => "<invalid>".to_owned(),
        -1..=0 => "0s".to_owned(),
        1..120 => format!("{seconds}s"),
        120..600 => two(minutes, "m", seconds % 60, "s"),
        600..10_800 => format!("{minutes}m"),
        10_800..28_800 => two(hours, "h", minutes % 60, "m"),
        28_800..172_800 => format!("{hours}h"),
        172_800..691_200 => two(days, "d", hours % 24, "h"),
        691_200..63_072_000 => format!("{days}d"),
        63_072_000..252_288_000 => two(days / 365, "y", days % 365, "d"),
        _ => format!("{}y", days / 365),
    }
}

#[cfg(test)]
mod tests {
    use super::human;

    #[test]
    fn ages_are_written_as_by_kubectl() {
        let table = [
            (-5, "<invalid>"),
            (0, "0s"),
            (119, "119s"),
            (120, "2m"),
            (125, "2m5s"),
            (600, "10m"),
            (10_799, "179m"),
            (10_860, "3h1m"),
            (28_800, "8h"),
            (172_800, "2d"),
            (176_400, "2d1h"),
            (691_200, "8d"),
            (63_072_000, "2y"),
        ];
        for (seconds, wanted) in table {
            assert_eq!(human(seconds), wanted, "{seconds}");
        }
    }
}
