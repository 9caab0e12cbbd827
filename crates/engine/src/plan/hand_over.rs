//! Going first: what of a manifest is left to the next apply of the tool that owns the workload, and what that apply would
//! then change in the template. The server is asked, as the tool would ask it; nothing here goes by `metadata.generation`.

use serde_json::Value;

use super::warnings::manager;
use super::{RolloutState, Verdict, WorkloadPlan};
use crate::change::reason::{Reason, ReasonClass, Warning};
use crate::change::template::changed_paths;
use crate::k8s::workload::Workload;
use crate::kinds::{self, HoldsBy, WorkloadKind, partition_of};
use crate::report::hand_over::{HandOver, HandedOver, NextApply};
use crate::state::field_managers::{applier, fluxs_template};
use crate::state::manager::{KUSTOMIZE_CONTROLLER, forces_conflicts};

/// Argo CD's options of one object (`HasAnnotationOption` in pkg/sync/resource of its gitops-engine).
const SYNC_OPTIONS: &str = "argocd.argoproj.io/sync-options";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// By the server, under the field manager that owns the template.
    ServerSide,
    /// By a three-way merge with what it has applied last.
    ClientSide,
    /// With another template in place of the one that is there.
    Replace,
    ReCreate,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NextQuestion {
    pub way: Way,
    pub manager: Option<String>,
    pub forces: bool,
}

impl NextQuestion {
    pub fn of(workload: &Workload, manifest: &Value) -> Self {
        let object = &workload.object;
        let manager = applier(object, workload.reference.kind).map(str::to_owned);
        let way = match (sync_options(&[object, manifest]), &manager) {
            ((true, true), _) => Way::ReCreate,
            ((true, false), _) => Way::Replace,
            ((false, _), Some(_)) => Way::ServerSide,
            ((false, _), None) => Way::ClientSide,
        };
        Self { way, forces: manager.as_deref().is_some_and(forces_conflicts), manager }
    }

    /// Returns what the next apply does whose answer is this object.
    pub fn answered(&self, workload: &Workload, stored: &Value) -> NextApply {
        let kind = workload.reference.kind;
        let is_flux = self.manager.as_deref() == Some(KUSTOMIZE_CONTROLLER);
        let taken = if is_flux { fluxs_template(stored, kind) } else { None };
        let after = taken.as_ref().or_else(|| stored.pointer(kind.template_pointer())).unwrap_or(&Value::Null);
        let paths = changed_paths(workload.template(), after, "");
        if paths.is_empty() {
            return lifted(workload, stored).unwrap_or(NextApply::Unchanged);
        }
        NextApply::Changes { paths, pods_replaced: replaced(workload, stored) }
    }

    /// Returns what an object that is created again costs, which needs no question.
    pub fn re_created(&self, workload: &Workload) -> Option<NextApply> {
        let all = NextApply::Changes { paths: Vec::new(), pods_replaced: workload.desired_replicas() };
        (self.way == Way::ReCreate).then_some(all)
    }

    pub fn hand_over(&self, workload: &Workload, next: NextApply) -> HandOver {
        HandOver { owner: self.owner(workload), next }
    }

    /// The tool's name, as far as the object tells.
    fn owner(&self, workload: &Workload) -> String {
        let tool = manager(workload, Vec::new()).and_then(|warning| warning.tool());
        tool.or(self.manager.as_deref()).unwrap_or("kubectl").to_owned()
    }
}

/// Whether Argo CD replaces an object in place of applying it, and whether it forces that.
fn sync_options(objects: &[&Value]) -> (bool, bool) {
    let has = |wanted: &str| {
        objects.iter().any(|object| {
            let options = object.pointer("/metadata/annotations").and_then(|all| all.get(SYNC_OPTIONS)?.as_str());
            options.is_some_and(|options| options.split(',').any(|option| option.trim() == wanted))
        })
    };
    (has("Replace=true"), has("Force=true"))
}

pub(super) fn re_creates(objects: &[&Value]) -> Option<Warning> {
    (sync_options(objects) == (true, true)).then_some(Warning::ApplyReplaces)
}

/// What follows where the next apply lifts what keeps the controller from pods: it replaces those that are not of the template
/// yet.
fn lifted(workload: &Workload, after: &Value) -> Option<NextApply> {
    let (before, kind) = (&workload.object, workload.reference.kind);
    let number = |fields: [&str; 2]| {
        let found = fields.iter().filter_map(|field| before.get("status")?.get(field)?.as_u64());
        found.max().and_then(|number| u32::try_from(number).ok()).unwrap_or(0)
    };
    let all = number(["replicas", "currentNumberScheduled"]);
    let older = all.saturating_sub(number(["updatedReplicas", "updatedNumberScheduled"]));
    let is_lifted = |is_held: fn(&Value) -> bool| is_held(before) && !is_held(after);
    let [kept, still] = [before, after].map(|object| u32::try_from(below(kind, object)).unwrap_or(0).min(all));
    let (path, older) = match () {
        () if is_lifted(kinds::is_paused) => ("spec.paused", older),
        () if is_lifted(kinds::is_on_delete) => ("spec.updateStrategy", older),
        () => ("spec.updateStrategy.rollingUpdate.partition", older.min(kept.saturating_sub(still))),
    };
    (older > 0).then(|| NextApply::Changes { paths: vec![path.to_owned()], pods_replaced: older })
}

fn below(kind: WorkloadKind, object: &Value) -> i64 {
    object.pointer("/spec/updateStrategy").filter(|_| kind.has_partition()).map_or(0, partition_of)
}

fn replaced(workload: &Workload, after: &Value) -> u32 {
    let kind = workload.reference.kind;
    let is_left = kind.holds_by() == HoldsBy::Nothing || kinds::is_on_delete(after) || kinds::is_paused(after);
    let in_place = || kind.spec().foresee.is_some_and(|foresee| foresee(&workload.object, after).obstacles.is_empty());
    if is_left || in_place() {
        return 0;
    }
    workload.desired_replicas().saturating_sub(u32::try_from(below(kind, after)).unwrap_or(0))
}

impl WorkloadPlan {
    /// Returns the warning that pods are not of the template, though the template has what is wanted.
    pub fn other_pods(&self) -> Option<&Warning> {
        let is_it =
            |warning: &&Warning| matches!(warning, Warning::PodsOfOldRevision { .. } | Warning::PodsDrifted { .. });
        self.warnings.iter().find(is_it).filter(|_| self.verdict == Verdict::NothingToDo)
    }

    /// Returns what becomes of a manifest that is applied in place where that is possible, and of one that is left the code
    /// that says why; `None` where it is neither, but an error: a permission is missing, or another rollout holds it. `state` is
    /// the workload's: over whose rollout another client has put its template, that client's tool goes on.
    pub fn handed_over(&self, state: Option<RolloutState>) -> Option<(HandedOver, &'static str)> {
        let is_over = matches!(state, Some(RolloutState::Superseded(_)));
        let is_error = |reason: &Reason| {
            let held = matches!(reason, Reason::OwnerPaused { by_a_rollout: true, .. })
                || reason.kind().class() == ReasonClass::Held;
            held && !is_over || matches!(reason.kind().class(), ReasonClass::Permission | ReasonClass::Stale)
        };
        // A manifest that is paused wants its pods to stay as they are.
        let pauses = |paths: &[String]| paths.iter().any(|path| path == "spec.paused");
        let leaves = |warning: &&Warning| {
            let pauses = matches!(warning, Warning::OutsideTemplate { paths } if pauses(paths));
            pauses || matches!(warning, Warning::ApplyReplaces | Warning::ConfigurationChanges { .. })
        };
        let left = |warning: &Warning| Some((HandedOver::Left, warning.code()));
        match self.verdict {
            _ if self.is_offline() => Some((HandedOver::Absent, "")),
            Verdict::NothingToDo => self.other_pods().map_or(Some((HandedOver::InPlace, "")), left),
            Verdict::InPlace => match self.warnings.iter().find(leaves) {
                Some(warning) => left(warning),
                None => self.missing_permissions.is_empty().then_some((HandedOver::InPlace, "")),
            },
            Verdict::InPlaceByController => None,
            Verdict::NotEligible if self.all_reasons().any(is_error) => None,
            Verdict::NotEligible => self.all_reasons().next().map(|reason| (HandedOver::Left, reason.code())),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::kinds::WorkloadKind;

    fn workload(kind: WorkloadKind, object: &Value) -> Workload {
        let mut whole = json!({"metadata": {"name": "web", "namespace": "prod", "uid": "u"},
            "spec": {"replicas": 3, "selector": {"matchLabels": {"app": "web"}}, "template": template("a:1")}});
        json_patch::merge(&mut whole, object);
        Workload::from_object(kind, whole).unwrap()
    }

    fn template(image: &str) -> Value {
        json!({"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "app", "image": image}]}})
    }

    fn applied_by(manager: &str) -> Value {
        json!({"metadata": {"managedFields":
            [{"manager": manager, "operation": "Apply", "fieldsV1": {"f:spec": {"f:template": {}}}}]}})
    }

    fn options(options: &str) -> Value {
        json!({"metadata": {"annotations": {SYNC_OPTIONS: options}}})
    }

    #[test]
    fn the_question_is_asked_as_the_owner_applies() {
        let question =
            |way, manager: Option<&str>, forces| NextQuestion { way, manager: manager.map(Into::into), forces };
        let mut replaced = applied_by("argocd-controller");
        json_patch::merge(&mut replaced, &options("Prune=false, Replace=true"));
        for (object, manifest, expected) in [
            (json!({}), json!({}), question(Way::ClientSide, None, false)),
            (applied_by("helm"), json!({}), question(Way::ServerSide, Some("helm"), false)),
            (applied_by("argocd-controller"), json!({}), question(Way::ServerSide, Some("argocd-controller"), true)),
            (applied_by("helm-controller"), json!({}), question(Way::ServerSide, Some("helm-controller"), true)),
            (replaced, json!({}), question(Way::Replace, Some("argocd-controller"), true)),
            (json!({}), options("Replace=true"), question(Way::Replace, None, false)),
            (options("Force=true"), options("Replace=true"), question(Way::ReCreate, None, false)),
            (json!({}), options("Force=true"), question(Way::ClientSide, None, false)),
            (json!({}), options("NoReplace=true"), question(Way::ClientSide, None, false)),
        ] {
            let live = workload(WorkloadKind::Deployment, &object);
            assert_eq!(NextQuestion::of(&live, &manifest), expected, "{object} {manifest}");
        }
    }

    #[test]
    fn another_template_costs_the_pods_that_its_controller_replaces() {
        let partition = json!({"spec": {"updateStrategy": {"rollingUpdate": {"partition": 2}}}});
        let on_delete = json!({"spec": {"updateStrategy": {"type": "OnDelete"}}});
        for (kind, object, pods) in [
            (WorkloadKind::Deployment, json!({}), 3),
            (WorkloadKind::Deployment, json!({"spec": {"paused": true}}), 0),
            (WorkloadKind::StatefulSet, json!({}), 3),
            (WorkloadKind::StatefulSet, partition, 1),
            (WorkloadKind::StatefulSet, on_delete, 0),
            (WorkloadKind::ReplicaSet, json!({}), 0),
            (WorkloadKind::CloneSet, json!({}), 3),
            (WorkloadKind::CloneSet, json!({"spec": {"updateStrategy": {"type": "InPlaceIfPossible"}}}), 0),
        ] {
            let live = workload(kind, &object);
            let question = NextQuestion::of(&live, &json!({}));
            assert_eq!(question.answered(&live, &live.object), NextApply::Unchanged);
            let mut stored = live.object.clone();
            stored["spec"]["template"] = template("a:2");
            let paths = vec!["spec.containers[app].image".to_owned()];
            let expected = NextApply::Changes { paths, pods_replaced: pods };
            assert_eq!(question.answered(&live, &stored), expected, "{kind} {object}");
        }
    }

    #[test]
    fn what_is_outside_the_template_is_no_change_of_it() {
        let live = workload(WorkloadKind::Deployment, &json!({"metadata": {"generation": 3}}));
        let mut stored = live.object.clone();
        (stored["metadata"]["generation"], stored["spec"]["replicas"]) = (json!(4), json!(5));
        let found = NextQuestion::of(&live, &json!({})).answered(&live, &stored);
        assert_eq!(found, NextApply::Unchanged);
    }

    #[test]
    fn a_hold_that_is_lifted_lets_the_controller_replace_what_is_older() {
        for (kind, held, free, status, expected) in [
            (WorkloadKind::Deployment, json!({"paused": true}), json!({}), json!({"replicas": 3}), Some(3)),
            (
                WorkloadKind::Deployment,
                json!({"paused": true}),
                json!({}),
                json!({"replicas": 3, "updatedReplicas": 3}),
                None,
            ),
            (WorkloadKind::Deployment, json!({"paused": true}), json!({"paused": true}), json!({"replicas": 3}), None),
            (
                WorkloadKind::StatefulSet,
                json!({"updateStrategy": {"type": "OnDelete"}}),
                json!({"updateStrategy": {"type": "RollingUpdate"}}),
                json!({"replicas": 3, "updatedReplicas": 1}),
                Some(2),
            ),
            (
                WorkloadKind::StatefulSet,
                json!({"updateStrategy": {"rollingUpdate": {"partition": 9}}}),
                json!({"updateStrategy": {"rollingUpdate": {"partition": 1}}}),
                json!({"replicas": 3, "updatedReplicas": 0}),
                Some(2),
            ),
            (
                WorkloadKind::DaemonSet,
                json!({"updateStrategy": {"type": "OnDelete"}}),
                json!({}),
                json!({"currentNumberScheduled": 4, "updatedNumberScheduled": 1}),
                Some(3),
            ),
        ] {
            let live = workload(kind, &json!({"spec": held, "status": status}));
            let stored = workload(kind, &json!({"spec": free})).object;
            let found = NextQuestion::of(&live, &json!({})).answered(&live, &stored);
            match found {
                NextApply::Changes { pods_replaced, .. } => {
                    assert_eq!(Some(pods_replaced), expected, "{kind} {status}");
                }
                found => assert_eq!((found, None), (NextApply::Unchanged, expected), "{kind} {status}"),
            }
        }
    }

    #[test]
    fn what_is_left_is_told_from_what_is_an_error() {
        let live = workload(WorkloadKind::Deployment, &json!({}));
        let live = crate::plan::assemble::assemble(live, crate::plan::assemble::Objects::default());
        let empty = || WorkloadPlan::empty(&live, crate::rollout::Policy::default());
        let refused = |reason: Reason| WorkloadPlan { verdict: Verdict::NotEligible, reasons: vec![reason], ..empty() };
        let warned = |warning| WorkloadPlan { verdict: Verdict::InPlace, warnings: vec![warning], ..empty() };
        let field = || Reason::TemplateFieldNotInPlace { path: "spec.hostNetwork".into() };
        let denied = || Reason::PermissionMissing {
            verb: "patch".into(),
            resource: "pods".into(),
            namespace: String::new(),
            message: String::new(),
            role: String::new(),
        };
        let held = Reason::RolloutHeld {
            id: String::new(),
            who: String::new(),
            since: String::new(),
            began: Box::default(),
            state: Box::default(),
            run: Box::default(),
            makes_way: false,
        };
        let paused = |by_a_rollout| Reason::OwnerPaused { if_resumed: kinds::IfResumed::KeepsPods, by_a_rollout };
        let secret = Warning::ConfigurationChanges { object: "secret/web".into(), not_read: None };
        let outside = |path: &str| Warning::OutsideTemplate { paths: vec![path.to_owned()] };
        let older = Warning::PodsOfOldRevision { pods: 2, current: "web-2".into() };
        let changing = WorkloadPlan { verdict: Verdict::InPlace, ..empty() };
        let denied_later = WorkloadPlan { missing_permissions: vec![denied()], ..changing.clone() };
        let absent = WorkloadPlan { uid: "".into(), ..empty() };
        for (plan, expected) in [
            (empty(), Some((HandedOver::InPlace, ""))),
            (changing, Some((HandedOver::InPlace, ""))),
            (absent, Some((HandedOver::Absent, ""))),
            (refused(field()), Some((HandedOver::Left, "TemplateFieldNotInPlace"))),
            (refused(Reason::NoPods), Some((HandedOver::Left, "NoPods"))),
            (refused(paused(false)), Some((HandedOver::Left, "OwnerPaused"))),
            (warned(Warning::ApplyReplaces), Some((HandedOver::Left, "ApplyReplaces"))),
            (warned(secret), Some((HandedOver::Left, "ConfigurationChanges"))),
            (warned(Warning::TemplateKeepsImage), Some((HandedOver::InPlace, ""))),
            (warned(outside("spec.replicas")), Some((HandedOver::InPlace, ""))),
            (warned(outside("spec.paused")), Some((HandedOver::Left, "OutsideTemplate"))),
            (WorkloadPlan { warnings: vec![older], ..empty() }, Some((HandedOver::Left, "PodsOfOldRevision"))),
            (denied_later, None),
            (refused(denied()), None),
            (refused(held.clone()), None),
            (refused(paused(true)), None),
            (WorkloadPlan { reasons: vec![field(), denied()], ..refused(field()) }, None),
        ] {
            assert_eq!(plan.handed_over(None), expected, "{:?} {:?}", plan.reasons, plan.warnings);
        }
        let over = || Some(RolloutState::Superseded(""));
        assert_eq!(refused(held.clone()).handed_over(over()), Some((HandedOver::Left, "RolloutHeld")));
        let both = WorkloadPlan { reasons: vec![held, denied()], ..refused(field()) };
        assert_eq!(both.handed_over(over()), None, "a permission is missing all the same");
    }
}
