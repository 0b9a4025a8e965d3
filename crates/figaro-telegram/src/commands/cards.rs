//! What all commands share: texts in a person's language, cards shown and changed, presses answered.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::asker::Asker;
use super::card::Card;
use crate::api::{AnswerCallbackQuery, GetChat};
use crate::send::{Outgoing, Sender, Unsent};
use figaro_agent::languages::Languages;
use figaro_agent::outbound::Urgency;
use figaro_base::ids::{ChatId, MessageId, UserId};
use figaro_base::telemetry::vitals::Vitals;
use figaro_base::text::one_line;
use figaro_domain::chat::{ChatConfig, Place};
use figaro_markup::File;
use figaro_markup::Formatted;
use figaro_policy::access::{Admins, Standing, may_change};
use figaro_prompts::texts::Texts;
use figaro_store::{ProfileStore, StoreError};

/// The most characters of the words over a button; the Bot API takes 200.
const TOAST_CHARS: usize = 190;

/// The most characters of a name that a card shows.
const NAME_CHARS: usize = 40;

/// Shows cards and answers presses. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Cards {
    /// Sends and edits messages within the rate limits.
    pub sender: Sender,
    /// The texts for people, and which of them a chat gets.
    pub languages: Languages,
    /// Who administers a chat.
    pub admins: Arc<dyn Admins>,
    /// Where failures of the store are noted.
    pub vitals: Arc<Vitals>,
    /// The names of people as they had them when they last asked something.
    pub profiles: ProfileStore,
}

impl Cards {
    /// Texts in somebody's language.
    #[must_use]
    pub(crate) fn texts(&self, asker: &Asker) -> &Texts {
        self.languages.locales.of(asker.language.as_deref())
    }

    /// Somebody who has changed settings of the chat: they may be spoken to in another language now.
    pub(crate) async fn again(&self, asker: &Asker) -> Asker {
        let language = self.languages.of(asker.place.chat, asker.client.as_deref()).await;
        Asker { language, ..asker.clone() }
    }

    /// The current time, UTC.
    #[must_use]
    pub(crate) fn now(&self) -> DateTime<Utc> {
        self.sender.clock.now()
    }

    /// Whether someone may change what holds for the whole chat.
    pub(crate) async fn may_change(&self, asker: &Asker) -> bool {
        may_change(&*self.admins, asker.standing, &asker.place, &asker.speaker.user).await
    }

    /// Shows a card as a new message; in a group as an answer to the command. An owner's does not wait behind answers to
    /// others. `false` if the bot stops meanwhile.
    pub(crate) async fn show(&self, asker: &Asker, card: Card) -> bool {
        self.send(asker, card, urgency(asker)).await
    }

    /// Shows a card that nobody waits for, once no answer waits. `false` if the bot stops meanwhile.
    pub(crate) async fn notify(&self, asker: &Asker, card: Card) -> bool {
        self.send(asker, card, Urgency::Notice).await
    }

    /// Sends a file where somebody asked for it; `false` if Telegram does not take it or the bot stops.
    pub(crate) async fn send_file(&self, asker: &Asker, file: File) -> bool {
        let message = Outgoing { file: Some(file), urgency: urgency(asker), ..Outgoing::default() };
        self.deliver(&asker.place, &message).await.is_ok()
    }

    /// Sends a picture where somebody asked for it; `false` if Telegram does not take it or the bot stops.
    pub(crate) async fn send_picture(&self, asker: &Asker, png: Vec<u8>, caption: String) -> bool {
        let content = Formatted { text: caption, entities: Vec::new() };
        let message =
            Outgoing { content, picture: Some(png), urgency: urgency(asker), ..Outgoing::default() };
        self.deliver(&asker.place, &message).await.is_ok()
    }

    /// Asks somebody for words: the field of a reply opens for them, with a hint in it. Gives the message that asks, to
    /// which they reply; `None` if it could not be sent.
    pub(crate) async fn ask(&self, asker: &Asker, words: &str, hint: &str) -> Option<MessageId> {
        let Asker { place, speaker, .. } = asker;
        // In a group the field of a reply opens for whoever is named.
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

    /// Shows a card in a chat where nobody has asked for it; `false` if it was not shown.
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

    /// The name that Telegram knows a chat or a person by, with their username; the number where nobody knows one.
    pub(crate) async fn name_of(&self, chat: ChatId) -> String {
        let (name, username) = self.names_of(chat).await;
        named(&name, username.as_deref())
    }

    /// The same as two: the name, or the number where nobody knows one, and the username. Of people who have written in groups
    /// alone Telegram tells nothing, and their profile does.
    pub(crate) async fn names_of(&self, chat: ChatId) -> (String, Option<String>) {
        let known = self.sender.api.call(GetChat(json!({"chat_id": chat}))).await.unwrap_or(Value::Null);
        let text = |key: &str| known.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
        let Some(name) = text("title").or(text("first_name")) else {
            let profile = self.profiles.find(&UserId::telegram(chat.0)).await.ok().flatten();
            let names = profile.map(|profile| profile.names).filter(|names| !names.shown.is_empty());
            return names.map_or_else(|| (chat.to_string(), None), |names| (names.shown, names.username));
        };
        let last = text("last_name").map(|last| format!(" {last}")).unwrap_or_default();
        (format!("{name}{last}"), text("username").map(str::to_owned))
    }

    /// Changes a message of the bot into this card.
    pub(crate) async fn edit(&self, asker: &Asker, message: MessageId, card: Card) {
        let card = Outgoing { urgency: urgency(asker), ..card.outgoing() };
        self.sender.edit(asker.place.chat, message, &card).await;
    }

    /// Takes the buttons off a message, so that what they do is done once.
    pub(crate) async fn without_buttons(&self, asker: &Asker, message: MessageId) {
        self.sender.without_buttons(&asker.place, message, Urgency::Answer).await;
    }

    /// Gives a message this keyboard, as Telegram takes it.
    pub(crate) async fn set_buttons(&self, asker: &Asker, message: MessageId, keyboard: &Value) {
        self.sender.set_buttons(&asker.place, message, keyboard, Urgency::Answer).await;
    }

    /// Ends the waiting of the button of a callback query, with words over it if there are any.
    pub(crate) async fn answer(&self, callback: &str, toast: Option<&str>) {
        let mut body = json!({"callback_query_id": callback});
        if let Some(text) = toast {
            body["text"] = json!(one_line(text, TOAST_CHARS));
        }
        if let Err(error) = self.sender.api.call(AnswerCallbackQuery(body)).await {
            tracing::debug!(%error, "a button press could not be answered");
        }
    }

    /// Notes that the store failed, and gives what is shown for it.
    #[must_use]
    pub(crate) fn failed(&self, asker: &Asker, error: &StoreError) -> Card {
        tracing::error!(%error, label = error.label(), "a command could not use the store");
        self.vitals.failed(self.now(), error.label());
        let texts = self.texts(asker);
        // A store that failed cannot settle the update either: the next start deals with it.
        let is_kept = matches!(error, StoreError::Failed { .. });
        Card::text(if is_kept { texts.error_store() } else { texts.error_internal() })
    }
}

/// A person or a chat as cards call them: `Ann Lee (@ann)`.
#[must_use]
pub(crate) fn named(name: &str, username: Option<&str>) -> String {
    let name = one_line(name, NAME_CHARS);
    username.map_or(name.clone(), |username| format!("{name} (@{username})"))
}

/// What is said over a button that sets something of a chat: that it is saved, or that it was so before.
pub(super) fn saved<'a>(texts: &'a Texts, before: &ChatConfig, now: &ChatConfig) -> &'a str {
    if before == now { texts.nothing_changed() } else { texts.config_saved() }
}

/// What an owner asks for does not wait behind answers to others.
const fn urgency(asker: &Asker) -> Urgency {
    match asker.standing {
        Standing::Owner => Urgency::First,
        Standing::Admin | Standing::Member | Standing::Guest | Standing::Borrowed => Urgency::Answer,
    }
}
