//! What to do next, in a sentence. A command in it is a value: whoever shows the sentence adds the caller's flags, and
//! nobody searches for commands in prose.

use std::collections::BTreeMap;
use std::fmt;

/// The flags that a printed command has from what was typed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Flags {
    /// Who asks whom: of every command.
    pub connection: Vec<String>,
    /// That, and the safeguards that it has: of this program's commands, by name.
    pub own: BTreeMap<String, Vec<String>>,
}

/// A command to copy, without what [`Flags`] adds.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Spoken {
    words: Vec<String>,
    /// It has the flags but for those of the connection: it is what was typed.
    is_whole: bool,
}

pub fn kubectl(words: &str) -> Spoken {
    Spoken { words: vec!["kubectl".to_owned()], is_whole: false }.and(words)
}

pub fn inplace(words: &str) -> Spoken {
    kubectl("inplace").and(words)
}

impl Spoken {
    #[must_use]
    pub fn whole(self) -> Self {
        Self { is_whole: true, ..self }
    }

    #[must_use]
    pub fn and(mut self, words: &str) -> Self {
        self.words.extend(words.split(' ').filter(|word| !word.is_empty()).map(str::to_owned));
        self
    }

    #[must_use]
    pub fn of(mut self, word: impl fmt::Display) -> Self {
        self.words.push(word.to_string());
        self
    }

    #[must_use]
    pub fn in_namespace(self, namespace: &str) -> Self {
        if namespace.is_empty() { self } else { self.of("-n").of(namespace) }
    }

    fn with_flags(&self, flags: &Flags) -> String {
        let own = match self.words.as_slice() {
            [_, inplace, command, ..] if inplace == "inplace" && !self.is_whole => flags.own.get(command),
            _ => None,
        };
        // Such as --no-hooks, which the command may have already.
        let is_new = |flag: &&String| !flag.starts_with("--") || !self.words.contains(flag);
        let flags = own.unwrap_or(&flags.connection).iter().filter(is_new);
        self.words.iter().chain(flags).map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
    }
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Piece {
    Text(String),
    Command(Spoken),
}

/// A sentence without a full stop.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Hint(Vec<Piece>);

impl Hint {
    #[must_use]
    pub fn then(mut self, text: impl Into<String>) -> Self {
        self.0.push(Piece::Text(text.into()));
        self
    }

    #[must_use]
    pub fn command(mut self, command: Spoken) -> Self {
        self.0.push(Piece::Command(command));
        self
    }

    /// Returns the same with other words in its text.
    #[must_use]
    pub fn with(self, from: &str, to: &str) -> Self {
        let pieces = self.0.into_iter().map(|piece| match piece {
            Piece::Text(text) => Piece::Text(text.replace(from, to)),
            Piece::Command(command) => Piece::Command(command),
        });
        Self(pieces.collect())
    }

    /// Returns the sentence with commands that lead to the same server as the same user, as careful as what was typed.
    pub fn with_flags(&self, flags: &Flags) -> String {
        let pieces = self.0.iter().map(|piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Command(command) => command.with_flags(flags),
        });
        pieces.collect()
    }
}

impl<T: Into<String>> From<T> for Hint {
    fn from(text: T) -> Self {
        Self::default().then(text)
    }
}

/// For documents: they may be read by other users.
impl fmt::Display for Hint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.with_flags(&Flags::default()))
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_quoted_for_a_shell() {
        assert_eq!(quoted("side=acme/side:1.2@sha256:ab"), "side=acme/side:1.2@sha256:ab");
        assert_eq!(quoted("it's $HOME"), r"'it'\''s $HOME'");
        assert_eq!(quoted(""), "''");
    }

    #[test]
    fn every_command_of_a_sentence_has_the_flags_wherever_it_is() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let flags = Flags {
            connection: words("--as jane"),
            own: [("resume".to_owned(), words("--no-hooks --timeout 8m --as jane"))].into(),
        };
        let hint = Hint::from("resume it (")
            .command(inplace("resume").of("deployment/web").in_namespace("my shop").and("--no-hooks"))
            .then("), or see it: ")
            .command(kubectl("get pods").in_namespace(""));
        assert_eq!(
            hint.with_flags(&flags),
            "resume it (kubectl inplace resume deployment/web -n 'my shop' --no-hooks --timeout 8m --as jane), or see it: kubectl get pods --as jane"
        );
        assert_eq!(
            hint.to_string(),
            "resume it (kubectl inplace resume deployment/web -n 'my shop' --no-hooks), or see it: kubectl get pods"
        );
    }
}
