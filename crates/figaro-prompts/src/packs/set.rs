//! Current packs, and the files that they are read from.

use std::collections::BTreeMap;
use std::sync::Arc;

use minijinja::Environment;

use super::read::read;
use super::render::{Rendering, template_name};
use super::template;
use crate::files::{PromptFolder, own_files};
use figaro_domain::chat::ChatConfig;
use figaro_domain::record::{ImportanceRules, Pack};

/// Folder of an owner's context packs, relative to the working directory of the bot.
pub const PACKS_FOLDER: &str = "prompts/packs";

const FOLDER: PromptFolder = PromptFolder {
    name: "packs",
    what: "a pack",
    embedded: &[
        ("eldercare", include_str!("../../../../prompts/packs/eldercare.yaml")),
        ("class", include_str!("../../../../prompts/packs/class.yaml")),
    ],
};

own_files! {
    /// Pack files of a folder at one moment: two are equal if nothing changed between them.
    PackFiles of FOLDER
}

impl PackFiles {
    /// Reads the packs of these files, and built-in ones without a file of the same name. Messages show the folder as
    /// `shown`.
    ///
    /// # Errors
    /// Every fault of any file, one per line: file, line, column and text.
    pub fn read(&self, shown: &str) -> Result<PackSet, Vec<String>> {
        let packs = FOLDER.read(&self.0, shown, read)?;
        let mut templates = template::environment();
        for pack in packs.values() {
            for kind in &pack.kinds {
                let Some(render) = kind.render.clone() else { continue };
                let added = templates.add_template_owned(template_name(&pack.name, &kind.name), render);
                added.map_err(|error| vec![format!("{shown}/{}.yaml: {error}", pack.name)])?;
            }
        }
        let packs = packs.into_iter().map(|(name, pack)| (name, Arc::new(pack))).collect();
        Ok(PackSet { packs, templates, files: self.clone() })
    }
}

/// Packs from files and built-in ones, read together.
#[derive(Debug)]
pub struct PackSet {
    packs: BTreeMap<String, Arc<Pack>>,
    templates: Environment<'static>,
    files: PackFiles,
}

impl PackSet {
    /// Returns the pack of this name; `None` if no file defines it.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Arc<Pack>> {
        self.packs.get(name)
    }

    /// Iterates over all packs, by name.
    pub fn all(&self) -> impl Iterator<Item = &Arc<Pack>> {
        self.packs.values()
    }

    /// Returns the packs chosen in these chat settings, as far as they exist.
    #[must_use]
    pub fn chosen(&self, config: &ChatConfig) -> Vec<Arc<Pack>> {
        config.packs.iter().filter_map(|name| self.get(name)).cloned().collect()
    }

    /// Returns a renderer with the templates of these packs.
    #[must_use]
    pub const fn rendering(&self) -> Rendering<'_> {
        Rendering { templates: &self.templates }
    }

    /// Returns the importance rules of all packs, by pack name.
    #[must_use]
    pub fn rules(&self) -> BTreeMap<String, ImportanceRules> {
        self.packs.iter().map(|(name, pack)| (name.clone(), pack.rules.clone())).collect()
    }

    /// Returns `true` if the pack of this name is built in and not overridden by the owner.
    #[must_use]
    pub fn is_built_in(&self, name: &str) -> bool {
        !self.files.define(name)
    }

    /// Returns the files that they were read from.
    #[must_use]
    pub const fn files(&self) -> &PackFiles {
        &self.files
    }
}
