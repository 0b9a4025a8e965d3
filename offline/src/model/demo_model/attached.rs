//! Attachments of a message, as the prompt describes them.

use crate::model::request::last_element;

pub(super) const PHOTO: &str = "photo";
/// Beginning of the reasons why a file could not be read.
const UNREAD: &str = "the file ";

/// Attachment of a message, as the prompt describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Attached {
    /// Value of the `kind` attribute, such as `photo` or `file`.
    pub(super) kind: String,
    pub(super) name: Option<String>,
    /// Reason why a file could not be read.
    pub(super) unread: Option<String>,
}

impl Attached {
    /// Returns a picture about which the prompt says nothing.
    pub(super) fn picture() -> Self {
        Self { kind: PHOTO.to_owned(), name: None, unread: None }
    }

    /// Separates the words of a message from its `<attached …>` lines.
    pub(super) fn parted(text: &str, unescape: fn(&str) -> String) -> (String, Vec<Self>) {
        let (lines, words): (Vec<&str>, Vec<&str>) =
            text.lines().partition(|line| line.starts_with("<attached "));
        let one = |line: &str| {
            let tag = last_element(line, "attached")?;
            let reason = tag.attribute("not_given_to_you");
            // A picture may be sent as a file.
            let is_picture = reason.is_some_and(|reason| !reason.starts_with(UNREAD));
            let kind = if is_picture { PHOTO } else { tag.attribute("kind")? };
            let unread = reason.filter(|_| !is_picture).map(unescape);
            Some(Self { kind: kind.to_owned(), name: tag.attribute("name").map(unescape), unread })
        };
        (words.join("\n").trim().to_owned(), lines.into_iter().filter_map(one).collect())
    }
}
