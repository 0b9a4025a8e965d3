//! What can go wrong with an answer, in words for the person who waits for it.

use std::time::Duration;

use super::super::question::Question;
use super::words::Said;
use crate::domain::delivery::Action;
use crate::domain::message::{Attachment, AttachmentKind};
use crate::domain::model::{ModelName, list};
use crate::domain::task::Reason;
use crate::prompts::texts::{Texts, fill};
use crate::provider::ProviderError;
use crate::provider::models::Models;

/// How long a provider is waited for that is to say what it serves instead.
const PATIENCE: Duration = Duration::from_secs(5);

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trouble {
    /// This model failed.
    Model(ProviderError, ModelName),
    /// The model is not served any more; these are.
    Gone {
        /// The model.
        model: ModelName,
        /// What its provider serves.
        served: Vec<ModelName>,
    },
    /// Nobody knows what the model costs, and money is the only bound.
    Unpriced(ModelName),
    /// The day's budget is used up.
    OverBudget {
        /// When it resets, as a clock shows it.
        time: String,
        /// The zone of that clock.
        zone: String,
    },
    /// The model withheld its answer.
    Withheld,
    /// The model ended without a word.
    Empty,
    /// Figaro itself failed.
    Internal,
}

impl Trouble {
    /// What a model's failure means; of one that is gone, what its provider serves instead.
    pub(in crate::turn) async fn of_model(error: ProviderError, models: &Models, model: &ModelName) -> Self {
        if !matches!(error, ProviderError::UnknownModel(_)) {
            return Self::Model(error, model.clone());
        }
        match tokio::time::timeout(PATIENCE, models.served(&model.provider)).await {
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
    pub const fn label(&self) -> &'static str {
        match self {
            Self::Model(error, _) => error.label(),
            Self::Gone { .. } => "unknown_model",
            Self::Unpriced(_) => "unpriced",
            Self::OverBudget { .. } => "over_budget",
            Self::Withheld => "withheld",
            Self::Empty => "empty",
            Self::Internal => "internal",
        }
    }

    /// A sentence that says what happened and what to do.
    #[must_use]
    pub fn words(&self, texts: &Texts) -> String {
        let text = match self {
            Self::Model(error, model) => match error {
                ProviderError::Unauthorized(_) => &texts.trouble_unauthorized,
                ProviderError::UnknownModel(_) => {
                    return fill(&texts.trouble_model, &[("model", &model.to_string())]);
                }
                ProviderError::NoQuota(_) => &texts.trouble_quota,
                ProviderError::RateLimited { .. } => &texts.trouble_busy,
                ProviderError::Unavailable(_) => &texts.trouble_unavailable,
                ProviderError::TooLong(_) => &texts.trouble_long,
                ProviderError::Refused(_) => &texts.trouble_refused,
                ProviderError::Foreign(_) => {
                    return fill(&texts.trouble_foreign, &[("model", &model.to_string())]);
                }
                ProviderError::Cut(_) => &texts.trouble_cut,
                ProviderError::Stalled(_) => &texts.trouble_timeout,
            },
            Self::Gone { model, served } => {
                let served = list(served);
                return fill(&texts.trouble_gone, &[("model", &model.to_string()), ("served", &served)]);
            }
            Self::Unpriced(model) => return fill(&texts.trouble_unpriced, &[("model", &model.to_string())]),
            Self::OverBudget { time, zone } => {
                return fill(&texts.trouble_budget, &[("time", time), ("zone", zone)]);
            }
            Self::Withheld => &texts.trouble_refused,
            Self::Empty => &texts.trouble_empty,
            Self::Internal => &texts.trouble_internal,
        };
        text.clone()
    }

    /// What it is to a task, for which nobody waits who could try again.
    #[must_use]
    pub(in crate::turn) fn reason(&self) -> Reason {
        match self {
            Self::OverBudget { time, zone } => Reason::Budget { time: time.clone(), zone: zone.clone() },
            Self::Model(error, _) => match error {
                ProviderError::Unauthorized(_)
                | ProviderError::UnknownModel(_)
                | ProviderError::Foreign(_)
                | ProviderError::NoQuota(_) => Reason::Model,
                ProviderError::RateLimited { .. }
                | ProviderError::Unavailable(_)
                | ProviderError::Cut(_)
                | ProviderError::Stalled(_) => Reason::Busy,
                ProviderError::TooLong(_) | ProviderError::Refused(_) => Reason::Refused,
            },
            Self::Gone { .. } | Self::Unpriced(_) => Reason::Model,
            Self::Withheld => Reason::Refused,
            Self::Empty => Reason::Empty,
            Self::Internal => Reason::Internal,
        }
    }

    /// What the person may do about it; an answer of which something was shown may go on.
    #[must_use]
    pub(in crate::turn) fn actions(&self, was_shown: bool) -> Vec<Action> {
        let again = match self {
            Self::Model(ProviderError::TooLong(_), _) | Self::OverBudget { .. } => Vec::new(),
            Self::Gone { .. } | Self::Unpriced(_) | Self::Model(ProviderError::UnknownModel(_), _) => {
                vec![Action::OtherModel]
            }
            Self::Internal => vec![Action::Retry],
            Self::Model(..) | Self::Withheld | Self::Empty => vec![Action::Retry, Action::OtherModel],
        };
        let may_go_on = was_shown && !again.is_empty();
        may_go_on.then_some(Action::GoOn).into_iter().chain(again).collect()
    }
}

/// The answer to a question that holds nothing the model can read: no words, only content of a kind it has no eyes or
/// ears for.
#[must_use]
pub(in crate::turn) fn unreadable(
    question: &Question,
    texts: &Texts,
    (model, sees): (&ModelName, bool),
) -> Option<Said> {
    let parts = || question.parts.iter();
    let has_words = parts().any(|part| !part.text.trim().is_empty());
    let mut attachments = parts().flat_map(|part| &part.attachments);
    if has_words || (sees && attachments.clone().any(Attachment::is_picture)) {
        return None;
    }
    let first = attachments.next()?;
    if first.is_picture() {
        let markdown = fill(&texts.blind, &[("model", &model.to_string())]);
        return Some(Said { markdown, actions: vec![Action::OtherModel] });
    }
    let kind = match first.kind {
        AttachmentKind::Photo => &texts.kind_photo,
        AttachmentKind::Document => &texts.kind_document,
        AttachmentKind::Voice => &texts.kind_voice,
        AttachmentKind::Audio => &texts.kind_audio,
        AttachmentKind::Video | AttachmentKind::VideoNote | AttachmentKind::Animation => &texts.kind_video,
        AttachmentKind::Sticker => &texts.kind_sticker,
        AttachmentKind::Other => &texts.kind_other,
        // Their labels say what they hold.
        AttachmentKind::Location | AttachmentKind::Contact | AttachmentKind::Poll => return None,
    };
    Some(Said { markdown: fill(&texts.unsupported, &[("kind", kind)]), actions: Vec::new() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_model_that_is_gone_others_are_named_only_where_there_are_some() {
        let name = |model: &str| ModelName { provider: "gemini".into(), model: model.into() };
        let error = || ProviderError::UnknownModel("no".into());
        let gone = |served: &[&str]| {
            Trouble::gone(error(), &name("old"), served.iter().map(|served| name(served)).collect())
        };
        for served in [[].as_slice(), &["old"]] {
            assert!(matches!(gone(served), Trouble::Model(..)), "{served:?}");
        }
        let Trouble::Gone { served, .. } = gone(&["old", "new"]) else { panic!("not gone") };
        assert_eq!(served, [name("new")]);
    }
}
