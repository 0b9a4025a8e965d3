//! Telegram as the channel of turns: titles of topics, consent to remembering, files. Admins of a chat are in
//! `admins`.

use async_trait::async_trait;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::api::EditForumTopic;
use super::commands::{consent_card, draw_buttons};
use super::files;
use super::media::Media;
use super::names::chat_names;
use super::outgoing::{MESSAGE_UNITS, sent_id};
use super::send::{Outgoing, Sender, Unsent};
use figaro_agent::channel::{Channel, FileError, FileStream, NewPicture, PictureError, SentPicture};
use figaro_agent::languages::Languages;
use figaro_agent::outbound::Urgency;
use figaro_base::ids::{ChatId, MessageId, UserId};
use figaro_base::text::utf16_len;
use figaro_domain::chat::{ChatKind, Place};
use figaro_domain::conversation::ConversationId;
use figaro_domain::delivery::Author;
use figaro_markup::{Entity, EntityKind, Formatted, split};
use figaro_store::ProfileStore;

/// The chats of the bot's account.
#[derive(Debug, Clone)]
pub struct TelegramChannel {
    /// Sender that all messages of the channel go through.
    pub sender: Sender,
    /// Looks up the language of a chat.
    pub languages: Languages,
    /// Stored profiles; hold the language of a person.
    pub profiles: ProfileStore,
}

#[async_trait]
impl Channel for TelegramChannel {
    /// Sets the title of a forum topic or of a topic in a private chat.
    async fn set_title(&self, topic: ConversationId, title: &str) -> bool {
        let ConversationId { chat, topic } = topic;
        let body = json!({"chat_id": chat, "message_thread_id": topic, "name": title});
        let set = self.sender.once(chat, EditForumTopic(body), Urgency::Notice).await;
        set.inspect_err(|unsent| tracing::debug!(%chat, ?unsent, "a topic could not be given a title"))
            .is_ok()
    }

    async fn name_of(&self, chat: ChatId) -> Option<String> {
        let (name, _) = chat_names(&self.sender.api, chat).await?;
        Some(name)
    }

    async fn ask_consent(&self, user: &UserId) -> bool {
        let Some(chat) = user.telegram_id().map(ChatId) else { return false };
        let profile = self.profiles.find(user).ok().flatten();
        let client = profile.and_then(|profile| profile.language);
        let texts = self.languages.texts(chat, client.as_deref());
        let place = Place { chat, kind: ChatKind::Private, title: None, topic: None };
        let message = consent_card(texts).outgoing();
        let sent = self.sender.send(&place, &message, &CancellationToken::new()).await;
        if let Err(unsent) = &sent {
            // Telegram refuses messages to people who have never written to the bot. They are asked when they write.
            tracing::info!(%chat, ?unsent, "whether facts may be remembered could not be asked");
        }
        sent.is_ok()
    }

    async fn show_transcript(&self, place: &Place, message: MessageId, words: &str) {
        let quote = Entity { kind: EntityKind::ExpandableBlockquote, offset: 0, length: utf16_len(words) };
        let content = Formatted { text: words.to_owned(), entities: vec![quote] };
        for content in split(content, MESSAGE_UNITS) {
            let quoted = Outgoing { content, reply_to: Some(message), ..Outgoing::default() };
            if let Err(unsent) = self.sender.send(place, &quoted, &CancellationToken::new()).await {
                tracing::warn!(chat = %place.chat, ?unsent, "the words of a sound could not be shown");
                return;
            }
        }
    }

    async fn send_picture(&self, place: &Place, picture: NewPicture) -> Result<SentPicture, PictureError> {
        let texts = self.languages.texts(place.chat, picture.language.as_deref());
        let message = Outgoing {
            media: Some(Media::Photo(picture.bytes)),
            reply_to: picture.reply_to,
            buttons: vec![draw_buttons(texts)],
            author: Author::Model,
            ..Outgoing::default()
        };
        let sent = self.sender.send_for_view(place, &message).await.map_err(|unsent| match unsent {
            Unsent::Hopeless(words) => PictureError::Refused(words),
            Unsent::Unclear(words) => PictureError::Unclear(words),
            Unsent::Stopping | Unsent::Stopped => PictureError::Refused("the bot is stopping".to_owned()),
        })?;
        // The last size is the largest.
        let largest = sent["photo"].as_array().and_then(|sizes| sizes.last());
        let file_id = largest.and_then(|size| size["file_id"].as_str()).unwrap_or_default().to_owned();
        Ok(SentPicture { message: sent_id(&sent), file_id })
    }

    async fn open(&self, file_id: &str, max_bytes: usize) -> Result<FileStream, FileError> {
        files::open(&self.sender.api, file_id, max_bytes).await
    }
}
