//! Text of the files that people send: documents, sheets, slides, books, mails, archives. Used by `figaro extract` alone,
//! which runs as a child process within limits of the operating system: the files come from anybody, and their readers may
//! panic, loop or take much memory.
//!
//! With the feature `local-transcriber` it also hears what is said in their sounds, in a child of its own: `hear`.
//!
//! [`extract()`] finds the format by the content, then by the name. A format is a file here and a line in `kind`.

mod archive;
mod book;
#[cfg(feature = "local-transcriber")]
pub mod hear;
mod html;
mod kind;
mod mail;
mod office;
mod open_document;
mod page;
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

/// Origin of a file, for formats that do not show in the content.
#[derive(Debug, Clone, Copy)]
pub struct FileOrigin<'a> {
    /// Name that its sender gave it.
    pub name: &'a str,
    /// Encoding that the server of a web page states, if any; `None` for a file that is no web page.
    pub page: Option<&'a str>,
}

/// Reads the text of a file.
///
/// # Errors
/// If the format is unknown, or the file is damaged, protected or without text.
pub fn extract(bytes: &[u8], origin: FileOrigin<'_>) -> Extraction {
    if kind::is_encrypted_office(bytes) {
        return Err(Unreadable::Encrypted);
    }
    let mut passages = Passages::default();
    let (mut date, name) = (None, origin.name);
    let (kind, title) = match (kind::of(bytes, name), origin.page) {
        (Some(FileKind::Zip), _) => (FileKind::Zip, archive::read(bytes, &mut passages)?),
        (Some(FileKind::Html), Some(charset)) => {
            let page = page::read(bytes, charset, &mut passages)?;
            date = page.date;
            (FileKind::Html, page.title)
        }
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
        date,
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
