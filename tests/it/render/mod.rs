//! Every format and every listener, fed the same plans and rollouts; what they write is kept in
//! `tests/snapshots/render/`. `UPDATE=1 cargo test --test it render` writes the files again: read the difference.

mod plans;
mod reports;
mod rollouts;
mod screen;
mod snapshots;
mod warnings;
mod widths;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use clap::ValueEnum;
use engine::change::reason::{ReasonCode, WarningCode};
use engine::k8s::names::PodKey;
use engine::plan::{PLAN_API_VERSION, Verdict, WorkloadPlan};
use engine::report::Notice;
use engine::report::progress::{PodInProgress, Progress, Stage, UpdatePhase};
use engine::rollout::PodGoal;
use engine::state::outcome::EndResult;
use engine::value::hint::Flags;
use indicatif::ProgressDrawTarget;
use kubectl_inplace::render::{
    Guide, JsonLines, Lines, Listener, Live, Narrower, NextSteps, PlanFormat, Screen, SharedScreen, Style, Terminal,
    plan, plan_warnings,
};
use serde_json::Value;

use rollouts::Rollout;
use screen::FakeTerminal;

const PLAIN: Terminal = Terminal { stdout: Style::PLAIN, stderr: Style::PLAIN, live: false, quiet: false };
const COLUMNS: u16 = 100;

/// A writer whose bytes can be read while a listener owns it.
#[derive(Clone, Default)]
struct Bytes(Arc<Mutex<Vec<u8>>>);

impl Write for Bytes {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Bytes {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

fn written_plan(format: PlanFormat, sample: &plans::Sample, style: &Style) -> (String, String) {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let jane = || vec!["--as".to_owned(), "jane".to_owned()];
    let safe = |command: &str| {
        (command.to_owned(), ["--timeout".to_owned(), "8m".to_owned()].into_iter().chain(jane()).collect())
    };
    let flags = Flags { connection: jane(), own: ["follow", "resume", "abort"].map(safe).into() };
    let guide = Guide { next: Some("kubectl inplace apply -f web.yaml"), flags: Some(&flags), ..Guide::default() };
    plan(format, &sample.plan, &guide, style, &mut out).unwrap();
    plan_warnings(format, &sample.plan, style, &mut err).unwrap();
    (String::from_utf8(out).unwrap(), String::from_utf8(err).unwrap())
}

/// What each code has in the JSON document besides what all have, as a table: the samples hold every code.
pub(crate) fn fields_of_codes() -> String {
    let mut codes: [BTreeMap<String, BTreeSet<String>>; 2] = Default::default();
    let list = |value: &Value, key: &str| value[key].as_array().cloned().unwrap_or_default();
    for sample in plans::samples() {
        let (json, _) = written_plan(PlanFormat::Json, &sample, &Style::PLAIN);
        for workload in list(&serde_json::from_str(&json).unwrap(), "workloads") {
            let of_pods = list(&workload, "pods").into_iter().flat_map(|pod| list(&pod, "reasons"));
            let reasons: Vec<Value> = list(&workload, "reasons").into_iter().chain(of_pods).collect();
            let common: [&[&str]; 2] = [&["code", "path", "message", "hint"], &["code", "message"]];
            for ((reported, common), codes) in [reasons, list(&workload, "warnings")].iter().zip(common).zip(&mut codes)
            {
                for one in reported {
                    let fields = one.as_object().unwrap().keys().filter(|key| !common.contains(&key.as_str()));
                    codes.entry(one["code"].as_str().unwrap().to_owned()).or_default().extend(fields.cloned());
                }
            }
        }
    }
    assert_eq!(codes.each_ref().map(BTreeMap::len), [ReasonCode::ALL.len(), WarningCode::ALL.len()]);
    let mut table = String::from("| code | fields |\n|---|---|\n");
    for (code, fields) in codes.iter().flatten().filter(|(_, fields)| !fields.is_empty()) {
        let fields: Vec<String> = fields.iter().map(|field| format!("`{field}`")).collect();
        table.push_str(&format!("| `{code}` | {} |\n", fields.join(", ")));
    }
    table
}

fn next_steps() -> NextSteps {
    NextSteps {
        take_back: Some("kubectl inplace undo deploy/web -n prod".into()),
        go_on: Some("kubectl inplace apply -f web.yaml".into()),
        abort: Some("kubectl inplace abort deploy/web -n prod".into()),
        follow: Some("kubectl inplace follow deploy/web -n prod".into()),
        is_short_of_time: false,
        expected: Some(Duration::from_secs(12)),
        after: None,
        undoes_failures: false,
        undoes_deferred: false,
        despite_failures: None,
        despite_budget: None,
        again_despite_budget: None,
        without_hooks: None,
        leaving_resizes: None,
        forward: None,
    }
}

fn feed(listener: &mut dyn Listener, rollout: &Rollout) {
    listener.start(&rollout.goal, &next_steps()).unwrap();
    for (elapsed, notice) in &rollout.notices {
        listener.notice(notice, *elapsed).unwrap();
    }
    listener.outcome(&rollout.outcome, None).unwrap();
}

fn lines(rollout: &Rollout) -> (String, String) {
    let (out, err) = (Bytes::default(), Bytes::default());
    feed(&mut Lines::new(&PLAIN, Box::new(out.clone()), Box::new(err.clone())), rollout);
    (out.text(), err.text())
}

fn json_lines(rollout: &Rollout) -> String {
    let out = Bytes::default();
    feed(&mut JsonLines::new(Box::new(out.clone())), rollout);
    out.text()
}

/// What the engine would say of how far it is, after these notices.
#[derive(Default)]
struct Seen(BTreeMap<PodKey, (UpdatePhase, Duration)>);

impl Seen {
    fn hear(&mut self, notice: &Notice, at: Duration) {
        if let Notice::Pod { pod, phase } = notice {
            self.0.insert(pod.clone(), (phase.clone(), at));
        }
    }

    fn progress(&self, rollout: &Rollout, now: Duration) -> Progress {
        let stage = |pod: &PodGoal| self.0.get(&pod.key).map_or(Stage::Waiting, |(phase, _)| phase.stage());
        let count = |wanted: Stage| rollout.goal.pods.iter().filter(|pod| stage(pod) == wanted).count();
        let in_progress = rollout.goal.pods.iter().filter(|pod| stage(pod) == Stage::InProgress);
        let shown = in_progress.take(10).filter_map(|goal| {
            let (phase, since) = self.0.get(&goal.key)?.clone();
            let at_most = if let UpdatePhase::Stabilizing { hold_seconds } = phase { hold_seconds } else { 330 };
            Some(PodInProgress {
                pod: goal.key.clone(),
                phase,
                node: "node-a".into(),
                restarts: Some(1),
                waited: now.saturating_sub(since),
                at_most: Some(Duration::from_secs(u64::from(at_most))),
                back_off: None,
            })
        });
        Progress {
            pods: rollout.goal.pods.len(),
            done: count(Stage::Done),
            failed: count(Stage::Failed),
            waiting: count(Stage::Waiting),
            to_come: if count(Stage::Failed) > 0 { 0 } else { count(Stage::Waiting) },
            in_progress: count(Stage::InProgress),
            shown: shown.collect(),
        }
    }
}

/// How far it is when the first notice was heard.
fn first_progress(rollout: &Rollout) -> Progress {
    let mut seen = Seen::default();
    rollout.notices.iter().take(1).for_each(|(at, notice)| seen.hear(notice, *at));
    seen.progress(rollout, Duration::from_secs(1))
}

fn live_on<'a>(terminal: &FakeTerminal, out: &Bytes, style: Style) -> Live<'a> {
    let target = ProgressDrawTarget::term_like(Box::new(Narrower::new(terminal.clone())));
    let screen = Screen::new(target, terminal.columns());
    let styles = Terminal { stdout: style, stderr: style, live: true, quiet: false };
    Live::new(screen, &styles, Box::new(out.clone()), Box::new(terminal.clone()))
}

/// The screen after each notice, once the listener has had its ticks, and what is left at the end.
fn live(rollout: &Rollout, columns: u16, style: Style) -> (String, FakeTerminal) {
    let (terminal, out) = (FakeTerminal::new(columns), Bytes::default());
    let mut seen = Seen::default();
    let mut listener = live_on(&terminal, &out, style);
    let mut frames = String::new();
    listener.start(&rollout.goal, &next_steps()).unwrap();
    let ends = rollout.notices.iter().skip(1).map(|(elapsed, _)| *elapsed);
    let ends = ends.chain([Duration::from_secs_f64(rollout.outcome.seconds)]);
    for ((elapsed, notice), until) in rollout.notices.iter().zip(ends) {
        listener.notice(notice, *elapsed).unwrap();
        seen.hear(notice, *elapsed);
        let shown_at = until.min(*elapsed + Duration::from_millis(400));
        while let Some(tick) = listener.next_tick().filter(|tick| *tick < shown_at) {
            let now = tick.max(*elapsed);
            listener.tick(&seen.progress(rollout, now), now).unwrap();
        }
        frames.push_str(&format!("--- at {:.1} s\n{}", shown_at.as_secs_f64(), terminal.contents()));
    }
    listener.outcome(&rollout.outcome, None).unwrap();
    assert_eq!(listener.next_tick(), None, "{}: it is over", rollout.name);
    frames.push_str(&format!("--- at the end\n{}--- stdout\n{}", terminal.contents(), out.text()));
    (frames, terminal)
}

#[test]
fn every_format_and_listener_writes_what_its_snapshot_says() {
    let mut snapshots = snapshots::Snapshots::new("render");
    for sample in plans::samples() {
        for &format in PlanFormat::value_variants() {
            let (out, err) = written_plan(format, &sample, &Style::PLAIN);
            let text = format!("--- stdout\n{out}--- stderr\n{err}");
            let format = format.to_possible_value().unwrap();
            snapshots.check(&format!("plan-{}-{}", sample.name, format.get_name()), &text);
        }
    }
    for rollout in rollouts::samples() {
        let (out, err) = lines(&rollout);
        snapshots.check(&format!("rollout-{}-lines", rollout.name), &format!("--- stderr\n{err}--- stdout\n{out}"));
        snapshots.check(&format!("rollout-{}-json", rollout.name), &json_lines(&rollout));
        snapshots.check(&format!("rollout-{}-live", rollout.name), &live(&rollout, COLUMNS, Style::PLAIN).0);
    }
    let long = rollouts::long();
    for columns in [40, 80, 120, 200] {
        let style = Style { width: Some(columns), ..Style::PLAIN };
        snapshots.check(&format!("rollout-long-live-{columns}"), &live(&long, columns, style).0);
    }
    let ascii = Style { width: Some(80), unicode: false, ..Style::PLAIN };
    snapshots.check("rollout-long-live-ascii", &live(&long, 80, ascii).0);
    for (name, is_json) in [("text", false), ("json", true)] {
        let mut text = String::new();
        for result in EndResult::ALL {
            let rollout = rollouts::ended(result);
            let written = match is_json {
                false => lines(&rollout).0,
                true => json_lines(&rollout).lines().last().map(|line| format!("{line}\n")).unwrap(),
            };
            text.push_str(&format!("--- {result:?}\n{written}"));
        }
        snapshots.check(&format!("ends-{name}"), &text);
    }
    let narrow = Style { width: Some(60), unicode: false, ..Style::PLAIN };
    let colored = Style { color: true, ..Style::PLAIN };
    for (name, style) in [("narrow", narrow), ("color", colored)] {
        let sample = plans::samples().into_iter().find(|sample| sample.name == "mixed").unwrap();
        let (out, err) = written_plan(PlanFormat::Text, &sample, &style);
        let text = format!("--- stdout\n{out}--- stderr\n{err}").replace('\u{1b}', "<ESC>");
        snapshots.check(&format!("plan-mixed-{name}"), &text);
    }
    widths::check(&mut snapshots);
    snapshots.finish();
}

#[test]
fn no_width_is_too_narrow() {
    for sample in plans::samples() {
        for width in 0..=200 {
            written_plan(PlanFormat::Text, &sample, &Style { width: Some(width), ..Style::PLAIN });
        }
    }
}

#[test]
fn nothing_hostile_reaches_a_writer() {
    let mut written = Vec::new();
    for sample in plans::samples() {
        for &format in PlanFormat::value_variants() {
            let (out, err) = written_plan(format, &sample, &Style::PLAIN);
            written.extend([out, err]);
        }
    }
    for rollout in rollouts::samples() {
        let (out, err) = lines(&rollout);
        written.extend([out, err, json_lines(&rollout), live(&rollout, COLUMNS, Style::PLAIN).0]);
    }
    for text in &written {
        let hostile = text.chars().find(|c| (c.is_control() && *c != '\n') || ['\u{202e}', '\u{200b}'].contains(c));
        assert_eq!(hostile, None, "{text}");
    }
    // On a screen of this width any text may end up at the left; in the written text it may not.
    for text in written.iter().filter(|text| !text.starts_with("--- at")) {
        assert!(text.lines().all(|line| !line.starts_with("FORGED")), "a message made a line of its own: {text}");
    }
}

#[test]
fn json_is_whole_exact_and_versioned() {
    for sample in plans::samples() {
        let (out, err) = written_plan(PlanFormat::Json, &sample, &Style::PLAIN);
        let document: Value = serde_json::from_str(&out).unwrap();
        assert_eq!(document["apiVersion"], PLAN_API_VERSION);
        assert_eq!(document["result"], sample.plan.result().word());
        assert_eq!(document["applyable"], sample.plan.result() == EndResult::Changes);
        assert_eq!(err, "", "the warnings are in the document");
    }
    for rollout in rollouts::samples().into_iter().chain(EndResult::ALL.map(rollouts::ended)) {
        let objects: Vec<Value> =
            json_lines(&rollout).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(objects.len(), rollout.notices.len() + 2, "{}", rollout.name);
        assert!(objects.iter().all(|object| object["type"].is_string() && object["version"] == "v1alpha1"));
        let last = objects.last().unwrap();
        assert_eq!(last["type"], "summary");
        assert_eq!(last["result"], rollout.outcome.result.word());
    }
    let hostile = rollouts::samples().into_iter().find(|rollout| rollout.name == "hostile").unwrap();
    assert!(json_lines(&hostile).contains("\\u202e"));
    let parsed: Value = serde_json::from_str(json_lines(&hostile).lines().nth(2).unwrap()).unwrap();
    assert!(parsed["message"].as_str().unwrap().contains('\u{202e}'), "{parsed}");
}

#[test]
fn yaml_is_the_json_document() {
    for sample in plans::samples() {
        let (json, _) = written_plan(PlanFormat::Json, &sample, &Style::PLAIN);
        let (yaml, err) = written_plan(PlanFormat::Yaml, &sample, &Style::PLAIN);
        // What reads manifests as kubectl does wants every object to have a name.
        let named = format!("{yaml}metadata: {{name: plan}}\n");
        let mut documents = kubectl_inplace::manifest::parse("plan.yaml", named.as_bytes()).unwrap();
        let mut object = documents.remove(0).object;
        object.as_object_mut().unwrap().shift_remove("metadata");
        assert_eq!(object, serde_json::from_str::<Value>(&json).unwrap(), "{}: {yaml}", sample.name);
        assert!(documents.is_empty(), "one document");
        assert_eq!(err, "", "the warnings are in the document");
    }
}

#[test]
fn names_are_the_pods_that_would_change_and_nothing_else() {
    for sample in plans::samples() {
        let (json, _) = written_plan(PlanFormat::Json, &sample, &Style::PLAIN);
        let document: Value = serde_json::from_str(&json).unwrap();
        let pods = document["workloads"].as_array().unwrap().iter().flat_map(|it| it["pods"].as_array().unwrap());
        let changing = pods.filter(|pod| pod["verdict"] == "update" || pod["verdict"] == "inProgress");
        let pods = changing.map(|pod| Style::PLAIN.whole(&format!("pod/{}", pod["name"].as_str().unwrap())));
        // Manifests have no pods.
        let offline = |plan: &&WorkloadPlan| plan.is_offline() && plan.verdict == Verdict::InPlace;
        let offline =
            sample.plan.workloads.iter().filter(offline).map(|plan| format!("deployment.apps/{}", plan.workload.name));
        let expected: Vec<String> = offline.chain(pods).collect();
        let (out, err) = written_plan(PlanFormat::Name, &sample, &Style::PLAIN);
        assert_eq!(out.lines().collect::<Vec<_>>(), expected, "{}", sample.name);
        assert_eq!(
            err.contains("Not eligible"),
            !document["applyable"].as_bool().unwrap() && sample.plan.result() != EndResult::NothingToDo,
            "{err}"
        );
    }
}

#[test]
fn the_live_view_appears_late_draws_seldom_and_leaves_nothing() {
    for rollout in rollouts::samples() {
        let (terminal, out) = (FakeTerminal::new(COLUMNS), Bytes::default());
        let mut listener = live_on(&terminal, &out, Style::PLAIN);
        listener.start(&rollout.goal, &next_steps()).unwrap();
        let mut notices = rollout.notices.iter().peekable();
        let mut seen = Seen::default();
        // A loop that wakes far more often than it should.
        for millis in (0..10_000).step_by(10) {
            let now = Duration::from_millis(millis);
            while let Some((_, notice)) = notices.next_if(|(at, _)| *at <= now) {
                listener.notice(notice, now).unwrap();
                seen.hear(notice, now);
            }
            listener.tick(&seen.progress(&rollout, now), now).unwrap();
            if millis < 250 {
                assert_eq!(terminal.draws(), 0, "{}: drawn at {millis} ms", rollout.name);
            }
        }
        assert!((40..=50).contains(&terminal.draws()), "{}: {} draws in 10 s", rollout.name, terminal.draws());
        listener.outcome(&rollout.outcome, None).unwrap();
        assert!(!terminal.contents().contains(" pods done"), "{}: {}", rollout.name, terminal.contents());
    }
}

#[test]
fn colour_moves_nothing() {
    let screen = |frames: &str| frames.split("--- stdout").next().unwrap().to_owned();
    for rollout in rollouts::samples() {
        let (plain, terminal) = live(&rollout, COLUMNS, Style::PLAIN);
        assert!(!terminal.colored());
        let (colored, terminal) = live(&rollout, COLUMNS, Style { color: true, ..Style::PLAIN });
        assert!(terminal.colored());
        assert_eq!(screen(&plain), screen(&colored), "{}", rollout.name);
    }
}

#[test]
fn a_live_view_that_is_dropped_leaves_nothing() {
    let rollout = rollouts::samples().into_iter().find(|rollout| rollout.name == "complete").unwrap();
    let (terminal, out) = (FakeTerminal::new(COLUMNS), Bytes::default());
    let mut listener = live_on(&terminal, &out, Style::PLAIN);
    listener.start(&rollout.goal, &next_steps()).unwrap();
    listener.tick(&first_progress(&rollout), Duration::from_secs(1)).unwrap();
    assert!(terminal.contents().contains(" pods done"));
    drop(listener);
    assert!(!terminal.contents().contains(" pods done"), "{}", terminal.contents());
}

/// A rollout whose only pod, of such a name, is restarting.
fn restarting(name: &str) -> Rollout {
    let mut rollout = rollouts::samples().into_iter().find(|rollout| rollout.name == "many-in-hand").unwrap();
    rollout.goal.pods.truncate(1);
    let pod = Arc::make_mut(&mut rollout.goal.pods[0]);
    pod.key.name = name.into();
    let phase =
        UpdatePhase::Restarting { containers: Vec::new(), waiting: Some("ContainerCreating".into()), until: None };
    rollout.notices = vec![(Duration::ZERO, Notice::Pod { pod: pod.key.clone(), phase })];
    rollout
}

#[test]
fn the_key_of_an_interrupt_leaves_no_view_behind() {
    for columns in [40, 80, 120] {
        let rollout = restarting(&"x".repeat(150));
        let (terminal, out) = (FakeTerminal::new(columns), Bytes::default());
        let mut listener = live_on(&terminal, &out, Style::PLAIN);
        listener.start(&rollout.goal, &next_steps()).unwrap();
        listener.notice(&rollout.notices[0].1, Duration::ZERO).unwrap();
        listener.tick(&first_progress(&rollout), Duration::from_secs(1)).unwrap();
        // The terminal itself writes this at the cursor.
        terminal.clone().write_all(b"^C").unwrap();
        listener.notice(&Notice::Stopping, Duration::from_secs(2)).unwrap();
        terminal.clone().write_all(b"^C").unwrap();
        listener.outcome(&rollout.outcome, None).unwrap();
        let left = terminal.contents();
        assert!(
            !left.contains("1 pod done") && !left.contains("restarting") && !left.contains("^C"),
            "{columns}:\n{left}"
        );
        assert!(left.contains("stopping"), "{left}");
    }
}

#[test]
fn on_a_narrow_terminal_the_phase_stays_and_the_name_is_elided() {
    for columns in [40, 80, 200] {
        let rollout = restarting("web-with-a-name-that-is-long-indeed-7d9f5b6c8-2x4zq");
        let (terminal, out) = (FakeTerminal::new(columns), Bytes::default());
        let mut listener = live_on(&terminal, &out, Style::PLAIN);
        listener.start(&rollout.goal, &next_steps()).unwrap();
        listener.notice(&rollout.notices[0].1, Duration::ZERO).unwrap();
        listener.tick(&first_progress(&rollout), Duration::from_secs(1)).unwrap();
        let shown = terminal.contents();
        let line = shown.lines().find(|line| line.contains("restarting")).unwrap_or_else(|| panic!("{shown}"));
        assert!(line.chars().count() <= usize::from(columns) - 5, "{line}");
        assert!(line.starts_with("  web-") && line.contains("2x4zq  "), "{line}");
        assert_eq!(line.contains('…'), columns < 200, "{line}");
    }
}

#[test]
fn nothing_stays_behind_where_the_window_gets_narrower() {
    let (terminal, out, rollout) = (FakeTerminal::new(100), Bytes::default(), restarting("web-6d7dbdbc6-mzg9s"));
    let mut listener = live_on(&terminal, &out, Style::PLAIN);
    listener.start(&rollout.goal, &next_steps()).unwrap();
    let begun = terminal.contents();
    listener.notice(&rollout.notices[0].1, Duration::ZERO).unwrap();
    for (seconds, columns) in [(1, 100), (2, 40), (3, 120), (4, 50), (5, 24)] {
        terminal.shrink(columns);
        listener.tick(&first_progress(&rollout), Duration::from_secs(seconds)).unwrap();
        let shown = terminal.contents();
        assert_eq!(shown.matches(" of 1 pod done").count(), 1, "{columns}: {shown}");
        assert_eq!(shown.matches(" restarting").count(), 1, "{columns}: {shown}");
        let before: String = begun.split_whitespace().collect();
        assert!(shown.split_whitespace().collect::<String>().starts_with(&before), "{columns}: {shown}");
        assert!(!shown.contains("\n\n"), "{columns}: {shown}");
    }
    drop(listener);
    assert_eq!(terminal.contents().matches("done").count(), 0, "{}", terminal.contents());
}

#[test]
fn several_rollouts_share_a_screen() {
    let (terminal, out) = (FakeTerminal::new(COLUMNS), Bytes::default());
    let shared = SharedScreen::new(ProgressDrawTarget::term_like(Box::new(Narrower::new(terminal.clone()))));
    let styles = Terminal { stdout: Style::PLAIN, stderr: Style::PLAIN, live: true, quiet: false };
    let view = || {
        let screen = shared.screen(Box::new(|| Some(COLUMNS)));
        Live::new(screen, &styles, Box::new(out.clone()), Box::new(terminal.clone()))
    };
    let (mut first, mut second, rollout) = (view(), view(), restarting("web-0"));
    let heads = || terminal.contents().matches(" of 1 pod done").count();
    for listener in [&mut first, &mut second] {
        listener.start(&rollout.goal, &next_steps()).unwrap();
        listener.notice(&rollout.notices[0].1, Duration::ZERO).unwrap();
        listener.tick(&first_progress(&rollout), Duration::from_secs(1)).unwrap();
    }
    assert_eq!(heads(), 2, "{}", terminal.contents());
    shared.aside(|| terminal.clone().write_all(b"a log line\n")).unwrap();
    assert!(terminal.contents().contains("a log line\n") && heads() == 2, "{}", terminal.contents());
    first.outcome(&rollout.outcome, None).unwrap();
    assert_eq!(heads(), 1, "{}", terminal.contents());
    assert!(out.text().starts_with("prod deployment/web:\n"), "{}", out.text());
    second.notice(&Notice::Stopping, Duration::from_secs(2)).unwrap();
    second.tick(&first_progress(&rollout), Duration::from_secs(2)).unwrap();
    assert!(terminal.contents().contains("prod deployment/web: stopping"), "{}", terminal.contents());
    drop(first);
    second.outcome(&rollout.outcome, None).unwrap();
    assert_eq!(heads(), 0, "{}", terminal.contents());
}

#[test]
fn a_broken_pipe_is_the_callers_to_judge() {
    struct Closed;
    impl Write for Closed {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    for sample in plans::samples() {
        for &format in PlanFormat::value_variants() {
            if format == PlanFormat::Name && written_plan(format, &sample, &Style::PLAIN).0.is_empty() {
                continue;
            }
            let error = plan(format, &sample.plan, &Guide::default(), &Style::PLAIN, &mut Closed).unwrap_err();
            assert_eq!(error.kind(), std::io::ErrorKind::BrokenPipe);
        }
    }
}
