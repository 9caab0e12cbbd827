//! Through kubectl's plugin dispatch: the same words, the same ends.

use crate::support::{Namespace, images, name, restarted, samples};

#[test]
fn kubectl_finds_the_plugin_and_passes_its_exit_code_on() {
    let namespace = Namespace::new("plugin");
    namespace.apply(&samples::deployment("web", 2));
    let before = namespace.wait_ready("app=web", 2);
    let place = format!("-n {}", namespace.name());
    let typed = |line: &str| namespace.type_line(&format!("kubectl inplace {line} {place}"));

    let plan = typed("plan deployment/web side=:v2 --detailed-exitcode");
    assert_eq!(plan.code, 2, "{plan:#?}");
    // The command that the plan proposes, typed unchanged, but for the approval.
    let next = plan.stdout.lines().find_map(|line| line.strip_prefix("Next: ")).unwrap_or_else(|| panic!("{plan:#?}"));
    let apply = namespace.type_line(&format!("{next} --yes --min-ready-seconds 0"));
    assert_eq!(apply.code, 0, "{apply:#?}");
    assert!(apply.stdout.contains("Updated 2 pods in place"), "{apply:#?}");
    let after = namespace.pods("app=web");
    assert_eq!(restarted(&before, &after), before.iter().map(|pod| format!("{}/side", name(pod))).collect::<Vec<_>>());
    assert_eq!(images(&after, "side"), ["side:v2"; 2]);

    let none = typed("plan deployment/web side=:v2 --detailed-exitcode");
    assert_eq!(none.code, 0, "{none:#?}");
    let blocked = typed("apply deployment/web nosuch=:v2 --pods-only --yes");
    assert_eq!(blocked.code, 3, "{blocked:#?}");
    let wrong = typed(&format!("apply pod/{} side=:v3 --yes", after.first().map(name).expect("a pod")));
    assert_eq!(wrong.code, 3, "{wrong:#?}");
    assert!(wrong.stdout.contains("PodIsControlled") && wrong.stdout.contains("--pods-only"), "{wrong:#?}");
    let failed = typed("apply deployment/web side=:nope --pre-pull=never --pods-only --yes");
    assert_eq!(failed.code, 4, "{failed:#?}");
}

/// With the link that `completion --install` makes, and with the script that a release installs.
#[test]
fn kubectls_own_script_for_fish_completes_the_plugin() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/completions/kubectl_complete-inplace");
    for helper in ["ln -s \"$(command -v kubectl-inplace)\"".to_owned(), format!("cp '{script}'")] {
        completes_in_fish(&helper);
    }
}

fn completes_in_fish(helper: &str) {
    let namespace = Namespace::new("fish");
    namespace.apply(&samples::deployment("web", 1));
    let complete = |typed: &str| {
        let fish = format!("kubectl completion fish | source; complete -C '{typed}'");
        let helper = format!("{helper} \"$folder/kubectl_complete-inplace\"");
        let run = format!("PATH=\"$folder:$PATH\" fish --no-config -c \"{fish}\"; rm -r \"$folder\"");
        let output = namespace.type_line(&format!("folder=$(mktemp -d); {helper}; {run}"));
        assert_eq!(output.code, 0, "{typed}: {output:#?}");
        let name = |line: &str| line.split('\t').next().unwrap_or_default().to_owned();
        output.stdout.lines().map(name).collect::<Vec<_>>()
    };
    let place = namespace.name();
    for (typed, expected) in [
        ("kubectl inplace pla".to_owned(), "plan".to_owned()),
        (format!("kubectl inplace plan -n {place} deployment/w"), "deployment/web".to_owned()),
        (format!("kubectl inplace apply deploy web -n {place} si"), "side=".to_owned()),
        (format!("kubectl inplace status -n {place}"), place.to_owned()),
        ("kubectl inplace explain TemplateF".to_owned(), "TemplateFieldNotInPlace".to_owned()),
        ("kubectl inplace plan --validate=w".to_owned(), "--validate=warn".to_owned()),
    ] {
        assert!(complete(&typed).contains(&expected), "{helper}: {typed}: {:?}", complete(&typed));
    }
}
