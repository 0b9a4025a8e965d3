//! Updates that cannot be dealt with are kept as text, and the owners are told.

use super::Router;
use super::fate::Fate;
use super::odd::kind_of;
use figaro_prompts::texts::{Texts, fill};
use figaro_store::{RawUpdate, StoreError, UnreadableUpdate};

impl Router {
    /// Keeps an update as text and tells the owners, of each kind once while the bot runs: a change of Telegram's may
    /// break very many.
    pub(super) async fn set_aside(
        &self,
        update: &RawUpdate,
        reason: &'static str,
    ) -> Result<Fate, StoreError> {
        let kind = kind_of(&update.body);
        tracing::error!(update = %update.id, kind, reason, "an update cannot be dealt with; it is kept as text");
        let kept = UnreadableUpdate::new(update.id, &update.body.to_string());
        self.inbox.set_aside(vec![kept], self.clock.now()).await?;
        let is_new = self.odd_kinds.lock().insert(kind.to_owned());
        if is_new {
            let id = update.id.to_string();
            let words = |texts: &Texts| fill(texts.update_odd(), &[("kind", kind), ("id", &id)]);
            self.owners.tell(self.commands.cards.languages.locales.map(words)).await;
        }
        Ok(Fate::Settled)
    }
}
