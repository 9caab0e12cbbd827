//! Rollouts while things go wrong: pods are deleted, fall ill and are scaled, images crash or do not exist, the run itself is
//! killed. An independent count ([`count`]) says that maxUnavailable and the PodDisruptionBudgets held all along.
//!
//! A seed decides everything but the cluster's pace. `INPLACE_TEST_SEED=N` runs that one alone.

mod count;
mod scenario;

use std::env;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::{Namespace, Output, Running, Watch, images, is_ready, name, side_by_side};

use count::{Budget, Count, Limits, NEWS, count};
use scenario::{Kind, Mishap, Scenario, Wanted};

/// How many rollouts, from seed 1 on.
const ROLLOUTS: u64 = 32;

/// So many at once.
const SIDE_BY_SIDE: usize = 6;

/// A rollout in progress in a namespace of its own.
struct Rollout<'a> {
    scenario: &'a Scenario,
    namespace: &'a Namespace,
    running: Option<Running>,
    began: Instant,
    limits: Limits,
    /// Pods that are to be ready again at that time.
    ill: Vec<(Instant, String)>,
    happened: usize,
}

impl Rollout<'_> {
    fn spawn(&mut self, arguments: &[String]) {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        self.running = Some(self.namespace.inplace_spawn(&arguments));
    }

    fn pod(&self, number: usize) -> Option<String> {
        let pods = self.namespace.pods("app=web");
        let alive = pods.iter().filter(|pod| pod["metadata"]["deletionTimestamp"].is_null());
        alive.map(|pod| name(pod).to_owned()).nth(number)
    }

    fn in_container(&self, pod: &str, command: &str) {
        // What is appended after `--` is the shell's.
        let exec = ["exec", "-n", self.namespace.name(), pod, "-c", "app", "--", "sh", "-c", command];
        let output = self.namespace.try_kubectl(&exec, "");
        if output.code != 0 {
            // The pod or its container may be gone by now.
            println!("{} {pod}: {command}: {}", self.namespace.name(), output.stderr.trim());
        }
    }

    fn make_ill(&mut self, pod: &str, until: Option<Instant>) {
        self.in_container(pod, "rm /tmp/www/index.html");
        self.ill.extend(until.map(|until| (until, pod.to_owned())));
    }

    fn heal(&mut self, all: bool) {
        let now = Instant::now();
        let (due, rest) = self.ill.drain(..).partition::<Vec<_>, _>(|(until, _)| all || *until <= now);
        self.ill = rest;
        for (_, pod) in due {
            self.in_container(&pod, "echo healed > /tmp/www/index.html");
        }
    }

    fn happen(&mut self, mishap: Mishap) {
        self.happened += 1;
        match mishap {
            Mishap::Delete(number) => {
                if let Some(pod) = self.pod(number) {
                    self.namespace.try_kubectl(&["delete", "pod", &pod, "--wait=false"], "");
                }
            }
            Mishap::Unready(number, time) => {
                if let Some(pod) = self.pod(number) {
                    self.make_ill(&pod, Some(Instant::now() + time));
                }
            }
            Mishap::Ends(number) => {
                if let Some(pod) = self.pod(number) {
                    self.in_container(&pod, "kill -s TERM 1");
                }
            }
            Mishap::KillRun => {
                if let Some(running) = self.running.take() {
                    running.signal("KILL");
                    let killed = running.wait();
                    println!("{}: killed: {}", self.namespace.name(), killed.stderr);
                }
                let begun = ["get", self.scenario.reference(), "-o", "jsonpath={.metadata.annotations}"];
                let begun = self.namespace.kubectl(&begun).contains("kubectl-inplace.io/rollout");
                let resume = || {
                    let resume = ["resume", self.scenario.reference()].map(str::to_owned);
                    resume.into_iter().chain(self.scenario.policy()).collect()
                };
                self.spawn(&if begun { resume() } else { self.scenario.arguments() });
            }
            Mishap::Scale(replicas) => {
                self.limits.replicas.push((Instant::now(), replicas));
                let replicas = format!("--replicas={replicas}");
                self.namespace.kubectl(&["scale", self.scenario.reference(), &replicas]);
            }
        }
    }

    /// Lets everything happen in its time, and returns how the run ended.
    fn until_it_ends(&mut self) -> Output {
        for (at, mishap) in self.scenario.mishaps.clone() {
            while self.began.elapsed() < at && !self.running.as_mut().is_none_or(Running::has_ended) {
                thread::sleep(Duration::from_millis(50));
                self.heal(false);
            }
            if self.running.as_mut().is_none_or(Running::has_ended) {
                break;
            }
            self.happen(mishap);
        }
        let deadline = Instant::now() + Duration::from_secs(120);
        while !self.running.as_mut().is_none_or(Running::has_ended) && Instant::now() < deadline {
            thread::sleep(Duration::from_millis(50));
            self.heal(false);
        }
        self.heal(true);
        self.running.take().expect("a run was started").wait()
    }
}

/// How one went.
struct Report {
    count: Count,
    happened: usize,
}

fn begin(namespace: &Namespace, scenario: &Scenario) -> Watch {
    namespace.apply(&scenario.manifest());
    namespace.wait_ready("app=web", scenario.replicas);
    namespace.watch("app=web")
}

/// Runs one, checks its end, and counts.
fn rollout(seed: u64) -> Report {
    let scenario = Scenario::of(seed);
    let context = format!("INPLACE_TEST_SEED={seed}: {scenario:?}");
    let namespace = Namespace::new(&format!("on-call-{seed}"));
    let watch = begin(&namespace, &scenario);
    let limits = Limits {
        max_unavailable: scenario.max_unavailable,
        budget: scenario.budget,
        replicas: vec![(Instant::now(), scenario.replicas)],
    };
    let mut rollout = Rollout {
        scenario: &scenario,
        namespace: &namespace,
        running: None,
        began: Instant::now(),
        limits,
        ill: Vec::new(),
        happened: 0,
    };
    if let Some(pod) = scenario.broken.and_then(|number| rollout.pod(number)) {
        rollout.make_ill(&pod, None);
        namespace.wait_pods("app=web", |pods| pods.iter().any(|other| name(other) == pod && !is_ready(other)));
    }
    rollout.began = Instant::now();
    rollout.spawn(&scenario.arguments());
    let output = rollout.until_it_ends();
    let (limits, happened) = (rollout.limits.clone(), rollout.happened);
    assert_end(&namespace, &scenario, &output, &limits, &context);
    let count = count(&watch.seen(), &limits);
    println!(
        "{context}: exit {} after {:.1} s, {} of {} mishaps, pods taken {} times, {} at once",
        output.code,
        output.elapsed.as_secs_f64(),
        happened,
        scenario.mishaps.len(),
        count.taken,
        count.most
    );
    assert!(count.breaches.is_empty(), "{:#?}\n{context}\n{output:#?}\n{:#?}", count.breaches, count.story);
    assert!(count.taken > 0, "nothing was counted: {context}\n{output:#?}");
    Report { count, happened }
}

/// What was asked for is done, or everything is as before once the user has asked for that.
fn assert_end(namespace: &Namespace, scenario: &Scenario, output: &Output, limits: &Limits, context: &str) {
    let ended = scenario.mishaps.iter().any(|(_, mishap)| matches!(mishap, Mishap::Ends(_)));
    let (code, mut tag) = match scenario.wanted {
        Wanted::Good => (0, "app:v2"),
        Wanted::Crashes | Wanted::Missing => (4, "app:v1"),
    };
    // A container that ended twice in a row crash-loops, whoever ended it.
    assert!(output.code == code || (ended && output.code == 4), "{context}\n{output:#?}");
    if output.code == 4 {
        tag = "app:v1";
        let mut abort: Vec<String> = ["abort", scenario.reference()].map(str::to_owned).into();
        abort.extend(scenario.policy());
        let abort: Vec<&str> = abort.iter().map(String::as_str).collect();
        let back = namespace.inplace(&abort);
        assert_eq!(back.code, 0, "{context}\n{output:#?}\n{back:#?}");
    }
    let replicas = limits.replicas.last().map_or(scenario.replicas, |(_, replicas)| *replicas);
    let pods = namespace.wait_ready("app=web", replicas);
    assert_eq!(images(&pods, "app"), vec![tag; replicas], "{context}\n{output:#?}");
    for pod in &pods {
        assert_eq!(pod["metadata"]["labels"]["serving"], "yes", "{context}\n{output:#?}");
    }
    let owner: Value = serde_json::from_str(&namespace.kubectl(&["get", scenario.reference(), "-o", "json"]))
        .expect("kubectl prints JSON when asked to");
    assert!(owner["metadata"]["annotations"]["kubectl-inplace.io/rollout"].is_null(), "{context}\n{owner:#}");
    assert_ne!(owner["spec"]["paused"], true, "{context}\n{owner:#}");
}

#[test]
fn no_budget_is_broken_whatever_happens() {
    let one = env::var("INPLACE_TEST_SEED").ok().and_then(|seed| seed.parse::<u64>().ok());
    let (first, last) = one.map_or((1, ROLLOUTS), |seed| (seed, seed));
    let reports = side_by_side(SIDE_BY_SIDE, first..=last, rollout);
    let taken: usize = reports.iter().map(|report| report.count.taken).sum();
    let happened: usize = reports.iter().map(|report| report.happened).sum();
    println!("{} rollouts, {happened} mishaps, pods taken {taken} times, no budget broken", reports.len());
    assert!(one.is_some() || (happened >= 20 && taken >= 60), "too little happened: {happened} and {taken}");
}

#[test]
fn the_count_notices_what_breaks_a_budget() {
    let scenario = Scenario {
        kind: Kind::Deployment,
        replicas: 4,
        max_unavailable: 3,
        budget: Some(Budget::MinAvailable(3)),
        drains: false,
        min_ready_seconds: Some(0),
        broken: None,
        wanted: Wanted::Crashes,
        undoes: false,
        mishaps: Vec::new(),
    };
    let namespace = Namespace::new("on-call-broken");
    let watch = begin(&namespace, &scenario);
    // A pod that has become ready just now counts as down still.
    thread::sleep(NEWS);
    let replicas = vec![(Instant::now(), scenario.replicas)];
    let mut arguments = scenario.arguments();
    arguments.push("--disruption-budget=ignore".into());
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let output = namespace.inplace(&arguments);
    // What is never ready is seen to be down at once, however fast the rest goes.
    assert_eq!(output.code, 4, "{output:#?}");
    let seen = watch.seen();
    let breaches = |max_unavailable, budget| {
        count(&seen, &Limits { max_unavailable, budget, replicas: replicas.clone() }).breaches
    };
    assert_eq!(breaches(3, None), [""; 0], "three was what it was told");
    let [by_hand, by_budget] = [breaches(1, None), breaches(3, scenario.budget)];
    assert!(by_hand.iter().any(|breach| breach.contains("maxUnavailable is 1")), "{by_hand:?}");
    assert!(by_budget.iter().any(|breach| breach.contains("MinAvailable(3)")), "{by_budget:?}");
}
