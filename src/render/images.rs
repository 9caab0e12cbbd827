//! Images in tables: their common part is above the table, so that tags and digests have room.

use std::io::{self, Write};

use super::style::{Meaning, Style};

/// A shorter common beginning stays in the cells.
const LEAST_PREFIX: usize = 12;

/// Writes what the cells leave out; nothing where that is nothing.
pub(super) fn heading(folder: &str, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    if folder.is_empty() {
        return Ok(());
    }
    let folder = style.show(folder.trim_end_matches('/'));
    writeln!(out, "  {}", style.paint(Meaning::Quiet, &format!("Images in {folder}")))
}

/// Returns a cell: the image without what they have in common.
pub(super) fn within(image: &str, folder: &str, style: &Style) -> String {
    style.whole(image.strip_prefix(folder).unwrap_or(image))
}

/// Returns what all images begin with, up to a slash; nothing where that is short.
pub(super) fn common_folder<'a>(mut images: impl Iterator<Item = &'a str>) -> &'a str {
    let Some(first) = images.next() else { return "" };
    let end = images.fold(first.len(), |end, image| {
        first.bytes().zip(image.bytes()).take(end).take_while(|(left, right)| left == right).count()
    });
    let slash = first.as_bytes().iter().take(end).rposition(|byte| *byte == b'/');
    let folder = slash.and_then(|slash| first.get(..=slash));
    folder.filter(|folder| folder.len() >= LEAST_PREFIX).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_images_have_in_common_ends_with_a_slash() {
        let of = |images: &[&'static str]| common_folder(images.iter().copied());
        assert_eq!(of(&["registry.example/team/side:v1", "registry.example/team/side:v2"]), "registry.example/team/");
        assert_eq!(of(&["registry.example/team/side:v1", "registry.example/tea/app:v1"]), "registry.example/");
        assert_eq!(of(&["acme/side:v1", "acme/side:v2"]), "", "short");
        assert_eq!(of(&["registry.example/side:v1", "mirror.example/side:v1"]), "");
        assert_eq!(of(&[]), "");
        assert_eq!(of(&["ä.example.com/ö/side:1", "ä.example.com/õ/side:1"]), "ä.example.com/", "within a character");
    }
}
