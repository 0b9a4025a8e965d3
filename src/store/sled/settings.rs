//! Settings of chats, and the list of who may use the bot.

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use super::changes::Changes;
use super::fault::Fault;
use super::tables::Tables;
use super::{SledStore, key, migration};
use crate::domain::access::{AccessChange, AccessList};
use crate::domain::chat::{ChatConfig, ConfigPatch};
use crate::ids::{ChatId, UserId};
use crate::store::{Result, SettingsStore};

/// The key of the one access list.
const LIST: &[u8] = b"list";

#[async_trait]
impl SettingsStore for SledStore {
    async fn chat_config(&self, chat: ChatId) -> Result<ChatConfig> {
        self.read("read the chat's settings", move |tables| {
            Ok(tables.chats.get(&key::chat(chat))?.unwrap_or_default())
        })
        .await
    }

    async fn change_chat_config(&self, chat: ChatId, change: ConfigPatch) -> Result<ChatConfig> {
        self.change_durably("store the chat's settings", move |tables, changes| {
            configure(tables, changes, chat, change)
        })
        .await
    }

    async fn migrate_chat(&self, from: ChatId, to: ChatId) -> Result<()> {
        self.change_durably("move a chat to its new id", move |tables, changes| {
            migration::migrate(tables, changes, from, to)
        })
        .await
    }

    async fn access(&self) -> Result<AccessList> {
        self.read("read the access list", |tables| Ok(tables.access.get(LIST)?.unwrap_or_default())).await
    }

    async fn change_access(&self, change: AccessChange) -> Result<bool> {
        self.change_durably("change the access list", |tables, changes| apply(tables, changes, change)).await
    }

    async fn greet_stranger(&self, user: &UserId, now: DateTime<Utc>) -> Result<bool> {
        let key = key::user(user);
        self.change("note that a stranger was told", move |tables, changes| {
            if tables.strangers.contains(&key)? {
                return Ok(false);
            }
            changes.put(&tables.strangers, key, &now)?;
            Ok(true)
        })
        .await
    }

    async fn forget_strangers(&self, before: DateTime<Utc>) -> Result<usize> {
        self.change("forget strangers", move |tables, changes| {
            let mut forgotten = 0;
            for item in tables.strangers.scan(&[]) {
                let (key, told) = item?;
                if told < before {
                    changes.remove(&tables.strangers, key);
                    forgotten += 1;
                }
            }
            Ok(forgotten)
        })
        .await
    }
}

fn configure(
    tables: &Tables,
    changes: &mut Changes,
    chat: ChatId,
    change: ConfigPatch,
) -> Result<ChatConfig, Fault> {
    let key = key::chat(chat);
    let mut config = match tables.chats.get(&key) {
        // A reset needs nothing of what was there.
        Err(Fault::Record(_)) if change == ConfigPatch::reset() => ChatConfig::default(),
        stored => stored?.unwrap_or_default(),
    };
    change.apply(&mut config);
    changes.put(&tables.chats, key, &config)?;
    Ok(config)
}

/// Changes the access list; part of a chat's migration.
pub(super) fn apply(tables: &Tables, changes: &mut Changes, change: AccessChange) -> Result<bool, Fault> {
    let before = tables.access.get(LIST)?.unwrap_or_default();
    let mut list = before.clone();
    let applied = list.apply(change);
    // Compared, not believed: a change may touch the list and still not have come to what was asked.
    if list != before {
        changes.put(&tables.access, LIST.to_vec(), &list)?;
    }
    Ok(applied)
}
