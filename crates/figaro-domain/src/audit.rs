//! Audit log: a chain of decisions, changes, undos and sign-ins. Each entry holds the hash of the one before. The store keeps it
//! (`store::records::audit`). An entry holds ids and names of methods and rules, never anybody's words.

use chrono::{DateTime, Utc};
use ring::digest::{SHA256, digest};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::access::{AccessChange, AllowedBot};
use super::code::hex;
use figaro_base::ids::{ChatId, RunId, UserId};

/// Kind of an entry: a decision, a change, an undo or a sign-in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AuditKind {
    /// A policy allowed a call.
    CallAllowed,
    /// A policy demands an approval for a call.
    CallAsked,
    /// A policy refused a call.
    CallDenied,
    /// A person approved a call, once or for an hour.
    ApprovalGiven,
    /// A person refused to approve a call.
    ApprovalDenied,
    /// An approval expired without an answer.
    ApprovalExpired,
    /// An approval for an hour was revoked.
    ApprovalEnded,
    /// A call was made on its approval.
    ApprovalUsed,
    /// A person, a group or a bot was allowed.
    AccessAllowed,
    /// A person, a group or a bot was denied.
    AccessDenied,
    /// A role or a ban of a person was removed.
    AccessLifted,
    /// A pairing code was made.
    CodeMade,
    /// A person was given a role.
    RoleGiven,
    /// A person became the owner by an invite.
    OwnerMade,
    /// A setting of a chat was changed.
    SettingChanged,
    /// A person undid a call of a turn.
    Undone,
    /// A person signed in to the dashboard.
    SignedIn,
    /// A person signed out of the dashboard everywhere.
    SignedOut,
}

impl AuditKind {
    /// Returns `true` if the entry is about a call, `false` if it is about people, groups or settings.
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
            | Self::SettingChanged
            | Self::SignedIn
            | Self::SignedOut => false,
        }
    }

    /// Returns `true` if something was refused, expired or revoked.
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
            | Self::Undone
            | Self::SignedIn
            | Self::SignedOut => false,
        }
    }
}

/// Actor of an entry: a person, the bot or the model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AuditActor {
    /// A person, by the account that acted.
    Person(UserId),
    /// The bot itself, without a request of a person.
    Bot,
    /// The model, by a tool call.
    Model,
}

/// Name of a method, a command, a rule, a call or an approval. It holds ASCII letters, digits and `_ . : - /` only, at most
/// `AuditName::MAX_BYTES` bytes, so that no sentence fits into it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct AuditName(String);

impl AuditName {
    /// Maximum length of a name, in bytes.
    pub(crate) const MAX_BYTES: usize = 80;

    /// Checks a name. Returns `None` if it is empty, too long or has other characters.
    #[must_use]
    pub fn new(name: &str) -> Option<Self> {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_.:-/".contains(&byte);
        let fits = (1..=Self::MAX_BYTES).contains(&name.len()) && name.bytes().all(is_plain);
        fits.then(|| Self(name.to_owned()))
    }

    /// Returns the name as text.
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

/// An event before it has its place in the log. A field that is added later must be skipped when empty, because the hashes
/// of older entries cover the serialized form.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditEvent {
    /// Time of the event, UTC.
    pub at: DateTime<Utc>,
    /// Kind of the event.
    pub what: AuditKind,
    /// Person, bot or model that acted.
    pub actor: AuditActor,
    /// Chat in which the actor acted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chat: Option<ChatId>,
    /// Person that the event is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_user: Option<UserId>,
    /// Chat that the event is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_chat: Option<ChatId>,
    /// Turn of the event; `None` outside a turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
    /// The provider's id of the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<AuditName>,
    /// Name of the method or command; `None` if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<AuditName>,
    /// Name of the rule that decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<AuditName>,
    /// Approval that the event refers to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<AuditName>,
}

impl AuditEvent {
    /// Creates an event with only its kind, actor and time.
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
    /// Returns the event of an access change; `None` for a change that neither lets anybody in nor keeps anybody out.
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

/// An event to be logged, with the arguments of its call. The store keeps only a keyed hash of the arguments.
#[derive(Debug, Clone, PartialEq)]
pub struct Audited {
    /// Event without its place in the log.
    pub event: AuditEvent,
    /// Arguments of the call; `None` if the event is about no call.
    pub arguments: Option<Value>,
}

/// Entry of the log, with its place and hashes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AuditEntry {
    /// Position in the log, from 0.
    pub seq: u64,
    /// Event without its place in the log.
    pub event: AuditEvent,
    /// Keyed hash of the arguments, in hexadecimal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<String>,
    /// Hash of the previous entry, in hexadecimal; zeros for the first.
    pub(crate) previous: String,
    /// Hash of this entry, in hexadecimal.
    pub(crate) hash: String,
}

/// End of the log: the position and hash needed for the next entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditHead {
    /// Position of the next entry, which is also the number of entries.
    pub next: u64,
    /// Hash of the last entry, in hexadecimal.
    pub(crate) hash: String,
}

impl Default for AuditHead {
    fn default() -> Self {
        Self { next: 0, hash: "0".repeat(64) }
    }
}

impl AuditHead {
    /// Returns the next entry of the log and the new end of the log. `arguments` is the keyed hash of the arguments.
    ///
    /// # Errors
    /// If the event cannot be serialized to JSON.
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

    /// Advances over a stored entry. Returns `false` and changes nothing if the bytes are not the expected next entry.
    ///
    /// # Errors
    /// If the entry cannot be serialized to JSON.
    pub fn follow(&mut self, entry: &AuditEntry, stored: &[u8]) -> serde_json::Result<bool> {
        let is_next = entry.seq == self.next && entry.previous == self.hash;
        // Several texts parse to the same entry; only the exact serialized form is valid.
        let is_whole = entry.hash == entry.computed()? && serde_json::to_vec(entry)? == stored;
        if is_next && is_whole {
            *self = Self { next: entry.seq.saturating_add(1), hash: entry.hash.clone() };
        }
        Ok(is_next && is_whole)
    }
}

impl AuditEntry {
    /// Returns the entry as a line of the exported file.
    ///
    /// # Errors
    /// If it cannot be serialized to JSON.
    pub fn as_json(&self) -> serde_json::Result<String> {
        serde_json::to_string(self)
    }

    /// Computes the hash of the entry without its own hash field. It covers the hash of the previous entry.
    fn computed(&self) -> serde_json::Result<String> {
        let bytes = serde_json::to_vec(&(self.seq, &self.event, &self.arguments, &self.previous))?;
        Ok(hex(digest(&SHA256, &bytes).as_ref()))
    }
}

/// Result of checking the hash chain of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuditVerdict {
    /// Number of entries in the log.
    pub entries: u64,
    /// Position of the first entry that is changed or missing; `None` if the log is intact.
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
