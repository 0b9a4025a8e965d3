//! A summary that somebody asks for, whether it is time for one or not.

use std::sync::Arc;

use super::Summariser;
use super::ask::{Failed, Made};
use figaro_base::ids::{EntryId, SessionId};
use figaro_domain::conversation::Message;
use figaro_domain::summary::{Run, Summary, is_said, whole_run};
use figaro_domain::usage::Usage;
use figaro_ledger::LedgerError;
use figaro_store::{StoreError, Unsummarised};

/// So many messages a summary covers at most where none are made by themselves.
const MOST: usize = 50;

/// The messages that a summary is to cover: from this one to that one. What is `None` is as it would be without being asked for.
#[derive(Debug, Clone, Copy, Default)]
pub struct Wanted {
    /// The first message.
    pub start: Option<EntryId>,
    /// The last message.
    pub end: Option<EntryId>,
}

/// Where the next summary of a session begins, and where it has to end if it takes the place of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Next {
    /// The first message.
    pub start: EntryId,
    /// The last message; `None` where any behind the first may be the last.
    pub end: Option<EntryId>,
}

/// Why there is none.
#[derive(Debug, thiserror::Error)]
pub enum Unmade {
    /// Summaries cover all that was said, or nothing was.
    #[error("nothing is there to be summarised")]
    Nothing,
    /// The messages that are asked for are not those that come next.
    #[error("{field} is not where the next summary begins or ends")]
    Untiled {
        /// The field of [`Wanted`] that does not fit, as callers write it.
        field: &'static str,
        /// What the next summary covers.
        next: Next,
    },
    /// What was said has changed meanwhile, or another summary of it came first.
    #[error("the session has changed meanwhile")]
    Changed,
    /// The day's caps leave no room for it.
    #[error("today's budget is used up")]
    OverBudget,
    /// The model did not give one.
    #[error("the model gave no summary: {0}")]
    Model(String),
    /// It could not be read or stored.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Wanted {
    /// The run that is wanted, where another one would be summarised without being asked for.
    fn run(self, open: &Unsummarised, usual: Run) -> Result<Run, Unmade> {
        let first = open.messages.first().ok_or(Unmade::Nothing)?;
        let at = |index: u32| open.messages.iter().rfind(|message| message.index <= index);
        let end = open.again.and_then(|run| at(run.end)).map(|message| message.id);
        let untiled = |field| Err(Unmade::Untiled { field, next: Next { start: first.id, end } });
        if self.start.is_some_and(|start| start != first.id) {
            return untiled("start_message_id");
        }
        let Some(last) = self.end else { return Ok(usual) };
        if end.is_some_and(|end| end != last) {
            return untiled("end_message_id");
        }
        match open.messages.iter().find(|message| message.id == last) {
            Some(_) if end.is_some() => Ok(usual),
            Some(last) => Ok(Run { end: last.index, ..usual }),
            None => untiled("end_message_id"),
        }
    }
}

impl Summariser {
    /// Summarises the oldest exchanges of a session that no summary covers, the newest one too if it is over: as many messages as
    /// one summary covers; or those that are wanted. `spent` is told what the model took for it, whatever comes of that.
    ///
    /// # Errors
    /// Why there is none.
    pub async fn now(
        &self,
        session: SessionId,
        wanted: Wanted,
        spent: &(dyn Fn(Usage) + Sync),
    ) -> Result<Summary, Unmade> {
        let open = self.store.unsummarised(session, self.read_at_once()).await?.ok_or(Unmade::Nothing)?;
        let most = usize::try_from(self.rules.every).ok().filter(|every| *every > 0).unwrap_or(MOST);
        let usual = open.again.or_else(|| whole_run(&open.messages, most)).ok_or(Unmade::Nothing)?;
        let run = wanted.run(&open, usual)?;
        let within = |message: &&Arc<Message>| (run.start..=run.end).contains(&message.index);
        let covered: Vec<Arc<Message>> = open.messages.iter().filter(within).cloned().collect();
        if !covered.iter().any(|message| is_said(message)) {
            return Err(Unmade::Nothing);
        }
        let made = self.asking.ask(&open.session, &covered, spent).await;
        let made: Made = made.map_err(|error| match error {
            Failed::Store(error) => Unmade::Store(error),
            Failed::Model(LedgerError::OverBudget) => Unmade::OverBudget,
            error => Unmade::Model(error.to_string()),
        })?;
        let summary = self.summary(&open, run, &covered, made);
        match self.store.put(&summary, &covered).await? {
            true => Ok(summary),
            false => Err(Unmade::Changed),
        }
    }
}
