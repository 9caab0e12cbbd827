//! The container hashes, as a table and as one versioned JSON document.

use std::io::{self, Write};

use serde::Serialize;

use engine::k8s::hash_comparison::{ASSUMED_KUBELET, ContainerComparison, HashComparison, Hashed, Kubelet, Restart};
use engine::k8s::pod::ContainerList;
use engine::plan::PLAN_API_VERSION;

use super::style::{Meaning, Style};
use super::table::{self, Column};
use super::{HashFormat, escape, words};

const ALONE: [Column; 3] = [Column::short("CONTAINER", 9), Column::short("IMAGE", 12), Column::whole("HASH")];

const COMPARED: [Column; 6] = [
    Column::short("CONTAINER", 9),
    Column::short("IMAGE", 12),
    Column::whole("HASH").goes(0),
    Column::short("IMAGE AFTER", 12),
    Column::whole("HASH AFTER").goes(1),
    Column::whole("RESTARTS"),
];

/// Writes the hashes of all objects: a result, for stdout.
///
/// # Errors
/// The writer's.
pub fn hashes(format: HashFormat, objects: &[HashComparison], style: &Style, out: &mut dyn Write) -> io::Result<()> {
    match format {
        HashFormat::Text => words::in_lines(style, out, |out| text(objects, style, out)),
        HashFormat::Json => json(objects, out),
    }
}

fn text(objects: &[HashComparison], style: &Style, out: &mut dyn Write) -> io::Result<()> {
    for (index, object) in objects.iter().enumerate() {
        if index > 0 {
            writeln!(out)?;
        }
        let name = words::workload(style, &object.workload);
        let kubelet = style.show(&kubelet(&object.kubelet));
        let namespace = match object.workload.namespace.as_str() {
            "" => String::new(),
            namespace => format!("  namespace {}", style.show(namespace)),
        };
        writeln!(out, "{}{namespace}   kubelet {kubelet}\n", style.paint(Meaning::Heading, &name))?;
        table(&object.containers, style, out)?;
    }
    Ok(())
}

fn kubelet(kubelet: &Kubelet) -> String {
    match kubelet {
        Kubelet::Given(version) => version.to_string(),
        Kubelet::OfNode { version, node } => format!("{version} ({node})"),
        Kubelet::Assumed => format!("{ASSUMED_KUBELET} or newer (assumed)"),
    }
}

fn table(containers: &[ContainerComparison], style: &Style, out: &mut dyn Write) -> io::Result<()> {
    let compares = containers.iter().any(|container| container.restart.is_some());
    let columns: &[Column] = if compares { &COMPARED } else { &ALONE };
    let rows: Vec<(Meaning, Vec<String>)> =
        containers.iter().map(|container| (Meaning::Plain, row(container, compares, style))).collect();
    table::write(columns, &rows, style, out)
}

fn row(container: &ContainerComparison, compares: bool, style: &Style) -> Vec<String> {
    let list = match container.list {
        ContainerList::Containers => "",
        ContainerList::InitContainers => " (init)",
    };
    let cells = |hashed: Option<&Hashed>| match hashed {
        Some(hashed) => [style.show(&hashed.image), hashed.hash.to_string()],
        None => ["<none>".to_owned(), "<none>".to_owned()],
    };
    let mut row = vec![format!("{}{list}", style.show(container.container.as_str()))];
    row.extend(cells(container.now.as_ref()));
    if compares {
        let [image, hash] = cells(container.after.as_ref());
        let same = container.after.is_some() && container.after == container.now;
        row.extend([if same { "(unchanged)".to_owned() } else { image }, hash]);
        row.push(match container.restart {
            None => "no".to_owned(),
            Some(restart) => match restart.why_not() {
                Some(why) => format!("no: {why}"),
                None => "yes".to_owned(),
            },
        });
    }
    row
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Document<'a> {
    api_version: &'a str,
    kind: &'a str,
    objects: Vec<ObjectView<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ObjectView<'a> {
    kind: &'a str,
    namespace: &'a str,
    name: &'a str,
    kubelet: KubeletView<'a>,
    containers: Vec<ContainerView<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct KubeletView<'a> {
    version: String,
    /// `given`, `node` or `assumed`.
    source: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    node: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ContainerView<'a> {
    container: &'a str,
    list: ContainerList,
    image: Option<&'a str>,
    hash: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    image_after: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hash_after: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    restarts: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    why_not: Option<&'a str>,
}

impl<'a> ContainerView<'a> {
    fn of(container: &'a ContainerComparison) -> Self {
        let (now, after) = (container.now.as_ref(), container.after.as_ref());
        Self {
            container: container.container.as_str(),
            list: container.list,
            image: now.map(|hashed| hashed.image.as_str()),
            hash: now.map(|hashed| hashed.hash.to_string()),
            image_after: after.map(|hashed| hashed.image.as_str()),
            hash_after: after.map(|hashed| hashed.hash.to_string()),
            restarts: container.restart.map(Restart::restarts),
            why_not: container.restart.and_then(Restart::why_not),
        }
    }
}

impl<'a> ObjectView<'a> {
    fn of(object: &'a HashComparison) -> Self {
        let HashComparison { workload, kubelet, containers } = object;
        let (source, node) = match kubelet {
            Kubelet::Given(_) => ("given", None),
            Kubelet::OfNode { node, .. } => ("node", Some(node.as_str())),
            Kubelet::Assumed => ("assumed", None),
        };
        Self {
            kind: workload.kind.spec().kind,
            namespace: &workload.namespace,
            name: &workload.name,
            kubelet: KubeletView { version: kubelet.version().to_string(), source, node },
            containers: containers.iter().map(ContainerView::of).collect(),
        }
    }
}

fn json(objects: &[HashComparison], out: &mut dyn Write) -> io::Result<()> {
    let document = Document {
        api_version: PLAN_API_VERSION,
        kind: "ContainerHashes",
        objects: objects.iter().map(ObjectView::of).collect(),
    };
    let text = serde_json::to_string_pretty(&document).map_err(io::Error::other)?;
    writeln!(out, "{}", escape::json(&text))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use engine::k8s::hash_comparison::{compare, pod_of};
    use engine::k8s::names::WorkloadRef;
    use engine::kinds::WorkloadKind;
    use engine::value::kubelet_version::KubeletVersion;

    fn object(after: Option<&str>, kubelet: Kubelet) -> HashComparison {
        let pod = |image: &str| {
            pod_of(
                WorkloadKind::Pod,
                &json!({"spec": {"containers": [{"name": "app", "image": "registry.test/app:v1"}, {"name": "side", "image": image}],
                    "initContainers": [{"name": "in\u{1b}it", "image": "init:1"}]}}),
            )
        };
        let after = after.map(pod);
        let containers = compare(&pod("registry.test/side:v1"), after.as_ref(), &kubelet).unwrap();
        let workload = WorkloadRef { kind: WorkloadKind::Pod, namespace: "prod".into(), name: "web-0".into() };
        HashComparison { workload, kubelet, containers }
    }

    fn written(format: HashFormat, objects: &[HashComparison]) -> String {
        let mut out = Vec::new();
        hashes(format, objects, &Style::PLAIN, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn the_terminal_gets_a_table() {
        let node = Kubelet::OfNode { version: KubeletVersion::new(1, 36), node: "node-1".into() };
        let expected = "\
pod/web-0  namespace prod   kubelet 1.32 or newer (assumed)

  CONTAINER       IMAGE                   HASH
  in^[it (init)   init:1                  18a51174
  app             registry.test/app:v1    cacdff2f
  side            registry.test/side:v1   7f53a3a1

pod/web-0  namespace prod   kubelet 1.36 (node-1)

  CONTAINER       IMAGE                   HASH       IMAGE AFTER             HASH AFTER   RESTARTS
  in^[it (init)   init:1                  18a51174   (unchanged)             18a51174     no: same hash
  app             registry.test/app:v1    cacdff2f   (unchanged)             cacdff2f     no: same hash
  side            registry.test/side:v1   7f53a3a1   registry.test/side:v2   bffef4db     yes
";
        let objects = [object(None, Kubelet::Assumed), object(Some("registry.test/side:v2"), node)];
        assert_eq!(written(HashFormat::Text, &objects), expected);
    }

    #[test]
    fn a_script_gets_one_document() {
        let text = written(HashFormat::Json, &[object(Some("registry.test/side:v2"), Kubelet::Assumed)]);
        assert!(!text.contains('\u{1b}'));
        let document: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(document["kind"], "ContainerHashes");
        assert_eq!(document["objects"][0]["kubelet"], json!({"version": "1.32", "source": "assumed"}));
        assert_eq!(
            document["objects"][0]["containers"][2],
            json!({"container": "side", "list": "containers", "image": "registry.test/side:v1", "hash": "7f53a3a1",
                "imageAfter": "registry.test/side:v2", "hashAfter": "bffef4db", "restarts": true})
        );
    }
}
