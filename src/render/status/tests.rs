//! The tables and the document of a status.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::*;
use engine::k8s::failure::Failure;
use engine::k8s::names::{PodKey, WorkloadRef};
use engine::k8s::pod::{ContainerList, Terminated, Waiting};
use engine::kinds::WorkloadKind;
use engine::status::{
    Comparison, Condition, ContainerReport, NextAction, NextCommand, RunningAgain, TemplateContainer,
};

const AT: &str = "2026-03-01T10:00:00Z";

fn report(condition: Condition, comparison: Comparison) -> ContainerReport {
    ContainerReport {
        container: "side".into(),
        list: ContainerList::Containers,
        image: "acme/side:v2".into(),
        image_id: Some("sha256:a".into()),
        asked: Some("acme/side:v1".into()),
        before: None,
        restarts: 1,
        last_end: Some(Terminated {
            exit_code: 3,
            reason: "Error".into(),
            finished_at: Some(AT.into()),
            ..Terminated::default()
        }),
        again: Some(RunningAgain { times: Some(2), up_seconds: 3 }),
        condition,
        comparison,
    }
}

fn pod(name: &str, state: PodState, containers: Vec<ContainerReport>) -> PodStatus {
    PodStatus {
        key: PodKey { namespace: "prod".into(), name: name.into(), uid: format!("uid-{name}").into() },
        node: "node-a".into(),
        state,
        ready: state == PodState::Ready,
        ready_since: Some(AT.into()),
        unscheduled: None,
        older_revision: None,
        update: Some("id-1".into()),
        out_of_services: None,
        resizing: None,
        resources: vec![],
        missing_labels: Default::default(),
        unreadable_record: false,
        containers,
    }
}

fn workload(name: &str, pods: Vec<PodStatus>) -> WorkloadStatus {
    WorkloadStatus {
        workload: WorkloadRef { kind: WorkloadKind::Deployment, namespace: "prod".into(), name: name.into() },
        uid: "u".into(),
        desired: u32::try_from(pods.len()).unwrap(),
        lock: Ok(None),
        life: None,
        state: RolloutState::None,
        next: vec![],
        owner: Vec::new(),
        template: vec![TemplateContainer {
            container: "side".into(),
            list: ContainerList::Containers,
            image: "acme/side:v1".into(),
        }],
        pods,
        rewritten: Vec::new(),
        not_read: Vec::new(),
        may_be_rewritten: BTreeSet::new(),
    }
}

fn written(format: StatusFormat, workloads: &[WorkloadStatus], asked_for: bool) -> String {
    written_at(None, format, workloads, asked_for)
}

fn written_at(width: Option<u16>, format: StatusFormat, workloads: &[WorkloadStatus], asked_for: bool) -> String {
    let mut out = Vec::new();
    let commands = |status: &WorkloadStatus| {
        let verb = |next: &NextCommand| match &next.action {
            NextAction::Follow => "follow",
            NextAction::Replace(_) => "delete",
            NextAction::Resume => "resume",
            NextAction::Abort | NextAction::Release => "abort",
            NextAction::Apply(_) | NextAction::SetImage(_) => "apply",
        };
        let command = |next: &NextCommand| format!("kubectl inplace {} {}", verb(next), status.workload);
        status.next.iter().map(|next| (format!("{}:", next.label), command(next))).collect()
    };
    let now = "2026-03-01T10:03:10Z";
    let context = StatusContext { asked_for, namespace: Some("prod"), not_read: &[], now, commands: &commands };
    status(format, workloads, &context, &Style { width, ..Style::PLAIN }, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn ready() -> Condition {
    Condition::Running { ready: true, since: Some(AT.into()) }
}

fn conditions() -> Vec<(Condition, &'static str)> {
    let waiting = Waiting { reason: "ErrImagePull".into(), message: "gone\u{1b}[2J".into() };
    let failure = Failure {
        container: Some("side".into()),
        reason: "CrashLoopBackOff".into(),
        message: "boom\nDone".into(),
        exit_code: Some(3),
        stays_down: false,
    };
    let at = Some(AT.to_owned());
    vec![
        (ready(), "ready"),
        (Condition::Running { ready: false, since: None }, "running, not ready"),
        (Condition::Restarted { ready: true, since: at.clone() }, "just restarted"),
        (Condition::Restarted { ready: false, since: None }, "just restarted, not ready"),
        (Condition::Unverified { why: "why".into(), ready: true, since: at }, "ready, unverified"),
        (Condition::Updating { waiting: Some(waiting.clone()) }, "updating: ErrImagePull"),
        (Condition::Updating { waiting: None }, "updating"),
        (Condition::Failed(failure), "FAILED: CrashLoopBackOff (exit code 3)"),
        (Condition::Starting { waiting: Some(waiting) }, "starting: ErrImagePull"),
        (Condition::Ended { exit_code: Some(1) }, "ended (exit code 1)"),
        (Condition::Ended { exit_code: None }, "ended"),
    ]
}

#[test]
fn what_has_just_been_started_again_says_how_often_and_that_it_may_not_stay() {
    let restarted = || Condition::Restarted { ready: true, since: Some(AT.into()) };
    let mut report = report(restarted(), Comparison::Same);
    for (times, words) in [(Some(2), "restarted 2 times since the update"), (None, "restarted once in all")] {
        report.again = Some(RunningAgain { times, up_seconds: 3 });
        let one = pod("web-1", PodState::Restarted, vec![report.clone()]);
        let shown = written(StatusFormat::Text, &[workload("web", vec![one])], true);
        assert!(shown.contains("1 pod: 1 just restarted\n"), "{shown}");
        let line = format!("pod/web-1  side: {words}, last exit code 3, up 3 s: whether it stays is not known yet\n");
        assert!(shown.contains(&line), "{shown}");
    }
}

#[test]
fn every_condition_has_its_words_and_nothing_hostile() {
    for (condition, words) in conditions() {
        let one = pod("web-1", PodState::NotReady, vec![report(condition, Comparison::Drifted)]);
        let shown = written(StatusFormat::Text, &[workload("web", vec![one])], true);
        assert!(
            shown.contains(&format!(" side        {words}; drifted from the template; pod not ready  ")),
            "{shown}"
        );
        assert!(!shown.contains('\u{1b}'));
        let message = match words {
            "FAILED: CrashLoopBackOff (exit code 3)" => "pod/web-1  side: boom / Done\n",
            "just restarted" | "just restarted, not ready" => "up 3 s: whether it stays is not known yet\n",
            "updating: ErrImagePull" | "starting: ErrImagePull" => "pod/web-1  side: gone^[[2J\n",
            _ => "acme/side:v1\n",
        };
        assert!(shown.ends_with(message), "{shown}");
    }
}

#[test]
fn the_terminal_gets_a_table() {
    let mut second = pod(
        "web-2",
        PodState::Updating,
        vec![report(ready(), Comparison::Same), report(Condition::Updating { waiting: None }, Comparison::Pinned)],
    );
    second.containers[1].before = Some("acme/side:v1".into());
    second.containers[1].container = "mesh".into();
    second.older_revision = Some("web-a".into());
    let first = pod("web-1", PodState::Terminating, vec![report(ready(), Comparison::Injected)]);
    let mut web = workload("web", vec![first, second]);
    web.owner = vec![OwnerState::Paused, OwnerState::Stuck { reason: "X".into(), message: "y".into() }];
    web.lock = Err("{\u{7}".into());
    web.not_read = vec!["no".into()];
    let shown = written(StatusFormat::Text, &[web.clone()], true);
    let expected = "\
deployment/web  namespace prod   1 pod (2 wanted): 1 updating, 1 terminating
  unreadable lock: it was made by another version, or edited: {^G
  owner: its rollouts are paused
  owner: its controller is not progressing: X: y
  not read: no

  POD                         CONTAINER   STATE                        AGE      RESTARTS     IMAGE          TEMPLATE
  web-1   side        ready; pod terminating                        3m10s    1 (exit 3)           acme/side:v2   <none>
  web-2   side        ready; pod of revision web-a                        3m10s    1 (exit 3)           acme/side:v2   same
                              mesh        updating from acme/side:v1   <none>   1 (exit 3)           acme/side:v2   acme/side:v1 (pinned)
";
    assert_eq!(squeezed(&shown), squeezed(expected), "{shown}");
    let wide = written(StatusFormat::Wide, &[web], true);
    for text in ["uid-web-1", "node-a", "sha256:a", "id-1", "IMAGE ID"] {
        assert!(wide.contains(text), "{text}: {wide}");
    }
}

/// The words of each line: the widths of columns are the table's business.
fn squeezed(text: &str) -> Vec<String> {
    text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

#[test]
fn state_and_name_stay_where_it_is_narrow() {
    let name = "web-6b867cfc99-2x7kq";
    let (crash, _) = conditions().into_iter().find(|(_, words)| words.starts_with("FAILED")).unwrap();
    let mut app = report(ready(), Comparison::Same);
    app.container = "app".into();
    let web = [workload("web", vec![pod(name, PodState::Failed, vec![app, report(crash, Comparison::Same)])])];
    for (width, heads) in [
        (40, "POD STATE"),
        (60, "POD CONTAINER STATE"),
        (80, "POD CONTAINER STATE RESTARTS IMAGE"),
        (120, "POD CONTAINER STATE AGE RESTARTS IMAGE"),
    ] {
        let shown = written_at(Some(width), StatusFormat::Text, &web, true);
        let table: Vec<&str> = shown.lines().skip_while(|line| !line.contains("STATE")).collect();
        assert_eq!(squeezed(table[0]), [heads], "{width}: {shown}");
        assert!(table[1].contains(name) && shown.contains("CrashLoopBackOff"), "{width}: {shown}");
        assert!(table.iter().all(|line| line.chars().count() <= usize::from(width)), "{width}: {shown}");
    }
    let narrow = written_at(Some(40), StatusFormat::Text, &web, true);
    assert!(narrow.contains("  app: ready\n") && narrow.contains("  side: FAILED:\n"), "{narrow}");
}

#[test]
fn what_the_scheduler_says_of_several_pods_is_said_once() {
    let waits = || Condition::Starting { waiting: None };
    let unscheduled = |name: &str| {
        let containers = vec![report(waits(), Comparison::Same), report(waits(), Comparison::Same)];
        let pod = pod(name, PodState::NotReady, containers);
        PodStatus { unscheduled: Some("0/1 nodes are available".into()), ..pod }
    };
    let shown = written(StatusFormat::Text, &[workload("web", ["web-1", "web-2"].map(unscheduled).into())], true);
    assert_eq!(shown.matches("0/1 nodes").count(), 1, "{shown}");
    assert!(shown.ends_with("  pod/web-1, pod/web-2  not scheduled: 0/1 nodes are available\n"), "{shown}");
    assert!(shown.contains(" not scheduled  ") && !shown.contains("pod not ready"), "{shown}");
}

#[test]
fn without_a_target_only_what_there_is_something_to_say_of_is_shown() {
    let fine = || workload("fine", vec![pod("fine-1", PodState::Ready, vec![report(ready(), Comparison::Same)])]);
    let drifted = workload("odd", vec![pod("odd-1", PodState::Drifted, vec![report(ready(), Comparison::Drifted)])]);
    let both = [fine(), drifted];
    let shown = written(StatusFormat::Text, &both, false);
    assert!(shown.starts_with("deployment/odd") && shown.ends_with("\n1 other workload is up to date.\n"), "{shown}");
    assert!(written(StatusFormat::Text, &both, true).contains("fine-1"));
    for asked_for in [false, true] {
        assert_eq!(written(StatusFormat::Name, &both, asked_for), "deployment.apps/fine\ndeployment.apps/odd\n");
    }
    let alone = "  WORKLOAD          NAMESPACE   PODS\n  deployment/fine   prod        1 pod: 1 ready\n";
    assert_eq!(written(StatusFormat::Text, &[fine()], false), alone);
}

#[test]
fn of_many_pods_those_that_are_ready_are_counted() {
    let ready = |index: usize| pod(&format!("web-{index}"), PodState::Ready, vec![report(ready(), Comparison::Same)]);
    let mut pods: Vec<PodStatus> = (0..60).map(ready).collect();
    pods[7].state = PodState::Drifted;
    let shown = written(StatusFormat::Text, &[workload("web", pods.clone())], true);
    assert!(shown.contains("web-7 ") && !shown.contains("web-8 "), "{shown}");
    assert!(shown.ends_with("  59 other pods not listed; -o wide lists every pod\n"), "{shown}");
    assert!(written(StatusFormat::Wide, &[workload("web", pods)], true).contains("web-59 "));
}

#[test]
fn a_script_gets_one_document_with_everything() {
    let mut web = workload("web", Vec::new());
    for (index, (condition, _)) in conditions().into_iter().enumerate() {
        web.pods.push(pod(&format!("web-{index}"), PodState::Failed, vec![report(condition, Comparison::Pending)]));
    }
    web.owner = vec![OwnerState::RollingOut { status: "1 of 2".into() }];
    let fine = workload("fine", Vec::new());
    let text = written(StatusFormat::Json, &[web.clone(), fine], false);
    assert!(!text.contains('\u{1b}'));
    let document: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&document["apiVersion"], &document["kind"]), (&json!("kubectl-inplace.io/v1alpha1"), &json!("Status")));
    assert_eq!(document["workloads"][1]["notable"], false);
    let first = &document["workloads"][0];
    assert_eq!(
        (&first["notable"], &first["held"], &first["summary"]["failed"]),
        (&json!(true), &Value::Null, &json!(11))
    );
    assert_eq!(first["owner"][0]["state"], "rollingOut");
    let failed = &first["pods"][7]["containers"][0];
    assert_eq!(
        (&failed["condition"], &failed["reason"], &failed["exitCode"], &failed["comparison"]),
        (&json!("failed"), &json!("CrashLoopBackOff"), &json!(3), &json!("pending"))
    );
    web.lock = Err("x".into());
    let yaml = written(StatusFormat::Yaml, &[web], false);
    assert!(yaml.contains("kind: Status") && yaml.contains("unreadable: x"), "{yaml}");
}
