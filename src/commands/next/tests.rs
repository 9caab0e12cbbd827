use clap::{CommandFactory, FromArgMatches};

use super::carry::CARRY;
use super::*;
use crate::cli::Cli;
use engine::kinds::WorkloadKind;
use engine::value::hint::{Hint, inplace, kubectl};

fn matches(words: &[String]) -> clap::ArgMatches {
    let parsed = Cli::command().try_get_matches_from(words);
    parsed.unwrap_or_else(|error| panic!("{words:?}: {error}"))
}

fn typed(words: &[String]) -> Vec<Typed> {
    Typed::all(root(), &matches(words))
}

fn words(line: &str) -> Vec<String> {
    line.split(' ').map(|word| word.replace('_', " ")).collect()
}

fn invocation(line: &str) -> Invocation {
    Invocation::new(&typed(&words(line)), "default")
}

/// What the program itself makes of a printed command: every flag, and that it is one at all.
fn read(printed: &Printed) -> Vec<Typed> {
    assert_eq!(printed.words.get(..2), Some(&["kubectl".to_owned(), "inplace".to_owned()][..]));
    let matches = matches(printed.words.get(1..).unwrap_or_default());
    assert!(Cli::from_arg_matches(&matches).is_ok(), "{printed}");
    Typed::all(root(), &matches)
}

fn web() -> WorkloadRef {
    WorkloadRef { kind: WorkloadKind::Deployment, namespace: "shop".into(), name: "web".into() }
}

fn goal() -> Goal {
    serde_json::from_value(serde_json::json!({
        "workload": {"kind": "Deployment", "namespace": "default", "name": "web"}, "clock": "",
        "controllers": [], "replicas": 1, "pods": [],
        "lock": {"id": "one", "run": "r", "who": "", "since": "", "version": "0", "state": "running",
            "direction": "forward", "change": {"images": {}},
            "policy": {"maxUnavailable": 2, "minReadySecondsGiven": 9, "ownerMinReadySeconds": 0, "timeoutGiven": 60,
                "totalTimeout": null, "ordered": false, "drainSeconds": 4, "respectsBudgets": true}},
        "field_manager": "inplace-cli", "hooks": {"beforePod": "drain it"},
    }))
    .expect("it is a goal")
}

/// The lock has the policy; no lock has the commands around each pod.
#[test]
fn what_goes_on_carries_what_no_lock_has_and_undo_what_somebody_gave() {
    let of = |line: &str, verb| invocation(line).of_workload(verb, &web(), Some(&goal())).to_string();
    let saved = "x apply --plan file --as jane";
    let resume = "kubectl inplace resume deployment/web -n shop --before-pod 'drain it' --as jane";
    assert_eq!(of(saved, ClusterCommand::Resume), resume);
    let undo = "kubectl inplace undo deployment/web -n shop --min-ready-seconds 9 --before-pod 'drain it' --as jane";
    assert_eq!(of(saved, ClusterCommand::Undo), undo);
    let typed = "x apply deploy/web side=a:1 --max-unavailable 2 --timeout 4s --field-manager ci";
    let abort = "kubectl inplace abort deployment/web -n shop --field-manager ci --before-pod 'drain it'";
    assert_eq!(of(typed, ClusterCommand::Abort), abort);
    assert_eq!(of(typed, ClusterCommand::Follow), "kubectl inplace follow deployment/web -n shop");
    let ignoring =
        invocation(saved).of_workload_with(ClusterCommand::Resume, &goal(), &[("disruption_budget", "ignore".into())]);
    assert_eq!(
        ignoring,
        "kubectl inplace resume deployment/web --before-pod 'drain it' --as jane --disruption-budget ignore"
    );
}

#[test]
fn what_is_in_no_namespace_is_printed_without_one() {
    let set = WorkloadRef { kind: WorkloadKind::SidecarSet, namespace: String::new(), name: "mesh".into() };
    let of = |workload| invocation("x apply --as jane").rollout_status(workload).to_string();
    assert_eq!(of(&set), "kubectl inplace status sidecarset/mesh --as jane");
    assert_eq!(of(&web()), "kubectl rollout status deployment/web -n shop --as jane");
}

#[test]
fn a_time_that_ends_a_run_early_is_known_as_such() {
    for (flags, expected) in [
        ("--timeout 4s", true),
        ("--timeout 299s", true),
        ("--timeout 5m", false),
        ("--timeout 0", false),
        ("--total-timeout 1h", true),
        ("", false),
    ] {
        let line = format!("x apply deploy/web side=a:1 {flags}");
        assert_eq!(invocation(line.trim()).is_short_of_time(), expected, "{flags}");
    }
}

const CONNECTION: &str = "--kubeconfig my_config --context c --cluster k --user u --server https://h:1 \
    --certificate-authority ca --client-certificate cert --client-key key --insecure-skip-tls-verify \
    --tls-server-name name --as jane --as-group a --as-group b --as-uid 1 --as-user-extra x=1 --as-user-extra x=2 \
    --request-timeout 20s --disable-compression --warnings-as-errors";

const SAFEGUARDS: &str = "--max-unavailable 2 --min-ready-seconds 3 --timeout 9m --total-timeout 1h \
    --pause-after 4 --disruption-budget ignore --pre-pull never --drain auto --drain-seconds 7 \
    --container-order app,side --before-pod lb_off_'$KUBECTL_INPLACE_POD' --after-pod=-x --on-failure continue \
    --keep-field-ownership --parallel-workloads 3 --field-manager ci";

fn with_everything() -> Invocation {
    let line = format!("x apply deploy/web side=a:1 -n shop --yes -o json -q {CONNECTION} {SAFEGUARDS}");
    invocation(&line.split_whitespace().collect::<Vec<_>>().join(" "))
}

#[test]
fn every_flag_is_known_to_be_carried_on_or_not() {
    let root = root();
    // What says what is done, of every command that is printed.
    let task = "words image all_containers filename kustomize recursive validate selector field_selector all all_namespaces \
        container requests limits pods_only canary partition pods node order plan reason namespace take_over \
        parallel_workloads to pin_digest release if_possible";
    let printed = ["apply", "restart", "resume", "abort", "undo", "follow"];
    let printed = printed.map(|name| root.find_subcommand(name).expect("it is a command"));
    let all = printed.into_iter().flat_map(Command::get_arguments).map(|argument| argument.get_id().as_str());
    let found: std::collections::BTreeSet<&str> = all.filter(|id| carry(id) == Carry::Task).collect();
    let task: std::collections::BTreeSet<&str> = task.split_whitespace().collect();
    assert_eq!(found, task, "say in CARRY what becomes of a new flag, or here that it is a part of what is done");
    let mut ids: Vec<&str> = CARRY.iter().flat_map(|(_, ids)| ids.iter().copied()).collect();
    let all = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), all, "an id stands in one row");
}

#[test]
fn a_printed_command_is_one_and_keeps_connection_and_safeguards() {
    let given = with_everything();
    let all = [
        ClusterCommand::Apply,
        ClusterCommand::Restart,
        ClusterCommand::Resume,
        ClusterCommand::Abort,
        ClusterCommand::Undo,
        ClusterCommand::Follow,
    ];
    for verb in all {
        let printed = given.of_workload(verb, &web(), None);
        let read = read(&printed);
        assert!(!printed.to_string().contains("--parallel-workloads"), "it is of one workload: {printed}");
        let root = root();
        let command = root.find_subcommand(verb.word()).expect("it is a command");
        let has = |id: &str| command.get_arguments().any(|argument| argument.get_id().as_str() == id);
        for typed in &given.typed {
            let pauses_back = typed.id == "pause_after" && verb == ClusterCommand::Undo;
            let is_carried = match carry(&typed.id) {
                Carry::Connection => true,
                Carry::Safeguard => verb != ClusterCommand::Follow,
                Carry::Policy => matches!(verb, ClusterCommand::Apply | ClusterCommand::Restart | ClusterCommand::Undo),
                Carry::Task | Carry::Never => false,
            };
            let expected = is_carried && has(&typed.id) && !pauses_back;
            let mut typed = typed.clone();
            if typed.id == "container_order" && verb == ClusterCommand::Undo {
                typed.values.reverse();
            }
            let is_task = carry(&typed.id) == Carry::Task;
            assert_eq!(read.contains(&typed) || is_task, expected || is_task, "{verb:?} {typed:?}\n{printed}");
        }
        let is = |id: &str, value: &str| read.iter().any(|typed| *typed == Typed::new(id, [value]));
        assert!(is("words", "deployment/web") && is("namespace", "shop"), "{printed}");
    }
}

#[test]
fn the_next_command_is_the_same_without_what_only_plan_has() {
    let cases = [
        ("x plan deploy/web side=a:1 -o json", "kubectl inplace apply deploy/web side=a:1"),
        ("x plan deploy/plan side=a:1 -ojson --detailed-exitcode", "kubectl inplace apply deploy/plan side=a:1"),
        ("x plan deploy -l a=b --output=json *=a:1", "kubectl inplace apply deploy '*=a:1' -l a=b"),
        ("x -n plan -q plan deploy/web side=a:1", "kubectl inplace apply deploy/web side=a:1 -n plan"),
        ("x plan deploy/web --token secret side=a:1", "kubectl inplace apply deploy/web side=a:1 --token ..."),
        ("x plan -f a.yaml,b.yaml -R --as jane", "kubectl inplace apply -f a.yaml,b.yaml -R --as jane"),
        (
            "x plan deploy/web side=a:1 --server https://u:p@h --canary 1 --before-pod curl_-d_password=abc",
            "kubectl inplace apply deploy/web side=a:1 --canary 1 --before-pod 'curl -d password=***' --server https://h",
        ),
    ];
    for (line, expected) in cases {
        assert_eq!(invocation(line).apply_planned(), expected);
    }
}

#[test]
fn what_came_through_a_pipe_cannot_be_read_again() {
    for file in ["-", "/dev/fd/63", "/proc/self/fd/11"] {
        let next = invocation(&format!("x plan -f {file} --as jane")).apply_planned();
        let command = next.split("then: ").nth(1).unwrap_or_default();
        assert_eq!(command, "kubectl inplace apply -f manifest.yaml --as jane", "{next}");
    }
}

/// It has no images of its own among its words.
#[test]
fn what_goes_on_after_an_undo_names_the_images_that_it_brings() {
    let mut goal = goal();
    let pod = serde_json::json!({"key": {"namespace": "default", "name": "web-1", "uid": "u"},
        "containers": {"side": {"from": "a:2", "to": "a:1", "restarts": true}}});
    goal.pods = vec![serde_json::from_value(pod).expect("it is a pod's goal")];
    let next = invocation("x undo deploy/web --pods-only --timeout 8s --yes").go_on(&goal).unwrap_or_default();
    assert!(next.starts_with("kubectl inplace apply deployment/web side=a:1 --pods-only "), "{next}");
}

#[test]
fn after_a_pause_nothing_is_a_canary_any_more() {
    let expected = "kubectl inplace apply deploy/web side=a:1 --pods-only --pause-after 2";
    for flag in ["--canary 1 ", "--canary=2 ", ""] {
        let line = format!("x apply deploy/web side=a:1 {flag}--pods-only --pause-after 2 --record file --yes");
        assert_eq!(invocation(&line).go_on(&goal()).as_deref(), Some(expected));
    }
}

#[test]
fn hints_lead_to_the_same_server_as_the_same_user() {
    let invocation = invocation(
        "x plan deploy/web side=a:1 --as jane --as-group a_b --context c --max-unavailable 2 --min-ready-seconds 9",
    );
    for (command, expected) in [
        (kubectl("get pods"), "kubectl get pods --context c --as jane --as-group 'a b'"),
        (inplace("resume deploy/web"), "kubectl inplace resume deploy/web --context c --as jane --as-group 'a b'"),
        (inplace("follow deploy/web"), "kubectl inplace follow deploy/web --context c --as jane --as-group 'a b'"),
        (inplace("history deploy/web"), "kubectl inplace history deploy/web --context c --as jane --as-group 'a b'"),
    ] {
        assert_eq!(
            Hint::from("see: ").command(command).then(", or not").with_flags(&invocation.flags()),
            format!("see: {expected}, or not")
        );
    }
}

#[test]
fn a_usage_error_names_its_command() {
    let typed = |line: &str| command_of(&line.split(' ').map(str::to_owned).collect::<Vec<_>>());
    assert_eq!(typed("x plan --nope"), "kubectl inplace plan");
    assert_eq!(typed("x -n prod watch -o yml"), "kubectl inplace follow");
    assert_eq!(typed("x nope"), "kubectl inplace");
    assert_eq!(typed("x __complete"), "kubectl inplace");
}

/// Of what `plan` takes as well, a saved plan has everything but what becomes of the output.
#[test]
fn what_a_saved_plan_says_cannot_be_given_beside_it() {
    let root = root();
    let [plan, apply] = ["plan", "apply"].map(|name| root.find_subcommand(name).expect("it is a command"));
    let ids = |command: &Command| -> Vec<String> {
        command.get_arguments().filter(|known| !known.is_global_set()).map(|known| known.get_id().to_string()).collect()
    };
    let (of_plan, of_apply) = (ids(plan), ids(apply));
    let saved = apply.get_arguments().find(|known| known.get_id() == "plan").expect("it takes a saved plan");
    let conflicts: Vec<String> =
        apply.get_arg_conflicts_with(saved).iter().map(|known| known.get_id().to_string()).collect();
    let common = of_apply.into_iter().filter(|id| of_plan.contains(id) && !conflicts.contains(id));
    assert_eq!(common.collect::<Vec<_>>(), ["dry_run", "output", "help"]);
}
