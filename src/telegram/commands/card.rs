//! Cards: the messages of Figaro's own that commands show and buttons change.

use crate::telegram::callback::{Family, Page};
use crate::telegram::markup::{Entity, Formatted, Kind};
use crate::telegram::send::{Button, Outgoing};
use crate::text::{utf16_len, utf16_prefix};

/// The most UTF-16 units of a card's text: what a message takes, less its title.
const CARD_UNITS: usize = 3800;
/// So many rows a card shows at once.
pub(super) const ROWS: usize = 8;

/// A message of Figaro's own: its first line as a title, if it has one, and buttons.
#[derive(Debug, Clone, Default)]
pub struct Card {
    /// The title, shown bold above the text.
    pub title: Option<String>,
    /// The text under the title.
    pub body: String,
    /// Rows of buttons.
    pub buttons: Vec<Vec<Button>>,
}

impl Card {
    /// A card without a title.
    pub fn text(body: impl Into<String>) -> Self {
        Self { body: body.into(), ..Self::default() }
    }

    /// A card with a title.
    pub fn titled(title: &str, body: impl Into<String>) -> Self {
        Self { title: Some(title.to_owned()), body: body.into(), buttons: Vec::new() }
    }

    /// The same with a row of buttons below; none if there are no buttons.
    #[must_use]
    pub fn row(mut self, row: Vec<Button>) -> Self {
        if !row.is_empty() {
            self.buttons.push(row);
        }
        self
    }

    /// The same with rows of buttons below.
    #[must_use]
    pub fn rows(self, rows: impl IntoIterator<Item = Vec<Button>>) -> Self {
        rows.into_iter().fold(self, Self::row)
    }

    /// The card as a message to be sent.
    #[must_use]
    pub fn outgoing(self) -> Outgoing {
        Outgoing { content: self.content(), buttons: self.buttons, ..Outgoing::default() }
    }

    pub(super) fn content(&self) -> Formatted {
        let body = utf16_prefix(&self.body, CARD_UNITS);
        let Some(title) = &self.title else {
            return Formatted { text: body.to_owned(), entities: Vec::new() };
        };
        let gap = if body.is_empty() { "" } else { "\n" };
        let bold = Entity { kind: Kind::Bold, offset: 0, length: utf16_len(title) };
        Formatted { text: format!("{title}{gap}{body}"), entities: vec![bold] }
    }
}

/// The page of a list of so many rows that is shown for the one asked for: the last one if there are not so many.
pub(super) fn page_of(asked: Page, rows: usize) -> usize {
    usize::try_from(asked).unwrap_or(usize::MAX).min(rows.saturating_sub(1) / ROWS)
}

/// The buttons that turn pages, for a list of so many rows of which this page is shown.
pub(super) fn pager<F: Family>(page: usize, rows: usize, press: impl Fn(Page) -> F) -> Vec<Button> {
    let button = |label: &str, page: usize| Button::new(label, press(number(page)));
    let back = (page > 0).then(|| button("◀", page.saturating_sub(1)));
    let on = ((page + 1) * ROWS < rows).then(|| button("▶", page + 1));
    back.into_iter().chain(on).collect()
}

/// A page as buttons name it.
pub(super) fn number(page: usize) -> Page {
    Page::try_from(page).unwrap_or(Page::MAX)
}
