//! A word of the output, and what it means.

/// What a word means in one place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StateWord {
    /// As documents have it.
    pub word: &'static str,
    /// What it is about, and which commands say it.
    pub of: &'static str,
    /// What it means, one sentence without a full stop.
    pub meaning: &'static str,
    /// What to do, one sentence without a full stop; empty for nothing.
    pub remedy: &'static str,
}

pub(super) const fn word(
    word: &'static str,
    of: &'static str,
    meaning: &'static str,
    remedy: &'static str,
) -> StateWord {
    StateWord { word, of, meaning, remedy }
}
