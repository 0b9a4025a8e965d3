//! Looks at the owner's file of rules while the bot runs: what is changed there holds from then on.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::spawn_blocking;
use tracing::{info, warn};

use super::file::{rules_of, text_of};
use crate::delivery::Owners;
use crate::languages::Languages;
use crate::policy::tools::Policy;
use crate::prompts::texts::{Texts, fill};
use crate::shutdown::TaskTracker;
use crate::text::one_line;

/// The pause between two looks.
const EVERY: Duration = Duration::from_secs(1);
/// The most characters of what is wrong that owners are told; the log has all of it.
const TOLD: usize = 1000;

/// What was seen of a file: its text, or that there is none, or why it cannot be read.
type Seen = Result<Option<String>, String>;

/// Keeps the rules that hold like the owner's file. While the file is broken or gone, the rules of before hold.
#[derive(Debug)]
pub(in crate::app) struct PolicyWatch {
    /// The file.
    pub(in crate::app) file: PathBuf,
    /// Its text, whose rules hold.
    pub(in crate::app) text: Option<String>,
    /// Where the rules are taken from.
    pub(in crate::app) policy: Policy,
    /// They are told of each change.
    pub(in crate::app) owners: Arc<dyn Owners>,
    /// The languages in which they are.
    pub(in crate::app) languages: Languages,
    /// It ends when this is asked to stop.
    pub(in crate::app) background: TaskTracker,
}

impl PolicyWatch {
    /// Looks again and again until the bot stops. A file that is just being written is left alone: what is seen counts once
    /// two looks have seen the same.
    pub(in crate::app) async fn run(mut self) {
        let mut holds: Seen = Ok(self.text.take());
        let mut before = holds.clone();
        loop {
            tokio::select! {
                () = self.background.stopping() => return,
                () = tokio::time::sleep(EVERY) => {}
            }
            let file = self.file.clone();
            let now =
                spawn_blocking(move || text_of(&file)).await.unwrap_or_else(|error| Err(error.to_string()));
            if now == before && now != holds {
                self.take(&now).await;
                holds = now.clone();
            }
            before = now;
        }
    }

    async fn take(&self, seen: &Seen) {
        let file = self.file.display().to_string();
        let read = match seen {
            Ok(Some(text)) => rules_of(text, &self.file),
            Ok(None) => Err(format!("{file} is gone; an empty file takes all its rules away")),
            Err(fault) => Err(fault.clone()),
        };
        let count = match read {
            Ok(rules) => {
                let count = rules.owners();
                self.policy.replace(rules);
                info!(file, count, "the owner's rules have changed");
                Ok(count.to_string())
            }
            Err(faults) => {
                warn!(file, faults, "the owner's rules cannot be used; those of before hold");
                Err(one_line(&faults, TOLD))
            }
        };
        let words = |texts: &Texts| match &count {
            Ok(count) => fill(&texts.policy_changed, &[("file", &file), ("count", count)]),
            Err(faults) => fill(&texts.policy_broken, &[("file", &file), ("faults", faults)]),
        };
        self.owners.tell(self.languages.locales.map(words)).await;
    }
}
