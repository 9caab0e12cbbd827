//! kubeconfigs and connection flags: kubectl still sends what the table says. `UPDATE=1` has it write the table anew; of a
//! new row its files, `kubeconfig` and flags are enough. Needs kubectl, and no cluster.

use serde_json::Value;

use crate::support::command;
use crate::support::kubeconfigs::{VECTORS, rows, run};

#[test]
fn kubectl_sends_what_the_table_says() {
    // That of the cluster: what the first request is differs between versions.
    let kubectl = command("kubectl", "kubeconfig").get_program().display().to_string();
    let mut rows = rows();
    let of_kubectl: Vec<Value> = rows
        .iter()
        .map(|row| {
            let folder = std::env::temp_dir().join(format!("kubectl-inplace-kubeconfig-{}", std::process::id()));
            drop(std::fs::remove_dir_all(&folder));
            std::fs::create_dir_all(&folder).expect("the temporary folder can be written");
            let sent = run(row, &folder, &kubectl, &["get", "pods", "--request-timeout=5s"]);
            drop(std::fs::remove_dir_all(&folder));
            sent
        })
        .collect();
    if std::env::var_os("UPDATE").is_some() {
        let texts = rows.iter_mut().zip(of_kubectl).map(|(row, sent)| {
            row["kubectl"] = sent;
            format!("{row}\n")
        });
        return std::fs::write(VECTORS, texts.collect::<String>()).expect("the table can be written");
    }
    for (row, sent) in rows.iter().zip(of_kubectl) {
        assert_eq!(row["kubectl"], sent, "{}", row["name"]);
    }
}
