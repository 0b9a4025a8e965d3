//! Reloads the owner's rules file while the bot runs.

use std::path::PathBuf;

use async_trait::async_trait;

use super::file::rules_of;
use crate::app::watch::{FileText, HeldText, OwnersFiles, look_at};
use figaro_policy::tools::{Policy, Rules};
use figaro_prompts::texts::Texts;

/// Rules file. While it is broken or missing, the previous rules apply.
#[derive(Debug)]
pub(in crate::app) struct PolicyFile {
    pub(in crate::app) file: PathBuf,
    /// Text of the rules in force; `None` if there was no file.
    pub(in crate::app) text: HeldText,
    /// Holder of the current rules; replaced on reload.
    pub(in crate::app) policy: Policy,
}

#[async_trait]
impl OwnersFiles for PolicyFile {
    const KIND: &'static str = "policy";
    type Seen = FileText;
    type Read = Rules;

    fn held(&self) -> FileText {
        Ok(self.text.get())
    }

    async fn look(&self) -> Option<FileText> {
        Some(look_at(&self.file).await)
    }

    fn read(&self, seen: &FileText) -> Result<Rules, String> {
        match seen {
            Ok(Some(text)) => rules_of(text, &self.file),
            Ok(None) => {
                Err(format!("{} is gone; an empty file takes all its rules away", self.file.display()))
            }
            Err(fault) => Err(fault.clone()),
        }
    }

    fn swap(&self, rules: Rules) -> String {
        let count = rules.owners();
        self.policy.replace(rules);
        count.to_string()
    }

    fn hold(&self, seen: &FileText) {
        self.text.set(seen);
    }

    fn words(texts: &Texts) -> [&str; 2] {
        [texts.policy_changed(), texts.policy_broken()]
    }

    fn place(&self) -> String {
        self.file.display().to_string()
    }
}
