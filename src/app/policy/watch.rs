//! A change of the owner's file of rules while the bot runs.

use std::path::PathBuf;

use async_trait::async_trait;
use tracing::{info, warn};

use super::file::rules_of;
use crate::app::watch::{FileText, News, Watched, look_at, told, watch};
use figaro_base::shutdown::TaskTracker;
use figaro_policy::tools::Policy;
use figaro_prompts::texts::{Texts, fill};

/// Keeps the rules that hold like the owner's file. While the file is broken or gone, the rules of before hold.
#[derive(Debug)]
pub(in crate::app) struct PolicyWatch {
    /// The file.
    pub(in crate::app) file: PathBuf,
    /// Its text, whose rules hold.
    pub(in crate::app) text: Option<String>,
    /// Where the rules are taken from.
    pub(in crate::app) policy: Policy,
    /// Owners are told of each change.
    pub(in crate::app) news: News,
    /// It ends when this is asked to stop.
    pub(in crate::app) background: TaskTracker,
}

impl PolicyWatch {
    /// Looks until the bot stops.
    pub(in crate::app) async fn run(mut self) {
        let (holds, background) = (Ok(self.text.take()), self.background.clone());
        watch(self, holds, background).await;
    }
}

#[async_trait]
impl Watched for PolicyWatch {
    type Seen = FileText;

    async fn look(&self) -> Option<FileText> {
        Some(look_at(&self.file).await)
    }

    async fn take(&mut self, seen: &FileText) {
        let file = self.file.display().to_string();
        let read = match seen {
            Ok(Some(text)) => rules_of(text, &self.file),
            Ok(None) => Err(format!("{file} is gone; an empty file takes all its rules away")),
            Err(fault) => Err(fault.clone()),
        };
        self.news.note("policy", read.as_ref().err().map(String::as_str));
        let count = match read {
            Ok(rules) => {
                let count = rules.owners();
                self.policy.replace(rules);
                info!(file, count, "the owner's rules have changed");
                Ok(count.to_string())
            }
            Err(faults) => {
                warn!(file, faults, "the owner's rules cannot be used; those of before hold");
                Err(told(&faults))
            }
        };
        let words = |texts: &Texts| match &count {
            Ok(count) => fill(texts.policy_changed(), &[("file", &file), ("count", count)]),
            Err(faults) => fill(texts.policy_broken(), &[("file", &file), ("faults", faults)]),
        };
        self.news.tell(words).await;
    }
}
