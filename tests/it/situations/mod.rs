//! Whole situations, one folder each: the objects and what is wanted, as YAML, and the plan that follows from them.
//!
//! Promise: every folder of `tests/situations` is walked, and a folder that lacks a file or has one that nobody reads
//! fails by name. `tests/situations/README.md` says how to add one.
#![expect(clippy::disallowed_methods, reason = "situations are files, and UPDATE=1 writes what is expected of them")]

mod folder;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{env, fs};

use engine::change::reason::{Reason, ReasonCode, Warning, WarningCode};
use engine::k8s::permissions::{Asked, ClusterCommand};
use engine::kinds::WorkloadKind;
use engine::plan::{Plan, SavedPlan, build, offline};
use folder::Folder;
use kubectl_inplace::render::{self, Guide, PlanFormat, Style};

/// The kind of the cases that compare two manifests, without a cluster.
const AGAINST: &str = "against";

/// Codes that no plan of the engine alone contains: only a server reports them, or what else is in the manifests.
const SAID_BY_THE_SERVER: [&str; 8] = [
    "AdmissionAdds",
    "AdmissionRewrites",
    "ConfigurationChanges",
    "KruiseNotInstalled",
    "NotPulledFirst",
    "PullPodRefused",
    "RewrittenByAdmission",
    "ServerWarning",
];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/situations")
}

fn folders(place: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(place).unwrap_or_else(|error| panic!("{}: {error}", place.display()));
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()).collect();
    found.sort();
    found
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The result of a folder: the plan, and the command that the user would type next.
fn plan_of(kind: &str, folder: &mut Folder) -> Result<(Plan, String), String> {
    if kind == AGAINST {
        let (old, new) = (folder.objects("old.yaml")?, folder.objects("new.yaml")?);
        let options = folder.options_of_manifests()?;
        let plan = offline::compare(&old, &new, None, &options).map_err(|error| error.to_string())?;
        return Ok((plan, "kubectl inplace apply -f new.yaml".into()));
    }
    let workload_kind = WorkloadKind::ALL
        .into_iter()
        .find(|known| known.spec().singular == kind)
        .ok_or_else(|| format!("{kind} is no kind: a folder is called as in kubectl get, or {AGAINST}"))?;
    let live = folder.live(workload_kind)?;
    let intent = folder.intent(&live)?;
    let options = folder.options()?;
    let saved_from = folder.saved_from(&live)?;
    let planned = build(&intent, saved_from.as_ref().unwrap_or(&live), &options);
    let mut workload = planned.map_err(|error| error.to_string())?;
    workload.lacks(&folder.missing_permissions(&Asked::role(ClusterCommand::Apply, workload_kind, workload.deed()))?);
    let plan = Plan { workloads: vec![workload], skipped: Vec::new() };
    let command = folder.command(&live);
    match saved_from {
        Some(then) => Ok((SavedPlan::new(&plan, &[then], "server", "manager").held_against(&[live]), command)),
        None => Ok((plan, command)),
    }
}

/// The text as a pipe gets it, standard output and below it standard error; and the JSON document.
fn rendered(plan: &Plan, next: &str) -> (String, String) {
    let (mut text, mut warnings, mut json) = (Vec::new(), Vec::new(), Vec::new());
    let guide = Guide { next: Some(next), ..Guide::default() };
    render::plan(PlanFormat::Text, plan, &guide, &Style::PLAIN, &mut text).unwrap();
    render::plan_warnings(PlanFormat::Text, plan, &Style::PLAIN, &mut warnings).unwrap();
    render::plan(PlanFormat::Json, plan, &guide, &Style::PLAIN, &mut json).unwrap();
    if !warnings.is_empty() {
        text.extend_from_slice(b"--- stderr\n");
        text.extend(warnings);
    }
    (String::from_utf8(text).unwrap(), String::from_utf8(json).unwrap())
}

/// What must hold of every output, whatever the folder says.
fn check_output(text: &str, json: &str) -> Result<(), String> {
    if let Some(control) = text.chars().find(|c| c.is_control() && *c != '\n') {
        return Err(format!("plan.txt shows the control character {control:?} as it is"));
    }
    serde_json::from_str::<serde_json::Value>(json).map_err(|error| format!("plan.json: {error}"))?;
    for machine in [env!("CARGO_MANIFEST_DIR"), "127.0.0.1", "/tmp/"] {
        if text.contains(machine) || json.contains(machine) {
            return Err(format!("the plan speaks of the machine that it was made on: {machine}"));
        }
    }
    Ok(())
}

/// Compares a file with what it should hold, or writes it.
fn compare_file(path: &Path, now: &str, update: bool) -> Result<(), String> {
    if update {
        return fs::write(path, now).map_err(|error| format!("{}: {error}", path.display()));
    }
    let file = name(path);
    let kept = fs::read_to_string(path).map_err(|_| format!("{file} is missing: UPDATE=1 writes it; then read it"))?;
    if kept == now {
        return Ok(());
    }
    let line = kept.lines().zip(now.lines()).take_while(|(kept, now)| kept == now).count();
    let at = |text: &str| text.lines().nth(line).unwrap_or("(the end)").to_owned();
    Err(format!("{file}:{} differs\n    kept: {}\n    now:  {}", line + 1, at(&kept), at(now)))
}

/// Walks one folder; returns its plan.
fn walk(kind: &str, path: &Path, update: bool) -> Result<Plan, Vec<String>> {
    let mut folder = Folder::new(path);
    let (plan, next) = plan_of(kind, &mut folder).map_err(|why| vec![why])?;
    let (text, json) = rendered(&plan, &next);
    let found = [
        check_output(&text, &json),
        compare_file(&folder.expected("plan.txt"), &text, update),
        compare_file(&folder.expected("plan.json"), &json, update),
        folder.nothing_else(),
    ];
    let wrong: Vec<String> = found.into_iter().filter_map(Result::err).collect();
    if wrong.is_empty() { Ok(plan) } else { Err(wrong) }
}

#[test]
fn every_situation_has_the_plan_that_its_folder_expects() {
    let update = env::var("UPDATE").is_ok_and(|value| value == "1");
    let (mut wrong, mut cases, mut codes) = (Vec::new(), 0, BTreeSet::new());
    for kind in folders(&root()) {
        for case in folders(&kind) {
            cases += 1;
            match walk(&name(&kind), &case, update) {
                Ok(plan) => codes.extend(plan.workloads.iter().flat_map(|workload| {
                    let reasons = workload.all_reasons().map(Reason::code);
                    reasons.chain(workload.warnings.iter().map(Warning::code)).collect::<Vec<_>>()
                })),
                Err(why) => {
                    let case = format!("{}/{}", name(&kind), name(&case));
                    wrong.extend(why.into_iter().map(|why| format!("{case}: {why}")));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "of {cases} situations (UPDATE=1 writes what is expected anew):\n{}", wrong.join("\n"));
    assert!(cases >= 60, "{cases} situations are left");
    let without: Vec<&str> = (ReasonCode::ALL.iter().map(|code| code.as_str()))
        .chain(WarningCode::ALL.iter().map(|code| code.as_str()))
        .filter(|code| !codes.contains(code) && !SAID_BY_THE_SERVER.contains(code))
        .collect();
    assert!(without.is_empty(), "no situation has {without:?}");
}

#[test]
fn a_folder_that_lacks_a_file_is_named() {
    let place = env::temp_dir().join(format!("kubectl-inplace-situations-{}", std::process::id()));
    let case = place.join("case");
    fs::create_dir_all(&case).unwrap();
    let why = |kind: &str| walk(kind, &case, false).unwrap_err().join("; ");
    assert_eq!(why("deployment"), "workload.yaml is missing: the owner, as kubectl get -o yaml gives it");
    assert_eq!(why(AGAINST), "old.yaml is missing: the manifests before");
    assert!(why("job").starts_with("job is no kind"));
    let object = "apiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: web, namespace: shop, uid: u}\n";
    fs::write(case.join("workload.yaml"), object).unwrap();
    assert_eq!(why("deployment"), "workload.yaml is no Deployment");
    assert!(why("replicaset").starts_with("pods.yaml is missing"));
    fs::write(case.join("pods.yaml"), "apiVersion: v1\nkind: List\nitems: []\n").unwrap();
    assert_eq!(why("replicaset"), "one of desired.yaml, images and refused is missing");
    fs::write(case.join("images"), "side=acme/side:2\n").unwrap();
    assert_eq!(
        why("replicaset"),
        "plan.txt is missing: UPDATE=1 writes it; then read it; plan.json is missing: UPDATE=1 writes it; then read it"
    );
    fs::write(case.join("odd.yaml"), "").unwrap();
    assert!(why("replicaset").ends_with("odd.yaml is not read"));
    fs::remove_dir_all(&place).unwrap();
}
