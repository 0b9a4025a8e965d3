//! Asks Telegram who is a member or an admin of a chat: before a member changes a group's settings, or changes a
//! group's task from another chat.

use async_trait::async_trait;
use serde_json::{Value, json};

use super::api::GetChatMember;
use super::channel::TelegramChannel;
use figaro_base::ids::{ChatId, UserId};
use figaro_policy::access::Admins;

#[async_trait]
impl Admins for TelegramChannel {
    async fn is_admin(&self, chat: ChatId, user: &UserId) -> bool {
        self.fits(chat, user, |member| ["creator", "administrator"].contains(&status(member))).await
    }

    async fn is_member(&self, chat: ChatId, user: &UserId) -> bool {
        self.fits(chat, user, |member| match status(member) {
            "creator" | "administrator" | "member" => true,
            // A restricted user may have left the group.
            "restricted" => member["is_member"] == true,
            _ => false,
        })
        .await
    }

    async fn has_right(&self, chat: ChatId, user: &UserId, right: &str) -> bool {
        let Some(id) = user.telegram_id() else { return false };
        if !chat.is_group() {
            return id == chat.0;
        }
        // The rights of an anonymous admin, who speaks as the group itself, are unknown.
        id != chat.0
            && self
                .asked(chat, id, |member| match status(member) {
                    "creator" => true,
                    "administrator" => match member.get(right) {
                        Some(holds) => *holds == Value::Bool(true),
                        // These two rights exist only in channels; in a group every admin can write.
                        None => ["can_post_messages", "can_edit_messages"].contains(&right),
                    },
                    _ => false,
                })
                .await
    }
}

impl TelegramChannel {
    /// Returns `true` if the member passes the check `fits`. Outside groups, and for anonymous admins, nothing is
    /// checked.
    async fn fits(&self, chat: ChatId, user: &UserId, fits: fn(&Value) -> bool) -> bool {
        let Some(id) = user.telegram_id() else {
            return false;
        };
        // An anonymous admin speaks as the group itself.
        if !chat.is_group() || id == chat.0 {
            return true;
        }
        self.asked(chat, id, fits).await
    }

    async fn asked(&self, chat: ChatId, id: i64, fits: impl Fn(&Value) -> bool + Send) -> bool {
        match self.sender.api.call(GetChatMember(json!({"chat_id": chat, "user_id": id}))).await {
            Ok(member) => fits(&member),
            Err(error) => {
                tracing::warn!(%chat, %error, "what someone is in a chat could not be found out");
                false
            }
        }
    }
}

fn status(member: &Value) -> &str {
    member.get("status").and_then(Value::as_str).unwrap_or_default()
}
