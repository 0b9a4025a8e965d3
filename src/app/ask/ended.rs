//! What is printed and given once a turn is over.

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
use figaro_domain::model::ModelName;
use figaro_domain::tool::ToolCall;
use figaro_domain::usage::Spent;
use figaro_ledger::Ledger;
use figaro_store::Store;

/// What is said of a call that was told to end.
pub(super) const STOPPED: &str = "stopped before the answer was complete";
/// What is said of an answer that has come to the bound on its length.
const CUT: &str = "the answer was cut: it has reached its bound on length";
/// What is said of a turn of which nobody knows how it ended.
const NO_END: &str = "the turn did not come to its end; RUST_LOG=info shows more";

/// A turn that is over, and what there is to say of it.
pub(super) struct FinishedTurn<'a> {
    pub(super) printer: Printer,
    pub(super) store: &'a Store,
    pub(super) ledger: &'a Arc<Ledger>,
    /// Knows every secret of the settings.
    pub(super) redactor: Redactor,
    /// The agent and the model that were asked for.
    pub(super) agent: Option<String>,
    pub(super) model: Option<ModelName>,
    /// Where that is asked.
    pub(super) asked: ModelEndpoint,
    /// What the day had come to before the question.
    pub(super) before: Spent,
}

/// Prints the end of a turn.
///
/// # Errors
/// When it has no answer, or not all of it, with what to do.
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
    // A provider may quote the key that it was asked with.
    let reason = ended.redactor.clean(&reason);
    let printed = failed(&mut ended, closing.as_ref(), label, &reason).await;
    // The exit code and standard error say it all the same.
    drop(printed);
    Err(AppFailure::Unanswered(reason))
}

/// Prints the end of a turn that was told to end, and gives it.
pub(super) async fn stopped(mut ended: FinishedTurn<'_>) -> AppFailure {
    // Whoever reads it may be what keeps it waiting.
    drop(timeout(AT_ONCE, failed(&mut ended, None, "stopped", STOPPED)).await);
    AppFailure::Unanswered(STOPPED.to_owned())
}

/// What it means that standard output could not be written: a reader that has left has what it wanted.
///
/// # Errors
/// When nobody has left it.
pub(super) fn unprinted(error: &io::Error) -> Result<(), AppFailure> {
    match error.kind() {
        ErrorKind::BrokenPipe => Ok(()),
        _ => Err(AppFailure::Unanswered(format!("standard output cannot be written: {}", in_words(error)))),
    }
}

async fn answered(mut ended: FinishedTurn<'_>, closing: &TurnClosing) -> io::Result<()> {
    let text = ended.printer.answer(closing).await?;
    let event = ended.event("done", json!({"text": text, "cut": closing.is_cut}), Some(closing)).await;
    ended.printer.end(&event).await
}

async fn failed(
    ended: &mut FinishedTurn<'_>,
    closing: Option<&TurnClosing>,
    label: &str,
    message: &str,
) -> io::Result<()> {
    ended.printer.break_off().await?;
    let event = ended.event("error", json!({"label": label, "message": message}), closing).await;
    ended.printer.end(&event).await
}

impl FinishedTurn<'_> {
    /// The last event: `own`, and what the turn was made with and has taken.
    async fn event(&self, name: &str, own: Value, closing: Option<&TurnClosing>) -> Value {
        let calls = match self.printer.run {
            Some(run) => self.store.conversations().tool_calls(run).await.unwrap_or_default(),
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
            "spent": spent(self.before, self.ledger.spent_today()),
            "tool_calls": calls.iter().map(shown).collect::<Vec<_>>(),
        });
        if let (Some(event), Value::Object(own)) = (event.as_object_mut(), own) {
            event.extend(own);
        }
        event
    }
}

/// What the question has cost in all, with other agents and searches; the money is `null` where a price is not known.
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
