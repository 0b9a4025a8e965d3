//! Summaries on request, even if none is due.

use std::sync::Arc;

use chrono::{DateTime, Utc};

use super::Summariser;
use super::ask::{SummaryDraft, SummaryError};
use figaro_base::ids::{EntryId, SessionId};
use figaro_domain::conversation::Message;
use figaro_domain::summary::{MessageRange, Summary, is_said, whole_run};
use figaro_ledger::LedgerError;
use figaro_store::{StoreError, Unsummarised};

/// Maximum number of messages of a summary if automatic summaries are switched off.
const MOST: usize = 50;

/// Requested range of messages for a summary. `None` means the default.
#[derive(Debug, Clone, Copy, Default)]
pub struct SummaryRange {
    /// Id of the first message to cover; `None` for the default.
    pub start: Option<EntryId>,
    /// Id of the last message to cover; `None` for the default.
    pub end: Option<EntryId>,
}

/// Start of the next summary of a session, and its required end if it replaces another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NextSummary {
    /// Id of the oldest message that no valid summary covers.
    pub start: EntryId,
    /// Id of the last message; `None` if any later message may be the last.
    pub end: Option<EntryId>,
}

/// Reason why there is no summary.
#[derive(Debug, thiserror::Error)]
pub enum Unmade {
    /// All messages are covered, or there are none.
    #[error("nothing is there to be summarised")]
    Nothing,
    /// The requested messages are not the next ones.
    #[error("{field} is not where the next summary begins or ends")]
    Untiled {
        /// Field of [`SummaryRange`] that does not fit, as callers spell it.
        field: &'static str,
        /// Range that the next summary must have.
        next: NextSummary,
    },
    /// The messages have changed meanwhile, or another summary of them was stored first.
    #[error("the session has changed meanwhile")]
    Changed,
    /// A limit leaves no room for it until this time.
    #[error("the budget is used up until {0}")]
    OverBudget(DateTime<Utc>),
    /// The model gave no usable summary; the text says why.
    #[error("the model gave no summary: {0}")]
    Model(String),
    /// Messages could not be read, or the summary could not be stored.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl SummaryRange {
    /// Returns the requested run. `usual` is the run without a request.
    fn run(self, open: &Unsummarised, usual: MessageRange) -> Result<MessageRange, Unmade> {
        let first = open.messages.first().ok_or(Unmade::Nothing)?;
        let at = |index: u32| open.messages.iter().rfind(|message| message.index <= index);
        let end = open.again.and_then(|run| at(run.end)).map(|message| message.id);
        let untiled = |field| Err(Unmade::Untiled { field, next: NextSummary { start: first.id, end } });
        if self.start.is_some_and(|start| start != first.id) {
            return untiled("start_message_id");
        }
        let Some(last) = self.end else { return Ok(usual) };
        if end.is_some_and(|end| end != last) {
            return untiled("end_message_id");
        }
        match open.messages.iter().find(|message| message.id == last) {
            Some(_) if end.is_some() => Ok(usual),
            Some(last) => Ok(MessageRange { end: last.index, ..usual }),
            None => untiled("end_message_id"),
        }
    }
}

impl Summariser {
    /// Summarises the oldest uncovered exchanges of a session, as many messages as one summary covers, or the requested
    /// ones. Includes the newest exchange if it is over. `key` is the key of the gateway that asks
    /// for it; the cost counts on its limits.
    ///
    /// # Errors
    /// The reason why there is no summary.
    pub async fn now(
        &self,
        session: SessionId,
        wanted: SummaryRange,
        key: Option<&str>,
    ) -> Result<Summary, Unmade> {
        let open = self.store.unsummarised(session, self.read_at_once())?.ok_or(Unmade::Nothing)?;
        let most = usize::try_from(self.rules.every).ok().filter(|every| *every > 0).unwrap_or(MOST);
        let usual = open.again.or_else(|| whole_run(&open.messages, most)).ok_or(Unmade::Nothing)?;
        let run = wanted.run(&open, usual)?;
        let within = |message: &&Arc<Message>| (run.start..=run.end).contains(&message.index);
        let covered: Vec<Arc<Message>> = open.messages.iter().filter(within).cloned().collect();
        if !covered.iter().any(|message| is_said(message)) {
            return Err(Unmade::Nothing);
        }
        let made = self.asking.ask(&open.session, &covered, key).await;
        let made: SummaryDraft = made.map_err(|error| match error {
            SummaryError::Store(error) => Unmade::Store(error),
            SummaryError::Model(LedgerError::OverBudget(over)) => Unmade::OverBudget(over.until.to_utc()),
            error => Unmade::Model(error.to_string()),
        })?;
        let summary = self.summary(&open, run, &covered, made);
        match self.store.put(&summary, &covered)? {
            true => Ok(summary),
            false => Err(Unmade::Changed),
        }
    }
}
