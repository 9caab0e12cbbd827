//! A terminal of lines and columns, enough for what indicatif sends: it keeps what the user would see.

use std::io::{self, Write};
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Arc, Mutex};

use indicatif::TermLike;
use kubectl_inplace::render::Columns;

#[derive(Debug, Clone)]
pub(super) struct FakeTerminal {
    columns: Arc<AtomicU16>,
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    rows: Vec<Vec<char>>,
    row: usize,
    column: usize,
    draws: usize,
    colored: bool,
}

impl FakeTerminal {
    pub(super) fn new(columns: u16) -> Self {
        Self { columns: Arc::new(AtomicU16::new(columns)), state: Arc::default() }
    }

    /// What is seen, without blanks at the ends of lines and without empty lines at the end.
    pub(super) fn contents(&self) -> String {
        let state = self.state.lock().unwrap();
        let rows = state.rows.iter().map(|row| row.iter().collect::<String>().trim_end().to_owned() + "\n");
        let text = rows.collect::<String>();
        let text = text.trim_end_matches('\n');
        if text.is_empty() { String::new() } else { format!("{text}\n") }
    }

    /// Asks for its columns.
    pub(super) fn columns(&self) -> Columns {
        let columns = Arc::clone(&self.columns);
        Box::new(move || Some(columns.load(Ordering::SeqCst)))
    }

    /// Makes the window narrower: what is longer than a row goes on in the next one, as most terminals have it.
    pub(super) fn shrink(&self, columns: u16) {
        self.columns.store(columns, Ordering::SeqCst);
        let (mut state, width) = (self.state.lock().unwrap(), usize::from(columns));
        let (mut rows, mut cursor) = (Vec::new(), (state.row, state.column));
        for (index, row) in state.rows.iter().enumerate() {
            if index == state.row {
                let wrapped = state.column.saturating_sub(1) / width;
                cursor = (rows.len() + wrapped, state.column - wrapped * width);
            }
            match row.is_empty() {
                true => rows.push(Vec::new()),
                false => rows.extend(row.chunks(width).map(<[char]>::to_vec)),
            }
        }
        (state.rows, (state.row, state.column)) = (rows, cursor);
    }

    /// How often the view was drawn.
    pub(super) fn draws(&self) -> usize {
        self.state.lock().unwrap().draws
    }

    /// Whether any colour was written.
    pub(super) fn colored(&self) -> bool {
        self.state.lock().unwrap().colored
    }

    fn put(&self, text: &str) {
        let mut state = self.state.lock().unwrap();
        let mut characters = text.chars();
        while let Some(character) = characters.next() {
            match character {
                // Colour, and nothing else: it ends with `m`.
                '\u{1b}' => {
                    assert_eq!(characters.next(), Some('['));
                    let end = characters.find(|c| !(c.is_ascii_digit() || *c == ';'));
                    assert_eq!(end, Some('m'), "{text:?}");
                    state.colored = true;
                }
                '\n' => (state.row, state.column) = (state.row + 1, 0),
                '\r' => state.column = 0,
                _ => {
                    assert!(!character.is_control(), "{character:?} reached the terminal");
                    if state.column == usize::from(self.columns.load(Ordering::SeqCst)) {
                        (state.row, state.column) = (state.row + 1, 0);
                    }
                    let (row, column) = (state.row, state.column);
                    if state.rows.len() <= row {
                        state.rows.resize(row + 1, Vec::new());
                    }
                    let line = &mut state.rows[row];
                    if line.len() <= column {
                        line.resize(column + 1, ' ');
                    }
                    line[column] = character;
                    state.column += 1;
                }
            }
        }
    }
}

impl TermLike for FakeTerminal {
    fn width(&self) -> u16 {
        self.columns.load(Ordering::SeqCst)
    }

    fn move_cursor_up(&self, n: usize) -> io::Result<()> {
        let mut state = self.state.lock().unwrap();
        state.row = state.row.checked_sub(n).expect("the cursor leaves the screen");
        Ok(())
    }

    fn move_cursor_down(&self, n: usize) -> io::Result<()> {
        self.state.lock().unwrap().row += n;
        Ok(())
    }

    fn move_cursor_right(&self, n: usize) -> io::Result<()> {
        self.state.lock().unwrap().column += n;
        Ok(())
    }

    fn move_cursor_left(&self, n: usize) -> io::Result<()> {
        let mut state = self.state.lock().unwrap();
        state.column = state.column.saturating_sub(n);
        Ok(())
    }

    fn write_line(&self, text: &str) -> io::Result<()> {
        self.put(text);
        self.put("\n");
        Ok(())
    }

    fn write_str(&self, text: &str) -> io::Result<()> {
        if text.contains("pods done") || text.contains("pod done") {
            self.state.lock().unwrap().draws += 1;
        }
        self.put(text);
        Ok(())
    }

    fn clear_line(&self) -> io::Result<()> {
        let mut state = self.state.lock().unwrap();
        let row = state.row;
        if let Some(line) = state.rows.get_mut(row) {
            line.clear();
        }
        state.column = 0;
        Ok(())
    }

    fn flush(&self) -> io::Result<()> {
        Ok(())
    }
}

impl Write for FakeTerminal {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.put(std::str::from_utf8(bytes).unwrap());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
