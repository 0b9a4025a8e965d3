//! Content of an answer in a chat that the bot is no member of, and the calls that put it there.

use std::time::Duration;

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::InlineAnswer;
use crate::api::EditMessageText;
use crate::error::ApiError;
use crate::outgoing::MESSAGE_UNITS;
use crate::outgoing::{PREVIEW, is_unchanged, no_preview};
use crate::send::{Button, Sender, Unsent, keyboard};
use crate::tries::Tries;
use figaro_agent::outbound::Urgency;
use figaro_base::ids::ChatId;
use figaro_base::text::utf16_len;
use figaro_markup::{Entity, EntityKind, Formatted, MORE, split};

/// Text and buttons of an answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct InlineContent {
    pub(crate) text: Formatted,
    pub(crate) buttons: Vec<Vec<Button>>,
}

impl InlineContent {
    /// Creates a text without buttons.
    pub(crate) const fn text(text: Formatted) -> Self {
        Self { text, buttons: Vec::new() }
    }

    fn body(&self, message: &str) -> Value {
        let mut body =
            json!({"inline_message_id": message, "text": self.text.text, "entities": self.text.entities});
        body[PREVIEW] = no_preview();
        if !self.buttons.is_empty() {
            body["reply_markup"] = keyboard(&self.buttons);
        }
        body
    }
}

/// Puts a question above a text, as a quotation. What does not fit into one message is cut.
pub(crate) fn with_question(question: &Formatted, text: Formatted) -> Formatted {
    let room = MESSAGE_UNITS - utf16_len(&question.text) - utf16_len(MORE) - 2;
    let mut parts = split(text, room).into_iter();
    let mut first = parts.next().unwrap_or_default();
    if parts.next().is_some() {
        first.text += MORE;
    }
    question.clone().followed_by(first)
}

/// Returns a question as a quotation.
pub(crate) fn quotation(words: &str) -> Formatted {
    let words = words.trim();
    let quote = Entity { kind: EntityKind::Blockquote, offset: 0, length: utf16_len(words) };
    Formatted { text: words.to_owned(), entities: vec![quote] }
}

impl Sender {
    /// Shows the state of an answer that is being written, once.
    ///
    /// # Errors
    /// See [`ApiError`].
    pub(crate) async fn show_inline(
        &self,
        answer: &InlineAnswer,
        now: &InlineContent,
    ) -> Result<Value, ApiError> {
        self.api.call(EditMessageText(now.body(&answer.message))).await
    }

    /// Shows how a question ended, until Telegram takes or refuses it.
    ///
    /// # Errors
    /// [`Unsent::Stopping`] if the bot stops first, [`Unsent::Hopeless`] if the message can not be edited.
    pub(crate) async fn end_inline(&self, answer: &InlineAnswer, last: &InlineContent) -> Result<(), Unsent> {
        let (never, mut tries) = (CancellationToken::new(), Tries::unrecorded(self.clock.now()));
        let chat = answer.asker.telegram_id().map_or(ChatId(0), ChatId);
        let mut body = last.body(&answer.message);
        loop {
            self.unless_stopping(self.limiter.acquire(chat, Urgency::Answer), &never).await?;
            let error = match self.api.call(EditMessageText(body.clone())).await {
                Ok(_) => break,
                Err(ApiError::Refused(words)) if is_unchanged(&words.to_lowercase()) => break,
                Err(ApiError::Refused(words)) if words.contains("entit") && body["entities"] != json!([]) => {
                    body["entities"] = json!([]);
                    continue;
                }
                Err(error @ (ApiError::Refused(_) | ApiError::Migrated(_))) => {
                    answer.shown();
                    return Err(Unsent::Hopeless(error.to_string()));
                }
                Err(error) => error,
            };
            let asked = if let ApiError::RetryAfter(wait) = error { wait } else { Duration::ZERO };
            let Some(pause) = tries.again() else {
                answer.shown();
                return Err(Unsent::Hopeless(error.to_string()));
            };
            self.unless_stopping(tokio::time::sleep(pause.max(asked)), &never).await?;
        }
        answer.shown();
        Ok(())
    }
}
