//! Makes text from the cluster harmless to display.
//!
//! Promise: what comes out is one line, moves no cursor, changes no colour, rings no bell, and hides or reorders no
//! character. Escapes are visible: `^[` for ESC as in kubectl (`cli-runtime/pkg/printers/terminal.go`), `\n` for a line
//! break, `\u{202e}` for the rest. JSON stays exact: there the same characters become JSON's own escapes.

use std::fmt::Write as _;

use engine::value::hostile::is_hostile;

/// How much of one text the terminal shows; JSON has all of it.
pub(crate) const SHOWN_CHARACTERS: usize = 1_000;

/// Returns the text on one line with every harmful character made visible; with `unicode` off, pure ASCII.
pub fn line(text: &str, unicode: bool) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' => shown.push_str("\\n"),
            '\r' => shown.push_str("\\r"),
            '\t' => shown.push_str("\\t"),
            '\0'..='\x1f' | '\x7f' => {
                shown.push('^');
                shown.push(caret(character));
            }
            _ if is_hostile(character) || !(unicode || character.is_ascii()) => {
                // Writing to a String does not fail.
                let _ = write!(shown, "\\u{{{:x}}}", u32::from(character));
            }
            _ => shown.push(character),
        }
    }
    shown
}

/// Returns lines as one, without the blank ones: last words end with a line break, and a webhook's refusal is a paragraph.
pub(crate) fn one_line(text: &str) -> String {
    let lines = text.split(['\n', '\r']).map(str::trim).filter(|line| !line.is_empty());
    if text.contains(['\n', '\r']) { lines.collect::<Vec<_>>().join(" / ") } else { text.to_owned() }
}

/// Returns at most `characters` of the text, and says how many are left out.
pub fn cut(text: &str, characters: usize) -> String {
    let Some((at, _)) = text.char_indices().nth(characters) else { return text.to_owned() };
    let (head, rest) = text.split_at(at);
    format!("{head}... ({} more characters; -o json has them all)", rest.chars().count())
}

/// Returns JSON text in which the harmful characters are JSON escapes: the same document to a parser.
///
/// Outside of strings JSON has ASCII only, and inside of them serde_json has escaped all below the blank.
pub(crate) fn json(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        if character >= ' ' && is_hostile(character) {
            let mut units = [0; 2];
            for unit in character.encode_utf16(&mut units) {
                let _ = write!(shown, "\\u{unit:04x}");
            }
        } else {
            shown.push(character);
        }
    }
    shown
}

/// Returns text that a harmful character is in as YAML in double quotes, with escapes in their place; `None` for text
/// without any. Line breaks and tabs are none: YAML shows them as what they are.
pub(crate) fn yaml(text: &str) -> Option<String> {
    let is_harmful = |character: char| is_hostile(character) && !matches!(character, '\n' | '\t');
    if !text.chars().any(is_harmful) {
        return None;
    }
    // JSON's escapes are YAML's too, but for the pairs of surrogates.
    let quoted = serde_json::Value::from(text).to_string();
    let mut shown = String::with_capacity(quoted.len());
    for character in quoted.chars() {
        let _ = match u32::from(character) {
            code @ ..=0xffff if is_hostile(character) => write!(shown, "\\u{code:04x}"),
            code if is_hostile(character) => write!(shown, "\\U{code:08x}"),
            _ => write!(shown, "{character}"),
        };
    }
    Some(shown)
}

/// The letter after the caret: `[` for ESC, `?` for DEL.
fn caret(control: char) -> char {
    char::from_u32(u32::from(control) ^ 0x40).unwrap_or('?')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_could_mislead_is_made_visible() {
        for (text, shown) in [
            ("web-0", "web-0"),
            ("caf\u{e9} \u{2713}", "caf\u{e9} \u{2713}"),
            ("\u{1b}[2Jgone", "^[[2Jgone"),
            ("a\r\nPlan: done", "a\\r\\nPlan: done"),
            ("bell\u{7} tab\t nul\0 del\u{7f}", "bell^G tab\\t nul^@ del^?"),
            ("c1 \u{9b}31m", "c1 \\u{9b}31m"),
            ("\u{202e}gnp.exe", "\\u{202e}gnp.exe"),
            ("no\u{200b}thing\u{feff}", "no\\u{200b}thing\\u{feff}"),
            ("line\u{2028}para\u{2029}", "line\\u{2028}para\\u{2029}"),
            ("tag\u{e0041}", "tag\\u{e0041}"),
            ("back\\slash", "back\\slash"),
        ] {
            assert_eq!(line(text, true), shown);
        }
        assert_eq!(line("caf\u{e9}", false), "caf\\u{e9}");
        assert_eq!(one_line("panic: no\r\n\n  at main \nexit\n"), "panic: no / at main / exit");
        assert_eq!(one_line(" as it is "), " as it is ");
    }

    #[test]
    fn a_long_text_is_cut_and_says_so() {
        assert_eq!(cut("abc", 3), "abc");
        assert_eq!(cut("\u{e9}bcd", 1), "\u{e9}... (3 more characters; -o json has them all)");
        assert_eq!(cut("", 0), "");
    }

    proptest! {
        #[test]
        fn nothing_harmful_comes_out(text in any::<String>()) {
            let shown = line(&text, true);
            prop_assert!(!shown.chars().any(is_hostile), "{shown:?}");
            prop_assert!(line(&text, false).chars().all(|c| (' '..='~').contains(&c)));
            prop_assert_eq!(&line(&shown, true), &shown);
        }

        #[test]
        fn every_single_character_is_harmless(character in any::<char>()) {
            prop_assert!(!line(&character.to_string(), true).chars().any(is_hostile));
        }

        #[test]
        fn json_stays_the_same_document(text in any::<String>()) {
            let written = json(&serde_json::to_string(&text).unwrap());
            prop_assert!(!written.chars().any(is_hostile), "{written:?}");
            prop_assert_eq!(serde_json::from_str::<String>(&written).unwrap(), text);
        }

        #[test]
        fn a_cut_never_panics(text in any::<String>(), characters in 0_usize..40) {
            prop_assert!(cut(&text, characters).starts_with(&text.chars().take(characters).collect::<String>()));
        }
    }
}
