//! Who may use the bot: owners, allowed people and chats, and the claim that makes the first owner.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::ids::{ChatId, UserId};

/// Everything the store knows about access.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct AccessList {
    /// Owners that claimed the bot; those of the settings are not repeated here.
    pub owners: Vec<UserId>,
    /// People who may use it.
    pub users: Vec<UserId>,
    /// Groups whose members may use it.
    pub chats: Vec<ChatId>,
    /// People who may not use it, wherever they write and whoever else may.
    pub denied: Vec<UserId>,
    /// Groups that only people on the list may use, also where the bot is open to everybody.
    pub denied_chats: Vec<ChatId>,
    /// The open claim, while nobody owns the bot.
    pub claim: Option<Claim>,
}

/// A one-time code that makes whoever sends it the owner.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// The code, as it stands in the link.
    pub code: String,
    /// It is void from then on.
    pub expires_at: DateTime<Utc>,
}

/// How long a claim is good for, in minutes.
pub const CLAIM_MINUTES: i64 = 15;

/// One change of the [`AccessList`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AccessChange {
    /// A person may use the bot; lifts their denial.
    AllowUser(UserId),
    /// A person may not use it any more, in groups neither. Owners are to be left out by whoever asks for this.
    DenyUser(UserId),
    /// A group's members may use it; lifts the group's denial, not that of a person.
    AllowChat(ChatId),
    /// They may no longer, unless they are on the list themselves.
    DenyChat(ChatId),
    /// A new claim replaces the open one, unless the bot has an owner.
    Offer(Claim),
    /// Someone presents a claim's code at this time.
    Redeem {
        /// The code.
        code: String,
        /// Who presents it.
        user: UserId,
        /// When.
        at: DateTime<Utc>,
    },
    /// A group became a supergroup with a new id.
    Migrate {
        /// The old id.
        from: ChatId,
        /// The new one.
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
            AccessChange::Offer(claim) => {
                let free = self.owners.is_empty();
                if free {
                    self.claim = Some(claim);
                }
                free
            }
            AccessChange::Redeem { code, user, at } => self.redeem(&code, user, at),
            AccessChange::Migrate { from, to } => {
                let moved = |list: &mut Vec<ChatId>| remove(list, &from) && insert(list, to);
                moved(&mut self.chats) | moved(&mut self.denied_chats)
            }
        }
    }

    fn redeem(&mut self, code: &str, user: UserId, at: DateTime<Utc>) -> bool {
        let good = self.claim.as_ref().is_some_and(|claim| claim.code == code && at < claim.expires_at);
        if good {
            self.claim = None;
            self.owners.push(user);
        }
        good
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
    use chrono::TimeDelta;

    use super::*;

    #[test]
    fn a_claim_is_good_once_and_in_time() {
        let now = DateTime::UNIX_EPOCH;
        let (ann, bob) = (UserId::telegram(1), UserId::telegram(2));
        let redeem = |code: &str, user: &UserId, at| AccessChange::Redeem {
            code: code.into(),
            user: user.clone(),
            at,
        };
        let mut list = AccessList::default();
        let claim = Claim { code: "c0de".into(), expires_at: now + TimeDelta::minutes(CLAIM_MINUTES) };
        assert!(list.apply(AccessChange::Offer(claim.clone())));
        assert!(!list.apply(redeem("other", &ann, now)));
        assert!(!list.apply(redeem("c0de", &ann, now + TimeDelta::minutes(CLAIM_MINUTES))));
        assert!(list.apply(redeem("c0de", &ann, now)));
        assert!(!list.apply(redeem("c0de", &bob, now)));
        assert!(!list.apply(AccessChange::Offer(claim)));
        assert_eq!(list.owners, vec![ann]);
    }
}
