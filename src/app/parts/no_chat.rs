//! The ports of a chat that there is not: nobody administers one, nobody is asked, and no file was sent. For questions that come
//! from outside of Telegram.

use std::sync::Arc;

use async_trait::async_trait;

use super::base::Outside;
use figaro_agent::delivery::{Consents, Titles};
use figaro_agent::files::{FileError, Files};
use figaro_agent::turn::window::BotName;
use figaro_base::clock::Clock;
use figaro_base::ids::{ChatId, UserId};
use figaro_domain::chat::{ChatKind, Place};
use figaro_domain::conversation::Conversation;
use figaro_domain::delivery::DeliveryEnd;
use figaro_domain::turn::TurnEnd;
use figaro_policy::access::Admins;
use figaro_store::kv::KvStore;
use figaro_store::{ConversationStore, OutboxStore, StoreError};

/// The port of a chat that there is not.
#[derive(Debug)]
struct NoChat;

/// What turns have to do with where there is no chat. The model is told that it is called so.
pub(in crate::app) fn no_chat(bot: BotName) -> Outside {
    let none = Arc::new(NoChat);
    Outside { bot, admins: none.clone(), titles: none.clone(), consents: none.clone(), files: none }
}

#[async_trait]
impl Titles for NoChat {
    async fn set(&self, _topic: Conversation, _title: &str) -> bool {
        false
    }
}

#[async_trait]
impl Consents for NoChat {
    async fn ask(&self, _user: &UserId) -> bool {
        false
    }
}

#[async_trait]
impl Files for NoChat {
    async fn fetch(&self, _file_id: &str, _most: usize) -> Result<Vec<u8>, FileError> {
        Err(FileError::Gone("no files are sent here".to_owned()))
    }
}

#[async_trait]
impl Admins for NoChat {
    async fn is_admin(&self, _chat: ChatId, _user: &UserId) -> bool {
        false
    }

    async fn is_member(&self, _chat: ChatId, _user: &UserId) -> bool {
        false
    }

    async fn has_right(&self, _chat: ChatId, _user: &UserId, _right: &str) -> bool {
        false
    }
}

/// Ends what was left in places outside of Telegram by a process that has ended: turns that were cut off, and words for whoever
/// waited for them.
///
/// # Errors
/// When the store fails.
pub(in crate::app) async fn settle(
    store: &KvStore,
    is_there: impl Fn(&Place) -> bool,
    clock: &Clock,
) -> Result<(), StoreError> {
    let place = |conversation: Conversation| Place {
        chat: conversation.chat,
        kind: ChatKind::Private,
        title: None,
        topic: conversation.topic,
    };
    for run in store.active_runs().await?.iter().filter(|run| is_there(&place(run.conversation))) {
        store.end_turn(run, TurnEnd::default()).await?;
    }
    for delivery in store.deliveries().await?.iter().filter(|delivery| is_there(&delivery.place)) {
        store.end_delivery(delivery.id, DeliveryEnd::Whole, clock.now()).await?;
    }
    Ok(())
}
