//! What a run does with an owner without its lock, in tables.

use serde_json::{Value, json};

use super::history::{HISTORY_ANNOTATION, HistoryEntry, to_text};
use super::lock::ROLLOUT_ANNOTATION;
use super::rollout::Rollout;
use super::*;
use crate::change::{Change, FieldChanges};
use crate::rollout::PodGoal;
use crate::state::outcome::EndResult;

pub(super) const KIND: WorkloadKind = WorkloadKind::DaemonSet;

pub(super) fn template(tag: &str) -> Value {
    json!({"spec": {"containers": [{"name": "side", "image": format!("side:{tag}")}]}})
}

/// A run of a rollout, as its owner's table gets it.
#[derive(Clone)]
pub(super) struct OwnRun {
    pub(super) lock: Lock,
    pub(super) change: OwnerChange,
}

impl OwnRun {
    pub(super) fn owner<'a>(&'a self, kind: WorkloadKind, view: &'a OwnerView, pods: &'a PodsState) -> Owner<'a> {
        self.owner_of(kind, view, pods, "inplace-cli")
    }

    fn owner_of<'a>(
        &'a self,
        kind: WorkloadKind,
        view: &'a OwnerView,
        pods: &'a PodsState,
        manager: &'a str,
    ) -> Owner<'a> {
        Owner::new((&self.lock, &self.change), kind, view, pods, ("2026-03-01T10:02:00Z", manager))
    }

    pub(super) fn target(&self) -> &Value {
        self.change.target(self.lock.rollout.direction)
    }
}

pub(super) fn goal(direction: &str) -> OwnRun {
    let lock = json!({"id": "one", "run": "r", "who": "jane", "since": "2026-03-01T10:00:00Z", "version": "0",
        "state": "running", "direction": direction, "change": {"images": {"side": {"from": "side:1", "to": "side:2"}}},
        "policy": {"maxUnavailable": 1, "ownerMinReadySeconds": 0, "ordered": false}});
    let change = OwnerChange {
        continues: false,
        uid: "u".into(),
        replaces: None,
        adopts: false,
        last_renewal: None,
        take_over: None,
        earlier: Default::default(),
        before: template("1"),
        after: template("2"),
        keep_field_ownership: false,
    };
    OwnRun { lock: serde_json::from_value(lock).unwrap(), change }
}

fn entry(outcome: EndResult) -> HistoryEntry {
    let (id, since) = ("one".into(), "2026-03-01T10:00:00Z".into());
    let rollout = Rollout { id, who: "jane".into(), since, ..Rollout::default() };
    rollout.entry(outcome, "2026-03-01T10:01:00Z", "joe")
}

fn owner(tag: &str, generation: i64, entries: &[HistoryEntry]) -> OwnerView {
    let object = json!({"metadata": {"uid": "u", "name": "web", "generation": generation,
            "annotations": {HISTORY_ANNOTATION: to_text(entries)}},
        "spec": {"template": template(tag), "updateStrategy": {"type": "RollingUpdate"}}});
    OwnerView { object: Some(object), ..OwnerView::default() }
}

fn decision(goal: &OwnRun, view: &OwnerView, own_lock: OwnLock) -> Decision {
    next(&goal.owner(KIND, view, &PodsState::default()).knowing(own_lock))
}

#[test]
fn how_another_run_ended_the_rollout_is_reported() {
    use EndResult::{
        Aborted, Changes, Complete, Error, Failed, Interrupted, NotEligible, NothingToDo, Paused, Superseded,
        Terminated, TimedOut,
    };
    let never = [NothingToDo, Changes, NotEligible, Error, Failed, TimedOut, Interrupted, Terminated, Paused];
    let mut cases = vec![
        ("forward", Complete, "2", None),
        ("forward", Complete, "1", Some("it was completed by another run (joe), and changed since")),
        ("forward", Aborted, "1", Some("it was aborted by another run (joe)")),
        ("forward", Aborted, "2", Some("it was aborted by another run (joe)")),
        ("forward", Superseded, "2", Some("another run (joe) found it changed by another client and ended it")),
        ("back", Aborted, "1", None),
        ("back", Aborted, "2", Some("it was aborted by another run (joe), and changed since")),
        ("back", Complete, "2", Some("it was complete already; kubectl inplace undo takes it back")),
        ("back", Complete, "1", Some("it was complete already; kubectl inplace undo takes it back")),
        ("back", Superseded, "1", Some("another run (joe) found it changed by another client and ended it")),
    ];
    cases.extend(never.map(|outcome| ("forward", outcome, "2", Some("its history was edited"))));
    cases.extend(never.map(|outcome| ("back", outcome, "1", Some("its history was edited"))));
    for (direction, outcome, tag, expected) in cases {
        let found = decision(&goal(direction), &owner(tag, 7, &[entry(outcome)]), OwnLock::Held);
        match (expected, &found) {
            (None, Decision { conflict: None, next: Next::Nothing }) => {}
            (Some(expected), Decision { conflict: Some(why), .. }) if why.starts_with(expected) => {}
            _ => panic!("{direction} {outcome:?} {tag}: {found:?}"),
        }
    }
    // The end that this run has recorded itself stays, whatever comes then.
    let own = decision(&goal("forward"), &owner("1", 9, &[entry(Complete)]), OwnLock::Closed);
    assert_eq!(own, Decision { conflict: None, next: Next::Nothing });
}

/// A request that was on its way when a run was killed may reach the server after the next run has read.
#[test]
fn whoever_holds_the_lock_in_place_of_a_run_is_named() {
    let replaced = goal("forward").lock;
    let mut goal = goal("back");
    goal.change.replaces = serde_json::to_string(&replaced).ok();
    goal.lock.run = "r2".into();
    let of = |run: &str| Lock { run: run.into(), ..replaced.clone() };
    for (run, says) in [
        ("r", "the run of jane that seemed to be gone has given another sign of life; no further changes by this run"),
        ("r3", "rollout \"one\" was taken over by jane, to resume it; no further changes by this run"),
    ] {
        assert_eq!(goal.change.taken_over(&goal.lock, &of(run)), says);
    }
}

#[test]
fn a_run_that_may_have_set_its_lock_does_not_begin_again() {
    for (own_lock, generation, begins) in [
        (OwnLock::Unwritten, 7, true),
        (OwnLock::Unclear { generation: 7 }, 7, true),
        // Somebody scaled, or our write alone: it would still be there.
        (OwnLock::Unclear { generation: 7 }, 8, true),
        // Our write and the one that removed it again.
        (OwnLock::Unclear { generation: 7 }, 9, false),
        (OwnLock::Held, 9, false),
        (OwnLock::Closed, 9, false),
    ] {
        let found = decision(&goal("forward"), &owner("1", generation, &[]), own_lock);
        let is_begin = matches!(&found.next, Next::Write(StepName::SetTemplate, _));
        let is_over = found.conflict.is_some() && found.next == Next::Nothing;
        assert_eq!((is_begin, is_over), (begins, !begins), "{own_lock:?} {generation}: {found:?}");
    }
}

/// Under its present name or its earlier one; what is of a subresource, or of another client, stays.
#[test]
fn the_last_write_gives_up_what_this_program_owns() {
    let entry = |manager: &str, operation: &str, subresource: &str| json!({"manager": manager, "operation": operation, "subresource": subresource});
    let entries = [
        entry("kubectl-inplace", "Update", ""),
        entry("kubectl", "Update", ""),
        entry("inplace-cli", "Update", "status"),
        entry("inplace-cli", "Apply", ""),
        entry("inplace-cli", "Update", ""),
    ];
    let goal = goal("forward");
    let mut object = owner("2", 9, &[]).object.unwrap();
    object["metadata"]["annotations"][ROLLOUT_ANNOTATION] = goal.lock.to_text().into();
    object["metadata"]["managedFields"] = entries.into();
    object["status"] = json!({"observedGeneration": 9});
    let view = OwnerView { object: Some(object), ..OwnerView::default() };
    for (manager, keep, gone) in
        [("inplace-cli", false, &[4, 0][..]), ("inplace-cli", true, &[]), ("kubectl-edit", false, &[])]
    {
        let mut goal = goal.clone();
        goal.change.keep_field_ownership = keep;
        let pods = PodsState { done: true, ..PodsState::default() };
        let found = next(&goal.owner_of(WorkloadKind::ReplicaSet, &view, &pods, manager)).next;
        let Next::Write(StepName::Close, ObjectWrite::Patch { operations, .. }) = found else {
            panic!("{manager}: {found:?}");
        };
        let operations = serde_json::to_value(&operations).unwrap();
        let of = |op: &str| -> Vec<String> {
            let found = operations.as_array().unwrap().iter().filter(|one| one["op"] == op);
            let paths = found.map(|one| one["path"].as_str().unwrap().to_owned());
            paths.filter(|path| path.starts_with("/metadata/managedFields")).collect()
        };
        let entries = gone.iter().map(|index| format!("/metadata/managedFields/{index}"));
        assert_eq!(of("remove"), entries.collect::<Vec<_>>(), "{manager} {keep}");
        assert_eq!(of("test").len(), 2 * gone.len());
    }
}

/// A run of an earlier version has set it, and this one goes on: nobody else has.
#[test]
fn what_this_program_has_held_back_under_its_earlier_name_was_not_released_by_another_client() {
    let mut goal = goal("forward");
    goal.lock.rollout.strategy = Some(json!({"type": "RollingUpdate"}));
    let pods = PodsState { done: true, replaced: true, ..PodsState::default() };
    let revision = json!({"metadata": {"name": "web-a", "labels": {"controller-revision-hash": "a"}}, "revision": 1,
        "data": {"spec": {"template": template("2")}}});
    for (manager, is_another) in [("inplace-cli", false), ("kubectl-inplace", false), ("kubectl-edit", true)] {
        let mut object = owner("2", 9, &[]).object.unwrap();
        object["metadata"]["annotations"][ROLLOUT_ANNOTATION] = goal.lock.to_text().into();
        object["metadata"]["managedFields"] = json!([{"manager": manager, "operation": "Update",
            "fieldsV1": {"f:spec": {"f:updateStrategy": {"f:type": {}}}}}]);
        object["status"] = json!({"observedGeneration": 9});
        let view = OwnerView { object: Some(object), owned: vec![revision.clone()], ..OwnerView::default() };
        let found = next(&goal.owner(KIND, &view, &pods));
        assert!(matches!(&found.next, Next::Write(StepName::Close, _)), "{manager}: {found:?}");
        assert_eq!(found.conflict.is_some(), is_another, "{manager}: {found:?}");
    }
}

#[test]
fn another_rollouts_lock_is_never_touched() {
    let mut theirs = Lock { run: "theirs".into(), ..goal("forward").lock };
    theirs.rollout.id = "two".into();
    for (outcome, own_lock) in [(None, OwnLock::Held), (Some(EndResult::Aborted), OwnLock::Held)] {
        let entries: Vec<HistoryEntry> = outcome.map(entry).into_iter().collect();
        let mut view = owner("1", 9, &entries);
        view.object.as_mut().unwrap()["metadata"]["annotations"][ROLLOUT_ANNOTATION] = theirs.to_text().into();
        let found = decision(&goal("forward"), &view, own_lock);
        let says = if outcome.is_none() { "rollout \"two\" of jane has taken its place" } else { "it was aborted" };
        assert!(found.conflict.as_ref().is_some_and(|why| why.starts_with(says)), "{outcome:?}: {found:?}");
        assert_eq!(found.next, Next::Nothing);
    }
}

/// The leftovers must not say that the pods were created with a template that none of them has had.
#[test]
fn over_another_clients_template_the_replica_set_gets_its_own_back_on_the_way_back_too() {
    for direction in ["forward", "back"] {
        let mut goal = goal(direction);
        let outgoing = json!({"name": "web-a", "uid": "set", "revision": 1});
        goal.lock.rollout.outgoing = Some(serde_json::from_value(outgoing).unwrap());
        let mut of_set = template("2");
        of_set["metadata"] = json!({"labels": {"pod-template-hash": "a"}});
        let set = json!({"metadata": {"name": "web-a", "uid": "set", "resourceVersion": "5"},
            "spec": {"replicas": 2, "template": of_set}});
        let mut view = owner("3", 9, &[]);
        let object = view.object.as_mut().unwrap();
        object["metadata"]["annotations"][ROLLOUT_ANNOTATION] = goal.lock.to_text().into();
        object["spec"]["paused"] = true.into();
        view.owned = vec![set];
        let pods = PodsState::default();
        let found = next(&goal.owner(WorkloadKind::Deployment, &view, &pods));
        let Decision { conflict: Some(_), next: Next::Write(StepName::SetReplicaSetTemplate, write) } = &found else {
            panic!("{direction}: {found:?}");
        };
        assert!(format!("{write:?}").contains("side:1"), "{direction}: {write:?}");
    }
}

#[test]
fn what_a_late_create_has_left_of_an_aborted_rollout_is_deleted_and_nothing_else() {
    let set = |name: &str, hash: &str, created: &str, tag: &str, replicas: i64| {
        let mut template = template(tag);
        template["metadata"] = json!({"labels": {"pod-template-hash": hash}});
        json!({"metadata": {"name": name, "uid": name, "labels": {"pod-template-hash": hash}, "resourceVersion": "5",
                "creationTimestamp": created}, "spec": {"replicas": replicas, "template": template}})
    };
    let hash = deployment::history_hash(&"one".into());
    let name = format!("web-{hash}");
    let current = set("web-a", "a", "2026-03-01T09:00:00Z", "1", 2);
    let late = |tag: &str, replicas: i64| set(&name, &hash, "2026-03-01T10:00:00Z", tag, replicas);
    let object = |outcome| owner("1", 1, &[entry(outcome)]).object.unwrap();
    for (outcome, made, is_deleted) in [
        (EndResult::Aborted, late("1", 0), true),
        (EndResult::Superseded, late("1", 0), true),
        (EndResult::Complete, late("1", 0), false),
        (EndResult::Aborted, late("1", 1), false),
        // Nobody else has its template.
        (EndResult::Aborted, late("0", 0), false),
        (EndResult::Aborted, set("web-b", "b", "2026-03-01T10:00:00Z", "1", 0), false),
        (EndResult::Aborted, set(&name, &hash, "2026-03-01T08:00:00Z", "1", 0), false),
    ] {
        let found = deployment::delete_leftover(&object(outcome), &[current.clone(), made.clone()], None);
        assert_eq!(found.is_some(), is_deleted, "{outcome:?} {made}");
        let key = |object: &ObjectKey| object.name == name;
        let is_it =
            |write: &ObjectWrite| matches!(write, ObjectWrite::Delete { object, version: Some(_) } if key(object));
        assert!(found.iter().all(is_it), "{found:?}");
    }
}

/// The annotations of an owner and the goal of a recorded run.
#[test]
fn what_was_noted_is_read_and_written_the_same() {
    let metadata =
        r#""metadata":{"labels":{"tier":{"from":"a","to":"b"}},"annotations":{"old":{"from":"1","to":null}}}"#;
    let change = format!(
        r#"{{"images":{{"init":{{"list":"initContainers","from":"i:1","to":"i:2"}},"side":{{"from":"s:1","to":"s:2"}}}},{metadata}}}"#
    );
    let read: Change = serde_json::from_str(&change).unwrap();
    let shown = |fields: &FieldChanges| {
        let rows = fields.rows().into_iter();
        rows.map(|row| format!("{} {:?} {:?}", row.path, row.before, row.after)).collect::<Vec<_>>()
    };
    let expected = [r#"metadata.labels.tier Some("a") Some("b")"#, r#"metadata.annotations.old Some("1") None"#]
        .map(str::to_owned);
    assert_eq!((read.images.len(), shown(&read.fields)), (2, expected.to_vec()));
    assert_eq!(serde_json::to_string(&read).unwrap(), change);
    // Written by another version: going on with the known half would leave the other half.
    let newer = change.replacen("\"images\"", "\"hostAliases\":{},\"images\"", 1);
    assert!(serde_json::from_str::<Change>(&newer).unwrap_err().to_string().contains("no change of hostAliases"));

    let entry = format!(
        r#"[{{"id":"one","who":"jane","since":"2026-03-01T10:00:00Z","direction":"forward","change":{change},"digests":{{"side":"sha256:1"}},"ended":"2026-03-01T10:01:00Z","outcome":"complete"}}]"#
    );
    let entries: Vec<HistoryEntry> = serde_json::from_str(&entry).unwrap();
    assert_eq!(shown(&entries[0].rollout.change.fields), expected);
    assert_eq!(to_text(&entries), entry);

    let pod = format!(r#"{{"key":{{"namespace":"n","name":"p","uid":"u"}},"containers":{{}},{metadata}}}"#);
    let goal: PodGoal = serde_json::from_str(&pod).unwrap();
    assert_eq!(shown(&goal.fields), expected);
    assert_eq!(serde_json::to_string(&goal).unwrap(), pod);
}

/// A kind that does not exist: its controller replaces no pod while `spec.frozen` is set. All that it needs is this table.
const FREEZER: Table<'static> = Table {
    steps: &[
        write(StepName::SetTemplate, is_template_set, |owner| {
            owner.set_template().set("/spec/frozen", Some(true.into())).write()
        }),
        TAKE_LOCK,
        TAKE_PODS,
        OBSERVED,
        update_pods(|_| None),
        wait("the freezer to count the pods", |owner| owner.integer("/status/updated") == 2),
        write(StepName::Unpause, |owner| !is_frozen(owner), |owner| owner.patch().set("/spec/frozen", None).write()),
        CLOSE,
        REMOVE_REMAINS,
    ],
    conflict: |owner| {
        let is_thawed = has_own_lock(owner) && !is_frozen(owner) && !owner.pods.done;
        is_thawed.then_some("it was thawed by another client")
    },
    cleanup: &[write(StepName::Close, |_| false, |owner| owner.closing(EndResult::Superseded, None).write())],
};

fn is_frozen(owner: &Owner<'_>) -> bool {
    owner.object.pointer("/spec/frozen") == Some(&Value::Bool(true))
}

/// The steps that a run goes through, with a controller that has seen a write by the next read. Somebody else acts before the
/// pods are updated.
fn freezer_rollout(act: fn(&mut Value)) -> (Vec<String>, Value) {
    let goal = goal("forward");
    let (mut view, mut pods, mut own_lock) = (owner("1", 7, &[]), PodsState::default(), OwnLock::default());
    let mut steps: Vec<String> = Vec::new();
    for _ in 0..20 {
        let read = goal.owner(KIND, &view, &pods);
        own_lock = own_lock.seen(&read);
        let Decision { conflict, next } = step::next(&read.knowing(own_lock), &FREEZER);
        steps.extend(conflict);
        let object = view.object.as_mut().unwrap();
        match next {
            Next::Write(step, ObjectWrite::Patch { operations, .. }) => {
                testkit::api_model::carry_out(object, &operations).unwrap();
                own_lock = own_lock.answered(step, Stored::Yes, 7);
                steps.push(format!("{step:?}"));
            }
            Next::Wait(what) => {
                steps.push(what.to_owned());
                object["status"] = json!({"observedGeneration": 7, "updated": if pods.done { 2 } else { 0 }});
            }
            Next::UpdatePods { revision: None } => {
                steps.push("the pods".into());
                act(object);
                pods.done = object["spec"]["frozen"] == true;
            }
            Next::Nothing => break,
            Next::Write(..) | Next::TakePods | Next::UpdatePods { .. } => panic!("{steps:?}"),
        }
    }
    (steps, view.object.unwrap())
}

#[test]
fn a_new_kind_of_owner_is_one_table() {
    let begins = ["SetTemplate", "the controller to see the change", "the pods"];
    let (steps, object) = freezer_rollout(|_| {});
    assert_eq!(steps, [&begins[..], &["the freezer to count the pods", "Unpause", "Close"]].concat());
    assert_eq!((&object["spec"]["template"], object["spec"].get("frozen")), (&template("2"), None));
    assert_eq!(Lock::text_of(&object), None);
    assert_eq!(history::of(&object).pop().unwrap().outcome, EndResult::Complete);

    let (steps, object) = freezer_rollout(|object| object["spec"]["frozen"] = false.into());
    let thawed = "it was thawed by another client";
    let ended = "another run (jane) found it changed by another client and ended it";
    assert_eq!(steps, [&begins[..], &[thawed, "Close", ended]].concat());
    assert_eq!(history::of(&object).pop().unwrap().outcome, EndResult::Superseded);
}
