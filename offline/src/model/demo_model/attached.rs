//! What comes with a message beside its words, as the prompt tells of it.

use crate::model::request::last_element;

/// The kind of a picture.
pub(super) const PHOTO: &str = "photo";

/// Something that came with a message, as the prompt tells of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Attached {
    /// Such as `photo` or `file`.
    pub(super) kind: String,
    pub(super) name: Option<String>,
}

impl Attached {
    /// A picture that nothing is told of.
    pub(super) fn picture() -> Self {
        Self { kind: PHOTO.to_owned(), name: None }
    }

    /// Parts the words of a message from the lines that tell what came with it.
    pub(super) fn parted(text: &str, unescape: fn(&str) -> String) -> (String, Vec<Self>) {
        let (lines, words): (Vec<&str>, Vec<&str>) =
            text.lines().partition(|line| line.starts_with("<attached "));
        let one = |line: &str| {
            let tag = last_element(line, "attached")?;
            // A picture may come as a file.
            let is_picture = tag.attribute("not_given_to_you").is_some();
            let kind = if is_picture { PHOTO } else { tag.attribute("kind")? };
            Some(Self { kind: kind.to_owned(), name: tag.attribute("name").map(unescape) })
        };
        (words.join("\n").trim().to_owned(), lines.into_iter().filter_map(one).collect())
    }
}
