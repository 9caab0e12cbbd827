//! Real processes, all of them short.
#![expect(clippy::disallowed_methods, reason = "looks whether processes are there, and waits for them")]

use super::*;
use engine::k8s::names::WorkloadRef;
use engine::kinds::WorkloadKind;

fn run(phase: HookPhase) -> HookRun {
    HookRun {
        phase,
        pod: PodKey { namespace: "prod".into(), name: "web-0".into(), uid: "u0".into() },
        node: "node-a".into(),
        workload: WorkloadRef { kind: WorkloadKind::StatefulSet, namespace: "prod".into(), name: "web".into() },
        containers: vec!["app".into(), "side".into()],
    }
}

fn hooks(command: &str) -> Hooks {
    Hooks { before_pod: Some(command.into()), after_pod: None }
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime").block_on(future)
}

/// How a command ended, and the lines that it wrote.
fn ran(command: &str) -> (HookEnd, Vec<String>) {
    block_on(async {
        let (runner, mut lines) = HookRunner::new(&hooks(command));
        let end = runner.run(run(HookPhase::Before)).await;
        assert!(!runner.is_any(), "{command}: it has ended");
        drop(runner);
        let mut reported = Vec::new();
        while let Some(line) = lines.recv().await {
            reported.push(line.text);
        }
        (end, reported)
    })
}

#[test]
fn a_command_ends_as_it_ends_and_its_lines_are_reported() {
    let exited = |exit_code| HookResult::Exited { exit_code };
    for (command, how, message, lines) in [
        ("true", exited(0), "", &[][..]),
        ("echo one; echo two >&2; exit 3", exited(3), "", &["one", "two"]),
        ("printf 'no end'", exited(0), "no end", &["no end"]),
        ("printf 'a\\r\\nb\\n'", exited(0), "a / b", &["a", "b"]),
        (
            "for i in 1 2 3 4 5 6 7; do echo $i; done; exit 1",
            exited(1),
            "3 / 4 / 5 / 6 / 7",
            &["1", "2", "3", "4", "5", "6", "7"],
        ),
        ("kill -9 $$", HookResult::Signalled { signal: 9 }, "", &[]),
        ("exec /nowhere/at/all 2>/dev/null", exited(127), "", &[]),
        (
            "cat; echo \"$KUBECTL_INPLACE_PHASE $KUBECTL_INPLACE_POD $KUBECTL_INPLACE_CONTAINERS\"",
            exited(0),
            "before web-0 app,side",
            &["before web-0 app,side"],
        ),
    ] {
        let (end, mut reported) = ran(command);
        assert_eq!(end.how, how, "{command}");
        if !message.is_empty() {
            assert_eq!(end.message, message, "{command}");
        }
        reported.sort();
        assert_eq!(reported, lines, "{command}");
    }
}

#[test]
fn what_is_left_in_the_background_holds_nobody_up() {
    let began = std::time::Instant::now();
    let (end, reported) = ran("sleep 30 & echo started");
    assert_eq!((end.how, reported), (HookResult::Exited { exit_code: 0 }, vec!["started".to_owned()]));
    assert!(began.elapsed() < Duration::from_secs(10));
}

#[test]
fn without_a_command_nothing_starts() {
    let end = block_on(HookRunner::new(&Hooks::default()).0.run(run(HookPhase::After)));
    assert_eq!(end.how, HookResult::NotStarted);
}

/// Whether a process exists, and does not merely wait to be reaped.
fn lives(id: &str) -> bool {
    let state = std::fs::read_to_string(format!("/proc/{}/stat", id.trim())).unwrap_or_default();
    !state.is_empty() && !state.contains(") Z ")
}

#[test]
#[cfg(target_os = "linux")]
fn a_drive_that_stops_waiting_ends_the_whole_group() {
    block_on(async {
        let (runner, mut lines) = HookRunner::new(&hooks("trap '' TERM; sleep 60 & echo $!; echo $$; wait; wait"));
        let mut waiting = Box::pin(runner.run(run(HookPhase::Before)));
        let mut ids = Vec::new();
        while ids.len() < 2 {
            let read = futures::future::select(&mut waiting, Box::pin(lines.recv())).await;
            let futures::future::Either::Right((Some(line), _)) = read else { panic!("it ended") };
            ids.push(line.text);
        }
        assert!(ids.iter().all(|id| lives(id)), "{ids:?}");
        runner.tell(HookSignal::Terminate);
        assert!(runner.is_any(), "it does not listen");
        drop(waiting);
        assert!(!runner.is_any());
        for _ in 0..100 {
            if !ids.iter().any(|id| lives(id)) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("{ids:?} live");
    });
}
