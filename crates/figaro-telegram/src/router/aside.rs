//! Updates that cannot be handled: they are kept as text, and the owners are told.

use super::Router;
use super::fate::UpdateFate;
use super::odd::kind_of;
use figaro_prompts::texts::{Texts, fill};
use figaro_store::{RawUpdate, StoreError, UnreadableUpdate};

impl Router {
    /// Keeps an update as text and tells the owners, once per kind and run of the bot: a change by Telegram may break
    /// very many updates.
    pub(super) async fn set_aside(
        &self,
        update: &RawUpdate,
        reason: &'static str,
    ) -> Result<UpdateFate, StoreError> {
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
        Ok(UpdateFate::Settled)
    }
}
