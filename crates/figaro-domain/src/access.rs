//! Who may use the bot: owners, allowed people and chats, and the invites that make the first owner.

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use super::code::{CodeHash, PairingCode};
use super::role::{AccessRole, Ban, GivenRole};
use figaro_base::ids::{ChatId, UserId};

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
    /// Open codes that let people in, the oldest first.
    pub codes: Vec<PairingCode>,
    /// Other bots that are answered in a group.
    pub bots: Vec<AllowedBot>,
    /// What owners made of people; whoever has no role here is a member.
    pub roles: Vec<GivenRole>,
    /// People who are not heard in a chat, or for a while.
    pub bans: Vec<Ban>,
}

/// Another bot that is answered in one group.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AllowedBot {
    /// The one group in which it is heard.
    pub chat: ChatId,
    /// The bot's username in lower case, without the `@`.
    pub username: String,
}

impl AllowedBot {
    /// The bot of this username, with or without its `@`; `None` for what is no username of a bot: letters, digits and `_` with
    /// `bot` at the end.
    #[must_use]
    pub fn new(chat: ChatId, username: &str) -> Option<Self> {
        let username = username.trim_start_matches('@').to_ascii_lowercase();
        let is_plain = username.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        let fits = is_plain && (5..=32).contains(&username.len()) && username.ends_with("bot");
        fits.then_some(Self { chat, username })
    }
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
    codes: Vec<PairingCode>,
    bots: Vec<AllowedBot>,
    roles: Vec<GivenRole>,
    bans: Vec<Ban>,
    claim: Option<ClearInvite>,
}

#[derive(Deserialize)]
struct ClearInvite {
    code: String,
    expires_at: DateTime<Utc>,
}

impl From<StoredAccess> for AccessList {
    fn from(stored: StoredAccess) -> Self {
        let StoredAccess {
            owners,
            users,
            chats,
            denied,
            denied_chats,
            mut invites,
            codes,
            bots,
            roles,
            bans,
            claim,
        } = stored;
        let hashed = |clear: ClearInvite| OwnerInvite {
            code: CodeHash::of(&clear.code),
            expires_at: clear.expires_at,
        };
        invites.extend(claim.map(hashed));
        Self { owners, users, chats, denied, denied_chats, invites, codes, bots, roles, bans }
    }
}

/// A one-time code that makes whoever sends it the owner.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnerInvite {
    /// The hash of the code in the link: whoever reads the store cannot use it.
    pub(crate) code: CodeHash,
    /// It is void from then on.
    pub(crate) expires_at: DateTime<Utc>,
}

/// Whether what follows `/start` has the form of an invite's code, and is no other link's.
#[must_use]
pub fn looks_like_invite(code: &str) -> bool {
    code.len() == INVITE_BYTES * 2 && code.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// How long an invite is good for, in minutes.
pub const INVITE_MINUTES: i64 = 15;
/// The random bytes of an invite's code, which is shown in hexadecimal digits.
pub const INVITE_BYTES: usize = 16;
/// The most invites that are open at a time; the oldest gives way.
const MAX_INVITES: usize = 3;
/// The most codes that are open at a time; the oldest gives way.
const MAX_CODES: usize = 10;

/// One change of the [`AccessList`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AccessChange {
    /// A person may use the bot; lifts their denial and their bans.
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
    /// A person has a role. One that holds everywhere lets them in as [`AccessChange::AllowUser`] does.
    GiveRole(GivenRole),
    /// A person is not heard in a chat, or for a while. Owners are to be left out by whoever asks for this.
    Ban {
        /// Who, where and until when. It stands in the place of an earlier one for the same chat.
        ban: Ban,
        /// When: bans that are over by then go.
        at: DateTime<Utc>,
    },
    /// Nothing holds for a person in a chat, or everywhere, that an owner has said of them there alone: their role and their ban
    /// go. What holds elsewhere stays, and a denial.
    Lift {
        /// Whose role and ban go.
        user: UserId,
        /// Where they were given; `None` for those that hold everywhere.
        chat: Option<ChatId>,
    },
    /// Another bot is answered in a group.
    AllowBot(AllowedBot),
    /// It no longer is.
    DenyBot(AllowedBot),
    /// A new code stands beside those that are open.
    Code {
        /// The code to be stored.
        code: PairingCode,
        /// When: what has expired by then goes.
        at: DateTime<Utc>,
    },
    /// Someone presents a code at this time. It lets them in if it is good, and is not good any more; a denial stays.
    Pair {
        /// The keyed hash of the code that was presented.
        code: CodeHash,
        /// The person who presents it.
        user: UserId,
        /// The time of the change, UTC: expired codes are not good.
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
    /// Applies a change; `false` if it changed nothing, which for [`AccessChange::Redeem`] and
    /// [`AccessChange::Pair`] means the code is not good.
    pub fn apply(&mut self, change: AccessChange) -> bool {
        match change {
            AccessChange::AllowUser(user) => self.allow(user),
            AccessChange::DenyUser(user) => {
                self.roles.retain(|given| given.user != user);
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
            AccessChange::GiveRole(given) => self.give(given),
            AccessChange::Ban { ban, at } => {
                self.bans
                    .retain(|other| !other.is_over(at) && (&other.user, other.chat) != (&ban.user, ban.chat));
                insert(&mut self.bans, ban)
            }
            AccessChange::Lift { user, chat } => self.lift(&user, chat),
            AccessChange::AllowBot(bot) => insert(&mut self.bots, bot),
            AccessChange::DenyBot(bot) => remove(&mut self.bots, &bot),
            AccessChange::Invite { invite, at } => self.invite(invite, at),
            AccessChange::VoidInvites => !std::mem::take(&mut self.invites).is_empty(),
            AccessChange::Redeem { code, user, at } => self.redeem(&code, user, at),
            AccessChange::Code { code, at } => {
                self.codes.retain(|open| at < open.expires_at);
                self.codes.push(code);
                let excess = self.codes.len().saturating_sub(MAX_CODES);
                self.codes.drain(..excess);
                true
            }
            AccessChange::Pair { code, user, at } => self.pair(&code, user, at),
            AccessChange::Migrate { from, to } => {
                let moved = |list: &mut Vec<ChatId>| remove(list, &from) && insert(list, to);
                let mut has_moved = moved(&mut self.chats) | moved(&mut self.denied_chats);
                for bot in self.bots.iter_mut().filter(|bot| bot.chat == from) {
                    bot.chat = to;
                    has_moved = true;
                }
                let given = self.roles.iter_mut().map(|given| &mut given.chat);
                let places = given.chain(self.bans.iter_mut().map(|ban| &mut ban.chat));
                for place in places.filter(|place| **place == Some(from)) {
                    *place = Some(to);
                    has_moved = true;
                }
                has_moved
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

impl AccessList {
    fn allow(&mut self, user: UserId) -> bool {
        let bans = self.bans.len();
        self.bans.retain(|ban| ban.user != user);
        let was_banned = self.bans.len() < bans;
        remove(&mut self.denied, &user);
        insert(&mut self.users, user) || was_banned
    }

    fn give(&mut self, given: GivenRole) -> bool {
        let before = self.role_of(&given.user, given.chat);
        let mut changed = remove(&mut self.denied, &given.user);
        if given.chat.is_none() {
            changed |= self.allow(given.user.clone());
        }
        self.roles.retain(|other| (&other.user, other.chat) != (&given.user, given.chat));
        changed |= before != given.role;
        // Everywhere a member is whoever has no role.
        if given.chat.is_some() || given.role != AccessRole::Member {
            self.roles.push(given);
        }
        changed
    }

    fn lift(&mut self, user: &UserId, chat: Option<ChatId>) -> bool {
        let before = self.roles.len() + self.bans.len();
        self.roles.retain(|given| (&given.user, given.chat) != (user, chat));
        self.bans.retain(|ban| (&ban.user, ban.chat) != (user, chat));
        self.roles.len() + self.bans.len() < before
    }

    /// What a person is in a chat, or everywhere else.
    #[must_use]
    pub fn role_of(&self, user: &UserId, chat: Option<ChatId>) -> AccessRole {
        let of =
            |chat: Option<ChatId>| self.roles.iter().find(|given| given.user == *user && given.chat == chat);
        of(chat).or_else(|| of(None)).map_or(AccessRole::Member, |given| given.role)
    }

    /// Whether a person is not heard in a chat at this time, by a denial or a ban.
    #[must_use]
    pub fn is_shut_out(&self, user: &UserId, chat: ChatId, now: DateTime<Utc>) -> bool {
        self.denied.contains(user) || self.bans.iter().any(|ban| ban.holds(user, chat, now))
    }

    /// Whether a bot is answered in a chat, by its username in any case.
    #[must_use]
    pub fn hears_bot(&self, chat: ChatId, username: &str) -> bool {
        self.bots.iter().any(|bot| bot.chat == chat && bot.username.eq_ignore_ascii_case(username))
    }

    fn pair(&mut self, code: &CodeHash, user: UserId, at: DateTime<Utc>) -> bool {
        self.codes.retain(|open| at < open.expires_at);
        let before = self.codes.len();
        self.codes.retain(|open| !open.code.is(code));
        let is_good = self.codes.len() < before && !self.denied.contains(&user);
        if is_good {
            insert(&mut self.users, user);
        }
        is_good
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
    fn a_pairing_code_is_good_once_and_in_time_and_lifts_no_denial() {
        let hour = |hours: i64| NOW + TimeDelta::hours(hours);
        let made = |list: &mut AccessList, code: &str| {
            assert!(
                list.apply(AccessChange::Code { code: PairingCode::new(CodeHash::of(code), NOW), at: NOW })
            );
        };
        let pair = |code: &str, user: i64, hours: i64| AccessChange::Pair {
            code: CodeHash::of(code),
            user: UserId::telegram(user),
            at: hour(hours),
        };
        let cases =
            [("good", 1, 23, true), ("good", 1, 24, false), ("another", 1, 0, false), ("good", 7, 0, false)];
        for (code, user, hours, good) in cases {
            let mut list = AccessList { denied: vec![UserId::telegram(7)], ..AccessList::default() };
            made(&mut list, "good");
            assert_eq!(list.apply(pair(code, user, hours)), good, "{code} {user} {hours}");
            assert_eq!(list.users.len(), usize::from(good));
            assert!(!list.apply(pair("good", 2, hours)) || code == "another", "it was used");
        }
        let mut list = AccessList::default();
        (0..=MAX_CODES).for_each(|number| made(&mut list, &number.to_string()));
        assert_eq!(list.codes.len(), MAX_CODES);
        assert!(!list.apply(pair("0", 1, 0)), "the oldest has given way");
        assert!(list.apply(pair("10", 1, 0)));
        let stored = serde_json::to_string(&list).unwrap();
        assert_eq!(serde_json::from_str::<AccessList>(&stored).unwrap(), list);
    }

    #[test]
    fn a_role_of_a_chat_counts_before_one_of_everywhere_and_who_has_none_is_a_member() {
        let (ann, here, there) = (UserId::telegram(1), Some(ChatId(-5)), Some(ChatId(-6)));
        let mut list = AccessList {
            users: vec![ann.clone()],
            denied: vec![UserId::telegram(2)],
            ..AccessList::default()
        };
        let give = |user: i64, chat, role| {
            AccessChange::GiveRole(GivenRole { user: UserId::telegram(user), chat, role })
        };
        assert_eq!(list.role_of(&ann, here), AccessRole::Member);
        assert!(
            list.apply(give(1, None, AccessRole::Guest)) && !list.apply(give(1, None, AccessRole::Guest))
        );
        assert!(list.apply(give(1, here, AccessRole::Admin)));
        assert_eq!(
            (list.role_of(&ann, here), list.role_of(&ann, there)),
            (AccessRole::Admin, AccessRole::Guest)
        );
        assert!(list.apply(give(2, None, AccessRole::Guest)), "lets somebody in who was denied");
        assert!(list.users.contains(&UserId::telegram(2)) && list.denied.is_empty());
        assert!(list.apply(AccessChange::Migrate { from: ChatId(-5), to: ChatId(-7) }));
        assert_eq!(list.role_of(&ann, Some(ChatId(-7))), AccessRole::Admin);
        assert!(list.apply(AccessChange::DenyUser(ann.clone())));
        assert_eq!(list.roles.len(), 1, "a denial takes the roles");
    }

    #[test]
    fn a_ban_stands_in_the_place_of_an_earlier_one_and_allowing_lifts_it() {
        let (ann, chat) = (UserId::telegram(1), ChatId(-5));
        let at = |hour: i64| NOW + TimeDelta::hours(hour);
        let ban = |until: i64, now: i64| AccessChange::Ban {
            ban: Ban { user: UserId::telegram(1), chat: None, until: Some(at(until)) },
            at: at(now),
        };
        let mut list = AccessList { users: vec![ann.clone()], ..AccessList::default() };
        assert!(list.apply(ban(2, 0)) && list.apply(ban(4, 1)));
        assert_eq!(list.bans.len(), 1);
        assert!(list.is_shut_out(&ann, chat, at(3)) && !list.is_shut_out(&ann, chat, at(4)));
        assert!(list.apply(AccessChange::AllowUser(ann.clone())));
        assert!(!list.is_shut_out(&ann, chat, at(3)) && list.users == [ann]);
    }
}
