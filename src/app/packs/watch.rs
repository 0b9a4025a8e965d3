//! Reloads the owner's pack files while the bot runs. Changes apply from the next turn.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use tokio::task::spawn_blocking;

use crate::app::watch::{OwnersFiles, own_names};
use figaro_base::clock::Clock;
use figaro_prompts::texts::Texts;
use figaro_prompts::{PACKS_FOLDER, PackFiles, PackSet, Prompts};
use figaro_store::PackRules;

#[derive(Debug)]
pub(in crate::app) struct PackFolder {
    /// Holder of the current packs; replaced on reload.
    pub(in crate::app) prompts: Arc<Prompts>,
    pub(in crate::app) clock: Clock,
    /// Rules of the packs in the store, replaced on reload.
    pub(in crate::app) rules: PackRules,
}

#[async_trait]
impl OwnersFiles for PackFolder {
    const KIND: &'static str = "packs";
    type Seen = PackFiles;
    type Read = PackSet;

    fn held(&self) -> PackFiles {
        self.prompts.packs().files().clone()
    }

    async fn look(&self) -> Option<PackFiles> {
        spawn_blocking(|| PackFiles::of(Path::new(PACKS_FOLDER))).await.ok()
    }

    fn read(&self, files: &PackFiles) -> Result<PackSet, String> {
        files.read(PACKS_FOLDER).map_err(|faults| faults.join("\n"))
    }

    fn swap(&self, packs: PackSet) -> String {
        let own = own_names(packs.all().map(|pack| pack.name.as_str()), |name| packs.is_built_in(name));
        self.rules.set(packs.rules());
        self.prompts.replace_packs(packs, self.clock.now());
        own
    }

    fn words(texts: &Texts) -> [&str; 2] {
        [texts.packs_changed(), texts.packs_broken()]
    }

    fn place(&self) -> String {
        PACKS_FOLDER.to_owned()
    }
}
