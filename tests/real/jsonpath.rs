//! `-o jsonpath`: kubectl still makes of each template what the table says it does.

use serde_json::Value;

use crate::support::Namespace;

const VECTORS: &str = include_str!("../vectors/jsonpath.jsonl");

#[test]
fn kubectl_makes_of_the_templates_what_the_table_says() {
    let namespace = Namespace::new("jsonpath");
    let mut lines = VECTORS.lines().map(|line| serde_json::from_str::<Value>(line).expect("a line is JSON"));
    let document = lines.next().map(|line| line["document"].to_string()).expect("a first line");
    for vector in lines {
        let template = vector["template"].as_str().expect("a template");
        let format = if vector["asJson"] == true { "jsonpath-as-json" } else { "jsonpath" };
        let format = format!("--output={format}={template}");
        let missing = format!("--allow-missing-template-keys={}", vector["allowMissingKeys"] != false);
        let create = ["create", "-f", "-", "--dry-run=client", "--validate=false", &format, &missing];
        let output = namespace.try_kubectl(&create, &document);
        match vector["error"].as_str() {
            None => assert_eq!(Some(output.stdout.as_str()), vector["out"].as_str(), "{template}"),
            Some(why) => assert!(output.code == 1 && output.stderr.contains(why), "{template}: {}", output.stderr),
        }
    }
}
