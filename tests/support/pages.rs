//! The pages that people read: the README, the files beside it, and everything in `docs`.
#![expect(clippy::disallowed_methods, reason = "reads files of the tree")]

use std::fs;
use std::path::{Path, PathBuf};

/// A page, by its path from the root of the repository, and its text.
pub(crate) struct Page {
    pub(crate) path: String,
    pub(crate) text: String,
}

/// Returns every page, in the order of their paths.
pub(crate) fn pages() -> Vec<Page> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = markdown(root);
    files.extend(below(&root.join("docs")));
    files.sort();
    let page = |file: PathBuf| Page {
        path: file.strip_prefix(root).expect("it is in the tree").to_string_lossy().into_owned(),
        text: fs::read_to_string(&file).expect("a page can be read"),
    };
    files.into_iter().map(page).collect()
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).expect("the folder can be read").flatten().map(|entry| entry.path()).collect()
}

fn markdown(folder: &Path) -> Vec<PathBuf> {
    entries(folder).into_iter().filter(|path| path.extension().is_some_and(|extension| extension == "md")).collect()
}

fn below(folder: &Path) -> Vec<PathBuf> {
    let folders = entries(folder).into_iter().filter(|path| path.is_dir());
    markdown(folder).into_iter().chain(folders.flat_map(|folder| below(&folder))).collect()
}

/// What the commands of pages begin with; a block that begins with anything else is none of commands.
const PROGRAMS: [&str; 12] = [
    "kubectl ",
    "sh ",
    "cargo ",
    "apt ",
    "sha256sum ",
    "git ",
    "argocd ",
    "flux ",
    "helm ",
    "examples/demo",
    "tests/run",
    "./release",
];

/// The blocks of commands of a page, each with its commands: those without a transcript, which shows what they print.
pub(crate) fn command_blocks(page: &Page) -> Vec<Vec<String>> {
    let (mut blocks, mut block, mut before) = (Vec::new(), None::<Vec<String>>, "");
    for line in page.text.lines().map(str::trim) {
        if !line.starts_with("```") {
            match &mut block {
                Some(lines) => lines.push(line.to_owned()),
                None => before = line,
            }
            continue;
        }
        match block.take() {
            Some(lines) => blocks.push(lines),
            None => block = Some(Vec::new()),
        }
        if block.is_some() && (!matches!(line, "```" | "```sh") || before.starts_with("<!-- transcript")) {
            block = Some(vec![String::new()]);
        }
    }
    let is_command = |line: &String| PROGRAMS.iter().any(|it| line.starts_with(it)) && !line.contains(" [OPTIONS]");
    let of_commands = |lines: Vec<String>| match lines.iter().position(|line| line == "Examples:") {
        Some(at) => Some(joined(&lines[at + 1..])),
        None => lines.first().is_some_and(is_command).then(|| joined(&lines)),
    };
    blocks.into_iter().filter_map(of_commands).collect()
}

/// A command that goes on in the next line is one.
fn joined(lines: &[String]) -> Vec<String> {
    let text = lines.join("\n").replace("\\\n", "");
    let is_typed = |line: &&str| !line.is_empty() && !line.starts_with('#');
    text.lines().filter(is_typed).map(str::to_owned).collect()
}
