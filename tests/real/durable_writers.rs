//! Another writer between any two steps of a durable rollout: it completes, or leaves theirs to them; never is anything of
//! it left that blocks, and what follows ends well.

use crate::support::{Gate, Kind, Moment, Namespace, Output, Owner, registry, tag_manifest};

/// More writes than any run here makes.
const MOST_WRITES: usize = 11;

/// Who comes between.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Writer {
    Scale,
    Autoscaler,
    Label,
    /// A reconciliation with the manifest as it is in the cluster by then.
    Flux,
    OtherContainer,
    OtherImage,
    Restart,
    Pause,
    Resume,
    Delete,
    OldManifest,
    OldServerSide,
    ThirdServerSide,
}

impl Writer {
    /// Whether the rollout goes on beside it, and no pod is replaced.
    fn is_harmless(self) -> bool {
        matches!(self, Self::Scale | Self::Autoscaler | Self::Label | Self::Flux)
    }

    /// Whether the pods stay: then each run restarts another container, because the kubelet puts off what starts the same
    /// image in the same container again and again.
    fn keeps_pods(self) -> bool {
        self.is_harmless() || self == Self::Pause
    }

    /// Acts. What cannot be done at that point is refused by kubectl, and that is fine.
    fn act(self, namespace: &Namespace, owner: &Owner<'_>, tags: &Tags, number: usize) -> Output {
        let reference = &owner.reference();
        let manifest = |tag: &str| tag_manifest(&tag_manifest(&owner.manifest, 1, tag), 2, &tags.other);
        let (old, third) = (&manifest(&tags.old), &manifest(&tags.third));
        let (replicas, third_image) = (2 + number % 2, format!("c1={}/side:{}", registry(), tags.third));
        let other_image = format!("c2={}/side:v{}", registry(), 2 + number % 2);
        let (scale, label) = (format!("--replicas={replicas}"), format!("round={number}"));
        let patch = format!(r#"{{"spec":{{"replicas":{replicas}}}}}"#);
        let server_side = ["apply", "--server-side", "--field-manager=other", "--force-conflicts", "-f", "-"];
        match self {
            Self::Scale => namespace.try_kubectl(&["scale", reference, &scale], ""),
            Self::Autoscaler => {
                namespace.try_kubectl(&["patch", reference, "--subresource=scale", "--type=merge", "-p", &patch], "")
            }
            Self::Label => namespace.try_kubectl(&["label", "--overwrite", reference, &label], ""),
            Self::Flux => {
                owner.reconciled_by_flux(&owner.manifest_now());
                namespace.try_kubectl(&["get", reference, "--show-managed-fields", "-o", "yaml"], "")
            }
            Self::OtherContainer => namespace.try_kubectl(&["set", "image", reference, &other_image], ""),
            Self::OtherImage => namespace.try_kubectl(&["set", "image", reference, &third_image], ""),
            Self::Restart => namespace.try_kubectl(&["rollout", "restart", reference], ""),
            Self::Pause => namespace.try_kubectl(&["rollout", "pause", reference], ""),
            Self::Resume => namespace.try_kubectl(&["rollout", "resume", reference], ""),
            Self::Delete => namespace.try_kubectl(&["delete", reference], ""),
            Self::OldManifest => namespace.try_kubectl(&["apply", "-f", "-"], old),
            Self::OldServerSide => namespace.try_kubectl(&server_side, old),
            Self::ThirdServerSide => namespace.try_kubectl(&server_side, third),
        }
    }
}

/// The tags of one round.
struct Tags {
    /// Of `c1`: before, wanted by the run, and wanted by nobody but the writer.
    old: String,
    wanted: String,
    third: String,
    /// Of `c2`.
    other: String,
}

impl Tags {
    fn of(owner: &Owner<'_>) -> Self {
        let tag = |container| owner.tag(container).trim_start_matches("side:").to_owned();
        let old = tag("c1");
        let (wanted, third) = match old.as_str() {
            "v1" => ("v2", "v3"),
            "v2" => ("v3", "v1"),
            _ => ("v1", "v2"),
        };
        Self { old, wanted: wanted.into(), third: third.into(), other: tag("c2") }
    }
}

/// What the program prints before the command that lets a controller replace the pods.
const LET_IT_ROLL_OUT: &str = "Let its controller go, which may then replace pods: ";

/// Lets the writer act before each write of a run in turn.
fn between_any_two_steps(name: &str, kind: Kind, writer: Writer) {
    let namespace = Namespace::new(name);
    let gate = Gate::open();
    // Where pods are replaced, one is enough; where they stay, each run restarts another container.
    let (replicas, containers) = if writer.keeps_pods() { (2, MOST_WRITES) } else { (1, 2) };
    let owner = Owner::new(&namespace, &gate.api, kind, (replicas, containers), "");
    for number in 1..=MOST_WRITES {
        if !acts_before(&namespace, &gate, &owner, number, writer) {
            assert!(number > 3, "only {number} writes: {:?}", gate.writes());
            return;
        }
        if writer == Writer::Delete {
            namespace.apply(&owner.manifest);
            owner.wait_ready(1);
            owner.wait_settled();
        }
    }
    panic!("{MOST_WRITES} writes and no end: {:?}", gate.writes());
}

/// Returns whether the run came so far.
fn acts_before(namespace: &Namespace, gate: &Gate, owner: &Owner<'_>, number: usize, writer: Writer) -> bool {
    let reference = owner.reference();
    let tags = Tags::of(owner);
    let container = if writer.keeps_pods() { format!("c{number}") } else { "c1".into() };
    let wanted = if writer.keeps_pods() { "v2" } else { &tags.wanted };
    let before = owner.pods();
    gate.stop_at(number, Moment::Before);
    let wanted = format!("{container}=:{wanted}");
    let arguments = ["apply", &reference, &wanted, "--yes", "--min-ready-seconds", "0", "--timeout", "40s"];
    let mut running = namespace.inplace_spawn(&[arguments.as_slice(), &gate.flags()].concat());
    let Some(write) = gate.held(&mut running) else {
        let output = running.wait();
        assert_eq!(output.code, 0, "{output:#?}");
        return false;
    };
    let said = writer.act(namespace, owner, &tags, number);
    gate.releasing();
    let output = running.wait();
    let context =
        format!("{writer:?} ({said:?}) before write {number}, {write}: {output:#?}; all: {:#?}", gate.writes());
    let ways: Vec<&str> = output.stderr.lines().filter(|line| line.contains(": kubectl ")).collect();
    assert!(ways.iter().all(|way| ways.iter().filter(|other| *other == way).count() == 1), "{context}");
    if writer == Writer::Delete {
        assert_eq!(output.code, 6, "{context}");
        return true;
    }
    if writer == Writer::Pause && owner.object()["spec"]["paused"] == true {
        namespace.kubectl(&["rollout", "resume", &reference]);
    }
    if writer.is_harmless() {
        assert_eq!(output.code, 0, "{context}");
        let after = owner.pods();
        let stays = |pod: &serde_json::Value| after.iter().any(|now| now["metadata"]["uid"] == pod["metadata"]["uid"]);
        let gone = before.iter().filter(|pod| !stays(pod)).count();
        assert!(gone <= before.len().saturating_sub(2), "{context}");
        assert_eq!(owner.tag(&container), "side:v2", "{context}");
    } else {
        assert!([0, 6].contains(&output.code), "{context}");
        // Theirs waits under what the rollout had set, until somebody says that pods may be replaced: after a pause, above.
        let release = output.stderr.lines().find_map(|line| line.strip_prefix(LET_IT_ROLL_OUT));
        if let Some(release) = release.filter(|_| writer != Writer::Pause) {
            namespace.paste(&format!("{release} --yes"));
        }
    }
    let status = namespace.try_kubectl(&["rollout", "status", &reference, "--timeout=60s"], "");
    assert_eq!(status.code, 0, "{status:?}: {context}");
    owner.wait_settled_or(&context);
    true
}

macro_rules! writers {
    ($($test:ident: $kind:ident, $writer:ident;)*) => {$(
        #[test]
        fn $test() {
            between_any_two_steps(&stringify!($test).replace('_', "-"), Kind::$kind, Writer::$writer);
        }
    )*};
}

writers! {
    deployment_scaled: Deployment, Scale;
    deployment_autoscaled: Deployment, Autoscaler;
    deployment_labelled: Deployment, Label;
    deployment_of_flux: Deployment, Flux;
    deployment_other_container: Deployment, OtherContainer;
    deployment_other_image: Deployment, OtherImage;
    deployment_restarted: Deployment, Restart;
    deployment_paused: Deployment, Pause;
    deployment_resumed: Deployment, Resume;
    deployment_deleted: Deployment, Delete;
    deployment_old_manifest: Deployment, OldManifest;
    deployment_old_server_side: Deployment, OldServerSide;
    deployment_third_server_side: Deployment, ThirdServerSide;
    stateful_set_scaled: StatefulSet, Scale;
    stateful_set_of_flux: StatefulSet, Flux;
    stateful_set_other_image: StatefulSet, OtherImage;
    stateful_set_restarted: StatefulSet, Restart;
    stateful_set_deleted: StatefulSet, Delete;
    stateful_set_old_manifest: StatefulSet, OldManifest;
    daemon_set_of_flux: DaemonSet, Flux;
    daemon_set_other_image: DaemonSet, OtherImage;
    daemon_set_old_manifest: DaemonSet, OldManifest;
}

#[test]
fn two_runs_at_once_have_one_winner() {
    let namespace = Namespace::new("durable-two");
    let gate = Gate::open();
    let owner = Owner::new(&namespace, &gate.api, Kind::Deployment, (2, 5), "");
    let reference = owner.reference();
    for round in 1..=5 {
        let container = format!("c{round}");
        let run = |tag: &str| {
            let wanted = format!("{container}=:{tag}");
            namespace.inplace_spawn(&["apply", &reference, &wanted, "--yes", "--min-ready-seconds", "0"])
        };
        let (one, other) = (run("v2"), run("v3"));
        let (one, other) = (one.wait(), other.wait());
        let context = format!("{one:#?} {other:#?}");
        let (winner, loser) = if one.code == 0 { ("side:v2", other) } else { ("side:v3", one) };
        assert!([1, 6].contains(&loser.code), "{context}");
        let said = format!("{}{}", loser.stdout, loser.stderr);
        let reported = ["has taken its place; no further changes by this run", "RolloutHeld"];
        assert!(reported.iter().any(|words| said.contains(words)), "{context}");
        owner.wait_settled_or(&context);
        assert_eq!(owner.tag(&container), winner, "{context}");
        owner.assert_same_pods(&context);
    }
}
