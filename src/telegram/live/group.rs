//! Draws a turn in a group or channel: "typing", then one message that quotes the question and grows by edits. The
//! courier makes the answer of it.

use std::time::Duration;

use serde_json::json;
use tokio::time::Instant;

use super::drawing::{Drawing, State, Stroke};
use super::pace::Pace;
use super::picture::first_part;
use super::sketch::{Sketch, Version};
use super::standing::Standing;
use crate::telegram::api::SendChatAction;
use crate::telegram::markup::Formatted;
use crate::telegram::send::{Outgoing, Sender};

/// Words of a pass are shown once they have been there this long: a short answer comes whole.
const SHOW_AFTER: Duration = Duration::from_secs(2);
/// The message changes at most so often; Telegram lets a group have 20 messages and edits a minute.
const USUAL: Duration = Duration::from_secs(4);
/// "typing" is shown again before it ends, which it does after 5 s.
const TYPING_KEEP: Duration = Duration::from_millis(4500);

/// A message that grows, or may come to.
struct Growing<'a> {
    drawing: &'a Drawing,
    sender: &'a Sender,
    pace: Pace,
    standing: Standing<'a>,
    sketch: Sketch,
    /// What the message is known to show.
    shown: Option<Formatted>,
    /// What was rendered last: it is not rendered again as long as nothing changes that is seen.
    rendered: Option<(Version, Formatted)>,
    /// When "typing" is to be shown next.
    typing: Instant,
}

/// Draws until the turn has ended. A turn that goes on after a restart goes on in the message it had.
pub(super) async fn draw(drawing: &Drawing, sender: &Sender) {
    let standing = Standing::of(drawing, sender).await;
    let now = Instant::now();
    let mut growing = Growing {
        drawing,
        sender,
        pace: Pace::new(USUAL, now),
        standing,
        sketch: Sketch::new(),
        shown: None,
        rendered: None,
        typing: now,
    };
    while growing.step().await {}
}

impl Growing<'_> {
    /// Does what is due, or waits for it; `false` when there is nothing more to draw.
    async fn step(&mut self) -> bool {
        let now = Instant::now();
        if self.drawing.has_ended() {
            return false;
        }
        let due = self.drawing.look(|state| self.due(state));
        let typing = self.standing.is_empty().then_some(self.typing);
        if due.is_some_and(|due| due <= now) {
            return self.grow(typing).await;
        }
        if typing.is_some_and(|typing| typing <= now) {
            let wait = match self.show_typing().await {
                Stroke::NotNow(wait) => wait,
                Stroke::Drawn | Stroke::Refused => Duration::ZERO,
            };
            self.typing = Instant::now() + TYPING_KEEP.max(wait);
            return true;
        }
        self.drawing.changed_by(due.into_iter().chain(typing).min()).await;
        true
    }

    /// When the next stroke is due, if there may be something to draw. A status alone begins no message.
    fn due(&self, state: &State) -> Option<Instant> {
        match state.since {
            Some(since) => Some(self.pace.ready().max(since + SHOW_AFTER)),
            None => (!self.standing.is_empty() && state.status.is_some()).then_some(self.pace.ready()),
        }
    }

    async fn grow(&mut self, typing: Option<Instant>) -> bool {
        if !self.drawing.update(&mut self.sketch) {
            return false;
        }
        let version = self.sketch.version();
        let picture = match self.rendered.take() {
            Some((same, picture)) if same == version => picture,
            _ => first_part(&self.sketch),
        };
        self.rendered = Some((version, picture.clone()));
        if picture.text.is_empty() || self.shown.as_ref() == Some(&picture) {
            self.drawing.changed_by(typing).await;
            self.pace.looked(Instant::now());
            return true;
        }
        let stroke = self.put(&picture).await;
        let now = Instant::now();
        match stroke {
            Stroke::Drawn => {
                self.pace.drawn(now);
                self.shown = Some(picture);
            }
            Stroke::NotNow(wait) => self.pace.pushed_back(now, wait),
            // Someone has deleted it, or the bot may not write here: the courier will see what is to be done.
            Stroke::Refused => {
                self.drawing.ended().await;
                return false;
            }
        }
        true
    }

    async fn put(&mut self, picture: &Formatted) -> Stroke {
        let _pen = self.drawing.pen.lock().await;
        if self.drawing.has_ended() || !self.sender.gate.try_message(self.drawing.place.chat) {
            return Stroke::NotNow(Duration::ZERO);
        }
        let reply_to = Some(self.drawing.message);
        let content = Outgoing { content: picture.clone(), reply_to, ..Outgoing::default() };
        self.standing.show(0, &content, false).await
    }

    async fn show_typing(&self) -> Stroke {
        let _brush = self.drawing.brush.lock().await;
        let place = &self.drawing.place;
        if self.drawing.has_ended() || !self.sender.gate.try_pass(place.chat) {
            return Stroke::NotNow(Duration::ZERO);
        }
        let mut body = json!({"chat_id": place.chat, "action": "typing"});
        if let Some(topic) = place.topic {
            body["message_thread_id"] = json!(topic);
        }
        Stroke::of(self.sender.api.call(SendChatAction(body)).await)
    }
}
