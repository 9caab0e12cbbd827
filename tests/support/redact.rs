//! Takes out of a text what differs between two runs of the same test: ports, folders, uids, times, container IDs.
//!
//! Names of pods and digests stay: the builders derive them from names, so they are the same every time.

/// Texts to replace, beside the patterns that are always replaced.
#[derive(Debug, Clone, Default)]
pub(crate) struct Redaction {
    literals: Vec<(String, String)>,
    durations: bool,
}

impl Redaction {
    /// Replaces a text wherever it occurs.
    pub(crate) fn replace(mut self, text: &str, by: &str) -> Self {
        self.literals.push((text.to_owned(), by.to_owned()));
        self
    }

    /// Replaces durations (`1.2s`, `0.2 s`, `340ms`, `1 min 5 s`, `1m5s`) too.
    pub(crate) fn durations(mut self) -> Self {
        self.durations = true;
        self
    }

    /// Returns the text with everything replaced.
    pub(crate) fn apply(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (literal, by) in &self.literals {
            text = text.replace(literal, by);
        }
        let mut clean = String::with_capacity(text.len());
        let mut rest = text.as_str();
        let mut word_before = false;
        while let Some(letter) = rest.chars().next() {
            let found = if word_before { None } else { self.pattern(rest) };
            let length = match found {
                Some((length, name)) => {
                    clean.push_str(name);
                    length
                }
                None => {
                    clean.push(letter);
                    letter.len_utf8()
                }
            };
            word_before = letter.is_ascii_alphanumeric();
            rest = rest.get(length..).unwrap_or_default();
        }
        clean
    }

    /// Returns the length and the name of a pattern at the start of a text.
    fn pattern(&self, text: &str) -> Option<(usize, &'static str)> {
        let shaped = |shape: &str, name| matches_shape(text, shape).then_some((shape.len(), name));
        shaped("xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx", "UID")
            .or_else(|| {
                let length = "containerd://".len() + 64;
                let is_id = text.strip_prefix("containerd://").is_some_and(|id| matches_shape(id, &"x".repeat(64)));
                is_id.then_some((length, "containerd://ID"))
            })
            .or_else(|| {
                let shape = "9999-99-99T99:99:99";
                let seconds = if starts_with_shape(text, shape) { shape.len() } else { return None };
                let tail = text.get(seconds..).unwrap_or_default();
                let fraction =
                    tail.find(|letter: char| letter != '.' && !letter.is_ascii_digit()).unwrap_or(tail.len());
                let zulu = usize::from(tail.get(fraction..).is_some_and(|tail| tail.starts_with('Z')));
                Some((seconds + fraction + zulu, "TIME"))
            })
            .or_else(|| shaped("99:99:99", "CLOCK"))
            .or_else(|| if self.durations { duration(text) } else { None })
    }
}

/// Returns whether a text begins with a word of this shape.
fn matches_shape(text: &str, shape: &str) -> bool {
    let goes_on =
        text.get(shape.len()..).is_some_and(|tail| tail.starts_with(|letter: char| letter.is_ascii_alphanumeric()));
    starts_with_shape(text, shape) && !goes_on
}

/// Compares with a shape: `x` is a hex digit, `9` a digit, anything else itself.
fn starts_with_shape(text: &str, shape: &str) -> bool {
    let mut letters = text.chars();
    shape.chars().all(|expected| {
        letters.next().is_some_and(|letter| match expected {
            'x' => letter.is_ascii_hexdigit(),
            '9' => letter.is_ascii_digit(),
            other => letter == other,
        })
    })
}

fn duration(text: &str) -> Option<(usize, &'static str)> {
    let minutes = text.find(|letter: char| !letter.is_ascii_digit()).filter(|digits| *digits > 0);
    let rest = |unit: &str| text.get(minutes?..)?.strip_prefix(unit);
    seconds(text).or_else(|| {
        let of_seconds = rest(" min ").or_else(|| rest("m"))?;
        let (length, name) = seconds(of_seconds)?;
        Some((text.len() - of_seconds.len() + length, name))
    })
}

fn seconds(text: &str) -> Option<(usize, &'static str)> {
    let digits = text.find(|letter: char| letter != '.' && !letter.is_ascii_digit())?;
    let tail = text.get(digits..)?;
    let unit = ["ms", " s", "s"].into_iter().find(|unit| tail.starts_with(unit))?;
    let ends = !tail.get(unit.len()..)?.starts_with(|letter: char| letter.is_ascii_alphanumeric());
    (digits > 0 && text.starts_with(|letter: char| letter.is_ascii_digit()) && ends)
        .then_some((digits + unit.len(), "DURATION"))
}
