//! Objects of manifests that are not looked at: named on stdout in every format, so that "no changes" speaks of the others.

use serde_json::{Value, json};

use crate::support::run::{Binary, Output};
use crate::support::scene::{typed, web};

const WEB: &str = "\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: app, image: 'acme/app:9.3'}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: same}
---
";

const OTHERS: &str = "\
apiVersion: acme.example/v1
kind: Fleet
metadata: {name: web, namespace: prod}
spec:
  template:
    spec:
      containers:
      - {name: app, image: 'acme/app:1'}
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: backup}
spec:
  schedule: '@daily'
  jobTemplate:
    spec:
      template:
        spec:
          containers:
          - {name: app, image: 'acme/app:1'}
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {ports: [{port: 80}]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {a: '1'}
";

fn against(arguments: &str, old: &str, new: &str) -> Output {
    let arguments = ["plan", "--against", "old.yaml", "-f", "new.yaml"].into_iter().chain(arguments.split_whitespace());
    Binary::alone(arguments).file("old.yaml", old).file("new.yaml", new).run()
}

/// The others with new images, another port, and without the ConfigMap.
fn changed() -> String {
    let (others, _) = OTHERS.rsplit_once("---\n").expect("several documents");
    others.replace("app:1", "app:2").replace("80", "81")
}

#[test]
fn what_changes_and_is_not_looked_at_is_said_in_every_format_and_counts() {
    let (old, new) = (format!("{WEB}{OTHERS}"), format!("{WEB}{}", changed()));
    let lines = "\
Not checked: fleet.acme.example/web: pod template changed; not a kind that is updated in place (namespace prod)
Not checked: cronjob.batch/backup: pod template changed; not a kind that is updated in place
Not checked: configmap/settings: removed; not a kind that is updated in place
Not checked: service/web: changed; not a kind that is updated in place
";
    for (format, on_stderr) in [("text", false), ("wide", false), ("name", true)] {
        let output = against(&format!("--detailed-exitcode -o {format}"), &old, &new).ends_with(3);
        let (said, other) = if on_stderr { (&output.stderr, &output.stdout) } else { (&output.stdout, &output.stderr) };
        assert!(said.ends_with(lines) && other.is_empty(), "{}", output.block());
    }
    let document = against("--detailed-exitcode -o json", &old, &new).ends_with(3).json();
    assert_eq!((&document["result"], &document["applyable"]), (&json!("notEligible"), &json!(false)));
    let skipped = document["skippedObjects"].as_array().expect("a list");
    let said =
        |object: &Value| format!("{} {}/{} {}", object["change"], object["kind"], object["name"], object["namespace"]);
    let expected = [
        r#""podTemplateChanged" "Fleet"/"web" "prod""#,
        r#""podTemplateChanged" "CronJob"/"backup" """#,
        r#""removed" "ConfigMap"/"settings" """#,
        r#""changed" "Service"/"web" """#,
    ];
    assert_eq!(skipped.iter().map(said).collect::<Vec<_>>(), expected);
    against("-o yaml", &old, &new).ends_with(0).prints("change: podTemplateChanged").omits("name: same");
    let comment = against("-o markdown", &old, &new).ends_with(0);
    let comment = comment.prints("## ❌ kubectl inplace plan: not everything was checked\n").omits("`configmap/same`");
    let row = "| `fleet.acme.example/web` in `prod` | pod template changed | not a kind that is updated in place |";
    comment.prints("### ⚠️ Not checked\n").prints(row);
}

#[test]
fn without_a_pod_template_it_is_said_and_does_not_count() {
    let new = OTHERS.replace("80", "81").replace("a: '1'", "a: '2'").replace("@daily", "@weekly");
    let (old, new) = (format!("{WEB}{OTHERS}"), format!("{WEB}{new}"));
    let output = against("--detailed-exitcode", &old, &new).ends_with(0);
    let line = "Not checked: configmap/settings, service/web, cronjob.batch/backup: changed; not a kind that is updated in place\n";
    assert!(output.stdout.ends_with(line) && output.stderr.is_empty(), "{}", output.block());
    let comment = against("-o markdown", &old, &new);
    comment
        .prints("## ✅ kubectl inplace plan: nothing to do in what was checked\n")
        .prints("| `service/web` | changed |");
    // Without a workload there is nothing that could have changed, and what is equal on both sides is not named.
    let alone = against("--detailed-exitcode", OTHERS, &changed()).ends_with(3);
    assert!(alone.stdout.starts_with("The plan has no workload.\nNot checked: "), "{}", alone.block());
    let same = against("--detailed-exitcode", &old, &old).ends_with(0);
    let same = same.prints("deployment/web: No changes.").omits("Not checked");
    assert_eq!(same.stderr, "");
    assert_eq!(against("", OTHERS, OTHERS).ends_with(0).stdout, "No changes. The plan has no workload.\n");
    let list = |manifests: &str| {
        let items = manifests.split("---\n").map(|item| format!("- {}\n", item.trim_end().replace('\n', "\n  ")));
        format!("apiVersion: v1\nkind: List\nitems:\n{}", items.collect::<String>())
    };
    assert_eq!(against("", &list(&old), &new).ends_with(0).stdout, output.stdout, "items of a list");
}

/// As `helm template` and a repository for Argo CD have them: no cluster updates them.
const HOOKS: &str = "\
apiVersion: v1
kind: Pod
metadata: {name: web-test, annotations: {helm.sh/hook: test}}
spec:
  restartPolicy: Never
  containers:
  - {name: test, image: 'acme/test:1'}
---
apiVersion: batch/v1
kind: Job
metadata:
  generateName: migrate-
  annotations: {argocd.argoproj.io/hook: PreSync}
spec:
  template:
    spec:
      containers:
      - {name: migrate, image: 'acme/test:1'}
---
apiVersion: batch/v1
kind: Job
metadata:
  generateName: migrate-
  annotations: {argocd.argoproj.io/hook: PostSync}
spec:
  template:
    spec:
      containers:
      - {name: migrate, image: 'acme/test:1'}
";

#[test]
fn hooks_are_skipped_and_said_to_be_hooks() {
    let (old, new) = (format!("{WEB}{HOOKS}"), format!("{WEB}{}", HOOKS.replace("test:1", "test:2")));
    let output = against("--detailed-exitcode", &old, &new).ends_with(0);
    let lines = "
Not checked: pod/web-test: changed; a Helm hook (annotation helm.sh/hook)
Not checked: job.batch/migrate-*: changed; an Argo CD hook (annotation argocd.argoproj.io/hook)
";
    let mut said: Vec<&str> = output.stdout.lines().collect();
    said.sort_unstable();
    assert!(lines.lines().filter(|line| !line.is_empty()).all(|line| said.contains(&line)), "{}", output.block());
    against("", &old, &old).ends_with(0).omits("hook");
    // A name is needed where nobody makes one up.
    let job = HOOKS.replace("argocd.argoproj.io/hook", "a.b/c");
    against("", &old, &format!("{WEB}{job}")).ends_with(1).says("generateName has no name to find it by");
    let server = web();
    let manifest = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n---\n".to_owned() + HOOKS;
    let run = |line: &str, manifest: &str| typed(&server, line).file("all.yaml", manifest).run();
    for line in ["plan -f all.yaml", "apply -f all.yaml --dry-run=client"] {
        let output = run(line, &manifest).ends_with(0);
        let output = output.prints("Not checked: pod/web-test: a Helm hook (annotation helm.sh/hook)\n");
        output.prints("Not checked: job.batch/migrate-*, job.batch/migrate-*: an Argo CD hook");
    }
    for line in ["diff -f all.yaml", "status -f all.yaml", "history -f all.yaml"] {
        run(line, &manifest).ends_with(0).says("pod/web-test: skipped: a Helm hook (annotation helm.sh/hook)");
    }
    run("plan -f all.yaml", HOOKS)
        .ends_with(1)
        .says("there is no workload in all.yaml")
        .says("pod/web-test: skipped: ");
    let document = run("plan -f all.yaml -o json", &manifest).ends_with(0).json();
    assert_eq!(document["skippedObjects"][0]["change"], "notCompared", "{document}");
    assert!(server.writes().is_empty());
}
