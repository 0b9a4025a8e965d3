//! PDF, page by page.

use std::panic::{AssertUnwindSafe, catch_unwind};

use pdf_extract::encryption::DecryptionError;
use pdf_extract::{Document, Error, PlainTextOutput, output_doc_page};

use super::passages::{Passages, Title};
use super::text::decoded;
use figaro_domain::document::Unreadable;

/// Words behind the hyphen of a compound that is continued, as in "two- and three-sided".
const CONTINUED: [&str; 10] = ["and", "or", "to", "und", "oder", "bis", "et", "ou", "y", "e"];

pub(super) fn read(bytes: &[u8], passages: &mut Passages) -> Title {
    let mut document = Document::load_mem(bytes).map_err(|error| of_pdf(&error))?;
    if document.is_encrypted() {
        // Many files only forbid printing: they open without a password.
        document.decrypt("").map_err(|error| of_pdf(&error))?;
    }
    let mut last_failed = false;
    for number in document.get_pages().into_keys() {
        if passages.is_full() {
            break;
        }
        passages.begin(format!("page {number}"));
        let page = page(&document, number);
        last_failed = page.is_none();
        passages.add(&unbroken(&joined(&page.unwrap_or_default())));
    }
    // A file of unreadable pages is damaged; one without text is empty.
    if last_failed && passages.is_empty() { Err(Unreadable::Damaged) } else { Ok(title(&document)) }
}

/// Returns the text of a page; `None` if it cannot be read, for which its reader often panics. Other pages may be whole.
fn page(document: &Document, number: u32) -> Option<String> {
    let read = catch_unwind(AssertUnwindSafe(|| {
        let mut text = String::new();
        let read = output_doc_page(document, &mut PlainTextOutput::new(&mut text), number);
        (read.is_ok() || !text.is_empty()).then_some(text)
    }));
    read.unwrap_or_default()
}

fn title(document: &Document) -> Option<String> {
    let info = document.trailer.get_deref(b"Info", document).ok()?.as_dict().ok()?;
    decoded(info.get_deref(b"Title", document).ok()?.as_str().ok()?)
}

const fn of_pdf(error: &Error) -> Unreadable {
    match error {
        Error::Decryption(DecryptionError::IncorrectPassword) | Error::InvalidPassword => {
            Unreadable::Encrypted
        }
        _ => Unreadable::Damaged,
    }
}

/// Joins words that were divided at the end of a line.
fn joined(text: &str) -> String {
    let mut joined = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('-') {
        let (before, after) = (&rest[..at], &rest[at + 1..]);
        let behind = after.trim_start_matches([' ', '\r']);
        let behind = behind.strip_prefix('\n').map(|next| next.trim_start_matches(' '));
        let next = behind.map(|behind| behind.chars().take_while(|c| c.is_alphabetic()).collect::<String>());
        let is_divided = before.chars().next_back().is_some_and(char::is_alphabetic)
            && next.as_ref().is_some_and(|next| {
                next.chars().next().is_some_and(char::is_lowercase) && !CONTINUED.contains(&next.as_str())
            });
        joined.push_str(before);
        if !is_divided {
            joined.push('-');
        }
        rest = behind.filter(|_| is_divided).unwrap_or(after);
    }
    joined.push_str(rest);
    joined
}

/// Joins the lines of a paragraph: one that goes on with a small letter, or after a comma.
fn unbroken(text: &str) -> String {
    let mut unbroken = String::with_capacity(text.len());
    let mut lines = text.lines().map(str::trim_end).peekable();
    while let Some(line) = lines.next() {
        unbroken.push_str(line);
        let goes_on = lines.peek().is_some_and(|next| {
            let begins = next.trim_start().chars().next();
            !line.is_empty()
                && (begins.is_some_and(char::is_lowercase) || line.ends_with(',') && begins.is_some())
        });
        unbroken.push(if goes_on { ' ' } else { '\n' });
    }
    unbroken
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_paragraph_are_one() {
        let text = "The rent,\nand the notice\nof it.\nNext\n\nsmall";
        assert_eq!(unbroken(text), "The rent, and the notice of it.\nNext\n\nsmall\n");
    }

    #[test]
    fn words_divided_at_the_end_of_a_line_are_whole_again() {
        let text = "a differ-\nent way, Kaffee-\nund Tee, well-known A-\nB, 3-\n4";
        assert_eq!(joined(text), "a different way, Kaffee-\nund Tee, well-known A-\nB, 3-\n4");
    }
}
