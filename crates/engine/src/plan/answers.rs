//! What the API server is asked before anything is written, and how its answers change a plan.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{PodPlan, PodVerdict, Verdict, WorkloadPlan, estimate};
use crate::change::FieldProgress;
use crate::change::reason::{Reason, Warning};
use crate::k8s::metadata::MetadataMap;
use crate::k8s::names::{PodKey, RolloutId};
use crate::k8s::permissions::{Asked, ClusterCommand, Deed};
use crate::k8s::pod::{Container, Pod, PodSpec};
use crate::kinds::PODS;
use crate::plan::live::{Denied, Snapshot};
use crate::plan::resize;
use crate::rollout::patch::{NewImage, PodPart, PodPatch, patches};
use crate::rollout::pre_pull::{self, Lacking, PrePull, Pull, PullAnswer};

/// Kinds of pods that the server is asked about, at most: more pods of one workload have the same spec anyway.
const ASKED_AT_MOST: usize = 50;

/// One patch that the server is asked about by a dry run, and the pods that its answer holds for.
pub struct Question {
    /// The patch, exactly as it would be sent.
    pub patch: PodPatch,
    pub pods: Vec<PodKey>,
}

/// What the server, and the nodes that it knows, answered to the questions.
pub struct DryRun {
    pub answers: Vec<(Question, PatchAnswer)>,
    pub requests_refused: Vec<(PodKey, Reason)>,
    /// The server's words on the first write to the workload, where it would not take it.
    pub owner_refused: Option<String>,
    /// The plan goes back to images of before: pods get what admission makes of them.
    pub is_way_back: bool,
    pub asked_all: bool,
    pub lacking: Lacking,
    pub pulls_denied: Option<Denied>,
    /// Else what the server answered about the pods that pull: about those that differ in nothing but the node, as they
    /// were asked about last, to a dry run of one of them.
    pub asked_pulls: Vec<(Vec<Pull>, PullAnswer)>,
}

pub enum PatchAnswer {
    Pod(Box<Pod>),
    Refused {
        message: String,
    },
    /// This caller may not ask; the change may be all right.
    Denied {
        message: String,
    },
    /// The pod changed since it was listed: the rollout reads it again before it sends anything.
    Conflict,
}

/// Returns the pulls whose pods the server takes, as far as is known, and the refusal of one that is required
/// (`--pre-pull=always`); of others warnings are given.
pub fn taken(
    asked: Vec<(Vec<Pull>, PullAnswer)>,
    mode: PrePull,
    warnings: &mut Vec<Warning>,
) -> (Vec<Pull>, Option<Reason>) {
    let (mut kept, mut refusal) = (Vec::new(), None);
    for (pulls, answer) in asked {
        let images = pre_pull::images_of(&pulls);
        match answer {
            PullAnswer::Taken => kept.extend(pulls),
            PullAnswer::NotKnown { why } => {
                let what = format!("it is not known whether the server takes the pods that pull {images} first: {why}");
                warnings.push(Warning::ReadFailed { what });
                kept.extend(pulls);
            }
            PullAnswer::Refused { message } if mode == PrePull::Always => {
                refusal = Some(Reason::PullPodRefused { images, message });
            }
            PullAnswer::Refused { message } => warnings.push(Warning::NotPulledFirst { images, message }),
        }
    }
    (kept, refusal)
}

impl WorkloadPlan {
    /// Returns what to ask the server: exactly the patches, one for each distinct pod spec; and whether that is all of them.
    pub fn questions(&self, live: &Snapshot, id: &RolloutId, field_manager: &str) -> (Vec<Question>, bool) {
        if self.workload.kind.is_sidecar_set() {
            return (Vec::new(), true);
        }
        let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
        let mut asked: Vec<(Vec<PodPatch>, Vec<PodKey>)> = Vec::new();
        let pods: BTreeMap<&PodKey, &Pod> = live.pods.iter().map(|pod| (&pod.key, pod)).collect();
        for planned in self.pods.iter().filter(|pod| pod.verdict == PodVerdict::Update) {
            let Some(pod) = pods.get(&planned.pod) else { continue };
            // The node is the one part of a spec that differs from pod to pod of one template.
            let spec = PodSpec { node_name: String::new(), ..pod.spec.clone() };
            let labels: BTreeMap<_, _> =
                pod.labels.iter().filter(|(key, _)| !MetadataMap::Labels.is_reserved(key)).collect();
            let wanted: BTreeMap<_, _> = planned.changes.iter().map(|(name, change)| (name, &change.to)).collect();
            let kind = serde_json::json!([spec, labels, wanted, planned.fields]).to_string();
            if let Some((_, pods)) = kinds.get(&kind).and_then(|index| asked.get_mut(*index)) {
                pods.push(planned.pod.clone());
                continue;
            }
            let changed = planned.changed(pod);
            let images = changed.map(|(known, to)| NewImage { container: known.name.clone(), to: to.to.clone() });
            if let Some(patches) = patches(pod, images.collect(), &planned.fields, id, field_manager) {
                kinds.insert(kind, asked.len());
                asked.push((patches, vec![planned.pod.clone()]));
            }
        }
        let asks_all = asked.len() <= ASKED_AT_MOST;
        let one_by_one = |(patches, pods): (Vec<PodPatch>, Vec<PodKey>)| {
            patches.into_iter().map(move |patch| Question { patch, pods: pods.clone() })
        };
        (asked.into_iter().take(ASKED_AT_MOST).flat_map(one_by_one).collect(), asks_all)
    }

    /// Returns the plan with what the caller may not do, else why the server does not answer that; and with what came of the
    /// dry run, where there was one. A server that does not answer is no obstacle, and a warning says so; what it refuses
    /// becomes a reason of every pod that has the same spec.
    pub fn with_answers(
        mut self,
        denied: Result<Vec<Denied>, String>,
        dry_run: Option<DryRun>,
        live: &Snapshot,
    ) -> Self {
        match denied {
            Ok(denied) => self.lacks(&denied),
            Err(what) => self.warnings.push(Warning::ReadFailed { what }),
        }
        let Some(dry_run) = dry_run else { return self };
        self.checked_by_server = true;
        if let Some(message) = dry_run.owner_refused {
            self.reasons.push(Reason::AdmissionRefused { message, others: Vec::new() });
            self.refuse();
        }
        for (pod, reason) in dry_run.requests_refused {
            self.block(&pod, &reason);
        }
        for (question, answer) in dry_run.answers {
            self.take(question, answer, (live, dry_run.is_way_back));
        }
        if !dry_run.asked_all {
            let what = format!("the server was asked about {ASKED_AT_MOST} kinds of pods, and there are more");
            self.warnings.push(Warning::ReadFailed { what });
        }
        if self.verdict == Verdict::InPlace {
            let Lacking { pulls, not_ready, .. } = dry_run.lacking;
            self.warnings.extend(not_ready.into_iter().map(|node| Warning::ReadFailed {
                what: format!(
                    "node {node} is not Ready: a container there would not come back, and nothing can be pulled there first"
                ),
            }));
            self.pulls_first(&pulls, dry_run.pulls_denied, dry_run.asked_pulls);
        }
        // A saved plan may say it already.
        let mut known = BTreeSet::new();
        self.warnings.retain(|warning| known.insert(warning.clone()));
        self
    }

    pub fn sets_template_image(&self) -> bool {
        self.durable.as_ref().is_some_and(|plan| !plan.rollout.change.images.is_empty())
    }

    /// Returns whether the server makes another image of one that the plan gives the template, or has there before.
    pub fn is_made_otherwise(&self, live: &Snapshot) -> bool {
        let mut images = self.durable.iter().flat_map(|plan| &plan.rollout.change.images);
        images
            .any(|(name, image)| [&image.from, &image.to].into_iter().any(|image| live.in_pods(name, image).is_some()))
    }

    pub fn template_after(&self, live: &Snapshot) -> Option<Value> {
        self.durable.as_ref()?.rollout.change.apply(live.workload.template())
    }

    fn planned<'a>(&'a self, pod: &PodKey, live: &'a Snapshot) -> Option<(&'a PodPlan, &'a Pod)> {
        self.pods.iter().find(|plan| plan.pod == *pod).zip(live.pods.iter().find(|known| known.key == *pod))
    }

    fn take(
        &mut self,
        Question { patch, pods }: Question,
        answer: PatchAnswer,
        (live, is_way_back): (&Snapshot, bool),
    ) {
        let PodPatch { key: pod, part, .. } = patch;
        let reason = match answer {
            PatchAnswer::Pod(answer) => {
                let reason = self.planned(&pod, live).and_then(|(plan, before)| admitted(plan, before, part, &answer));
                reason.filter(|reason| !(is_way_back && self.takes_as_made(&pods, reason)))
            }
            PatchAnswer::Refused { message } => {
                let planned = self.planned(&pod, live);
                let others = planned.map(|(plan, before)| resize::others(&message, before, &plan.fields));
                Some(Reason::AdmissionRefused { message, others: others.unwrap_or_default() })
            }
            PatchAnswer::Denied { message } => {
                self.checked_by_server = false;
                let resource = format!("{}{}", PODS.spec().resource(), part.suffix());
                let role = Some(Asked::role(ClusterCommand::Apply, self.workload.kind, self.deed()));
                self.lacks(&[Denied { verb: "patch".into(), resource, message, role }]);
                None
            }
            PatchAnswer::Conflict => {
                let what = format!("{pod} changed while the plan was made; plan again to be sure");
                self.warnings.push(Warning::ReadFailed { what });
                None
            }
        };
        if let Some(reason) = reason {
            pods.iter().for_each(|pod| self.block(pod, &reason));
        }
    }

    /// Gives pods the image that admission makes of the one that the plan gives them; returns whether that is what the reason
    /// is about.
    fn takes_as_made(&mut self, pods: &[PodKey], reason: &Reason) -> bool {
        let Reason::AdmissionRewrites { container, image: made, .. } = reason else { return false };
        let planned = self.pods.iter_mut().filter(|planned| pods.contains(&planned.pod));
        let changes: Vec<_> = planned.filter_map(|planned| planned.changes.get_mut(container)).collect();
        let is_planned = !changes.is_empty();
        for change in changes {
            let template = std::mem::replace(&mut change.to, made.clone());
            let warning = Warning::RewrittenByAdmission { container: container.clone(), template, made: made.clone() };
            self.warnings.push(warning);
        }
        let of_template = self.durable.as_mut().and_then(|plan| plan.rollout.change.images.get_mut(container));
        if let Some(image) = of_template.filter(|_| is_planned) {
            image.to_in_pods = Some(made.clone());
        }
        is_planned
    }

    pub fn deed(&self) -> Deed {
        Deed { pods_only: self.durable.is_none(), resizes: self.resizes(), by_request: self.is_by_request() }
    }

    /// Adds a reason to a pod: it is blocked, and the workload with it.
    fn block(&mut self, pod: &PodKey, reason: &Reason) {
        for pod in self.pods.iter_mut().filter(|known| known.pod == *pod) {
            pod.verdict = PodVerdict::Blocked;
            pod.reasons.push(reason.clone());
        }
        self.refuse();
    }

    /// Refuses the plan: none of it is carried out, so it is not this plan that leaves the template unchanged or restarts pods.
    pub(super) fn refuse(&mut self) {
        self.verdict = Verdict::NotEligible;
        let is_of_it =
            |warning: &Warning| matches!(warning, Warning::TemplateKeepsImage | Warning::NoOtherPodServes { .. });
        self.warnings.retain(|warning| !is_of_it(warning));
    }

    /// Notes what the caller may not do, each verb and resource once.
    pub fn lacks(&mut self, denied: &[Denied]) {
        for denied in denied {
            let is_known = self.missing_permissions.iter().any(|known| {
                let Reason::PermissionMissing { verb, resource, .. } = known else { return false };
                (verb, resource) == (&denied.verb, &denied.resource)
            });
            if !is_known {
                self.missing_permissions.push(denied.reason(&self.workload));
            }
        }
    }

    /// Notes what nodes pull first: only what the caller may create the pods for, and the server takes.
    fn pulls_first(&mut self, lacking: &[Pull], denied: Option<Denied>, asked: Vec<(Vec<Pull>, PullAnswer)>) {
        let mut pulls = Vec::new();
        match denied.filter(|_| !lacking.is_empty()) {
            Some(denied) if self.pre_pull == PrePull::Always => self.lacks(&[denied]),
            Some(denied) => {
                let what = format!(
                    "you may not {} {}, so no node pulls {} first, and it is not known whether the server takes the pods for it; an image that cannot be pulled is found only once a container is down for it",
                    denied.verb,
                    denied.resource,
                    pre_pull::images_of(lacking)
                );
                self.warnings.push(Warning::ReadFailed { what });
            }
            None => {
                let refusal;
                (pulls, refusal) = taken(asked, self.pre_pull, &mut self.warnings);
                if let Some(reason) = refusal {
                    self.reasons.push(reason);
                    self.refuse();
                }
            }
        }
        self.estimate_seconds = estimate::with_pulls(self.estimate_seconds, !pulls.is_empty() && self.pulls.is_empty());
        self.pulls = pulls;
    }
}

/// Compares what the server would make of a pod: admission may have set something other than what was asked for.
fn admitted(plan: &PodPlan, before: &Pod, part: PodPart, answer: &Pod) -> Option<Reason> {
    if plan.fields.of_part(part, answer) == FieldProgress::NotAsked {
        let message = "its admission takes the change back".to_owned();
        return Some(Reason::AdmissionRefused { message, others: Vec::new() });
    }
    if part == PodPart::Resize {
        let values = plan.fields.resources.added_by_admission(before, answer);
        return (!values.is_empty()).then_some(Reason::AdmissionAdds { values });
    }
    // A container that is not to change stays as well.
    let wanted = |container: &Container| match plan.changes.get(&container.name) {
        Some(change) => Some(&change.to),
        None => before.spec_of(&container.name).map(|container| &container.image),
    };
    let mut all = answer.all_containers();
    let rewritten = all.find(|(_, container)| wanted(container).is_some_and(|wanted| container.image != *wanted));
    rewritten.map(|(list, container)| Reason::AdmissionRewrites {
        list,
        container: container.name.clone(),
        image: container.image.clone(),
    })
}
