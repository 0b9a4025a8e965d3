//! Who may use the bot: owners, allowed people and chats, and the invites that make the first owner.

use chrono::{DateTime, TimeDelta, Utc};
use ring::digest::{SHA256, digest};
use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq;

use crate::ids::{ChatId, UserId};

/// Everything the store knows about access.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "StoredAccess")]
pub struct AccessList {
    /// Owners that opened an invite; those of the settings are not repeated here.
    pub owners: Vec<UserId>,
    /// People who may use the bot, beside the owners.
    pub users: Vec<UserId>,
    /// Groups whose members may use it.
    pub chats: Vec<ChatId>,
    /// People who may not use it, wherever they write and whoever else may.
    pub denied: Vec<UserId>,
    /// Groups that only owners may use, also where the bot is open to everybody.
    pub denied_chats: Vec<ChatId>,
    /// Open invites, the oldest first, while nobody owns the bot.
    pub invites: Vec<OwnerInvite>,
}

/// The list as it is stored, also by versions that kept one invite with its code in clear.
#[derive(Default, Deserialize)]
#[serde(default)]
struct StoredAccess {
    owners: Vec<UserId>,
    users: Vec<UserId>,
    chats: Vec<ChatId>,
    denied: Vec<UserId>,
    denied_chats: Vec<ChatId>,
    invites: Vec<OwnerInvite>,
    claim: Option<ClearInvite>,
}

#[derive(Deserialize)]
struct ClearInvite {
    code: String,
    expires_at: DateTime<Utc>,
}

impl From<StoredAccess> for AccessList {
    fn from(stored: StoredAccess) -> Self {
        let StoredAccess { owners, users, chats, denied, denied_chats, mut invites, claim } = stored;
        let hashed = |clear: ClearInvite| OwnerInvite {
            code: CodeHash::of(&clear.code),
            expires_at: clear.expires_at,
        };
        invites.extend(claim.map(hashed));
        Self { owners, users, chats, denied, denied_chats, invites }
    }
}

/// A one-time code that makes whoever sends it the owner.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnerInvite {
    /// The hash of the code in the link: whoever reads the store cannot use it.
    pub code: CodeHash,
    /// It is void from then on.
    pub expires_at: DateTime<Utc>,
}

/// The SHA-256 of an invite's code, in hexadecimal. A code is random and long, so that its hash needs no salt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CodeHash(String);

/// Whether what follows `/start` has the form of an invite's code, and is no other link's.
#[must_use]
pub fn looks_like_invite(code: &str) -> bool {
    code.len() == INVITE_BYTES * 2 && code.bytes().all(|byte| byte.is_ascii_hexdigit())
}

impl CodeHash {
    /// Hashes the code of an invite; only hashes are stored.
    #[must_use]
    pub fn of(code: &str) -> Self {
        Self(digest(&SHA256, code.as_bytes()).as_ref().iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// Compares in a time that does not tell how much is equal.
    fn is(&self, other: &Self) -> bool {
        self.0.as_bytes().ct_eq(other.0.as_bytes()).into()
    }
}

/// How long an invite is good for, in minutes.
pub const INVITE_MINUTES: i64 = 15;
/// The random bytes of an invite's code, which is shown in hexadecimal digits.
pub const INVITE_BYTES: usize = 16;
/// The most invites that are open at a time; the oldest gives way.
const MAX_INVITES: usize = 3;

/// One change of the [`AccessList`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AccessChange {
    /// A person may use the bot; lifts their denial.
    AllowUser(UserId),
    /// A person may not use it any more, in groups neither. Owners are to be left out by whoever asks for this.
    DenyUser(UserId),
    /// A group's members may use it; lifts the group's denial, not that of a person.
    AllowChat(ChatId),
    /// They may no longer.
    DenyChat(ChatId),
    /// A new invite stands beside those that are open, unless the bot has an owner.
    Invite {
        /// The invite to be stored.
        invite: OwnerInvite,
        /// When: what has expired by then goes.
        at: DateTime<Utc>,
    },
    /// No open invite is good any more.
    VoidInvites,
    /// Someone presents an invite's code at this time.
    Redeem {
        /// The hash of the code that was presented.
        code: CodeHash,
        /// The person who presents it and becomes the owner if it is good.
        user: UserId,
        /// The time of the change, UTC: expired invites are not good.
        at: DateTime<Utc>,
    },
    /// A group became a supergroup with a new id.
    Migrate {
        /// The chat's id before it became a supergroup.
        from: ChatId,
        /// The chat's id from now on.
        to: ChatId,
    },
}

impl AccessList {
    /// Applies a change; `false` if it changed nothing, which for [`AccessChange::Redeem`] means the code is not good.
    pub fn apply(&mut self, change: AccessChange) -> bool {
        match change {
            AccessChange::AllowUser(user) => {
                remove(&mut self.denied, &user);
                insert(&mut self.users, user)
            }
            AccessChange::DenyUser(user) => {
                remove(&mut self.users, &user);
                insert(&mut self.denied, user)
            }
            AccessChange::AllowChat(chat) => {
                remove(&mut self.denied_chats, &chat);
                insert(&mut self.chats, chat)
            }
            AccessChange::DenyChat(chat) => {
                remove(&mut self.chats, &chat);
                insert(&mut self.denied_chats, chat)
            }
            AccessChange::Invite { invite, at } => self.invite(invite, at),
            AccessChange::VoidInvites => !std::mem::take(&mut self.invites).is_empty(),
            AccessChange::Redeem { code, user, at } => self.redeem(&code, user, at),
            AccessChange::Migrate { from, to } => {
                let moved = |list: &mut Vec<ChatId>| remove(list, &from) && insert(list, to);
                moved(&mut self.chats) | moved(&mut self.denied_chats)
            }
        }
    }

    fn invite(&mut self, invite: OwnerInvite, at: DateTime<Utc>) -> bool {
        if !self.owners.is_empty() {
            return false;
        }
        self.invites.retain(|open| at < open.expires_at);
        self.invites.push(invite);
        let excess = self.invites.len().saturating_sub(MAX_INVITES);
        self.invites.drain(..excess);
        true
    }

    fn redeem(&mut self, code: &CodeHash, user: UserId, at: DateTime<Utc>) -> bool {
        let good = self.invites.iter().any(|invite| invite.code.is(code) && at < invite.expires_at);
        if good {
            self.invites.clear();
            self.owners.push(user);
        }
        good
    }
}

impl OwnerInvite {
    /// An invite with this code that is good from now on.
    #[must_use]
    pub fn new(code: &str, now: DateTime<Utc>) -> Self {
        Self { code: CodeHash::of(code), expires_at: now + TimeDelta::minutes(INVITE_MINUTES) }
    }
}

fn insert<T: PartialEq>(list: &mut Vec<T>, item: T) -> bool {
    let new = !list.contains(&item);
    if new {
        list.push(item);
    }
    new
}

fn remove<T: PartialEq>(list: &mut Vec<T>, item: &T) -> bool {
    let before = list.len();
    list.retain(|other| other != item);
    list.len() < before
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: DateTime<Utc> = DateTime::UNIX_EPOCH;

    fn invite(code: &str, minute: i64) -> AccessChange {
        let at = NOW + TimeDelta::minutes(minute);
        AccessChange::Invite { invite: OwnerInvite::new(code, at), at }
    }

    fn redeem(code: &str, user: i64, minute: i64) -> AccessChange {
        let at = NOW + TimeDelta::minutes(minute);
        AccessChange::Redeem { code: CodeHash::of(code), user: UserId::telegram(user), at }
    }

    #[test]
    fn an_invite_is_good_once_and_in_time() {
        let mut list = AccessList::default();
        assert!(list.apply(invite("c0de", 0)));
        assert!(!list.apply(redeem("other", 1, 0)));
        assert!(!list.apply(redeem("c0de", 1, INVITE_MINUTES)));
        assert!(list.apply(redeem("c0de", 1, 0)));
        assert!(!list.apply(redeem("c0de", 2, 0)));
        assert!(!list.apply(invite("more", 0)));
        assert_eq!(list, AccessList { owners: vec![UserId::telegram(1)], ..AccessList::default() });
    }

    #[test]
    fn a_few_invites_are_good_beside_each_other() {
        let mut list = AccessList::default();
        for (code, minute) in [("a", 0), ("b", 1), ("c", 2), ("d", 3)] {
            assert!(list.apply(invite(code, minute)));
        }
        assert_eq!(list.invites.len(), 3);
        assert!(!list.clone().apply(redeem("a", 1, 4)), "the oldest gave way");
        assert!(list.clone().apply(redeem("b", 1, 4)));
        assert!(list.clone().apply(redeem("d", 1, 4)));
        assert!(list.apply(invite("e", 17)));
        assert_eq!(list.invites.len(), 2, "what has expired goes");
        assert!(list.apply(AccessChange::VoidInvites) && !list.apply(AccessChange::VoidInvites));
        assert!(!list.apply(redeem("e", 1, 17)));
    }

    #[test]
    fn a_code_that_was_stored_in_clear_is_read_and_never_written_again() {
        let stored = r#"{"owners":[],"users":["tg:4"],"chats":[],"told":[],
            "claim":{"code":"0011223344","expires_at":"1970-01-01T00:15:00Z"}}"#;
        let mut list: AccessList = serde_json::from_str(stored).unwrap();
        assert_eq!(list.users, [UserId::telegram(4)]);
        let written = serde_json::to_string(&list).unwrap();
        assert!(!written.contains("0011223344"), "{written}");
        assert_eq!(serde_json::from_str::<AccessList>(&written).unwrap(), list);
        assert!(list.apply(redeem("0011223344", 1, 0)), "the link that was shown is still good");
    }

    #[test]
    fn the_hash_is_the_common_one() {
        let wanted = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(CodeHash::of("abc").0, wanted);
    }
}
