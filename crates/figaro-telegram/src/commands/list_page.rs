//! A page of a list on a card: its items and the buttons that turn pages.

use super::card::Card;
use crate::callback::{ButtonFamily, Page};
use crate::send::Button;
use figaro_prompts::texts::Texts;

/// Maximum number of items on a page.
pub(super) const ROWS: usize = 8;

/// Page of a list.
#[derive(Debug, Clone)]
pub(super) struct ListPage<T> {
    /// Items that the page shows: at most [`ROWS`].
    pub(super) items: Vec<T>,
    /// Number of items in the whole list.
    pub(super) total: usize,
    index: usize,
}

impl<T> ListPage<T> {
    /// Takes the requested page of a list; its last page if the list is shorter.
    pub(super) fn of(list: Vec<T>, asked: Page) -> Self {
        let total = list.len();
        let index = usize::try_from(asked).unwrap_or(usize::MAX).min(total.saturating_sub(1) / ROWS);
        Self { items: list.into_iter().skip(index * ROWS).take(ROWS).collect(), total, index }
    }

    /// Returns the number of the page, for its buttons.
    pub(super) fn number(&self) -> Page {
        number(self.index)
    }

    /// Returns the page with other items in place of its own, such as what a store has about each.
    pub(super) fn with<U>(&self, items: Vec<U>) -> ListPage<U> {
        ListPage { items, total: self.total, index: self.index }
    }

    /// Returns the buttons for the previous and the next page, if there are such pages.
    fn turns<F: ButtonFamily>(&self, texts: &Texts, press: impl Fn(Page) -> F) -> Vec<Button> {
        let button = |label: &str, page: usize| Button::new(label, press(number(page)));
        let back = self.index.checked_sub(1).map(|page| button(texts.button_previous(), page));
        let on = ((self.index + 1) * ROWS < self.total).then(|| button(texts.button_next(), self.index + 1));
        back.into_iter().chain(on).collect()
    }
}

impl Card {
    /// Adds a row of buttons for each item of the page, then the buttons that turn pages.
    #[must_use]
    pub(super) fn list<T, F: ButtonFamily>(
        self,
        texts: &Texts,
        page: &ListPage<T>,
        row: impl Fn(&T) -> Vec<Button>,
        turn: impl Fn(Page) -> F,
    ) -> Self {
        self.rows(page.items.iter().map(row)).pages(texts, page, turn)
    }

    /// Adds the buttons that turn the pages of a list whose items have no buttons.
    #[must_use]
    pub(super) fn pages<T, F: ButtonFamily>(
        self,
        texts: &Texts,
        page: &ListPage<T>,
        turn: impl Fn(Page) -> F,
    ) -> Self {
        self.row(page.turns(texts, turn))
    }
}

/// Returns the page of the item at this position of a list.
pub(super) fn page_at(position: usize) -> Page {
    number(position / ROWS)
}

fn number(index: usize) -> Page {
    Page::try_from(index).unwrap_or(Page::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_beyond_the_list_is_its_last_one() {
        let page = |asked, count: usize| ListPage::of((0..count).collect(), asked);
        for (asked, count, items, number) in [
            (0, 0, 0..0, 0),
            (9, 0, 0..0, 0),
            (0, 8, 0..8, 0),
            (1, 8, 0..8, 0),
            (1, 9, 8..9, 1),
            (Page::MAX, 17, 16..17, 2),
        ] {
            let page = page(asked, count);
            assert_eq!(
                (page.items.clone(), page.total, page.number()),
                (items.collect(), count, number),
                "{asked} of {count}"
            );
        }
    }
}
