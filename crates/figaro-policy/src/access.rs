//! Access to the bot. Checked by the Telegram side before anything else looks at a message.

use std::collections::BTreeSet;
use std::fmt::Debug;

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use figaro_base::ids::{ChatId, UserId};
use figaro_config::{AccessMode, AccessSettings};
use figaro_domain::access::AccessList;
use figaro_domain::chat::Place;
use figaro_domain::role::AccessRole;

/// Rights of a person in a chat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// May talk to the bot, and change its setup and who may use it.
    Owner,
    /// May talk to the bot and change the settings of the chat; granted by an owner.
    Admin,
    /// May talk to the bot; changes chat settings in a private chat or as an admin of the group.
    Member,
    /// May talk to the bot, which changes nothing for them and looks up nothing that others said.
    Guest,
    /// Rights for a question that contains someone else's words: the rights of whoever repeats it do not count.
    Borrowed,
}

/// Outcome of the access check of a message or button press.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Let through; the sender has these rights.
    Allow(Standing),
    /// A stranger writes in private and is told once that the bot is private.
    Stranger,
    /// No owner has approved the group: nothing of it is answered or stored, and an owner is asked once.
    Unapproved,
    /// Ignored silently, for this reason; the log shows it.
    Ignore(&'static str),
}

/// Judges a message or button press by sender and place. A denied person is ignored everywhere; an owner cannot be
/// denied. In an unapproved group only owners are heard, whoever else is on the list: anybody can add the bot to a group.
#[must_use]
pub fn judge(
    settings: &AccessSettings,
    list: &AccessList,
    place: &Place,
    user: &UserId,
    now: DateTime<Utc>,
) -> Verdict {
    if is_owner(settings, list, user) {
        return Verdict::Allow(Standing::Owner);
    }
    if list.is_shut_out(user, place.chat, now) {
        return Verdict::Ignore("denied");
    }
    let standing = match list.role_of(user, Some(place.chat)) {
        AccessRole::Admin => Standing::Admin,
        AccessRole::Member => Standing::Member,
        AccessRole::Guest => Standing::Guest,
    };
    match (place.is_group(), is_served(settings, list, place)) {
        (true, true) => Verdict::Allow(standing),
        (true, false) if list.denied_chats.contains(&place.chat) => Verdict::Ignore("group_denied"),
        (true, false) => Verdict::Unapproved,
        (false, _) if settings.mode == AccessMode::Open || list.users.contains(user) => {
            Verdict::Allow(standing)
        }
        (false, _) => Verdict::Stranger,
    }
}

/// Returns `true` if messages of a place may be stored: in a private chat, and in a group that an owner approved or, in
/// open mode, did not deny.
#[must_use]
pub fn is_served(settings: &AccessSettings, list: &AccessList, place: &Place) -> bool {
    let is_open = settings.mode == AccessMode::Open && !list.denied_chats.contains(&place.chat);
    !place.is_group() || is_open || list.chats.contains(&place.chat)
}

/// Returns `true` if this person owns the bot, by configuration or by the list.
#[must_use]
pub fn is_owner(settings: &AccessSettings, list: &AccessList, user: &UserId) -> bool {
    settings.owners.contains(user) || list.owners.contains(user)
}

/// Returns the Telegram ids of all owners, each once.
#[must_use]
pub fn owners(settings: &AccessSettings, list: &AccessList) -> Vec<i64> {
    let owners = settings.owners.iter().chain(&list.owners).filter_map(UserId::telegram_id);
    owners.collect::<BTreeSet<i64>>().into_iter().collect()
}

/// Returns `true` if the bot has an owner.
#[must_use]
pub fn has_owner(settings: &AccessSettings, list: &AccessList) -> bool {
    !settings.owners.is_empty() || !list.owners.is_empty()
}

/// Looks up members and administrators of chats. A failed lookup counts as no, and so does an unknown chat.
#[async_trait]
pub trait Admins: Debug + Send + Sync {
    /// Returns `true` if the user administers the chat; in a private chat its one user does.
    async fn is_admin(&self, _chat: ChatId, _user: &UserId) -> bool {
        false
    }

    /// Returns `true` if the user is a member of the chat now; in a private chat its one user is.
    async fn is_member(&self, _chat: ChatId, _user: &UserId) -> bool {
        false
    }

    /// Returns `true` if the user owns the chat, or is an admin of it now with this right, named as in the Bot API. In a
    /// private chat its one user holds all rights.
    async fn has_right(&self, _chat: ChatId, _user: &UserId, _right: &str) -> bool {
        false
    }
}

/// Returns `true` if someone may change the settings of a whole chat, by hand or through the model: an owner everywhere,
/// an admin of a group, the one user of a private chat. Always `false` for someone else's words.
pub async fn may_change(admins: &dyn Admins, standing: Standing, place: &Place, user: &UserId) -> bool {
    match standing {
        Standing::Borrowed | Standing::Guest => false,
        Standing::Owner | Standing::Admin => true,
        Standing::Member => !place.is_group() || admins.is_admin(place.chat, user).await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use figaro_domain::chat::ChatKind;

    const NOW: DateTime<Utc> = DateTime::UNIX_EPOCH;

    fn place(chat: i64) -> Place {
        let kind = if chat < 0 { ChatKind::Group } else { ChatKind::Private };
        Place { chat: ChatId(chat), kind, title: None, topic: None }
    }

    /// Everybody administers every chat.
    #[derive(Debug)]
    struct All;

    #[async_trait]
    impl Admins for All {
        async fn is_admin(&self, _chat: ChatId, _user: &UserId) -> bool {
            true
        }

        async fn is_member(&self, _chat: ChatId, _user: &UserId) -> bool {
            true
        }

        async fn has_right(&self, _chat: ChatId, _user: &UserId, _right: &str) -> bool {
            true
        }
    }

    #[tokio::test]
    async fn words_of_someone_else_change_nothing_whoever_has_them_tried_again() {
        let may = async |standing, chat| may_change(&All, standing, &place(chat), &UserId::telegram(1)).await;
        assert!(may(Standing::Owner, -5).await && may(Standing::Member, -5).await);
        assert!(
            may(Standing::Admin, -5).await
                && !may(Standing::Guest, -5).await
                && !may(Standing::Guest, 1).await
        );
        assert!(!may(Standing::Borrowed, -5).await && !may(Standing::Borrowed, 1).await);
    }

    #[test]
    fn only_those_on_the_list_get_through() {
        let settings = AccessSettings { owners: vec![UserId::telegram(1)], mode: AccessMode::Pairing };
        let list = AccessList {
            owners: vec![UserId::telegram(2)],
            users: [3, 6].map(UserId::telegram).to_vec(),
            chats: vec![ChatId(-5)],
            denied: [1, 2, 5, 6].map(UserId::telegram).to_vec(),
            denied_chats: vec![ChatId(-7)],
            invites: Vec::new(),
            ..AccessList::default()
        };
        let cases = [
            (1, 1, Verdict::Allow(Standing::Owner)),
            (2, 2, Verdict::Allow(Standing::Owner)),
            (3, 3, Verdict::Allow(Standing::Member)),
            (9, 9, Verdict::Stranger),
            (9, -5, Verdict::Allow(Standing::Member)),
            (9, -6, Verdict::Unapproved),
            (3, -6, Verdict::Unapproved),
            (1, -6, Verdict::Allow(Standing::Owner)),
            (5, 5, Verdict::Ignore("denied")),
            (5, -5, Verdict::Ignore("denied")),
            (5, -6, Verdict::Ignore("denied")),
            (6, 6, Verdict::Ignore("denied")),
            (3, -7, Verdict::Ignore("group_denied")),
            (9, -7, Verdict::Ignore("group_denied")),
        ];
        for (user, chat, wanted) in cases {
            let verdict = judge(&settings, &list, &place(chat), &UserId::telegram(user), NOW);
            assert_eq!(verdict, wanted, "user {user} in {chat}");
        }
        let is_kept = |chat: i64| is_served(&settings, &list, &place(chat));
        assert_eq!([9, -5, -6, -7].map(is_kept), [true, true, false, false]);
        let open = AccessSettings { mode: AccessMode::Open, ..settings };
        let cases = [
            (9, 9, Verdict::Allow(Standing::Member)),
            (9, -6, Verdict::Allow(Standing::Member)),
            (9, -7, Verdict::Ignore("group_denied")),
            (3, -7, Verdict::Ignore("group_denied")),
            (5, 5, Verdict::Ignore("denied")),
            (5, -6, Verdict::Ignore("denied")),
            (1, -7, Verdict::Allow(Standing::Owner)),
        ];
        for (user, chat, wanted) in cases {
            let verdict = judge(&open, &list, &place(chat), &UserId::telegram(user), NOW);
            assert_eq!(verdict, wanted, "open to everybody: user {user} in {chat}");
        }
    }

    #[test]
    fn a_role_and_a_ban_count_where_they_hold_and_not_for_owners() {
        use figaro_domain::role::{Ban, GivenRole};
        let settings = AccessSettings { owners: vec![UserId::telegram(1)], mode: AccessMode::Pairing };
        let role = |user: i64, chat: Option<i64>, role| GivenRole {
            user: UserId::telegram(user),
            chat: chat.map(ChatId),
            role,
        };
        let ban = |user: i64, chat: Option<i64>| Ban {
            user: UserId::telegram(user),
            chat: chat.map(ChatId),
            until: Some(NOW + chrono::TimeDelta::hours(1)),
        };
        let list = AccessList {
            users: [3, 4, 5].map(UserId::telegram).to_vec(),
            chats: vec![ChatId(-5), ChatId(-6)],
            roles: vec![
                role(3, None, AccessRole::Guest),
                role(3, Some(-5), AccessRole::Admin),
                role(9, Some(-6), AccessRole::Guest),
                role(1, None, AccessRole::Guest),
            ],
            bans: vec![ban(4, Some(-5)), ban(5, None), ban(1, None)],
            ..AccessList::default()
        };
        let cases = [
            (1, -5, Verdict::Allow(Standing::Owner)),
            (3, 3, Verdict::Allow(Standing::Guest)),
            (3, -5, Verdict::Allow(Standing::Admin)),
            (3, -6, Verdict::Allow(Standing::Guest)),
            (9, -6, Verdict::Allow(Standing::Guest)),
            (9, -5, Verdict::Allow(Standing::Member)),
            (9, 9, Verdict::Stranger),
            (4, -5, Verdict::Ignore("denied")),
            (4, -6, Verdict::Allow(Standing::Member)),
            (4, 4, Verdict::Allow(Standing::Member)),
            (5, 5, Verdict::Ignore("denied")),
            (5, -6, Verdict::Ignore("denied")),
        ];
        for (user, chat, wanted) in cases {
            let verdict = judge(&settings, &list, &place(chat), &UserId::telegram(user), NOW);
            assert_eq!(verdict, wanted, "user {user} in {chat}");
        }
        let later = NOW + chrono::TimeDelta::hours(1);
        let after = judge(&settings, &list, &place(5), &UserId::telegram(5), later);
        assert_eq!(after, Verdict::Allow(Standing::Member));
    }
}
