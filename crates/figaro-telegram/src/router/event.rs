//! What people do beside writing, as Telegram tells of it: they join, pin a message, tick a task. Nobody is answered for it;
//! the next turn knows of it.

use super::{Fate, Router};
use crate::content;
use crate::views::MessageView;
use figaro_base::ids::UpdateId;
use figaro_domain::message::Inbound;
use figaro_domain::reception::Reception;
use figaro_policy::access::{Verdict, is_served, judge};
use figaro_store::StoreError;

/// True if a checklist was changed by its author: words of somebody else must not become theirs.
fn is_by_its_author(event: &MessageView, checklist: &MessageView) -> bool {
    let id = |view: &MessageView| view.from.as_ref().map(|from| from.id);
    id(event).is_some() && id(event) == id(checklist)
}

impl Router {
    /// Keeps what somebody did as background, where what they write would be kept. A checklist that its author changes is an edit of
    /// its message as well.
    pub(super) async fn event(
        &self,
        id: UpdateId,
        view: &MessageView,
        part: &Inbound,
    ) -> Result<Fate, StoreError> {
        let list = self.settings.access().await?;
        let verdict = judge(&self.access, &list, &part.place, &part.speaker.user, self.clock.now());
        if !matches!(verdict, Verdict::Allow(_)) || !is_served(&self.access, &list, &part.place) {
            return Ok(Fate::Dropped("event"));
        }
        if let Some(changed) = content::changed_checklist(&view.content, &part.speaker.name)
            && let Ok(message) = serde_json::from_value::<MessageView>(changed)
            && is_by_its_author(view, &message)
        {
            self.edited(id, &message).await?;
        }
        self.add_background(part, Reception::NoPerson).await
    }
}
