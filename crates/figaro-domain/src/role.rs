//! Roles and bans that owners give to people. A ban has an end.

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use figaro_base::ids::{ChatId, UserId};

/// Role given to a person by an owner. A person without one is a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AccessRole {
    /// May change the settings of the chat, regardless of their rights at Telegram.
    Admin,
    /// May talk to the bot.
    Member,
    /// May talk to the bot, which makes no changes for them and does not search what others said.
    Guest,
}

impl AccessRole {
    /// All roles, the one with most rights first.
    pub const ALL: [Self; 3] = [Self::Admin, Self::Member, Self::Guest];

    /// Returns the name in buttons, commands and the audit log.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Admin => "admin",
            Self::Member => "member",
            Self::Guest => "guest",
        }
    }

    /// Returns the role with this name, in any case.
    #[must_use]
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.word().eq_ignore_ascii_case(word))
    }
}

/// Role of a person, in one chat or in all.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GivenRole {
    /// Person who has the role.
    pub user: UserId,
    /// Chat of the role; `None` for all chats. A role in a chat takes precedence over one for all chats.
    #[serde(default)]
    pub chat: Option<ChatId>,
    /// Role of the person there.
    pub role: AccessRole,
}

/// Ban: messages of the person are ignored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ban {
    /// Banned person.
    pub user: UserId,
    /// Chat of the ban; `None` for all chats.
    #[serde(default)]
    pub chat: Option<ChatId>,
    /// End of the ban, UTC; `None` until it is lifted.
    #[serde(default)]
    pub until: Option<DateTime<Utc>>,
}

impl Ban {
    /// Maximum length of a ban with an end, in days.
    pub(crate) const MAX_DAYS: i64 = 366;

    /// Returns `true` if the ban applies to this person in this chat at this time.
    #[must_use]
    pub(crate) fn holds(&self, user: &UserId, chat: ChatId, now: DateTime<Utc>) -> bool {
        self.user == *user && self.chat.is_none_or(|there| there == chat) && !self.is_over(now)
    }

    /// Returns `true` if the ban has ended.
    #[must_use]
    pub fn is_over(&self, now: DateTime<Utc>) -> bool {
        self.until.is_some_and(|until| until <= now)
    }

    /// Parses the length of a ban, such as `30m`, `2h`, `3d` or `1w`. Returns `None` for any other word, and for more than
    /// `Ban::MAX_DAYS`.
    #[must_use]
    pub fn span(word: &str) -> Option<TimeDelta> {
        let unit = word.chars().next_back()?;
        let count: i64 =
            word.strip_suffix(unit)?.parse().ok().filter(|count| (1..=100_000).contains(count))?;
        let span = match unit.to_ascii_lowercase() {
            'm' => TimeDelta::minutes(count),
            'h' => TimeDelta::hours(count),
            'd' => TimeDelta::days(count),
            'w' => TimeDelta::weeks(count),
            _ => return None,
        };
        (span <= TimeDelta::days(Self::MAX_DAYS)).then_some(span)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_read_as_people_type_them() {
        let cases = [
            ("30m", Some(30)),
            ("2h", Some(120)),
            ("2H", Some(120)),
            ("3d", Some(3 * 24 * 60)),
            ("1w", Some(7 * 24 * 60)),
            ("367d", None),
            ("0h", None),
            ("-1h", None),
            ("2", None),
            ("h", None),
            ("2 h", None),
            ("2x", None),
            ("", None),
            ("99999999999999999999h", None),
            ("2ç", None),
        ];
        for (word, minutes) in cases {
            assert_eq!(Ban::span(word).map(|span| span.num_minutes()), minutes, "{word}");
        }
    }

    #[test]
    fn a_ban_holds_where_and_as_long_as_it_says() {
        let (ann, here, there) = (UserId::telegram(1), ChatId(-5), ChatId(-6));
        let at = |hour: i64| DateTime::UNIX_EPOCH + TimeDelta::hours(hour);
        let ban = |chat: Option<ChatId>, hours: Option<i64>| Ban {
            user: UserId::telegram(1),
            chat,
            until: hours.map(at),
        };
        let cases = [
            (ban(None, Some(2)), there, 1, true),
            (ban(None, Some(2)), there, 2, false),
            (ban(Some(here), Some(2)), here, 1, true),
            (ban(Some(here), Some(2)), there, 1, false),
            (ban(Some(here), None), here, 9_000, true),
        ];
        for (ban, chat, hour, holds) in cases {
            assert_eq!(ban.holds(&ann, chat, at(hour)), holds, "{ban:?} {chat} {hour}");
            assert!(!ban.holds(&UserId::telegram(2), chat, at(hour)));
        }
    }
}
