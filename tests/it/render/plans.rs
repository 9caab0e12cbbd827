//! Plans that every format is fed.

use engine::change::FieldChanges;
use engine::change::reason::{Ended, NotStartedAgain, Own, Reason, Warning};
use engine::change::{Change, TemplateImage};
use engine::k8s::names::{ContainerName, PodKey, Uid, WorkloadRef};
use engine::k8s::pod::ContainerList;
use engine::kinds::{Course, IfResumed, WorkloadKind};
use engine::plan::skipped::SkippedBecause;
use engine::plan::{
    ContainerPlan, DurablePlan, Effect, ImageChange, Plan, PodPlan, PodVerdict, SkippedChange, SkippedObject, Verdict,
    WorkloadPlan,
};
use engine::report::hand_over::{FieldConflict, HandOver, NextApply};
use engine::rollout::Policy;
use engine::rollout::pre_pull::{ImagePull, Pull, PullAsks};
use engine::state::durable::rollout::{HistoryStep, RevisionRef, Rollout};

use super::warnings;

pub(super) struct Sample {
    pub(super) name: &'static str,
    pub(super) plan: Plan,
}

/// ESC, carriage return, a line that pretends to be the program's, right-to-left override, zero width, C1.
pub(super) const HOSTILE: &str = "\u{1b}[2J\u{7}\r\nFORGED \u{202e}elif\u{200b} \u{9b}31m";

pub(super) fn samples() -> Vec<Sample> {
    let sample = |name, workloads| Sample { name, plan: Plan { workloads, skipped: Vec::new() } };
    let beside = |sample: Sample, skipped| Sample { plan: Plan { skipped, ..sample.plan }, ..sample };
    vec![
        sample("empty", vec![]),
        sample("in-place", vec![in_place()]),
        sample("mixed", vec![mixed()]),
        sample("durable", vec![durable()]),
        sample("evidence", vec![evidence()]),
        sample("nothing-to-do", vec![nothing_to_do()]),
        sample("no-pods", vec![no_pods()]),
        sample("many-pods", vec![many_pods()]),
        sample("several", vec![in_place(), nothing_to_do(), no_pods()]),
        sample("every-reason", vec![every_reason()]),
        sample("stale", vec![stale()]),
        beside(sample("hostile", vec![hostile()]), vec![skipped(HOSTILE, SkippedChange::NotCompared)]),
        beside(sample("offline", offline()), {
            let changes = [SkippedChange::PodTemplateChanged, SkippedChange::Changed, SkippedChange::Removed];
            changes.into_iter().map(|change| skipped("backup", change)).collect()
        }),
    ]
}

fn skipped(name: &str, change: SkippedChange) -> SkippedObject {
    let [api_version, kind, namespace, name] = ["batch/v1", "CronJob", name, name].map(str::to_owned);
    SkippedObject { api_version, kind, namespace, name, why: SkippedBecause::OtherKind, change }
}

/// A Deployment whose template is changed too.
fn durable() -> WorkloadPlan {
    let image = TemplateImage {
        list: ContainerList::Containers,
        from: "acme/side:1.27.1".into(),
        to: "acme/side:1.27.2".into(),
        ..TemplateImage::default()
    };
    let change = Change { images: [("side".into(), image)].into(), ..Change::default() };
    let rollout = Rollout {
        change,
        outgoing: Some(RevisionRef { name: "web-6b867cfc99".into(), uid: "rs-uid".into(), revision: 4 }),
        history: HistoryStep::Swap(RevisionRef { name: "web-5c8d7f6b9".into(), uid: "old-uid".into(), revision: 3 }),
        ..Rollout::default()
    };
    let durable = DurablePlan { rollout, revision: Some(5), takes_over: None };
    WorkloadPlan { durable: Some(durable), pods_only: false, warnings: vec![], ..in_place() }
}

pub(super) fn workload() -> WorkloadRef {
    WorkloadRef { kind: WorkloadKind::Deployment, namespace: "prod".into(), name: "web".into() }
}

pub(super) fn policy() -> Policy {
    Policy {
        max_unavailable: 1,
        min_ready_seconds_given: None,
        owner_min_ready_seconds: 0,
        timeout_given: None,
        total_timeout: None,
        ordered: false,
        ..Policy::default()
    }
}

pub(super) fn key(name: &str) -> PodKey {
    PodKey { namespace: "prod".into(), name: name.into(), uid: Uid::from(format!("uid-of-{name}")) }
}

fn side(from: &str) -> (ContainerName, ImageChange) {
    ("side".into(), ImageChange::new(from, "acme/side:1.27.2", Effect::Restart))
}

fn pod(name: &str, node: &str, verdict: PodVerdict) -> PodPlan {
    let changes = match verdict {
        PodVerdict::Update => [side("acme/side:1.27.1")].into(),
        PodVerdict::InProgress => [side("acme/side:1.27.2")].into(),
        PodVerdict::AlreadyThere | PodVerdict::Blocked | PodVerdict::Skipped => [].into(),
    };
    PodPlan {
        pod: key(name),
        node: node.into(),
        kubelet: None,
        verdict,
        changes,
        fields: FieldChanges::default(),
        drain: None,
        unrestored: None,
        reasons: vec![],
    }
}

fn blocked(name: &str, reasons: Vec<Reason>) -> PodPlan {
    PodPlan { reasons, ..pod(name, "node-b", PodVerdict::Blocked) }
}

fn container(name: &str, from: &str, to: Option<&str>, effect: Effect) -> ContainerPlan {
    ContainerPlan {
        container: name.into(),
        list: ContainerList::Containers,
        from: from.into(),
        to: to.map(str::to_owned),
        effect,
        resize_restarts: false,
        is_down: false,
    }
}

fn in_place() -> WorkloadPlan {
    WorkloadPlan {
        workload: workload(),
        uid: "uid-of-web".into(),
        verdict: Verdict::InPlace,
        reasons: vec![],
        warnings: vec![Warning::TemplateKeepsImage, Warning::NoReadinessProbe { container: "side".into() }],
        containers: vec![
            container("side", "acme/side:1.27.1", Some("acme/side:1.27.2"), Effect::Restart),
            container("app", "acme/app:9.3", None, Effect::Unchanged),
        ],
        fields: FieldChanges::default(),
        pods: vec![
            pod("web-6b867cfc99-2x7kq", "node-a", PodVerdict::Update),
            pod("web-6b867cfc99-b9t4z", "node-b", PodVerdict::Update),
            pod("web-6b867cfc99-kk2ln", "node-a", PodVerdict::AlreadyThere),
        ],
        policy: policy(),
        controllers: ["uid-of-web-6b867cfc99".into()].into(),
        replicas: 3,
        durable: None,
        slowed_by: None,
        pulls: Vec::new(),
        pre_pull: engine::rollout::pre_pull::PrePull::Never,
        hooks: Default::default(),
        restarts_the_same: false,
        pods_only: true,
        missing_permissions: Vec::new(),
        estimate_seconds: 40.0,
        checked_by_server: true,
        hand_over: None,
    }
}

fn hand_over(owner: &str, next: NextApply) -> Option<HandOver> {
    Some(HandOver { owner: owner.to_owned(), next })
}

/// Every verdict of a pod, a plain init container, a pod of another image, two pods with the same hint.
fn mixed() -> WorkloadPlan {
    let mut plan = in_place();
    plan.verdict = Verdict::NotEligible;
    let init = container("init-db", "acme/migrate:1", Some("acme/migrate:2"), Effect::NoEffectNow);
    plan.containers.push(ContainerPlan { list: ContainerList::InitContainers, ..init });
    let mut other = pod("web-6b867cfc99-old4x", "node-with-a-longer-name", PodVerdict::Update);
    other.changes = [side("acme/side:1.26.0")].into();
    let migrate = ImageChange::new("acme/migrate:1", "acme/migrate:2", Effect::NoEffectNow);
    other.changes.insert("init-db".into(), migrate);
    plan.pods.push(other);
    plan.pods.push(pod("web-6b867cfc99-going", "node-a", PodVerdict::InProgress));
    plan.pods.push(blocked("web-6b867cfc99-zzzzz", vec![Reason::PodTerminating]));
    plan.pods.push(blocked(
        "web-6b867cfc99-yyyyy",
        vec![
            Reason::PodTerminating,
            Reason::ContainerNotInPod { list: ContainerList::Containers, container: "side".into() },
        ],
    ));
    let finished = Reason::PodFinished { phase: "Failed".into() };
    plan.pods.push(PodPlan { reasons: vec![finished], ..pod("web-6b867cfc99-ended", "", PodVerdict::Skipped) });
    plan
}

/// What is known of kubelets and containers, in full, in part and not at all; a sidecar in progress in every pod.
fn evidence() -> WorkloadPlan {
    let mut plan = in_place();
    let known = ImageChange {
        image_id: Some("docker.io/acme/side@sha256:4f5c1a09".into()),
        hash_from: Some("123e4567".into()),
        hash_to: Some("99887766".into()),
        ..ImageChange::new("", "", Effect::Restart)
    };
    let unknown = || ImageChange::new("", "", Effect::Restart);
    let of = |name: &str, kubelet: Option<&str>, verdict: PodVerdict, known: ImageChange| {
        let mut plan =
            PodPlan { kubelet: kubelet.map(|version| version.parse().unwrap()), ..pod(name, "node-a", verdict) };
        for change in plan.changes.values_mut() {
            let ImageChange { from, to, effect, .. } = change.clone();
            *change = ImageChange { from, to, effect, ..known.clone() };
        }
        plan
    };
    let same = ImageChange { hash_to: known.hash_from.clone(), ..known.clone() };
    let older = ImageChange { hash_from: None, hash_to: None, ..known.clone() };
    plan.pods = vec![
        of("web-0", Some("1.36"), PodVerdict::Update, known.clone()),
        of("web-1", Some("1.36"), PodVerdict::Update, same),
        of("web-2", Some("1.30"), PodVerdict::Update, older),
        of("web-3", None, PodVerdict::Update, unknown()),
        of("web-4", None, PodVerdict::AlreadyThere, unknown()),
    ];
    plan.containers.push(container("proxy", "acme/proxy:2", None, Effect::Unchanged));
    plan.containers.push(container("log", "acme/log:2", None, Effect::Unchanged));
    let waiting = ImageChange { hash_from: None, waiting: Some("ErrImagePull".into()), ..known.clone() };
    let mut going = of("web-5", Some("1.36"), PodVerdict::InProgress, waiting.clone());
    let proxy = ImageChange { from: "acme/proxy:1".into(), to: "acme/proxy:2".into(), ..waiting };
    let new = ImageChange::new("acme/log:2", "acme/log:2", Effect::Restart);
    let log = ImageChange { hash_to: known.hash_to, ..new };
    going.changes = [("proxy".into(), proxy), ("log".into(), log)].into();
    plan.pods.push(going);
    // Of some pods the image before is another one, and of some it is pulled first.
    let side = ContainerName::from("side");
    if let Some(change) = plan.pods.get_mut(1).and_then(|pod| pod.changes.get_mut(&side)) {
        change.from = "acme/side:1.26.0".into();
    }
    plan.pods.get_mut(3).into_iter().for_each(|pod| pod.node = "node-b".into());
    let image = ImagePull { image: "acme/side:1.27.2".into(), policy: "IfNotPresent".into() };
    plan.pulls = vec![Pull {
        node: "node-a".into(),
        secrets: vec![],
        service_account: "default".into(),
        images: vec![image],
        asks: PullAsks::Little,
    }];
    plan
}

fn nothing_to_do() -> WorkloadPlan {
    let mut plan = in_place();
    plan.verdict = Verdict::NothingToDo;
    plan.warnings.clear();
    plan.containers = vec![container("side", "acme/side:1.27.2", None, Effect::Unchanged)];
    plan.pods = vec![pod("web-6b867cfc99-2x7kq", "node-a", PodVerdict::AlreadyThere)];
    let conflict = FieldConflict::of(
        ".spec.template.spec.containers[name=\"app\"].image",
        "conflict with \"kubectl-edit\" using apps/v1",
    );
    plan.hand_over = hand_over("Helm", NextApply::Conflict { conflicts: vec![conflict] });
    plan
}

fn no_pods() -> WorkloadPlan {
    let mut plan = in_place();
    plan.verdict = Verdict::NotEligible;
    plan.warnings.clear();
    plan.reasons = vec![Reason::NoPods];
    plan.pods.clear();
    plan
}

fn many_pods() -> WorkloadPlan {
    let mut plan = in_place();
    plan.policy.max_unavailable = 25;
    plan.estimate_seconds = 3_785.0;
    plan.checked_by_server = false;
    let verdicts = [(100, PodVerdict::Update), (14, PodVerdict::AlreadyThere), (13, PodVerdict::InProgress)];
    let pods = verdicts.into_iter().flat_map(|(number, verdict)| {
        (0..number).map(move |index| pod(&format!("web-{verdict:?}-{index}").to_lowercase(), "node-a", verdict))
    });
    plan.pods = pods.collect();
    plan
}

/// A saved plan that met another state than it was made from.
fn stale() -> WorkloadPlan {
    let mut plan = in_place();
    plan.verdict = Verdict::NotEligible;
    let stale = |path: &str, moved: &str| Reason::PlanStale { path: path.into(), moved: moved.into() };
    plan.reasons = vec![
        stale(
            "template.spec.containers[app].env",
            "the template of deployment/web changed: template.spec.containers[app].env",
        ),
        stale("metadata.uid", "pod/web-6b867cfc99-2x7kq is gone, or another pod has its name"),
    ];
    plan
}

#[expect(clippy::too_many_lines, reason = "a table")]
fn every_reason() -> WorkloadPlan {
    let container = || ContainerName::from("side");
    let mut plan = no_pods();
    let list = ContainerList::InitContainers;
    let path = || "metadata.annotations[acme.example/level]".to_owned();
    plan.reasons = vec![
        Reason::PermissionMissing {
            verb: "patch".into(),
            resource: "pods".into(),
            namespace: "prod".into(),
            message: "forbidden".into(),
            role: "apply deployment".into(),
        },
        Reason::TemplateFieldNotInPlace { path: "spec.containers[app].env".into() },
        Reason::VolumeClaimTemplateChanges { path: "spec.volumeClaimTemplates[data].spec.storageClassName".into() },
        Reason::ContainerAdded { list, container: container() },
        Reason::ContainerRemoved { list, container: container() },
        Reason::ContainerRenamed { list, container: container(), to: "sidecar".into() },
        Reason::QosClassChanges { from: "Burstable".into(), to: "Guaranteed".into() },
        Reason::SelectorLabelChanges { key: "app.kubernetes.io/name".into() },
        Reason::TolerationRemoved { toleration: "dedicated=gpu:NoSchedule".into() },
        Reason::MetadataKeyReserved { path: "metadata.labels.pod-template-hash".into() },
        Reason::MetadataReadByContainer { list, container: container(), path: path() },
        Reason::ResourceRemoved { path: "spec.containers[side].resources.limits.cpu".into() },
        Reason::RequestAboveLimit {
            path: "spec.containers[side].resources.requests.cpu".into(),
            value: "200m".into(),
            limit: "100m".into(),
        },
        Reason::FractionalMemory {
            path: "spec.containers[side].resources.requests.memory".into(),
            value: "107374182400m".into(),
        },
        Reason::PodRequestTooSmall { path: "spec.resources.requests.cpu".into() },
        Reason::LimitAbovePod { path: "spec.containers[side].resources.limits.memory".into() },
        Reason::PodLimitRestarts { container: container(), path: "spec.resources.limits.memory".into() },
        Reason::PodResizeNotSupported { node: "node-a".into() },
        Reason::ResizeNotSupported { node: "node-a".into() },
        Reason::WindowsPod,
        Reason::RestartRequested,
        Reason::ContainerNotFound {
            container: "sied".into(),
            suggestion: Some("side".into()),
            known: vec!["app".into(), container()],
        },
        Reason::ContainerNotFound { container: "x".into(), suggestion: None, known: vec!["app".into()] },
        Reason::ContainerNotInPod { list, container: container() },
        Reason::ImageMalformed { list, container: container(), image: "A B".into(), why: "it has a blank".into() },
        Reason::ImageWhitespace { list, container: container(), image: "acme/side:2\n".into() },
        Reason::DigestUnknown { list, container: container(), why: "it has no container yet".into() },
        Reason::PodTerminating,
        Reason::PodFinished { phase: "Succeeded".into() },
        Reason::MirrorPod,
        Reason::RestartPolicyNotAlways(Box::new(NotStartedAgain {
            own: None,
            policy: "OnFailure".into(),
            is_never: false,
            ended: None,
        })),
        Reason::RestartPolicyNotAlways(Box::new(NotStartedAgain {
            own: Some(Own { list, container: container() }),
            policy: "Never".into(),
            is_never: true,
            ended: None,
        })),
        Reason::RestartPolicyNotAlways(Box::new(NotStartedAgain {
            own: Some(Own { list, container: container() }),
            policy: "Never".into(),
            is_never: true,
            ended: Some(Ended { pod: key("web-1"), container: container(), exit_code: 3 }),
        })),
        Reason::SidecarNeedsNewerKubelet { container: container(), kubelet: "1.31".into() },
        Reason::SidecarStartupPending { container: container() },
        Reason::OrphanPod,
        Reason::PodOfOldRevision { revision: "web-5d9c".into(), current: "web-6b86".into() },
        Reason::NoPods,
        Reason::DisruptionBudgetBlocks {
            budget: "web".into(),
            why: "of 3 pods 3 must be healthy (minAvailable 3)".into(),
            pods: 3,
        },
        Reason::PodIsControlled {
            kind: "ReplicaSet".into(),
            name: "web-6b86".into(),
            workload: Some("deployment/web".into()),
        },
        Reason::PodIsControlled { kind: "Job".into(), name: "once".into(), workload: None },
        Reason::OwnerRollingOut { status: "1 of 3 replicas are updated".into() },
        Reason::OwnerNotObserved,
        Reason::OwnerPaused { if_resumed: IfResumed::ReplacesPods, by_a_rollout: true },
        Reason::OwnerPaused { if_resumed: IfResumed::ReplacesPods, by_a_rollout: false },
        Reason::OwnerIsControlled { kind: "Postgres".into(), name: "db".into() },
        Reason::LeftToController {
            path: "spec.updateStrategy.partition".into(),
            what: "which pods stay as they are (2)".into(),
        },
        Reason::SidecarNotUpdated {
            path: "spec.containers[side].env".into(),
            why: "changes, and its controller gives running pods images alone; new pods get it".into(),
        },
        Reason::UpdateStrategyHolds { path: "spec.updateStrategy.paused".into(), what: "is true".into() },
        Reason::RolloutHeld {
            began: "3m ago".into(),
            id: "20261105t101500-abcd".into(),
            who: "jane".into(),
            since: "2026-11-05T10:15:00Z".into(),
            state: "running".into(),
            run: "run by jane on laptop (process 4711), at work, last sign of life 3s ago".into(),
            makes_way: true,
        },
        Reason::PodNotFound { pod: "web-6b86-x".into(), suggestion: Some("web-6b86-y".into()) },
        Reason::PodNotFound { pod: "x".into(), suggestion: None },
        Reason::NoPodOnNode { node: "node-x".into(), suggestion: Some("node-y".into()) },
        Reason::NoPodOnNode { node: "x".into(), suggestion: None },
        Reason::SubsetNotDurable,
        Reason::OwnerTerminating,
        Reason::NoUnavailabilityAllowed { path: "spec.strategy.rollingUpdate.maxUnavailable".into() },
        Reason::ReplicaSetOfOldRevision { deployment: "web".into() },
        Reason::ServerTooOld { server: "1.22".into(), needs: "1.23".into() },
        Reason::KruiseNotInstalled,
        Reason::AdmissionRefused { message: "images must come from registry.k8s.io".into(), others: vec![] },
        Reason::AdmissionRefused {
            message: "minimum cpu usage per Container is 5m, but request is 1m".into(),
            others: vec![container()],
        },
        Reason::PullPodRefused { images: "acme/side:2".into(), message: "exceeded quota: team".into() },
        Reason::OwnerFieldImmutable { path: "spec.serviceName".into() },
        Reason::ControllerNotInPlace {
            path: "spec.updateStrategy.type".into(),
            course: Course::ReplacesPods,
            because: "the type is ReCreate".into(),
        },
        Reason::ControllerNotInPlace {
            path: "spec.updateStrategy.maxSurge".into(),
            course: Course::RefusesChange,
            because: "the type is InPlaceOnly".into(),
        },
        Reason::ControllerNotInPlace {
            path: "spec.containers[side].resources.limits.cpu".into(),
            course: Course::NotKnown,
            because: "it goes by a feature gate".into(),
        },
        Reason::ManifestsNotMergeable { message: "spec.containers[0] has no name".into() },
        Reason::AdmissionAdds {
            values: vec![("spec.containers[side].resources.limits.cpu".into(), Some("100m".into()))],
        },
        Reason::AdmissionRewrites { list, container: container(), image: "mirror.example/acme/side:2".into() },
    ];
    plan.warnings = warnings::every();
    plan
}

/// Plans of two manifests: there are no pods, no uid, and here and there no namespace.
fn offline() -> Vec<WorkloadPlan> {
    let plan = |namespace: &str| WorkloadPlan {
        uid: "".into(),
        workload: WorkloadRef { namespace: namespace.into(), ..workload() },
        pods: vec![],
        controllers: [].into(),
        warnings: vec![],
        pods_only: false,
        estimate_seconds: 0.0,
        checked_by_server: false,
        ..in_place()
    };
    let init = |name: &str, effect| ContainerPlan {
        list: ContainerList::InitContainers,
        ..container(name, "acme/init:1", Some("acme/init:2"), effect)
    };
    let mut in_place = plan("");
    in_place.containers.extend([init("mesh", Effect::Restart), init("setup", Effect::NoEffectNow)]);
    in_place.warnings = vec![Warning::NoReadinessProbe { container: "side".into() }];
    let mut blocked = plan("prod");
    blocked.verdict = Verdict::NotEligible;
    blocked.reasons = vec![
        Reason::TemplateFieldNotInPlace { path: "spec.containers[app].env".into() },
        Reason::OwnerFieldImmutable { path: "spec.volumeClaimTemplates".into() },
        Reason::ManifestsNotMergeable { message: "spec.containers[0] has no name".into() },
    ];
    let alone = |warning| WorkloadPlan {
        verdict: Verdict::NothingToDo,
        containers: vec![],
        warnings: vec![warning],
        ..plan("prod")
    };
    let by_controller = WorkloadPlan {
        verdict: Verdict::InPlaceByController,
        warnings: vec![Warning::UpdatedByController { limits: vec![], paths: vec![] }],
        ..plan("prod")
    };
    let later = WorkloadPlan { containers: vec![init("setup", Effect::NoEffectNow)], ..plan("") };
    vec![in_place, by_controller, later, blocked, alone(Warning::WorkloadAdded), alone(Warning::WorkloadRemoved)]
}

fn hostile() -> WorkloadPlan {
    let mut plan = in_place();
    plan.verdict = Verdict::NotEligible;
    plan.workload.name = format!("web{HOSTILE}");
    plan.workload.namespace = HOSTILE.into();
    plan.uid = HOSTILE.into();
    plan.reasons = vec![
        Reason::TemplateFieldNotInPlace { path: format!("spec{HOSTILE}") },
        Reason::AdmissionRefused { message: "x".repeat(10_000), others: vec![HOSTILE.into()] },
    ];
    plan.warnings = vec![
        Warning::ManagedByArgoCd { application: HOSTILE.into(), images: vec![HOSTILE.into()] },
        Warning::ServerWarning { message: HOSTILE.into() },
    ];
    plan.hand_over = hand_over(HOSTILE, NextApply::Refused { message: HOSTILE.into() });
    plan.containers = vec![container(HOSTILE, HOSTILE, Some(HOSTILE), Effect::Restart)];
    let mut pod = pod(&format!("web-0{HOSTILE}"), HOSTILE, PodVerdict::Update);
    pod.changes =
        [(ContainerName::from(HOSTILE), ImageChange::new(format!("{HOSTILE}1"), HOSTILE, Effect::Restart))].into();
    plan.pods = vec![pod, blocked("web-1", vec![Reason::AdmissionRefused { message: HOSTILE.into(), others: vec![] }])];
    plan
}
