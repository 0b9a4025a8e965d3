//! Identifiers as types of their own, so that a chat is never mistaken for a user. Used everywhere.

use std::fmt;
use std::str::FromStr;

use chrono::{DateTime, Utc};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use ulid::{Generator, Ulid};

/// Shared by all kinds of ids: ids made within one millisecond increase, while purely random ones would sort in any
/// order.
static ULIDS: Mutex<Generator> = Mutex::new(Generator::new());

fn next_ulid() -> Ulid {
    // Only 2^80 ids within a millisecond could fail.
    ULIDS.lock().generate().unwrap_or_else(|_| Ulid::new())
}

/// Defines a newtype around a Telegram number.
macro_rules! telegram_id {
    ($($(#[$doc:meta])+ $name:ident),+ $(,)?) => {$(
        $(#[$doc])+
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub i64);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    )+};
}

/// Defines a newtype around a ULID: unique and sortable by time.
macro_rules! ulid_id {
    ($($(#[$doc:meta])+ $name:ident),+ $(,)?) => {$(
        $(#[$doc])+
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(Ulid);

        impl $name {
            /// Makes a unique id that sorts after all ids this process has made before.
            #[must_use]
            pub fn new() -> Self {
                Self(next_ulid())
            }

            /// Returns the creation time in UTC, by the clock of the machine that made the id.
            #[must_use]
            pub fn created_at(self) -> DateTime<Utc> {
                self.0.datetime().into()
            }

            /// Converts from the bytes of [`to_bytes`](Self::to_bytes).
            #[must_use]
            pub const fn from_bytes(bytes: [u8; 16]) -> Self {
                Self(Ulid::from_bytes(bytes))
            }

            /// Returns the bytes of the id: six of the time in milliseconds since 1970, then ten random ones.
            #[must_use]
            pub const fn to_bytes(self) -> [u8; 16] {
                self.0.to_bytes()
            }
        }

        impl Default for $name {
            fn default() -> Self {
                Self::new()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl FromStr for $name {
            type Err = ulid::DecodeError;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Ulid::from_string(text).map(Self)
            }
        }
    )+};
}

telegram_id! {
    /// The bot's own Telegram user id: the number before the colon of its token.
    BotId,
    /// Id of a chat: negative for a group, the user's id for a private chat, above Telegram's range for a chat outside
    /// Telegram.
    ChatId,
    /// Id of a part of a chat: a forum topic (`message_thread_id`) in Telegram, a person's session elsewhere.
    TopicId,
    /// Id of a message, unique within its chat.
    MessageId,
    /// Telegram's `update_id`. It identifies an update; it is not a position in a stream.
    UpdateId,
}

ulid_id! {
    /// Id of a session: one thread of conversation in a chat or topic.
    SessionId,
    /// Id of a stored message of any author.
    EntryId,
    /// Id of a turn, from question to answer. Logged as the turn id.
    RunId,
    /// Id of a reply in the outbox.
    DeliveryId,
    /// Id of a saved note.
    NoteId,
    /// Id of a document of a chat.
    DocumentId,
    /// Id of a custom persona of a chat.
    PersonaId,
    /// Id of a scheduled prompt.
    TaskId,
    /// Id of a reservation of tokens and money for a running model call.
    ReservationId,
    /// Id of a remembered fact.
    MemoryId,
    /// Id of an item pinned for a chat.
    PinId,
    /// Id of a record of a chat; a context pack defines its fields.
    RecordId,
    /// Id of a summary of consecutive messages.
    SummaryId,
    /// Id of a question received over HTTP, and of the turn that answers it.
    RequestId,
}

/// Id of a user: `tg:ID` for Telegram, `http:TENANT:USER` for the HTTP gateway.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct UserId(String);

impl UserId {
    /// Makes the id of the Telegram user with this number.
    #[must_use]
    pub fn telegram(id: i64) -> Self {
        Self(format!("tg:{id}"))
    }

    /// Makes the id of a user of the HTTP gateway within a tenant. Tenant names contain no `:`, so ids of two tenants never
    /// collide.
    #[must_use]
    pub fn external(tenant: &str, user: &str) -> Self {
        Self(format!("http:{tenant}:{user}"))
    }

    /// Returns Telegram's number of the user; `None` for other users.
    #[must_use]
    pub fn telegram_id(&self) -> Option<i64> {
        self.0.strip_prefix("tg:")?.parse().ok()
    }
}

/// Connection of the bot to the Telegram account of a person, as Telegram names it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ConnectionId(pub String);

impl fmt::Display for ConnectionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for UserId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl ChatId {
    /// Telegram's own chat ids have at most 52 bits.
    const FIRST_EXTERNAL: i64 = 1 << 52;
    /// Chat of all unnamed conversations outside Telegram, so that none of them can be resumed. No store allocates this
    /// id.
    pub const UNNAMED: Self = Self(Self::FIRST_EXTERNAL + (1 << 51));

    /// Returns the chat of a conversation outside Telegram, by the number its store gave it. The id fits into a JSON
    /// number.
    #[must_use]
    pub const fn external(number: u32) -> Self {
        Self(Self::FIRST_EXTERNAL + number as i64)
    }

    /// Returns `true` for a conversation outside Telegram. Nothing can be sent there through Telegram.
    #[must_use]
    pub const fn is_external(self) -> bool {
        self.0 >= Self::FIRST_EXTERNAL
    }

    /// Returns `true` for groups, supergroups and channels: their ids are negative.
    #[must_use]
    pub const fn is_group(self) -> bool {
        self.0 < 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conversations_outside_telegram_have_ids_apart_from_its_own_and_from_one_another() {
        let (named, last, unnamed) = (ChatId::external(1), ChatId::external(u32::MAX), ChatId::UNNAMED);
        assert!(named < last && last < unnamed);
        for chat in [named, last, unnamed] {
            assert!(chat.is_external() && !chat.is_group() && chat.0 < 1 << 53, "{chat}");
        }
        assert!(!ChatId((1 << 52) - 1).is_external() && !ChatId(-1).is_external());
    }

    #[test]
    fn ids_sort_in_the_order_they_were_made_within_a_millisecond_too() {
        let ids: Vec<EntryId> = std::iter::repeat_with(EntryId::new).take(1000).collect();
        assert!(ids.is_sorted_by(|earlier, later| earlier < later));
    }
}
