//! Output and exit result of a finished turn.

use std::io::{self, ErrorKind};
use std::sync::Arc;

use serde_json::{Value, json};
use tokio::time::timeout;

use super::print::Printer;
use super::remedy::ModelEndpoint;
use crate::app::failure::AppFailure;
use crate::app::groups::AT_ONCE;
use figaro_agent::delivery::{TurnClosing, TurnEnding};
use figaro_base::secret::Redactor;
use figaro_base::system::in_words;
use figaro_domain::budget::{BudgetAxis, Period};
use figaro_domain::model::ModelName;
use figaro_domain::tool::ToolCall;
use figaro_domain::usage::Spent;
use figaro_ledger::Ledger;
use figaro_store::Store;

/// Reason shown when a stop signal ends the call.
pub(super) const STOPPED: &str = "stopped before the answer was complete";
/// Reason shown when the answer reaches its maximum length.
const CUT: &str = "the answer was cut: it has reached its bound on length";
/// Reason shown when the turn ends without a closing event.
const NO_END: &str = "the turn did not come to its end; RUST_LOG=info shows more";

/// A finished turn and the data for its last event.
pub(super) struct FinishedTurn<'a> {
    pub(super) printer: Printer,
    pub(super) store: &'a Store,
    pub(super) ledger: &'a Arc<Ledger>,
    /// Redactor for all secrets of the settings.
    pub(super) redactor: Redactor,
    /// Agent and model of the options.
    pub(super) agent: Option<String>,
    pub(super) model: Option<ModelName>,
    /// Endpoint of the model, for hints about failures.
    pub(super) asked: ModelEndpoint,
    /// Spending of the day before the question.
    pub(super) before: Spent,
}

/// Prints the end of a turn.
///
/// # Errors
/// When the answer is missing or cut, with a hint.
pub(super) async fn finish(mut ended: FinishedTurn<'_>) -> Result<(), AppFailure> {
    let closing = ended.printer.closing.take();
    let declined = ended.printer.declined.take();
    let (label, reason) = match &closing {
        Some(closing) if declined.is_none() => match &closing.ending {
            TurnEnding::Answered => {
                let words = closing.is_cut.then(|| format!("{CUT}; {}", ended.asked.remedy("spent")));
                answered(ended, closing).await.or_else(|error| unprinted(&error))?;
                return words.map_or(Ok(()), |words| Err(AppFailure::Cut(words)));
            }
            TurnEnding::Stopped => ("stopped", STOPPED.to_owned()),
            TurnEnding::Failed { label, reason, .. } => {
                (*label, format!("{reason}; {}", ended.asked.remedy(label)))
            }
        },
        _ => ("internal", declined.unwrap_or_else(|| NO_END.to_owned())),
    };
    // A provider may quote the API key in its error.
    let reason = ended.redactor.clean(&reason);
    let printed = failed(&mut ended, closing.as_ref(), label, &reason).await;
    // The exit code and standard error report the failure anyway.
    drop(printed);
    Err(AppFailure::Unanswered(reason))
}

/// Prints the end of a stopped turn and returns the failure.
pub(super) async fn stopped(mut ended: FinishedTurn<'_>) -> AppFailure {
    // A slow reader may block the output.
    drop(timeout(AT_ONCE, failed(&mut ended, None, "stopped", STOPPED)).await);
    AppFailure::Unanswered(STOPPED.to_owned())
}

/// Maps a write error of standard output. A closed pipe is no failure: the reader has what it wants.
///
/// # Errors
/// For any error other than a broken pipe.
pub(super) fn unprinted(error: &io::Error) -> Result<(), AppFailure> {
    match error.kind() {
        ErrorKind::BrokenPipe => Ok(()),
        _ => Err(AppFailure::Unanswered(format!("standard output cannot be written: {}", in_words(error)))),
    }
}

async fn answered(mut ended: FinishedTurn<'_>, closing: &TurnClosing) -> io::Result<()> {
    let text = ended.printer.answer(closing).await?;
    let event = ended.event("done", json!({"text": text, "cut": closing.is_cut}), Some(closing));
    ended.printer.end(&event).await
}

async fn failed(
    ended: &mut FinishedTurn<'_>,
    closing: Option<&TurnClosing>,
    label: &str,
    message: &str,
) -> io::Result<()> {
    ended.printer.break_off().await?;
    let event = ended.event("error", json!({"label": label, "message": message}), closing);
    ended.printer.end(&event).await
}

impl FinishedTurn<'_> {
    /// Builds the last event: `own` plus agent, model, usage, spending and tool calls.
    fn event(&self, name: &str, own: Value, closing: Option<&TurnClosing>) -> Value {
        let calls = match self.printer.run {
            Some(run) => self.store.conversations().tool_calls(run).unwrap_or_default(),
            None => Vec::new(),
        };
        let chosen = self.model.as_ref().unwrap_or_else(|| self.ledger.models.default_model());
        let model = closing.and_then(|closing| closing.model.as_ref()).unwrap_or(chosen);
        let usage = closing.map(|closing| closing.usage).unwrap_or_default();
        let mut event = json!({
            "event": name,
            "agent": self.agent,
            "model": model.to_string(),
            "usage": {
                "input_tokens": usage.input,
                "cached_tokens": usage.cached,
                "output_tokens": usage.output,
            },
            "spent": spent(self.before, self.ledger.spent(&BudgetAxis::Bot, Period::Day)),
            "tool_calls": calls.iter().map(shown).collect::<Vec<_>>(),
        });
        if let (Some(event), Value::Object(own)) = (event.as_object_mut(), own) {
            event.extend(own);
        }
        event
    }
}

/// Total cost of the question, with other agents and searches. `usd` is `null` if a price is unknown.
fn spent(before: Spent, after: Spent) -> Value {
    let tokens = after.tokens.saturating_sub(before.tokens);
    let is_known = after.unpriced == before.unpriced;
    #[expect(clippy::cast_precision_loss, reason = "money for people and scripts; the books are exact")]
    let usd = is_known.then(|| after.nano_usd.saturating_sub(before.nano_usd) as f64 / 1e9);
    json!({"tokens": tokens, "usd": usd})
}

fn shown(call: &ToolCall) -> Value {
    let arguments: Option<Value> = serde_json::from_str(&call.call.arguments).ok();
    json!({
        "name": call.call.name,
        "arguments": arguments.unwrap_or_else(|| Value::String(call.call.arguments.clone())),
        "status": call.status,
        "duration_ms": call.duration_ms,
    })
}
