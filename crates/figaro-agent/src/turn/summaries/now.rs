//! A summary that somebody asks for, whether it is time for one or not.

use std::sync::Arc;

use super::ask::{Failed, Made};
use super::{Summariser, TIMEOUT};
use figaro_base::ids::SessionId;
use figaro_domain::conversation::Message;
use figaro_domain::summary::{Summary, is_said, whole_run};
use figaro_domain::usage::Usage;
use figaro_ledger::LedgerError;
use figaro_store::StoreError;

/// So many messages a summary covers at most where none are made by themselves.
const MOST: usize = 50;

/// Why there is none.
#[derive(Debug, thiserror::Error)]
pub enum Unmade {
    /// Summaries cover all that was said, or nothing was.
    #[error("nothing is there to be summarised")]
    Nothing,
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

impl Summariser {
    /// Summarises the oldest exchanges of a session that no summary covers, the newest one too if it is over: as many messages as
    /// one summary covers. `spent` is told what the model took for it, whatever comes of that.
    ///
    /// # Errors
    /// Why there is none.
    pub async fn now(&self, session: SessionId, spent: &(dyn Fn(Usage) + Sync)) -> Result<Summary, Unmade> {
        let open = self.store.unsummarised(session, self.read_at_once()).await?.ok_or(Unmade::Nothing)?;
        let most = usize::try_from(self.rules.every).ok().filter(|every| *every > 0).unwrap_or(MOST);
        let run = open.again.or_else(|| whole_run(&open.messages, most)).ok_or(Unmade::Nothing)?;
        let within = |message: &&Arc<Message>| (run.start..=run.end).contains(&message.index);
        let covered: Vec<Arc<Message>> = open.messages.iter().filter(within).cloned().collect();
        if !covered.iter().any(|message| is_said(message)) {
            return Err(Unmade::Nothing);
        }
        let made = tokio::time::timeout(TIMEOUT, self.asking.ask(&open.session, &covered, spent)).await;
        let made: Made = made.unwrap_or(Err(Failed::TooLong)).map_err(|error| match error {
            Failed::Store(error) => Unmade::Store(error),
            Failed::Model(LedgerError::OverBudget) => Unmade::OverBudget,
            error => Unmade::Model(error.to_string()),
        })?;
        let summary = self.summary(&open, run, &covered, made);
        match self.store.put_summary(&summary, &covered).await? {
            true => Ok(summary),
            false => Err(Unmade::Changed),
        }
    }
}
