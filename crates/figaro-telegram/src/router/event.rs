//! Service messages: people join, pin a message, tick a task. They are not answered, but the next turn gets them.

use std::sync::Arc;

use super::{Router, UpdateFate};
use crate::content;
use crate::views::MessageView;
use figaro_base::ids::UpdateId;
use figaro_domain::message::Inbound;
use figaro_domain::reception::Reception;
use figaro_policy::access::{Verdict, is_served, judge};
use figaro_store::StoreError;

/// Returns `true` if a checklist was changed by its author. Text by others must not become the author's.
fn is_by_its_author(event: &MessageView, checklist: &MessageView) -> bool {
    let id = |view: &MessageView| view.from.as_ref().map(|from| from.id);
    id(event).is_some() && id(event) == id(checklist)
}

impl Router {
    /// Stores an event as a background message, in chats where messages would be stored too. A checklist changed by
    /// its author also counts as an edit of its message.
    pub(super) async fn event(
        self: &Arc<Self>,
        id: UpdateId,
        view: &MessageView,
        part: &Inbound,
    ) -> Result<UpdateFate, StoreError> {
        let list = self.settings.access()?;
        let verdict = judge(&self.access, &list, &part.place, &part.speaker.user, self.clock.now());
        if !matches!(verdict, Verdict::Allow(_)) || !is_served(&self.access, &list, &part.place) {
            return Ok(UpdateFate::Dropped("event"));
        }
        if let Some(changed) = content::changed_checklist(&view.content, &part.speaker.name)
            && let Ok(message) = serde_json::from_value::<MessageView>(changed)
            && is_by_its_author(view, &message)
        {
            self.correct(id, &message).await?;
        }
        self.welcome(&part.place, view);
        self.add_background(part, Reception::NoPerson)
    }
}
