//! Limits on spending, by day and by month: of the whole bot, a person, a chat, a task, an agent, or a key of the gateway.

use std::fmt;

use chrono::{Datelike, NaiveDate};
use serde::{Deserialize, Serialize};

use super::role::AccessRole;
use figaro_base::ids::{ChatId, TaskId, UserId};

/// Party whose spending is counted and may be limited. A call counts on all of its axes at once.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BudgetAxis {
    /// All calls of the bot, whoever they are for.
    Bot,
    /// Each person with this role who has no limit of their own, by themselves. Owners have no role.
    Role(AccessRole),
    /// A person, in all chats.
    Person(UserId),
    /// A chat, with all people who write there.
    Chat(ChatId),
    /// A scheduled task, with all its runs.
    Task(TaskId),
    /// An agent, with the agents that it asks.
    Agent(String),
    /// A key of the HTTP gateway, by its name.
    Key(String),
}

/// Formats as `kind:id`, such as `chat:-100123`; the whole bot is `bot`. Stored keys have this form, so it must not change.
impl fmt::Display for BudgetAxis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bot => f.write_str("bot"),
            Self::Role(role) => write!(f, "role:{}", role.word()),
            Self::Person(user) => write!(f, "person:{user}"),
            Self::Chat(chat) => write!(f, "chat:{chat}"),
            Self::Task(task) => write!(f, "task:{task}"),
            Self::Agent(name) => write!(f, "agent:{name}"),
            Self::Key(name) => write!(f, "key:{name}"),
        }
    }
}

impl BudgetAxis {
    /// Returns the party in words, for the log and for developers: `the agent researcher`.
    #[must_use]
    pub fn party(&self) -> String {
        match self {
            Self::Bot => "the bot".to_owned(),
            Self::Role(role) => format!("each {}", role.word()),
            Self::Person(_) => "this person".to_owned(),
            Self::Chat(_) => "this chat".to_owned(),
            Self::Task(_) => "this task".to_owned(),
            Self::Agent(name) => format!("the agent {name}"),
            Self::Key(name) => format!("the key {name}"),
        }
    }
}

/// Time in which spending is counted. Both kinds begin at midnight of the bot's time zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Period {
    /// From midnight to midnight.
    Day,
    /// From the first day of a calendar month to its last.
    Month,
}

impl Period {
    /// Both kinds, the longer first: a used-up month outlasts a used-up day.
    pub const ALL: [Self; 2] = [Self::Month, Self::Day];

    /// Returns the first day of the period that contains `day`.
    #[must_use]
    pub fn start(self, day: NaiveDate) -> NaiveDate {
        match self {
            Self::Day => day,
            Self::Month => day.with_day(1).unwrap_or(day),
        }
    }
}

/// Returns the used share of a limit in percent.
#[must_use]
pub fn percent(gone: u64, cap: u64) -> u64 {
    u64::try_from(u128::from(gone) * 100 / u128::from(cap.max(1))).unwrap_or(u64::MAX)
}

/// Limits on what is spent in a period. `None` means no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Caps {
    /// Limit of input and output tokens together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Limit of money in nano-dollars (10⁻⁹ USD).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nano_usd: Option<u64>,
}

impl Caps {
    /// Returns `true` if any limit is set.
    #[must_use]
    pub const fn is_set(self) -> bool {
        self.tokens.is_some() || self.nano_usd.is_some()
    }

    /// Scales each limit to this percentage.
    #[must_use]
    pub fn percent(self, percent: u64) -> Self {
        let part = |cap: u64| cap / 100 * percent + cap % 100 * percent / 100;
        Self { tokens: self.tokens.map(part), nano_usd: self.nano_usd.map(part) }
    }

    /// Returns the lower of each pair of limits.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let lower = |a: Option<u64>, b: Option<u64>| a.into_iter().chain(b).min();
        Self { tokens: lower(self.tokens, other.tokens), nano_usd: lower(self.nano_usd, other.nano_usd) }
    }

    /// Returns `true` if a model of unknown price may be called: not if money is the only limit.
    #[must_use]
    pub const fn takes_unpriced(self) -> bool {
        self.nano_usd.is_none() || self.tokens.is_some()
    }
}

/// Limits of a day and of a month.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PeriodCaps {
    /// Limits of a day.
    #[serde(default)]
    pub day: Caps,
    /// Limits of a calendar month.
    #[serde(default)]
    pub month: Caps,
}

impl PeriodCaps {
    /// Returns the limits of a period.
    #[must_use]
    pub const fn of(self, period: Period) -> Caps {
        match period {
            Period::Day => self.day,
            Period::Month => self.month,
        }
    }

    /// Returns the limits of a period, to be changed.
    pub const fn of_mut(&mut self, period: Period) -> &mut Caps {
        match period {
            Period::Day => &mut self.day,
            Period::Month => &mut self.month,
        }
    }

    /// Returns `true` if any limit is set.
    #[must_use]
    pub const fn is_set(self) -> bool {
        self.day.is_set() || self.month.is_set()
    }
}

/// Limits of an axis, set by an owner in a chat.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Budget {
    /// Party that is limited.
    pub axis: BudgetAxis,
    /// Limits of a day and of a month; each may be unset.
    pub caps: PeriodCaps,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lower_limit_holds() {
        let caps = |tokens, nano_usd| Caps { tokens, nano_usd };
        assert_eq!(caps(Some(5), None).and(caps(Some(3), Some(9))), caps(Some(3), Some(9)));
        assert_eq!(caps(None, None).and(caps(None, None)), Caps::default());
        let day = NaiveDate::from_ymd_opt(2026, 11, 28).unwrap();
        assert_eq!(Period::ALL.map(|period| period.start(day).to_string()), ["2026-11-01", "2026-11-28"]);
    }
}
