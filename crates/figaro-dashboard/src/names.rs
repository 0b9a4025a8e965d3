//! Names of chats and people, remembered for a while: Telegram is asked for few of them.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use futures::StreamExt;
use futures::stream;
use parking_lot::Mutex;
use tokio::sync::oneshot;
use tokio::time::timeout;

use figaro_agent::channel::Channel;
use figaro_base::ids::{ChatId, UserId};
use figaro_base::shutdown::TaskTracker;
use figaro_store::ProfileStore;

/// Time for which a name is remembered.
const KEPT: TimeDelta = TimeDelta::minutes(15);
/// Maximum number of names that are remembered.
const MAX_NAMES: usize = 10_000;
/// Number of chats that are asked for at the same time, and for one page.
const AT_ONCE: usize = 4;
const MAX_ASKED: usize = 40;
/// Maximum time that a page waits for names. Those that come later stand in the next page.
const WAIT: Duration = Duration::from_millis(400);

/// Remembers the names of chats and people, and asks Telegram for those that are new.
#[derive(Debug)]
pub(crate) struct ChatNames {
    channel: Arc<dyn Channel>,
    profiles: ProfileStore,
    background: TaskTracker,
    known: Arc<Mutex<HashMap<ChatId, KnownName>>>,
}

/// Name of a chat; `None` while it is asked for, and if it has none.
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

    /// Returns the name of a person; the id if none is known.
    pub(crate) fn of_user(&self, user: &UserId) -> String {
        user.telegram_id().map_or_else(|| user.to_string(), |id| self.of(ChatId(id)))
    }
}

impl ChatNames {
    pub(crate) fn new(channel: Arc<dyn Channel>, profiles: ProfileStore, background: TaskTracker) -> Self {
        Self { channel, profiles, background, known: Arc::default() }
    }

    /// Looks up the names of chats and people.
    pub(crate) async fn find(
        &self,
        chats: impl IntoIterator<Item = ChatId>,
        now: DateTime<Utc>,
    ) -> FoundNames {
        let wanted: HashSet<ChatId> = chats.into_iter().filter(|chat| !chat.is_external()).collect();
        let (mut found, mut unknown) = (FoundNames::default(), Vec::new());
        for chat in &wanted {
            match self.of_profile(*chat) {
                Some(name) => drop(found.0.insert(*chat, name)),
                None => unknown.push(*chat),
            }
        }
        let asked = self.ask(&unknown, now);
        if let Some(asked) = asked {
            let _in_time = timeout(WAIT, asked).await;
        }
        let known = self.known.lock();
        let names = unknown.into_iter().filter_map(|chat| Some((chat, known.get(&chat)?.name.clone()?)));
        found.0.extend(names);
        found
    }

    /// Returns the name of a person by what they have written.
    fn of_profile(&self, chat: ChatId) -> Option<String> {
        let user = (!chat.is_group()).then(|| UserId::telegram(chat.0))?;
        let profile = self.profiles.find(&user).ok().flatten()?;
        Some(profile.names.shown).filter(|name| !name.is_empty())
    }

    /// Asks for those that were not asked for of late, and returns what tells when all are known; `None` if nothing is asked.
    fn ask(&self, chats: &[ChatId], now: DateTime<Utc>) -> Option<oneshot::Receiver<()>> {
        let mut known = self.known.lock();
        if known.len() >= MAX_NAMES {
            known.clear();
        }
        let is_old = |chat: &&ChatId| known.get(chat).is_none_or(|known| now - known.since >= KEPT);
        let asked: Vec<ChatId> = chats.iter().filter(is_old).take(MAX_ASKED).copied().collect();
        for chat in &asked {
            let name = known.remove(chat).and_then(|known| known.name);
            known.insert(*chat, KnownName { name, since: now });
        }
        drop(known);
        if asked.is_empty() {
            return None;
        }
        let (done, told) = oneshot::channel();
        let (channel, known, stopping) = (self.channel.clone(), self.known.clone(), self.background.clone());
        let asking = async move {
            let each = stream::iter(asked).for_each_concurrent(AT_ONCE, async |chat| {
                let name = channel.name_of(chat).await;
                known.lock().insert(chat, KnownName { name, since: now });
            });
            tokio::select! {
                () = each => {}
                () = stopping.stopping() => {}
            }
            // The page may have been written meanwhile.
            let _waiting = done.send(());
        };
        self.background.spawn("names", asking);
        Some(told)
    }
}
