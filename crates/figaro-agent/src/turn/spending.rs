//! Tells people of the limits on spending: with lines under an answer, and owners with a notice.

use std::sync::Arc;

use super::error::TurnError;
use super::outcome::Outcome;
use super::question::Question;
use super::report::Reporter;
use crate::delivery::Owners;
use figaro_base::shutdown::TaskTracker;
use figaro_domain::budget::{BudgetAxis, Period};
use figaro_domain::usage::{UNKNOWN_MONEY, amount, dollars};
use figaro_ledger::{Ledger, LimitUse, OverBudget};
use figaro_prompts::texts::{Locales, Texts, fill};
use figaro_store::SettingsStore;

/// Tells people of the limits on spending. Called at the end of a turn.
#[derive(Debug, Clone)]
pub struct SpendingNotices {
    /// The record of spending, with its limits.
    pub ledger: Arc<Ledger>,
    /// The store of the settings of chats; a chat may want to see costs.
    pub settings: SettingsStore,
    /// The texts for people, by language.
    pub locales: Arc<Locales>,
    /// Sends a text to each owner in private.
    pub owners: Arc<dyn Owners>,
    /// Runs notices, for which an answer does not wait.
    pub background: TaskTracker,
    /// Reports failures to the log and to `/status`.
    pub reporter: Reporter,
}

impl SpendingNotices {
    /// Returns the lines under an answer: limits of the chat, the asker and the task that are nearly used up, and its cost if
    /// the chat wants it. Tells owners of other limits.
    pub(super) async fn lines(&self, question: &Question, outcome: &Outcome) -> Vec<String> {
        let Some(first) = question.parts.first() else { return Vec::new() };
        let Outcome::Answered(_) = outcome else { return Vec::new() };
        // An answer from outside Telegram has no such lines.
        let payer = question.payer(None).filter(|_| question.requested.is_none());
        let nearly = self.ledger.tell_of_nearly(payer.as_ref()).await;
        let nearly = nearly.unwrap_or_else(|error| {
            self.reporter.report(&error, "whether people know of a limit could not be stored");
            Vec::new()
        });
        let texts = self.locales.of(first.language.as_deref());
        let mut lines = Vec::new();
        for limit in nearly {
            match nearly_words(texts, &limit) {
                Some(words) => lines.push(self.with_cheaper(texts, words)),
                None => {
                    self.tell_owners(move |texts| owner_words(texts, texts.budget_nearly_owner(), &limit))
                }
            }
        }
        if question.requested.is_some() {
            return Vec::new();
        }
        lines.extend(early_end(question, outcome, texts));
        lines.extend(self.cost(question, outcome, texts));
        lines
    }

    /// Returns the line with the cost of an answer, if the chat wants it.
    fn cost(&self, question: &Question, outcome: &Outcome, texts: &Texts) -> Option<String> {
        let chat = question.parts.first()?.place.chat;
        let config = self.settings.chat_config(chat);
        let config = config
            .inspect_err(|error| self.reporter.report(error, "whether costs are shown could not be read"));
        let answer = outcome.answer().filter(|_| config.is_ok_and(|config| config.cost))?;
        let money = answer.nano_usd.map_or_else(|| UNKNOWN_MONEY.to_owned(), dollars);
        let tokens = texts.tokens(answer.usage.total());
        let model = answer.pass.model.as_ref().map(|model| format!(" · {model}")).unwrap_or_default();
        Some(format!("💸 {money} · {tokens}{model}"))
    }

    fn with_cheaper(&self, texts: &Texts, words: String) -> String {
        match self.ledger.cheaper() {
            Some(model) => {
                format!("{words} {}", fill(texts.budget_cheaper(), &[("model", &model.to_string())]))
            }
            None => words,
        }
    }

    /// Tells owners, once in its period, that a limit of the whole bot, an agent or a key is used up: one that ended the turn,
    /// or that an agent met in it. People see their own limits in place of an answer.
    pub(super) async fn used_up(&self, outcome: &Outcome) {
        let met = self.ledger.take_met();
        let own = match outcome.error() {
            Some(TurnError::OverBudget(over)) => Some(&**over),
            _ => None,
        };
        for over in met.iter().chain(own) {
            self.over(over).await;
        }
    }

    async fn over(&self, over: &OverBudget) {
        let OverBudget { axis, period, .. } = over;
        if !matches!(axis, BudgetAxis::Bot | BudgetAxis::Agent(_) | BudgetAxis::Key(_)) {
            return;
        }
        match self.ledger.tell_of_over(axis, *period).await {
            Ok(true) => {}
            Ok(false) => return,
            Err(error) => {
                return self.reporter.report(&error, "whether owners know of a limit could not be stored");
            }
        }
        let spent = self.ledger.spent(axis, *period);
        let (time, zone) = over.until_words();
        let (axis, period) = (axis.clone(), *period);
        let words = move |texts: &Texts| {
            let (tokens, money, name) = (texts.tokens(spent.tokens), spent.money(), name_of(texts, &axis));
            let values = [
                ("name", name.as_str()),
                ("period", period_word(texts, period)),
                ("tokens", &tokens),
                ("money", &money),
                ("time", &time),
                ("zone", &zone),
            ];
            fill(texts.caps_reached(), &values)
        };
        self.owners.tell(self.locales.map(words)).await;
    }

    fn tell_owners(&self, words: impl Fn(&Texts) -> String) {
        let (owners, words) = (self.owners.clone(), self.locales.map(words));
        self.background.spawn("owners", async move { owners.tell(words).await });
    }
}

/// Returns the line that says why the run of a task ended early, if it had used what one run may use.
fn early_end(question: &Question, outcome: &Outcome, texts: &Texts) -> Option<String> {
    let answer = outcome.answer().filter(|answer| question.task.is_some() && answer.hands_back)?;
    Some(fill(texts.task_ended_early(), &[("tokens", &texts.tokens(answer.usage.total()))]))
}

/// Returns the words for a nearly used-up limit of the people of a chat; `None` for a limit that is the owners' business.
fn nearly_words(texts: &Texts, limit: &LimitUse) -> Option<String> {
    let words = match limit.axis {
        BudgetAxis::Person(_) | BudgetAxis::Role(_) => texts.budget_nearly_person(),
        BudgetAxis::Chat(_) => texts.budget_nearly_chat(),
        BudgetAxis::Task(_) => texts.budget_nearly_task(),
        BudgetAxis::Bot | BudgetAxis::Agent(_) | BudgetAxis::Key(_) => return None,
    };
    Some(owner_words(texts, words, limit))
}

fn owner_words(texts: &Texts, words: &str, limit: &LimitUse) -> String {
    let (gone, cap) = gone_of(texts, limit);
    let (percent, name) = (limit.percent().to_string(), name_of(texts, &limit.axis));
    let values = [
        ("name", name.as_str()),
        ("percent", &percent),
        ("period", period_word(texts, limit.period)),
        ("gone", &gone),
        ("cap", &cap),
    ];
    fill(words, &values)
}

/// Returns what is used of a limit, and the limit: in money or in tokens, whichever is nearer to its end.
fn gone_of(texts: &Texts, limit: &LimitUse) -> (String, String) {
    let (caps, spent) = (limit.bound.caps, limit.bound.usage.spent);
    let by_money = caps.nano_usd.filter(|cap| {
        let is_nearer = |tokens: u64| {
            u128::from(spent.nano_usd) * u128::from(tokens) >= u128::from(spent.tokens) * u128::from(*cap)
        };
        caps.tokens.is_none_or(is_nearer)
    });
    match by_money {
        Some(cap) => (spent.money(), dollars(cap)),
        None => (amount(spent.tokens), texts.tokens(caps.tokens.unwrap_or_default())),
    }
}

/// Returns the name of a party in notices to owners.
fn name_of(texts: &Texts, axis: &BudgetAxis) -> String {
    match axis {
        BudgetAxis::Agent(name) => fill(texts.budget_of_agent(), &[("name", name)]),
        BudgetAxis::Key(name) => fill(texts.budget_of_key(), &[("name", name)]),
        _ => texts.budget_of_bot().to_owned(),
    }
}

fn period_word(texts: &Texts, period: Period) -> &str {
    match period {
        Period::Day => texts.period_day(),
        Period::Month => texts.period_month(),
    }
}
