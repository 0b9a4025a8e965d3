//! Usage and cost of model calls. Money is counted in nano-dollars (10⁻⁹ USD). A price of 0.075 USD per million tokens is 75
//! nano-dollars per token, so that sums are exact.

use std::ops::{AddAssign, SubAssign};

use chrono::NaiveDate;
use serde::{Deserialize, Serialize};

use super::budget::BudgetAxis;
use super::calls::Calls;
use super::model::ModelName;
use figaro_base::ids::{ChatId, ReservationId, TaskId, UserId};

/// Tokens of one or more model calls, as counted by the provider.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens sent to the model.
    pub input: u64,
    /// Number of the input tokens that came from the provider's cache.
    pub cached: u64,
    /// Tokens written by the model, including reasoning.
    pub output: u64,
}

impl Usage {
    /// Returns the tokens that count against a cap.
    #[must_use]
    pub const fn total(self) -> u64 {
        self.input.saturating_add(self.output)
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input = self.input.saturating_add(other.input);
        self.cached = self.cached.saturating_add(other.cached);
        self.output = self.output.saturating_add(other.output);
    }
}

/// Prices of a model, in nano-dollars.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Price {
    /// Price per input token.
    pub input: u64,
    /// Price per input token from the provider's cache.
    pub cached: u64,
    /// Price per output token.
    pub output: u64,
    /// Price per web search by the provider; `None` if unknown.
    pub search: Option<u64>,
}

impl Price {
    /// Returns the cost of this usage and number of searches.
    #[must_use]
    pub(crate) fn of(self, usage: Usage, searches: u64) -> u64 {
        let cached = usage.cached.min(usage.input);
        let parts = [
            (usage.input - cached).saturating_mul(self.input),
            cached.saturating_mul(self.cached),
            usage.output.saturating_mul(self.output),
            searches.saturating_mul(self.search.unwrap_or_default()),
        ];
        parts.into_iter().fold(0, u64::saturating_add)
    }
}

/// Tokens and money spent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spent {
    /// Number of input and output tokens.
    pub tokens: u64,
    /// Money in nano-dollars, as far as prices are known.
    pub nano_usd: u64,
    /// Number of tokens without a known price, or 1 for searches without one. If not 0, the real cost is higher than
    /// `nano_usd`.
    pub unpriced: u64,
}

impl Spent {
    /// Returns the cost of a call. Without a price, its money is unknown.
    #[must_use]
    pub fn new(usage: Usage, searches: u64, price: Option<Price>) -> Self {
        let tokens = usage.total();
        match price {
            Some(price) => {
                // A search without a known price makes the sum unknown, even if its tokens have a price.
                let unpriced = u64::from(searches > 0 && price.search.is_none());
                Self { tokens, nano_usd: price.of(usage, searches), unpriced }
            }
            None => Self { tokens, nano_usd: 0, unpriced: tokens },
        }
    }
}

/// Text for an unknown amount of money.
pub const UNKNOWN_MONEY: &str = "$?";
/// Suffix of an amount that is only partly known.
pub const PARTLY_UNKNOWN: &str = "+ ?";

impl Spent {
    /// Formats the money for people, such as `$0.09`. Adds a `?` if some prices are unknown.
    #[must_use]
    pub fn money(self) -> String {
        match (self.nano_usd, self.unpriced) {
            (0, 1..) => UNKNOWN_MONEY.to_owned(),
            (nano_usd, 0) => dollars(nano_usd),
            (nano_usd, _) => format!("{} {PARTLY_UNKNOWN}", dollars(nano_usd)),
        }
    }
}

/// Formats nano-dollars for people: in cents from one cent on, below that with up to two significant digits.
#[must_use]
pub fn dollars(nano_usd: u64) -> String {
    match nano_usd {
        0 => "$0".to_owned(),
        1..1_000 => "<$0.000001".to_owned(),
        1_000..10_000_000 => {
            let unit = 10_u64.pow(nano_usd.ilog10() - 1);
            let micro = (nano_usd + unit / 2) / unit * unit / 1_000;
            format!("${}", format!("0.{micro:06}").trim_end_matches('0'))
        }
        _ => {
            let cents = nano_usd.saturating_add(5_000_000) / 10_000_000;
            format!("${}.{:02}", cents / 100, cents % 100)
        }
    }
}

/// Formats an amount of tokens for people: `940`, `71 k`, `1.2 M`.
#[must_use]
pub fn amount(count: u64) -> String {
    match count {
        0..1_000 => count.to_string(),
        1_000..10_000 => format!("{}.{} k", count / 1_000, count % 1_000 / 100),
        10_000..1_000_000 => format!("{} k", count / 1_000),
        _ => format!("{}.{} M", count / 1_000_000, count % 1_000_000 / 100_000),
    }
}

impl AddAssign for Spent {
    fn add_assign(&mut self, other: Self) {
        self.tokens = self.tokens.saturating_add(other.tokens);
        self.nano_usd = self.nano_usd.saturating_add(other.nano_usd);
        self.unpriced = self.unpriced.saturating_add(other.unpriced);
    }
}

impl SubAssign for Spent {
    fn sub_assign(&mut self, other: Self) {
        self.tokens = self.tokens.saturating_sub(other.tokens);
        self.nano_usd = self.nano_usd.saturating_sub(other.nano_usd);
        self.unpriced = self.unpriced.saturating_sub(other.unpriced);
    }
}

/// Parties that a model call is booked on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Payer {
    /// Chat that the call is booked on.
    pub chat: ChatId,
    /// Person that the call is booked on: its requester.
    pub user: UserId,
    /// Task that the call is made for.
    pub task: Option<TaskId>,
    /// Agents that the call is made for: the agent that makes it, after the agents that asked for it.
    pub agents: Vec<String>,
    /// Name of the key of the HTTP gateway that the request came with.
    pub key: Option<String>,
}

impl Payer {
    /// Returns the payer of a call that no task, agent or key is behind.
    #[must_use]
    pub const fn new(chat: ChatId, user: UserId) -> Self {
        Self { chat, user, task: None, agents: Vec::new(), key: None }
    }

    /// Returns all axes that a call of this payer counts on, each once, the whole bot first.
    #[must_use]
    pub fn axes(&self) -> Vec<BudgetAxis> {
        let mut axes =
            vec![BudgetAxis::Bot, BudgetAxis::Person(self.user.clone()), BudgetAxis::Chat(self.chat)];
        axes.extend(self.task.map(BudgetAxis::Task));
        for agent in self.agents.iter().cloned().map(BudgetAxis::Agent) {
            if !axes.contains(&agent) {
                axes.push(agent);
            }
        }
        axes.extend(self.key.clone().map(BudgetAxis::Key));
        axes
    }
}

/// Purpose of a model call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// A turn: a person or a scheduled task waits for the answer.
    #[default]
    Turn,
    /// Background work: names of sessions, summaries, memories.
    Background,
}

impl Purpose {
    /// Returns `true` for a turn. Such a call may use the whole budget, others only a share of it.
    #[must_use]
    pub fn is_turn(&self) -> bool {
        *self == Self::Turn
    }
}

/// Spending of one day, by chat, person, task, agent, key, model and purpose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spending {
    /// Day in the bot's own time zone.
    pub day: NaiveDate,
    /// Chat that the spending is booked on.
    pub chat: ChatId,
    /// Person that the spending is booked on.
    pub user: UserId,
    /// Task that the calls were made for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskId>,
    /// Agents that the calls were made for: the agent that made them, after the agents that asked for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<String>,
    /// Name of the key of the HTTP gateway that the requests came with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// Model that was called.
    pub model: ModelName,
    /// Purpose of the calls; older versions did not store it.
    #[serde(default, skip_serializing_if = "Purpose::is_turn")]
    pub purpose: Purpose,
    /// Tokens and money spent.
    pub spent: Spent,
    /// Reactions of people to the answers.
    #[serde(default, skip_serializing_if = "Ratings::is_none")]
    pub ratings: Ratings,
    /// Model calls, in figures.
    #[serde(default, skip_serializing_if = "Calls::is_none")]
    pub calls: Calls,
}

impl Spending {
    /// Returns the parties that the spending is booked on.
    #[must_use]
    pub fn payer(&self) -> Payer {
        let Self { chat, user, task, agents, key, .. } = self;
        Payer { chat: *chat, user: user.clone(), task: *task, agents: agents.clone(), key: key.clone() }
    }
}

/// Number of people who liked answers, and of those who did not. A change of a reaction has negative numbers for what was
/// taken back.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ratings {
    /// Number of 👍.
    pub good: i32,
    /// Number of 👎.
    pub bad: i32,
}

impl Ratings {
    /// Returns `true` if nobody reacted.
    #[must_use]
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

impl AddAssign for Ratings {
    fn add_assign(&mut self, other: Self) {
        self.good = self.good.saturating_add(other.good);
        self.bad = self.bad.saturating_add(other.bad);
    }
}

/// Tokens and money reserved for a running call. A reservation found at a start was left by a crash and counts as spent,
/// because its real cost is unknown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reservation {
    /// Id of the reservation.
    pub id: ReservationId,
    /// Maximum cost of the call.
    pub most: Spending,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_is_exact() {
        let price = Price { input: 400, cached: 100, output: 1600, search: Some(10_000_000) };
        let usage = Usage { input: 1_000, cached: 400, output: 10 };
        assert_eq!(price.of(usage, 0), 600 * 400 + 400 * 100 + 10 * 1600);
        assert_eq!(price.of(usage, 2), 600 * 400 + 400 * 100 + 10 * 1600 + 20_000_000);
        assert_eq!(price.of(Usage { cached: 9, ..Usage::default() }, 0), 0, "more cached than sent");
    }

    #[test]
    fn an_agent_that_is_asked_by_way_of_others_pays_once() {
        let agents = ["a", "b", "a"].map(str::to_owned).to_vec();
        let payer = Payer { agents, ..Payer::new(ChatId(1), UserId::telegram(1)) };
        let of_agents = [BudgetAxis::Agent("a".to_owned()), BudgetAxis::Agent("b".to_owned())];
        assert_eq!(payer.axes()[3..], of_agents);
    }

    #[test]
    fn amounts_are_short() {
        let money = [0, 999, 1_500, 424_999, 9_949_000, 10_000_000, 94_999_999, 1_234_567_890_000];
        let wanted = ["$0", "<$0.000001", "$0.000001", "$0.00042", "$0.0099", "$0.01", "$0.09", "$1234.57"];
        assert_eq!(money.map(dollars), wanted);
        let counts = [0, 999, 1_000, 9_950, 71_400, 1_250_000];
        let short = ["0", "999", "1.0 k", "9.9 k", "71 k", "1.2 M"];
        assert_eq!(counts.map(amount), short);
        let spent = |nano_usd, unpriced| Spent { tokens: 5, nano_usd, unpriced }.money();
        assert_eq!([spent(0, 5), spent(90_000_000, 2), spent(0, 0)], ["$?", "$0.09 + ?", "$0"]);
    }

    #[test]
    fn an_unknown_price_is_not_nothing() {
        let usage = Usage { input: 7, cached: 0, output: 3 };
        let mut spent = Spent::new(usage, 1, None);
        assert_eq!(spent, Spent { tokens: 10, nano_usd: 0, unpriced: 10 });
        let price = Price { input: 1, cached: 1, output: 1, search: None };
        spent += Spent::new(usage, 0, Some(price));
        assert_eq!(spent, Spent { tokens: 20, nano_usd: 10, unpriced: 10 });
        assert_eq!(Spent::new(usage, 2, Some(price)).unpriced, 1, "a search of unknown price");
    }
}
