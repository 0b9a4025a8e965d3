//! Text of a turn so far, both for streamed and for whole answers.

use std::time::Duration;

use axum::http::StatusCode;

use super::error::GatewayError;
use super::hub::{HubTurn, TurnCutoff};
use figaro_agent::delivery::{OutsideEvent, TurnClosing, TurnEnding, TurnEventKind};
use figaro_base::ids::RunId;

/// Text of a turn, as far as its events were read.
#[derive(Debug, Default)]
pub(super) struct TurnTranscript {
    /// Id of the turn. Events of other runs are ignored.
    run: Option<RunId>,
    /// Text of the current pass.
    shown: String,
    /// `true` if text of an earlier pass precedes the next text.
    has_gap: bool,
    has_spoken: bool,
    words: String,
    declined: bool,
    closing: Option<TurnClosing>,
}

impl TurnTranscript {
    /// Reads the next event. Returns the text to write now.
    pub(super) fn hear(&mut self, told: &OutsideEvent) -> Option<String> {
        let event = match told {
            OutsideEvent::Words(words) => {
                self.words.clone_from(words);
                return None;
            }
            OutsideEvent::Declined(_) => {
                self.declined = true;
                return None;
            }
            OutsideEvent::Event(event) => event,
        };
        let is_own = *self.run.get_or_insert(event.run) == event.run;
        match &event.kind {
            TurnEventKind::Delta(text) if is_own => {
                self.shown.push_str(text);
                let gap = if std::mem::take(&mut self.has_gap) { "\n\n" } else { "" };
                self.has_spoken = true;
                return Some(format!("{gap}{text}"));
            }
            TurnEventKind::PassEnded { kept } if is_own => {
                let said = std::mem::replace(&mut self.shown, kept.clone());
                self.has_gap |= said.trim() != self.shown.trim();
            }
            TurnEventKind::Closed(closing) if is_own => self.closing = Some((**closing).clone()),
            TurnEventKind::Started { .. }
            | TurnEventKind::Delta(_)
            | TurnEventKind::PassEnded { .. }
            | TurnEventKind::ToolStarted { .. }
            | TurnEventKind::ToolEnded { .. }
            | TurnEventKind::Action { .. }
            | TurnEventKind::MemoryUpdated { .. }
            | TurnEventKind::Child { .. }
            | TurnEventKind::Ended
            | TurnEventKind::Closed(_) => {}
        }
        None
    }

    /// Returns the whole answer of the last pass, with Figaro's additions.
    #[must_use]
    pub(super) fn whole(&self) -> String {
        self.closing.as_ref().map(|closing| closing.whole(&self.words)).unwrap_or_default()
    }

    /// Returns the part of the answer that is still to be written after the streamed text.
    #[must_use]
    pub(super) fn rest(&self) -> String {
        let whole = self.whole();
        match whole.strip_prefix(self.shown.trim()) {
            Some(rest) => rest.to_owned(),
            None if self.has_spoken => format!("\n\n{whole}"),
            None => whole,
        }
    }

    /// Returns the outcome of the turn.
    ///
    /// # Errors
    /// Reason why there is no answer.
    pub(super) fn ended(&self, turn: &HubTurn) -> Result<&TurnClosing, GatewayError> {
        if let Some(cut) = turn.cut() {
            return Err(why_cut(cut));
        }
        let nothing = || match self.declined {
            true => GatewayError::unavailable(
                "store",
                "the storage failed, so the question was not taken: ask again",
            ),
            false => GatewayError::unavailable("stopping", "the turn did not come to its end: ask again"),
        };
        let closing = self.closing.as_ref().ok_or_else(nothing)?;
        match &closing.ending {
            TurnEnding::Answered => Ok(closing),
            TurnEnding::Stopped => Err(stopped()),
            TurnEnding::Failed { label, reason, param, until } => {
                tracing::debug!(label, reason, "a question over HTTP has no answer");
                let error = param.map_or_else(|| failed(label), unmet);
                Err(GatewayError { over_until: *until, ..error })
            }
        }
    }
}

/// The session does not wait for the results that were sent.
#[must_use]
pub(super) fn not_waited_for() -> GatewayError {
    let words = "this session does not wait for these results: the calls have to be those that the answer to its last question has asked for; \
         put the question again, or leave X-Session-Id out";
    GatewayError { code: "no_open_calls", ..GatewayError::invalid(words) }.about("messages")
}

fn stopped() -> GatewayError {
    GatewayError::conflict("the turn was stopped before it had its answer")
}

fn why_cut(cut: TurnCutoff) -> GatewayError {
    match cut {
        TurnCutoff::Erased => GatewayError {
            code: "erased",
            ..GatewayError::conflict("what was said here was erased before all of it was read")
        },
        TurnCutoff::Stopped => stopped(),
        TurnCutoff::Foreign => not_waited_for(),
    }
}

/// No permitted model supports this parameter.
fn unmet(param: &str) -> GatewayError {
    let words = match param {
        "stop" => {
            "the service of this model cannot end an answer at words: leave stop out, or name another model"
        }
        "image_url" => "this model sees no pictures: send text, or name another model",
        _ => {
            "the service of this model cannot be made to call a tool: leave tool_choice out, or name another model"
        }
    };
    GatewayError::unsupported(param, words)
}

/// Returns the error for a failed turn. The provider's message goes to the log only, because the caller may not be
/// allowed to see it.
fn failed(label: &'static str) -> GatewayError {
    match label {
        "over_budget" => GatewayError::too_many(
            "insufficient_quota",
            "the budget of the bot, of this key or of this person is used up; the owner of the bot sets it",
        ),
        "rate_limited" => GatewayError::too_many(
            "rate_limit_exceeded",
            "the service of the model is busy: ask again in a minute",
        )
        .after(Duration::from_secs(60)),
        "too_long" => GatewayError {
            code: "context_length_exceeded",
            ..GatewayError::invalid("the conversation is longer than the model takes: send less of it")
        },
        "refused" => GatewayError {
            code: "request_refused",
            ..GatewayError::invalid(
                "the service of the model refuses this request as it is; the log of Figaro has its words. It may not know a parameter or a \
                 tool's schema: leave these out, or name another model",
            )
        },
        "filtered" | "withheld" => GatewayError {
            code: "content_filter",
            ..GatewayError::invalid(
                "the model or its service has withheld the answer: put the question differently",
            )
        },
        "unknown_model" => GatewayError::not_found(
            "model_not_found",
            "the provider does not serve this model: name another one",
        ),
        "no_agent" => GatewayError::not_found("model_not_found", "the agent is not there any more"),
        "unavailable" | "cut" | "stalled" | "garbled" => GatewayError::unavailable(
            label,
            "the service of the model does not answer as it should: ask again in a minute",
        ),
        "empty" => GatewayError::bad_gateway(label, "the model wrote nothing: ask again, or another model"),
        "spent" => GatewayError::bad_gateway(
            label,
            "the answer became too long before the model had said anything: ask for less, or another model",
        ),
        "unspoken" => GatewayError::bad_gateway(
            label,
            "the model has reasoned and given no answer: ask again, or another model",
        ),
        "misfit" => GatewayError::bad_gateway(
            label,
            "the answer of the model does not fit the form that is asked for, also after it was asked to mend it",
        ),
        "internal" => GatewayError {
            status: StatusCode::INTERNAL_SERVER_ERROR,
            ..GatewayError::unavailable(label, "something failed within Figaro; its log says what")
        },
        _ => GatewayError::bad_gateway(
            label,
            "the model cannot be asked as it is set up; the log of Figaro says why",
        ),
    }
}
