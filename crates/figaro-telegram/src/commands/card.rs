//! Cards: the messages of Figaro's own that commands show and buttons change.

use crate::callback::{Family, Page, Trail};
use crate::send::{Button, Outgoing, Press};
use crate::views::{KeyView, MessageView};
use figaro_base::text::{as_markdown, utf16_len, utf16_prefix};
use figaro_domain::turn::PersonQuestion;
use figaro_domain::usage::{PARTLY_UNKNOWN, UNKNOWN_MONEY};
use figaro_markup::{Entity, Formatted, Kind, cut, render, split};
use figaro_prompts::texts::Texts;

/// The most UTF-16 units of a card's text: what a message takes, less its title.
pub(super) const CARD_UNITS: usize = 3800;
/// So many rows a card shows at once.
pub(super) const ROWS: usize = 8;
/// So many lines of an approval's card say what was asked, where, and by whom.
const ASKED_LINES: usize = 3;

/// A message of Figaro's own: its first line as a title, if it has one, and buttons.
#[derive(Debug, Clone, Default)]
pub struct Card {
    /// What stands above it in the same message.
    pub(crate) lead: Option<Formatted>,
    /// The title, shown bold above the text.
    pub(crate) title: Option<String>,
    /// The text under the title.
    pub(crate) body: String,
    /// How to change what it shows, under the text: for those who may.
    pub(crate) how: Option<String>,
    /// Lines of the body that are shown bold.
    pub(crate) headings: Vec<String>,
    /// Its command shows it first: it has Back only where a card of another command opened it.
    pub(crate) is_first: bool,
    /// Rows of buttons.
    pub(crate) buttons: Vec<Vec<Button>>,
}

impl Card {
    /// A card without a title.
    pub(crate) fn text(body: impl Into<String>) -> Self {
        Self { body: body.into(), ..Self::default() }
    }

    /// A card of Markdown, whose end is left out where it is too long for a message.
    #[must_use]
    pub(crate) fn markdown(words: &str) -> Self {
        let whole = render(words);
        let shown = match split(whole.clone(), CARD_UNITS).len() {
            0 | 1 => whole,
            _ => cut(vec![whole], CARD_UNITS),
        };
        Self { lead: Some(shown), ..Self::default() }
    }

    /// A question that waits no more, with what became of it. Who could approve a call, and until when, matters no more.
    #[must_use]
    pub(crate) fn closed(question: &PersonQuestion, became: &str) -> Self {
        let lines = if question.approval.is_some() { ASKED_LINES } else { usize::MAX };
        let asked: Vec<&str> = question.text.lines().take(lines).collect();
        Self::markdown(&format!("{}\n\n{}", asked.join("\n"), as_markdown(became)))
    }

    /// A card with a title.
    pub fn titled(title: &str, body: impl Into<String>) -> Self {
        Self { title: Some(title.to_owned()), body: body.into(), ..Self::default() }
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
    pub(crate) fn rows(self, rows: impl IntoIterator<Item = Vec<Button>>) -> Self {
        rows.into_iter().fold(self, Self::row)
    }

    /// The same with words on how to change what it shows.
    #[must_use]
    pub(super) fn how(self, words: impl Into<String>) -> Self {
        Self { how: Some(words.into()), ..self }
    }

    /// The same as the one that its command shows first.
    #[must_use]
    pub(super) fn first(self) -> Self {
        Self { is_first: true, ..self }
    }

    /// The card as one that was reached by this way: all its buttons keep it, and its first card leads back along it.
    #[must_use]
    pub(super) fn reached(mut self, trail: &Trail, texts: &Texts) -> Self {
        for button in self.buttons.iter_mut().flatten() {
            if let Press::Data(data) = &mut button.press {
                *data = trail.through(button.parent).lead(data.clone());
            }
        }
        let back = trail.back().filter(|_| self.is_first).map(|back| Button::new(texts.button_back(), back));
        self.row(back.into_iter().collect())
    }

    /// The card as a message to be sent.
    #[must_use]
    pub(crate) fn outgoing(self) -> Outgoing {
        Outgoing { content: self.content(), buttons: self.buttons, ..Outgoing::default() }
    }

    /// Whether a message shows the words and the buttons of this card already. Telegram takes space off the ends of a text.
    pub(super) fn is_shown_by(&self, message: &MessageView) -> bool {
        let is_same = |(key, button): (&KeyView, &Button)| {
            let does = match &button.press {
                Press::Data(data) => key.callback_data.as_deref() == Some(data.as_str()),
                Press::Url(url) => key.url.as_deref() == Some(url),
            };
            key.text == button.text && does
        };
        let rows = &message.reply_markup.inline_keyboard;
        let same_row = |(keys, buttons): (&Vec<KeyView>, &Vec<Button>)| {
            keys.len() == buttons.len() && keys.iter().zip(buttons).all(is_same)
        };
        let same_words = message.text.as_deref().unwrap_or_default().trim() == self.content().text.trim();
        same_words && rows.len() == self.buttons.len() && rows.iter().zip(&self.buttons).all(same_row)
    }

    pub(super) fn content(&self) -> Formatted {
        let parts: Vec<&str> = [Some(&*self.body), self.how.as_deref()]
            .into_iter()
            .flatten()
            .filter(|part| !part.is_empty())
            .collect();
        let body = parts.join("\n\n");
        let body = utf16_prefix(&body, CARD_UNITS);
        let gap = if body.is_empty() { "" } else { "\n" };
        let title = self.title.as_ref().map(|title| format!("{title}{gap}")).unwrap_or_default();
        let text = format!("{title}{body}");
        let (mut entities, mut offset) = (Vec::new(), 0);
        for (at, line) in text.split('\n').enumerate() {
            let length = utf16_len(line);
            let is_title = at == 0 && self.title.is_some();
            if is_title || self.headings.iter().any(|heading| heading == line) {
                entities.push(Entity { kind: Kind::Bold, offset, length });
            }
            offset += length + 1;
        }
        let card = Formatted { text, entities };
        match &self.lead {
            Some(lead) => lead.clone().followed_by(card),
            None => card,
        }
    }
}

/// The page of a list of so many rows that is shown for the one asked for: the last one if there are not so many.
pub(super) fn page_of(asked: Page, rows: usize) -> usize {
    usize::try_from(asked).unwrap_or(usize::MAX).min(rows.saturating_sub(1) / ROWS)
}

/// The buttons that turn pages, for a list of so many rows of which this page is shown.
pub(super) fn pager<F: Family>(
    texts: &Texts,
    page: usize,
    rows: usize,
    press: impl Fn(Page) -> F,
) -> Vec<Button> {
    let button = |label: &str, page: usize| Button::new(label, press(number(page)));
    let back = (page > 0).then(|| button(texts.button_previous(), page.saturating_sub(1)));
    let on = ((page + 1) * ROWS < rows).then(|| button(texts.button_next(), page + 1));
    back.into_iter().chain(on).collect()
}

/// Says below lines with money what a price that nobody knows is shown as, if one is.
pub(super) fn explain_unknown(lines: &mut Vec<String>, texts: &Texts) {
    if lines.iter().any(|line| line.contains(UNKNOWN_MONEY) || line.contains(PARTLY_UNKNOWN)) {
        lines.push(texts.price_unknown().to_owned());
    }
}

/// A page as buttons name it.
pub(super) fn number(page: usize) -> Page {
    Page::try_from(page).unwrap_or(Page::MAX)
}
