//! The rules of the context packs there are now, by which messages matter in the chats that have chosen them. They are no data of the
//! store: whoever has read the files of packs hands them in.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::RwLock;

use super::fault::Fault;
use super::key;
use super::tables::Tables;
use figaro_base::ids::ChatId;
use figaro_domain::record::Rules;

/// The rules of all packs, by their names.
#[derive(Default)]
pub(super) struct PackRules(RwLock<Arc<BTreeMap<String, Rules>>>);

impl PackRules {
    /// Has these hold from now on.
    pub(super) fn set(&self, rules: BTreeMap<String, Rules>) {
        *self.0.write() = Arc::new(rules);
    }

    /// Those of the packs that a chat has chosen, together.
    pub(super) fn in_chat(&self, tables: &Tables<'_>, chat: ChatId) -> Result<Rules, Fault> {
        let all = self.0.read().clone();
        let mut together = Rules::default();
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
