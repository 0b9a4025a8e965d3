//! Reloads the file of bots while they run.

use std::collections::HashMap;
use std::path::PathBuf;

use async_trait::async_trait;
use tokio::sync::watch;

use super::file::{NamedBot, bots_of};
use crate::app::watch::{FileText, OwnersFiles, look_at};
use figaro_config::Variables;
use figaro_prompts::texts::Texts;

/// The file of bots. While it is broken or missing, the bots of before run on.
pub(super) struct BotsFile {
    pub(super) file: PathBuf,
    /// Text of the bots that run; `None` if there was no file.
    pub(super) text: Option<String>,
    pub(super) values: HashMap<String, String>,
    pub(super) variables: Variables,
    /// Bots that are to run; replaced on reload.
    pub(super) wanted: watch::Sender<Vec<NamedBot>>,
}

#[async_trait]
impl OwnersFiles for BotsFile {
    const KIND: &'static str = "bots";
    type Seen = FileText;
    type Read = Vec<NamedBot>;

    fn held(&self) -> FileText {
        Ok(self.text.clone())
    }

    async fn look(&self) -> Option<FileText> {
        Some(look_at(&self.file).await)
    }

    fn read(&self, seen: &FileText) -> Result<Vec<NamedBot>, String> {
        match seen {
            Ok(Some(text)) => bots_of(text, &self.file, &self.values, &self.variables),
            Ok(None) => Err(format!("{} is gone; the bots run on until the next start", self.file.display())),
            Err(fault) => Err(fault.clone()),
        }
    }

    fn swap(&self, bots: Vec<NamedBot>) -> String {
        let names: Vec<&str> = bots.iter().map(|bot| bot.name.as_str()).collect();
        let names = names.join(", ");
        self.wanted.send_replace(bots);
        names
    }

    fn words(texts: &Texts) -> [&str; 2] {
        [texts.bots_changed(), texts.bots_broken()]
    }

    fn place(&self) -> String {
        self.file.display().to_string()
    }
}
