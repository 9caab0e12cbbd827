//! `plan --against` as a user or a CI job runs it: two manifests, and neither kubeconfig nor network.

use serde_json::Value;

use crate::support::api_server::ApiServer;
use crate::support::run::{Binary, Output};

const OLD: &str = "\
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: app, image: 'acme/app:9.3', resources: {limits: {memory: 1Gi}}}
      - {name: side, image: 'acme/side:1.27.1'}
";

fn image() -> String {
    OLD.replace("1.27.1", "1.27.2")
}

fn blocked() -> String {
    OLD.replace("memory: 1Gi", "memory: 1Gi, ephemeral-storage: 1Gi")
}

fn plan(arguments: &[&str], old: &str, new: &str) -> Output {
    binary(arguments, old, new).run()
}

fn binary(arguments: &[&str], old: &str, new: &str) -> Binary {
    let arguments = ["plan"].iter().chain(arguments);
    // A command that reads this kubeconfig would say so.
    let binary = Binary::alone(arguments).env("KUBECONFIG", "broken").file("broken", "{ this is no kubeconfig");
    binary.file("old.yaml", old).file("new.yaml", new)
}

#[test]
fn the_exit_code_says_what_the_change_needs() {
    let explicit = OLD
        .replace("memory: 1Gi", "memory: 1024Mi")
        .replace("{name: side", "{imagePullPolicy: IfNotPresent, name: side");
    let cases = [
        (OLD, 0, "nothingToDo"),
        (&explicit, 0, "nothingToDo"),
        (&image(), 2, "changes"),
        (&OLD.replace("memory: 1Gi", "memory: 2Gi"), 2, "changes"),
        (&blocked(), 3, "notEligible"),
    ];
    for (new, code, word) in cases {
        let files = ["--against", "old.yaml", "-f", "new.yaml", "-o", "json"];
        let output = plan(&files, OLD, new);
        assert_eq!(output.code, Some(0), "{output:?}");
        let output = plan(&[&files[..], &["--detailed-exitcode"]].concat(), OLD, new);
        assert_eq!(output.code, Some(code), "{output:?}");
        let document: Value = serde_json::from_str(&output.stdout).expect("JSON");
        assert_eq!((&document["result"], &document["kind"]), (&word.into(), &"Plan".into()));
        assert_eq!(document["workloads"][0]["pods"], Value::Array(vec![]));
        assert_eq!(document["workloads"][0]["verdict"], if code == 2 { "inPlace" } else { word });
        assert_eq!(output.stderr, "", "the ConfigMap is the same in both");
    }
}

#[test]
fn manifests_come_from_files_folders_lists_and_standard_input() {
    let files = plan(&["--against", "old.yaml", "-f", "new.yaml"], OLD, &image());
    let (_, deployment) = OLD.split_once("---\n").expect("two documents");
    let item = deployment.replace('\n', "\n  ");
    let list = format!("apiVersion: v1\nkind: List\nitems:\n- {}\n", item.trim_end());
    let mut outputs = vec![
        binary(&["--against=-", "-f", "new.yaml"], "", &image()).stdin(OLD.as_bytes()).run(),
        binary(&["--against", "old.yaml", "-f", "-"], OLD, "").stdin(image().as_bytes()).run(),
        binary(&["--against", "a", "-f", "b", "-R"], "", "").file("a/x/web.yaml", OLD).file("b/y.yml", &image()).run(),
        plan(
            &["--against", "old.yaml", "-f", "new.yaml", "-n", "prod"],
            &list,
            &image().replace("{name: web}", "{name: web, namespace: prod}"),
        ),
    ];
    let namespaced = outputs.pop().expect("the last one");
    assert!(
        namespaced
            .stdout
            .starts_with("deployment/web can be updated in place (pods and nodes were not asked)   (namespace prod)\n"),
        "{namespaced:?}"
    );
    for output in outputs {
        assert_eq!((output.code, &output.stdout), (Some(0), &files.stdout), "{output:?}");
    }
    let expected = "\
deployment/web can be updated in place (pods and nodes were not asked)

  CHANGE   FROM               TO                 EFFECT
  side     acme/side:1.27.1   acme/side:1.27.2   restarts in place
";
    assert_eq!(files.stdout, expected);
}

#[test]
fn a_comment_for_a_pull_request() {
    let output = plan(&["--against", "old.yaml", "-f", "new.yaml", "-o", "markdown", "-q"], OLD, &blocked());
    let expected = "\
## ❌ kubectl inplace plan: not everything can be done in place

### ❌ `deployment/web`: not in place

**Blocked by:**

- `spec.containers[app].resources.limits.ephemeral-storage` **TemplateFieldNotInPlace**: spec.containers[app].resources.limits.ephemeral-storage cannot change in a running pod.
  *Hint: apply it with kubectl apply, which replaces the pods, or leave it out of this change*

| container | from | to | effect |
|---|---|---|---|
| `app` | `acme/app:9.3` | (unchanged) | keeps running |
| `side` | `acme/side:1.27.1` | (unchanged) | keeps running |
";
    assert_eq!((output.stdout.as_str(), output.stderr.as_str()), (expected, ""));
}

#[test]
fn nothing_is_asked_of_a_server() {
    let server = ApiServer::start();
    let arguments = ["plan", "--against", "old.yaml", "-f", "new.yaml"];
    let output = Binary::against(&server, arguments).file("old.yaml", OLD).file("new.yaml", &image()).run();
    assert_eq!(output.code, Some(0), "{output:?}");
    assert_eq!(server.requests().len(), 0);
}

#[test]
fn what_both_sides_do_not_have_is_said_and_no_failure() {
    let other = OLD.replace("name: web", "name: api");
    let output = plan(&["--against", "old.yaml", "-f", "new.yaml", "--detailed-exitcode"], OLD, &other);
    assert_eq!(output.code, Some(0), "{output:?}");
    assert!(output.stdout.contains("deployment/api   <none>      new "), "{output:?}");
    assert!(output.stdout.contains("deployment/web   <none>      removed "), "{output:?}");
}

#[test]
fn an_empty_side_is_no_side() {
    // What a command left that failed, such as helm template, is no manifest without workloads.
    for (old, new, name) in [("", OLD, "old.yaml"), (OLD, "", "new.yaml"), (OLD, "# only\n---\n", "new.yaml")] {
        let output = plan(&["--against", "old.yaml", "-f", "new.yaml"], old, new);
        assert_eq!((output.code, output.stdout.as_str()), (Some(1), ""), "{output:?}");
        assert!(output.stderr.starts_with(&format!("error: no objects in \"{name}\"")), "{output:?}");
    }
    let settings = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\n";
    let output = plan(&["--against", "old.yaml", "-f", "new.yaml", "--detailed-exitcode"], settings, settings);
    assert_eq!(output.code, Some(0), "objects that are no workloads are objects: {output:?}");
    assert_eq!(output.stderr, "", "what is equal on both sides is not named: {output:?}");
}

#[test]
fn both_sides_are_of_the_apis_types() {
    let five = OLD.replace("'acme/app:9.3'", "5");
    let said = "yaml:5: spec.template.spec.containers[0].image is a number, not a string; put it in quotes";
    for (old, new, side) in [(OLD, five.as_str(), "new."), (&five, OLD, "old.")] {
        let output = plan(&["--against", "old.yaml", "-f", "new.yaml", "--detailed-exitcode"], old, new);
        assert_eq!((output.code, output.stdout.as_str()), (Some(1), ""), "{output:?}");
        assert!(output.stderr.contains(&format!("error: {side}{said}")), "{output:?}");
    }
    let typo = OLD.replace("containers:", "contianers:");
    let output = plan(&["--against", "old.yaml", "-f", "new.yaml"], OLD, &typo);
    assert_eq!(output.code, Some(1), "{output:?}");
    assert!(
        output.stderr.contains("error: new.yaml:5: spec.template.spec.containers is required and not set"),
        "{output:?}"
    );
    // A field of a newer version may be let through, and is compared like any other.
    let newer = image().replace("      containers:", "      fieldOfTomorrow: 1\n      containers:");
    for (flag, code, said) in [
        ("--validate=strict", 1, "error: new.yaml:5: unknown field spec.template.spec.fieldOfTomorrow"),
        ("--validate=warn", 3, "Warning: new.yaml:5: unknown field spec.template.spec.fieldOfTomorrow\n"),
        ("--validate=ignore", 3, ""),
    ] {
        let output = plan(&["--against", "old.yaml", "-f", "new.yaml", "--detailed-exitcode", flag], OLD, &newer);
        assert_eq!(output.code, Some(code), "{output:?}");
        assert!(output.stderr.contains(said), "{output:?}");
        assert!(code == 1 || output.stdout.contains("spec.fieldOfTomorrow"), "{output:?}");
    }
}

/// Skipped, it would look as if there was nothing to do.
#[test]
fn a_kind_that_is_misspelt_is_no_other_kind() {
    for (written, said) in
        [("Deploymnet", "there is no kind Deploymnet in apps/v1"), ("deployment", "no kind deployment in")]
    {
        let typo = OLD.replace("kind: Deployment", &format!("kind: {written}"));
        for (old, new, side) in [(OLD, typo.as_str(), "new."), (&typo, OLD, "old.")] {
            let output = plan(&["--against", "old.yaml", "-f", "new.yaml"], old, new);
            assert_eq!((output.code, output.stdout.as_str()), (Some(1), ""), "{output:?}");
            assert!(
                output.stderr.contains(&format!("error: {side}yaml:")) && output.stderr.contains(said),
                "{output:?}"
            );
            assert!(output.stderr.contains("did you mean Deployment in apps/v1?"), "{output:?}");
        }
    }
}

#[test]
fn wrong_usage_is_reported() {
    let both = ["--against", "old.yaml", "-f", "new.yaml"];
    let with = |more: &[&'static str]| [&both[..], more].concat();
    let cases = [
        (vec!["--against", "old.yaml"], "the newer one is missing"),
        (vec!["--against", "-", "-f", "-"], "standard input can be the older manifest or the newer one, not both"),
        (with(&["side=acme/side:2"]), "--against cannot be combined with"),
        (with(&["-l", "a=b"]), "--against cannot be combined with"),
        (with(&["--out", "x.plan"]), "cannot be saved"),
        (with(&["--max-unavailable", "0"]), "must be at least 1"),
        (vec!["--against", "none.yaml", "-f", "new.yaml"], "none.yaml"),
        (with(&["--context", "prod"]), "--against asks no cluster, so that --context has no meaning"),
        (with(&["--kubeconfig", "x"]), "--kubeconfig has no meaning"),
        (with(&["-s", "https://x"]), "--server has no meaning"),
        (with(&["--as-group", "x"]), "--as-group has no meaning"),
        (with(&["--request-timeout=5s"]), "--request-timeout has no meaning"),
        (with(&["--password", "x"]), "--password has no meaning"),
        (with(&["--disable-compression"]), "--disable-compression has no meaning"),
    ];
    for (arguments, said) in cases {
        let output = plan(&arguments, OLD, &image());
        assert_eq!((output.code, output.stdout.as_str()), (Some(1), ""), "{output:?}");
        assert!(output.stderr.contains(said), "{output:?}");
    }
    let namespaced = image().replace("{name: web}", "{name: web, namespace: prod}");
    let output = plan(&with(&["-n", "test"]), OLD, &namespaced);
    assert!(output.code == Some(1) && output.stderr.contains("does not match the namespace \"test\""), "{output:?}");
    for command in ["apply", "follow", "version"] {
        let output = Binary::alone([command, "-o", "markdown"]).run();
        assert_eq!(output.code, Some(1), "{output:?}");
        assert!(
            output.stderr.contains("for the output format \"markdown\", allowed formats are: text,json"),
            "{output:?}"
        );
    }
}

const CLONE_SET: &str = "\
apiVersion: apps.kruise.io/v1alpha1
kind: CloneSet
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  updateStrategy: {type: InPlaceIfPossible}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: side, image: 'acme/side:1.27.1'}
";

#[test]
fn a_kind_that_its_own_controller_updates_is_compared_by_what_that_does() {
    let new = CLONE_SET.replace("1.27.1", "1.27.2");
    for (new, code, word) in [
        (new.clone(), 2, "inPlaceByController"),
        (CLONE_SET.to_owned(), 0, "nothingToDo"),
        (new.replace("InPlaceIfPossible", "ReCreate"), 3, "notEligible"),
    ] {
        let files = ["--against", "old.yaml", "-f", "new.yaml", "-o", "json", "--detailed-exitcode"];
        let output = plan(&files, CLONE_SET, &new);
        assert_eq!(output.code, Some(code), "{output:?}");
        let document: Value = serde_json::from_str(&output.stdout).unwrap();
        assert_eq!(document["workloads"][0]["verdict"], word);
        assert_eq!(document["applyable"], false);
    }
    let misspelt = new.replace("spec:\n      containers", "spec:\n      hostNetwrk: true\n      containers");
    let misspelt = plan(&["--against", "old.yaml", "-f", "new.yaml"], CLONE_SET, &misspelt);
    assert!(misspelt.stderr.contains("unknown field spec.template.spec.hostNetwrk"), "{misspelt:?}");
}

/// There are no pods to name: what comes after a pipe gets the workloads.
#[test]
fn names_are_those_of_the_workloads() {
    let files = ["--against", "old.yaml", "-f", "new.yaml", "-o", "name"];
    let output = plan(&files, OLD, &image());
    assert_eq!((output.code, output.stdout.as_str()), (Some(0), "deployment.apps/web\n"), "{}", output.block());
    let output = plan(&files, OLD, &blocked());
    assert_eq!(output.stdout, "", "{}", output.block());
}
