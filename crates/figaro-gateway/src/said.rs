//! What a turn has said so far, for answers that are written as they come and for those that are written whole.

use std::time::Duration;

use axum::http::StatusCode;

use super::error::ApiError;
use super::hub::{Cut, Turn};
use figaro_agent::delivery::{OutsideEvent, TurnClosing, TurnEnding, TurnEventKind};
use figaro_base::ids::RunId;

/// What a turn has said, as far as it was heard.
#[derive(Debug, Default)]
pub(super) struct Said {
    /// The turn itself; events of other runs are not its words.
    run: Option<RunId>,
    /// The words of the pass in progress.
    shown: String,
    /// Words of a pass that is over stand before what comes next.
    has_gap: bool,
    has_spoken: bool,
    words: String,
    declined: bool,
    closing: Option<TurnClosing>,
}

impl Said {
    /// Hears what the turn tells next; gives the words that are to be written now.
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

    /// The whole answer of the last pass, with what Figaro adds to it.
    #[must_use]
    pub(super) fn whole(&self) -> String {
        self.closing.as_ref().map(|closing| closing.whole(&self.words)).unwrap_or_default()
    }

    /// What of the answer is still to be written by whoever has written all words as they came.
    #[must_use]
    pub(super) fn rest(&self) -> String {
        let whole = self.whole();
        match whole.strip_prefix(self.shown.trim()) {
            Some(rest) => rest.to_owned(),
            None if self.has_spoken => format!("\n\n{whole}"),
            None => whole,
        }
    }

    /// How the turn ended that has said this.
    ///
    /// # Errors
    /// Why it has no answer.
    pub(super) fn ended(&self, turn: &Turn) -> Result<&TurnClosing, ApiError> {
        if let Some(cut) = turn.cut() {
            return Err(why_cut(cut));
        }
        let nothing = || match self.declined {
            true => {
                ApiError::unavailable("store", "the storage failed, so the question was not taken: ask again")
            }
            false => ApiError::unavailable("stopping", "the turn did not come to its end: ask again"),
        };
        let closing = self.closing.as_ref().ok_or_else(nothing)?;
        match &closing.ending {
            TurnEnding::Answered => Ok(closing),
            TurnEnding::Stopped => Err(stopped()),
            TurnEnding::Failed { label, reason, param } => {
                tracing::debug!(label, reason, "a question over HTTP has no answer");
                Err(param.map_or_else(|| failed(label), unmet))
            }
        }
    }
}

/// The session does not wait for the results that were sent.
#[must_use]
pub(super) fn not_waited_for() -> ApiError {
    let words = "this session does not wait for these results: the calls have to be those that the answer to its last question has asked for; \
         put the question again, or leave X-Session-Id out";
    ApiError { code: "no_open_calls", ..ApiError::invalid(words) }.about("messages")
}

fn stopped() -> ApiError {
    ApiError::conflict("the turn was stopped before it had its answer")
}

fn why_cut(cut: Cut) -> ApiError {
    match cut {
        Cut::Erased => ApiError {
            code: "erased",
            ..ApiError::conflict("what was said here was erased before all of it was read")
        },
        Cut::Stopped => stopped(),
        Cut::Foreign => not_waited_for(),
    }
}

/// No model that may answer can do what this parameter asks for.
fn unmet(param: &str) -> ApiError {
    let words = match param {
        "stop" => {
            "the service of this model cannot end an answer at words: leave stop out, or name another model"
        }
        "image_url" => "this model sees no pictures: send text, or name another model",
        _ => {
            "the service of this model cannot be made to call a tool: leave tool_choice out, or name another model"
        }
    };
    ApiError::unsupported(param, words)
}

/// What a turn that failed in this way means for a caller. What the provider said is in the log: it may not be theirs to read.
fn failed(label: &'static str) -> ApiError {
    match label {
        "over_budget" => ApiError::too_many(
            "insufficient_quota",
            "the budget of today is used up; the owner sets it by DAILY_TOKENS and DAILY_USD",
        ),
        "rate_limited" => ApiError::too_many(
            "rate_limit_exceeded",
            "the service of the model is busy: ask again in a minute",
        )
        .after(Duration::from_secs(60)),
        "too_long" => ApiError {
            code: "context_length_exceeded",
            ..ApiError::invalid("the conversation is longer than the model takes: send less of it")
        },
        "refused" => ApiError {
            code: "request_refused",
            ..ApiError::invalid(
                "the service of the model refuses this request as it is; the log of Figaro has its words. It may not know a parameter or a \
                 tool's schema: leave these out, or name another model",
            )
        },
        "filtered" | "withheld" => ApiError {
            code: "content_filter",
            ..ApiError::invalid(
                "the model or its service has withheld the answer: put the question differently",
            )
        },
        "unknown_model" => {
            ApiError::not_found("model_not_found", "the model is not served any more: name another one")
        }
        "no_agent" => ApiError::not_found("model_not_found", "the agent is not there any more"),
        "unavailable" | "cut" | "stalled" | "garbled" => ApiError::unavailable(
            label,
            "the service of the model does not answer as it should: ask again in a minute",
        ),
        "empty" => ApiError::bad_gateway(label, "the model wrote nothing: ask again, or another model"),
        "spent" => ApiError::bad_gateway(
            label,
            "the answer became too long before the model had said anything: ask for less, or another model",
        ),
        "unspoken" => ApiError::bad_gateway(
            label,
            "the model has reasoned and given no answer: ask again, or another model",
        ),
        "misfit" => ApiError::bad_gateway(
            label,
            "the answer of the model does not fit the form that is asked for, also after it was asked to mend it",
        ),
        "internal" => ApiError {
            status: StatusCode::INTERNAL_SERVER_ERROR,
            ..ApiError::unavailable(label, "something failed within Figaro; its log says what")
        },
        _ => ApiError::bad_gateway(
            label,
            "the model cannot be asked as it is set up; the log of Figaro says why",
        ),
    }
}
