//! What can go wrong with a turn, in words for the person who waits for its answer.

use std::time::Duration;

use figaro_domain::delivery::Action;
use figaro_domain::model::{ModelName, list};
use figaro_domain::task::Reason;
use figaro_ledger::{Ledger, LedgerError};
use figaro_prompts::texts::{Texts, fill};
use figaro_provider::models::Models;
use figaro_provider::retry::MAX_ASKED;
use figaro_provider::{Demand, ProviderError};

/// How long a provider is waited for that is to say what it serves instead.
const SERVED_TIMEOUT: Duration = Duration::from_secs(5);
/// A time further away than that is told with its date.
const HALF_A_DAY: Duration = Duration::from_secs(12 * 60 * 60);

/// Why a turn has no answer. Each case has a text for people and a stable label.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TurnError {
    /// The provider of this model failed, in this way.
    #[error("{1}: {0}")]
    Model(ProviderError, ModelName),
    /// The provider of this model takes no more requests until a time.
    #[error("{model}: the provider is limiting requests until {time} ({zone}): {said}")]
    Limited {
        /// The model that was asked.
        model: ModelName,
        /// What the provider says.
        said: String,
        /// When it takes requests again, as a clock shows it, with the date where that is far.
        time: String,
        /// The IANA time zone of that time.
        zone: String,
    },
    /// The model is not served any more; these are.
    #[error("{model} is not served any more; its provider has {}", list(.served))]
    Gone {
        /// The model that is not served.
        model: ModelName,
        /// The models that its provider serves.
        served: Vec<ModelName>,
    },
    /// Nobody knows what the model costs, and money is the only bound.
    #[error("the price of {0} is not known, and DAILY_USD is the only bound")]
    Unpriced(ModelName),
    /// The day's budget is used up.
    #[error("today's budget is used up; it resets at {time} ({zone})")]
    OverBudget {
        /// When it resets, as a clock shows it.
        time: String,
        /// The IANA time zone of that time.
        zone: String,
    },
    /// The model, or its provider's filter, withheld the answer.
    #[error("the model or its provider withheld the answer")]
    Withheld,
    /// The model ended without a word.
    #[error("the model wrote nothing")]
    Empty,
    /// The model came to the bound on its answer before it had said anything, or within a call.
    #[error(
        "the answer became too long before the model had said anything: reasoning or a call took all of it"
    )]
    Spent,
    /// The model has reasoned and gave no answer.
    #[error("the model has reasoned and given no answer")]
    Unspoken,
    /// The answer was to have a form and had not, twice.
    #[error("the answer does not fit the form that the agent is to give, also after it was asked to mend it")]
    Misfit,
    /// Neither this model nor one that stands in for it can do this.
    #[error("{1} cannot do what {word} asks for", word = .0.word())]
    Unmet(Demand, ModelName),
    /// The agent of this name, which a task is carried out by, is not there any more.
    #[error("the agent {0} is not there any more")]
    NoAgent(String),
    /// A fault within Figaro, such as a failing store. The log has the cause.
    #[error("something failed within Figaro")]
    Internal,
}

impl TurnError {
    /// What a failed call of this model means for the person.
    pub(super) async fn of_ledger(error: LedgerError, ledger: &Ledger, model: &ModelName) -> Self {
        match error {
            LedgerError::Model(ProviderError::RateLimited { retry_after: Some(wait), message })
                if wait > MAX_ASKED =>
            {
                let (at, zone) = ledger.time_after(wait);
                let format = if wait < HALF_A_DAY { "%H:%M" } else { "%Y-%m-%d %H:%M" };
                let (time, zone) = (at.format(format).to_string(), zone.name().to_owned());
                Self::Limited { model: model.clone(), said: message, time, zone }
            }
            LedgerError::Model(error) => Self::of_model(error, &ledger.models, model).await,
            LedgerError::Unpriced(model) => Self::Unpriced(model),
            LedgerError::Store | LedgerError::Slow | LedgerError::Busy => Self::Internal,
            LedgerError::OverBudget => {
                let (at, zone) = ledger.resets_at();
                Self::OverBudget { time: at.format("%H:%M").to_string(), zone: zone.name().to_owned() }
            }
        }
    }

    /// What a model's failure means; of one that is gone, what its provider serves instead.
    async fn of_model(error: ProviderError, models: &Models, model: &ModelName) -> Self {
        if !matches!(error, ProviderError::UnknownModel(_)) {
            return Self::Model(error, model.clone());
        }
        match tokio::time::timeout(SERVED_TIMEOUT, models.served(&model.provider)).await {
            Ok(Ok(served)) => Self::gone(error, model, served),
            _ => Self::Model(error, model.clone()),
        }
    }

    /// A list may still have the model that is gone, and may have nothing else.
    fn gone(error: ProviderError, model: &ModelName, mut served: Vec<ModelName>) -> Self {
        served.retain(|other| other != model);
        match served.is_empty() {
            true => Self::Model(error, model.clone()),
            false => Self::Gone { model: model.clone(), served },
        }
    }

    /// A short stable name for the log and for owners.
    #[must_use]
    pub(crate) fn label(&self) -> &'static str {
        match self {
            Self::Model(error, _) if error.is_about_content() => "filtered",
            Self::Model(error, _) => error.label(),
            Self::Limited { .. } => "rate_limited",
            Self::Gone { .. } => "unknown_model",
            Self::Unpriced(_) => "unpriced",
            Self::OverBudget { .. } => "over_budget",
            Self::Withheld => "withheld",
            Self::Empty => "empty",
            Self::Spent => "spent",
            Self::Unspoken => "unspoken",
            Self::Misfit => "misfit",
            Self::Unmet(..) => "unmet",
            Self::NoAgent(_) => "no_agent",
            Self::Internal => "internal",
        }
    }

    /// What of a request is at fault, as far as that is known, by its name in OpenAI's dialect.
    #[must_use]
    pub(super) const fn param(&self) -> Option<&'static str> {
        match self {
            Self::Unmet(demand, _) => Some(demand.word()),
            _ => None,
        }
    }

    /// The model that could not answer; `None` where another would fail alike, or which one it was does not matter.
    #[must_use]
    pub(super) const fn model(&self) -> Option<&ModelName> {
        match self {
            Self::Model(_, model)
            | Self::Limited { model, .. }
            | Self::Gone { model, .. }
            | Self::Unpriced(model)
            | Self::Unmet(_, model) => Some(model),
            _ => None,
        }
    }

    /// A sentence that says what happened and what to do. Only owners can choose any model that a provider has.
    #[must_use]
    pub(crate) fn words(&self, texts: &Texts, is_owner: bool) -> String {
        let text = match self {
            Self::Model(error, model) => match error {
                ProviderError::Unauthorized(_) => texts.error_unauthorized(),
                ProviderError::UnknownModel(_) => {
                    return fill(texts.error_model(), &[("model", &model.to_string())]);
                }
                ProviderError::NoQuota(_) => texts.error_quota(),
                ProviderError::RateLimited { .. } => texts.error_busy(),
                ProviderError::Unavailable(_) => texts.error_unavailable(),
                ProviderError::TooLong(_) => texts.error_long(),
                ProviderError::Garbled(_) => texts.error_garbled(),
                ProviderError::Refused(_) => texts.error_refused(),
                ProviderError::Foreign(_) | ProviderError::WrongAddress(_) => {
                    return fill(texts.error_foreign(), &[("model", &model.to_string())]);
                }
                ProviderError::Cut(_) => texts.error_cut(),
                ProviderError::Stalled(_) => texts.error_timeout(),
            },
            Self::Limited { time, zone, .. } => {
                return fill(texts.error_busy_until(), &[("time", time), ("zone", zone)]);
            }
            Self::Gone { model, served } => {
                let served = list(served);
                let words = if is_owner { texts.error_gone() } else { texts.error_gone_member() };
                return fill(words, &[("model", &model.to_string()), ("served", &served)]);
            }
            Self::Unpriced(model) => return fill(texts.error_unpriced(), &[("model", &model.to_string())]),
            Self::OverBudget { time, zone } => {
                return fill(texts.error_budget(), &[("time", time), ("zone", zone)]);
            }
            Self::Withheld => texts.error_refused(),
            Self::Empty => texts.error_empty(),
            Self::Spent => texts.error_spent(),
            Self::Unspoken => texts.error_unspoken(),
            // Only requests over HTTP ask for it.
            Self::Unmet(..) => texts.error_refused(),
            Self::Misfit => texts.error_misfit(),
            Self::NoAgent(_) => return texts.reason(&self.reason()),
            Self::Internal => texts.error_internal(),
        };
        text.to_owned()
    }

    /// What it is to a task, for which nobody waits who could try again.
    #[must_use]
    pub(super) fn reason(&self) -> Reason {
        match self {
            Self::OverBudget { time, zone } => Reason::Budget { time: time.clone(), zone: zone.clone() },
            Self::Model(error, _) => match error {
                ProviderError::Unauthorized(_)
                | ProviderError::UnknownModel(_)
                | ProviderError::Foreign(_)
                | ProviderError::WrongAddress(_)
                | ProviderError::NoQuota(_) => Reason::Model,
                ProviderError::RateLimited { .. }
                | ProviderError::Unavailable(_)
                | ProviderError::Garbled(_)
                | ProviderError::Cut(_)
                | ProviderError::Stalled(_) => Reason::Busy,
                ProviderError::TooLong(_) | ProviderError::Refused(_) => Reason::Refused,
            },
            Self::Limited { .. } => Reason::Busy,
            Self::Gone { .. } | Self::Unpriced(_) => Reason::Model,
            Self::Withheld => Reason::Refused,
            Self::Empty => Reason::Empty,
            Self::Spent | Self::Unspoken => Reason::Spent,
            Self::Unmet(..) => Reason::Refused,
            Self::Misfit => Reason::Misfit,
            Self::NoAgent(agent) => Reason::Agent { agent: agent.clone() },
            Self::Internal => Reason::Internal,
        }
    }

    /// What the person may do about it; an answer of which something was shown may go on.
    #[must_use]
    pub(super) fn actions(&self, was_shown: bool) -> Vec<Action> {
        let again = match self {
            Self::Model(ProviderError::TooLong(_), _) | Self::OverBudget { .. } | Self::NoAgent(_) => {
                Vec::new()
            }
            Self::Gone { .. } | Self::Unpriced(_) | Self::Model(ProviderError::UnknownModel(_), _) => {
                vec![Action::OtherModel]
            }
            Self::Internal => vec![Action::Retry],
            Self::Model(..)
            | Self::Limited { .. }
            | Self::Withheld
            | Self::Empty
            | Self::Spent
            | Self::Unspoken
            | Self::Misfit
            | Self::Unmet(..) => vec![Action::Retry, Action::OtherModel],
        };
        let may_go_on = was_shown && !again.is_empty();
        may_go_on.then_some(Action::GoOn).into_iter().chain(again).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_model_that_is_gone_others_are_named_only_where_there_are_some() {
        let name = |model: &str| ModelName { provider: "gemini".into(), model: model.into() };
        let error = || ProviderError::UnknownModel("no".into());
        let gone = |served: &[&str]| {
            TurnError::gone(error(), &name("old"), served.iter().map(|served| name(served)).collect())
        };
        for served in [[].as_slice(), &["old"]] {
            assert!(matches!(gone(served), TurnError::Model(..)), "{served:?}");
        }
        let TurnError::Gone { served, .. } = gone(&["old", "new"]) else { panic!("not gone") };
        assert_eq!(served, [name("new")]);
    }
}
