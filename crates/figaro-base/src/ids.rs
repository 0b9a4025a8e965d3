//! Identifiers as types of their own, so that a chat is never mistaken for a user. Used everywhere.

use std::fmt;
use std::str::FromStr;

use chrono::{DateTime, Utc};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use ulid::{Generator, Ulid};

/// One for all kinds: ids of one millisecond count on, where ids of chance alone would sort in any order.
static ULIDS: Mutex<Generator> = Mutex::new(Generator::new());

fn next_ulid() -> Ulid {
    // Only 2^80 ids within a millisecond could fail.
    ULIDS.lock().generate().unwrap_or_else(|_| Ulid::new())
}

/// Defines a newtype around a number as Telegram hands them out.
macro_rules! telegram_id {
    ($(#[$doc:meta] $name:ident),+ $(,)?) => {$(
        #[$doc]
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

/// Defines a newtype around a ULID: unique, and in order of time when sorted.
macro_rules! ulid_id {
    ($(#[$doc:meta] $name:ident),+ $(,)?) => {$(
        #[$doc]
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(Ulid);

        impl $name {
            /// An id nobody has had before, which sorts after all that this process has made.
            #[must_use]
            pub fn new() -> Self {
                Self(next_ulid())
            }

            /// When it was made, by the clock of that machine, UTC.
            #[must_use]
            pub fn created_at(self) -> DateTime<Utc> {
                self.0.datetime().into()
            }

            /// The id with these bytes, as [`to_bytes`](Self::to_bytes) gives them.
            #[must_use]
            pub const fn from_bytes(bytes: [u8; 16]) -> Self {
                Self(Ulid::from_bytes(bytes))
            }

            /// Its bytes: six of the time in milliseconds since 1970, ten of chance.
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
    /// A chat: negative for a group, the user's id for a private chat; a number beyond Telegram's for one outside it.
    ChatId,
    /// A part of a chat: in Telegram a forum topic, its `message_thread_id`; outside Telegram a session of a person.
    TopicId,
    /// A message within its chat.
    MessageId,
    /// Telegram's `update_id`: a key to recognise an update by, never a position in a stream.
    UpdateId,
}

ulid_id! {
    /// A session: one thread of conversation in a chat or topic.
    SessionId,
    /// A stored message, whoever wrote it.
    EntryId,
    /// One turn's work: from a question to its answer. Logged as the turn id.
    RunId,
    /// A reply that waits for its delivery to Telegram.
    DeliveryId,
    /// A note.
    NoteId,
    /// A persona that somebody wrote for a chat.
    PersonaId,
    /// A scheduled prompt.
    TaskId,
    /// Tokens and money set aside for a model call under way.
    ReservationId,
    /// A remembered fact.
    MemoryId,
    /// Something pinned for a chat.
    PinId,
    /// A record of a chat, in the form that a context pack gives it.
    RecordId,
    /// A summary of a run of messages.
    SummaryId,
    /// A question that came over HTTP, and the turn that answers it.
    RequestId,
}

/// Who someone is: `tg:ID` for a Telegram user; other doors bring names of their own.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct UserId(String);

impl UserId {
    /// The user Telegram knows by this number.
    #[must_use]
    pub fn telegram(id: i64) -> Self {
        Self(format!("tg:{id}"))
    }

    /// A user that a caller of the HTTP gateway names within a tenant. A tenant has no `:` in its name, so two tenants never
    /// mean the same user.
    #[must_use]
    pub fn external(tenant: &str, user: &str) -> Self {
        Self(format!("http:{tenant}:{user}"))
    }

    /// Telegram's number for the user, if it came from there.
    #[must_use]
    pub fn telegram_id(&self) -> Option<i64> {
        self.0.strip_prefix("tg:")?.parse().ok()
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
    /// The chat of all conversations outside Telegram that have no name, so that nobody comes back to them. No store allocates its id.
    pub const UNNAMED: Self = Self(Self::FIRST_EXTERNAL + (1 << 51));

    /// The conversation outside Telegram that a store gave this number. It fits into a JSON number.
    #[must_use]
    pub const fn external(number: u32) -> Self {
        Self(Self::FIRST_EXTERNAL + number as i64)
    }

    /// `true` for a conversation outside Telegram: Telegram does not know it, and nothing can be sent there.
    #[must_use]
    pub const fn is_external(self) -> bool {
        self.0 >= Self::FIRST_EXTERNAL
    }

    /// Groups, supergroups and channels are negative.
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
