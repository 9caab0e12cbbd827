//! The pages that people read: the README, what stands beside it, and everything in `docs`.
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
