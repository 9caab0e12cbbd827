//! What is fuzzed: the inputs that it begins with, and what holds of every one.

use std::borrow::Cow;
use std::fmt::{Debug, Display};
use std::str::FromStr;

use engine::k8s::pod::Pod;
use engine::rollout::patch::taken_over_patch;
use engine::state::durable::history::{self, HISTORY_ANNOTATION};
use engine::state::durable::lock::{Lock, ROLLOUT_ANNOTATION};
use engine::state::record::{FencingToken, UPDATE_ANNOTATION, UpdateRecord};
use engine::value::image::{ImageArgument, ImageReference, display_short, same_image};
use engine::value::int_or_percent::IntOrPercent;
use engine::value::quantity::Quantity;
use engine::value::{duration, suggest};
use kubectl_inplace::manifest;
use serde_json::{Value, json};

/// Whether an input was accepted; the promise that it broke as the error.
pub(super) type Check = fn(&[u8]) -> Result<bool, String>;

pub(super) struct Target {
    pub(super) name: &'static str,
    pub(super) corpus: fn() -> Vec<String>,
    /// The words of its language.
    pub(super) words: &'static [&'static str],
    pub(super) check: Check,
}

pub(super) const ALL: [&Target; 7] = [&IMAGES, &QUANTITIES, &DURATIONS, &MANIFESTS, &RECORDS, &LOCKS, &HISTORIES];

fn same<T: PartialEq + Debug>(what: &str, is: &T, should: &T) -> Result<(), String> {
    if is == should { Ok(()) } else { Err(format!("{what}: {is:?}, not {should:?}")) }
}

fn owned(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

/// What is written is read as the same, and written the same again.
fn reads_what_it_writes<T: FromStr<Err: Debug> + Display + PartialEq + Debug>(value: &T) -> Result<(), String> {
    let written = value.to_string();
    let again: T = written.parse().map_err(|error| format!("{written:?} is not read: {error:?}"))?;
    same("what is read", &again, value)?;
    same("what is written", &again.to_string(), &written)
}

const DIGEST: &str = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

pub(super) const IMAGES: Target = Target {
    name: "image",
    corpus: || {
        let mut images =
            owned(&["nginx", "acme/side:1.27.2", "registry.example:5000/a/b_c/d-e:v1", "[::1]:5000/app:v1"]);
        images.extend([
            format!("a@{DIGEST}"),
            format!("localhost/a:b@{DIGEST}"),
            format!("@{DIGEST}"),
            ":v2".to_owned(),
        ]);
        images
    },
    words: &[
        "docker.io/",
        "library/",
        "index.docker.io/",
        ":latest",
        "@sha256:",
        "localhost",
        ":5000",
        "__",
        "[::1]",
        DIGEST,
    ],
    check: image,
};

fn image(input: &[u8]) -> Result<bool, String> {
    let Ok(text) = std::str::from_utf8(input) else { return Ok(false) };
    drop(display_short(text, "nginx"));
    if let Ok(argument) = ImageArgument::parse(text) {
        reads_what_it_writes(&argument)?;
        same("what was written", &argument.to_string().as_str(), &text)?;
        let wanted = argument.resolve("acme/side:1").map_err(|error| format!("it does not resolve: {error}"))?;
        ImageReference::parse(&wanted).map_err(|error| format!("it resolves to {wanted:?}: {error}"))?;
    }
    let Ok(reference) = ImageReference::parse(text) else { return Ok(false) };
    same("what goes into a patch", &reference.as_written(), &text)?;
    let normalised = reference.normalised();
    for other in [normalised.clone(), reference.familiar()] {
        let other = ImageReference::parse(&other).map_err(|error| format!("{other:?}: {error}"))?;
        same("another form's full form", &other.normalised(), &normalised)?;
        same("another form is the same image", &same_image(&reference, &other), &true)?;
    }
    Ok(true)
}

pub(super) const QUANTITIES: Target = Target {
    name: "quantity",
    corpus: || {
        owned(&["0", "1", "-500m", "1Gi", "1.5Mi", "100n", "12E", "1e3", "1E-3", "+.5k", "9223372036854775807", "50%"])
    },
    words: &[
        "Ki", "Mi", "Gi", "Ei", "n", "u", "m", "k", "M", "G", "T", "P", "E", "e", "e-", "E+", ".", "000", "999", "%",
    ],
    check: quantity,
};

fn quantity(input: &[u8]) -> Result<bool, String> {
    let Ok(text) = std::str::from_utf8(input) else { return Ok(false) };
    if let Ok(number) = text.parse::<IntOrPercent>() {
        reads_what_it_writes(&number)?;
        let (down, up) = (number.scaled(7, false), number.scaled(7, true));
        same("rounded down is no more than rounded up", &(down <= up), &true)?;
    }
    let Ok(quantity) = text.parse::<Quantity>() else { return Ok(false) };
    // A thousand digits and more are written with an exponent that is refused when it is typed.
    let exponent = quantity.to_string().rsplit_once('e').and_then(|(_, exponent)| exponent.parse::<i32>().ok());
    if exponent.is_some_and(|exponent| exponent.abs() > 999) {
        return Ok(false);
    }
    reads_what_it_writes(&quantity)?;
    let rounded = quantity.clone().rounded_up_to_thousandths();
    same("rounding twice", &rounded.clone().rounded_up_to_thousandths(), &rounded)?;
    reads_what_it_writes(&rounded)?;
    // Away from zero.
    let zero: Quantity = "0".parse().map_err(|_| "0 is a quantity")?;
    let is_further = if quantity < zero { rounded <= quantity } else { rounded >= quantity };
    same("rounding goes away from zero", &is_further, &true)?;
    Ok(true)
}

pub(super) const DURATIONS: Target = Target {
    name: "duration",
    corpus: || owned(&["0", "5m", "1h30m", "90s", "1.5h", "300ms", "7", "2h45m10s"]),
    words: &["h", "m", "s", "ms", "us", "ns", "d", ".", "60", "3600", "999999999999"],
    check: duration,
};

fn duration(input: &[u8]) -> Result<bool, String> {
    let Ok(text) = std::str::from_utf8(input) else { return Ok(false) };
    // Typed in place of a known word.
    let closest = suggest::closest(text, ["apply", "status", "plan"].into_iter());
    same("it is one of them", &closest.is_none_or(|word| ["apply", "status", "plan"].contains(&word)), &true)?;
    let Ok(given) = duration::parse(text) else { return Ok(false) };
    same("it says something", &duration::human(given).is_empty(), &false)?;
    Ok(true)
}

pub(super) const MANIFESTS: Target = Target {
    name: "manifest",
    corpus: || {
        owned(&[
            "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\nspec:\n  containers:\n  - {name: c, image: 'c:1'}\n",
            "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Pod\n  metadata: {name: a}\n",
            "# c\n---\napiVersion: apps/v1\nkind: Deployment\nmetadata: &m {name: a}\nspec: {x: |\n  a\n  b\n, y: *m}\n---\n",
            "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\"},\"x\":[1,2.5,1e3,null,true,\"\\u00e9\"]}",
            "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\ndata: {a: !!binary aGk=, <<: {b: 08, c: 0x1F, d: .inf, e: ~}}\n",
        ])
    },
    words: &[
        "apiVersion: v1\n",
        "kind: Pod\n",
        "kind: List\n",
        "items:\n",
        "metadata: {name: b}\n",
        "---\n",
        "...\n",
        "- ",
        "? ",
        ": ",
        "  ",
        "&a ",
        "*a",
        "<<: ",
        "!!str ",
        "!!int ",
        "!!binary ",
        "!x ",
        "|\n",
        ">-\n",
        "|2+\n",
        "# c\n",
        "%YAML 1.2\n",
    ],
    check: manifest,
};

fn manifest(input: &[u8]) -> Result<bool, String> {
    let Ok(manifests) = manifest::parse("fuzz", input) else { return Ok(false) };
    for manifest in &manifests {
        for field in ["/apiVersion", "/kind", "/metadata/name"] {
            let text = manifest.object.pointer(field).and_then(Value::as_str);
            same(field, &text.is_some_and(|text| !text.is_empty()), &true)?;
        }
        // Written as JSON, it is read as the same value.
        let written = manifest.object.to_string();
        let again = manifest::parse("again", written.as_bytes()).map_err(|error| format!("{written}: {error}"))?;
        let again: Vec<&Value> = again.iter().map(|manifest| &manifest.object).collect();
        same("what is read again", &again, &vec![&manifest.object])?;
    }
    Ok(!manifests.is_empty())
}

/// A pod whose annotation says that.
fn pod(annotation: &str) -> Pod {
    let object = json!({"metadata": {"name": "web-0", "namespace": "prod", "uid": "u", "resourceVersion": "7",
        "annotations": {UPDATE_ANNOTATION: annotation}},
        "spec": {"containers": [{"name": "side", "image": "side:2"}]},
        "status": {"containerStatuses": [{"name": "side", "image": "side:1", "imageID": "side@sha256:a",
            "containerID": "containerd://old", "restartCount": 0, "ready": true, "state": {}, "lastState": {}}]}});
    Pod::from_object(&object).expect("a pod")
}

/// What any annotation of ours is, said once more without the types that read it.
fn has_texts(value: &Value, fields: &[&str]) -> bool {
    fields.iter().all(|field| value.get(field).is_some_and(Value::is_string))
}

const RECORD_WORDS: &[&str] = &[
    "{}",
    "[]",
    "null",
    "\"\"",
    "\"id\":",
    "\"manager\":",
    "\"containers\":",
    "\"side\":",
    "\"from\":\"side:1\"",
    "\"to\":\"side:2\"",
    "\"imageID\":",
    "\"containerID\":",
    "\"restarts\":",
    "\"drained\":{\"key\":\"app\",\"value\":\"web\"}",
    "\"drained\":{\"gate\":\"g\"}",
    "\"later\":{}",
    "\"owesAfterPod\":true",
    "\"takenOver\":{\"rollout\":\"a\",\"run\":\"b\"}",
    "\"setAt\":{\"side\":\"\"}",
    ",",
    "\"a\":1",
];

pub(super) const RECORDS: Target = Target {
    name: "record",
    corpus: || {
        let side = json!({"from": "side:1", "to": "side:2", "imageID": "side@sha256:a", "containerID": "containerd://old", "restarts": 0});
        let later = json!({"side": {"from": "side:1", "to": "side:2"}});
        let records = [
            json!({"id": "20260301-100000-abcd", "manager": "inplace-cli", "containers": {"side": side}}),
            json!({"id": "", "manager": "m", "containers": {}, "drained": {"key": "app", "value": "web"}, "earlier": {"side": side}}),
            json!({"id": "r", "manager": "m", "containers": {"side": side}, "later": later, "owesAfterPod": true,
                "setAt": {"side": "2026-03-01T10:00:00Z"}, "takenOver": {"rollout": "a", "run": "b"}, "drained": {"gate": "g"}}),
        ];
        records.iter().map(Value::to_string).collect()
    },
    words: RECORD_WORDS,
    check: record,
};

fn record(input: &[u8]) -> Result<bool, String> {
    let Ok(text) = std::str::from_utf8(input) else { return Ok(false) };
    let mut pod = pod(text);
    let record = UpdateRecord::of(&pod).map(Cow::into_owned);
    // The next writer tests the text exactly as it was, whatever it was, and loses nothing of what is ours.
    let by = FencingToken { rollout: "20260301-100000-abcd".into(), run: "r".into() };
    if let Some(patch) = taken_over_patch(&pod, &by, "m") {
        let operations = serde_json::to_value(&patch.operations).map_err(|error| error.to_string())?;
        let pointer = format!("/metadata/annotations/{}", UPDATE_ANNOTATION.replace('/', "~1"));
        let tested = json!({"op": "test", "path": pointer, "value": text});
        let tests = operations.as_array().is_some_and(|operations| operations.contains(&tested));
        same("the patch tests the text", &tests, &true)?;
    }
    // Another text is never taken for the one that was read before.
    pod.annotations.insert(UPDATE_ANNOTATION.to_owned(), "{}".to_owned());
    same("of another text", &UpdateRecord::of(&pod).is_none(), &true)?;
    let Some(record) = record else { return Ok(false) };
    // A field that is not read may hold what no value can, such as the escape of half a character or 1e999.
    let Ok(value) = serde_json::from_str::<Value>(text) else { return Ok(true) };
    let containers = value.get("containers").and_then(Value::as_object);
    let is_ours = has_texts(&value, &["id", "manager"])
        && containers.is_some_and(|containers| containers.values().all(|one| has_texts(one, &["from", "to"])));
    same("what is taken for ours", &is_ours, &true)?;
    let written = serde_json::to_string(&record).map_err(|error| error.to_string())?;
    pod.annotations.insert(UPDATE_ANNOTATION.to_owned(), written);
    same("what is read again", &UpdateRecord::of(&pod).map(Cow::into_owned), &Some(record))?;
    Ok(true)
}

pub(super) const LOCKS: Target = Target {
    name: "lock",
    corpus: || {
        let policy = json!({"maxUnavailable": 1, "minReadySecondsGiven": null, "ownerMinReadySeconds": 0, "timeoutGiven": 60,
            "totalTimeout": null, "drainSeconds": 5, "canary": 1, "ordered": false});
        let lock = json!({"id": "20260301-100000-abcd", "run": "r", "who": "jane", "since": "2026-03-01T10:00:00Z", "version": "0",
            "state": "running", "direction": "forward", "change": {"images": {"side": {"from": "side:1", "to": "side:2"}}},
            "policy": policy});
        let mut more = lock.clone();
        more["lease"] = json!({"host": "h", "pid": 7, "since": "2026-03-01T10:00:00Z"});
        more["strategy"] = json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 3}});
        more["outgoing"] = json!({"name": "w-1", "uid": "rs", "revision": 4});
        more["history"] = json!({"do": "swap", "name": "w-0", "uid": "old", "revision": 2});
        (more["state"], more["direction"]) = (json!("paused"), json!("back"));
        vec![lock.to_string(), more.to_string()]
    },
    words: &[
        "{}",
        "[]",
        "null",
        "\"\"",
        "\"state\":\"stopped\"",
        "\"direction\":\"back\"",
        "\"do\":\"create\"",
        "\"released\":true",
        "\"late\":true",
        "\"only\":[\"web-0\"]",
        "\"hooks\":[\"beforePod\"]",
        "\"origin\":{\"side\":\"a\"}",
        "\"reuses\":\"a\"",
        ",",
        "\"pid\":-1",
        "\"revision\":1.5",
        "\"a\":1",
    ],
    check: lock,
};

fn lock(input: &[u8]) -> Result<bool, String> {
    let Ok(text) = std::str::from_utf8(input) else { return Ok(false) };
    let object = |text: &str| json!({"metadata": {"annotations": {ROLLOUT_ANNOTATION: text}}});
    let lock = match Lock::of(&object(text)) {
        Ok(Some(lock)) => lock,
        // It is said to be there, so that nobody writes over it.
        Err(said) => return same("the text as the error", &said.as_str(), &text).map(|()| false),
        Ok(None) => return Err("an annotation is taken for none".into()),
    };
    // A field that is not read may hold what no value can, such as the escape of half a character or 1e999.
    let Ok(value) = serde_json::from_str::<Value>(text) else { return Ok(true) };
    let is_one_of =
        |field: &str, words: &[&str]| value.get(field).and_then(Value::as_str).is_some_and(|is| words.contains(&is));
    let is_ours = has_texts(&value, &["id", "run", "who", "since", "version"])
        && value.get("change").is_some_and(|part| !part.is_null())
        && is_one_of("state", &["running", "stopped", "paused"])
        && is_one_of("direction", &["forward", "back"]);
    same("what is taken for ours", &is_ours, &true)?;
    let written = lock.to_text();
    same("what is read again", &Lock::of(&object(&written)), &Ok(Some(lock.clone())))?;
    same("what is written again", &lock.to_text(), &written)?;
    let back = lock.rollout.change.reversed().reversed();
    same("there and back", &back, &lock.rollout.change)?;
    Ok(true)
}

pub(super) const HISTORIES: Target = Target {
    name: "history",
    corpus: || {
        let entry = |id: &str| {
            json!({"id": id, "who": "jane", "since": "2026-03-01T10:00:00Z", "direction": "forward",
                "change": {"images": {"side": {"from": "side:1", "to": "side:2"}}},
                "ended": "2026-03-01T10:01:00Z", "outcome": "complete"})
        };
        vec![json!([entry("a")]).to_string(), json!([entry("a"), entry("b"), entry("c")]).to_string(), "[]".to_owned()]
    },
    words: &[
        "[]",
        "{}",
        "null",
        "\"\"",
        "\"id\":\"b\"",
        "\"outcome\":\"failed\"",
        "\"reason\":\"x\"",
        "\"endedBy\":\"y\"",
        ",",
        "]",
        "[",
    ],
    check: history,
};

fn history(input: &[u8]) -> Result<bool, String> {
    let Ok(text) = std::str::from_utf8(input) else { return Ok(false) };
    let object = |text: &str| json!({"metadata": {"annotations": {HISTORY_ANNOTATION: text}}});
    let entries = history::of(&object(text));
    let union = history::union(&object(text), [&object(text)]);
    let once = |id: &_| union.iter().filter(|entry| entry.rollout.id == *id).count() == 1;
    same("each is there once", &entries.iter().all(|entry| once(&entry.rollout.id)), &true)?;
    let written = history::to_text(&entries);
    let kept = entries.get(entries.len().saturating_sub(history::KEPT)..).unwrap_or_default();
    same("what is read again", &history::of(&object(&written)).as_slice(), &kept)?;
    let Ok(value) = serde_json::from_str::<Value>(text) else { return Ok(false) };
    let listed = value.as_array().map(Vec::as_slice).unwrap_or_default();
    same("all or nothing", &(entries.is_empty() || entries.len() == listed.len()), &true)?;
    Ok(!entries.is_empty())
}
