//! Message that shows a task at one moment: the answer above the card, the card, and the question for the time zone
//! if the chat has not set one.

use std::sync::Arc;

use figaro_base::tz::Tz;

use super::super::card::Card;
use super::super::zone::Clocks;
use super::card::TaskView;
use crate::outgoing::MESSAGE_UNITS;
use figaro_agent::languages::Languages;
use figaro_base::clock::Clock;
use figaro_domain::task::{Task, TaskMessage};
use figaro_markup::{Formatted, Piece, messages};
use figaro_prompts::Prompts;
use figaro_store::SettingsStore;

/// Builds the cards of tasks. Cheap to clone.
#[derive(Debug, Clone)]
pub struct TaskCards {
    /// Texts of cards, and the language of each chat.
    pub languages: Languages,
    /// Settings of chats, with their time zones.
    pub settings: SettingsStore,
    /// Agents, whose names the cards show.
    pub prompts: Arc<Prompts>,
    /// Time zone of chats without a zone.
    pub default_zone: Tz,
    /// Source of the current time, in UTC.
    pub clock: Clock,
}

impl TaskCards {
    /// Returns the card that the message should show for the task now.
    pub(crate) fn draw(&self, task: &Task, message: &TaskMessage) -> Card {
        let client = task.language.as_deref();
        let language = self.languages.of(message.chat, client);
        let (texts, now) = (self.languages.locales.of(language.as_deref()), self.clock.now());
        let is_elsewhere = message.chat != task.place.chat;
        let agents = self.prompts.agents();
        let view = TaskView { texts, now, page: message.page, is_elsewhere, agents: &agents };
        let mut card = view.card(task);
        if message.asks_zone && self.has_no_zone(task) {
            let clocks = Clocks { texts, language: language.as_deref(), now };
            let question = clocks.question(&task.place, self.default_zone);
            card.body = format!("{}\n\n{}", card.body, question.body).trim().to_owned();
            card.buttons.extend(question.buttons);
        }
        Card { lead: message.words.as_deref().and_then(lead), ..card }
    }

    fn has_no_zone(&self, task: &Task) -> bool {
        let config = self.settings.chat_config(task.place.chat);
        task.zone_assumed && config.is_ok_and(|config| config.timezone.is_none())
    }
}

/// Formats an answer to put above a card; `None` if it does not fit a single text message.
pub(super) fn lead(words: &str) -> Option<Formatted> {
    match <[Piece; 1]>::try_from(messages(words, MESSAGE_UNITS)) {
        Ok([Piece::Text(text)]) => Some(text),
        Ok(_) | Err(_) => None,
    }
}
