//! Sends and edits the messages of an answer before it is complete, and records them, so that the answer reuses them
//! even after a crash.

use serde_json::{Value, json};

use super::preview::{Preview, Update};
use crate::amend::edit_body;
use crate::api::{DeleteMessage, EditMessageText};
use crate::error::ApiError;
use crate::outgoing::{body, is_unchanged, sent_id};
use crate::send::{Outgoing, Sender};
use figaro_agent::outbound::Urgency;
use figaro_domain::delivery::LiveMessage;

/// Live messages of one turn, by index.
pub(super) struct TurnLiveMessages<'a> {
    preview: &'a Preview,
    sender: &'a Sender,
    live: Vec<LiveMessage>,
}

impl<'a> TurnLiveMessages<'a> {
    /// Loads the recorded messages: a turn that continues after a restart keeps its messages.
    pub(super) fn of(preview: &'a Preview, sender: &'a Sender) -> Self {
        let live = sender.outbox.live_of(preview.run).unwrap_or_else(|error| {
            tracing::error!(%error, run = %preview.run, "what was shown of an answer could not be looked up");
            Vec::new()
        });
        Self { preview, sender, live }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.live.is_empty()
    }

    /// Returns `true` if the message with this index shows exactly this content.
    pub(super) fn shows(&self, index: usize, content: &Outgoing) -> bool {
        self.at(index).is_some_and(|live| live.shown == Some(content.fingerprint()))
    }

    fn at(&self, index: usize) -> Option<LiveMessage> {
        self.live.iter().find(|live| usize::try_from(live.index) == Ok(index)).copied()
    }

    /// Makes the message with this index show the content; sends a new message if there is none. `is_final`: the
    /// content is a full part, which no longer grows.
    pub(super) async fn show(&mut self, index: usize, content: &Outgoing, is_final: bool) -> Update {
        let shown = is_final.then(|| content.fingerprint());
        match self.at(index) {
            Some(live) => self.change(live, content, shown).await,
            None => self.begin(index, content, shown).await,
        }
    }

    async fn change(&mut self, live: LiveMessage, content: &Outgoing, shown: Option<u64>) -> Update {
        if content.file.is_some() {
            return Update::Refused;
        }
        // Until Telegram confirms the edit, the message may show either content.
        let unknown = LiveMessage { shown: None, ..live };
        if live.shown.is_some() && !self.record(unknown).await {
            return Update::Refused;
        }
        let update =
            match self.sender.api.call(EditMessageText(Value::Object(edit_body(live, content)))).await {
                Err(ApiError::Refused(words)) if is_unchanged(&words) => Update::Shown,
                result => Update::of(result),
            };
        if matches!(update, Update::Shown)
            && shown.is_some()
            && !self.record(LiveMessage { shown, ..live }).await
        {
            return Update::Refused;
        }
        update
    }

    /// Sends a message and records it at once; a message that cannot be recorded is deleted. If the process dies
    /// between the confirmation by Telegram and the record, or the confirmation is lost, the message is unknown: at
    /// most this one remains beside the answer, as with any delivery.
    async fn begin(&mut self, index: usize, content: &Outgoing, shown: Option<u64>) -> Update {
        let place = &self.preview.place;
        let sent = match self.sender.call(content, &body(place, content)).await {
            // A retry might send a second message.
            Err(ApiError::Unclear(words)) => {
                tracing::warn!(chat = %place.chat, words, "a part of an answer may stand in the chat for good");
                return Update::Refused;
            }
            Err(error) => return Update::of(Err(error)),
            Ok(sent) => sent,
        };
        let index = u32::try_from(index).unwrap_or(u32::MAX);
        let live =
            LiveMessage { run: self.preview.run, index, chat: place.chat, message: sent_id(&sent), shown };
        if self.record(live).await {
            return Update::Shown;
        }
        let body = json!({"chat_id": live.chat, "message_id": live.message});
        if let Err(error) = self.sender.once(live.chat, DeleteMessage(body), Urgency::Answer).await {
            tracing::error!(?error, run = %live.run, "a part of an answer that is not on record stays");
        }
        Update::Refused
    }

    async fn record(&mut self, live: LiveMessage) -> bool {
        if let Err(error) = self.sender.outbox.record_live(live, self.sender.clock.now()).await {
            tracing::error!(%error, run = %live.run, "a part of an answer could not be recorded");
            return false;
        }
        match self.live.iter_mut().find(|known| known.index == live.index) {
            Some(known) => *known = live,
            None => self.live.push(live),
        }
        true
    }
}
