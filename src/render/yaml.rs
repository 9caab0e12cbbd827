//! The plan's JSON document as YAML.
//!
//! Promise: kubectl's YAML reader makes exactly the JSON document of it: what looks like a boolean, a number or nothing
//! is quoted, and so is what could mislead an eye or a terminal, as escapes.

use std::io::{self, Write};

use engine::plan::Plan;

use super::{diff, json};

pub(super) fn plan(plan: &Plan, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(diff::yaml(&json::document(plan)?).as_bytes())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::diff;

    /// Reads an object as the program reads manifests, which is how kubectl does.
    fn read_back(text: &str) -> Value {
        crate::manifest::parse("plan.yaml", text.as_bytes()).unwrap().remove(0).object
    }

    fn object(text: &str) -> Value {
        json!({"apiVersion": "v1", "kind": "Plan", "metadata": {"name": "plan"}, "text": text, "list": [text, {"deep": text}]})
    }

    #[test]
    fn text_stays_text() {
        let texts = [
            "yes",
            "no",
            "on",
            "Off",
            "y",
            "N",
            "true",
            "null",
            "~",
            "",
            " ",
            "0755",
            "0o755",
            "1_000",
            "0x1F",
            "0b1",
            "1e3",
            "123e4567",
            "5e10",
            "12345678",
            "1:30",
            ".inf",
            ".NaN",
            "-.inf",
            "=",
            "<<",
            "- a",
            "a: b",
            "a #b",
            "#a",
            "!x",
            "&a",
            "*a",
            "%a",
            "@a",
            "`a`",
            "{a}",
            "[a]",
            "|",
            ">",
            "'",
            "\"",
            "2001-01-01",
            "+1",
            "-1",
            "1.",
            ".5",
            "---",
            "...",
            "? a",
            ":",
            "a\nb",
            "a\n\n",
            "\na",
            " a ",
            "a\tb",
            "\u{1b}[2J",
            "\u{202e}x",
            "\u{e0041}",
            "a\r\nb",
            "\u{feff}",
            "\u{85}",
            "\u{2028}",
            "caf\u{e9}",
            "\u{1f600}",
        ];
        for text in texts {
            let written = diff::yaml(&object(text));
            assert_eq!(read_back(&written), object(text), "{text:?}: {written}");
        }
    }

    proptest! {
        #[test]
        fn any_text_stays_itself(text in any::<String>(), short in "[-+0-9a-fxo_.:eEyYnN~ ]{0,8}") {
            for text in [text, short] {
                prop_assert_eq!(read_back(&diff::yaml(&object(&text))), object(&text));
            }
        }
    }
}
