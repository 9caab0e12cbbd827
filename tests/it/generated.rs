//! Generated files are in the tree and are compared here: `UPDATE=1 cargo test --test it generated` writes them again.
#![expect(clippy::disallowed_methods, reason = "reads and writes files of the tree, and one environment variable")]

use std::fs;
use std::path::PathBuf;

use crate::reference;
use crate::support::run::Binary;

fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// Compares a file with what it should be, or writes it.
fn assert_file(name: &str, expected: &str) {
    let path = path(name);
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&path, expected).expect("a file of the tree can be written");
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    assert!(found == expected, "{name} is out of date: UPDATE=1 cargo test --test it generated");
}

/// Compares the part of a page between two markers.
fn assert_part(page: &str, part: &str, expected: &str) {
    let text = fs::read_to_string(path(page)).unwrap_or_else(|error| panic!("{page}: {error}"));
    let (begin, end) = (format!("<!-- {part} -->\n"), format!("<!-- end of {part} -->"));
    let (before, rest) = text.split_once(&begin).unwrap_or_else(|| panic!("{page} has no {begin:?}"));
    let (_, after) = rest.split_once(&end).unwrap_or_else(|| panic!("{page} has no {end:?}"));
    assert_file(page, &format!("{before}{begin}{}\n{end}{after}", expected.trim_end()));
}

#[test]
fn the_reference_has_the_tables_of_the_code() {
    assert_file("docs/reference/commands.md", &reference::commands());
    assert_file("docs/reference/annotations.md", &reference::annotations());
    assert_part("SECURITY.md", "least role", &least_role());
    assert_file("docs/reference/json.md", &reference::json::page(&crate::render::fields_of_codes()));
    reference::man_pages().iter().for_each(|(name, page)| assert_file(&format!("man/{name}"), page));
}

/// What `rbac` prints, without its comments.
fn least_role() -> String {
    let output = Binary::alone(["rbac", "apply", "deployment", "-n", "prod"]).run().ends_with(0);
    let lines = output.stdout.lines().filter(|line| !line.trim_start().starts_with('#'));
    format!("```yaml\n{}\n```\n", lines.collect::<Vec<_>>().join("\n"))
}
