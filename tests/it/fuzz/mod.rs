//! Mutated inputs: whatever is typed, read from a file or found in an annotation. Nothing panics, nothing takes long, what
//! is accepted keeps its promises, and nothing strange is taken for ours.
//!
//! A seed and a number decide every input, and a failure names them. `tests/run fuzz` does it for a minute a target:
//! `FUZZ_SECONDS` for longer, `FUZZ_SEED` for other inputs.
#![expect(clippy::disallowed_methods, reason = "measures how long an input takes, and reads how long to go on")]

mod mutate;
mod targets;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use mutate::{Mutator, Random};
use targets::Target;

/// How many inputs of each target a test run takes.
const SHORT: u64 = 2_000;

/// No input may be longer: what a size costs is measured elsewhere (`manifest::tests::bounds`).
const LONGEST: usize = 4096;

/// No input of that length may take longer, in a debug build on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Inputs that were accepted are mutated further; this many of them are kept.
const KEPT: usize = 256;

/// Checks inputs while `goes_on` says so. Returns how many were checked, and how many of them were accepted.
fn fuzz(target: &Target, seed: u64, goes_on: impl Fn(u64) -> bool) -> (u64, u64) {
    let corpus: Vec<Vec<u8>> = (target.corpus)().into_iter().map(String::into_bytes).collect();
    let mut mutator = Mutator { pool: corpus.clone(), words: target.words };
    let (mut number, mut accepted) = (0, 0);
    while goes_on(number) {
        let mut random = Random::new(seed ^ number.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let at = usize::try_from(number).expect("a count");
        let mut input = corpus.get(at).cloned().unwrap_or_else(|| mutator.mutate(&mut random));
        input.truncate(LONGEST);
        let began = Instant::now();
        let checked = catch_unwind(AssertUnwindSafe(|| (target.check)(&input)));
        let took = began.elapsed();
        let text = String::from_utf8_lossy(&input);
        let which = || format!("{}, seed {seed}, number {number}: {text:?}", target.name);
        match checked {
            Ok(Ok(true)) => {
                accepted += 1;
                mutator.keep(input.clone(), corpus.len() + KEPT, &mut random);
            }
            Ok(Ok(false)) => {}
            Ok(Err(broken)) => panic!("{}: {broken}", which()),
            Err(_) => panic!("{} panics, as said above", which()),
        }
        assert!(took < TIMEOUT, "{}: {took:?}", which());
        number += 1;
    }
    (number, accepted)
}

fn short(target: &Target) {
    let (checked, accepted) = fuzz(target, 1, |number| number < SHORT);
    // Where nearly everything is refused, or nothing is, the inputs are of no use.
    assert!(accepted > checked / 50, "{}: {accepted} of {checked} were accepted", target.name);
    assert!(accepted < checked * 49 / 50, "{}: {accepted} of {checked} were accepted", target.name);
}

#[test]
fn images() {
    short(&targets::IMAGES);
}

#[test]
fn quantities() {
    short(&targets::QUANTITIES);
}

#[test]
fn durations() {
    short(&targets::DURATIONS);
}

#[test]
fn manifests() {
    short(&targets::MANIFESTS);
}

#[test]
fn records() {
    short(&targets::RECORDS);
}

#[test]
fn locks() {
    short(&targets::LOCKS);
}

#[test]
fn histories() {
    short(&targets::HISTORIES);
}

#[test]
#[ignore = "a minute a target: tests/run fuzz"]
fn fuzz_for_long() {
    let given = |name: &str, default: u64| {
        std::env::var(name).map_or(default, |text| text.parse().expect("FUZZ_SECONDS and FUZZ_SEED are numbers"))
    };
    let (seconds, seed) = (given("FUZZ_SECONDS", 60), given("FUZZ_SEED", 2));
    std::thread::scope(|scope| {
        for target in targets::ALL {
            scope.spawn(move || {
                let began = Instant::now();
                fuzz(target, seed, |_| began.elapsed() < Duration::from_secs(seconds));
            });
        }
    });
}

/// What finds nothing must be able to find something.
#[test]
fn a_broken_promise_a_panic_and_what_takes_too_long_are_found() {
    let target = |check| Target { name: "planted", corpus: || vec!["1".into(), "22".into()], words: &["3"], check };
    let finds = |check: targets::Check| {
        catch_unwind(AssertUnwindSafe(|| fuzz(&target(check), 1, |number| number < 500))).is_err()
    };
    assert!(!finds(|_| Ok(true)));
    assert!(finds(|input| if input.len() > 3 { Err("long".into()) } else { Ok(true) }));
    assert!(finds(|input| if input.contains(&b'3') { panic!("three") } else { Ok(true) }));
}
