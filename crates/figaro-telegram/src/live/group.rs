//! Shows a turn in a group or channel: "typing", then one message that quotes the question and grows by edits. The
//! delivery turns it into the answer.

use std::time::Duration;

use serde_json::json;
use tokio::time::Instant;

use super::pace::PreviewPace;
use super::preview::{Incoming, Preview, Update};
use super::render::first_part;
use super::standing::TurnLiveMessages;
use super::state::{PreviewState, PreviewVersion};
use crate::api::SendChatAction;
use crate::send::{Outgoing, Sender};
use figaro_base::ids::MessageId;
use figaro_domain::chat::Place;
use figaro_markup::Formatted;

/// Reaction that shows that the bot works on a question; available in every chat.
const EYES: &str = "👀";
/// Time after which the first text of a pass is shown, so that a short answer appears complete.
const SHOW_AFTER: Duration = Duration::from_secs(2);
/// Minimum time between edits; Telegram allows 20 messages and edits a minute in a group.
const USUAL: Duration = Duration::from_secs(4);
/// Time after which "typing" is shown again; Telegram ends it after 5 s.
const TYPING_KEEP: Duration = Duration::from_millis(4500);

/// A message that grows by edits, once there is one.
struct Growing<'a> {
    preview: &'a Preview,
    sender: &'a Sender,
    pace: PreviewPace,
    standing: TurnLiveMessages<'a>,
    state: PreviewState,
    /// Content that the message is known to show.
    shown: Option<Formatted>,
    /// Last rendered content; it is rendered again only after a visible change.
    rendered: Option<(PreviewVersion, Formatted)>,
    /// Time at which "typing" is shown next.
    typing: Instant,
}

/// Shows the turn until it ends. A turn that continues after a restart keeps its message.
pub(super) async fn show(preview: &Preview, sender: &Sender) {
    let standing = TurnLiveMessages::of(preview, sender);
    let eyes = Eyes::on(preview, sender).await;
    let now = Instant::now();
    let mut growing = Growing {
        preview,
        sender,
        pace: PreviewPace::new(USUAL, now),
        standing,
        state: PreviewState::new(),
        shown: None,
        rendered: None,
        typing: now,
    };
    while growing.step().await {}
    if let Some(eyes) = eyes {
        preview.ended().await;
        eyes.off(sender).await;
    }
}

/// Reaction on the question of a group while the bot works on it.
struct Eyes<'a> {
    place: &'a Place,
    message: MessageId,
}

impl<'a> Eyes<'a> {
    /// Sets the reaction, if the chat wants it.
    async fn on(preview: &'a Preview, sender: &Sender) -> Option<Self> {
        let (place, message) = (&preview.place, preview.message?);
        let config = sender.settings.chat_config(place.chat).ok()?;
        let wanted = Self { place, message };
        if !config.eyes || !place.is_group() || preview.has_ended() {
            return None;
        }
        sender.react(place, message, Some(EYES)).await.then_some(wanted)
    }

    async fn off(self, sender: &Sender) {
        sender.react(self.place, self.message, None).await;
    }
}

impl Growing<'_> {
    /// Sends the update that is due, or waits for the next. Returns `false` when there is nothing more to show.
    async fn step(&mut self) -> bool {
        let now = Instant::now();
        if self.preview.has_ended() {
            return false;
        }
        let due = self.preview.look(|incoming| self.due(incoming));
        let typing = self.standing.is_empty().then_some(self.typing);
        if due.is_some_and(|due| due <= now) {
            return self.grow(typing).await;
        }
        if typing.is_some_and(|typing| typing <= now) {
            let wait = match self.show_typing().await {
                Update::Later(wait) => wait,
                Update::Shown | Update::Refused => Duration::ZERO,
            };
            self.typing = Instant::now() + TYPING_KEEP.max(wait);
            return true;
        }
        self.preview.changed_by(due.into_iter().chain(typing).min()).await;
        true
    }

    /// Returns the time of the next update; `None` if there is nothing to show. A status alone does not start a
    /// message.
    fn due(&self, incoming: &Incoming) -> Option<Instant> {
        match incoming.since {
            Some(since) => Some(self.pace.ready().max(since + SHOW_AFTER)),
            None => (!self.standing.is_empty() && incoming.status.is_some()).then_some(self.pace.ready()),
        }
    }

    async fn grow(&mut self, typing: Option<Instant>) -> bool {
        if !self.preview.update(&mut self.state) {
            return false;
        }
        let version = self.state.version();
        let content = match self.rendered.take() {
            Some((same, content)) if same == version => content,
            _ => first_part(&self.state),
        };
        self.rendered = Some((version, content.clone()));
        if content.text.is_empty() || self.shown.as_ref() == Some(&content) {
            self.preview.changed_by(typing).await;
            self.pace.looked(Instant::now());
            return true;
        }
        let update = self.put(&content).await;
        let now = Instant::now();
        match update {
            Update::Shown => {
                self.pace.updated(now);
                self.shown = Some(content);
            }
            Update::Later(wait) => self.pace.pushed_back(now, wait),
            // The message was deleted or the bot may not write here; the delivery handles that.
            Update::Refused => {
                self.preview.ended().await;
                return false;
            }
        }
        true
    }

    async fn put(&mut self, content: &Formatted) -> Update {
        let _message_call = self.preview.message_call.lock().await;
        if self.preview.has_ended() || !self.sender.limiter.try_acquire_message(self.preview.place.chat) {
            return Update::Later(Duration::ZERO);
        }
        let reply_to = self.preview.message;
        let content = Outgoing { content: content.clone(), reply_to, ..Outgoing::default() };
        self.standing.show(0, &content, false).await
    }

    async fn show_typing(&self) -> Update {
        let _transient_call = self.preview.transient_call.lock().await;
        let place = &self.preview.place;
        if self.preview.has_ended() || !self.sender.limiter.try_acquire(place.chat) {
            return Update::Later(Duration::ZERO);
        }
        let mut body = json!({"chat_id": place.chat, "action": "typing"});
        if let Some(topic) = place.topic {
            body["message_thread_id"] = json!(topic);
        }
        Update::of(self.sender.api.call(SendChatAction(body)).await)
    }
}
