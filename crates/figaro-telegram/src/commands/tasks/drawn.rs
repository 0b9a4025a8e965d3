//! The message that shows a task, as it is at one moment: the answer above its card, the card, and where nobody has said in
//! which time zone the chat is, the question for it.

use std::sync::Arc;

use chrono_tz::Tz;

use super::super::card::Card;
use super::super::zone::Clocks;
use super::card::View;
use crate::live::MESSAGE_UNITS;
use figaro_agent::languages::Languages;
use figaro_base::clock::Clock;
use figaro_domain::task::{Task, TaskMessage};
use figaro_markup::{Formatted, Piece, messages};
use figaro_prompts::Prompts;
use figaro_store::SettingsStore;

/// Draws cards of tasks. Cheap to clone.
#[derive(Debug, Clone)]
pub struct TaskCards {
    /// The texts of cards, and which of them a chat gets.
    pub languages: Languages,
    /// The settings of chats, their time zones among them.
    pub settings: SettingsStore,
    /// The agents there are.
    pub prompts: Arc<Prompts>,
    /// The zone of chats that set none.
    pub default_zone: Tz,
    /// Gives the current time.
    pub clock: Clock,
}

impl TaskCards {
    /// What this message is to show of the task now.
    pub(crate) async fn draw(&self, task: &Task, message: &TaskMessage) -> Card {
        let client = task.language.as_deref();
        let language = self.languages.of(message.chat, client).await;
        let (texts, now) = (self.languages.locales.of(language.as_deref()), self.clock.now());
        let is_elsewhere = message.chat != task.place.chat;
        let agents = self.prompts.agents();
        let view = View { texts, now, page: message.page, is_elsewhere, agents: &agents };
        let mut card = view.card(task);
        if message.asks_zone && self.has_no_zone(task).await {
            let clocks = Clocks { texts, language: language.as_deref(), now };
            let question = clocks.question(&task.place, self.default_zone);
            card.body = format!("{}\n\n{}", card.body, question.body).trim().to_owned();
            card.buttons.extend(question.buttons);
        }
        Card { lead: message.words.as_deref().and_then(lead), ..card }
    }

    async fn has_no_zone(&self, task: &Task) -> bool {
        let config = self.settings.chat_config(task.place.chat).await;
        task.zone_assumed && config.is_ok_and(|config| config.timezone.is_none())
    }
}

/// An answer as it stands above a card; `None` for one that is no single text.
pub(super) fn lead(words: &str) -> Option<Formatted> {
    match <[Piece; 1]>::try_from(messages(words, MESSAGE_UNITS)) {
        Ok([Piece::Text(text)]) => Some(text),
        Ok(_) | Err(_) => None,
    }
}
