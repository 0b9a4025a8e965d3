//! Draws a turn in a private chat: each part of the answer is sent as a message once it is full, and a draft shows the
//! rest. It grows from the first moment and fades under the answer.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use super::drawing::{Drawing, Stroke};
use super::pace::Pace;
use super::picture::newest_part;
use super::sketch::{Sketch, Version};
use super::standing::Standing;
use crate::domain::delivery::Author;
use crate::ids::RunId;
use crate::outbound::Urgency;
use crate::telegram::api::SendMessageDraft;
use crate::telegram::markup::{Formatted, Piece};
use crate::telegram::send::{Outgoing, Sender};

/// A draft is drawn at most so often.
const USUAL: Duration = Duration::from_millis(350);
/// An unchanged draft is drawn again before it fades, which it does after 30 s.
const KEEP: Duration = Duration::from_secs(20);

/// A draft, and the messages before it.
struct Drafting<'a> {
    drawing: &'a Drawing,
    sender: &'a Sender,
    pace: Pace,
    standing: Standing<'a>,
    sketch: Sketch,
    /// What the draft is known to show, and since when.
    shown: Option<(Formatted, Instant)>,
    /// What was rendered last: it is not rendered again as long as nothing changes that is seen.
    rendered: Option<(Version, Formatted)>,
}

/// Draws until the turn has ended.
pub(super) async fn draw(drawing: &Drawing, sender: &Sender) {
    let mut drafting = Drafting {
        drawing,
        sender,
        pace: Pace::new(USUAL, Instant::now()),
        standing: Standing::of(drawing, sender).await,
        sketch: Sketch::new(),
        shown: None,
        rendered: None,
    };
    while drafting.step().await {}
}

impl Drafting<'_> {
    /// Waits until it is time and draws what is new; `false` when there is nothing more to draw.
    async fn step(&mut self) -> bool {
        match &self.shown {
            // Only "thinking" is there: the first words need not wait for their turn.
            Some((last, _)) if last.text.is_empty() => self.drawing.words_by(self.pace.ready()).await,
            _ => self.drawing.ended_by(self.pace.ready()).await,
        }
        if !self.drawing.update(&mut self.sketch) {
            return false;
        }
        match self.send_parts().await {
            Stroke::Drawn => {}
            Stroke::NotNow(wait) => {
                self.put_off(wait).await;
                return true;
            }
            Stroke::Refused => self.sketch.give_up(),
        }
        self.draw_rest().await;
        true
    }

    async fn draw_rest(&mut self) {
        let version = self.sketch.version();
        let picture = match self.rendered.take() {
            Some((same, picture)) if same == version => picture,
            _ => newest_part(&self.sketch),
        };
        self.rendered = Some((version, picture.clone()));
        if let Some((last, at)) = &self.shown
            && *last == picture
            && at.elapsed() < KEEP
        {
            self.drawing.changed_by(Some(*at + KEEP)).await;
            self.pace.looked(Instant::now());
            return;
        }
        match self.put(&picture).await {
            Stroke::NotNow(wait) => self.put_off(wait).await,
            // What was refused is not drawn again until it has changed.
            Stroke::Drawn | Stroke::Refused => {
                let now = Instant::now();
                self.pace.drawn(now);
                self.shown = Some((picture, now));
            }
        }
    }

    async fn put_off(&mut self, wait: Duration) {
        self.pace.pushed_back(Instant::now(), wait);
        // The pause that Telegram asked for holds for the first words too.
        self.drawing.ended_by(self.pace.ready()).await;
    }

    /// Sends the parts that are full. With each Telegram takes the draft away, which then shows what is behind it.
    async fn send_parts(&mut self) -> Stroke {
        while !self.sketch.has_given_up {
            let Some((index, piece)) = self.sketch.full_part() else { break };
            let part = part(piece.clone());
            if !self.standing.shows(index, &part) {
                match self.send(index, &part).await {
                    Stroke::Drawn => self.shown = None,
                    other => return other,
                }
            }
            self.sketch.part_sent();
        }
        Stroke::Drawn
    }

    /// A part is no less urgent than the answer it belongs to.
    async fn send(&mut self, index: usize, part: &Outgoing) -> Stroke {
        let chat = self.drawing.place.chat;
        tokio::select! {
            () = self.drawing.ended() => return Stroke::NotNow(Duration::ZERO),
            () = self.sender.gate.pass(chat, Urgency::Answer) => {}
        }
        let _pen = self.drawing.pen.lock().await;
        if self.drawing.look(|state| state.ended || state.pass != self.sketch.pass()) {
            return Stroke::NotNow(Duration::ZERO);
        }
        let stroke = self.standing.show(index, part, true).await;
        if let Stroke::NotNow(wait) = stroke {
            self.sender.gate.close(chat, wait);
        }
        stroke
    }

    async fn put(&self, picture: &Formatted) -> Stroke {
        let _brush = self.drawing.brush.lock().await;
        if self.drawing.has_ended() || !self.sender.gate.try_pass(self.drawing.place.chat) {
            return Stroke::NotNow(Duration::ZERO);
        }
        Stroke::of(self.sender.api.call(SendMessageDraft(body(self.drawing, picture))).await)
    }
}

fn part(piece: Piece) -> Outgoing {
    let (content, file) = match piece {
        Piece::Text(content) => (content, None),
        Piece::File(file) | Piece::Whole(file, _) => (Formatted::default(), Some(file)),
    };
    Outgoing { content, file, author: Author::Model, ..Outgoing::default() }
}

fn body(drawing: &Drawing, picture: &Formatted) -> Value {
    let mut body = json!({
        "chat_id": drawing.place.chat, "draft_id": draft_id(drawing.run), "text": picture.text,
        "entities": picture.entities, "can_stop": true,
    });
    if let Some(topic) = drawing.place.topic {
        body["message_thread_id"] = json!(topic);
    }
    body
}

/// Telegram wants a number other than 0, the same for all states of a draft.
fn draft_id(run: RunId) -> i64 {
    let hash =
        run.to_string().bytes().fold(0_u64, |hash, byte| hash.wrapping_mul(31).wrapping_add(u64::from(byte)));
    i64::try_from(hash % 2_147_483_647).unwrap_or_default() + 1
}
