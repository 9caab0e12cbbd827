//! One situation's files, read as the program reads the server's answers and the user's words.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use clap::Parser;
use engine::change::target::{self, Unnamed};
use engine::k8s::metadata::LAST_APPLIED;
use engine::k8s::pod::Pod;
use engine::k8s::workload::Workload;
use engine::kinds::WorkloadKind;
use engine::plan::assemble::{Objects, assemble, controller_uid, kubelets, needs_kubelet};
use engine::plan::sidecar_set;
use engine::plan::{Denied, Intent, Manifest, Options, Snapshot, Subset};
use engine::state::hook::Hooks;
use kubectl_inplace::cli::{Cli, Command, PlanArgs};
use kubectl_inplace::manifest;
use serde_json::Value;

/// A folder, and which of its files have been asked for.
pub(super) struct Folder {
    path: PathBuf,
    asked: BTreeSet<&'static str>,
}

/// What a file is, for the message that it is missing.
fn what(file: &str) -> &'static str {
    match file {
        "workload.yaml" => "the owner, as kubectl get -o yaml gives it",
        "pods.yaml" => "the pods that its selector matches, a List or several documents",
        "replicasets.yaml" => "the Deployment's ReplicaSets",
        "deployment.yaml" => "the Deployment that controls the ReplicaSet",
        "nodes.yaml" => {
            "the nodes of pods that have a sidecar or a startup probe (or nodes-not-read, with the server's words)"
        }
        "old.yaml" => "the manifests before",
        "new.yaml" => "the manifests after",
        _ => "see the README",
    }
}

impl Folder {
    pub(super) fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), asked: BTreeSet::new() }
    }

    /// Returns the path of a file that holds what is expected.
    pub(super) fn expected(&mut self, file: &'static str) -> PathBuf {
        self.asked.insert(file);
        self.path.join(file)
    }

    fn text(&mut self, file: &'static str) -> Result<Option<String>, String> {
        self.asked.insert(file);
        let path = self.path.join(file);
        if !path.exists() {
            return Ok(None);
        }
        fs::read_to_string(path).map(Some).map_err(|error| format!("{file}: {error}"))
    }

    fn optional(&mut self, file: &'static str) -> Result<Option<Vec<Value>>, String> {
        let Some(text) = self.text(file)? else { return Ok(None) };
        let manifests = manifest::parse(file, text.as_bytes()).map_err(|error| error.to_string())?;
        Ok(Some(manifests.into_iter().map(|manifest| manifest.object).collect()))
    }

    /// Reads the objects of a file that must be there.
    pub(super) fn objects(&mut self, file: &'static str) -> Result<Vec<Value>, String> {
        self.optional(file)?.ok_or_else(|| format!("{file} is missing: {}", what(file)))
    }

    fn words(&mut self, file: &'static str) -> Result<Option<Vec<String>>, String> {
        Ok(self.text(file)?.map(|text| text.split_whitespace().map(str::to_owned).collect()))
    }

    fn object(&mut self, file: &'static str, kind: WorkloadKind) -> Result<Value, String> {
        let mut objects = self.objects(file)?;
        let is_kind = |object: &Value| object.get("kind").and_then(Value::as_str) == Some(kind.spec().kind);
        match objects.pop() {
            Some(object) if objects.is_empty() && is_kind(&object) => Ok(object),
            Some(_) | None => Err(format!("{file} is no {kind}")),
        }
    }

    /// Reads the live objects.
    pub(super) fn live(&mut self, kind: WorkloadKind) -> Result<Snapshot, String> {
        let object = self.object("workload.yaml", kind)?;
        let workload = Workload::from_object(kind, object).ok_or("workload.yaml has no name or no uid")?;
        let read = |object: &Value| Pod::from_object(object).map_err(|error| format!("a pod: {error}"));
        let pods = match kind {
            WorkloadKind::Pod => vec![read(&workload.object)?],
            _ => self.objects("pods.yaml")?.iter().map(read).collect::<Result<_, _>>()?,
        };
        for pod in &pods {
            selected(&workload, pod)?;
        }
        let (owned, maker) = (self.owned(&workload)?, self.maker(&workload)?);
        let mut live = match kind.is_sidecar_set() {
            true => sidecar_set::assembled(workload, pods, self.optional("revisions.yaml")?.unwrap_or_default()),
            false => assemble(workload, Objects { pods, owned, maker }),
        };
        live.not_read = self.lines("not-read")?;
        live.surroundings.budgets = self.optional("budgets.yaml")?.unwrap_or_default();
        live.surroundings.services = self.optional("services.yaml")?.unwrap_or_default();
        // Nothing else selects the pods.
        live.surroundings.selecting = Some(Vec::new());
        live.surroundings.autoscalers = self.optional("autoscalers.yaml")?.unwrap_or_default();
        live.surroundings.vertical_autoscalers = self.optional("vertical-autoscalers.yaml")?.unwrap_or_default();
        live.surroundings.now = match self.words("restart")?.as_deref() {
            Some([_, now]) => Some(now.clone()),
            Some(_) | None => self.text("now")?.map(|now| now.trim().to_owned()),
        };
        live.surroundings.denied = self.denied(|verb| verb == "list")?;
        live.surroundings.server = match self.text("server")? {
            Some(version) => Some(version.trim().parse().map_err(|error| format!("server: {error}"))?),
            None => None,
        };
        self.kubelets(&mut live)?;
        Ok(live)
    }

    /// Reads what the caller may not do besides reading: `apply` would have to.
    pub(super) fn missing_permissions(&mut self, role: &str) -> Result<Vec<Denied>, String> {
        let denied = self.denied(|verb| verb != "list")?.into_iter();
        Ok(denied.map(|denied| Denied { role: Some(role.to_owned()), ..denied }).collect())
    }

    fn denied(&mut self, is_asked: impl Fn(&str) -> bool) -> Result<Vec<Denied>, String> {
        let read = |line: String| {
            let mut words = line.splitn(3, ' ').map(str::to_owned);
            let (Some(verb), Some(resource)) = (words.next(), words.next()) else {
                return Err("denied: a line is VERB RESOURCE and the server's words".into());
            };
            Ok(Denied { verb, resource, message: words.next().unwrap_or_default(), role: None })
        };
        let all = self.lines("denied")?.into_iter().map(read).collect::<Result<Vec<_>, String>>()?;
        Ok(all.into_iter().filter(|denied| is_asked(&denied.verb)).collect())
    }

    /// Reads what was there when the plan was saved, if it is a saved one.
    pub(super) fn saved_from(&mut self, live: &Snapshot) -> Result<Option<Snapshot>, String> {
        let Some(mut pods) = self.optional("saved.yaml")? else { return Ok(None) };
        let kind = live.workload.reference.kind;
        if pods.is_empty() {
            return Err("saved.yaml has no owner".into());
        }
        let workload =
            Workload::from_object(kind, pods.remove(0)).ok_or("saved.yaml: the owner has no name or no uid")?;
        let read = |object: &Value| Pod::from_object(object).map_err(|error| format!("a pod: {error}"));
        let pods = pods.iter().map(read).collect::<Result<_, _>>()?;
        Ok(Some(Snapshot { workload, pods, ..live.clone() }))
    }

    fn lines(&mut self, file: &'static str) -> Result<Vec<String>, String> {
        Ok(self.text(file)?.map(|text| text.lines().map(str::to_owned).collect()).unwrap_or_default())
    }

    /// The ReplicaSets or ControllerRevisions.
    fn owned(&mut self, workload: &Workload) -> Result<Vec<Value>, String> {
        match workload.reference.kind {
            WorkloadKind::Deployment | WorkloadKind::Rollout => self.objects("replicasets.yaml"),
            WorkloadKind::DaemonSet
            | WorkloadKind::StatefulSet
            | WorkloadKind::CloneSet
            | WorkloadKind::AdvancedStatefulSet
            | WorkloadKind::AdvancedDaemonSet => {
                let objects = self.optional("revisions.yaml")?.unwrap_or_default();
                match objects.iter().all(|object| controller_uid(object) == Some(workload.uid.as_str())) {
                    true => Ok(objects),
                    false => Err("revisions.yaml: the workload does not own all of them".into()),
                }
            }
            WorkloadKind::ReplicaSet | WorkloadKind::Pod | WorkloadKind::SidecarSet => Ok(Vec::new()),
        }
    }

    /// The Deployment that controls a ReplicaSet.
    fn maker(&mut self, workload: &Workload) -> Result<Option<Value>, String> {
        let controller = workload.controller().filter(|(kind, _, _)| kind == "Deployment");
        let Some((_, _, uid)) = controller.filter(|_| workload.reference.kind == WorkloadKind::ReplicaSet) else {
            return Ok(None);
        };
        let deployment = self.object("deployment.yaml", WorkloadKind::Deployment)?;
        if deployment.pointer("/metadata/uid").and_then(Value::as_str) != Some(uid.as_str()) {
            return Err("deployment.yaml is not the ReplicaSet's".into());
        }
        Ok(Some(deployment))
    }

    fn kubelets(&mut self, live: &mut Snapshot) -> Result<(), String> {
        if !live.pods.iter().any(needs_kubelet) {
            return Ok(());
        }
        if let Some(words) = self.text("nodes-not-read")? {
            live.surroundings.nodes_not_read = Some(words.trim_end().to_owned());
            return Ok(());
        }
        live.kubelets = kubelets(&self.objects("nodes.yaml")?);
        Ok(())
    }

    /// Reads what is wanted.
    pub(super) fn intent(&mut self, live: &Snapshot) -> Result<Intent, String> {
        if let Some(words) = self.words("restart")? {
            let [containers, _] = words.as_slice() else {
                return Err("restart is not CONTAINERS and the time".into());
            };
            let containers = containers.split(',').map(Into::into).collect();
            return Ok(Intent::Restart { by_request: false, containers });
        }
        let given = ["desired.yaml", "images", "refused"].map(|file| self.path.join(file).exists());
        match given {
            [true, false, false] => {
                let object = self.object("desired.yaml", live.workload.reference.kind)?;
                let removals_unseen = removals_unseen(&live.workload.object);
                Ok(Intent::Manifest(Manifest::Stored { object, removals_unseen }))
            }
            [false, true, false] => {
                let args = self.args()?;
                let targets = &args.change.targets;
                let request = target::parse(&targets.words, &targets.image, Unnamed::None, targets.all_containers);
                Ok(Intent::Images(request.map_err(|error| format!("images: {error}"))?.images))
            }
            [false, false, true] => {
                let message = self.text("refused")?.unwrap_or_default().trim_end().to_owned();
                Ok(Intent::Manifest(Manifest::Refused { message }))
            }
            [false, false, false] => Err("one of desired.yaml, images and refused is missing".into()),
            _ => Err("desired.yaml, images and refused exclude each other".into()),
        }
    }

    /// The command line that `images` and `options` make.
    fn args(&mut self) -> Result<PlanArgs, String> {
        let mut words = vec!["kubectl-inplace".to_owned(), "plan".to_owned()];
        words.extend(self.words("images")?.unwrap_or_default());
        words.extend(self.words("options")?.unwrap_or_default());
        let cli = Cli::try_parse_from(words).map_err(|error| format!("options: {error}"))?;
        match cli.command {
            Some(Command::Plan(args)) => Ok(args),
            Some(_) | None => Err("options hold more than flags".into()),
        }
    }

    /// Reads the flags.
    pub(super) fn options(&mut self) -> Result<Options, String> {
        let policy = self.args()?.policy;
        Ok(Options {
            max_unavailable: policy.pace.max_unavailable,
            min_ready_seconds: policy.pace.min_ready_seconds,
            timeout: policy.pace.timeout,
            total_timeout: policy.pace.total_timeout,
            // A folder with the (empty) file `durable` is of a durable rollout.
            pods_only: self.text("durable")?.is_none(),
            take_over: policy.pace.take_over,
            canary: policy.choice.canary,
            pause_after: policy.pace.pause_after,
            order: policy.choice.order,
            respects_budgets: policy.pace.disruption_budget,
            pre_pull: policy.pace.pre_pull,
            drain: policy.pace.drain,
            drain_seconds: policy.pace.drain_seconds,
            shows_kubelets: false,
            container_order: policy.pace.container_order.iter().map(|name| name.as_str().into()).collect(),
            hooks: Hooks { before_pod: policy.pace.before_pod, after_pod: policy.pace.after_pod },
            subset: Subset {
                pods: policy.choice.pods.into_iter().collect(),
                node: policy.choice.node,
                partition: policy.choice.partition,
            },
        })
    }

    /// The same for two manifests, as the flags are.
    pub(super) fn options_of_manifests(&mut self) -> Result<Options, String> {
        Ok(Options { pods_only: self.args()?.policy.choice.pods_only, ..self.options()? })
    }

    /// The command that carries the plan out.
    pub(super) fn command(&mut self, live: &Snapshot) -> String {
        let reference = &live.workload.reference;
        if let Some(words) = self.words("restart").ok().flatten() {
            return format!("kubectl inplace restart {reference} -c {}", words.first().map_or("", String::as_str));
        }
        let images = self.words("images").ok().flatten();
        let target = images.map_or_else(
            || format!("-f {}.yaml", reference.name),
            |images| format!("{reference} {}", images.join(" ")),
        );
        let options = self.words("options").ok().flatten().unwrap_or_default();
        let pods_only = (!self.path.join("durable").exists()).then(|| "--pods-only".to_owned());
        let words = [format!("kubectl inplace apply {target}")].into_iter().chain(pods_only).chain(options);
        words.collect::<Vec<String>>().join(" ")
    }

    /// Fails for a file that was not read: somebody means something by it.
    pub(super) fn nothing_else(&self) -> Result<(), String> {
        let entries = fs::read_dir(&self.path).map_err(|error| error.to_string())?;
        let mut odd: Vec<String> = entries
            .flatten()
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .filter(|file| !self.asked.contains(file.as_str()))
            .collect();
        odd.sort();
        if odd.is_empty() { Ok(()) } else { Err(format!("{} is not read", odd.join(", "))) }
    }
}

/// The server lists only what the selector matches; a pod that it would not list proves nothing.
fn selected(workload: &Workload, pod: &Pod) -> Result<(), String> {
    let labels = workload.object.pointer("/spec/selector/matchLabels").and_then(Value::as_object);
    let missing = labels
        .filter(|_| workload.reference.kind != WorkloadKind::Pod)
        .into_iter()
        .flatten()
        .find(|(key, value)| pod.labels.get(*key).map(String::as_str) != value.as_str());
    match missing {
        Some((key, _)) => Err(format!("pods.yaml: the selector does not match {}, for its label {key}", pod.key.name)),
        None => Ok(()),
    }
}

/// As for a live object: it is unknown which fields an earlier manifest had.
fn removals_unseen(object: &Value) -> bool {
    let applied =
        object.pointer("/metadata/annotations").is_some_and(|annotations| annotations.get(LAST_APPLIED).is_some());
    let managers = object.pointer("/metadata/managedFields").and_then(Value::as_array);
    let server_side =
        managers.into_iter().flatten().any(|entry| entry.get("operation").and_then(Value::as_str) == Some("Apply"));
    !applied && !server_side
}
