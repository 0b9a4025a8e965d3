//! Titles of forum topics and of topics of private chats.

use async_trait::async_trait;
use serde_json::json;

use super::api::EditForumTopic;
use super::send::Sender;
use figaro_agent::delivery::Titles;
use figaro_agent::outbound::Urgency;
use figaro_domain::conversation::Conversation;

/// Gives topics their titles as the bot.
#[derive(Debug, Clone)]
pub struct TelegramTitles(pub Sender);

#[async_trait]
impl Titles for TelegramTitles {
    async fn set(&self, topic: Conversation, title: &str) -> bool {
        let Conversation { chat, topic } = topic;
        let body = json!({"chat_id": chat, "message_thread_id": topic, "name": title});
        let set = self.0.once(chat, EditForumTopic(body), Urgency::Notice).await;
        set.inspect_err(|unsent| tracing::debug!(%chat, ?unsent, "a topic could not be given a title"))
            .is_ok()
    }
}
