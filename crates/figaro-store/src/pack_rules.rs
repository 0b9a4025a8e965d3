//! Importance rules of the current context packs, applied in chats that have chosen them. They are not stored: the reader
//! of the pack files sets them.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::RwLock;

use super::fault::StoreFault;
use super::key;
use super::tables::Tables;
use figaro_base::ids::ChatId;
use figaro_domain::record::ImportanceRules;

/// Rules of all packs, by pack name. Clones are cheap and share the rules, as the stores of a process do.
#[derive(Debug, Clone, Default)]
pub struct PackRules(Arc<RwLock<RulesByPack>>);

type RulesByPack = Arc<BTreeMap<String, ImportanceRules>>;

impl PackRules {
    /// Sets the rules of packs. They apply in chats that have chosen the pack.
    pub fn set(&self, rules: BTreeMap<String, ImportanceRules>) {
        *self.0.write() = Arc::new(rules);
    }

    /// Returns the combined rules of the packs that a chat has chosen.
    pub(super) fn in_chat(&self, tables: &Tables<'_>, chat: ChatId) -> Result<ImportanceRules, StoreFault> {
        let all = self.0.read().clone();
        let mut together = ImportanceRules::default();
        if all.is_empty() {
            return Ok(together);
        }
        let config = tables.chats.find(&key::chat(chat))?.unwrap_or_default();
        for rules in config.packs.iter().filter_map(|name| all.get(name)) {
            together.terms.extend(rules.terms.iter().cloned());
            together.critical.extend(rules.critical.iter().cloned());
            together.unless.extend(rules.unless.iter().cloned());
        }
        Ok(together)
    }
}
