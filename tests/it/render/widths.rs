//! Plans, a status and a history in terminals of four widths.

use std::collections::BTreeSet;

use engine::change::FieldChanges;
use engine::k8s::failure::Failure;
use engine::k8s::names::{PodKey, WorkloadRef};
use engine::k8s::pod::ContainerList;
use engine::kinds::WorkloadKind;
use engine::plan::updates::{Course, Update, UpdatedImage, WorkloadUpdates};
use engine::state::outcome::EndResult;
use engine::status::{Comparison, Condition, ContainerReport, PodState, PodStatus, TemplateContainer, WorkloadStatus};
use kubectl_inplace::render::{
    DocumentFormat, HistoryContext, PlanFormat, StatusContext, StatusFormat, Style, history, status,
};

use super::snapshots::Snapshots;
use super::{plans, written_plan};

const WIDTHS: [u16; 4] = [40, 80, 120, 200];
const BEGAN: &str = "2026-03-01T10:00:00Z";
const NOW: &str = "2026-03-01T10:03:10Z";
const FROM: &str = "registry.example/team/payments-sidecar:v1.27.1";
const TO: &str = "registry.example/team/payments-sidecar:v1.27.2";

pub(super) fn check(snapshots: &mut Snapshots) {
    for name in ["in-place", "mixed", "durable", "several"] {
        let sample = plans::samples().into_iter().find(|sample| sample.name == name).unwrap();
        check_one(snapshots, &format!("plan-{name}"), |style| {
            let (out, err) = written_plan(PlanFormat::Text, &sample, style);
            format!("{out}--- stderr\n{err}")
        });
    }
    check_one(snapshots, "status", |style| status_of(&[web()], true, style));
    let other = WorkloadStatus { pods: vec![ready("worker-0")], ..workload("worker") };
    check_one(snapshots, "status-several", |style| status_of(&[web(), other.clone()], false, style));
    check_one(snapshots, "status-ready", |style| {
        let long = WorkloadStatus { pods: vec![ready("web-0")], ..workload("payments-reconciliation-worker") };
        status_of(&[long, other.clone()], false, style)
    });
    check_one(snapshots, "history", history_of);
}

fn check_one(snapshots: &mut Snapshots, name: &str, write: impl Fn(&Style) -> String) {
    let mut text = String::new();
    for width in WIDTHS {
        let written = write(&Style { width: Some(width), ..Style::PLAIN });
        // A command stays whole: it is copied from the screen.
        let too_long = |line: &&str| line.chars().count() > usize::from(width) && !line.contains("kubectl");
        assert_eq!(written.lines().find(too_long), None, "{name} in {width} columns");
        text.push_str(&format!("--- {width} columns\n{written}"));
    }
    snapshots.check(&format!("{name}-widths"), &text);
}

fn workload_ref(name: &str) -> WorkloadRef {
    WorkloadRef { kind: WorkloadKind::Deployment, namespace: "prod".into(), name: name.into() }
}

fn workload(name: &str) -> WorkloadStatus {
    WorkloadStatus {
        workload: workload_ref(name),
        uid: "u".into(),
        desired: 1,
        lock: Ok(None),
        life: None,
        state: engine::plan::RolloutState::None,
        next: vec![],
        owner: vec![],
        template: vec![TemplateContainer {
            container: "side".into(),
            list: ContainerList::Containers,
            image: TO.into(),
        }],
        pods: vec![],
        rewritten: vec![],
        not_read: vec![],
        may_be_rewritten: BTreeSet::new(),
    }
}

fn pod(name: &str, state: PodState, image: &str, condition: Condition, comparison: Comparison) -> PodStatus {
    let container = ContainerReport {
        container: "side".into(),
        list: ContainerList::Containers,
        image: image.into(),
        image_id: None,
        asked: Some(TO.into()),
        before: None,
        restarts: 1,
        last_end: None,
        again: None,
        condition,
        comparison,
    };
    PodStatus {
        key: PodKey { namespace: "prod".into(), name: name.into(), uid: format!("uid-{name}").into() },
        node: "ip-10-0-12-7.eu-central-1.compute.internal".into(),
        state,
        ready: state == PodState::Ready,
        ready_since: Some(BEGAN.into()),
        unscheduled: None,
        older_revision: None,
        update: None,
        out_of_services: None,
        resizing: None,
        resources: vec![],
        missing_labels: Default::default(),
        unreadable_record: false,
        containers: vec![container],
    }
}

fn ready(name: &str) -> PodStatus {
    let running = Condition::Running { ready: true, since: Some(BEGAN.into()) };
    pod(name, PodState::Ready, TO, running, Comparison::Same)
}

fn web() -> WorkloadStatus {
    let failure = Failure {
        container: Some("side".into()),
        reason: "CrashLoopBackOff".into(),
        message: "back-off 10s restarting failed container".into(),
        exit_code: Some(3),
        stays_down: false,
    };
    let running = || Condition::Running { ready: true, since: Some(BEGAN.into()) };
    let pods = vec![
        pod("web-6b867cfc99-2x7kq", PodState::Failed, TO, Condition::Failed(failure), Comparison::Same),
        pod("web-6b867cfc99-b9t4z", PodState::Updating, TO, Condition::Updating { waiting: None }, Comparison::Same),
        pod("web-6b867cfc99-hx2lp", PodState::Drifted, FROM, running(), Comparison::Drifted),
        ready("web-6b867cfc99-vs2mz"),
    ];
    WorkloadStatus { desired: 4, pods, ..workload("web") }
}

fn status_of(workloads: &[WorkloadStatus], asked_for: bool, style: &Style) -> String {
    let context =
        StatusContext { asked_for, namespace: Some("prod"), not_read: &[], now: NOW, commands: &|_| Vec::new() };
    let mut out = Vec::new();
    status(StatusFormat::Text, workloads, &context, style, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn history_of(style: &Style) -> String {
    let update = |id: &str, to: &str, course, reason: Option<&str>| Update {
        id: id.into(),
        course,
        who: Some("system:serviceaccount:ci:deployer".into()),
        began: Some(BEGAN.into()),
        ended: Some("2026-03-01T10:01:30Z".into()),
        reason: reason.map(str::to_owned),
        images: vec![UpdatedImage { container: "side".into(), from: FROM.into(), to: to.into(), image_id: None }],
        fields: FieldChanges::default(),
    };
    let by = "20260301-100400-043e93".into();
    let updates = vec![
        update("20260301-100000-358fa3", TO, Course::Ended(EndResult::Complete), Some("bump of the sidecar, OPS-1422")),
        update("20260301-100200-3a83b4", "registry.example/other/sidecar:v3", Course::Replaced { by }, None),
    ];
    let of_web = WorkloadUpdates {
        workload: workload_ref("web"),
        uid: "u".into(),
        updates,
        unreadable: vec![],
        not_read: vec![],
    };
    let context = HistoryContext { now: NOW, commands: &|_| Vec::new() };
    let mut out = Vec::new();
    history(DocumentFormat::Text, &[of_web], &context, style, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}
