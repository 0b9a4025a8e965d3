//! Attachments of a message, as the prompt describes them.

use crate::model::request::last_element;

pub(super) const PHOTO: &str = "photo";

/// Attachment of a message, as the prompt describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Attached {
    /// Value of the `kind` attribute, such as `photo` or `file`.
    pub(super) kind: String,
    pub(super) name: Option<String>,
}

impl Attached {
    /// Returns a picture about which the prompt says nothing.
    pub(super) fn picture() -> Self {
        Self { kind: PHOTO.to_owned(), name: None }
    }

    /// Separates the words of a message from its `<attached …>` lines.
    pub(super) fn parted(text: &str, unescape: fn(&str) -> String) -> (String, Vec<Self>) {
        let (lines, words): (Vec<&str>, Vec<&str>) =
            text.lines().partition(|line| line.starts_with("<attached "));
        let one = |line: &str| {
            let tag = last_element(line, "attached")?;
            // A picture may be sent as a file.
            let is_picture = tag.attribute("not_given_to_you").is_some();
            let kind = if is_picture { PHOTO } else { tag.attribute("kind")? };
            Some(Self { kind: kind.to_owned(), name: tag.attribute("name").map(unescape) })
        };
        (words.join("\n").trim().to_owned(), lines.into_iter().filter_map(one).collect())
    }
}
