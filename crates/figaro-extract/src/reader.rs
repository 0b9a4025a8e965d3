//! Reads a file that is no archive by what its kind needs.

use super::kind::FileKind;
use super::passages::Passages;
use super::{book, html, kind, mail, office, open_document, pdf, rtf, sheet, text};
use figaro_domain::document::Unreadable;

/// Adds the text of a file that is no archive, and returns its kind and title.
pub(super) fn read(
    bytes: &[u8],
    name: &str,
    passages: &mut Passages,
) -> Result<(FileKind, Option<String>), Unreadable> {
    let kind = kind::of(bytes, name).ok_or(Unreadable::Unknown)?;
    let title = match kind {
        FileKind::Pdf => pdf::read(bytes, passages),
        FileKind::Office => office::read(bytes, passages),
        FileKind::Slides => office::read_slides(bytes, passages),
        FileKind::Workbook => sheet::read(bytes, passages),
        FileKind::Table => sheet::read_separated(bytes, passages),
        FileKind::OpenText => open_document::read(bytes, passages),
        FileKind::OpenSlides => open_document::read_slides(bytes, passages),
        FileKind::Epub => book::read(bytes, passages),
        FileKind::Html => html::read(bytes, passages),
        FileKind::Rtf => rtf::read(bytes, passages),
        FileKind::Mail => mail::read(bytes, passages),
        FileKind::Zip => return Err(Unreadable::Unknown),
        FileKind::Text => text::read(bytes, passages),
    }?;
    Ok((kind, title))
}
