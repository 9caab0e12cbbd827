//! Where an object of the input is from.

use std::fmt;

use super::Source;

/// A document, or an item of the list that it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The document.
    pub source: Source,
    /// The path to the item, `items[2]`; empty for the document itself.
    pub item: String,
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.source)?;
        if self.item.is_empty() { Ok(()) } else { write!(formatter, ": {}", self.item) }
    }
}
