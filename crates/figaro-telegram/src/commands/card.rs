//! Cards: messages that commands show and buttons change.

use crate::callback::Trail;
use crate::send::{Button, Outgoing, PressEffect};
use crate::views::{KeyView, MessageView};
use figaro_base::text::{as_markdown, utf16_len, utf16_prefix};
use figaro_domain::turn::PersonQuestion;
use figaro_domain::usage::{PARTLY_UNKNOWN, UNKNOWN_MONEY};
use figaro_markup::{Entity, EntityKind, Formatted, cut, render, split};
use figaro_prompts::texts::Texts;

/// Maximum length of a card's text in UTF-16 units: the limit of a message, less the title.
pub(super) const CARD_UNITS: usize = 3800;
/// Number of lines at the start of an approval's card that tell the call, the chat and the requester.
const ASKED_LINES: usize = 3;

/// Message of a command: an optional title, text and buttons.
#[derive(Debug, Clone, Default)]
pub struct Card {
    /// Formatted text above the title, in the same message.
    pub(crate) lead: Option<Formatted>,
    /// Title, shown in bold above the body.
    pub(crate) title: Option<String>,
    pub(crate) body: String,
    /// Instructions under the body for people who may change what the card shows.
    pub(crate) how: Option<String>,
    /// Lines of the body that are shown in bold.
    pub(crate) headings: Vec<String>,
    /// `true` for the first card of its command: it has Back only if a card of another command opened it.
    pub(crate) is_first: bool,
    pub(crate) buttons: Vec<Vec<Button>>,
}

impl Card {
    /// Creates a card without a title.
    pub(crate) fn text(body: impl Into<String>) -> Self {
        Self { body: body.into(), ..Self::default() }
    }

    /// Creates a card from Markdown, truncated to fit a message.
    #[must_use]
    pub(crate) fn markdown(words: &str) -> Self {
        let whole = render(words);
        let shown = match split(whole.clone(), CARD_UNITS).len() {
            0 | 1 => whole,
            _ => cut(vec![whole], CARD_UNITS),
        };
        Self { lead: Some(shown), ..Self::default() }
    }

    /// Creates the card of a closed question with its outcome. For a call, drops the lines about who could approve it
    /// and until when.
    #[must_use]
    pub(crate) fn closed(question: &PersonQuestion, became: &str) -> Self {
        let lines = if question.approval.is_some() { ASKED_LINES } else { usize::MAX };
        let asked: Vec<&str> = question.text.lines().take(lines).collect();
        Self::markdown(&format!("{}\n\n{}", asked.join("\n"), as_markdown(became)))
    }

    /// Creates a card with a title.
    pub fn titled(title: &str, body: impl Into<String>) -> Self {
        Self { title: Some(title.to_owned()), body: body.into(), ..Self::default() }
    }

    /// Adds a row of buttons; an empty row is ignored.
    #[must_use]
    pub fn row(mut self, row: Vec<Button>) -> Self {
        if !row.is_empty() {
            self.buttons.push(row);
        }
        self
    }

    /// Adds rows of buttons; empty rows are ignored.
    #[must_use]
    pub(crate) fn rows(self, rows: impl IntoIterator<Item = Vec<Button>>) -> Self {
        rows.into_iter().fold(self, Self::row)
    }

    /// Adds instructions on how to change what the card shows.
    #[must_use]
    pub(super) fn how(self, words: impl Into<String>) -> Self {
        Self { how: Some(words.into()), ..self }
    }

    /// Marks the card as the first card of its command.
    #[must_use]
    pub(super) fn first(self) -> Self {
        Self { is_first: true, ..self }
    }

    /// Adds the trail to all buttons of the card, and a Back button to a first card.
    #[must_use]
    pub(super) fn reached(mut self, trail: &Trail, texts: &Texts) -> Self {
        for button in self.buttons.iter_mut().flatten() {
            if let PressEffect::Data(data) = &mut button.press {
                *data = trail.through(button.parent).lead(data.clone());
            }
        }
        let back = trail.back().filter(|_| self.is_first).map(|back| Button::new(texts.button_back(), back));
        self.row(back.into_iter().collect())
    }

    /// Converts the card into a message to send.
    #[must_use]
    pub(crate) fn outgoing(self) -> Outgoing {
        Outgoing { content: self.content(), buttons: self.buttons, ..Outgoing::default() }
    }

    /// Returns `true` if a message already shows the text and the buttons of this card. Telegram trims the text of
    /// messages.
    pub(super) fn is_shown_by(&self, message: &MessageView) -> bool {
        let is_same = |(key, button): (&KeyView, &Button)| {
            let does = match &button.press {
                PressEffect::Data(data) => key.callback_data.as_deref() == Some(data.as_str()),
                PressEffect::Url(url) => key.url.as_deref() == Some(url),
                PressEffect::MiniApp(_) => false,
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
                entities.push(Entity { kind: EntityKind::Bold, offset, length });
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

/// Adds a line that explains unknown prices, if one of the lines shows one.
pub(super) fn explain_unknown(lines: &mut Vec<String>, texts: &Texts) {
    if lines.iter().any(|line| line.contains(UNKNOWN_MONEY) || line.contains(PARTLY_UNKNOWN)) {
        lines.push(texts.price_unknown().to_owned());
    }
}
