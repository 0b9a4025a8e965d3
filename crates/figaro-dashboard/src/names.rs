//! Names of chats and people, remembered for a while: Telegram is asked for few of them.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use futures::StreamExt;
use futures::stream;
use parking_lot::Mutex;
use tokio::time::timeout;

use figaro_agent::channel::Channel;
use figaro_base::ids::{ChatId, UserId};
use figaro_store::ProfileStore;

/// Time for which a name is remembered.
const KEPT: TimeDelta = TimeDelta::minutes(15);
/// Maximum number of names that are remembered.
const MAX_NAMES: usize = 10_000;
/// Number of chats that are asked for at the same time, and in one go.
const AT_ONCE: usize = 8;
const MAX_ASKED: usize = 40;
/// Maximum time that a page waits for names. Those that come later stand in the next page.
const WAIT: Duration = Duration::from_millis(400);

/// Names of chats.
#[derive(Debug)]
pub(crate) struct ChatNames {
    channel: Arc<dyn Channel>,
    profiles: ProfileStore,
    known: Arc<Mutex<HashMap<ChatId, KnownName>>>,
}

#[derive(Debug)]
struct KnownName {
    name: Option<String>,
    since: DateTime<Utc>,
}

/// Names that were looked up.
#[derive(Debug, Default)]
pub(crate) struct FoundNames(HashMap<ChatId, String>);

impl FoundNames {
    /// Returns the name of a chat or a person; the id if none is known.
    pub(crate) fn of(&self, chat: ChatId) -> String {
        self.0.get(&chat).cloned().unwrap_or_else(|| chat.to_string())
    }

    /// Returns the name of a person; `?` if they are not of Telegram.
    pub(crate) fn of_user(&self, user: &UserId) -> String {
        user.telegram_id().map_or_else(|| user.to_string(), |id| self.of(ChatId(id)))
    }
}

impl ChatNames {
    pub(crate) fn new(channel: Arc<dyn Channel>, profiles: ProfileStore) -> Self {
        Self { channel, profiles, known: Arc::default() }
    }

    /// Looks up the names of chats and people.
    pub(crate) async fn find(
        &self,
        chats: impl IntoIterator<Item = ChatId>,
        now: DateTime<Utc>,
    ) -> FoundNames {
        let chats: HashSet<ChatId> = chats.into_iter().collect();
        let (mut found, mut unknown) = (FoundNames::default(), Vec::new());
        for chat in chats {
            match self.stored(chat, now) {
                Some(name) => drop(name.map(|name| found.0.insert(chat, name))),
                None => unknown.push(chat),
            }
        }
        if unknown.is_empty() {
            return found;
        }
        unknown.truncate(MAX_ASKED);
        let asking = stream::iter(unknown).for_each_concurrent(AT_ONCE, async |chat| {
            let name = self.channel.name_of(chat).await;
            let mut known = self.known.lock();
            if known.len() >= MAX_NAMES {
                known.clear();
            }
            known.insert(chat, KnownName { name, since: now });
        });
        let _in_time = timeout(WAIT, asking).await;
        let known = self.known.lock();
        found.0.extend(known.iter().filter_map(|(chat, known)| Some((*chat, known.name.clone()?))));
        found
    }

    /// Returns the name of a chat if it need not be asked for; `Some(None)` if it has none.
    fn stored(&self, chat: ChatId, now: DateTime<Utc>) -> Option<Option<String>> {
        if chat.is_external() {
            return Some(None);
        }
        let known = self.known.lock();
        if let Some(known) = known.get(&chat).filter(|known| now - known.since < KEPT) {
            return Some(known.name.clone());
        }
        drop(known);
        // People are known by what they have written.
        let profile = self.profiles.find(&UserId::telegram(chat.0)).ok().flatten()?;
        (!chat.is_group() && !profile.names.shown.is_empty()).then_some(Some(profile.names.shown))
    }
}
