//! The picture of a terminal in the README, read: `tests/real` draws it.

/// The file.
pub(crate) const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/images/apply.svg");

/// The transcripts that it shows, in their order.
pub(crate) const SHOWN: [&str; 2] = ["plan", "apply"];

/// Returns the text of a picture.
pub(crate) fn text(svg: &str) -> String {
    let line = |line: &str| {
        let text = line.strip_prefix("<text ")?.split_once('>')?.1.strip_suffix("</text>")?;
        let pieces = text.split('<').map(|piece| piece.split_once('>').map_or(piece, |(_, text)| text));
        let text = pieces.collect::<String>();
        Some(text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&") + "\n")
    };
    svg.lines().filter_map(line).collect()
}
