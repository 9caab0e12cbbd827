//! kubeconfigs and connection flags: the program asks whom kubectl asks, as whom kubectl asks, and refuses what kubectl
//! refuses. What kubectl does is recorded from it ([`crate::support::kubeconfigs`]).

use serde_json::{Value, json};

use crate::support::kubeconfigs::{rows, run};
use crate::support::run::Folder;

#[test]
fn the_server_and_the_user_are_those_that_kubectl_takes() {
    let mut wrong = Vec::new();
    let rows = rows();
    for row in &rows {
        let folder = Folder::new();
        let program = env!("CARGO_BIN_EXE_kubectl-inplace");
        let ours = run(row, folder.path(), program, &["status", "deploy/web", "--request-timeout=5s"]);
        let mut expected = if row["ours"].is_null() { row["kubectl"].clone() } else { row["ours"].clone() };
        let as_expected = match (expected["error"].is_null(), ours["error"].as_str()) {
            (false, Some(error)) => {
                error.contains(row["says"].as_str().expect("what it says")) && !error.contains("panicked")
            }
            (false, None) | (true, Some(_)) => false,
            (true, None) => {
                let shape = |value: &Value| json!([value["sends"], value["namespace"]]);
                expected = shape(&expected);
                shape(&ours) == expected
            }
        };
        if !as_expected {
            wrong.push(format!("{}\n  kubectl: {expected}\n  ours: {ours}", row["name"]));
        }
    }
    assert!(wrong.is_empty(), "{} of {}\n{}", wrong.len(), rows.len(), wrong.join("\n"));
    assert!(rows.len() >= 200, "rows are missing");
}
