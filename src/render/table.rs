//! A table as every text output draws it: heads in capitals, no word broken, and never wider than the terminal.
//!
//! Promise: where it is narrow, long cells are shortened in their middle, and then the columns of least use go; where nobody
//! looks at columns (a file, a pipe), every cell is whole.

use std::io::{self, Write};

use comfy_table::{Table, presets};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::style::{Meaning, Style};

/// Before the first column.
const INDENT: u16 = 2;
/// Between two columns.
const GAP: u16 = 3;

/// Between what was and what will be.
const ARROW: &str = " -> ";
/// Both together get no shorter.
const LEAST_CHANGE: usize = 10;

/// One column.
#[derive(Debug, Clone, Copy)]
pub(super) struct Column {
    head: &'static str,
    /// Its cells may be shortened to so many columns.
    least: Option<usize>,
    /// It goes where the table is too wide all the same; the lowest first.
    goes: Option<u8>,
}

impl Column {
    /// One whose cells stay whole.
    pub(super) const fn whole(head: &'static str) -> Self {
        Self { head, least: None, goes: None }
    }

    /// One whose cells may be shortened to so many columns.
    pub(super) const fn short(head: &'static str, least: usize) -> Self {
        Self { head, least: Some(least), goes: None }
    }

    /// The same, but it goes where there is no room for it; the lowest rank first.
    pub(super) const fn goes(self, rank: u8) -> Self {
        Self { goes: Some(rank), ..self }
    }

    /// The narrowest it may be, of so many columns that its cells have.
    fn narrowest(self, natural: usize) -> usize {
        self.least.map_or(natural, |least| least.max(self.head.len()).min(natural))
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
    let fitting = |cells: Vec<String>| {
        let cells = cells.into_iter().zip(&widths).filter_map(|(cell, width)| Some((cell, (*width)?)));
        cells.map(|(cell, width)| lines_within(&cell, width, style)).collect::<Vec<_>>()
    };
    table.set_header(fitting(columns.iter().map(|column| column.head.to_owned()).collect()));
    let mut meanings = vec![Meaning::Quiet];
    for (meaning, cells) in rows {
        let lines = cells.iter().map(|cell| cell.lines().count()).max().unwrap_or(0).max(1);
        meanings.extend(std::iter::repeat_n(*meaning, lines));
        table.add_row(fitting(cells.clone()));
    }
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_padding((if index == 0 { INDENT } else { 0 }, GAP));
    }
    // Colour after the layout: the table counts an escape sequence as columns.
    let painted = table.lines().zip(meanings.into_iter().chain(std::iter::repeat(Meaning::Plain)));
    painted.map(|(line, meaning)| style.paint(meaning, line.trim_end())).collect()
}

/// How wide each column may be; `None` for those that go.
fn widths(columns: &[Column], rows: &[(Meaning, Vec<String>)], width: Option<u16>) -> Vec<Option<usize>> {
    let natural = |(index, column): (usize, &Column)| {
        let cells = rows.iter().filter_map(|(_, cells)| cells.get(index)).flat_map(|cell| cell.lines());
        cells.map(UnicodeWidthStr::width).max().unwrap_or(0).max(column.head.len())
    };
    let natural: Vec<usize> = columns.iter().enumerate().map(natural).collect();
    let mut widths: Vec<Option<usize>> = natural.iter().map(|natural| Some(*natural)).collect();
    let Some(width) = width else { return widths };
    let room = |widths: &[Option<usize>]| {
        let shown = widths.iter().flatten().count();
        usize::from(width).saturating_sub(usize::from(INDENT) + usize::from(GAP) * shown.saturating_sub(1))
    };
    let narrowest = |index: usize| columns.get(index).zip(natural.get(index)).map_or(0, |(c, n)| c.narrowest(*n));
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

fn lines_within(cell: &str, width: usize, style: &Style) -> String {
    cell.lines().map(|line| elided(line, width, style)).collect::<Vec<_>>().join("\n")
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
    // The end tells more: a pod's suffix, an image's tag.
    let (head, tail) = (kept / 2, kept - kept / 2);
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
    fn cells_are_shortened_in_the_middle_before_a_column_goes() {
        assert_eq!(drawn(Some(50))[1], "  web-6b…9-2x7kq   acme/s…:1.27.2   ready   node-1");
        for width in [31_u16, 34, 40, 45, 50, 56] {
            let drawn = drawn(Some(width));
            assert!(drawn.iter().all(|line| line.chars().count() <= usize::from(width)), "{width}: {drawn:#?}");
            assert_eq!(drawn[0].contains("NODE"), width >= 40, "{width}: {drawn:#?}");
        }
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
