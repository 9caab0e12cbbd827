//! The commands of the pages in `docs` that are no transcripts: each is run as it is written, in the order of its page.
//!
//! The reader's own values are replaced: the namespace, the registry `acme`, tags, the value of a selector. Where the
//! page has the reader answer a question, `--yes` does. The other objects that a page's commands need are made by its
//! scene. The examples of the help are run likewise; those of `completion` are in `tests/it/completion.rs`.

use crate::support::{Namespace, kubeconfig, registry, samples};
use crate::transcripts::pages;

/// What runs before a block, and how each of its commands ends.
type Block<'b> = (&'b str, &'b [i32]);

/// Back to the images from before.
const BACK: &str = "kubectl inplace undo deployment/web --min-ready-seconds 0 --yes";

const UPDATE: &str = "kubectl inplace apply deployment/web side=:v2 --min-ready-seconds 0 --yes";

/// A rollout that stops after its first pod.
const PAUSE: &str = "kubectl inplace apply deployment/web side=:v2 --canary 1 --min-ready-seconds 0 --yes";

/// Commands that ask before they write.
const ASKING: [&str; 6] = ["apply", "restart", "resume", "abort", "undo", "release-fields"];

/// The id of the first update, where the page has one of its own.
const FIRST_UPDATE: &str = "$(kubectl inplace history deployment/web | awk 'NR == 4 { print $1 }')";

/// A place where commands are typed: a folder, and a kubeconfig whose namespace is the test's.
struct Place {
    namespace: Namespace,
    folder: std::path::PathBuf,
}

impl Place {
    fn new() -> Self {
        let namespace = Namespace::new("pages");
        let folder = std::env::temp_dir().join(namespace.name());
        std::fs::create_dir_all(folder.join("bin")).expect("the temporary folder can be written");
        std::fs::copy(kubeconfig(), folder.join("kubeconfig")).expect("the kubeconfig can be copied");
        let place = Self { namespace, folder };
        place.run("kubectl config set-context --current --namespace \"$NAMESPACE\"", 0);
        place
    }

    fn with(self, manifest: &str, selector: &str) -> Self {
        self.namespace.apply(manifest);
        self.namespace.wait_ready(selector, 1);
        self
    }

    /// Puts a file into the folder.
    fn file(self, name: &str, content: &str) -> Self {
        let path = self.folder.join(name);
        std::fs::create_dir_all(path.parent().expect("it is in the folder")).expect("the folder can be written");
        std::fs::write(path, content).expect("the folder can be written");
        self
    }

    fn run(&self, line: &str, code: i32) {
        let (folder, namespace) = (self.folder.display(), self.namespace.name());
        let home = format!(
            "cd '{folder}'; export KUBECONFIG='{folder}/kubeconfig' NAMESPACE={namespace} PATH='{folder}/bin':$PATH"
        );
        let output = self.namespace.type_line(&format!("exec 2>&1; {home}; {line}"));
        assert_eq!(output.code, code, "{line}\n{}", output.stdout);
    }

    /// Returns a command of a page as it is typed here.
    fn typed(&self, command: &str) -> String {
        let mut words: Vec<&str> = command.split(' ').collect();
        for at in 1..words.len() {
            if words[at - 1] == "-n" {
                words[at] = self.namespace.name();
            }
        }
        let mut typed = words.join(" ").replace("acme/", &format!("{}/", registry()));
        for (tag, ours) in [("/proxy:2.4", "/side:v2"), (":1.27.2", ":v2"), (":1.28", ":v2"), (":2.4", ":v2")] {
            typed = typed.replace(tag, ours);
        }
        typed = typed.replace("20260301-101500-1a2b3c", FIRST_UPDATE);
        typed = typed.replace("team=shop", &format!("team={}", self.namespace.name()));
        // What goes on until somebody ends it.
        if typed.ends_with(" -w") {
            typed.insert_str(0, "timeout 10 ");
        }
        let asks = ASKING.iter().any(|word| typed.starts_with(&format!("kubectl inplace {word} ")));
        if asks && !typed.contains("--yes") && !typed.contains("--dry-run") { format!("{typed} --yes") } else { typed }
    }

    /// Runs the examples of a command's help: what comes before each, and how it ends.
    fn examples(&self, command: &str, each: &[(&str, i32)]) {
        let page = pages::pages().into_iter().find(|page| page.path == "docs/reference/commands.md");
        let blocks = pages::command_blocks(&page.expect("there is that page"));
        let is_it = |line: &String| line.contains(&format!("inplace {command}"));
        let found = blocks.iter().find(|block| block.iter().any(is_it)).expect("the command has examples");
        assert_eq!(found.len(), each.len(), "examples of {command}: {found:#?}");
        for (line, (before, code)) in found.iter().zip(each) {
            if !before.is_empty() {
                self.run(before, 0);
            }
            self.run(&self.typed(line), *code);
        }
    }

    /// Runs a page: each of its blocks must be given here.
    fn page(&self, path: &str, blocks: &[Block<'_>]) {
        let page = pages::pages().into_iter().find(|page| page.path == path).expect("there is that page");
        let found = pages::command_blocks(&page);
        assert_eq!(found.len(), blocks.len(), "blocks of {path}: {found:#?}");
        for (commands, (before, codes)) in found.iter().zip(blocks) {
            if !before.is_empty() {
                self.run(before, 0);
            }
            assert_eq!(commands.len(), codes.len(), "{path}: {commands:#?}");
            commands.iter().zip(*codes).for_each(|(command, code)| self.run(&self.typed(command), *code));
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // A folder that cannot be removed is left to the system.
        drop(std::fs::remove_dir_all(&self.folder));
    }
}

/// A DaemonSet `log` whose second container is called `agent`.
fn log() -> String {
    samples::daemon_set("log").replace("name: side", "name: agent")
}

#[test]
fn a_sidecar_is_updated() {
    let web = samples::deployment("web", 1);
    let place = Place::new().with(&web, "app=web").with(&log(), "app=log").with(&samples::pod("web-0"), "app=web-0");
    let place = place.file("web.yaml", &samples::with_tag(&web, "side", "v2"));
    place.page(
        "docs/sidecar.md",
        &[("", &[0]), ("", &[0]), ("", &[0]), ("", &[1, 0, 0]), ("", &[0]), (BACK, &[0, 0]), (BACK, &[0]), ("", &[0])],
    );
}

#[test]
fn somebody_on_call_looks() {
    let place = Place::new().with(&samples::deployment("web", 1), "app=web");
    place.page("docs/on-call.md", &[("", &[0, 0, 0]), ("", &[0])]);
}

#[test]
fn a_pull_request_is_planned_against_the_cluster() {
    let web = samples::deployment("web", 1);
    let place = Place::new().with(&web, "app=web").file("deploy/web.yaml", &samples::with_tag(&web, "side", "v2"));
    place.page("docs/pull-requests.md", &[("", &[2, 1])]);
}

/// Stand-ins apply the merged manifest when they sync; helm's rollback the one from before.
#[test]
fn the_order_beside_a_tool_that_syncs_replaces_no_pod() {
    let web = samples::deployment("web", 2);
    let place = Place::new().file("deploy/web.yaml", &samples::with_tag(&web, "side", "v2")).file("old.yaml", &web);
    place.namespace.apply(&web);
    place.namespace.wait_ready("app=web", 2);
    let stand_in = |syncs: &str| {
        let sync = format!("{syncs}) kubectl apply -f deploy/web.yaml ;; rollback*) kubectl apply -f old.yaml ;;");
        format!("#!/bin/sh\ncase \"$*\" in {sync} template*) cat deploy/web.yaml ;; esac\n")
    };
    let place = place.file("bin/argocd", &stand_in("*automated*"));
    let place = place.file("bin/flux", &stand_in("resume*")).file("bin/helm", &stand_in("upgrade*"));
    let uids = "kubectl get pods -l app=web -o jsonpath='{.items[*].metadata.uid}'";
    place.run(&format!("chmod 755 bin/*; {uids} >uids"), 0);
    place.page(
        "docs/gitops.md",
        &[("", &[0, 0, 0]), ("", &[0, 0]), ("", &[0]), ("", &[0, 0]), ("", &[0, 0]), (BACK, &[0, 0]), ("", &[0, 0, 0])],
    );
    place.run(&format!("kubectl rollout status deployment/web && {uids} | cmp - uids"), 0);
}

#[test]
fn hooks_run_around_each_pod() {
    let place = Place::new().with(&samples::deployment("web", 1), "app=web");
    let stand_in = |name: &str| format!("#!/bin/sh\necho {name} \"$@\" >>called\n");
    let place = place.file("bin/lbctl", &stand_in("lbctl")).file("bin/curl", &stand_in("curl"));
    place.run("chmod 755 bin/*", 0);
    place.page("docs/drain-and-hooks.md", &[("", &[0])]);
    place.run("grep -qx 'lbctl drain node-1 web-[a-z0-9-]*' called && grep -q 'curl .*?pod=web-' called", 0);
}

#[test]
fn a_daemon_set_goes_by_percent() {
    let place = Place::new().with(&log(), "app=log");
    place.page("docs/canary.md", &[("", &[0])]);
}

#[test]
fn many_workloads_are_named_or_selected() {
    let mut place = Place::new();
    for name in ["api", "web"] {
        place = place.with(&samples::deployment(name, 1), &format!("app={name}"));
        place.run(&format!("kubectl label deployment {name} team=$NAMESPACE"), 0);
        place = place.file(&format!("deploy/apps/{name}.yaml"), &samples::deployment(name, 1));
    }
    place.page("docs/many-workloads.md", &[("", &[0, 0, 0])]);
}

#[test]
fn annotations_are_removed() {
    let place = Place::new().with(&samples::deployment("web", 1), "app=web");
    place.run("kubectl inplace apply deployment/web side=:v2 --min-ready-seconds 0 --yes", 0);
    place.page("docs/reference/annotations.md", &[("", &[0, 0, 0])]);
    place.run("sleep 1; ! kubectl get deployment,replicasets,pods -o yaml | grep kubectl-inplace.io/", 0);
}

/// `web` in a place of its own.
fn web(replicas: usize) -> Place {
    let place = Place::new();
    place.namespace.apply(&samples::deployment("web", replicas));
    place.namespace.wait_ready("app=web", replicas);
    place
}

#[test]
fn the_examples_that_change_nothing_run() {
    let manifest = samples::with_tag(&samples::deployment("web", 1), "side", "v2");
    let place = web(1).with(&samples::pod("web-0"), "app=web-0").file("web.yaml", &samples::deployment("web", 1));
    let place = place.file("bin/dyff", "#!/bin/sh\nexit 1\n");
    place.run("chmod 755 bin/dyff && kubectl label deployment web team=$NAMESPACE", 0);
    place.run(
        "git init -q -b main && git add web.yaml && git -c user.name=a -c user.email=a@example.com commit -qm v1",
        0,
    );
    let place = place.file("web.yaml", &manifest);
    place.examples("plan", &[("", 0), ("", 2), ("", 0)]);
    place.examples("diff", &[("", 1), ("", 1), ("", 1)]);
    place.examples("status", &[("", 0), ("", 124), ("", 0)]);
    place.examples("history", &[("", 0), ("", 0), ("", 0)]);
    place.examples("hash", &[("", 0), ("", 0), ("", 0)]);
    place.examples("rbac", &[("", 0), ("", 0), ("", 3)]);
    place.examples("explain", &[("", 0), ("", 0), ("", 0)]);
    place.examples("version", &[("", 0), ("", 0), ("", 0)]);
}

#[test]
fn the_examples_of_apply_run() {
    // A limit is none for a pod of the class BestEffort.
    let web = samples::deployment("web", 1).replace("/app:v1'}", "/app:v1', resources: {requests: {cpu: 10m}}}");
    let place = Place::new().with(&web, "app=web");
    let place = place.with(&samples::deployment("mesh", 1).replace("name: side", "name: proxy"), "app=mesh");
    place.run("kubectl label deployment mesh team=$NAMESPACE", 0);
    place.examples("apply", &[("", 0), ("", 0), ("", 0)]);
}

#[test]
fn the_examples_of_restart_run() {
    let place = web(1).with(&log(), "app=log").with(&samples::pod("web-0"), "app=web-0");
    place.examples("restart", &[("", 0), ("", 0), ("", 0)]);
}

#[test]
fn the_examples_of_resume_run() {
    web(2).examples("resume", &[(PAUSE, 0), (&format!("{BACK} && {PAUSE}"), 0), ("", 0)]);
}

#[test]
fn the_examples_of_abort_run() {
    web(2).examples("abort", &[(PAUSE, 0), (PAUSE, 0), ("", 0), (PAUSE, 0)]);
}

#[test]
fn the_examples_of_undo_run() {
    web(1).examples("undo", &[(UPDATE, 0), (UPDATE, 0), (UPDATE, 0)]);
}

#[test]
fn the_examples_of_release_fields_run() {
    let place = web(1);
    let edit = "kubectl apply --server-side --field-manager=helm --force-conflicts -f web.yaml && kubectl set image deployment/web side=$(kubectl get deployment web -o 'jsonpath={..containers[1].image}' | sed s/v1/v2/)";
    let place = place.file("web.yaml", &samples::deployment("web", 1));
    place.examples("release-fields", &[(edit, 0), ("", 0), ("", 0)]);
}

#[test]
fn the_examples_of_follow_run() {
    let set = "kubectl set image pod/web-0 side=$(kubectl get pod web-0 -o 'jsonpath={.spec.containers[1].image}' | sed s/v1/v2/)";
    let place = web(1).with(&samples::pod("web-0"), "app=web-0");
    place.examples("follow", &[(set, 0), ("", 0), (UPDATE, 0)]);
}
