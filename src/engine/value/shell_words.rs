//! Words of a command line that is shown for copying.

/// Quotes a word for a POSIX shell where it needs it.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@=,+%".contains(c);
    // A shell may take `=word` for a path.
    if !word.is_empty() && !word.starts_with('=') && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// Adds flags to the command that a hint ends with, after a colon.
pub fn connected(hint: &str, flags: &str) -> String {
    let has_command = hint.rsplit_once(": ").is_some_and(|(_, command)| command.starts_with("kubectl "));
    if has_command && !hint.ends_with(flags) { format!("{hint}{flags}") } else { hint.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_quoted_for_a_shell() {
        assert_eq!(quoted("side=acme/side:1.2@sha256:ab"), "side=acme/side:1.2@sha256:ab");
        assert_eq!(quoted("it's $HOME"), r"'it'\''s $HOME'");
        assert_eq!(quoted(""), "''");
    }
}
