//! The packs there are at one moment, and the files that they are read from.

use std::collections::BTreeMap;
use std::sync::Arc;

use minijinja::Environment;

use super::read::read;
use super::render::{Rendering, template_name};
use super::template;
use crate::files::{Folder, own_files};
use figaro_domain::chat::ChatConfig;
use figaro_domain::record::{Pack, Rules};

/// The folder of an owner's context packs, in the folder that the bot is started in.
pub const PACKS_FOLDER: &str = "prompts/packs";

/// The files of packs.
const FOLDER: Folder = Folder {
    name: "packs",
    what: "a pack",
    embedded: &[
        ("eldercare", include_str!("../../../../prompts/packs/eldercare.yaml")),
        ("class", include_str!("../../../../prompts/packs/class.yaml")),
    ],
};

own_files! {
    /// The files of packs in a folder, as they were at one moment: two are equal if nothing has changed between them.
    PackFiles of FOLDER
}

impl PackFiles {
    /// The packs of these files and, where they have none of their name, those built in. `shown` is the folder as people are told
    /// it.
    ///
    /// # Errors
    /// Everything that is wrong with any file, a line each: file, line, column, and what it is.
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

/// The packs of files and those built in, as they were read together.
#[derive(Debug)]
pub struct PackSet {
    packs: BTreeMap<String, Arc<Pack>>,
    templates: Environment<'static>,
    files: PackFiles,
}

impl PackSet {
    /// The pack of this name; `None` where no file defines it.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Arc<Pack>> {
        self.packs.get(name)
    }

    /// All packs, by name.
    pub fn all(&self) -> impl Iterator<Item = &Arc<Pack>> {
        self.packs.values()
    }

    /// The packs that a chat of these settings has chosen, as far as they are there.
    #[must_use]
    pub fn chosen(&self, config: &ChatConfig) -> Vec<Arc<Pack>> {
        config.packs.iter().filter_map(|name| self.get(name)).cloned().collect()
    }

    /// Renders records by the templates of these packs.
    #[must_use]
    pub const fn rendering(&self) -> Rendering<'_> {
        Rendering { templates: &self.templates }
    }

    /// What matters in what people say, by the name of the pack.
    #[must_use]
    pub fn rules(&self) -> BTreeMap<String, Rules> {
        self.packs.iter().map(|(name, pack)| (name.clone(), pack.rules.clone())).collect()
    }

    /// Whether the pack of this name is as it comes with Figaro: no file of the owner's stands in its place.
    #[must_use]
    pub fn is_built_in(&self, name: &str) -> bool {
        !self.files.define(name)
    }

    /// The files that they were read from.
    #[must_use]
    pub const fn files(&self) -> &PackFiles {
        &self.files
    }
}
