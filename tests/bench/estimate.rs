//! The plan's estimate against the outcome, over kinds of rollouts that take their time for different reasons.

use serde_json::Value;

use crate::support::{Namespace, registry, samples};

/// One rollout: the objects, what is done before, and the words after `plan` and `apply`.
struct Rollout {
    what: &'static str,
    manifest: String,
    pods: usize,
    /// Updates before the one that is measured.
    before: &'static [&'static str],
    words: &'static str,
}

/// A Deployment whose container `side` has more lines, in place of its fields.
fn side(replicas: usize, fields: &str, more: &str) -> String {
    let manifest = samples::deployment("web", replicas);
    let image = format!("image: '{}/side:v1'", registry());
    let manifest = manifest.replace(&image, &format!("{image}{more}"));
    manifest.replace("  replicas:", &format!("{fields}  replicas:"))
}

const PROBE: &str = ", readinessProbe: {exec: {command: [/bin/busybox, 'true']}, periodSeconds: 2}";
const SOON: &str = ", readinessProbe: {exec: {command: [/bin/busybox, 'true']}, periodSeconds: 1}";
const LATE: &str =
    ", readinessProbe: {exec: {command: [/bin/busybox, 'true']}, initialDelaySeconds: 5, periodSeconds: 2}";
const HOOK: &str = ", lifecycle: {preStop: {sleep: {seconds: 2}}}";

fn rollouts() -> Vec<Rollout> {
    let rollout = |what, manifest: String, pods, before, words| Rollout { what, manifest, pods, before, words };
    let ordered = samples::stateful_set("web", 3).replace("Parallel", "OrderedReady");
    let service = "---\napiVersion: v1\nkind: Service\nmetadata: {name: web}\n\
                   spec: {selector: {app: web, serves: 'yes'}, ports: [{port: 80}]}\n";
    let drained =
        format!("{}{service}", side(2, "", PROBE).replace("labels: {app: web}", "labels: {app: web, serves: 'yes'}"));
    vec![
        rollout("Deployment, 1 pod", side(1, "", ""), 1, &[], "deployment/web side=:v2"),
        rollout("Deployment, 3 pods", side(3, "", ""), 3, &[], "deployment/web side=:v2"),
        rollout("readiness probe", side(3, "", PROBE), 3, &[], "deployment/web side=:v2"),
        rollout("probe of a second", side(3, "", SOON), 3, &[], "deployment/web side=:v2"),
        rollout("initialDelaySeconds 5", side(2, "", LATE), 2, &[], "deployment/web side=:v2"),
        rollout("minReadySeconds 3", side(3, "  minReadySeconds: 3\n", PROBE), 3, &[], "deployment/web side=:v2"),
        rollout("6 pods, 2 at a time", side(6, "", ""), 6, &[], "deployment/web side=:v2 --max-unavailable 2"),
        rollout(
            "preStop sleeps 2 s",
            side(2, "", HOOK).replace("PeriodSeconds: 2", "PeriodSeconds: 5"),
            2,
            &[],
            "deployment/web side=:v2",
        ),
        rollout("StatefulSet, strict order", ordered, 3, &[], "statefulset/web side=:v2"),
        rollout("DaemonSet", samples::daemon_set("web"), 1, &[], "daemonset/web side=:v2"),
        rollout(
            "pods only, one after the other",
            side(3, "", ""),
            3,
            &[],
            "deployment/web side=:v2 app=:v2 --pods-only --container-order side,app --min-ready-seconds 1",
        ),
        rollout("drained, 2 s", drained, 2, &[], "deployment/web side=:v2 --drain-seconds 2"),
        rollout("to and fro", side(1, "", PROBE), 1, &["side=:v2", "side=:v1"], "deployment/web side=:v2"),
        rollout("3 pods, the second time", side(3, "", PROBE), 3, &["side=:v2"], "deployment/web side=:v3"),
        rollout("a label", side(3, "", ""), 3, &[], "-f LABEL"),
        rollout("bare pod", samples::pod("web"), 1, &[], "pod/web side=:v2 --min-ready-seconds 0"),
    ]
}

/// Prints the table, and the median of the errors.
pub(crate) fn table() {
    let mut errors = Vec::new();
    println!("{:<32} {:>9} {:>9} {:>7}", "ROLLOUT", "ESTIMATE", "OUTCOME", "ERROR");
    for rollout in rollouts() {
        let Some((estimate, outcome)) = measured(&rollout) else { continue };
        let error = (estimate - outcome).abs() / outcome.max(0.1) * 100.0;
        println!("{:<32} {estimate:>7.1} s {outcome:>7.1} s {error:>5.0} %", rollout.what);
        errors.push(error);
    }
    errors.sort_by(f64::total_cmp);
    let median = errors.get(errors.len() / 2).copied().unwrap_or_default();
    println!("estimates: {} rollouts, median error {median:.0} %", errors.len());
}

fn measured(rollout: &Rollout) -> Option<(f64, f64)> {
    let namespace = Namespace::new("estimate");
    namespace.apply(&rollout.manifest);
    namespace.wait_ready("app=web", rollout.pods);
    let target = rollout.words.split(' ').next().unwrap_or_default();
    for words in rollout.before {
        let done = namespace.inplace(&["apply", target, words, "--yes"]);
        assert_eq!(done.code, 0, "{}: {done:?}", rollout.what);
    }
    let file = std::env::temp_dir().join(format!("{}.yaml", namespace.name()));
    let labelled = rollout.manifest.replace("labels: {app: web}", "labels: {app: web, more: 'yes'}");
    std::fs::write(&file, labelled).expect("a temporary file");
    let words = rollout.words.replace("LABEL", &file.to_string_lossy());
    let words: Vec<&str> = words.split(' ').collect();
    let plan = namespace.inplace(&[&["plan"], words.as_slice(), &["-o", "json"]].concat());
    let plan: Value = serde_json::from_str(&plan.stdout).expect("a plan");
    let applied = namespace.inplace(&[&["apply"], words.as_slice(), &["--yes", "-o", "json"]].concat());
    drop(std::fs::remove_file(file));
    assert_eq!(applied.code, 0, "{}: {applied:?}", rollout.what);
    let mut lines = applied.stdout.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let summary = lines.rfind(|line| line["type"] == "summary")?;
    Some((plan["workloads"][0]["estimateSeconds"].as_f64()?, summary["elapsedSeconds"].as_f64()?))
}
