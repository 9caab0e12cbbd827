//! What the API's types say against an object, with its place in the input.

use std::fmt;

use engine::value::api_schema::{Fault, Problem, Step};

use super::locate::At;
use super::place::Place;
use super::snippet::{Snippet, escape};
use super::source::Position;

/// A field that is wrong, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    place: Place,
    problem: Problem,
    /// The place of the field; `None` for one that a merge or an alias brought.
    position: Option<Position>,
    snippet: Snippet,
    /// Whether the words of the input must not be shown.
    withheld: bool,
}

impl Finding {
    pub(super) fn new(place: Place, problem: Problem) -> Self {
        Self { place, problem, position: None, snippet: Snippet::default(), withheld: false }
    }

    /// Returns whether the only thing wrong with the field is that this program does not know it: a newer server may.
    pub fn is_unknown_field(&self) -> bool {
        matches!(self.problem.fault, Fault::Unknown { .. })
    }

    /// Returns the way to the field from the document's beginning; of one that is not there, to the object that lacks it.
    pub(super) fn way(&self) -> Vec<At> {
        let items = self.place.item.split_inclusive(']').flat_map(|item| {
            let (key, index) = item.trim_start_matches('.').split_once('[').unwrap_or((item, ""));
            let index = index.trim_end_matches(']').parse().unwrap_or_default();
            [At::Key(key.to_owned()), At::Index(index)]
        });
        let steps = self.problem.steps.iter().map(|step| match step {
            Step::Field(name) => At::Key((*name).to_owned()),
            Step::Key(key) => At::Key(key.clone()),
            Step::Index(index) => At::Index(*index),
        });
        let mut way: Vec<At> = items.chain(steps).collect();
        if self.problem.fault == Fault::NotSet {
            way.pop();
        }
        way
    }

    pub(super) fn is_located(&self) -> bool {
        self.position.is_some()
    }

    pub(super) fn locate(&mut self, position: Option<Position>, text: &str, withheld: bool) {
        self.withheld = withheld;
        if let Some(Position { line, column: Some(column), .. }) = &position
            && !withheld
        {
            self.snippet = Snippet::new(text, *line, *column);
        }
        self.position = position;
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sentence = escape(&self.problem.sentence(self.withheld));
        match &self.position {
            Some(position) => write!(f, "{position}: {sentence}{}", self.snippet),
            None => write!(f, "{}: {sentence}", self.place),
        }
    }
}

/// Some of them, each on lines of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Findings(pub Vec<Finding>);

impl fmt::Display for Findings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, finding) in self.0.iter().enumerate() {
            let separator = if index == 0 { "" } else { "\n" };
            write!(f, "{separator}{finding}")?;
        }
        Ok(())
    }
}
