//! Web pages.

use html2text::config;
use html2text::render::TrivialDecorator;

use super::passages::{Passages, Title};
use super::text::decoded;
use figaro_domain::document::Unreadable;

/// Width of a line, in columns: no line is broken, and tables have room.
const WIDTH: usize = 500;

pub(super) fn read(bytes: &[u8], passages: &mut Passages) -> Title {
    let html = decoded(bytes).ok_or(Unreadable::Damaged)?;
    passages.add(&words(&html)?);
    Ok(title(&html))
}

/// Returns the text of a page, without scripts, styles and addresses.
pub(super) fn words(html: &str) -> Result<String, Unreadable> {
    let config = config::with_decorator(TrivialDecorator::new()).no_table_borders().allow_width_overflow();
    config.string_from_read(html.as_bytes(), WIDTH).map_err(|_damaged| Unreadable::Damaged)
}

/// Returns the text of the element `title`.
pub(super) fn title(html: &str) -> Option<String> {
    let begin = html.find("<title").and_then(|at| Some(at + html[at..].find('>')? + 1))?;
    let end = begin + html[begin..].find("</title")?;
    words(&html[begin..end]).ok().map(|title| title.trim().to_owned())
}
