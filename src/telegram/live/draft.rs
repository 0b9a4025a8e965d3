//! Draws a turn in a private chat: a draft that grows from the first moment and fades under the answer.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use super::pace::Pace;
use super::picture::last_part;
use super::{Drawing, Sketch, Stroke};
use crate::ids::RunId;
use crate::telegram::api::SendMessageDraft;
use crate::telegram::markup::Formatted;
use crate::telegram::send::Sender;

/// A draft is drawn at most so often.
const USUAL: Duration = Duration::from_millis(350);
/// An unchanged draft is drawn again before it fades, which it does after 30 s.
const KEEP: Duration = Duration::from_secs(20);

/// Draws until the turn has ended.
pub(super) async fn draw(drawing: &Drawing, sender: &Sender) {
    let mut pace = Pace::new(USUAL, Instant::now());
    let mut shown: Option<(Formatted, Instant)> = None;
    let mut rendered: Option<(Sketch, Formatted)> = None;
    loop {
        match &shown {
            // Only "thinking" is there: the first words need not wait for their turn.
            Some((last, _)) if last.text.is_empty() => drawing.words_by(pace.ready()).await,
            _ => drawing.ended_by(pace.ready()).await,
        }
        let Some(sketch) = drawing.sketch() else { return };
        let picture = match rendered.take() {
            Some((same, picture)) if same == sketch => picture,
            _ => last_part(&sketch),
        };
        rendered = Some((sketch, picture.clone()));
        if let Some((last, at)) = &shown
            && *last == picture
            && at.elapsed() < KEEP
        {
            drawing.changed_by(Some(*at + KEEP)).await;
            pace.looked(Instant::now());
            continue;
        }
        let stroke = put(drawing, sender, &picture).await;
        let now = Instant::now();
        match stroke {
            Stroke::NotNow(wait) => {
                pace.pushed_back(now, wait);
                // The pause that Telegram asked for holds for the first words too.
                drawing.ended_by(pace.ready()).await;
            }
            // What was refused is not drawn again until it has changed.
            Stroke::Drawn | Stroke::Refused => {
                pace.drawn(now);
                shown = Some((picture, now));
            }
        }
    }
}

async fn put(drawing: &Drawing, sender: &Sender, picture: &Formatted) -> Stroke {
    let _brush = drawing.brush.lock().await;
    if drawing.has_ended() || !sender.gate.try_pass(drawing.place.chat) {
        return Stroke::NotNow(Duration::ZERO);
    }
    Stroke::of(sender.api.call(SendMessageDraft(body(drawing, picture))).await)
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
