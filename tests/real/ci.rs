//! `examples/gitops/github-actions` and `examples/gitops/gitlab-ci`: the steps of a pull request and of its merge are run as
//! they are written, in a repository with the tests' manifest. What comments is a stand-in.

use serde_json::Value;

use crate::pages::Place;
use crate::support::{images, restarted, samples};

/// The root of a repository whose branch changes an image, and whose base is `main`.
fn repository() -> Place {
    let web = samples::deployment("web", 2);
    let place = Place::new().file("deploy/web.yaml", &web).file("deploy/kustomization.yaml", "resources: [web.yaml]\n");
    let git = "git -c user.name=a -c user.email=a@example.com";
    let commit = format!("git add deploy && {git} commit -qm change");
    place.namespace.apply(&web);
    place.namespace.wait_ready("app=web", 2);
    place.run(&format!("git init -q -b main && {commit} && git update-ref refs/remotes/origin/main main"), 0);
    let place = place.file("deploy/web.yaml", &samples::with_tag(&web, "side", "v2"));
    place.run(&format!("git checkout -qb change && {commit}"), 0);
    place
}

fn read(example: &str) -> Value {
    let path = format!("{}/examples/gitops/{example}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).expect("the example can be read");
    serde_saphyr::from_str(&text).expect("the example is YAML")
}

/// Runs commands as CI does, where a failure ends them.
fn run(place: &Place, variables: &str, commands: &str) {
    std::fs::write(place.folder.join("step"), commands).expect("the folder can be written");
    place.run(&format!("export {variables} && bash -eo pipefail step"), 0);
}

/// Carries out the merge, and checks that it was in place.
fn merge(place: &Place, commands: &str) {
    let before = place.namespace.wait_ready("app=web", 2);
    run(place, "CI=true", commands);
    place.namespace.kubectl(&["rollout", "status", "deployment/web", "--timeout=120s"]);
    let after = place.namespace.wait_ready("app=web", 2);
    assert_eq!((restarted(&before, &after).len(), images(&after, "side")), (2, vec!["side:v2"; 2]));
}

#[test]
fn a_github_workflow_plans_and_applies() {
    let workflow = read("github-actions/inplace.yaml");
    let step = |job: &str, name: &str| {
        let steps = workflow["jobs"][job]["steps"].as_array().into_iter().flatten();
        let step = steps.into_iter().find(|step| step["name"] == name);
        step.and_then(|step| step["run"].as_str()).unwrap_or_else(|| panic!("no step {name}")).to_owned()
    };
    let place = repository().file("bin/gh", "#!/bin/sh\necho \"$@\" >said\n");
    place.run("chmod 755 bin/gh", 0);
    run(&place, "GITHUB_BASE_REF=main NUMBER=7", &format!("{}\n{}", step("plan", "Plan"), step("plan", "Comment")));
    place.run("grep -q ': in place' plan.md && grep -q -- '--edit-last --create-if-none' said", 0);
    merge(&place, &step("apply", "Apply"));
}

#[test]
fn a_gitlab_pipeline_plans_and_applies() {
    let pipeline = read("gitlab-ci/gitlab-ci.yml");
    let script = |job: &str| {
        let lines = pipeline[job]["script"].as_array().unwrap_or_else(|| panic!("no script of {job}"));
        lines.iter().map(|line| line.as_str().unwrap_or_default()).collect::<Vec<_>>().join("\n")
    };
    let curl = "#!/bin/sh\ncase \"$*\" in *per_page*) cat notes ;; *) echo \"$@\" >said ;; esac\n";
    let place = repository().file("bin/curl", curl).file("notes", "[{\"id\": 6, \"body\": \"LGTM\"}]");
    place.run("chmod 755 bin/curl", 0);
    let variables = "CI_MERGE_REQUEST_DIFF_BASE_SHA=$(git rev-parse main) CI_API_V4_URL=api CI_PROJECT_ID=1 CI_MERGE_REQUEST_IID=7 GITLAB_TOKEN=t";
    run(&place, variables, &script("plan"));
    place.run("grep -q ': in place' plan.md && grep -q -- '--request POST .*/7/notes$' said", 0);
    let place =
        place.file("notes", "[{\"id\": 6, \"body\": \"LGTM\"}, {\"id\": 9, \"body\": \"<!-- inplace -->\\nold\"}]");
    place.run("git worktree remove --force base", 0);
    run(&place, variables, &script("plan"));
    place.run("grep -q -- '--request PUT .*/7/notes/9$' said", 0);
    merge(&place, &script("apply"));
}
