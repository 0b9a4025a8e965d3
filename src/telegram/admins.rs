//! Who administers a chat, asked from Telegram when it matters: before a member changes a group's settings.

use async_trait::async_trait;
use serde_json::{Value, json};

use super::api::{Api, GetChatMember};
use crate::ids::{ChatId, UserId};
use crate::policy::access::Admins;

/// Asks Telegram.
#[derive(Debug, Clone)]
pub struct TelegramAdmins(pub Api);

#[async_trait]
impl Admins for TelegramAdmins {
    async fn is_admin(&self, chat: ChatId, user: &UserId) -> bool {
        let Some(id) = user.telegram_id() else {
            return false;
        };
        // An anonymous admin speaks as the group itself.
        if !chat.is_group() || id == chat.0 {
            return true;
        }
        match self.0.call(GetChatMember(json!({"chat_id": chat, "user_id": id}))).await {
            Ok(member) => {
                let status = member.get("status").and_then(Value::as_str).unwrap_or_default();
                ["creator", "administrator"].contains(&status)
            }
            Err(error) => {
                tracing::warn!(%chat, %error, "whether someone is an admin could not be found out");
                false
            }
        }
    }
}
