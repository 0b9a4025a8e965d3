//! Cards: the messages of Figaro's own that commands show and buttons change.

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
    pub(super) title: Option<String>,
    pub(super) body: String,
    pub(super) buttons: Vec<Vec<Button>>,
}

/// What a press leads to: a short word over the button, and perhaps the card in a new state.
#[derive(Debug, Default)]
pub(super) struct Pressed {
    pub(super) toast: Option<String>,
    pub(super) card: Option<Card>,
}

impl Card {
    pub(super) fn text(body: impl Into<String>) -> Self {
        Self { body: body.into(), ..Self::default() }
    }

    pub(super) fn titled(title: &str, body: impl Into<String>) -> Self {
        Self { title: Some(title.to_owned()), body: body.into(), buttons: Vec::new() }
    }

    pub(super) fn row(mut self, row: Vec<Button>) -> Self {
        if !row.is_empty() {
            self.buttons.push(row);
        }
        self
    }

    pub(super) fn rows(self, rows: impl IntoIterator<Item = Vec<Button>>) -> Self {
        rows.into_iter().fold(self, Self::row)
    }

    /// As a message.
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

impl Pressed {
    pub(super) fn toast(text: impl Into<String>) -> Self {
        Self { toast: Some(text.into()), card: None }
    }

    pub(super) fn card(card: Card) -> Self {
        Self { toast: None, card: Some(card) }
    }

    pub(super) fn both(text: impl Into<String>, card: Card) -> Self {
        Self { toast: Some(text.into()), card: Some(card) }
    }
}

/// The buttons that turn pages, for a list of so many rows.
pub(super) fn pager(family: &str, page: usize, rows: usize) -> Vec<Button> {
    let back = (page > 0).then(|| Button::new("◀", format!("{family}:{}", page.saturating_sub(1))));
    let on = ((page + 1) * ROWS < rows).then(|| Button::new("▶", format!("{family}:{}", page + 1)));
    back.into_iter().chain(on).collect()
}
