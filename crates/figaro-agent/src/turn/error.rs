//! Errors of a turn, with texts for the person who waits for its answer.

use std::time::Duration;

use chrono::{DateTime, Utc};

use figaro_base::text::one_line;
use figaro_domain::budget::BudgetAxis;
use figaro_domain::delivery::Action;
use figaro_domain::model::{ModelName, list};
use figaro_domain::task::Reason;
use figaro_ledger::{Ledger, LedgerError, OverBudget};
use figaro_prompts::texts::{Texts, fill};
use figaro_provider::models::Models;
use figaro_provider::retry::MAX_ASKED;
use figaro_provider::{Demand, ProviderError};

/// Timeout of the request for the list of models that a provider serves.
const SERVED_TIMEOUT: Duration = Duration::from_secs(5);
/// Waits longer than this are shown with the date.
const HALF_A_DAY: Duration = Duration::from_secs(12 * 60 * 60);
/// Maximum length of the description of a model's error, in characters.
const DESCRIBED_CHARS: usize = 500;

/// Reason why a turn has no answer. Each case has a text for people and a stable label.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TurnError {
    /// The provider of this model failed with this error.
    #[error("{1}: {0}")]
    Model(ProviderError, ModelName),
    /// The provider of this model accepts no requests until a given time.
    #[error("{model}: the provider is limiting requests until {time} ({zone}): {said}")]
    Limited {
        model: ModelName,
        said: String,
        /// Local time when it accepts requests again; with the date if it is more than half a day away.
        time: String,
        /// IANA name of the time zone of `time`.
        zone: String,
    },
    /// The provider no longer serves the model.
    #[error("{model} is not served: its provider has {}", list(.served))]
    Gone {
        /// The model that is not served.
        model: ModelName,
        /// The models that its provider serves.
        served: Vec<ModelName>,
    },
    /// The price of the model is unknown, and money is the only limit.
    #[error("the price of {0} is not known, and money is the only limit")]
    Unpriced(ModelName),
    /// A limit on spending is used up.
    #[error(transparent)]
    OverBudget(Box<OverBudget>),
    /// The model, or its provider's filter, withheld the answer.
    #[error("the model or its provider withheld the answer")]
    Withheld,
    /// The model ended without text or reasoning.
    #[error("the model wrote nothing")]
    Empty,
    /// The model reached the limit on its answer before it wrote any text, or within a call.
    #[error(
        "the answer became too long before the model had said anything: reasoning or a call took all of it"
    )]
    Spent,
    /// The model reasoned but gave no answer.
    #[error("the model has reasoned and given no answer")]
    Unspoken,
    /// The answer did not fit its required form, even after one correction.
    #[error("the answer does not fit the form that the agent is to give, also after it was asked to mend it")]
    Misfit,
    /// Neither this model nor one of its fallbacks can meet this demand.
    #[error("{1} cannot do what {word} asks for", word = .0.word())]
    Unmet(Demand, ModelName),
    /// The agent of this name, which should carry out a task, no longer exists.
    #[error("the agent {0} is not there any more")]
    NoAgent(String),
    /// An internal fault, such as a failing store. The log has the cause.
    #[error("something failed within Figaro")]
    Internal,
}

impl TurnError {
    /// Converts the error of a failed call of this model.
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
            LedgerError::OverBudget(over) => Self::OverBudget(over),
        }
    }

    /// Converts the error of a model. If the model is gone, asks the provider for the models that it serves.
    async fn of_model(error: ProviderError, models: &Models, model: &ModelName) -> Self {
        if !matches!(error, ProviderError::UnknownModel(_)) {
            return Self::Model(error, model.clone());
        }
        match tokio::time::timeout(SERVED_TIMEOUT, models.served(&model.provider)).await {
            Ok(Ok(served)) => Self::gone(error, model, served),
            _ => Self::Model(error, model.clone()),
        }
    }

    /// Returns [`Self::Gone`] if the provider serves other models. The list may still contain the model itself, or
    /// nothing else.
    fn gone(error: ProviderError, model: &ModelName, mut served: Vec<ModelName>) -> Self {
        served.retain(|other| other != model);
        match served.is_empty() {
            true => Self::Model(error, model.clone()),
            false => Self::Gone { model: model.clone(), served },
        }
    }

    /// Returns a short stable name for the log and for owners.
    #[must_use]
    pub(crate) fn label(&self) -> &'static str {
        match self {
            Self::Model(error, _) if error.is_about_content() => "filtered",
            Self::Model(error, _) => error.label(),
            Self::Limited { .. } => "rate_limited",
            Self::Gone { .. } => "unknown_model",
            Self::Unpriced(_) => "unpriced",
            Self::OverBudget(_) => "over_budget",
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

    /// Returns the name of the parameter at fault in OpenAI's API; `None` if unknown.
    #[must_use]
    pub(super) const fn param(&self) -> Option<&'static str> {
        match self {
            Self::Unmet(demand, _) => Some(demand.word()),
            _ => None,
        }
    }

    /// Returns the end of the used-up limit on spending; `None` for any other error.
    #[must_use]
    pub(super) fn until(&self) -> Option<DateTime<Utc>> {
        match self {
            Self::OverBudget(over) => Some(over.until.to_utc()),
            _ => None,
        }
    }

    /// Returns the model that could not answer; `None` if any other model would fail too, or if the model does not
    /// matter.
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

    /// Returns a sentence that says what happened and what to do. Only owners can choose any model of a provider.
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
                ProviderError::Unreadable(_) | ProviderError::Refused(_) => texts.error_refused(),
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
            Self::OverBudget(over) => {
                let words = match over.axis {
                    BudgetAxis::Person(_) | BudgetAxis::Role(_) => texts.error_budget_person(),
                    BudgetAxis::Chat(_) => texts.error_budget_chat(),
                    BudgetAxis::Task(_) => texts.error_budget_task(),
                    BudgetAxis::Bot | BudgetAxis::Agent(_) | BudgetAxis::Key(_) => texts.error_budget(),
                };
                let (time, zone) = over.until_words();
                return fill(words, &[("time", &time), ("zone", &zone)]);
            }
            Self::Withheld => texts.error_refused(),
            Self::Empty => texts.error_empty(),
            Self::Spent => texts.error_spent(),
            Self::Unspoken => texts.error_unspoken(),
            // Only requests over HTTP make such demands.
            Self::Unmet(..) => texts.error_refused(),
            Self::Misfit => texts.error_misfit(),
            Self::NoAgent(_) => return texts.reason(&self.reason()),
            Self::Internal => texts.error_internal(),
        };
        text.to_owned()
    }

    /// Returns the reason that is stored for a task, where nobody waits who could retry.
    #[must_use]
    pub(super) fn reason(&self) -> Reason {
        match self {
            Self::OverBudget(over) => {
                let (time, zone) = over.until_words();
                Reason::Budget { time, zone }
            }
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
                ProviderError::TooLong(_) | ProviderError::Unreadable(_) | ProviderError::Refused(_) => {
                    Reason::Refused
                }
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

    /// Returns the error of the model with its remedy, as `figaro check` shows it, for owners; `None` for errors that no
    /// model is at fault for.
    #[must_use]
    pub(super) fn described(&self, models: &Models) -> Option<String> {
        let remedy = match self {
            Self::Model(error, model) => error.remedy(models.spec(&model.provider)),
            _ => String::new(),
        };
        // Words in brackets may come from the provider: no chat shows them, the log does.
        let words = self.to_string();
        let words = words.split(" (").next().unwrap_or_default();
        self.model().map(|_| one_line(&format!("{words}{remedy}"), DESCRIBED_CHARS))
    }

    /// Returns the actions offered to the person. An answer that was partly shown may be continued.
    #[must_use]
    pub(super) fn actions(&self, was_shown: bool) -> Vec<Action> {
        let again = match self {
            Self::Model(ProviderError::TooLong(_), _) | Self::OverBudget(_) | Self::NoAgent(_) => Vec::new(),
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
