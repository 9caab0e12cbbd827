//! A reader who only ever pastes what was printed, from many beginnings on the real cluster: each ends with everything done,
//! or with a true "cannot, because". What is done is read from the API, not from the program.

mod failed;
mod held;
mod ordinary;
mod others;
mod place;
mod reader;
mod refused;
mod rights;
mod typed;

use std::panic::catch_unwind;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::{Gate, Namespace, registry, side_by_side};

use place::{Place, Sample};
use reader::{Reader, Stopped, Trail};

/// How long controllers may take to say the same as the pods, also where they replace them one by one on a busy machine.
const SETTLES_WITHIN: Duration = Duration::from_secs(120);

/// So many of a test's situations at once.
const SIDE_BY_SIDE: usize = 2;

/// How it must end.
#[derive(Debug, Clone, Copy)]
enum End {
    /// Template, pods and containers agree, on these tags, and `status` has nothing to say.
    Done(&'static [(&'static str, &'static str)]),
    /// A command of this program's ends with this exit code and says this, and nothing is changed.
    Cannot(i32, &'static [&'static str]),
}

/// A beginning, and how it must end.
#[derive(Clone, Copy)]
struct Situation {
    name: &'static str,
    sample: Sample,
    /// Brings it about, and returns what the reader types.
    begin: fn(&Place<'_>) -> String,
    end: End,
    regrets: bool,
    /// Pods are replaced: by a controller or the user, as the printed line said.
    replaces: bool,
    session: &'static str,
    account: bool,
}

type Begin = fn(&Place<'_>) -> String;

/// One that ends with these tags.
const fn done(
    name: &'static str,
    sample: Sample,
    begin: Begin,
    tags: &'static [(&'static str, &'static str)],
) -> Situation {
    let end = End::Done(tags);
    Situation { name, sample, begin, end, regrets: false, replaces: false, session: "", account: false }
}

/// One that ends with this exit code and these words.
const fn cannot(
    name: &'static str,
    sample: Sample,
    begin: Begin,
    code: i32,
    words: &'static [&'static str],
) -> Situation {
    Situation { end: End::Cannot(code, words), ..done(name, sample, begin, &[]) }
}

/// What must be the same where nothing is changed.
fn standing(place: &Place<'_>) -> (Option<Value>, Vec<Value>) {
    (place.object().map(|object| object["spec"].clone()), place.pods().iter().map(|pod| pod["spec"].clone()).collect())
}

fn run(situation: &Situation) {
    let namespace = Namespace::new(&format!("paste-{}", situation.name));
    let gate = Gate::open();
    let place = Place::new(&namespace, &gate, situation.sample);
    let first = (situation.begin)(&place);
    let (before, uids) = (standing(&place), place.uids());
    let account = if situation.account { format!("{}:bot", namespace.name()) } else { String::new() };
    let reader = Reader {
        namespace: &namespace,
        session: situation.session,
        folder: &place.folder,
        regrets: situation.regrets,
        account: &account,
    };
    let trail = reader.read(&first);
    println!("=== {}\n{trail}", situation.name);
    assert_eq!(trail.stopped, Stopped::NothingToPaste, "{}: {trail}", situation.name);
    match situation.end {
        End::Done(tags) => assert_done(&place, tags, &trail),
        End::Cannot(code, words) => {
            let says = |text: &str| words.iter().all(|word| text.contains(&word.replace("REGISTRY", registry())));
            let reported = trail.of_ours().any(|step| step.code == code && says(&step.text));
            assert!(reported, "{}: not {code} {words:?}: {trail}", situation.name);
            assert_eq!(standing(&place), before, "{}: something was changed: {trail}", situation.name);
        }
    }
    let same = place.uids() == uids;
    assert!(same || situation.replaces, "{}: pods were replaced: {trail}", situation.name);
}

fn assert_done(place: &Place<'_>, tags: &[(&str, &str)], trail: &Trail) {
    let deadline = Instant::now() + SETTLES_WITHIN;
    while let Some(why) = place.unsettled() {
        assert!(Instant::now() < deadline, "{why}: {trail}");
        std::thread::sleep(Duration::from_millis(200));
    }
    for (container, tag) in tags {
        let found = place.tags(container);
        assert!(found.iter().all(|found| found == tag), "{container} is {found:?} and not {tag}: {trail}");
    }
    let status = place.namespace.type_line(&place.line("status WEB --exit-code"));
    assert_eq!(status.code, 0, "{status:#?}: {trail}");
}

fn all(situations: &[Situation]) {
    let went = side_by_side(SIDE_BY_SIDE, situations, |situation| {
        // One that goes wrong is no reason not to try the others.
        catch_unwind(|| run(situation)).is_err().then_some(situation.name)
    });
    let wrong: Vec<&str> = went.into_iter().flatten().collect();
    assert!(wrong.is_empty(), "{wrong:?} went wrong, as said above");
}

macro_rules! groups {
    ($($test:ident: $table:expr;)*) => {$(
        #[test]
        fn $test() {
            all($table);
        }
    )*};
}

groups! {
    what_goes_well: ordinary::WELL;
    what_goes_well_in_other_ways: ordinary::OTHER_WAYS;
    slips: typed::SLIPS;
    wrong_usage: typed::WRONG;
    refusals: refused::REFUSED;
    obstacles: refused::OBSTACLES;
    failures: failed::FAILED;
    kills: held::KILLED;
    locks: held::LOCKED;
    other_writers: others::WRITERS;
    no_way_to_the_server: rights::SERVER;
    permissions: rights::PERMISSIONS;
}
