//! The container hashes, as a table and as one versioned JSON document.

use std::io;

use serde_json::json;

use engine::k8s::hash_comparison::{ContainerComparison, HashComparison, Kubelet};
use engine::k8s::pod::ContainerList;
use engine::plan::PLAN_API_VERSION;

use super::style::{Meaning, Style};
use super::table::{self, Column};
use super::{HashFormat, Out, json, words};

/// The first three stand alone where no change is asked about.
const COLUMNS: [Column; 6] = [
    Column::short("CONTAINER", 9),
    Column::short("IMAGE", 12),
    Column::whole("HASH").goes(0),
    Column::short("IMAGE AFTER", 12),
    Column::whole("HASH AFTER").goes(1),
    Column::whole("RESTARTS"),
];

pub fn hashes(format: HashFormat, objects: &[HashComparison], style: &Style, out: Out<'_>) -> io::Result<()> {
    match format {
        HashFormat::Text => words::in_lines(style, out, |out| text(objects, style, out)),
        HashFormat::Json => {
            let document = json!({"apiVersion": PLAN_API_VERSION, "kind": "ContainerHashes", "objects": objects});
            json::write(&document, out)
        }
    }
}

fn text(objects: &[HashComparison], style: &Style, out: Out<'_>) -> io::Result<()> {
    for (index, HashComparison { workload, kubelet, containers }) in objects.iter().enumerate() {
        let gap = if index > 0 { "\n" } else { "" };
        let name = style.paint(Meaning::Heading, &words::workload(style, workload));
        let namespace = words::in_namespace(style, &workload.namespace, ("  ", ""));
        let from = match &kubelet.node {
            Some(node) => format!(" ({})", style.show(node)),
            None if *kubelet == Kubelet::ASSUMED => " or newer (assumed)".to_owned(),
            None => String::new(),
        };
        writeln!(out, "{gap}{name}{namespace}   kubelet {}{from}\n", kubelet.version)?;
        let columns = if containers.iter().any(|one| one.restarts.is_some()) { 6 } else { 3 };
        let rows: Vec<_> = containers.iter().map(|one| (Meaning::Plain, row(one, style)[..columns].to_vec())).collect();
        table::write(&COLUMNS[..columns], &rows, style, out)?;
    }
    Ok(())
}

fn row(of: &ContainerComparison, style: &Style) -> [String; 6] {
    let list = if of.list == ContainerList::InitContainers { " (init)" } else { "" };
    let shown = |text: &Option<String>| text.as_ref().map_or_else(|| "<none>".to_owned(), |text| style.show(text));
    let is_unchanged = of.hash_after.is_some() && (&of.image, &of.hash) == (&of.image_after, &of.hash_after);
    let why_not = of.why_not.map(|why| format!(": {why}")).unwrap_or_default();
    [
        format!("{}{list}", style.show(of.container.as_str())),
        shown(&of.image),
        shown(&of.hash),
        if is_unchanged { "(unchanged)".to_owned() } else { shown(&of.image_after) },
        shown(&of.hash_after),
        if of.restarts == Some(true) { "yes".to_owned() } else { format!("no{why_not}") },
    ]
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

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
        let containers = compare(&pod("registry.test/side:v1"), after.as_ref(), kubelet.version).unwrap();
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
        let node = Kubelet { version: KubeletVersion::new(1, 36), source: "node", node: Some("node-1".into()) };
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
        let objects = [object(None, Kubelet::ASSUMED), object(Some("registry.test/side:v2"), node)];
        assert_eq!(written(HashFormat::Text, &objects), expected);
    }

    #[test]
    fn a_script_gets_one_document() {
        let text = written(HashFormat::Json, &[object(Some("registry.test/side:v2"), Kubelet::ASSUMED)]);
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
