//! Looks at the owner's files of packs while the bot runs: what is changed there holds from the next turn on.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::spawn_blocking;
use tracing::{info, warn};

use crate::delivery::Owners;
use crate::languages::Languages;
use crate::prompts::texts::{Texts, fill};
use crate::prompts::{PACKS_FOLDER, PackFiles, Prompts};
use crate::shutdown::TaskTracker;
use crate::store::RecordStore;
use crate::text::one_line;

/// The pause between two looks.
const EVERY: Duration = Duration::from_secs(1);
/// The most characters of what is wrong that owners are told; the log has all of it.
const TOLD: usize = 1000;

/// Keeps the packs like the owner's files. While one of them is broken, all packs of before stay as they were: what was
/// changed in several files holds together or not at all.
#[derive(Debug)]
pub(in crate::app) struct PackWatch {
    /// Where packs are taken from.
    pub(in crate::app) prompts: Arc<Prompts>,
    /// Where it is told by what rules messages matter.
    pub(in crate::app) records: Arc<dyn RecordStore>,
    /// They are told of each change.
    pub(in crate::app) owners: Arc<dyn Owners>,
    /// The languages in which they are.
    pub(in crate::app) languages: Languages,
    /// It ends when this is asked to stop.
    pub(in crate::app) background: TaskTracker,
}

impl PackWatch {
    /// Looks again and again until the bot stops. Files that are just being written are left alone: what is seen counts once
    /// two looks have seen the same.
    pub(in crate::app) async fn run(self) {
        let mut judged = self.prompts.packs().files().clone();
        let mut before = judged.clone();
        let mut told = None;
        loop {
            tokio::select! {
                () = self.background.stopping() => return,
                () = tokio::time::sleep(EVERY) => {}
            }
            let looking = spawn_blocking(|| PackFiles::of(Path::new(PACKS_FOLDER)));
            let Ok(now) = looking.await else { continue };
            if now == before && now != judged {
                told = self.take(&now, told).await;
                judged = now.clone();
            }
            before = now;
        }
    }

    /// Has the packs of these files hold, or says what is wrong with them: once for the same faults. Gives the faults that
    /// owners know of; `None` once there are none.
    async fn take(&self, files: &PackFiles, told: Option<String>) -> Option<String> {
        match files.read(PACKS_FOLDER) {
            Ok(packs) => {
                let own: Vec<&str> = packs.all().map(|pack| pack.name.as_str()).collect();
                let own: Vec<&str> = own.into_iter().filter(|name| !packs.is_built_in(name)).collect();
                let own = own.join(", ");
                self.records.set_pack_rules(packs.rules());
                self.prompts.replace_packs(packs);
                info!(packs = own, "the owner's packs have changed");
                let shown =
                    |texts: &Texts| if own.is_empty() { texts.config_none.clone() } else { own.clone() };
                self.tell(|texts| fill(&texts.packs_changed, &[("packs", &shown(texts))])).await;
                None
            }
            Err(faults) => {
                let faults = faults.join("\n");
                warn!(faults, "the owner's packs cannot be used; those of before hold");
                if told.as_ref() != Some(&faults) {
                    let shown = one_line(&faults, TOLD);
                    self.tell(|texts| fill(&texts.packs_broken, &[("faults", &shown)])).await;
                }
                Some(faults)
            }
        }
    }

    async fn tell(&self, words: impl Fn(&Texts) -> String) {
        self.owners.tell(self.languages.locales.map(words)).await;
    }
}
