//! Compares a text with a file in `tests/snapshots`; `UPDATE=1` writes the file instead.
#![expect(clippy::disallowed_methods, reason = "snapshots are files, and UPDATE is a variable of the environment")]

use std::path::PathBuf;

/// Asserts that the file of this name holds this text.
#[track_caller]
pub(crate) fn assert_snapshot(name: &str, text: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots").join(format!("{name}.txt"));
    let text = format!("{}\n", text.trim_end());
    if std::env::var("UPDATE").is_ok_and(|value| value == "1") {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).expect("the folder of snapshots can be written");
        }
        std::fs::write(&path, &text).expect("the snapshot can be written");
        return;
    }
    let stored = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        stored == text,
        "tests/snapshots/{name}.txt differs (UPDATE=1 rewrites it)\n--- stored\n{stored}\n--- found\n{text}"
    );
}
