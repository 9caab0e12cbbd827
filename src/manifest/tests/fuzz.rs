//! Generated inputs: none panics, and what is accepted keeps the promises of the module.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::Value;

use super::parse;

/// Pieces of YAML and JSON, most of them wrong most of the time.
const TOKENS: &[&str] = &[
    "apiVersion: v1\n",
    "kind: List\n",
    "kind: Pod\n",
    "metadata: {name: a}\n",
    "items:\n",
    "---\n",
    "--- ",
    "...\n",
    "\n",
    "\r\n",
    "\r",
    "  ",
    " ",
    "\t",
    "- ",
    "? ",
    ": ",
    ":",
    "a",
    "b: ",
    "\"",
    "'",
    "[",
    "]",
    "{",
    "}",
    ",",
    "&a ",
    "*a",
    "&b ",
    "*b",
    "<<: ",
    "<<",
    "!!str ",
    "!!int ",
    "!!binary ",
    "!x ",
    "!<",
    "|\n",
    ">-\n",
    "|2+\n",
    "# c\n",
    "#",
    "%YAML 1.2\n",
    "%",
    "@",
    "`",
    "0x",
    "0o",
    "08",
    "1e3",
    "1e999",
    ".inf",
    ".nan",
    "~",
    "null",
    "y",
    "no",
    "\u{feff}",
    "\u{85}",
    "\u{2028}",
    "\\",
    "\\x",
    "\\u12",
    "\u{1f600}",
    "Secret",
    "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\"}}",
];

/// Every accepted object has its identity and only numbers that Kubernetes keeps.
fn check(bytes: &[u8]) -> Result<(), TestCaseError> {
    let Ok(manifests) = parse("fuzz", bytes) else { return Ok(()) };
    for manifest in manifests {
        for field in ["/apiVersion", "/kind", "/metadata/name"] {
            let text = manifest.object.pointer(field).and_then(Value::as_str);
            prop_assert!(text.is_some_and(|text| !text.is_empty()), "{field} in {}", manifest.object);
        }
        prop_assert!(manifest.source.line >= 1);
        // Written as JSON, it is read as the same value: nothing is left to normalise.
        let again = parse("again", manifest.object.to_string().as_bytes());
        let again = again.map(|manifests| manifests.into_iter().map(|manifest| manifest.object).collect::<Vec<_>>());
        prop_assert_eq!(again.map_err(|error| error.to_string()), Ok(vec![manifest.object]));
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_bytes(bytes in vec(any::<u8>(), 0..512)) {
        check(&bytes)?;
    }

    #[test]
    fn arbitrary_text(text in any::<String>()) {
        check(text.as_bytes())?;
    }

    #[test]
    fn tokens(tokens in vec(select(TOKENS), 0..64)) {
        check(tokens.concat().as_bytes())?;
    }

    #[test]
    fn tokens_in_an_object(tokens in vec(select(TOKENS), 0..24)) {
        let text = format!("apiVersion: v1\nkind: Pod\nmetadata: {{name: a}}\nspec:\n  a: {}", tokens.concat());
        check(text.as_bytes())?;
    }

    #[test]
    fn tokens_in_json(tokens in vec(select(TOKENS), 0..24)) {
        check(format!("{{{}", tokens.concat()).as_bytes())?;
    }
}
