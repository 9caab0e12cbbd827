//! Masks what looks like a credential in text that somebody else wrote: log lines, messages of containers, registries,
//! events, servers, and the output of the user's own commands.
//!
//! Such text is masked where it comes in, and nowhere else: [`crate::k8s::pod`] and
//! [`crate::k8s::events`] do it while they read the API's objects, the cluster's errors and warnings while they
//! are sorted, a hook's output line by line. So no output has to do it, and neither has a recording.
//!
//! Promise: a text without a credential comes out unchanged; masking twice is masking once. It is a net and no wall: a
//! secret that nothing marks as one passes.

use super::metadata::LAST_APPLIED;

pub const MASK: &str = "***";

const MASKED_KEY: &str = "*** (a private key)";

/// Ends of names whose value is a secret, without `-` and `_`, in lower case.
const SECRET_NAMES: [&str; 14] = [
    "password",
    "passwd",
    "pwd",
    "passphrase",
    "secret",
    "token",
    "apikey",
    "accesskey",
    "accesskeyid",
    "secretkey",
    "privatekey",
    "credential",
    "credentials",
    "cookie",
];

/// Beginnings of credentials that show what they are, and how many more characters make one.
const SHAPES: [(&str, usize); 12] = [
    ("AKIA", 16),
    ("ASIA", 16),
    ("eyJ", 20),
    ("ghp_", 20),
    ("gho_", 20),
    ("ghs_", 20),
    ("github_pat_", 20),
    ("glpat-", 16),
    ("xoxb-", 16),
    ("xoxp-", 16),
    ("sk_live_", 12),
    ("AIza", 30),
];

/// How much of a field people put secrets into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Secrets {
    /// The `value` of each of its items.
    Values,
    /// All of it: a manifest as one text, or what a process is started with.
    Whole,
}

impl Secrets {
    /// Returns how much of a field of an object, by its name; `None` of what is no such field.
    pub fn of_field(name: &str) -> Option<Self> {
        match name {
            "env" | "httpHeaders" => Some(Self::Values),
            "command" | "args" | LAST_APPLIED => Some(Self::Whole),
            _ => None,
        }
    }
}

/// What precedes and follows the label of a block of PEM.
const BEGIN: &str = "-----BEGIN ";
const END: &str = "-----END ";
const DASHES: &str = "-----";

/// The characters in a block of PEM; a log in JSON has its line breaks as `\n`.
fn is_pem(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=' | '\\' | '\n' | '\r')
}

pub fn text(text: &str) -> String {
    if text.is_empty() {
        return String::new();
    }
    let without_keys = keys(text);
    let lines: Vec<String> = without_keys.split('\n').map(line).collect();
    lines.join("\n")
}

/// Masks private keys, also those that were cut at one end.
fn keys(text: &str) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((begin, end)) = block(rest) {
        masked.push_str(rest.get(..begin).unwrap_or_default());
        masked.push_str(MASKED_KEY);
        rest = rest.get(end..).unwrap_or_default();
    }
    masked.push_str(rest);
    masked
}

/// Finds the first private key: where it begins and ends.
fn block(text: &str) -> Option<(usize, usize)> {
    let (begins, ends) = (header(text, BEGIN), header(text, END));
    match (begins, ends) {
        // Its beginning was cut off.
        (begins, Some((end, after))) if begins.is_none_or(|(begin, _)| end < begin) => {
            let before = text.get(..end).unwrap_or_default();
            Some((before.trim_end_matches(is_pem).len(), after))
        }
        (Some((begin, after)), _) => {
            let rest = text.get(after..).unwrap_or_default();
            // Its end was cut off.
            let end = rest.find(END).map_or(text.len(), |at| {
                let name = after + at + END.len();
                let tail = text.get(name..).unwrap_or_default();
                name + tail.find(DASHES).map_or(tail.len(), |at| at + DASHES.len())
            });
            Some((begin, end))
        }
        (None, _) => None,
    }
}

/// Finds the first line that begins or ends a private key: its two ends.
fn header(text: &str, mark: &str) -> Option<(usize, usize)> {
    text.match_indices(mark).find_map(|(at, _)| {
        let name = at + mark.len();
        let tail = text.get(name..)?;
        let length = tail.find(DASHES)?;
        tail.get(..length)?.contains("PRIVATE KEY").then_some((at, name + length + DASHES.len()))
    })
}

/// Masks an output as it comes, line by line: within a private key nothing comes out.
#[derive(Debug, Default)]
pub struct Lines {
    in_key: bool,
}

impl Lines {
    /// Returns a line with credentials masked; `None` within a private key.
    pub fn next(&mut self, line: &str) -> Option<String> {
        let was_in_key = self.in_key;
        let (begin, end) = (header(line, BEGIN).map(|(at, _)| at), line.rfind(END));
        if was_in_key && end.is_none() {
            return None;
        }
        self.in_key = begin.is_some_and(|begin| end.is_none_or(|end| end < begin));
        if was_in_key && !self.in_key {
            return None;
        }
        Some(text(line))
    }
}

fn line(text: &str) -> String {
    shaped(&in_addresses(&named(text)))
}

/// Masks the values of names that mark secrets: `password=...`, `"token": "..."`, `--api-key ...`,
/// `Authorization: Bearer ...`.
fn named(text: &str) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(is_name) {
        let (before, from) = rest.split_at(at);
        let (name, after) = from.split_at(from.find(|c| !is_name(c)).unwrap_or(from.len()));
        masked.push_str(before);
        let is_image = is_image(&masked, after);
        masked.push_str(name);
        rest = after;
        let plain: String = name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_lowercase();
        if is_image {
            continue;
        }
        let is_scheme = plain == "bearer";
        let header = plain.ends_with("authorization");
        if !(is_scheme || header || SECRET_NAMES.iter().any(|secret| plain.ends_with(secret))) {
            continue;
        }
        let blank_will_do = is_scheme || name.starts_with("--");
        let Some((separator, value, quote)) = value_of(after, blank_will_do) else { continue };
        let scheme = if header { scheme_of(value) } else { 0 };
        let (scheme, secret) = value.split_at(scheme);
        let end = end_of(secret, quote, plain.ends_with("cookie"));
        if end == 0 || is_scheme && end < 8 {
            continue;
        }
        masked.push_str(separator);
        masked.push_str(scheme);
        masked.push_str(MASK);
        rest = secret.get(end..).unwrap_or_default();
    }
    masked.push_str(rest);
    masked
}

/// Whether a name is the end of an image's repository, and what follows it a tag: `acme/token:v1`, `image "token:v1"`.
fn is_image(before: &str, after: &str) -> bool {
    // A mask may already be in place of the user of an address.
    let is_tag = |tag: &str| tag.starts_with(|c: char| c.is_ascii_alphanumeric()) || tag.starts_with("***@");
    let tagged = after.strip_prefix(':').is_some_and(is_tag);
    tagged && (before.ends_with('/') || before.ends_with("mage \""))
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.')
}

/// Splits what follows a name into the separator and the value, with the quote that opens it; `None` where there is
/// neither `=` nor `:`, nor, where a blank will do, a blank.
fn value_of(after: &str, blank_will_do: bool) -> Option<(&str, &str, Option<char>)> {
    let is_closing = |c: char| matches!(c, '\\' | '"' | '\'' | ']' | ' ');
    let at = after.find(|c| !is_closing(c))?;
    let mark = after.get(at..).and_then(|rest| rest.chars().next())?;
    let mut end = if matches!(mark, '=' | ':') {
        // `:=` and `=>` assign as well.
        at + after.get(at..)?.find(|c| !matches!(c, '=' | ':' | '>'))?
    } else if blank_will_do && after.starts_with(' ') {
        0
    } else {
        return None;
    };
    end += after.get(end..)?.find(|c| !matches!(c, ' ' | '\\' | '['))?;
    let quote = after.get(end..)?.chars().next().filter(|c| matches!(c, '"' | '\''));
    end += quote.map_or(0, char::len_utf8);
    let (separator, value) = after.split_at(end);
    Some((separator, value, quote))
}

/// Returns the length of `Bearer ` and the like before a credential.
fn scheme_of(value: &str) -> usize {
    let word = value.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(value.len());
    let rest = value.get(word..).and_then(|rest| rest.strip_prefix(' ')).unwrap_or_default();
    let goes_on = rest.starts_with(is_token) || rest.starts_with(MASK);
    if word > 0 && goes_on { word + 1 } else { 0 }
}

fn is_token(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '+' | '/' | '=' | '~')
}

/// Returns the length of a value: to its quote, else to where a word ends; of a whole header to the end of the line.
fn end_of(value: &str, quote: Option<char>, whole_line: bool) -> usize {
    let ends = |c: char| match quote {
        Some(quote) => c == quote || c == '\\',
        None if whole_line => matches!(c, '"' | '\''),
        None => c.is_whitespace() || matches!(c, ',' | ';' | '&' | '"' | '\'' | ')' | '}' | ']' | '\\'),
    };
    value.find(ends).unwrap_or(value.len())
}

/// Masks the password of `scheme://user:password@host`.
fn in_addresses(text: &str) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (before, from) = rest.split_at(at + 3);
        masked.push_str(before);
        let end =
            from.find(|c: char| c.is_whitespace() || matches!(c, '/' | '?' | '#' | '"' | '\'')).unwrap_or(from.len());
        let (authority, after) = from.split_at(end);
        match authority.rsplit_once('@').map(|(user, host)| (user.split_once(':'), host)) {
            Some((Some((user, _)), host)) => masked.push_str(&format!("{user}:{MASK}@{host}")),
            Some((None, _)) | None => masked.push_str(authority),
        }
        rest = after;
    }
    masked.push_str(rest);
    masked
}

/// Masks credentials that show by themselves what they are.
fn shaped(text: &str) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(is_token) {
        let (before, from) = rest.split_at(at);
        let (word, after) = from.split_at(from.find(|c| !is_token(c)).unwrap_or(from.len()));
        masked.push_str(before);
        let hit = SHAPES.iter().filter_map(|(begin, more)| Some((word.find(begin)?, begin.len() + more))).min();
        match hit.filter(|(at, length)| word.len() - at >= *length) {
            Some((at, _)) => {
                masked.push_str(word.get(..at).unwrap_or_default());
                masked.push_str(MASK);
            }
            None => masked.push_str(word),
        }
        rest = after;
    }
    masked.push_str(rest);
    masked
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_marked_as_a_secret_is_masked() {
        for (text, masked) in [
            ("listening on :8080", "listening on :8080"),
            ("password=hunter2", "password=***"),
            ("DB_PASSWORD=hunter2 user=app", "DB_PASSWORD=*** user=app"),
            ("dsn: user=app password='with blank' sslmode=off", "dsn: user=app password='***' sslmode=off"),
            (r#"{"apiKey":"abc","port":1}"#, r#"{"apiKey":"***","port":1}"#),
            (r#"msg="{\"token\":\"abc\"}" level=info"#, r#"msg="{\"token\":\"***\"}" level=info"#),
            ("client_secret: s3cr3t, ok", "client_secret: ***, ok"),
            ("run --password hunter2 --port 1", "run --password *** --port 1"),
            ("run --token=abc", "run --token=***"),
            ("Authorization: Bearer abc.def", "Authorization: Bearer ***"),
            ("authorization: Basic dXNlcjpwYXNz", "authorization: Basic ***"),
            ("Authorization: abcdef", "Authorization: ***"),
            ("Authorization: Bearer ***", "Authorization: Bearer ***"),
            ("authorization:' a", "authorization:'***"),
            (r#""Authorization":["Bearer abcdefgh"]"#, r#""Authorization":["Bearer ***"]"#),
            ("sent Bearer abcdefghijk to it", "sent Bearer *** to it"),
            ("the bearer of news", "the bearer of news"),
            ("Cookie: a=b; c=d", "Cookie: ***"),
            ("key AKIAIOSFODNN7EXAMPLE used", "key *** used"),
            ("AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG", "AWS_SECRET_ACCESS_KEY=***"),
            ("got eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln", "got ***"),
            ("postgres://app:pw@db:5432/x", "postgres://app:***@db:5432/x"),
            ("https://registry.k8s.io/v2/", "https://registry.k8s.io/v2/"),
            ("push ghp_abcdefghijklmnopqrstuv", "push ***"),
            ("password: ", "password: "),
            ("no token here", "no token here"),
            ("secret \"db\" not found", "secret \"db\" not found"),
            ("\u{e9}password=\u{e9}\u{e9} \u{1f600}", "\u{e9}password=*** \u{1f600}"),
        ] {
            assert_eq!(line(text), masked);
        }
    }

    #[test]
    fn the_name_of_an_image_is_no_credential() {
        for kept in
            ["pull acme/token:v1: not found", "Back-off pulling image \"secret:v1\"", "r/a/client-secret:1.2@sha256:ab"]
        {
            assert_eq!(line(kept), kept);
        }
        assert_eq!(line("GET /oauth?token=abc"), "GET /oauth?token=***");
    }

    #[test]
    fn nothing_is_left_of_a_private_key() {
        let (begin, end) = ("-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----");
        for (whole, masked) in [
            (format!("before\n{begin}\nMIIE\nabc=\n{end}\nafter"), "before\n*** (a private key)\nafter"),
            (format!("key={begin}\\nMIIE\\n{end}\\n, port 1"), "key=***\\n, port 1"),
            (format!("{begin}\nMIIE, the end was cut off"), "*** (a private key)"),
            (
                format!("the beginning was cut off: \nMIIE\nabc=\n{end}\nafter"),
                "the beginning was cut off: *** (a private key)\nafter",
            ),
            (format!("{begin}MII{end} {begin}MII{end} x"), "*** (a private key) *** (a private key) x"),
            (
                "-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----".to_owned(),
                "-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----",
            ),
        ] {
            let once = text(&whole);
            assert!(!once.contains("MII") || once.contains("CERTIFICATE"), "{once}");
            assert_eq!(text(&once), once);
            if !whole.starts_with("key=") {
                assert_eq!(once, masked);
            }
        }
    }

    #[test]
    fn an_output_that_comes_line_by_line_loses_its_key() {
        let mut lines = Lines::default();
        let output = ["a", "-----BEGIN PRIVATE KEY-----", "MIIE", "-----END PRIVATE KEY-----", "token=abc"];
        let shown: Vec<String> = output.iter().filter_map(|line| lines.next(line)).collect();
        assert_eq!(shown, ["a", "*** (a private key)", "token=***"]);
    }

    #[test]
    fn what_is_masked_stays_unchanged() {
        for text in ["://password:a@", "https://token:b@acme.example/x", "password=a", "image \"token:v1\""] {
            let once = line(text);
            assert_eq!(line(&once), once, "{text}");
        }
    }

    proptest! {
        #[test]
        fn masking_twice_is_masking_once(text in "[a-z:=\"' \\\\@/-]{0,20}(password|token|authorization|://)[a-z:=\"' \\\\@/-]{0,20}") {
            let once = line(&text);
            prop_assert_eq!(&line(&once), &once);
        }

        #[test]
        fn no_text_is_too_strange(text in any::<String>()) {
            super::text(&text);
        }

        #[test]
        fn nothing_within_a_key_is_shown(before in "[ -~\\n]{0,20}", key in "[A-Za-z0-9+/\n]{1,60}", cut in 0_usize..100) {
            let whole = format!("{before}\n-----BEGIN PRIVATE KEY-----\nQQQQ{key}\n-----END PRIVATE KEY-----\n");
            let text: String = whole.chars().skip(cut.min(before.len() + 1)).collect();
            let masked = super::text(&text);
            prop_assert!(!masked.contains("QQQQ"), "{}", masked);
            prop_assert_eq!(super::text(&masked), masked);
        }
    }
}
