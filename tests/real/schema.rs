//! What the offline reader takes, the server decodes; what it refuses, the server refuses.

use std::collections::BTreeSet;

use engine::value::api_schema::{Fault, Problem, Scope, check};
use serde_json::{Value, json};

use crate::support::{Api, OpenApi, Random, Step, poll, side_by_side};
use crate::tables::{GATED, KINDS, document, path};

/// Of each kind: random ones, besides those for every required field and every type of scalar.
const MUTATIONS: usize = 80;

/// An object with nothing but what the server insists on, so that it has nothing else to refuse.
fn least(kind: &str) -> Value {
    let spec = json!({"containers": [{"name": "main", "image": "main:1"}]});
    if kind == "Pod" {
        return json!({"apiVersion": "v1", "kind": kind, "metadata": {"name": "p"}, "spec": spec});
    }
    json!({"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": "w"}, "spec": {
        "selector": {"matchLabels": {"app": "w"}},
        "template": {"metadata": {"labels": {"app": "w"}}, "spec": spec}}})
}

/// The values that replace a field.
fn replacements() -> Vec<Value> {
    vec![
        Value::Null,
        json!(true),
        json!(""),
        json!("a"),
        json!("7"),
        json!(7),
        json!(-7),
        json!(0),
        json!(1.5),
        json!(2_147_483_648_i64),
        json!(9_223_372_036_854_775_808_u64),
        json!(1e30),
        json!("10%"),
        json!("500m"),
        json!("1 Gi"),
        json!("30s"),
        json!("2026-01-01T00:00:00Z"),
        json!("2026-01-01"),
        json!("Sometimes"),
        json!([]),
        json!(["a"]),
        json!([null]),
        json!([[]]),
        json!([{}]),
        json!({}),
        json!({"a": "b"}),
        json!({"a": null}),
        json!({"a": {}}),
    ]
}

/// One way to make a manifest wrong, or merely unusual.
#[derive(Debug, Clone)]
enum Mutation {
    Replace(Value),
    Remove,
    /// A field beside it, of this name.
    Beside(String),
    /// The field one level further out.
    MoveOut,
    /// The value one level further in.
    Wrap,
}

#[derive(Debug)]
struct Case {
    kind: &'static str,
    way: Vec<Step>,
    mutation: Mutation,
}

impl Case {
    /// The manifest before it is changed: with a value of its type at the place.
    fn plain(&self, openapi: &OpenApi, name: &str) -> Value {
        let mut object = least(self.kind);
        let schema = openapi.named(name);
        let there = self.way.iter().try_fold(&object, |object, step| match step {
            Step::Field(name) => object.get(name),
            Step::Element => object.get(0),
            Step::Key => object.get("key"),
        });
        if there.is_none() {
            let value = openapi.least(openapi.at(schema, &self.way));
            openapi.place(schema, &mut object, &self.way, &value);
        }
        object
    }

    fn changed(&self, mut object: Value) -> Value {
        let Some((last, parent)) = self.way.split_last() else { return object };
        let value = at(&mut object, &self.way).take();
        let around = at(&mut object, parent);
        match &self.mutation {
            Mutation::Replace(with) => set(around, last, with.clone()),
            Mutation::Remove => remove(around, last),
            Mutation::Beside(beside) => {
                set(around, last, value);
                if around.is_object() {
                    around[beside] = json!("a");
                }
            }
            Mutation::MoveOut => {
                remove(around, last);
                if let (Some((_, outer)), Step::Field(field)) = (parent.split_last(), last) {
                    let outer = at(&mut object, outer);
                    if outer.is_object() {
                        outer[field] = value;
                    }
                }
            }
            Mutation::Wrap => set(around, last, if value.is_array() { json!([value]) } else { json!({"a": value}) }),
        }
        object
    }

    fn reported(&self) -> String {
        let way = self.way.iter().map(|step| match step {
            Step::Field(name) => name.as_str(),
            Step::Element => "[0]",
            Step::Key => "key",
        });
        format!("{} {}: {:?}", self.kind, way.collect::<Vec<_>>().join("."), self.mutation)
    }
}

fn at<'a>(object: &'a mut Value, way: &[Step]) -> &'a mut Value {
    way.iter().fold(object, |object, step| match step {
        Step::Field(name) => &mut object[name.as_str()],
        Step::Element => &mut object[0],
        Step::Key => &mut object["key"],
    })
}

fn set(around: &mut Value, step: &Step, value: Value) {
    *at(around, std::slice::from_ref(step)) = value;
}

fn remove(around: &mut Value, step: &Step) {
    match (around, step) {
        (Value::Object(fields), Step::Field(name)) => drop(fields.shift_remove(name)),
        (Value::Object(fields), Step::Key) => drop(fields.shift_remove("key")),
        (Value::Array(list), Step::Element) => drop(list.remove(0)),
        (_, _) => {}
    }
}

/// What the server says of a manifest.
#[derive(Debug)]
enum Answer {
    Accepted,
    NotDecoded(String),
    /// Decoded, and refused for these fields.
    Invalid(Vec<String>),
    /// Decoded, and refused by admission.
    Forbidden,
}

fn ask(api: &Api, kind: &str, object: &Value) -> Answer {
    // A server that is busy with the other tests answers later.
    let is_busy = |status: u16| status == 429 || status >= 500;
    let answer = poll(|| Some(api.dry_run_create(path(kind), object)).filter(|(status, _)| !is_busy(*status)));
    let (status, answer) = answer.expect("the server answers");
    let message = answer["message"].as_str().unwrap_or_default().to_owned();
    match status {
        201 => Answer::Accepted,
        400 if message.contains("decoding error") || message.contains("cannot be handled as") => {
            Answer::NotDecoded(message)
        }
        403 => Answer::Forbidden,
        422 => {
            let causes = answer["details"]["causes"].as_array().into_iter().flatten();
            Answer::Invalid(causes.filter_map(|cause| Some(cause["field"].as_str()?.to_owned())).collect())
        }
        _ => panic!("{status}: {message}: {object}"),
    }
}

/// Returns how the two disagree. `plain` is what the server says of the manifest before it was changed.
fn disagreement(problems: &[Problem], answer: &Answer, plain: impl FnOnce() -> Answer) -> Option<String> {
    let (missing, other): (Vec<_>, Vec<_>) = problems.iter().partition(|problem| problem.fault == Fault::NotSet);
    let reported =
        |problems: Vec<&Problem>| problems.iter().map(|found| found.sentence(false)).collect::<Vec<_>>().join(", ");
    match answer {
        Answer::NotDecoded(message) => other.is_empty().then(|| format!("taken here; the server: {message}")),
        Answer::Accepted | Answer::Invalid(_) | Answer::Forbidden if !other.is_empty() => {
            Some(format!("{}; the server: {answer:?}", reported(other)))
        }
        _ if missing.is_empty() => None,
        Answer::Accepted | Answer::Forbidden => Some(format!("{}; the server: {answer:?}", reported(missing))),
        Answer::Invalid(fields) => {
            let before = if let Answer::Invalid(before) = plain() { before } else { Vec::new() };
            let is_new = |field: &String| {
                let count = |fields: &[String]| fields.iter().filter(|other| *other == field).count();
                count(fields) > count(&before)
            };
            // Refused at the field, below or above it, also where the value before was no better.
            let is_there = |field: &String| {
                missing
                    .iter()
                    .map(|problem| place(problem))
                    .any(|place| place.starts_with(field.as_str()) || field.starts_with(&place))
            };
            (!fields.iter().any(|field| is_there(field) || is_new(field)))
                .then(|| format!("{}; the server: {answer:?} as before", reported(missing)))
        }
    }
}

/// A path as the server writes it.
fn place(missing: &Problem) -> String {
    missing.sentence(false).trim_end_matches(" is required and not set").to_owned()
}

/// Refused here, though the server reads them: a quantity without a digit as zero, an hour of one digit.
const STATED: [&str; 5] = ["m", "-m", "Ki", ".", "2026-01-01T0:00:00Z"];

/// Whether the case is one of the stated exceptions. The server does not check a field whose feature gate is off.
fn is_stated(case: &Case) -> bool {
    let is_gated = |step: &Step| matches!(step, Step::Field(name) if GATED.contains(&name.as_str()));
    let is_text = matches!(&case.mutation, Mutation::Replace(Value::String(text)) if STATED.contains(&text.as_str()));
    is_text || case.way.iter().any(is_gated)
}

/// Not held against each other: they are decoded with the type, or belong to the request.
fn is_of_the_request(way: &[Step]) -> bool {
    let fields: Vec<&str> =
        way.iter().filter_map(|step| if let Step::Field(name) = step { Some(name.as_str()) } else { None }).collect();
    matches!(
        fields.as_slice(),
        ["apiVersion" | "kind"]
            | ["metadata"]
            | ["metadata", "namespace" | "resourceVersion" | "name" | "generateName" | "uid"]
    )
}

fn cases(openapi: &OpenApi, kind: &'static str, name: &str, random: &mut Random) -> Vec<Case> {
    let mut ways = openapi.ways(name);
    ways.retain(|way| !is_of_the_request(way));
    let also = ALSO_REQUIRED.map(|way| way.split('.').map(step).collect::<Vec<_>>());
    let also = also.into_iter().filter(|way| ways.contains(way));
    let mut cases: Vec<Case> = also.map(|way| Case { kind, way, mutation: Mutation::Remove }).collect();
    let mut seen = BTreeSet::new();
    for way in &ways {
        let Some((Step::Field(field), parent)) = way.split_last() else { continue };
        let parent = openapi.at(openapi.named(name), parent);
        let required = parent.get("required").and_then(Value::as_array).into_iter().flatten();
        let is_of_another = kind != "Deployment" && way.get(1) == Some(&Step::Field("template".to_owned()));
        let is_required = !is_of_another && required.clone().any(|name| name == field);
        if is_required && seen.insert((std::ptr::from_ref(parent), field)) {
            cases.push(Case { kind, way: way.clone(), mutation: Mutation::Remove });
        }
    }
    let replacements = replacements();
    for _ in 0..MUTATIONS {
        let way = random.pick(&ways);
        let mutation = match random.below(10) {
            0..=5 => Mutation::Replace(random.pick(&replacements)),
            6 => Mutation::Remove,
            7 => Mutation::Beside(random.pick(&["nonsense", "Image", "image ", "containers", "name"]).to_owned()),
            8 => Mutation::MoveOut,
            _ => Mutation::Wrap,
        };
        cases.push(Case { kind, way, mutation });
    }
    for (way, spellings) in SCALARS {
        let way: Vec<Step> = way.split('.').map(step).collect();
        if kind == "Deployment" {
            let values = replacements.iter().cloned().chain(spellings.iter().map(|text| json!(text)));
            cases.extend(values.map(|value| Case { kind, way: way.clone(), mutation: Mutation::Replace(value) }));
        }
    }
    cases
}

fn step(text: &str) -> Step {
    match text {
        "0" => Step::Element,
        "*" => Step::Key,
        name => Step::Field(name.to_owned()),
    }
}

/// Required by validation, and not by the types.
const ALSO_REQUIRED: [&str; 8] = [
    "spec",
    "spec.template",
    "spec.template.spec",
    "spec.template.spec.containers",
    "spec.template.spec.containers.0.image",
    "spec.template.spec.initContainers.0.image",
    "spec.containers",
    "spec.containers.0.image",
];

/// A field of every type of scalar, and what else its text may be.
const SCALARS: [(&str, &[&str]); 7] = [
    ("spec.template.spec.containers.0.imagePullPolicy", &[]),
    ("spec.paused", &["true", "True", "yes"]),
    ("spec.replicas", &["1.0"]),
    ("spec.template.spec.terminationGracePeriodSeconds", &["30s"]),
    ("spec.strategy.rollingUpdate.maxSurge", &["25", "25.5%", "-1%"]),
    ("spec.template.spec.containers.0.resources.limits.*", &QUANTITIES),
    ("metadata.creationTimestamp", &TIMES),
];

/// None with an exponent of many digits: the server would compute the power for hours.
const QUANTITIES: [&str; 44] = [
    " 1",
    "1 ",
    "\t1\n",
    "1ki",
    "1Ki",
    "1K",
    "1k",
    "1e",
    "1e3",
    "1E",
    "1E3",
    "1E+3",
    "1e-3",
    "1e1.5",
    "1e3Ki",
    "1.5e3",
    ".5",
    "5.",
    ".",
    "+1",
    "-1",
    "--1",
    "+-1",
    "1n",
    "1u",
    "1µ",
    "m",
    "-m",
    "Ki",
    "0x10",
    "1_000",
    "1,5",
    "0",
    "-0",
    "00",
    "1..5",
    "1.5.5",
    "1Ei",
    "99999999999999999999",
    "99999999999999999999Ei",
    "0.0000000000001",
    "1e400",
    "1e-400",
    "٣",
];

const TIMES: [&str; 32] = [
    "2026-01-01T00:00:00+00:00",
    "2026-01-01T00:00:00+05:30",
    "2026-01-01T00:00:00-23:59",
    "2026-01-01T00:00:00+24:00",
    "2026-01-01T00:00:00+24:61",
    "2026-01-01T00:00:00+25:00",
    "2026-01-01T00:00:00+0530",
    "2026-01-01T00:00:00+05",
    "2026-01-01T00:00:00.5Z",
    "2026-01-01T00:00:00,5Z",
    "2026-01-01T00:00:00.Z",
    "2026-01-01T00:00:00.1234567891234Z",
    "2026-01-01t00:00:00Z",
    "2026-01-01T00:00:00z",
    "2026-01-01 00:00:00Z",
    "2026-01-01T00:00:00",
    "2026-01-01T00:00Z",
    "2026-01-01T0:00:00Z",
    "2026-01-01T24:00:00Z",
    "2026-01-01T23:59:60Z",
    "2026-02-29T00:00:00Z",
    "2024-02-29T00:00:00Z",
    "2026-13-01T00:00:00Z",
    "0000-01-01T00:00:00Z",
    "0001-01-01T00:00:00Z",
    "9999-12-31T23:59:59Z",
    "10000-01-01T00:00:00Z",
    "-001-01-01T00:00:00Z",
    "+002026-01-01T00:00:00Z",
    "20260101T000000Z",
    "2026-01-01T00:00:00Z[UTC]",
    " 2026-01-01T00:00:00Z",
];

#[test]
fn what_is_taken_offline_is_decoded_and_what_is_refused_is_refused() {
    let api = Api::open();
    let mut random = Random::new(9);
    let (mut asked, mut taken, mut wrong) = (0, 0, Vec::new());
    for (kind, name) in KINDS {
        let openapi = OpenApi::read(&api, document(kind));
        let answers = side_by_side(4, cases(&openapi, kind, name, &mut random), |case| {
            let plain = case.plain(&openapi, name);
            let object = case.changed(plain.clone());
            let problems = check(kind, &object, Scope::Whole);
            let answer = ask(&api, kind, &object);
            let wrong = disagreement(&problems, &answer, || ask(&api, kind, &plain))
                .map(|found| format!("{}: {found}", case.reported()));
            (problems.is_empty(), wrong.filter(|_| !is_stated(&case)))
        });
        asked += answers.len();
        taken += answers.iter().filter(|(is_taken, _)| *is_taken).count();
        wrong.extend(answers.into_iter().filter_map(|(_, wrong)| wrong));
    }
    assert!(wrong.is_empty(), "{} of {asked} disagree:\n{}", wrong.len(), wrong.join("\n"));
    assert!(taken > 100 && asked - taken > 300, "{taken} of {asked} are taken");
}
