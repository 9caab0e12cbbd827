//! The transcripts of the README and of `docs`: each scene runs the commands of its blocks, as they are written, and compares what they print.
//! `UPDATE=1 cargo test --test real transcripts` writes the blocks again.
//!
//! `web` is a Deployment of pods with `app`, which has a readiness probe, and `side`, which has none; what a scene has besides is
//! said there. In the pages the namespace is `prod`, and the registry of the tests' images is `acme`.

use serde_json::Value;

use crate::support::{Namespace, poll, registry, samples};

mod drawing;
#[path = "../../support/getting_started.rs"]
mod getting_started;
#[path = "../../support/pages.rs"]
pub(crate) mod pages;
#[path = "../../support/picture.rs"]
mod picture;
#[path = "../../support/redact.rs"]
mod redact;
#[path = "../../support/transcript.rs"]
mod transcript;

use drawing::Session;
use transcript::Part;

const PROBE: &str = "readinessProbe: {httpGet: {path: /, port: 8080}, periodSeconds: 1}";

/// All that a command prints.
const WHOLE: &[Part] = &[];

fn deployment(name: &str, replicas: usize) -> String {
    samples::with_app_fields(&samples::deployment(name, replicas), PROBE)
}

/// A namespace with `web` in it, ready.
fn web(replicas: usize) -> Namespace {
    let namespace = Namespace::new("transcript");
    namespace.apply(&deployment("web", replicas));
    namespace.wait_ready("app=web", replicas);
    namespace
}

/// The same behind a Service that selects a label which the Deployment does not.
fn web_behind_a_service(replicas: usize) -> Namespace {
    let namespace = Namespace::new("transcript");
    let serving =
        deployment("web", replicas).replace("      labels: {app: web}", "      labels: {app: web, serving: 'yes'}");
    assert!(serving.contains("serving"), "{serving}");
    let service = "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec:\n  selector: {app: web, serving: 'yes'}\n  ports: [{port: 8080}]\n";
    namespace.apply(&format!("{serving}---\n{service}"));
    namespace.wait_ready("app=web", replicas);
    namespace
}

/// Runs the commands of a block one after the other; each has its exit code and the parts that are shown.
fn block(namespace: &Namespace, name: &str, sessions: &[(i32, &[Part])]) -> Vec<Session> {
    let label = format!("team={}", namespace.name());
    let names = [(label.as_str(), "team=shop"), (namespace.name(), "prod"), (registry(), "acme")];
    let run = |(command, (code, parts)): (&String, &(i32, &[Part]))| {
        let typed = command.replace("-n prod", &format!("-n {}", namespace.name())).replace("team=shop", &label);
        let colored = if picture::SHOWN.contains(&name) { " --color always" } else { "" };
        let output = namespace.type_line(&format!("exec 2>&1; {typed}{colored}"));
        assert_eq!(output.code, *code, "{typed}: {output:#?}");
        let shown = transcript::shown(&drawing::plain(&output.stdout), &names, parts);
        Session { command: command.clone(), shown, printed: output.stdout }
    };
    let commands = transcript::commands(name);
    assert_eq!(commands.len(), sessions.len(), "commands of {name}");
    let sessions: Vec<Session> = commands.iter().zip(sessions).map(run).collect();
    transcript::check(name, &sessions.iter().map(|session| session.shown.clone()).collect::<Vec<_>>());
    sessions
}

#[test]
fn an_update_is_planned_and_done() {
    let namespace = web(3);
    let mut sessions = block(&namespace, "plan", &[(0, WHOLE)]);
    sessions.extend(block(&namespace, "apply", &[(0, &[("in namespace prod: ", "")])]));
    let names = [(namespace.name(), "prod"), (registry(), "acme")];
    drawing::keep(&sessions, &|line| transcript::readable(line, &names));
}

#[test]
fn an_image_that_nobody_pulled_first_hits_one_pod_and_is_taken_back() {
    let namespace = web(3);
    block(&namespace, "failure", &[(4, &[("patch sent", "FAILED"), ("Failed after", "")]), (0, WHOLE)]);
}

#[test]
fn a_rollout_is_undone() {
    let namespace = web(2);
    let output = namespace.type_line(&format!(
        "exec 2>&1; kubectl inplace apply deployment/web side=:v2 --reason 'faster start' -n {} --yes",
        namespace.name()
    ));
    assert_eq!(output.code, 0, "{output:#?}");
    block(&namespace, "undo", &[(0, &[("deployment/web", "dry run succeeded"), ("Updated", "")]), (0, WHOLE)]);
}

#[test]
fn what_is_going_on_is_shown() {
    let namespace = web(3);
    let output = namespace.type_line(&format!(
        "exec 2>&1; kubectl inplace apply deployment/web side=:nope --pre-pull=never -n {} --yes",
        namespace.name()
    ));
    assert_eq!(output.code, 4, "{output:#?}");
    // Its controller has seen what was written last.
    let is_observed = || {
        let generations = "jsonpath={.metadata.generation} {.status.observedGeneration}";
        let found = namespace.kubectl(&["get", "deployment/web", "-o", generations]);
        found.split_once(' ').is_some_and(|(wanted, seen)| wanted == seen.trim()).then_some(())
    };
    poll(is_observed).expect("the controller observes it");
    block(&namespace, "status", &[(0, WHOLE)]);
}

#[test]
fn a_failure_is_reported() {
    let namespace = web(2);
    block(&namespace, "report", &[(4, &[("pod/web-", "")])]);
}

#[test]
fn a_container_is_restarted() {
    let namespace = web(2);
    block(&namespace, "restart", &[(0, &[("deployment/web", "are read again"), ("patch sent", "")])]);
}

/// What the tests with OpenKruise run: a Deployment in a namespace of theirs.
pub(crate) fn by_request(namespace: &Namespace, until_begun: impl Fn(&[Value])) {
    namespace.apply(&deployment("web", 2));
    until_begun(&namespace.wait_ready("app=web", 2));
    block(namespace, "by-request", &[(0, &[("deployment/web", "are read again"), ("patch sent", "")])]);
}

#[test]
fn containers_are_resized() {
    let namespace = Namespace::new("transcript");
    let resources = format!("{PROBE}, resources: {{requests: {{cpu: 20m, memory: 32Mi}}, limits: {{memory: 64Mi}}}}");
    namespace.apply(&samples::with_app_fields(&samples::deployment("web", 3), &resources));
    namespace.wait_ready("app=web", 3);
    let parts = [("deployment/web can be", "limits.memory"), ("in namespace prod: ", "")];
    block(&namespace, "resize", &[(0, &parts)]);
}

#[test]
fn two_workloads_are_updated_at_once() {
    let namespace = Namespace::new("transcript");
    for name in ["api", "web"] {
        namespace.apply(&deployment(name, 2));
        namespace.kubectl(&["label", "deployment", name, &format!("team={}", namespace.name())]);
        namespace.wait_ready(&format!("app={name}"), 2);
    }
    block(
        &namespace,
        "several",
        &[(
            0,
            &[
                ("WORKLOAD", "deployment/web"),
                ("at once", "at once"),
                ("prod deployment/web: web-", "prod deployment/web: web-"),
                ("WORKLOAD", ""),
            ],
        )],
    );
}

#[test]
fn a_pod_leaves_its_services_first() {
    let namespace = web_behind_a_service(3);
    block(&namespace, "drain", &[(0, &[("Each pod", "drains"), ("draining from service", "done after")])]);
}

#[test]
fn containers_change_in_their_order() {
    let namespace = web_behind_a_service(2);
    block(&namespace, "order", &[(0, &[("In each pod", "In each pod"), ("patch sent", "done after")])]);
}

#[test]
fn an_image_that_nobody_has_kills_nothing() {
    let namespace = web(3);
    block(&namespace, "pre-pull", &[(4, &[("in namespace prod: ", "")])]);
}

#[test]
fn a_budget_is_waited_for() {
    let namespace = web(3);
    // One that is not ready takes the room of the others, for as long as that lasts.
    let probe = "readinessProbe: {tcpSocket: {port: 1}, periodSeconds: 1}";
    namespace.apply(&samples::with_app_fields(&samples::pod("spare"), probe));
    let selector = "selector: {matchExpressions: [{key: app, operator: In, values: [web, spare]}]}";
    namespace.apply(&format!(
        "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {{name: web}}\nspec: {{minAvailable: 3, {selector}}}\n"
    ));
    namespace.kubectl(&[
        "wait",
        "--for=jsonpath={.status.currentHealthy}=3",
        "--timeout=60s",
        "poddisruptionbudget/web",
    ]);
    block(&namespace, "budget", &[(5, &[("poddisruptionbudget/web allows no pod", "")])]);
}

#[test]
fn a_canary_is_a_pause() {
    let namespace = web(3);
    block(&namespace, "canary", &[(0, &[("patch sent", "")])]);
}

/// What the page shows of a simulated cluster is so on a real one.
#[test]
fn the_first_ten_commands_print_the_same_on_a_real_cluster() {
    let namespace = Namespace::new("first");
    let resources = "resources: {requests: {cpu: 100m, memory: 64Mi}, limits: {cpu: 500m, memory: 128Mi}}";
    let container = |name: &str, probe: &str| {
        format!(
            "- {{name: {name}, image: '{}/{name}:v1', {resources}, readinessProbe: {{{probe}, periodSeconds: 1}}}}",
            registry()
        )
    };
    let (app, side) = (container("app", "tcpSocket: {port: 8080}"), container("side", "exec: {command: [ls]}"));
    namespace.apply(&format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: web}}\nspec:\n  replicas: 3\n  selector: {{matchLabels: {{app: web}}}}\n\
         \x20 template:\n    metadata: {{labels: {{app: web, serving: 'yes'}}}}\n    spec:\n      terminationGracePeriodSeconds: 2\n\
         \x20     nodeSelector: {{kubernetes.io/hostname: node-1}}\n      containers:\n      {app}\n      {side}\n"
    ));
    namespace.wait_ready("app=web", 3);
    let names = [(namespace.name(), "shop"), (registry(), "shop.example"), ("admin", "sandbox")];
    let run = |line: &str| {
        let line = line.replace("-n shop", &format!("-n {}", namespace.name()));
        let output = namespace.type_line(&format!("exec 2>&1; {line}"));
        (output.code, drawing::plain(&output.stdout))
    };
    getting_started::check(run, &names);
}
