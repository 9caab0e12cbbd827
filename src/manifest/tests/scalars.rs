//! Scalars and keys as kubectl 1.32.4 reads them.
//!
//! Each expectation is what `kubectl annotate --local -f FILE a=b -o json` prints for the scalar in a field of a custom
//! resource; `None` where it answers with an error.

use super::{object, spec};
use crate::manifest::parse;

/// Scalars that are read as kubectl reads them.
const SCALARS: &[(&str, Option<&str>)] = &[
    ("y", Some("true")),
    ("Y", Some("true")),
    ("yes", Some("true")),
    ("Yes", Some("true")),
    ("YES", Some("true")),
    ("n", Some("false")),
    ("N", Some("false")),
    ("no", Some("false")),
    ("on", Some("true")),
    ("On", Some("true")),
    ("off", Some("false")),
    ("OFF", Some("false")),
    ("true", Some("true")),
    ("True", Some("true")),
    ("TRUE", Some("true")),
    ("tRUE", Some(r#""tRUE""#)),
    ("false", Some("false")),
    ("~", Some("null")),
    ("null", Some("null")),
    ("Null", Some("null")),
    ("NULL", Some("null")),
    ("nULL", Some(r#""nULL""#)),
    ("0755", Some("493")),
    ("08", Some("8")),
    ("09", Some("9")),
    ("0o17", Some("15")),
    ("0x1F", Some("31")),
    ("0X1F", Some("31")),
    ("-0x1F", Some("-31")),
    ("0b101", Some("5")),
    ("1_000", Some("1000")),
    ("0_7", Some("7")),
    ("1e3", Some("1000")),
    ("1E3", Some("1000")),
    ("1.0", Some("1")),
    ("1.5", Some("1.5")),
    (".5", Some("0.5")),
    ("5.", Some("5")),
    ("-.5", Some("-0.5")),
    ("+1", Some("1")),
    ("-1", Some("-1")),
    ("+1.5", Some("1.5")),
    ("1e400", Some(r#""1e400""#)),
    ("12345678901234567890", Some("12345678901234567000")),
    ("18446744073709551615", Some("18446744073709552000")),
    ("18446744073709551616", Some("18446744073709552000")),
    ("-9223372036854775808", Some("-9223372036854775808")),
    ("-9223372036854775809", Some("-9223372036854776000")),
    ("190:20:30", Some(r#""190:20:30""#)),
    ("2001-12-14", Some(r#""2001-12-14""#)),
    ("2001-12-14t21:59:43.10-05:00", Some(r#""2001-12-14t21:59:43.10-05:00""#)),
    ("'0755'", Some(r#""0755""#)),
    (r#""y""#, Some(r#""y""#)),
    ("!!str 1", Some(r#""1""#)),
    ("!!int '3'", Some("3")),
    ("!!float 1", Some("1")),
    ("!!binary aGVsbG8=", Some(r#""hello""#)),
    ("!!bool yes", Some("true")),
    ("=", Some(r#""=""#)),
    ("<<", Some(r#""<<""#)),
    ("1.27", Some("1.27")),
    ("1.10", Some("1.1")),
    ("0.1", Some("0.1")),
    ("1e-7", Some("1e-7")),
    ("-0", Some("0")),
    ("-0.0", Some("0")),
    ("0", Some("0")),
    ("00", Some("0")),
    ("0x", Some(r#""0x""#)),
    ("0b", Some(r#""0b""#)),
    ("0o", Some(r#""0o""#)),
    ("1__0", Some("10")),
    ("_1", Some(r#""_1""#)),
    ("1_", Some("1")),
    ("0.0", Some("0")),
    ("1e21", Some("1e+21")),
    ("123456789012345678901234567890", Some("1.2345678901234568e+29")),
    ("1.0e3", Some("1000")),
    ("1e+3", Some("1000")),
    ("9007199254740993", Some("9007199254740993")),
    ("9007199254740993.0", Some("9007199254740992")),
    (".inf", None),
    ("-.Inf", None),
    (".nan", None),
    ("nan", Some(r#""nan""#)),
    ("inf", Some(r#""inf""#)),
    ("Infinity", Some(r#""Infinity""#)),
    ("0o8", Some(r#""0o8""#)),
    ("0b2", Some(r#""0b2""#)),
    ("-0b11", Some("-3")),
    ("-0o17", Some("-15")),
    ("-0755", Some("-493")),
    ("+0755", Some("493")),
    ("0x_1f", Some("31")),
    ("1_000.5", Some("1000.5")),
    ("!x", Some(r#""""#)),
    ("!foo bar", Some(r#""bar""#)),
    ("12e03", Some("12000")),
    ("0e0", Some("0")),
    ("1e5000", Some(r#""1e5000""#)),
    ("''", Some(r#""""#)),
    (r#""\u263A""#, Some(r#""\u263a""#)),
    ("-", None),
    ("|-\n      a\n      b", Some(r#""a\nb""#)),
    (">\n      a\n      b", Some(r#""a b\n""#)),
    ("@a", None),
    ("`a", None),
    ("%a", None),
    ("a: b", None),
    ("[1,y,0x1]", Some("[1, true, 1]")),
    ("{a: y}", Some(r#"{"a": true}"#)),
    ("&x 3", Some("3")),
    ("a #b", Some(r#""a""#)),
    ("a#b", Some(r#""a#b""#)),
    ("!!null ''", Some("null")),
    ("!!str", Some(r#""""#)),
    ("!!str ~", Some(r#""~""#)),
    ("0777777777777777777777", Some("9223372036854775807")),
    ("1.7976931348623157e308", Some("1.7976931348623157e+308")),
    ("4.9e-324", Some("5e-324")),
    ("+.inf", None),
    ("1:20", Some(r#""1:20""#)),
    ("0:0", Some(r#""0:0""#)),
    ("1e", Some(r#""1e""#)),
    ("+", Some(r#""+""#)),
    ("0d10", Some(r#""0d10""#)),
    ("٣", Some(r#""\u0663""#)),
    ("!!int 1_000", Some("1000")),
    ("!!float 08", Some("8")),
    ("!!int 08", None),
    ("!!int 0o17", Some("15")),
    ("!!timestamp 2001-12-14", Some(r#""2001-12-14""#)),
    ("!!set {a,b}", Some(r#"{"a": null, "b": null}"#)),
    ("!!omap [a: 1]", Some(r#"[{"a": 1}]"#)),
    ("yEs", Some(r#""yEs""#)),
    ("1e-320", Some("1e-320")),
    ("1:2:3", Some(r#""1:2:3""#)),
    ("0x1p4", Some(r#""0x1p4""#)),
    ("1,000", Some(r#""1,000""#)),
    ("$5", Some(r#""$5""#)),
    ("5%", Some(r#""5%""#)),
    ("100m", Some(r#""100m""#)),
    ("1Gi", Some(r#""1Gi""#)),
    ("v1", Some(r#""v1""#)),
    ("sha256:abc", Some(r#""sha256:abc""#)),
    ("nginx:1.27", Some(r#""nginx:1.27""#)),
    (r#""a\tb""#, Some(r#""a\tb""#)),
    ("'it''s'", Some(r#""it's""#)),
    ("[]", Some("[]")),
    ("{}", Some("{}")),
    ("null x", Some(r#""null x""#)),
    ("true x", Some(r#""true x""#)),
    ("~a", Some(r#""~a""#)),
    ("!!float 1.5", Some("1.5")),
    ("!!str 08", Some(r#""08""#)),
    ("!!str yes", Some(r#""yes""#)),
    ("! 1", Some(r#""1""#)),
    ("!!int -5", Some("-5")),
    ("!!seq [1]", Some("[1]")),
    ("!!map {a: 1}", Some(r#"{"a": 1}"#)),
    ("0xFFFFFFFFFFFFFFFF", Some("18446744073709552000")),
    ("0x7FFFFFFFFFFFFFFF", Some("9223372036854775807")),
    ("-0x8000000000000000", Some("-9223372036854775808")),
    ("0b1111_0000", Some("240")),
    ("[1, 2", None),
    ("1.e3", Some("1000")),
    ("1e+", Some(r#""1e+""#)),
    ("1.5e3", Some("1500")),
    (".5e1", Some("5")),
    ("08.5", Some("8.5")),
    ("-08", Some("-8")),
    ("+08", Some("8")),
    ("0_1", Some("1")),
    ("00x1", Some(r#""00x1""#)),
    ("1_e3", Some("1000")),
    ("0e", Some(r#""0e""#)),
    ("1.2.3", Some(r#""1.2.3""#)),
    ("-.", Some(r#""-.""#)),
    ("..", Some(r#""..""#)),
    (".", Some(r#"".""#)),
    ("+.5", Some("0.5")),
    ("-1_000", Some("-1000")),
    ("0O17", Some("15")),
    ("0B1", Some("1")),
    ("1E-2", Some("0.01")),
    ("TRUE ", Some("true")),
    ("2001-12-14 21:59:43", Some(r#""2001-12-14 21:59:43""#)),
    ("12:30:45", Some(r#""12:30:45""#)),
    ("685_230.15", Some("685230.15")),
    ("190:20:30.15", Some(r#""190:20:30.15""#)),
];

/// Keys that are read as kubectl reads them.
const KEYS: &[(&str, Option<&str>)] = &[
    ("1", Some("1")),
    ("true", Some("true")),
    ("yes", Some("true")),
    ("y", Some("true")),
    ("0x1F", Some("31")),
    ("1.5", Some("1.5")),
    ("1e3", Some("1000")),
    ("1.0", Some("1")),
    ("2001-12-14", Some("2001-12-14")),
    ("-0", Some("0")),
    ("08", Some("8")),
    ("1_000", Some("1000")),
    ("!!str 1", Some("1")),
    ("!!binary aGk=", Some("hi")),
    ("'1'", Some("1")),
    ("1e21", Some("1e+21")),
    ("123456789012345678901", Some("1.2345679e+20")),
    ("1e-7", Some("1e-07")),
    ("0.1", Some("0.1")),
    ("1e5", Some("100000")),
    ("1e6", Some("1e+06")),
    ("123456.0", Some("123456")),
    ("1234567.0", Some("1.234567e+06")),
    ("12345678.5", Some("1.2345678e+07")),
    ("0.0001", Some("0.0001")),
    ("0.00001", Some("1e-05")),
    ("1.25e-5", Some("1.25e-05")),
    ("-1e6", Some("-1e+06")),
    ("-1.5", Some("-1.5")),
    ("16777217.0", Some("1.6777216e+07")),
    ("9223372036854775807", Some("9223372036854775807")),
    ("-9223372036854775808", Some("-9223372036854775808")),
    ("9223372036854775808", None),
    ("null", None),
    ("~", None),
    ("", None),
    ("[a]", None),
    ("{a: b}", None),
    ("1e39", Some(".inf")),
    ("-0.0", Some("-0")),
    ("0755", Some("493")),
    ("0o17", Some("15")),
    ("1:20", Some("1:20")),
    ("'yes'", Some("yes")),
    ("off", Some("false")),
    ("a b", Some("a b")),
    ("!!int 5", Some("5")),
    ("!foo a", Some("a")),
];

/// Where this module differs: the scalar, what kubectl reads, what is read here.
const DIFFERENT: &[(&str, Option<&str>, Option<&str>)] = &[
    ("tRUE", Some(r#""tRUE""#), Some("true")),
    ("yEs", Some(r#""yEs""#), Some("true")),
    ("1__0", Some("10"), Some(r#""1__0""#)),
    ("1_", Some("1"), Some(r#""1_""#)),
    ("1_000.5", Some("1000.5"), Some(r#""1_000.5""#)),
    ("685_230.15", Some("685230.15"), Some(r#""685_230.15""#)),
    ("1_e3", Some("1000"), Some(r#""1_e3""#)),
    ("1e400", Some(r#""1e400""#), None),
    ("1e5000", Some(r#""1e5000""#), None),
    ("!!timestamp 2001-12-14", Some(r#""2001-12-14""#), None),
    ("!x", Some(r#""""#), Some("null")),
];

#[test]
fn scalars_are_those_of_kubectl() {
    let different: Vec<String> = SCALARS
        .iter()
        .filter(|(scalar, _)| !DIFFERENT.iter().any(|(known, _, _)| known == scalar))
        .filter_map(|(scalar, expected)| mismatch(scalar, *expected))
        .collect();
    assert!(different.is_empty(), "{}", different.join("\n"));
}

#[test]
fn the_known_differences_are_all_there_are() {
    for (scalar, kubectl, here) in DIFFERENT {
        assert!(SCALARS.contains(&(*scalar, *kubectl)), "{scalar} has kubectl's answer in the large table");
        assert_eq!(mismatch(scalar, *here), None);
    }
}

#[test]
fn keys_are_those_of_kubectl() {
    let mut different = Vec::new();
    for (key, expected) in KEYS {
        let yaml = object(&format!("  {key}: x\n"));
        let actual = parse("keys.yaml", yaml.as_bytes()).ok().and_then(|manifests| {
            let keys = manifests.first()?.object.get("spec")?.as_object()?.keys().cloned().collect::<Vec<_>>();
            keys.first().cloned()
        });
        if actual.as_deref() != *expected {
            different.push(format!("{key}: kubectl reads {expected:?}, here {actual:?}"));
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
}

fn mismatch(scalar: &str, expected: Option<&str>) -> Option<String> {
    let yaml = object(&format!("    v: {scalar}\n"));
    let actual = spec(&yaml).and_then(|spec| spec.get("v").cloned());
    let json = |value: &str| {
        let text = format!(
            r#"{{"apiVersion":"example.com/v1","kind":"Foo","metadata":{{"name":"a"}},"spec":{{"v":{value}}}}}"#
        );
        spec(&text).and_then(|spec| spec.get("v").cloned()).expect("kubectl's answer is JSON")
    };
    let expected = expected.map(json);
    (actual != expected).then(|| format!("{scalar}: kubectl reads {expected:?}, here {actual:?}"))
}
