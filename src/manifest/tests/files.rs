//! File names, directories and standard input.

#![expect(clippy::disallowed_methods, reason = "the tests write the files that are read")]

use super::{Origin, standard_input};
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::manifest::{MAX_FILE_BYTES, read};

/// A folder of the test's own, removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(test: &str) -> Self {
        let path = std::env::temp_dir().join(format!("kubectl-inplace-manifest-{test}-{}", std::process::id()));
        fs::create_dir_all(&path).expect("the folder for tests can be made");
        Self(path)
    }

    fn write(&self, name: &str) {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().unwrap_or(Path::new("."))).expect("the folder can be made");
        let stem = name.replace(['/', '.', '[', ']'], "-");
        let text = format!("apiVersion: v1\nkind: Pod\nmetadata: {{name: \"{stem}\"}}\n");
        fs::write(path, text).expect("the file can be written");
    }

    /// The sources that are read, without the folder, or the error.
    fn read(&self, names: &[&str], recursive: bool, mut stdin: &[u8]) -> String {
        let folder = self.0.to_string_lossy().into_owned();
        let path = |name: &&str| if *name == "-" { "-".to_owned() } else { format!("{folder}/{name}") };
        let names = names.iter().map(path).map(Origin::Name).collect();
        let answer = match read(names, recursive, &mut stdin) {
            Ok(manifests) => manifests.iter().map(|manifest| manifest.source.to_string()).collect::<Vec<_>>().join(" "),
            Err(error) => error.to_string(),
        };
        answer.replace(&format!("{folder}/"), "")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap_or_default();
    }
}

#[test]
fn names_are_found_as_kubectl_finds_them() {
    let folder = Folder::new("names");
    for name in ["b.yaml", "a.yml", "c.json", "d.txt", "sub/e.yaml", "x[1].yaml", "sub/.hidden.yaml", "none/f.txt"] {
        folder.write(name);
    }
    let stdin = b"apiVersion: v1\nkind: Pod\nmetadata: {name: stdin}\n";
    let cases: [(&[&str], bool, &str); 12] = [
        (&["b.yaml", "a.yml"], false, "b.yaml:1 a.yml:1"),
        (&["d.txt"], false, "d.txt:1"),
        (&[""], false, "a.yml:1 b.yaml:1 c.json:1 x[1].yaml:1"),
        (&[""], true, "a.yml:1 b.yaml:1 c.json:1 sub/.hidden.yaml:1 sub/e.yaml:1 x[1].yaml:1"),
        (&["b.yaml/"], false, "the path \"b.yaml/\" does not exist"),
        (&["x[1].yaml"], false, "x[1].yaml:1"),
        (&["b.yaml", "-"], false, "b.yaml:1 standard input:1"),
        (&["-", "-"], false, "standard input (-f -) can be given only once"),
        (&["z.yaml"], false, "the path \"z.yaml\" does not exist"),
        (
            &["*.yaml"],
            false,
            "the path \"*.yaml\" does not exist; name the directory, or let the shell expand the pattern",
        ),
        (&["none"], true, "no manifests in \"none\": recognized file extensions are .json, .yaml and .yml"),
        (&["b.yaml", "b.yaml"], false, "Pod b-yaml is given twice: b.yaml:1 and b.yaml:1"),
    ];
    for (names, recursive, expected) in cases {
        assert_eq!(folder.read(names, recursive, stdin), expected, "{names:?}");
    }
}

#[cfg(unix)]
#[test]
fn links_in_folders() {
    let folder = Folder::new("links");
    folder.write("real/a.yaml");
    let link = |target: &str, name: &str| {
        std::os::unix::fs::symlink(target, folder.0.join(name)).expect("a link can be made");
    };
    link(".", "real/loop");
    link("/dev/zero", "real/zero.yaml");
    link("real/a.yaml", "linked.yaml");
    link("real", "folder");
    assert_eq!(folder.read(&["real"], true, b""), "real/a.yaml:1", "neither a loop nor a device is read");
    assert_eq!(folder.read(&["linked.yaml"], false, b""), "linked.yaml:1");
    assert_eq!(folder.read(&["folder"], false, b""), "folder/a.yaml:1");
}

/// Input without an end that counts what is taken of it.
struct Endless(usize);

impl Read for Endless {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        buffer.fill(b'#');
        self.0 += buffer.len();
        Ok(buffer.len())
    }
}

#[test]
fn no_more_is_read_than_is_allowed() {
    let mut endless = Endless(0);
    let error = read(standard_input(), false, &mut endless).expect_err("it is too large");
    assert_eq!(error.to_string(), "\"standard input\" is larger than 16 MiB");
    assert_eq!(endless.0, MAX_FILE_BYTES + 1);
}
