//! The audit log: what was decided, changed and undone, as a chain of entries each of which holds the hash of the one before. The
//! store keeps it (`store::records::audit`). An entry has ids and names of methods and rules, never words of anybody.

use chrono::{DateTime, Utc};
use ring::digest::{SHA256, digest};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::access::{AccessChange, AllowedBot};
use super::code::hex;
use figaro_base::ids::{ChatId, RunId, UserId};

/// What an entry tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AuditKind {
    /// Policy let a call go.
    CallAllowed,
    /// Policy wants an approval for a call.
    CallAsked,
    /// Policy refused a call.
    CallDenied,
    /// An approval was given.
    ApprovalGiven,
    /// An approval was refused.
    ApprovalDenied,
    /// Nobody answered in time.
    ApprovalExpired,
    /// What was approved for a while was taken back.
    ApprovalEnded,
    /// A call went on its approval.
    ApprovalUsed,
    /// A person or a group may use the bot.
    AccessAllowed,
    /// A person or a group may no longer use the bot.
    AccessDenied,
    /// A role or a ban of a person was taken back.
    AccessLifted,
    /// A code was made that lets a person in.
    CodeMade,
    /// A person was given a role.
    RoleGiven,
    /// An invite made a person the owner.
    OwnerMade,
    /// A setting was changed.
    SettingChanged,
    /// Something was undone.
    Undone,
}

impl AuditKind {
    /// It is about a call, and not about people, groups or settings.
    #[must_use]
    pub const fn is_of_call(self) -> bool {
        match self {
            Self::CallAllowed
            | Self::CallAsked
            | Self::CallDenied
            | Self::ApprovalGiven
            | Self::ApprovalDenied
            | Self::ApprovalExpired
            | Self::ApprovalEnded
            | Self::ApprovalUsed
            | Self::Undone => true,
            Self::AccessAllowed
            | Self::AccessDenied
            | Self::AccessLifted
            | Self::CodeMade
            | Self::RoleGiven
            | Self::OwnerMade
            | Self::SettingChanged => false,
        }
    }

    /// Whether something was not let through.
    #[must_use]
    pub const fn is_refusal(self) -> bool {
        match self {
            Self::CallDenied
            | Self::ApprovalDenied
            | Self::ApprovalExpired
            | Self::ApprovalEnded
            | Self::AccessDenied => true,
            Self::CallAllowed
            | Self::CallAsked
            | Self::ApprovalGiven
            | Self::ApprovalUsed
            | Self::AccessAllowed
            | Self::AccessLifted
            | Self::OwnerMade
            | Self::CodeMade
            | Self::RoleGiven
            | Self::SettingChanged
            | Self::Undone => false,
        }
    }
}

/// Whose deed an entry tells of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AuditActor {
    /// A person.
    Person(UserId),
    /// The bot itself.
    Bot,
    /// The model.
    Model,
}

/// The name of a method, a command, a rule, a call or an approval. It has letters, digits and `_ . : - /` of ASCII only, at most
/// `AuditName::MAX_BYTES`, so that no sentence can be one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct AuditName(String);

impl AuditName {
    /// The most bytes of a name.
    pub(crate) const MAX_BYTES: usize = 80;

    /// The name; `None` if it is empty, too long or has other characters.
    #[must_use]
    pub fn new(name: &str) -> Option<Self> {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_.:-/".contains(&byte);
        let fits = (1..=Self::MAX_BYTES).contains(&name.len()) && name.bytes().all(is_plain);
        fits.then(|| Self(name.to_owned()))
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for AuditName {
    type Error = &'static str;

    fn try_from(name: String) -> Result<Self, Self::Error> {
        Self::new(&name).ok_or("is no name for the audit log")
    }
}

impl From<AuditName> for String {
    fn from(name: AuditName) -> Self {
        name.0
    }
}

/// What happened, before it has its place in the log. A field that is added later has to be left out where it is empty: the hashes
/// of older entries are made of what is written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditEvent {
    /// When, UTC.
    pub at: DateTime<Utc>,
    /// The kind of deed.
    pub what: AuditKind,
    /// The person, the bot or the model whose deed it was.
    pub actor: AuditActor,
    /// The chat in which it was done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chat: Option<ChatId>,
    /// The person it was done to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_user: Option<UserId>,
    /// The chat it was done to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_chat: Option<ChatId>,
    /// The turn it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
    /// The provider's id of the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<AuditName>,
    /// The method or command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<AuditName>,
    /// The rule that decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<AuditName>,
    /// The approval it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<AuditName>,
}

impl AuditEvent {
    /// An event with nothing but what, who and when.
    #[must_use]
    pub const fn new(what: AuditKind, actor: AuditActor, at: DateTime<Utc>) -> Self {
        Self {
            at,
            what,
            actor,
            chat: None,
            target_user: None,
            target_chat: None,
            run: None,
            call: None,
            method: None,
            rule: None,
            approval: None,
        }
    }
}

impl AuditEvent {
    /// A change of who may use the bot; `None` for one that lets nobody in and keeps nobody out.
    #[must_use]
    pub fn of_access(change: &AccessChange, by: AuditActor, at: DateTime<Utc>) -> Option<Self> {
        let event = |what| Self::new(what, by.clone(), at);
        let of_user = |what, user: &UserId| Some(Self { target_user: Some(user.clone()), ..event(what) });
        let of_chat = |what, chat: &ChatId| Some(Self { target_chat: Some(*chat), ..event(what) });
        match change {
            AccessChange::AllowUser(user) => of_user(AuditKind::AccessAllowed, user),
            AccessChange::DenyUser(user) => of_user(AuditKind::AccessDenied, user),
            AccessChange::AllowChat(chat) => of_chat(AuditKind::AccessAllowed, chat),
            AccessChange::DenyChat(chat) => of_chat(AuditKind::AccessDenied, chat),
            AccessChange::Redeem { user, .. } => of_user(AuditKind::OwnerMade, user),
            AccessChange::GiveRole(given) => Some(Self {
                target_user: Some(given.user.clone()),
                target_chat: given.chat,
                method: AuditName::new(given.role.word()),
                ..event(AuditKind::RoleGiven)
            }),
            AccessChange::Ban { ban, .. } => Some(Self {
                target_user: Some(ban.user.clone()),
                target_chat: ban.chat,
                ..event(AuditKind::AccessDenied)
            }),
            AccessChange::Lift { user, chat } => Some(Self {
                target_user: Some(user.clone()),
                target_chat: *chat,
                ..event(AuditKind::AccessLifted)
            }),
            AccessChange::AllowBot(bot) => Some(Self::of_bot(bot, event(AuditKind::AccessAllowed))),
            AccessChange::DenyBot(bot) => Some(Self::of_bot(bot, event(AuditKind::AccessDenied))),
            AccessChange::Code { .. } => {
                Some(Self { method: AuditName::new("code"), ..event(AuditKind::CodeMade) })
            }
            AccessChange::Pair { user, .. } => Some(Self {
                target_user: Some(user.clone()),
                method: AuditName::new("code"),
                ..event(AuditKind::AccessAllowed)
            }),
            AccessChange::Invite { .. } | AccessChange::VoidInvites | AccessChange::Migrate { .. } => None,
        }
    }
}

impl AuditEvent {
    fn of_bot(bot: &AllowedBot, event: Self) -> Self {
        Self {
            target_chat: Some(bot.chat),
            method: AuditName::new(&format!("bot:{}", bot.username)),
            ..event
        }
    }
}

impl From<AuditEvent> for Audited {
    fn from(event: AuditEvent) -> Self {
        Self { event, arguments: None }
    }
}

/// An event on its way into the log, with the arguments of its call: the store keeps a keyed hash of them alone.
#[derive(Debug, Clone, PartialEq)]
pub struct Audited {
    /// What the log is told, without its place in the log.
    pub event: AuditEvent,
    /// The arguments.
    pub arguments: Option<Value>,
}

/// An entry of the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AuditEntry {
    /// Its place in the log, from 0.
    pub seq: u64,
    /// What the log is told, without its place in the log.
    pub event: AuditEvent,
    /// The keyed hash of the arguments, in hexadecimal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<String>,
    /// The hash of the entry before, in hexadecimal; zeros for the first.
    pub(crate) previous: String,
    /// The hash of this entry, in hexadecimal.
    pub(crate) hash: String,
}

/// Where the log ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditHead {
    /// The place of the next entry.
    pub next: u64,
    /// The hash of the last one.
    pub(crate) hash: String,
}

impl Default for AuditHead {
    fn default() -> Self {
        Self { next: 0, hash: "0".repeat(64) }
    }
}

impl AuditHead {
    /// The next entry of the log, and where the log ends with it. `arguments` is the keyed hash of the arguments.
    ///
    /// # Errors
    /// If the event has no JSON.
    pub fn extend(
        &self,
        event: AuditEvent,
        arguments: Option<String>,
    ) -> serde_json::Result<(AuditEntry, Self)> {
        let (seq, previous) = (self.next, self.hash.clone());
        let mut entry = AuditEntry { seq, event, arguments, previous, hash: String::new() };
        entry.hash = entry.computed()?;
        let head = Self { next: seq.saturating_add(1), hash: entry.hash.clone() };
        Ok((entry, head))
    }

    /// Goes on over a stored entry; `false`, and nothing changes, if it is not what belongs here byte by byte.
    ///
    /// # Errors
    /// If the entry has no JSON.
    pub fn follow(&mut self, entry: &AuditEntry, stored: &[u8]) -> serde_json::Result<bool> {
        let is_next = entry.seq == self.next && entry.previous == self.hash;
        // Several texts can be read as the same entry: only the one that is written counts.
        let is_whole = entry.hash == entry.computed()? && serde_json::to_vec(entry)? == stored;
        if is_next && is_whole {
            *self = Self { next: entry.seq.saturating_add(1), hash: entry.hash.clone() };
        }
        Ok(is_next && is_whole)
    }
}

impl AuditEntry {
    /// The entry as a line of the file that people keep elsewhere.
    ///
    /// # Errors
    /// If it has no JSON.
    pub fn as_json(&self) -> serde_json::Result<String> {
        serde_json::to_string(self)
    }

    /// The hash of its bytes without the hash itself. They hold the hash of the entry before.
    fn computed(&self) -> serde_json::Result<String> {
        let bytes = serde_json::to_vec(&(self.seq, &self.event, &self.arguments, &self.previous))?;
        Ok(hex(digest(&SHA256, &bytes).as_ref()))
    }
}

/// Whether the log is whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuditVerdict {
    /// How many entries it has.
    pub entries: u64,
    /// The place of the first entry that is not as it was written, or is missing.
    pub broken: Option<u64>,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A log of so many entries, as it is stored.
    fn log(entries: usize) -> (Vec<Vec<u8>>, AuditHead) {
        let mut head = AuditHead::default();
        let stored = (0..entries).map(|index| {
            let actor =
                if index % 2 == 0 { AuditActor::Model } else { AuditActor::Person(UserId::telegram(7)) };
            let event = AuditEvent {
                chat: Some(ChatId(-100)),
                method: AuditName::new("sendMessage"),
                ..AuditEvent::new(AuditKind::CallDenied, actor, DateTime::UNIX_EPOCH)
            };
            let (entry, next) = head.extend(event, Some("ab".repeat(32))).unwrap();
            head = next;
            serde_json::to_vec(&entry).unwrap()
        });
        (stored.collect(), head)
    }

    fn is_whole(stored: &[Vec<u8>], head: &AuditHead) -> bool {
        let mut at = AuditHead::default();
        let all = stored
            .iter()
            .all(|bytes| serde_json::from_slice(bytes).is_ok_and(|entry| at.follow(&entry, bytes).unwrap()));
        all && at == *head
    }

    proptest! {
        #[test]
        fn a_changed_byte_a_missing_entry_and_another_order_are_found(
            entries in 2_usize..6, at: prop::sample::Index, byte: prop::sample::Index, change in 1_u8..,
        ) {
            let (stored, head) = log(entries);
            prop_assert!(is_whole(&stored, &head));
            let at = at.index(entries);
            let mut changed = stored.clone();
            let byte = byte.index(changed[at].len());
            changed[at][byte] ^= change;
            prop_assert!(!is_whole(&changed, &head));
            let mut missing = stored.clone();
            missing.remove(at);
            prop_assert!(!is_whole(&missing, &head));
            let mut moved = stored;
            moved.swap(at, (at + 1) % entries);
            prop_assert!(!is_whole(&moved, &head));
        }
    }

    #[test]
    fn no_sentence_is_a_name() {
        for name in ["", "two words", "ação", "a\n", &"a".repeat(AuditName::MAX_BYTES + 1)] {
            assert_eq!(AuditName::new(name), None, "{name}");
        }
        assert_eq!(AuditName::new("call_1.a:b-C").unwrap().as_str(), "call_1.a:b-C");
        assert!(serde_json::from_str::<AuditName>("\"two words\"").is_err());
    }
}
