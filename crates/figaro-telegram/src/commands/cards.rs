//! Shared by all commands: texts in a person's language, showing and editing cards, answering presses.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::asker::Asker;
use super::card::Card;
use crate::api::AnswerCallbackQuery;
use crate::media::Media;
use crate::names::chat_names;
use crate::send::{Outgoing, Sender, Unsent};
use figaro_agent::languages::Languages;
use figaro_agent::outbound::Urgency;
use figaro_base::ids::{ChatId, MessageId, UserId};
use figaro_base::telemetry::vitals::Vitals;
use figaro_base::text::one_line;
use figaro_domain::chat::{ChatConfig, Place};
use figaro_markup::CodeFile;
use figaro_markup::Formatted;
use figaro_policy::access::{Admins, Standing, may_change};
use figaro_prompts::texts::Texts;
use figaro_store::{ProfileStore, StoreError};

/// Maximum length of a toast, in characters; the Bot API allows 200.
const TOAST_CHARS: usize = 190;

/// Maximum length of a name on a card, in characters.
const NAME_CHARS: usize = 40;

/// Shows cards and answers presses. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Cards {
    /// Sends and edits messages within the rate limits.
    pub sender: Sender,
    /// Texts, and the language of each chat.
    pub languages: Languages,
    /// Looks up the admins of a chat.
    pub admins: Arc<dyn Admins>,
    /// Records failures of the store for `/status`.
    pub vitals: Arc<Vitals>,
    /// Names of people, as of their last question.
    pub profiles: ProfileStore,
}

impl Cards {
    /// Returns the texts in the asker's language.
    #[must_use]
    pub(crate) fn texts(&self, asker: &Asker) -> &Texts {
        self.languages.locales.of(asker.language.as_deref())
    }

    /// Updates the asker's language, which a change of the chat's settings may have changed.
    pub(crate) fn again(&self, asker: &Asker) -> Asker {
        let language = self.languages.of(asker.place.chat, asker.client.as_deref());
        Asker { language, ..asker.clone() }
    }

    #[must_use]
    pub(crate) fn now(&self) -> DateTime<Utc> {
        self.sender.clock.now()
    }

    /// Returns `true` if the asker may change the settings of the chat.
    pub(crate) async fn may_change(&self, asker: &Asker) -> bool {
        may_change(&*self.admins, asker.standing, &asker.place, &asker.speaker.user).await
    }

    /// Shows a card as a new message; in a group as a reply to the command. Cards for owners are sent before waiting
    /// answers to others. Returns `false` if the bot is stopping.
    pub(crate) async fn show(&self, asker: &Asker, card: Card) -> bool {
        self.send(asker, card, urgency(asker)).await
    }

    /// Shows a card that nobody waits for, after all waiting answers. Returns `false` if the bot is stopping.
    pub(crate) async fn notify(&self, asker: &Asker, card: Card) -> bool {
        self.send(asker, card, Urgency::Notice).await
    }

    /// Sends a file to the asker's chat. Returns `false` if Telegram refuses it or the bot is stopping.
    pub(crate) async fn send_file(&self, asker: &Asker, file: CodeFile) -> bool {
        let message = Outgoing { file: Some(file), urgency: urgency(asker), ..Outgoing::default() };
        self.deliver(&asker.place, &message).await.is_ok()
    }

    /// Sends a picture to the asker's chat. Returns `false` if Telegram refuses it or the bot is stopping.
    pub(crate) async fn send_picture(&self, asker: &Asker, png: Vec<u8>, caption: String) -> bool {
        let content = Formatted { text: caption, entities: Vec::new() };
        let message = Outgoing {
            content,
            media: Some(Media::Photo(png)),
            urgency: urgency(asker),
            ..Outgoing::default()
        };
        self.deliver(&asker.place, &message).await.is_ok()
    }

    /// Asks for text: opens a reply field with a hint for the asker. Returns the message to reply to; `None` if it
    /// could not be sent.
    pub(crate) async fn ask(&self, asker: &Asker, words: &str, hint: &str) -> Option<MessageId> {
        let Asker { place, speaker, .. } = asker;
        // In a group, the reply field opens only for people named in the message.
        let name = speaker.username.as_deref().filter(|_| place.is_group());
        let text = name.map_or(words.to_owned(), |name| format!("@{name} {words}"));
        let content = Formatted { text, entities: Vec::new() };
        let asks = Some(hint.to_owned()).filter(|_| !place.is_group() || name.is_some());
        self.deliver(place, &Outgoing { content, asks, ..Outgoing::default() }).await.ok()
    }

    async fn send(&self, asker: &Asker, card: Card, urgency: Urgency) -> bool {
        let reply_to = asker.message.filter(|_| asker.place.is_group());
        let message = Outgoing { reply_to, urgency, ..card.outgoing() };
        !matches!(self.deliver(&asker.place, &message).await, Err(Unsent::Stopping))
    }

    /// Shows a card in a chat without a request from there. Returns `false` if it was not shown.
    pub(crate) async fn write(&self, place: &Place, card: Card, urgency: Urgency) -> bool {
        self.deliver(place, &Outgoing { urgency, ..card.outgoing() }).await.is_ok()
    }

    async fn deliver(&self, place: &Place, message: &Outgoing) -> Result<MessageId, Unsent> {
        let sent = self.sender.send(place, message, &CancellationToken::new()).await;
        sent.inspect_err(|unsent| {
            if *unsent != Unsent::Stopping {
                tracing::warn!(chat = %place.chat, ?unsent, "a card could not be shown");
            }
        })
    }

    /// Returns the Telegram name of a chat or a person with the username; the id if no name is known.
    pub(crate) async fn name_of(&self, chat: ChatId) -> String {
        let (name, username) = self.names_of(chat).await;
        named(&name, username.as_deref())
    }

    /// Returns the name, or the id if no name is known, and the username. Telegram tells bots nothing about people
    /// who have written only in groups, so their stored profile is used.
    pub(crate) async fn names_of(&self, chat: ChatId) -> (String, Option<String>) {
        if let Some(names) = chat_names(&self.sender.api, chat).await {
            return names;
        }
        let profile = self.profiles.find(&UserId::telegram(chat.0)).ok().flatten();
        let names = profile.map(|profile| profile.names).filter(|names| !names.shown.is_empty());
        names.map_or_else(|| (chat.to_string(), None), |names| (names.shown, names.username))
    }

    /// Edits a message of the bot to show this card.
    pub(crate) async fn edit(&self, asker: &Asker, message: MessageId, card: Card) {
        let card = Outgoing { urgency: urgency(asker), ..card.outgoing() };
        self.sender.edit(asker.place.chat, message, &card).await;
    }

    /// Removes the buttons of a message, so that they can be used only once.
    pub(crate) async fn without_buttons(&self, asker: &Asker, message: MessageId) {
        self.sender.without_buttons(&asker.place, message, Urgency::Answer).await;
    }

    /// Sets the keyboard of a message, in Telegram's JSON.
    pub(crate) async fn set_buttons(&self, asker: &Asker, message: MessageId, keyboard: &Value) {
        self.sender.set_buttons(&asker.place, message, keyboard, Urgency::Answer).await;
    }

    /// Answers a callback query, so that its button stops waiting; shows the toast, if any.
    pub(crate) async fn answer(&self, callback: &str, toast: Option<&str>) {
        let mut body = json!({"callback_query_id": callback});
        if let Some(text) = toast {
            body["text"] = json!(one_line(text, TOAST_CHARS));
        }
        if let Err(error) = self.sender.api.call(AnswerCallbackQuery(body)).await {
            tracing::debug!(%error, "a button press could not be answered");
        }
    }

    /// Records a failure of the store and returns the card to show.
    #[must_use]
    pub(crate) fn failed(&self, asker: &Asker, error: &StoreError) -> Card {
        tracing::error!(%error, label = error.label(), "a command could not use the store");
        self.vitals.failed(self.now(), error.label());
        let texts = self.texts(asker);
        // If the store failed, the update cannot be settled either, and the next start handles it again.
        let is_kept = matches!(error, StoreError::Failed { .. });
        Card::text(if is_kept { texts.error_store() } else { texts.error_internal() })
    }
}

/// Formats a person or a chat for cards: `Ann Lee (@ann)`.
#[must_use]
pub(crate) fn named(name: &str, username: Option<&str>) -> String {
    let name = one_line(name, NAME_CHARS);
    username.map_or(name.clone(), |username| format!("{name} (@{username})"))
}

/// Returns the toast of a button that changes a chat's settings: saved, or unchanged.
pub(super) fn saved<'a>(texts: &'a Texts, before: &ChatConfig, now: &ChatConfig) -> &'a str {
    if before == now { texts.nothing_changed() } else { texts.config_saved() }
}

/// Replies to owners are sent before waiting answers to others.
const fn urgency(asker: &Asker) -> Urgency {
    match asker.standing {
        Standing::Owner => Urgency::First,
        Standing::Admin | Standing::Member | Standing::Guest | Standing::Borrowed => Urgency::Answer,
    }
}
