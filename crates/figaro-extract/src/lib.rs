//! Text of the files that people send: documents, sheets, slides, books, mails, archives. Used by `figaro extract` alone,
//! which runs as a child process within limits of the operating system: the files come from anybody, and their readers may
//! panic, loop or take much memory.
//!
//! [`extract`] finds the format by the content, then by the name. A format is a file here and a line in `kind`.

mod archive;
mod book;
mod html;
mod kind;
mod mail;
mod office;
mod open_document;
mod passages;
mod pdf;
pub mod process;
mod reader;
mod rtf;
mod sheet;
mod text;
mod unzip;

use self::kind::FileKind;
use self::passages::Passages;
use figaro_domain::document::{Extracted, Extraction, Passage, Unreadable};

/// Maximum length of a title, in characters.
const MAX_TITLE: usize = 300;
/// Number of passages that tell the language of a file.
const TOLD_BY: usize = 5;

/// Reads the text of a file. `name` is the name that its sender gave it, for formats that do not show in the content.
///
/// # Errors
/// If the format is unknown, or the file is damaged, protected or without text.
pub fn extract(bytes: &[u8], name: &str) -> Extraction {
    if kind::is_encrypted_office(bytes) {
        return Err(Unreadable::Encrypted);
    }
    let mut passages = Passages::default();
    let (kind, title) = match kind::of(bytes, name) {
        Some(FileKind::Zip) => (FileKind::Zip, archive::read(bytes, &mut passages)?),
        _ => reader::read(bytes, name, &mut passages)?,
    };
    let (parts, passages, is_cut) = passages.finish();
    if passages.is_empty() {
        return Err(Unreadable::Empty);
    }
    Ok(Extracted {
        title: title
            .map(|title| title.chars().take(MAX_TITLE).collect())
            .filter(|title: &String| !title.is_empty()),
        language: language(&passages),
        format: kind.format(),
        parts,
        passages,
        is_cut,
    })
}

/// Returns the language of the first passages, if it is clear.
fn language(passages: &[Passage]) -> Option<String> {
    let begin: Vec<&str> = passages.iter().take(TOLD_BY).map(|passage| passage.text.as_str()).collect();
    let found = whatlang::detect(&begin.join("\n"))?;
    found.is_reliable().then(|| found.lang().code().to_owned())
}
