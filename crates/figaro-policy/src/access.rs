//! Who may talk to the bot. Used by the Telegram side before anything else looks at a message.

use std::collections::BTreeSet;
use std::fmt::Debug;

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use figaro_base::ids::{ChatId, UserId};
use figaro_config::{AccessMode, AccessSettings};
use figaro_domain::access::AccessList;
use figaro_domain::chat::Place;
use figaro_domain::role::AccessRole;

/// What someone may do here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// May talk to the bot, and change what it is and who may use it.
    Owner,
    /// May talk to the bot and change what holds for the chat: an owner said so.
    Admin,
    /// May talk to the bot.
    Member,
    /// May talk to the bot, which changes nothing for them and looks up nothing that others said.
    Guest,
    /// Talk, in a question that holds someone else's words: no right of whoever has it asked again counts for it.
    Borrowed,
}

/// What becomes of a message or a button press.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It is let through; whoever sent it has these rights.
    Allow(Standing),
    /// A stranger writes in private: they are told once that the bot is private.
    Stranger,
    /// No owner has let the group in: nothing of it is answered or stored, and an owner is asked about it once.
    Unapproved,
    /// Nothing happens, for this reason.
    Ignore(&'static str),
}

/// Judges who speaks where. A denied person is ignored everywhere; an owner cannot be denied. In a group that no owner has let
/// in only owners are heard, whoever else is on the list: anybody can add the bot to a group.
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

/// Whether what is said in a place may be kept: a private chat, and a group that an owner let in or, where the bot is open to
/// everybody, did not shut out.
#[must_use]
pub fn is_served(settings: &AccessSettings, list: &AccessList, place: &Place) -> bool {
    let is_open = settings.mode == AccessMode::Open && !list.denied_chats.contains(&place.chat);
    !place.is_group() || is_open || list.chats.contains(&place.chat)
}

/// Whether someone owns the bot.
#[must_use]
pub fn is_owner(settings: &AccessSettings, list: &AccessList, user: &UserId) -> bool {
    settings.owners.contains(user) || list.owners.contains(user)
}

/// The Telegram numbers of all owners, each once.
#[must_use]
pub fn owners(settings: &AccessSettings, list: &AccessList) -> Vec<i64> {
    let owners = settings.owners.iter().chain(&list.owners).filter_map(UserId::telegram_id);
    owners.collect::<BTreeSet<i64>>().into_iter().collect()
}

/// Whether the bot belongs to anyone yet.
#[must_use]
pub fn has_owner(settings: &AccessSettings, list: &AccessList) -> bool {
    !settings.owners.is_empty() || !list.owners.is_empty()
}

/// Knows who is in a chat and who administers it. A failure to find out counts as no; so does a chat that there is not.
#[async_trait]
pub trait Admins: Debug + Send + Sync {
    /// Whether the user administers the chat; in a private chat its one user does.
    async fn is_admin(&self, _chat: ChatId, _user: &UserId) -> bool {
        false
    }

    /// Whether the user is in the chat now; in a private chat its one user is.
    async fn is_member(&self, _chat: ChatId, _user: &UserId) -> bool {
        false
    }

    /// Whether the user is an admin of the chat now who holds this right there, by its name in the Bot API, or its owner; in a
    /// private chat its one user holds all.
    async fn has_right(&self, _chat: ChatId, _user: &UserId, _right: &str) -> bool {
        false
    }
}

/// Whether someone may change what holds for a whole chat, by hand or through the model: in a private chat its one
/// user, in a group its admins, and everywhere an owner; never for words of someone else.
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
