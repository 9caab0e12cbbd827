//! The picture of a terminal in the README: an SVG of transcripts, in the colours that the program writes on a terminal.

#![expect(clippy::disallowed_methods, reason = "writes the picture, and UPDATE is a variable of the environment")]

use super::picture::{FILE, text};

const LINE_HEIGHT: usize = 18;
const MARGIN: usize = 16;
/// The width of a character, in tenths.
const CHARACTER: usize = 82;

/// Text in one style: the parameters of a terminal's "select graphic rendition", such as `1` for bold.
type Span = (String, String);

/// Splits what was printed with colours into the spans of each line.
fn spans(printed: &str) -> Vec<Vec<Span>> {
    let mut look = String::new();
    let line = |line: &str| {
        let mut spans = Vec::new();
        for (index, part) in line.split("\u{1b}[").enumerate() {
            let text = match part.split_once('m').filter(|_| index > 0) {
                Some((parameters, text)) => {
                    look = if parameters == "0" { String::new() } else { format!("{look} {parameters}") };
                    text
                }
                None => part,
            };
            if !text.is_empty() {
                spans.push((look.trim().to_owned(), text.to_owned()));
            }
        }
        spans
    };
    printed.lines().map(line).collect()
}

/// Returns the text without its colours.
pub(crate) fn plain(printed: &str) -> String {
    let text = |spans: Vec<Span>| spans.into_iter().map(|(_, text)| text).collect::<String>() + "\n";
    spans(printed).into_iter().map(text).collect()
}

fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the lines that are shown in the colours that they were printed in: a colour is found again by its text.
fn colored(shown: &str, printed: &str, readable: &dyn Fn(&str) -> String) -> Vec<Vec<Span>> {
    let mut printed = spans(printed).into_iter();
    let line = |line: &str| {
        let is_it = |spans: &Vec<Span>| {
            words(&readable(&spans.iter().map(|(_, text)| text.as_str()).collect::<String>())) == words(line)
        };
        let mut ahead = printed.clone();
        let Some(found) = ahead.find(is_it) else { return vec![(String::new(), line.to_owned())] };
        printed = ahead;
        let (mut result, mut rest) = (Vec::new(), line);
        for (look, text) in found.into_iter().filter(|(look, _)| !look.is_empty()) {
            let text = readable(&text);
            if let Some((before, after)) = rest.split_once(text.trim()) {
                result.extend([(String::new(), before.to_owned()), (look, text.trim().to_owned())]);
                rest = after;
            }
        }
        result.push((String::new(), rest.to_owned()));
        result.retain(|(_, text)| !text.is_empty());
        result
    };
    shown.lines().map(line).collect()
}

/// One command with what is shown of what it printed.
pub(crate) struct Session {
    pub(crate) command: String,
    pub(crate) shown: String,
    pub(crate) printed: String,
}

/// Writes the picture again with `UPDATE=1`; without it the picture only has to be drawn.
pub(crate) fn keep(sessions: &[Session], readable: &dyn Fn(&str) -> String) {
    let svg = draw(sessions, readable);
    let shown = sessions.iter().map(|session| format!("$ {}\n{}\n", session.command, session.shown.trim_end()));
    assert_eq!(text(&svg), shown.collect::<Vec<_>>().join("\n"), "{svg}");
    if std::env::var("UPDATE").is_ok_and(|value| value == "1") {
        std::fs::write(FILE, svg).expect("the picture can be written");
    }
}

/// Draws the sessions one below the other.
fn draw(sessions: &[Session], readable: &dyn Fn(&str) -> String) -> String {
    let mut lines: Vec<Vec<Span>> = Vec::new();
    for session in sessions {
        lines.extend((!lines.is_empty()).then(Vec::new));
        lines.push(vec![("prompt".to_owned(), "$ ".to_owned()), ("1".to_owned(), session.command.clone())]);
        lines.extend(colored(&session.shown, &session.printed, readable));
    }
    let columns = lines.iter().map(|line| line.iter().map(|(_, text)| text.chars().count()).sum()).max().unwrap_or(0);
    let (width, height) = (2 * MARGIN + columns * CHARACTER / 10, 2 * MARGIN + lines.len() * LINE_HEIGHT);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"kubectl inplace plan and apply on a terminal\">\n<style>text{{font:13.6px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:#d6d9de;white-space:pre}}.b{{font-weight:bold}}.d{{fill:#8b929c}}.g{{fill:#7fc77f}}.y{{fill:#dcbf6a}}.r{{fill:#ec7f7f;font-weight:bold}}.p{{fill:#7fa8e0}}</style>\n<rect width=\"{width}\" height=\"{height}\" rx=\"8\" fill=\"#1d2026\"/>\n"
    );
    for (index, line) in lines.iter().enumerate() {
        let y = MARGIN + (index + 1) * LINE_HEIGHT - 5;
        let text: String = line.iter().map(drawn).collect();
        svg.push_str(&format!("<text x=\"{MARGIN}\" y=\"{y}\" xml:space=\"preserve\">{text}</text>\n"));
    }
    svg + "</svg>\n"
}

fn drawn((look, text): &Span) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let class = match look.as_str() {
        "" => return text,
        "prompt" => "p",
        "1" => "b",
        "2" => "d",
        "32" => "g",
        "33" => "y",
        _ if look.contains("31") => "r",
        _ => panic!("no colour for {look:?}"),
    };
    format!("<tspan class=\"{class}\">{text}</tspan>")
}
