//! A change of the owner's file of rules while the bot runs.

use std::path::PathBuf;

use async_trait::async_trait;

use super::file::rules_of;
use crate::app::watch::{FileText, OwnersFiles, look_at};
use figaro_policy::tools::{Policy, Rules};
use figaro_prompts::texts::Texts;

/// The file of rules. While it is broken or gone, the rules of before hold.
#[derive(Debug)]
pub(in crate::app) struct PolicyFile {
    /// The file.
    pub(in crate::app) file: PathBuf,
    /// Its text, whose rules hold.
    pub(in crate::app) text: Option<String>,
    /// Where the rules are taken from.
    pub(in crate::app) policy: Policy,
}

#[async_trait]
impl OwnersFiles for PolicyFile {
    const KIND: &'static str = "policy";
    type Seen = FileText;
    type Read = Rules;

    fn held(&self) -> FileText {
        Ok(self.text.clone())
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

    fn words(texts: &Texts) -> [&str; 2] {
        [texts.policy_changed(), texts.policy_broken()]
    }

    fn place(&self) -> String {
        self.file.display().to_string()
    }
}
