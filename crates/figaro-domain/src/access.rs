//! Access to the bot: owners, allowed people and chats, and the invites that make the first owner.

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use super::code::{CodeHash, PairingCode};
use super::role::{AccessRole, Ban, GivenRole};
use figaro_base::ids::{ChatId, UserId};

/// Access data of the store: owners, people, chats, bots, roles, bans and open codes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "StoredAccess")]
pub struct AccessList {
    /// Owners that redeemed an invite. Owners named in the settings are not repeated here.
    pub owners: Vec<UserId>,
    /// People who may use the bot, in addition to the owners.
    pub users: Vec<UserId>,
    /// Groups whose members may use it.
    pub chats: Vec<ChatId>,
    /// People who may not use the bot in any chat. Takes precedence over all other permissions.
    pub denied: Vec<UserId>,
    /// Groups that only owners may use, even if the bot is open to everybody.
    pub denied_chats: Vec<ChatId>,
    /// Open invites, oldest first; at most `MAX_INVITES`. Empty once the bot has an owner.
    pub invites: Vec<OwnerInvite>,
    /// Open pairing codes, oldest first; at most `MAX_CODES`.
    pub codes: Vec<PairingCode>,
    /// Other bots that are answered in a group.
    pub bots: Vec<AllowedBot>,
    /// Roles given by owners. A person without an entry is a member.
    pub roles: Vec<GivenRole>,
    /// People whose messages are ignored in a chat, or for a limited time.
    pub bans: Vec<Ban>,
}

/// Another bot that is answered in one group.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AllowedBot {
    /// Group in which the bot is answered.
    pub chat: ChatId,
    /// The bot's username in lower case, without the `@`.
    pub username: String,
}

impl AllowedBot {
    /// Creates an entry from a username with or without `@`. Returns `None` if it is not a bot's username: 5 to 32 letters,
    /// digits and `_`, ending in `bot`.
    #[must_use]
    pub fn new(chat: ChatId, username: &str) -> Option<Self> {
        let username = username.trim_start_matches('@').to_ascii_lowercase();
        let is_plain = username.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        let fits = is_plain && (5..=32).contains(&username.len()) && username.ends_with("bot");
        fits.then_some(Self { chat, username })
    }
}

/// Stored form of the list. Also accepts the older form with a single invite and its code in clear text.
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

/// One-time code that makes its sender the owner.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnerInvite {
    /// Hash of the code in the link, so that the stored value cannot be used as a code.
    pub(crate) code: CodeHash,
    /// Time at which the invite expires, UTC.
    pub(crate) expires_at: DateTime<Utc>,
}

/// Returns `true` if the argument of `/start` has the form of an invite code. No other link has this form.
#[must_use]
pub fn looks_like_invite(code: &str) -> bool {
    code.len() == INVITE_BYTES * 2 && code.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Lifetime of an invite, in minutes.
pub const INVITE_MINUTES: i64 = 15;
/// Number of random bytes in an invite code, which is shown in hexadecimal.
pub const INVITE_BYTES: usize = 16;
/// Maximum number of open invites. A new one replaces the oldest.
const MAX_INVITES: usize = 3;
/// Maximum number of open pairing codes. A new one replaces the oldest.
const MAX_CODES: usize = 10;

/// One change of the [`AccessList`], applied by [`AccessList::apply`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AccessChange {
    /// Lets a person use the bot, and lifts their denial and their bans.
    AllowUser(UserId),
    /// Denies a person the bot, in groups too. The caller must not pass an owner.
    DenyUser(UserId),
    /// Lets the members of a group use the bot. Lifts the group's denial, but not that of a person.
    AllowChat(ChatId),
    /// Denies the members of a group the bot.
    DenyChat(ChatId),
    /// Adds an invite to the open ones, unless the bot has an owner.
    Invite {
        /// New invite with the hash of its code.
        invite: OwnerInvite,
        /// Time of the change, UTC. Expired invites are removed.
        at: DateTime<Utc>,
    },
    /// Voids all open invites, because the bot has an owner.
    VoidInvites,
    /// Redeems the code of an invite.
    Redeem {
        /// Hash of the presented code, by [`CodeHash::of`].
        code: CodeHash,
        /// Sender of the code, who becomes the owner if the code is valid.
        user: UserId,
        /// Time of the change, UTC. Expired invites are not accepted.
        at: DateTime<Utc>,
    },
    /// Gives a person a role. A role in all chats also lets them in, as [`AccessChange::AllowUser`] does.
    GiveRole(GivenRole),
    /// Ignores a person in a chat, or for a limited time. The caller must not pass an owner.
    Ban {
        /// New ban. Replaces an earlier one of the same person for the same chat.
        ban: Ban,
        /// Time of the change, UTC. Expired bans are removed.
        at: DateTime<Utc>,
    },
    /// Removes the role and the ban that a person has in exactly this scope: one chat, or all chats. Roles and bans of other
    /// scopes stay, and so does a denial.
    Lift {
        /// Person who loses the role and the ban.
        user: UserId,
        /// Chat of the role and the ban; `None` for those that hold in all chats.
        chat: Option<ChatId>,
    },
    /// Allows another bot in a group.
    AllowBot(AllowedBot),
    /// Removes another bot from the allowed bots of a group.
    DenyBot(AllowedBot),
    /// Adds a pairing code to the open ones.
    Code {
        /// New pairing code with its keyed hash.
        code: PairingCode,
        /// Time of the change, UTC. Expired codes are removed.
        at: DateTime<Utc>,
    },
    /// Redeems a pairing code. A valid code lets the person in and is used up. A denial of the person stays.
    Pair {
        /// Keyed hash of the presented code.
        code: CodeHash,
        /// Sender of the code, let in if it is valid.
        user: UserId,
        /// Time of the change, UTC. Expired codes are not accepted.
        at: DateTime<Utc>,
    },
    /// Moves the entries of a group that became a supergroup with a new id.
    Migrate {
        /// Id of the chat before it became a supergroup.
        from: ChatId,
        /// Id of the supergroup that it became.
        to: ChatId,
    },
}

impl AccessList {
    /// Applies a change. Returns `false` if it changed nothing; for [`AccessChange::Redeem`] and [`AccessChange::Pair`] this
    /// means that the code is not valid.
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
                let moved = |list: &mut Vec<ChatId>| {
                    let is_listed = remove(list, &from);
                    if is_listed {
                        insert(list, to);
                    }
                    is_listed
                };
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
        let is_scope = |other: &GivenRole| (&other.user, other.chat) == (&given.user, given.chat);
        let before = self.roles.iter().find(|other| is_scope(other)).map(|other| other.role);
        let mut changed = remove(&mut self.denied, &given.user);
        if given.chat.is_none() {
            changed |= self.allow(given.user.clone());
        }
        self.roles.retain(|other| !is_scope(other));
        // A member in all chats needs no entry: it is the default. In one chat it is one: elsewhere the person may have another.
        let after = (given.chat.is_some() || given.role != AccessRole::Member).then_some(given.role);
        changed |= before != after;
        if after.is_some() {
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

    /// Returns the role of a person in a chat. Falls back to their role in all chats, then to member.
    #[must_use]
    pub fn role_of(&self, user: &UserId, chat: Option<ChatId>) -> AccessRole {
        let of =
            |chat: Option<ChatId>| self.roles.iter().find(|given| given.user == *user && given.chat == chat);
        of(chat).or_else(|| of(None)).map_or(AccessRole::Member, |given| given.role)
    }

    /// Returns `true` if a person is denied, or banned in this chat at this time.
    #[must_use]
    pub fn is_shut_out(&self, user: &UserId, chat: ChatId, now: DateTime<Utc>) -> bool {
        self.denied.contains(user) || self.bans.iter().any(|ban| ban.holds(user, chat, now))
    }

    /// Returns `true` if a bot is answered in a chat. The case of the username is ignored.
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
    /// Creates an invite with this code that is valid from `now`.
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
    fn a_member_of_one_chat_and_a_group_with_two_listed_ids_are_changes() {
        let mut list = AccessList::default();
        let given = GivenRole { user: UserId::telegram(3), chat: Some(ChatId(-5)), role: AccessRole::Member };
        assert!(
            list.apply(AccessChange::GiveRole(given.clone())),
            "it holds there, whatever is given elsewhere"
        );
        assert!(!list.apply(AccessChange::GiveRole(given)));
        for chat in [-7, -8] {
            assert!(list.apply(AccessChange::AllowChat(ChatId(chat))));
        }
        assert!(list.apply(AccessChange::Migrate { from: ChatId(-7), to: ChatId(-8) }));
        assert_eq!(list.chats, [ChatId(-8)]);
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
