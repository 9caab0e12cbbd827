//! A table as every text output draws it: heads in capitals, no word broken, and never wider than the terminal.
//!
//! Promise: where it is narrow, cells go on below, between words, or are shortened in their middle, and then the
//! columns of least use go; a name is shortened only once no other column can go. Where columns do not matter (a file,
//! a pipe), every cell is whole.

use super::Out;
use std::io;

use comfy_table::{Table, presets};
use unicode_width::UnicodeWidthStr;

use super::Detail;
use super::style::{Meaning, Style, elided};
use super::words::{self, flowing};

const INDENT: u16 = 2;
/// Between two columns where there is room.
const GAP: u16 = 3;
/// Below this number of columns each one counts.
const NARROW: u16 = 60;
/// Between two where not everything has its room: often a column more is seen.
const NARROW_GAP: u16 = 2;
/// Columns of up to this rank go before words are broken into more lines than they need.
const LEAST_USE: u8 = 1;
/// A name longer than this need not be seen whole if another column would have to go for it.
const LONG_NAME: usize = 40;

#[derive(Debug, Clone, Copy)]
pub(super) struct Column {
    head: &'static str,
    room: Room,
    /// It goes where the table is too wide all the same; the lowest first.
    goes: Option<u8>,
    /// It goes only once names are shortened.
    goes_after_names: bool,
    /// So much room it takes, whatever its cells say: what is drawn again must not move.
    reserved: usize,
    /// This many columns of a name, or of words, are seen before it gets narrower for another column's sake.
    seen: usize,
}

#[derive(Debug, Clone, Copy)]
enum Room {
    Whole,
    /// They are shortened to this many columns.
    Least(usize),
    /// The same, but other columns go before that.
    Name(usize),
    /// They go on below, word by word.
    Words,
}

impl Column {
    pub(super) const fn whole(head: &'static str) -> Self {
        Self { head, room: Room::Whole, goes: None, goes_after_names: false, reserved: 0, seen: LONG_NAME }
    }

    /// One whose cells may be shortened to `least` columns.
    pub(super) const fn short(head: &'static str, least: usize) -> Self {
        Self { room: Room::Least(least), ..Self::whole(head) }
    }

    /// One whose cells are names: shortened to `least` columns once no other column can go.
    pub(super) const fn name(head: &'static str, least: usize) -> Self {
        Self { room: Room::Name(least), ..Self::whole(head) }
    }

    /// One whose cells may go on below, between words.
    pub(super) const fn words(head: &'static str) -> Self {
        Self { room: Room::Words, seen: 0, ..Self::whole(head) }
    }

    /// The same, but it goes where there is no room for it; the lowest rank first.
    pub(super) const fn goes(self, rank: u8) -> Self {
        Self { goes: Some(rank), ..self }
    }

    /// The same, but it goes only once names are shortened.
    pub(super) const fn goes_after_names(self) -> Self {
        Self { goes: Some(u8::MAX), goes_after_names: true, ..self }
    }

    /// The same with room for `columns` columns.
    pub(super) const fn reserved(self, columns: usize) -> Self {
        Self { reserved: columns, ..self }
    }

    /// The same, but at most `columns` of a name have to be seen; of words at least that, where columns of least use can go.
    pub(super) const fn seen(self, columns: usize) -> Self {
        Self { seen: columns, ..self }
    }

    /// The narrowest that it may be, if its cells have `natural` columns and the longest of their words has `word`.
    fn narrowest(self, natural: usize, word: usize, ease: Ease) -> usize {
        let seen = if ease == Ease::WordsFlow { self.seen } else { 0 };
        match self.room {
            Room::Whole => natural,
            Room::Name(_) if ease != Ease::Least => natural.min(self.seen),
            Room::Least(least) | Room::Name(least) => least.max(self.head.len()).min(natural),
            Room::Words => word.max(self.head.len()).max(self.reserved).max(seen).min(natural),
        }
    }

    fn fitted(self, cell: &str, width: usize, style: &Style) -> String {
        let line = |line: &str| match self.room {
            Room::Whole | Room::Least(_) | Room::Name(_) => elided(line, width, style),
            Room::Words => {
                let columns = u16::try_from(width).unwrap_or(u16::MAX);
                flowing(line, 0, &Style { width: Some(columns), ..*style })
            }
        };
        cell.lines().map(line).collect::<Vec<_>>().join("\n")
    }
}

/// What is kept even if a column has to go for it, from the best to the least.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ease {
    /// Names are seen, and words have the lines that they need.
    WordsFlow,
    NamesAreSeen,
    Least,
}

const EASES: [Ease; 3] = [Ease::WordsFlow, Ease::NamesAreSeen, Ease::Least];

pub(super) type Cells = (Meaning, Vec<String>);

pub(super) fn is_narrow(style: &Style) -> bool {
    style.width.is_some_and(|width| width < NARROW)
}

/// What a table was drawn with before: one that is drawn again keeps its columns.
#[derive(Debug, Default)]
pub(super) struct Before {
    width: Option<u16>,
    natural: Vec<usize>,
    shown: Vec<bool>,
}

pub(super) fn write(columns: &[Column], rows: &[Cells], style: &Style, out: Out<'_>) -> io::Result<()> {
    lines(columns, rows, style).iter().try_for_each(|line| words::whole_line(line, style, out))
}

/// Writes the table; in `-o wide` with all of its columns, wider than the terminal if need be, as kubectl's.
pub(super) fn write_in(
    detail: Detail,
    columns: &[Column],
    rows: &[Cells],
    style: &Style,
    out: Out<'_>,
) -> io::Result<()> {
    let room = Style { width: style.width.filter(|_| detail == Detail::Short), ..*style };
    lines(columns, rows, &room).iter().try_for_each(|line| words::whole_line(line, style, out))
}

pub(super) fn shows(columns: &[Column], rows: &[Cells], head: &str, style: &Style) -> bool {
    let widths = Needs::of(columns, rows).widths(style.width, &mut Before::default());
    columns.iter().zip(widths.columns).any(|(column, width)| column.head == head && width.is_some())
}

/// Returns whether a table shows everything in its column of this head.
pub(super) fn tells(columns: &[Column], rows: &[Cells], head: &str, style: &Style) -> bool {
    let says_nothing = columns.iter().zip(Needs::of(columns, rows).says_nothing);
    says_nothing.into_iter().any(|(column, says_nothing)| column.head == head && says_nothing)
        || shows(columns, rows, head, style)
}

/// Returns the lines of the table, in the colour of each row's meaning; the first has the heads.
pub(super) fn lines(columns: &[Column], rows: &[Cells], style: &Style) -> Vec<String> {
    let widths = Needs::of(columns, rows).widths(style.width, &mut Before::default());
    let heads: Vec<String> = columns.iter().map(|column| column.head.to_owned()).collect();
    laid_out(columns, &heads, rows, &widths, style)
}

/// The same of a table that is drawn again and again: a column that was shown stays as long as it fits at all.
pub(super) fn lines_again(columns: &[Column], rows: &[Cells], before: &mut Before, style: &Style) -> Vec<String> {
    let widths = Needs::of(columns, rows).widths(style.width, before);
    // Heads as wide as their columns: nothing moves where the cells get shorter.
    let heads =
        columns.iter().zip(&widths.columns).map(|(column, width)| format!("{:1$}", column.head, width.unwrap_or(0)));
    laid_out(columns, &heads.collect::<Vec<_>>(), rows, &widths, style)
}

fn laid_out(
    columns: &[Column],
    heads: &[String],
    rows: &[Cells],
    Widths { columns: widths, gap }: &Widths,
    style: &Style,
) -> Vec<String> {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    let fitted = |cells: &[String]| -> Vec<String> {
        let cells = columns.iter().zip(cells).zip(widths);
        cells.filter_map(|((column, cell), width)| Some(column.fitted(cell, (*width)?, style))).collect()
    };
    table.set_header(fitted(heads));
    let mut meanings = vec![Meaning::Quiet];
    for (meaning, cells) in rows {
        let cells = fitted(cells);
        let lines = cells.iter().map(|cell| cell.lines().count()).max().unwrap_or(0).max(1);
        meanings.extend(std::iter::repeat_n(*meaning, lines));
        table.add_row(cells);
    }
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_padding((if index == 0 { INDENT } else { 0 }, *gap));
    }
    // Colour after the layout: the table counts an escape sequence as columns.
    let painted = table.lines().zip(meanings.into_iter().chain(std::iter::repeat(Meaning::Plain)));
    painted.map(|(line, meaning)| style.paint(meaning, line.trim_end())).collect()
}

struct Widths {
    columns: Vec<Option<usize>>,
    gap: u16,
}

struct Needs<'a> {
    columns: &'a [Column],
    /// For its unchanged cells.
    natural: Vec<usize>,
    /// For the longest of their words.
    words: Vec<usize>,
    says_nothing: Vec<bool>,
}

impl<'a> Needs<'a> {
    fn of(columns: &'a [Column], rows: &[Cells]) -> Self {
        let cells = |index: usize| rows.iter().filter_map(move |(_, cells)| cells.get(index));
        let natural = |(index, column): (usize, &Column)| {
            let lines = cells(index).flat_map(|cell| cell.lines());
            lines.map(UnicodeWidthStr::width).max().unwrap_or(0).max(column.head.len()).max(column.reserved)
        };
        let word = |index: usize| {
            let words = cells(index).flat_map(|cell| cell.lines()).flat_map(words::unbroken);
            words.map(|word| word.width()).max().unwrap_or(0)
        };
        let says_nothing = |index: usize| cells(index).all(|cell| matches!(cell.as_str(), "" | "-" | "<none>"));
        Self {
            columns,
            natural: columns.iter().enumerate().map(natural).collect(),
            words: (0..columns.len()).map(word).collect(),
            says_nothing: (0..columns.len()).map(says_nothing).collect(),
        }
    }

    fn widths(mut self, width: Option<u16>, before: &mut Before) -> Widths {
        if before.width != width {
            *before = Before { width, ..Before::default() };
        }
        for (natural, before) in self.natural.iter_mut().zip(&before.natural) {
            *natural = (*natural).max(*before);
        }
        let all = vec![true; self.columns.len()];
        let is_roomy = |width: u16| width >= NARROW && self.natural.iter().sum::<usize>() <= room((width, GAP), &all);
        let gap = if width.is_none_or(is_roomy) { GAP } else { NARROW_GAP };
        let shown = width.map_or_else(|| all.clone(), |width| self.shown((width, gap), &before.shown));
        before.natural.clone_from(&self.natural);
        before.shown.clone_from(&shown);
        let room = width.map_or(usize::MAX, |width| room((width, gap), &shown));
        let widths = self.natural.iter().zip(&shown).map(|(natural, shown)| shown.then_some(*natural));
        Widths { columns: self.shrunk(widths.collect(), room), gap }
    }

    /// Which columns stay where there is so much room (columns, and the gap between two), and which were there before.
    fn shown(&self, wide: (u16, u16), before: &[bool]) -> Vec<bool> {
        let mut shown = vec![true; self.columns.len()];
        // Before anything is shortened, what says nothing goes.
        if self.natural.iter().sum::<usize>() > room(wide, &shown) {
            let goes = |index: usize| self.columns.get(index).is_some_and(|column| column.goes.is_some());
            let was_there = |index: usize| before.get(index) == Some(&true);
            for (index, (shown, says_nothing)) in shown.iter_mut().zip(&self.says_nothing).enumerate() {
                *shown = !says_nothing || !goes(index) || was_there(index);
            }
        }
        let all_stay = EASES.map(|ease| (ease, true));
        for (ease, those_before_stay) in all_stay.into_iter().chain([(Ease::Least, false)]) {
            while self.least(&shown, ease) > room(wide, &shown) {
                let goes = self.columns.iter().enumerate();
                let goes = goes.filter(|(_, column)| ease == Ease::Least || !column.goes_after_names);
                let goes = goes.filter_map(|(index, column)| Some((index, column.goes?)));
                let goes = goes.filter(|(_, rank)| ease != Ease::WordsFlow || *rank <= LEAST_USE);
                let goes = goes.filter(|(index, _)| shown.get(*index) == Some(&true));
                let goes = goes.filter(|(index, _)| !those_before_stay || before.get(*index) != Some(&true));
                let Some((index, _)) = goes.min_by_key(|(_, rank)| *rank) else { break };
                shown.get_mut(index).into_iter().for_each(|shown| *shown = false);
            }
        }
        shown
    }

    fn narrowest(&self, index: usize, ease: Ease) -> usize {
        let column = self.columns.get(index).zip(self.natural.get(index)).zip(self.words.get(index));
        column.map_or(0, |((column, natural), word)| column.narrowest(*natural, *word, ease))
    }

    fn least(&self, shown: &[bool], ease: Ease) -> usize {
        let shown = shown.iter().enumerate().filter(|(_, shown)| **shown);
        shown.map(|(index, _)| self.narrowest(index, ease)).sum()
    }

    /// Takes from the widest of those that may be shortened, until all fit; from names last.
    fn shrunk(&self, mut widths: Vec<Option<usize>>, room: usize) -> Vec<Option<usize>> {
        for ease in EASES {
            while widths.iter().flatten().sum::<usize>() > room {
                let shorter = widths.iter_mut().enumerate().filter_map(|(index, width)| Some((index, width.as_mut()?)));
                let shorter = shorter.filter(|(index, width)| **width > self.narrowest(*index, ease));
                let Some((_, width)) = shorter.max_by_key(|(_, width)| **width) else { break };
                *width -= 1;
            }
        }
        widths
    }
}

/// What there is for the cells of these columns, with so much between two.
fn room((width, gap): (u16, u16), shown: &[bool]) -> usize {
    let gaps = shown.iter().filter(|shown| **shown).count().saturating_sub(1);
    usize::from(width).saturating_sub(usize::from(INDENT) + usize::from(gap) * gaps)
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: [Column; 4] =
        [Column::short("POD", 10), Column::short("IMAGE", 8), Column::whole("STATE"), Column::whole("NODE").goes(1)];

    fn drawn(width: Option<u16>) -> Vec<String> {
        let row = |pod: &str| vec![pod.to_owned(), "acme/side:1.27.2".into(), "ready".into(), "node-1".into()];
        let rows = [(Meaning::Plain, row("web-6b867cfc99-2x7kq")), (Meaning::Plain, row("web-0"))];
        lines(&COLUMNS, &rows, &Style { width, ..Style::PLAIN })
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
    fn columns_go_before_a_name_is_shortened() {
        let columns = [
            Column::name("POD", 9),
            Column::words("STATE"),
            Column::whole("AGE").goes(1),
            Column::whole("RESTARTS").goes(2),
        ];
        let name = "web-6b867cfc99-2x7kq";
        let drawn = |name: &str, width: u16| {
            let row = vec![name.to_owned(), "FAILED: CrashLoopBackOff".into(), "3m10s".into(), "4".into()];
            lines(&columns, &[(Meaning::Plain, row)], &Style { width: Some(width), ..Style::PLAIN })
        };
        for (width, heads, is_whole) in [
            (80, "POD STATE AGE RESTARTS", true),
            (55, "POD STATE RESTARTS", true),
            (40, "POD STATE", true),
            (34, "POD STATE", false),
        ] {
            let drawn = drawn(name, width);
            assert_eq!(drawn[0].split_whitespace().collect::<Vec<_>>().join(" "), heads, "{width}: {drawn:#?}");
            assert_eq!(drawn[1].contains(name), is_whole, "{width}: {drawn:#?}");
        }
        let long = drawn(&format!("{}-{name}", "x".repeat(40)), 80);
        assert!(long[0].contains("RESTARTS") && long[1].contains("99-2x7kq "), "{long:#?}");
    }

    #[test]
    fn a_column_that_was_drawn_stays() {
        let columns = [Column::name("POD", 9), Column::whole("WAITS FOR").goes(2), Column::whole("NODE").goes(1)];
        let (mut before, style) = (Before::default(), Style { width: Some(45), ..Style::PLAIN });
        let mut drawn = |waits: &str| {
            let row = vec!["web-6b867cfc99-2x7kq".to_owned(), waits.to_owned(), "node-1".into()];
            lines_again(&columns, &[(Meaning::Plain, row)], &mut before, &style)
        };
        let first = drawn("the kubelet");
        assert!(first[0].contains("NODE"), "{first:#?}");
        let second = drawn("ContainerCreating");
        assert!(second[0].contains("NODE") && second[1].contains('…'), "{second:#?}");
        assert_eq!(drawn("the kubelet")[0], second[0], "nothing moves back");
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
