//! `rbac`: what it prints is enough, and nothing of it can be left out.

use serde_json::Value;

use crate::support::{Namespace, Output, images, name, poll, restarted, samples};

/// A service account whose only Role is what `rbac` printed.
struct Account<'n> {
    namespace: &'n Namespace,
    /// The words after `rbac`.
    command: &'static [&'static str],
    user: String,
    role: Value,
}

impl<'n> Account<'n> {
    fn new(namespace: &'n Namespace, command: &'static [&'static str]) -> Self {
        let printed = namespace.inplace(&[&["rbac"], command].concat());
        assert_eq!(printed.code, 0, "{printed:#?}");
        namespace.apply(&printed.stdout);
        let user = format!("{}:bot", namespace.name());
        namespace.kubectl(&["create", "serviceaccount", "bot"]);
        let list: Value = serde_json::from_str(&namespace.kubectl(&["get", "roles", "-o", "json"])).expect("JSON");
        let role = list["items"][0].clone();
        let role_flag = format!("--role={}", name(&role));
        namespace.kubectl(&["create", "rolebinding", "bot", &role_flag, &format!("--serviceaccount={user}")]);
        Self { namespace, command, user: format!("system:serviceaccount:{user}"), role }
    }

    /// Runs the binary as the account.
    fn inplace(&self, arguments: &[&str]) -> Output {
        self.namespace.inplace(&[arguments, &["--as", &self.user]].concat())
    }

    /// Asks until the server's authorizer has seen the newest Role.
    fn check(&self, code: i32) -> Output {
        let check = [&["rbac"], self.command, &["--check"]].concat();
        let mut last = None;
        let found = poll(|| {
            let output = self.inplace(&check);
            let fits = output.code == code;
            last = Some(format!("{output:#?}"));
            fits.then_some(output)
        });
        found.unwrap_or_else(|| panic!("never {code}: {}", last.unwrap_or_default()))
    }

    /// Returns each verb of the Role with its resource, by their places in it.
    fn verbs(&self) -> Vec<(usize, usize, String)> {
        let rules = self.role["rules"].as_array().cloned().unwrap_or_default();
        let of_rule = |(at, rule): (usize, &Value)| {
            let verbs = rule["verbs"].as_array().cloned().unwrap_or_default();
            let resource = match rule["apiGroups"][0].as_str() {
                Some("") | None => rule["resources"][0].as_str().unwrap_or_default().to_owned(),
                Some(group) => format!("{}.{group}", rule["resources"][0].as_str().unwrap_or_default()),
            };
            let named = |(place, verb): (usize, &Value)| {
                (at, place, format!("{} {resource}", verb.as_str().unwrap_or_default()))
            };
            verbs.iter().enumerate().map(named).collect::<Vec<_>>()
        };
        rules.iter().enumerate().flat_map(of_rule).collect()
    }

    /// Gives the account another Role.
    fn set(&self, role: &Value) {
        self.namespace.kubectl_input(&["replace", "-f", "-"], &role.to_string());
    }

    /// Takes each verb away in turn: it is named by the check, and `refused` sees that nothing is written.
    fn without_each_verb(&self, refused: impl Fn(&str)) {
        let verbs = self.verbs();
        assert!(!verbs.is_empty());
        for (rule, place, missing) in verbs {
            let mut role = self.role.clone();
            role["metadata"].as_object_mut().map(|metadata| metadata.remove("resourceVersion"));
            role["rules"][rule]["verbs"].as_array_mut().map(|verbs| verbs.remove(place));
            // A rule without a verb is none to the server.
            if role["rules"][rule]["verbs"].as_array().is_some_and(Vec::is_empty) {
                role["rules"].as_array_mut().map(|rules| rules.remove(rule));
            }
            self.set(&role);
            let output = self.check(3);
            let line = format!("missing: {missing} in namespace {}", self.namespace.name());
            assert!(output.stderr.contains(&line), "{line}: {output:#?}");
            assert_eq!(output.stderr.matches("missing:").count(), 1, "{output:#?}");
            refused(&missing);
            let mut whole = self.role.clone();
            whole["metadata"].as_object_mut().map(|metadata| metadata.remove("resourceVersion"));
            self.set(&whole);
            self.check(0);
        }
    }
}

#[test]
fn a_caller_that_may_only_read_gets_the_verdict_and_what_is_missing() {
    let namespace = Namespace::new("reads-only");
    let manifest = samples::deployment("web", 2);
    namespace.apply(&manifest);
    let account = Account::new(&namespace, &["plan", "deployment"]);
    let before = namespace.wait_ready("app=web", 2);
    account.check(0);
    let by_hand = account.inplace(&["plan", "deployment/web", "side=:v2", "--detailed-exitcode"]);
    assert_eq!(by_hand.code, 2, "{by_hand:#?}");
    for missing in ["patch deployments.apps", "patch pods", "create replicasets.apps"] {
        assert!(by_hand.stdout.contains(&format!("PermissionMissing: you may not {missing}")), "{by_hand:#?}");
    }
    assert!(!by_hand.stdout.contains("Next:"), "{by_hand:#?}");
    let changed = manifest.replace("/side:v1", "/side:v2");
    let file = std::env::temp_dir().join(format!("{}.yaml", namespace.name()));
    std::fs::write(&file, changed).expect("a temporary file");
    let plan = ["plan", "-f", &file.to_string_lossy(), "--detailed-exitcode"].map(str::to_owned);
    let of_manifest = account.inplace(&plan.iter().map(String::as_str).collect::<Vec<_>>());
    drop(std::fs::remove_file(&file));
    assert_eq!(of_manifest.code, 2, "{of_manifest:#?}");
    assert!(of_manifest.stderr.contains("so it was merged here"), "{of_manifest:#?}");
    let applied = account.inplace(&["apply", "deployment/web", "side=:v2", "--yes"]);
    assert_eq!(applied.code, 3, "{applied:#?}");
    assert_eq!(restarted(&before, &namespace.pods("app=web")), [""; 0]);
    assert_eq!(namespace.kubectl(&["get", "deployment", "web", "-o", "jsonpath={.spec.paused}"]), "");
}

#[test]
fn a_pod_is_updated_with_the_least_role_and_with_one_verb_less_nothing_is_written() {
    let namespace = Namespace::new("least-role-pod");
    namespace.apply(&samples::pod("web"));
    let account = Account::new(&namespace, &["apply", "pod", "--pods-only"]);
    let before = namespace.wait_ready("app=web", 1);
    account.check(0);
    let applied = account.inplace(&["apply", "pod/web", "side=:v2", "--pods-only", "--yes"]);
    assert_eq!(applied.code, 0, "{applied:#?}");
    let after = namespace.pods("app=web");
    assert_eq!(restarted(&before, &after), ["web/side"]);

    account.without_each_verb(|missing| {
        let refused = account.inplace(&["apply", "pod/web", "side=:v1", "--pods-only", "--yes"]);
        assert!([1, 3].contains(&refused.code), "without {missing}: {refused:#?}");
        let verb = missing.split(' ').next().unwrap_or_default();
        let reported = format!("{}{}", refused.stdout, refused.stderr);
        assert!(reported.contains(verb), "without {missing}: {refused:#?}");
        assert_eq!(images(&namespace.pods("app=web"), "side"), ["side:v2"], "without {missing}: {refused:#?}");
    });
}

#[test]
fn a_deployment_is_updated_durably_with_the_least_role_and_with_one_verb_less_nothing_is_written() {
    let namespace = Namespace::new("least-role-deployment");
    namespace.apply(&samples::deployment("web", 2));
    let account = Account::new(&namespace, &["apply", "deployment"]);
    let before = namespace.wait_ready("app=web", 2);
    account.check(0);
    let applied = account.inplace(&["apply", "deployment/web", "side=:v2", "--min-ready-seconds=0", "--yes"]);
    assert_eq!(applied.code, 0, "{applied:#?}");
    let after = namespace.pods("app=web");
    assert_eq!(restarted(&before, &after).len(), 2);
    let template = namespace.kubectl(&["get", "deployment", "web", "-o", "jsonpath={.spec.template}"]);

    account.without_each_verb(|missing| {
        let refused = account.inplace(&["apply", "deployment/web", "side=:v1", "--yes"]);
        assert!([1, 3].contains(&refused.code), "without {missing}: {refused:#?}");
        let verb = missing.split(' ').next().unwrap_or_default();
        let reported = format!("{}{}", refused.stdout, refused.stderr);
        assert!(reported.contains(verb), "without {missing}: {refused:#?}");
        let now = namespace.kubectl(&["get", "deployment", "web", "-o", "jsonpath={.spec.template}"]);
        assert_eq!(now, template, "without {missing}: {refused:#?}");
        let paused = namespace.kubectl(&["get", "deployment", "web", "-o", "jsonpath={.spec.paused}"]);
        assert_eq!(paused, "", "without {missing}: {refused:#?}");
    });
}

#[test]
fn containers_are_restarted_with_the_least_role_which_writes_to_pods_alone() {
    let namespace = Namespace::new("least-role-restart");
    namespace.apply(&samples::stateful_set("web", 2));
    let account = Account::new(&namespace, &["restart", "statefulset"]);
    let before = namespace.wait_ready("app=web", 2);
    account.check(0);
    let writes =
        account.verbs().into_iter().filter(|(_, _, verb)| verb.starts_with("patch ") || verb.contains("create "));
    assert_eq!(writes.map(|(_, _, verb)| verb).collect::<Vec<_>>(), ["patch pods"]);
    let restart = ["restart", "statefulset/web", "-c", "side", "--min-ready-seconds=0", "--yes"];
    let output = account.inplace(&restart);
    assert_eq!(output.code, 0, "{output:#?}");
    let after = namespace.pods("app=web");
    assert_eq!(restarted(&before, &after).len(), 2);

    account.without_each_verb(|missing| {
        let before = namespace.pods("app=web");
        let refused = account.inplace(&restart);
        assert!([1, 3].contains(&refused.code), "without {missing}: {refused:#?}");
        assert_eq!(restarted(&before, &namespace.pods("app=web")), [""; 0], "without {missing}: {refused:#?}");
    });
}
