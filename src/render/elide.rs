//! Text that is too long for its columns.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::style::Style;

const ARROW: &str = " -> ";

/// Both together get no shorter.
const LEAST_CHANGE: usize = 10;

/// Returns the text, what is too long cut out of its middle: names and images differ at both ends. Of what goes from one
/// thing to another both are seen.
pub(super) fn elided(text: &str, width: usize, style: &Style) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    if let Some((from, to)) = text.split_once(ARROW)
        && let Some(room) = width.checked_sub(ARROW.len()).filter(|room| *room >= LEAST_CHANGE)
    {
        let to_room = (room / 2).max(room.saturating_sub(from.width())).min(to.width());
        let from = elided(from, room - to_room, style);
        return format!("{from}{ARROW}{}", elided(to, to_room, style));
    }
    let mark = if style.unicode { "…" } else { "..." };
    let kept = width.saturating_sub(mark.width());
    // What it is of stays.
    if let Some((of, what)) = text.split_once(": ").filter(|(of, what)| !what.contains(' ') && !of.contains(' '))
        && let Some(room) = width.checked_sub(of.width() + 2).filter(|room| *room >= LEAST_CHANGE)
    {
        return format!("{of}: {}", elided(what, room, style));
    }
    // The end is the more specific part: a pod's suffix, and above all an image's tag, which is shortened last; a
    // digest keeps both ends.
    let tag = text.rsplit_once(':').filter(|(name, tag)| !name.contains('@') && !tag.contains(' '));
    let tag = tag.map(|(_, tag)| tag);
    if let Some(tag) = tag.filter(|tag| tag.width() >= kept && kept > 2 * mark.width()) {
        return format!("{mark}:{}", elided(tag, kept - 1, style));
    }
    let tail = tag.map_or(0, |tag| tag.width() + 1).max(kept - kept / 2).min(kept);
    let head = kept - tail;
    let head: String = taken(text.chars(), head).into_iter().collect();
    let tail: String = taken(text.chars().rev(), tail).into_iter().rev().collect();
    format!("{head}{mark}{tail}")
}

fn taken(characters: impl Iterator<Item = char>, columns: usize) -> Vec<char> {
    let mut used = 0;
    characters
        .take_while(|character| {
            used += character.width().unwrap_or(0);
            used <= columns
        })
        .collect()
}
