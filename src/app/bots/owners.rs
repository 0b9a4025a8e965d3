//! Owners of several bots, who hear of what concerns all of them.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use parking_lot::Mutex;

use figaro_agent::delivery::Owners;
use figaro_domain::language::ByLanguage;

/// Owners of the running bots, by the bot's name. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(super) struct FleetOwners(Arc<Mutex<BTreeMap<String, Arc<dyn Owners>>>>);

impl FleetOwners {
    pub(super) fn add(&self, name: &str, owners: Arc<dyn Owners>) {
        self.0.lock().insert(name.to_owned(), owners);
    }

    pub(super) fn remove(&self, name: &str) {
        self.0.lock().remove(name);
    }
}

#[async_trait]
impl Owners for FleetOwners {
    /// Tells the owners of one bot: the file is one, and so are the people who wrote it.
    async fn tell(&self, words: ByLanguage<String>) {
        let first = self.0.lock().values().next().cloned();
        if let Some(owners) = first {
            owners.tell(words).await;
        }
    }
}
