//! PodDisruptionBudgets are respected, with a wait that says on which; and the batches: canary, pauses, subsets.

use serde_json::{Value, json};

use crate::support::api_server::{ApiServer, Effect, When};
use crate::support::builders::{self, Workload};
use crate::support::run::Output;
use crate::support::scene::{
    APPLY, images, patched, patches, run, server_with, two_containers, typed, web, with_controllers,
};

/// A budget over `web` that wants `min_available` of its three pods to stay.
fn budget(name: &str, min_available: u64) -> Value {
    let mut budget = builders::budget("web", 3_u64.saturating_sub(min_available));
    budget["metadata"]["name"] = name.into();
    budget["spec"]["minAvailable"] = min_available.into();
    budget["status"]["desiredHealthy"] = min_available.into();
    budget
}

/// A budget that has room, but not now: one of its pods is being evicted.
fn busy(name: &str) -> Value {
    let mut busy = budget(name, 2);
    busy["status"]["disruptionsAllowed"] = 0.into();
    busy
}

fn with_budgets(budgets: impl IntoIterator<Item = Value>) -> ApiServer {
    let server = web();
    server.insert(budgets);
    server
}

fn loosen(server: &ApiServer, name: &str) {
    server.edit("poddisruptionbudgets", name, |budget| {
        budget["spec"]["minAvailable"] = 2.into();
        budget["status"]["disruptionsAllowed"] = 1.into();
        budget["status"]["observedGeneration"] = 9.into();
    });
}

const BLOCKED: &str = "waiting: availability budget: poddisruptionbudget/strict allows no pod to be down now: ";

#[test]
fn a_budget_that_blocks_is_named_and_waited_for() {
    let server = with_budgets([busy("strict")]);
    let running = typed(&server, APPLY).spawn();
    running.wait_for_stderr(BLOCKED);
    running.wait_for_stderr("its status allows 0 disruptions");
    assert!(patches(&server).is_empty());
    loosen(&server, "strict");
    running.wait().ends_with(0);
    assert_eq!(patched(&server).len(), 3);
}

#[test]
fn a_budget_that_can_never_allow_it_is_refused_before_anything_is_written() {
    for verb in ["apply", "plan"] {
        for more in ["--pods-only", ""] {
            let server = with_budgets([budget("strict", 3)]);
            let yes = if verb == "plan" { "--detailed-exitcode" } else { "--yes" };
            let output = run(&server, &format!("{verb} deploy/web side=:v2 {yes} {more}")).ends_with(3);
            output
                .prints("DisruptionBudgetBlocks: poddisruptionbudget/strict never allows any of 3 pods to be down")
                .prints("of 3 pods 3 must be healthy (minAvailable 3)")
                .prints("--disruption-budget=ignore");
            assert!(server.writes().is_empty(), "{verb} {more}");
        }
    }
    // What only reads as strict has room: the pods of another owner count, too.
    let mut shared = budget("shared", 3);
    shared["status"]["expectedPods"] = 5.into();
    shared["status"]["currentHealthy"] = 5.into();
    shared["status"]["disruptionsAllowed"] = 2.into();
    run(&with_budgets([shared]), APPLY).ends_with(0);
}

#[test]
fn a_budget_that_does_not_allow_it_in_time_ends_the_wait_with_its_name() {
    let mut unseen = budget("strict", 1);
    unseen["status"]["observedGeneration"] = 0.into();
    let busy = busy("strict");
    for (budget, why) in
        [(unseen, "the disruption controller has not seen it as it is now"), (busy, "its status allows 0 disruptions")]
    {
        let server = with_budgets([budget]);
        let output = run(&server, &format!("{APPLY} --timeout 2s")).ends_with(5).says(BLOCKED);
        output.prints("poddisruptionbudget/strict allows no pod to be down now").prints(why);
        assert!(patches(&server).is_empty(), "{why}");
        run(&server, &format!("{APPLY} --disruption-budget=ignore")).ends_with(0).omits("no further pod");
        assert_eq!(patched(&server).len(), 3, "{why}");
    }
}

#[test]
fn of_two_budgets_the_stricter_one_counts() {
    let server = with_budgets([budget("loose", 1), busy("strict")]);
    let output = run(&server, &format!("{APPLY} --timeout 2s")).ends_with(5).says(BLOCKED);
    output.says("poddisruptionbudget/loose selects the same pods, and only one of them is kept up to date");
    assert!(patches(&server).is_empty());
}

#[test]
fn pods_in_progress_count_as_down_though_they_look_ready() {
    let server = with_budgets([budget("loose", 2)]);
    server.pause_kubelet(true);
    let more = "--max-unavailable 3 --min-ready-seconds 0 --timeout 2s";
    run(&server, &format!("{APPLY} {more}")).ends_with(5);
    assert_eq!(patches(&server).len(), 1, "the budget allows one");
    let server = web();
    server.pause_kubelet(true);
    run(&server, &format!("{APPLY} {more}")).ends_with(5);
    assert_eq!(patches(&server).len(), 3, "without a budget all go");
}

#[test]
fn budgets_that_cannot_be_read_hold_it_up_and_are_no_permission() {
    let server = with_budgets([budget("loose", 2)]);
    // The plan has read them.
    server.fault(When::verb("list").of("poddisruptionbudgets").after(1), Effect::Unavailable);
    run(&server, &format!("{APPLY} --timeout 2s")).ends_with(5);
    assert!(patches(&server).is_empty());
}

#[test]
fn where_only_results_are_shown_a_safeguard_is_not_dropped_in_silence() {
    let server = with_budgets([budget("loose", 2)]);
    server.fault(When::verb("list").of("poddisruptionbudgets"), Effect::Forbid);
    let output = run(&server, &format!("{APPLY} -q")).ends_with(0);
    output.says("Warning:").says("poddisruptionbudgets").omits("patch sent").omits("Steps:").prints("Updated 3 pods");
}

#[test]
fn a_rollout_that_was_left_is_not_taken_over_while_a_budget_allows_nothing() {
    for verb in ["resume", "abort"] {
        let server = with_controllers();
        run(&server, &format!("apply deploy/web side=:v2 --canary 1 {FAST}")).ends_with(0).prints("Paused");
        server.insert([budget("strict", 3)]);
        let status = run(&server, "status deploy/web").ends_with(0);
        status.prints("the rollout waits: poddisruptionbudget/strict allows no pod to be down now: ");
        server.fault(When::verb("list").of("poddisruptionbudgets").times(1), Effect::Forbid);
        run(&server, "status deploy/web")
            .ends_with(0)
            .omits("poddisruptionbudget/")
            .prints("it is not known whether the rollout waits for one");
        // Its controller may count the pods that are ready meanwhile.
        let held = || {
            let owner = server.object("deployments", "web").unwrap_or_default();
            (owner["spec"].clone(), owner["metadata"]["annotations"].clone(), owner["metadata"]["generation"].clone())
        };
        let before = held();
        let written = server.writes().len();
        let output = run(&server, &format!("{verb} deploy/web {FAST} --timeout 2s")).ends_with(5);
        output.says("waiting, nothing is changed yet").prints("no pod may be taken down: poddisruptionbudget/strict");
        assert_eq!(server.writes().len(), written, "{verb}: {:?}", server.writes());
        assert_eq!(held(), before, "{verb}");
        server.delete("poddisruptionbudgets", "strict");
        run(&server, &format!("{verb} deploy/web {FAST}")).ends_with(0);
        assert_eq!(patched_pods(&server), if verb == "resume" { 3 } else { 0 });
    }
}

/// What another run has left out of its Services goes back into them, whatever a budget says.
#[test]
fn what_was_left_in_progress_goes_on_whatever_a_budget_allows() {
    let server = with_controllers();
    server.pause_kubelet(true);
    let running = typed(&server, &format!("apply deploy/web side=:v2 {FAST}")).spawn();
    running.wait_for_stderr("patch sent");
    running.signal("INT");
    running.wait().ends_with(130);
    server.insert([budget("strict", 3)]);
    let written = server.writes().len();
    run(&server, &format!("resume deploy/web {FAST} --timeout 2s")).ends_with(5);
    assert!(server.writes().len() > written, "the lock is taken over: a pod of it is in hand");
}

/// Runs the command that is printed after `Resume: `.
fn go_on(server: &ApiServer, output: &Output, more: &str) -> Output {
    let line = output.after("Resume: kubectl inplace ");
    run(server, &format!("{} --yes {more}", line.replace(" --yes", "")))
}

const FAST: &str = "--yes --min-ready-seconds 0";

#[test]
fn a_canary_pauses_with_code_0_and_the_next_command_goes_on() {
    for (pods_only, verb) in [("", "resume "), (" --pods-only", "apply ")] {
        let server = with_controllers();
        let output = run(&server, &format!("apply deploy/web side=:v2 --canary 1 {FAST}{pods_only}")).ends_with(0);
        let output = output
            .prints("one at a time, pauses after the first pod,")
            .prints("Paused")
            .prints(&format!("Resume: kubectl inplace {verb}"));
        assert_eq!(patched_pods(&server), 1);
        go_on(&server, &output, "--min-ready-seconds 0").ends_with(0).omits("Paused");
        assert_eq!(patched_pods(&server), 3, "a canary is one pause");
    }
    let server = with_controllers();
    let lines =
        run(&server, &format!("apply deploy/web side=:v2 --canary 34% {FAST} -o json")).ends_with(0).json_lines();
    assert_eq!(lines.last().map(|line| line["result"].clone()), Some(json!("paused")));
    assert_eq!(patched_pods(&server), 2);
    let plan = |flag: &str| run(&with_controllers(), &format!("plan deploy/web side=:v2 {flag}")).ends_with(0);
    plan("--canary 2").prints(", pauses after the first 2 pods,");
    plan("--canary 3").prints(", no pause (--canary covers every pod),");
    plan("--pause-after 2").prints(", pauses after every 2 pods,");
    plan("--pause-after 9").prints(", no pause (--pause-after covers every pod),");
}

fn patched_pods(server: &ApiServer) -> usize {
    images(server, "side").iter().filter(|image| *image == "acme/side:v2").count()
}

#[test]
fn pause_after_pauses_again_and_again() {
    let server = with_controllers();
    let mut output = run(&server, &format!("apply deploy/web side=:v2 --pause-after 1 {FAST}")).ends_with(0);
    for count in 1..3 {
        output = output.prints("Paused");
        assert_eq!(patched_pods(&server), count);
        output = go_on(&server, &output, "--min-ready-seconds 0").ends_with(0);
    }
    output.omits("Paused");
    assert_eq!(patched_pods(&server), 3);
}

/// What was changed before the question stays changed, and no word says otherwise.
#[test]
fn ctrl_c_at_a_pause_says_what_stays() {
    let server = with_controllers();
    let asked = format!("apply deploy/web side=:v2 --pause-after 1 {FAST}");
    let mut running = typed(&server, &asked).on_a_terminal().spawn();
    running.wait_for_stdout("Only 'yes' will be accepted to approve");
    running.type_in("\u{3}");
    let output = running.wait().ends_with(130).omits("nothing was changed");
    output.prints("not approved: this run changes nothing more, and what it has changed stays");
    assert_eq!(patched_pods(&server), 1);
}

/// A command that goes on after a pause has changed pods before it.
#[test]
fn what_ends_after_a_pause_does_not_say_that_nothing_was_changed() {
    let server = with_controllers();
    let asked = format!("apply deploy/web side=:v2 --pause-after 1 {FAST}");
    let mut running = typed(&server, &asked).on_a_terminal().spawn();
    running.wait_for_stdout("Only 'yes' will be accepted to approve");
    server.edit("deployments", "web", |owner| {
        owner["spec"]["template"]["spec"]["containers"][0]["image"] = "acme/app:v9".into();
    });
    running.type_in("yes\r");
    running.wait().ends_with(6).omits("changed no pod").omits("changed nothing");
}

/// The pauses are for what is new.
#[test]
fn what_goes_back_does_not_pause() {
    for (verb, more, pods) in [("abort", "", 0), ("resume", " --pause-after 0", 3)] {
        let server = with_controllers();
        let paused = run(&server, &format!("apply deploy/web side=:v2 --pause-after 1 {FAST}")).ends_with(0);
        paused.prints("Resume: kubectl inplace resume deployment/web\n");
        run(&server, &format!("resume deploy/web --pause-after 1 {FAST}")).ends_with(0).prints("Paused");
        run(&server, &format!("{verb} deploy/web {FAST}{more}")).ends_with(0).omits("Paused");
        assert_eq!(patched_pods(&server), pods, "{verb}");
    }
}

#[test]
fn the_pace_is_that_of_the_budget() {
    let plan = |min_available: u64, most: u32| {
        let server = with_budgets([budget("strict", min_available)]);
        run(&server, &format!("plan deploy/web side=:v2 --max-unavailable {most}")).ends_with(0)
    };
    plan(2, 3).prints("one at a time (poddisruptionbudget/strict),");
    plan(1, 3).prints("up to 2 at a time (poddisruptionbudget/strict),");
    plan(2, 1).prints("one at a time,");
    plan(1, 2).prints("up to 2 at a time,");
}

fn db() -> ApiServer {
    let server = server_with([two_containers(Workload::stateful_set("db"))]);
    server.run_controllers(true);
    server
}

#[test]
fn subsets_take_the_pods_that_were_named_and_no_other() {
    for (flags, wanted) in [
        ("--pods db-1", vec!["db-1"]),
        ("--pods pod/db-0,db-2", vec!["db-2", "db-0"]),
        ("--partition 1", vec!["db-2", "db-1"]),
        ("--node node-a", vec!["db-2", "db-1", "db-0"]),
        ("--node node-b", vec![]),
    ] {
        let server = db();
        let output = run(&server, &format!("apply sts/db side=:v2 {FAST} --pods-only {flags}"));
        assert_eq!(patched(&server), wanted, "{flags}\n{}", output.block());
    }
    run(&web(), &format!("apply deploy/web side=:v2 {FAST} --partition 1"))
        .ends_with(1)
        .says("--partition is for StatefulSets");
}
