//! The pages as such: their links lead somewhere, their commands are run, and the README stays short.
#![expect(clippy::disallowed_methods, reason = "reads files of the tree")]

use std::path::Path;

use engine::rollout::DEFAULT_TIMEOUT_SECONDS;
use engine::state::outcome::EndResult;

use crate::support::pages::{command_blocks, pages};
use crate::support::run::Binary;

/// Pages whose commands are not typed at a cluster, and what runs them.
const ELSEWHERE: [(&str, &str); 4] = [
    ("README.md", ".ci/run"),
    ("CONTRIBUTING.md", ".ci/run"),
    ("docs/install.md", "tests/it/release.rs"),
    ("docs/getting-started.md", "tests/it/transcripts.rs"),
];

/// The heading's address within a page, as GitHub makes it.
fn anchor(heading: &str) -> String {
    let kept = heading.to_lowercase().replace(' ', "-");
    kept.chars().filter(|c| c.is_alphanumeric() || matches!(c, '-' | '_')).collect()
}

/// The headings of a page; a comment of a shell is none.
fn anchors(text: &str) -> Vec<String> {
    let mut is_code = false;
    let mut found = Vec::new();
    for line in text.lines() {
        is_code ^= line.trim_start().starts_with("```");
        if !is_code && line.starts_with('#') {
            found.push(anchor(line.trim_start_matches('#').trim()));
        }
    }
    found
}

#[test]
fn every_link_leads_somewhere() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let all = pages();
    let (mut wrong, mut number) = (Vec::new(), 0);
    for page in &all {
        for link in page.text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            if link.starts_with("https://") {
                continue;
            }
            number += 1;
            let (file, heading) = link.split_once('#').map_or((link, None), |(file, heading)| (file, Some(heading)));
            let target = match file {
                "" => root.join(&page.path),
                file => root.join(&page.path).parent().expect("a page is in a folder").join(file),
            };
            let Ok(target) = target.canonicalize() else {
                wrong.push(format!("{}: there is no {link}", page.path));
                continue;
            };
            let target =
                target.strip_prefix(root.canonicalize().expect("it is there")).unwrap_or(&target).to_path_buf();
            let page_there = all.iter().find(|other| Path::new(&other.path) == target);
            let has = |heading: &str| page_there.is_some_and(|page| anchors(&page.text).iter().any(|it| it == heading));
            if heading.is_some_and(|heading| !has(heading)) {
                wrong.push(format!("{}: {link} has no such heading", page.path));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(number > 100, "{number} links");
}

/// Each fact about Kubernetes is listed with the test that shows it.
#[test]
fn every_fact_has_its_test() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = pages().into_iter().find(|page| page.path == "docs/kubernetes-facts.md").expect("there is that page");
    let rows = page.text.lines().filter(|line| line.starts_with("| ") && *line != "| fact | test |");
    let mut number = 0;
    for row in rows {
        let cell = row.trim_end_matches(" |").rsplit(" | ").next().expect("a row has cells");
        let (mut source, mut tests) = (String::new(), 0);
        for name in cell.split('`').skip(1).step_by(2) {
            if name.contains('/') {
                source = std::fs::read_to_string(root.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
            } else {
                assert!(source.contains(&format!("fn {name}()")), "there is no test {name}: {row}");
                tests += 1;
            }
        }
        assert!(tests > 0, "no test: {row}");
        number += tests;
    }
    assert!(number > 20, "{number} tests");
}

/// A page that has commands for the first time is given a scene in `tests/real/pages.rs`, which runs every block of it.
#[test]
fn the_commands_of_every_page_are_run() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let scenes = std::fs::read_to_string(root.join("tests/real/pages.rs")).expect("the scenes can be read");
    let mut number = 0;
    for page in pages().iter().filter(|page| !command_blocks(page).is_empty()) {
        number += command_blocks(page).len();
        match ELSEWHERE.iter().find(|(path, _)| *path == page.path) {
            Some((_, by)) => assert!(root.join(by).exists(), "{}: there is no {by}", page.path),
            None => {
                let has_scene = scenes.contains(&format!("\"{}\"", page.path));
                assert!(has_scene, "nothing runs the commands of {}", page.path);
            }
        }
    }
    assert!(number > 40, "{number} blocks");
}

/// The lines of the examples that run the plugin, or Helm beside it, are those of the pages.
#[test]
fn the_pages_show_what_the_examples_run() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/gitops");
    let shown = text_of("docs/gitops.md") + &text_of("docs/pull-requests.md");
    let files = [
        "helm/upgrade",
        "helm/rollback",
        "argocd/inplace.yaml",
        "flux/first/inplace.yaml",
        "github-actions/inplace.yaml",
        "gitlab-ci/gitlab-ci.yml",
    ];
    let mut number = 0;
    for file in files {
        let text = std::fs::read_to_string(root.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
        let is_shown = |line: &&str| {
            ["kubectl inplace apply", "kubectl inplace undo", "helm ", "args: "].iter().any(|it| line.contains(it))
        };
        for line in text.lines().filter(|line| !line.starts_with('#')).filter(is_shown) {
            let line = line.trim().trim_start_matches("- ").replace("\"$@\"", "-f values.yaml");
            assert!(shown.contains(&line), "{file}: no page has {line}");
            number += 1;
        }
    }
    assert!(number > 7, "{number} lines");
}

#[test]
fn the_readme_is_short_and_says_how_to_see_it_and_how_to_test_it() {
    let readme = pages().into_iter().find(|page| page.path == "README.md").expect("there is one").text;
    assert!(readme.len() <= 7_000, "{} bytes: the long form belongs into docs", readme.len());
    for command in ["\n```\nexamples/demo\n```\n", "\n```\ntests/run\n```\n"] {
        assert!(readme.contains(command), "{command}");
    }
    for page in pages().iter().filter(|page| page.path.starts_with("docs/")) {
        let in_reference = page.path.starts_with("docs/schemas");
        assert!(
            readme.contains(&format!("]({})", page.path)) || in_reference,
            "the README does not name {}",
            page.path
        );
    }
}

fn text_of(path: &str) -> String {
    pages().into_iter().find(|page| page.path == path).unwrap_or_else(|| panic!("there is no {path}")).text
}

#[test]
fn the_order_of_results_is_the_programs() {
    let from_worst = EndResult::FROM_BEST_TO_WORST.into_iter().rev();
    let until_paused = from_worst.skip_while(|end| *end == EndResult::Terminated);
    let until_paused = until_paused.take_while(|end| !matches!(end, EndResult::Aborted));
    let spoken = |end: EndResult| {
        let spaced =
            end.word().chars().flat_map(|c| c.is_uppercase().then_some(' ').into_iter().chain(c.to_lowercase()));
        spaced.collect::<String>()
    };
    let order = until_paused.map(spoken).collect::<Vec<_>>().join(", ");
    let page = text_of("docs/many-workloads.md");
    assert!(page.contains(&format!("The exit code is that of the worst: {order}, in this order.")), "{order}");
}

#[test]
fn the_default_of_a_timeout_is_the_programs() {
    let minutes = format!("{}m", DEFAULT_TIMEOUT_SECONDS / 60);
    let default = format!("{minutes} plus its grace period and min ready seconds");
    for command in ["apply", "resume", "undo", "restart", "follow"] {
        let help = Binary::alone([command, "--help"]).run().ends_with(0);
        let said = help.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains(&format!("[default: {default}")), "{command}: {said}");
    }
    let of_pods = format!("the default is {}", default.replace("its", "the pod's"));
    assert!(text_of("docs/reference/reasons.md").contains(&of_pods), "{of_pods}");
    assert!(text_of("docs/canary.md").contains(&format!("`--timeout` ({minutes} by default)")));
}
