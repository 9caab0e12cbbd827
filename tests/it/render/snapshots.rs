//! Compares text with files, and asks for every file to be wanted.
#![expect(clippy::disallowed_methods, reason = "snapshots are files, and UPDATE=1 writes them")]

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::{env, fs};

/// One folder of snapshots.
pub(super) struct Snapshots {
    folder: PathBuf,
    update: bool,
    names: BTreeSet<String>,
    differences: Vec<String>,
}

impl Snapshots {
    pub(super) fn new(folder: &str) -> Self {
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots").join(folder);
        let update = env::var("UPDATE").is_ok_and(|value| value == "1");
        Self { folder, update, names: BTreeSet::new(), differences: Vec::new() }
    }

    pub(super) fn check(&mut self, name: &str, text: &str) {
        let file = format!("{name}.txt");
        let path = self.folder.join(&file);
        assert!(self.names.insert(file.clone()), "two snapshots are called {file}");
        if self.update {
            fs::create_dir_all(&self.folder).unwrap();
            fs::write(&path, text).unwrap();
            return;
        }
        let expected = fs::read_to_string(&path).unwrap_or_default();
        if expected != text {
            let line = expected.lines().zip(text.lines()).take_while(|(expected, text)| expected == text).count();
            let at = |text: &str| text.lines().nth(line).unwrap_or("(the end)").to_owned();
            self.differences.push(format!("{file}:{}\n  kept: {}\n  now:  {}", line + 1, at(&expected), at(text)));
        }
    }

    /// Fails where anything differs, and for a file that nothing writes any more.
    pub(super) fn finish(mut self) {
        for entry in fs::read_dir(&self.folder).unwrap() {
            let entry = entry.unwrap();
            let name = entry.file_name().into_string().unwrap();
            if self.names.contains(&name) {
                continue;
            }
            if self.update {
                fs::remove_file(entry.path()).unwrap();
            } else {
                self.differences.push(format!("{name}: nothing writes it any more"));
            }
        }
        let differences = self.differences.join("\n");
        assert!(differences.is_empty(), "snapshots differ; UPDATE=1 writes them anew:\n{differences}");
    }
}
