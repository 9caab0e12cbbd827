//! What the offline reader takes, the server decodes; what it refuses, the server refuses.

use std::collections::BTreeSet;

use kubectl_inplace::engine::api_schema::{Fault, Problem, Scope, check};
use serde_json::{Value, json};

use crate::support::{Api, OpenApi, Random, Step, poll, side_by_side};
use crate::tables::{KINDS, document, object, path};

/// Of each kind: random ones, besides those for every required field and every type of scalar.
const MUTATIONS: usize = 250;

/// What stands in the place of a field.
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
    fn manifest(&self, openapi: &OpenApi, name: &str) -> Value {
        let mut object = object(self.kind);
        let schema = openapi.named(name);
        let least = openapi.least(openapi.at(schema, &self.way));
        openapi.place(schema, &mut object, &self.way, &least);
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

    fn told(&self) -> String {
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

/// A path as the server writes it.
fn place(problem: &Problem) -> String {
    let sentence = problem.sentence(false);
    sentence.strip_suffix(" is required and not set").unwrap_or(&sentence).to_owned()
}

/// Returns how the two disagree.
fn disagreement(problems: &[Problem], answer: &Answer) -> Option<String> {
    let is_decoded = problems.iter().all(|problem| problem.fault == Fault::NotSet);
    let missing = problems.iter().filter(|problem| problem.fault == Fault::NotSet).map(place);
    match answer {
        Answer::NotDecoded(message) if is_decoded => Some(format!("taken here; the server: {message}")),
        Answer::NotDecoded(_) => None,
        Answer::Accepted | Answer::Invalid(_) | Answer::Forbidden if !is_decoded => {
            let told: Vec<String> = problems.iter().map(|problem| problem.sentence(false)).collect();
            Some(format!("refused here: {}; the server: {answer:?}", told.join(", ")))
        }
        Answer::Invalid(fields) => {
            let unclaimed: Vec<String> = missing.filter(|place| !fields.iter().any(|field| field == place)).collect();
            (!unclaimed.is_empty())
                .then(|| format!("{} is required here; the server: {fields:?}", unclaimed.join(", ")))
        }
        Answer::Accepted | Answer::Forbidden => {
            let missing: Vec<String> = missing.collect();
            (!missing.is_empty()).then(|| format!("{} is required here; the server: {answer:?}", missing.join(", ")))
        }
    }
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
    let mut cases: Vec<Case> = Vec::new();
    let mut seen = BTreeSet::new();
    for way in &ways {
        let Some((Step::Field(field), parent)) = way.split_last() else { continue };
        let parent = openapi.at(openapi.named(name), parent);
        let required = parent.get("required").and_then(Value::as_array).into_iter().flatten();
        let is_required = required.clone().any(|name| name == field) || ["image", "spec"].contains(&field.as_str());
        if is_required && seen.insert((std::ptr::from_ref(parent), field)) {
            cases.push(Case { kind, way: way.clone(), mutation: Mutation::Remove });
        }
    }
    let mut replacements = replacements();
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
    let spellings = QUANTITIES.iter().chain(&TIMES).map(|text| json!(text));
    replacements.extend(spellings);
    for way in SCALARS {
        let way: Vec<Step> = way.split('.').map(step).collect();
        if ways.contains(&way) {
            let of = |value: &Value| Case { kind, way: way.clone(), mutation: Mutation::Replace(value.clone()) };
            cases.extend(replacements.iter().map(of));
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

/// A field or two of every scalar type: string, boolean, whole numbers, quantity, whole number or string, time.
const SCALARS: [&str; 14] = [
    "spec.hostname",
    "spec.template.spec.containers.0.imagePullPolicy",
    "spec.paused",
    "spec.hostNetwork",
    "spec.replicas",
    "spec.minReadySeconds",
    "spec.terminationGracePeriodSeconds",
    "spec.overhead.*",
    "spec.template.spec.containers.0.resources.limits.*",
    "spec.template.spec.volumes.0.emptyDir.sizeLimit",
    "spec.strategy.rollingUpdate.maxSurge",
    "spec.template.spec.containers.0.livenessProbe.httpGet.port",
    "metadata.creationTimestamp",
    "spec.template.metadata.deletionTimestamp",
];

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
    "1e2147483647",
    "1e2147483648",
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
            let object = case.manifest(&openapi, name);
            let problems = check(kind, &object, Scope::Whole);
            let answer = ask(&api, kind, &object);
            let wrong = disagreement(&problems, &answer).map(|found| format!("{}: {found}", case.told()));
            (problems.is_empty(), wrong)
        });
        asked += answers.len();
        taken += answers.iter().filter(|(is_taken, _)| *is_taken).count();
        wrong.extend(answers.into_iter().filter_map(|(_, wrong)| wrong));
    }
    assert!(wrong.is_empty(), "{} of {asked} disagree:\n{}", wrong.len(), wrong.join("\n"));
    assert!(taken > 500 && asked - taken > 500, "{taken} of {asked} are taken");
}
