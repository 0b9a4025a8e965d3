//! A change of the owner's files of packs while the bot runs: it holds from the next turn on.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use tokio::task::spawn_blocking;
use tracing::{info, warn};

use crate::app::watch::{News, Watched, told, watch};
use figaro_base::shutdown::TaskTracker;
use figaro_prompts::texts::{Texts, fill};
use figaro_prompts::{PACKS_FOLDER, PackFiles, Prompts};
use figaro_store::RecordStore;

/// Keeps the packs like the owner's files. While one of them is broken, all packs of before stay as they were: what was
/// changed in several files holds together or not at all.
#[derive(Debug)]
pub(in crate::app) struct PackWatch {
    /// Where packs are taken from.
    pub(in crate::app) prompts: Arc<Prompts>,
    /// Where it is told by what rules messages matter.
    pub(in crate::app) records: RecordStore,
    /// The faults that owners know of; `None` while there are none.
    pub(in crate::app) known: Option<String>,
    /// Owners are told of each change.
    pub(in crate::app) news: News,
    /// It ends when this is asked to stop.
    pub(in crate::app) background: TaskTracker,
}

impl PackWatch {
    /// Looks until the bot stops.
    pub(in crate::app) async fn run(self) {
        let (holds, background) = (self.prompts.packs().files().clone(), self.background.clone());
        watch(self, holds, background).await;
    }
}

#[async_trait]
impl Watched for PackWatch {
    type Seen = PackFiles;

    async fn look(&self) -> Option<PackFiles> {
        spawn_blocking(|| PackFiles::of(Path::new(PACKS_FOLDER))).await.ok()
    }

    /// The same faults are told once.
    async fn take(&mut self, files: &PackFiles) {
        let read = files.read(PACKS_FOLDER).map_err(|faults| faults.join("\n"));
        self.news.note("packs", read.as_ref().err().map(String::as_str));
        match read {
            Ok(packs) => {
                let own: Vec<&str> = packs.all().map(|pack| pack.name.as_str()).collect();
                let own: Vec<&str> = own.into_iter().filter(|name| !packs.is_built_in(name)).collect();
                let own = own.join(", ");
                self.records.set_pack_rules(packs.rules());
                self.prompts.replace_packs(packs);
                self.known = None;
                info!(packs = own, "the owner's packs have changed");
                let shown =
                    |texts: &Texts| if own.is_empty() { texts.config_none().to_owned() } else { own.clone() };
                self.news.tell(|texts| fill(texts.packs_changed(), &[("packs", &shown(texts))])).await;
            }
            Err(faults) => {
                warn!(faults, "the owner's packs cannot be used; those of before hold");
                if self.known.as_ref() != Some(&faults) {
                    let shown = told(&faults);
                    self.news.tell(|texts| fill(texts.packs_broken(), &[("faults", &shown)])).await;
                }
                self.known = Some(faults);
            }
        }
    }
}
