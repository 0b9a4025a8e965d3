//! What can go wrong with an answer, in words for the person who waits for it.

use super::mailbox::Question;
use crate::domain::message::AttachmentKind;
use crate::prompts::texts::{Texts, fill};
use crate::provider::ProviderError;

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trouble {
    /// The model failed.
    Model(ProviderError),
    /// The model withheld its answer.
    Withheld,
    /// The model ended without a word.
    Empty,
    /// Figaro itself failed.
    Internal,
}

impl Trouble {
    /// A short stable name for the log and for owners.
    #[must_use]
    pub const fn label(&self) -> &'static str {
        match self {
            Self::Model(error) => error.label(),
            Self::Withheld => "withheld",
            Self::Empty => "empty",
            Self::Internal => "internal",
        }
    }

    /// A sentence that says what happened and what to do.
    #[must_use]
    pub fn words(&self, texts: &Texts, model: &str) -> String {
        let text = match self {
            Self::Model(error) => match error {
                ProviderError::Unauthorized(_) => &texts.trouble_unauthorized,
                ProviderError::UnknownModel(_) => &texts.trouble_model,
                ProviderError::NoQuota(_) => &texts.trouble_quota,
                ProviderError::RateLimited { .. } => &texts.trouble_busy,
                ProviderError::Unavailable(_) => &texts.trouble_unavailable,
                ProviderError::TooLong(_) => &texts.trouble_long,
                ProviderError::Refused(_) => &texts.trouble_refused,
                ProviderError::Cut(_) => &texts.trouble_cut,
                ProviderError::Stalled(_) => &texts.trouble_timeout,
            },
            Self::Withheld => &texts.trouble_refused,
            Self::Empty => &texts.trouble_empty,
            Self::Internal => &texts.trouble_internal,
        };
        fill(text, &[("model", model)])
    }
}

/// The answer to a question that holds nothing Figaro can read: no words, only content of a kind it has no eyes or
/// ears for.
#[must_use]
pub fn unreadable(question: &Question, texts: &Texts) -> Option<String> {
    let mut attachments = question.parts.iter().flat_map(|part| &part.attachments);
    let has_words = question.parts.iter().any(|part| !part.text.trim().is_empty());
    let first = attachments.next().filter(|_| !has_words)?;
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
    Some(fill(&texts.unsupported, &[("kind", kind)]))
}
