//! A table as every text output draws it: heads in capitals, no word broken, and never wider than the terminal.
//!
//! Promise: where it is narrow, long cells are shortened in their middle or go on below, between words, and then the columns of
//! least use go; where nobody looks at columns (a file, a pipe), every cell is whole.

use std::io::{self, Write};

use comfy_table::{Table, presets};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::style::{Meaning, Style};
use super::words::flowing;

/// Before the first column.
const INDENT: u16 = 2;
/// Between two columns.
const GAP: u16 = 3;
/// Below so many columns each one counts.
const NARROW: u16 = 60;
const NARROW_GAP: u16 = 2;

/// Between what was and what will be.
const ARROW: &str = " -> ";
/// Both together get no shorter.
const LEAST_CHANGE: usize = 10;

/// One column.
#[derive(Debug, Clone, Copy)]
pub(super) struct Column {
    head: &'static str,
    /// What becomes of its cells where it is narrow.
    room: Room,
    /// It goes where the table is too wide all the same; the lowest first.
    goes: Option<u8>,
}

/// What becomes of a column's cells where it is narrow.
#[derive(Debug, Clone, Copy)]
enum Room {
    /// They stay whole.
    Whole,
    /// They are shortened to so many columns.
    Least(usize),
    /// They go on below, word by word.
    Words,
}

impl Column {
    /// One whose cells stay whole.
    pub(super) const fn whole(head: &'static str) -> Self {
        Self { head, room: Room::Whole, goes: None }
    }

    /// One whose cells may be shortened to so many columns.
    pub(super) const fn short(head: &'static str, least: usize) -> Self {
        Self { head, room: Room::Least(least), goes: None }
    }

    /// One whose cells may go on below, between words.
    pub(super) const fn words(head: &'static str) -> Self {
        Self { head, room: Room::Words, goes: None }
    }

    /// The same, but it goes where there is no room for it; the lowest rank first.
    pub(super) const fn goes(self, rank: u8) -> Self {
        Self { goes: Some(rank), ..self }
    }

    /// The narrowest it may be, of so many columns that its cells have, and so many that the longest of their words has.
    fn narrowest(self, natural: usize, word: usize) -> usize {
        match self.room {
            Room::Whole => natural,
            Room::Least(least) => least.max(self.head.len()).min(natural),
            Room::Words => word.max(self.head.len()).min(natural),
        }
    }

    /// Returns a cell, or the head, in so many columns.
    fn fitted(self, cell: &str, width: usize, style: &Style) -> String {
        let line = |line: &str| match self.room {
            Room::Whole | Room::Least(_) => elided(line, width, style),
            Room::Words => {
                let columns = u16::try_from(width).unwrap_or(u16::MAX);
                flowing(line, 0, &Style { width: Some(columns), ..*style })
            }
        };
        cell.lines().map(line).collect::<Vec<_>>().join("\n")
    }
}

/// Writes the table, in the colour of each row's meaning.
///
/// # Errors
/// The writer's.
pub(super) fn write(
    columns: &[Column],
    rows: &[(Meaning, Vec<String>)],
    style: &Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    lines(columns, rows, style).iter().try_for_each(|line| writeln!(out, "{line}"))
}

/// Returns the lines of the table, in the colour of each row's meaning; the first has the heads.
pub(super) fn lines(columns: &[Column], rows: &[(Meaning, Vec<String>)], style: &Style) -> Vec<String> {
    let widths = widths(columns, rows, style.width);
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    let fitted = |cells: &[String]| -> Vec<String> {
        let cells = columns.iter().zip(cells).zip(&widths);
        cells.filter_map(|((column, cell), width)| Some(column.fitted(cell, (*width)?, style))).collect()
    };
    let heads: Vec<String> = columns.iter().map(|column| column.head.to_owned()).collect();
    table.set_header(fitted(&heads));
    let mut meanings = vec![Meaning::Quiet];
    for (meaning, cells) in rows {
        let cells = fitted(cells);
        let lines = cells.iter().map(|cell| cell.lines().count()).max().unwrap_or(0).max(1);
        meanings.extend(std::iter::repeat_n(*meaning, lines));
        table.add_row(cells);
    }
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_padding((if index == 0 { INDENT } else { 0 }, gap(style.width)));
    }
    // Colour after the layout: the table counts an escape sequence as columns.
    let painted = table.lines().zip(meanings.into_iter().chain(std::iter::repeat(Meaning::Plain)));
    painted.map(|(line, meaning)| style.paint(meaning, line.trim_end())).collect()
}

fn gap(width: Option<u16>) -> u16 {
    if width.is_some_and(|width| width < NARROW) { NARROW_GAP } else { GAP }
}

/// How wide each column may be; `None` for those that go.
fn widths(columns: &[Column], rows: &[(Meaning, Vec<String>)], width: Option<u16>) -> Vec<Option<usize>> {
    let cells = |index: usize| rows.iter().filter_map(move |(_, cells)| cells.get(index));
    let natural = |(index, column): (usize, &Column)| {
        let lines = cells(index).flat_map(|cell| cell.lines());
        lines.map(UnicodeWidthStr::width).max().unwrap_or(0).max(column.head.len())
    };
    let word = |index: usize| {
        let words = cells(index).flat_map(|cell| cell.split_whitespace());
        words.map(UnicodeWidthStr::width).max().unwrap_or(0)
    };
    let words: Vec<usize> = (0..columns.len()).map(word).collect();
    let natural: Vec<usize> = columns.iter().enumerate().map(natural).collect();
    let mut widths: Vec<Option<usize>> = natural.iter().map(|natural| Some(*natural)).collect();
    let Some(width) = width else { return widths };
    let room = |widths: &[Option<usize>]| {
        let shown = widths.iter().flatten().count();
        usize::from(width).saturating_sub(usize::from(INDENT) + usize::from(gap(Some(width))) * shown.saturating_sub(1))
    };
    let narrowest = |index: usize| {
        let column = columns.get(index).zip(natural.get(index)).zip(words.get(index));
        column.map_or(0, |((column, natural), word)| column.narrowest(*natural, *word))
    };
    // Before anything is shortened, what says nothing goes.
    let says_nothing = |index: usize| cells(index).all(|cell| matches!(cell.as_str(), "" | "-" | "<none>"));
    if widths.iter().flatten().sum::<usize>() > room(&widths) {
        let empty = columns.iter().enumerate().filter(|(index, column)| column.goes.is_some() && says_nothing(*index));
        for (index, _) in empty {
            widths.get_mut(index).into_iter().for_each(|width| *width = None);
        }
    }
    while least(&widths, narrowest) > room(&widths) {
        let goes = columns.iter().enumerate().filter(|(index, _)| widths.get(*index).copied().flatten().is_some());
        let Some((index, _)) =
            goes.filter_map(|(index, column)| Some((index, column.goes?))).min_by_key(|(_, rank)| *rank)
        else {
            break;
        };
        if let Some(width) = widths.get_mut(index) {
            *width = None;
        }
    }
    shrink(&mut widths, narrowest, room)
}

/// What the columns that are left take at least.
fn least(widths: &[Option<usize>], narrowest: impl Fn(usize) -> usize) -> usize {
    widths.iter().enumerate().filter(|(_, width)| width.is_some()).map(|(index, _)| narrowest(index)).sum()
}

/// Takes from the widest of those that may be shortened, until all fit.
fn shrink(
    widths: &mut [Option<usize>],
    narrowest: impl Fn(usize) -> usize,
    room: impl Fn(&[Option<usize>]) -> usize,
) -> Vec<Option<usize>> {
    while widths.iter().flatten().sum::<usize>() > room(widths) {
        let shorter = widths.iter_mut().enumerate().filter_map(|(index, width)| Some((index, width.as_mut()?)));
        let Some((_, width)) =
            shorter.filter(|(index, width)| **width > narrowest(*index)).max_by_key(|(_, width)| **width)
        else {
            break;
        };
        *width -= 1;
    }
    widths.to_vec()
}

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
    // The end tells more: a pod's suffix, and above all an image's tag.
    let tag = text.rsplit_once(':').map_or(0, |(_, tag)| tag.width() + 1);
    let tail = if tag > 0 && tag < kept { tag.max(kept - kept / 2) } else { kept - kept / 2 };
    let head = kept - tail;
    let head: String = taken(text.chars(), head).into_iter().collect();
    let tail: String = taken(text.chars().rev(), tail).into_iter().rev().collect();
    format!("{head}{mark}{tail}")
}

/// As many characters as the columns hold.
fn taken(characters: impl Iterator<Item = char>, columns: usize) -> Vec<char> {
    let mut used = 0;
    characters
        .take_while(|character| {
            used += character.width().unwrap_or(0);
            used <= columns
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: [Column; 4] =
        [Column::short("POD", 10), Column::short("IMAGE", 8), Column::whole("STATE"), Column::whole("NODE").goes(1)];

    fn drawn(width: Option<u16>) -> Vec<String> {
        let row = |pod: &str| vec![pod.to_owned(), "acme/side:1.27.2".into(), "ready".into(), "node-1".into()];
        let rows = [(Meaning::Plain, row("web-6b867cfc99-2x7kq")), (Meaning::Plain, row("web-0"))];
        let mut out = Vec::new();
        write(&COLUMNS, &rows, &Style { width, ..Style::PLAIN }, &mut out).unwrap();
        String::from_utf8(out).unwrap().lines().map(str::to_owned).collect()
    }

    #[test]
    fn what_is_wide_enough_is_whole() {
        let whole = [
            "  POD                    IMAGE              STATE   NODE",
            "  web-6b867cfc99-2x7kq   acme/side:1.27.2   ready   node-1",
            "  web-0                  acme/side:1.27.2   ready   node-1",
        ];
        assert_eq!(drawn(None), whole);
        assert_eq!(drawn(Some(80)), whole);
    }

    #[test]
    fn a_column_that_says_nothing_goes_first() {
        let columns = [Column::short("POD", 4), Column::whole("EXIT").goes(9), Column::whole("AGE").goes(0)];
        let row = |exit: &str| (Meaning::Plain, vec!["web-6b867cfc99-2x7kq".to_owned(), exit.into(), "3m".into()]);
        let head = |exit: &str| lines(&columns, &[row(exit)], &Style { width: Some(30), ..Style::PLAIN }).remove(0);
        assert_eq!(head("<none>").split_whitespace().collect::<Vec<_>>(), ["POD", "AGE"]);
        assert_eq!(head("3").split_whitespace().collect::<Vec<_>>(), ["POD", "EXIT", "AGE"]);
    }

    #[test]
    fn a_tag_stays_whole() {
        let style = Style::PLAIN;
        assert_eq!(elided("app-server:v1.27.2-rc.1", 18, &style), "app-…:v1.27.2-rc.1");
        assert_eq!(elided("app-server:v1", 10, &style), "app-…er:v1");
    }

    #[test]
    fn cells_are_shortened_in_the_middle_before_a_column_goes() {
        assert_eq!(drawn(Some(50))[1], "  web-6b8…99-2x7kq  acme/si…:1.27.2  ready  node-1");
        for width in [31_u16, 34, 40, 45, 50, 56] {
            let drawn = drawn(Some(width));
            assert!(drawn.iter().all(|line| line.chars().count() <= usize::from(width)), "{width}: {drawn:#?}");
            assert_eq!(drawn[0].contains("NODE"), width >= 40, "{width}: {drawn:#?}");
        }
    }

    #[test]
    fn words_go_on_below() {
        let columns = [Column::short("POD", 5), Column::words("STATE"), Column::whole("EXIT").goes(0)];
        let row = vec!["web-0".to_owned(), "FAILED: CrashLoopBackOff (exit code 3)".to_owned(), "3".to_owned()];
        let drawn =
            |width| lines(&columns, &[(Meaning::Plain, row.clone())], &Style { width: Some(width), ..Style::PLAIN });
        assert_eq!(drawn(60)[1], "  web-0   FAILED: CrashLoopBackOff (exit code 3)   3");
        assert_eq!(drawn(40)[1..], ["  web-0  FAILED: CrashLoopBackOff  3", "         (exit code 3)"]);
        assert_eq!(drawn(26)[1..], ["  web-0  FAILED:", "         CrashLoopBackOff", "         (exit code 3)"]);
    }

    #[test]
    fn a_column_counts_what_a_terminal_shows() {
        assert_eq!(elided("web-0", 5, &Style::PLAIN), "web-0");
        assert_eq!(elided("payments-reconciliation", 9, &Style::PLAIN), "paym…tion");
        assert_eq!(elided("payments-reconciliation", 9, &Style { unicode: false, ..Style::PLAIN }), "pay...ion");
        assert_eq!(elided("名前名前名前", 7, &Style::PLAIN), "名…前");
        assert_eq!(elided("side 1.27.1 -> 1.27.2", 20, &Style::PLAIN), "side….27.1 -> 1.27.2");
        assert_eq!(elided("app v1 -> @sha256:0123456789abcdef", 24, &Style::PLAIN), "app v1 -> @sha25…9abcdef");
    }
}
