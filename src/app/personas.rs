//! Reloads the owner's persona files while the bot runs. Changes apply from the next turn.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use tokio::task::spawn_blocking;

use super::watch::{OwnersFiles, own_names};
use figaro_prompts::texts::Texts;
use figaro_prompts::{PERSONAS_FOLDER, PersonaFiles, PersonaSet, Prompts};

#[derive(Debug)]
pub(super) struct PersonaFolder {
    /// Holder of the current personas; replaced on reload.
    pub(super) prompts: Arc<Prompts>,
}

#[async_trait]
impl OwnersFiles for PersonaFolder {
    const KIND: &'static str = "personas";
    type Seen = PersonaFiles;
    type Read = PersonaSet;

    fn held(&self) -> PersonaFiles {
        self.prompts.personas().files().clone()
    }

    async fn look(&self) -> Option<PersonaFiles> {
        spawn_blocking(|| PersonaFiles::of(Path::new(PERSONAS_FOLDER))).await.ok()
    }

    fn read(&self, files: &PersonaFiles) -> Result<PersonaSet, String> {
        files.read(PERSONAS_FOLDER).map_err(|faults| faults.join("\n"))
    }

    fn swap(&self, personas: PersonaSet) -> String {
        let names = personas.all().map(|persona| persona.name.as_str());
        let own = own_names(names, |name| personas.is_built_in(name));
        self.prompts.replace_personas(personas);
        own
    }

    fn words(texts: &Texts) -> [&str; 2] {
        [texts.personas_changed(), texts.personas_broken()]
    }

    fn place(&self) -> String {
        PERSONAS_FOLDER.to_owned()
    }
}
