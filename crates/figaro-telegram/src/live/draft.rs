//! Shows a turn in a private chat: each part of the answer is sent as a message once it is full, and a draft shows the
//! rest. It grows from the first moment and fades under the answer.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use super::pace::Pace;
use super::preview::{Preview, Update};
use super::render::newest_part;
use super::standing::Standing;
use super::state::{PreviewState, Version};
use crate::api::SendMessageDraft;
use crate::send::{Outgoing, Sender};
use figaro_agent::outbound::Urgency;
use figaro_base::ids::RunId;
use figaro_domain::delivery::Author;
use figaro_markup::{Formatted, Piece};

/// The usual time between two updates of a draft.
const USUAL: Duration = Duration::from_millis(350);
/// The first draft of a turn comes so long after its beginning: nobody sees a shorter wait.
const FIRST: Duration = Duration::from_millis(80);
/// An unchanged draft is sent again after this time: Telegram shows it for 30 s.
const KEEP: Duration = Duration::from_secs(20);

/// A draft, and the messages before it.
struct Drafting<'a> {
    preview: &'a Preview,
    sender: &'a Sender,
    pace: Pace,
    standing: Standing<'a>,
    state: PreviewState,
    /// What the draft is known to show, and since when.
    shown: Option<(Formatted, Instant)>,
    /// What was rendered last: it is not rendered again as long as nothing changes that is seen.
    rendered: Option<(Version, Formatted)>,
}

/// Shows the turn until it has ended. An answer that is whole after [`FIRST`] needs no draft.
pub(super) async fn show(preview: &Preview, sender: &Sender) {
    preview.ended_by(Instant::now() + FIRST).await;
    if preview.has_ended() {
        return;
    }
    let mut drafting = Drafting {
        preview,
        sender,
        pace: Pace::new(USUAL, Instant::now()),
        standing: Standing::of(preview, sender).await,
        state: PreviewState::new(),
        shown: None,
        rendered: None,
    };
    while drafting.step().await {}
}

impl Drafting<'_> {
    /// Waits until it is time and shows what is new. `false` when there is nothing more to show.
    async fn step(&mut self) -> bool {
        match &self.shown {
            // Only "thinking" is there: the first words need not wait for their turn.
            Some((last, _)) if last.text.is_empty() => self.preview.words_by(self.pace.ready()).await,
            _ => self.preview.ended_by(self.pace.ready()).await,
        }
        if !self.preview.update(&mut self.state) {
            return false;
        }
        match self.send_parts().await {
            Update::Shown => {}
            Update::Later(wait) => {
                self.put_off(wait).await;
                return true;
            }
            Update::Refused => self.state.give_up(),
        }
        self.show_rest().await;
        true
    }

    async fn show_rest(&mut self) {
        let version = self.state.version();
        let content = match self.rendered.take() {
            Some((same, content)) if same == version => content,
            _ => newest_part(&self.state),
        };
        self.rendered = Some((version, content.clone()));
        if let Some((last, at)) = &self.shown
            && *last == content
            && at.elapsed() < KEEP
        {
            self.preview.changed_by(Some(*at + KEEP)).await;
            self.pace.looked(Instant::now());
            return;
        }
        match self.put(&content).await {
            Update::Later(wait) => self.put_off(wait).await,
            // What was refused is not sent again until it has changed.
            Update::Shown | Update::Refused => {
                let now = Instant::now();
                self.pace.updated(now);
                self.shown = Some((content, now));
            }
        }
    }

    async fn put_off(&mut self, wait: Duration) {
        self.pace.pushed_back(Instant::now(), wait);
        // The pause that Telegram asked for holds for the first words too.
        self.preview.ended_by(self.pace.ready()).await;
    }

    /// Sends the parts that are full. With each Telegram takes the draft away, which then shows what is behind it.
    async fn send_parts(&mut self) -> Update {
        while !self.state.has_given_up {
            let Some((index, piece)) = self.state.full_part() else { break };
            let part = part(piece.clone());
            if !self.standing.shows(index, &part) {
                match self.send(index, &part).await {
                    Update::Shown => self.shown = None,
                    other => return other,
                }
            }
            self.state.part_sent();
        }
        Update::Shown
    }

    /// A part is no less urgent than the answer it belongs to.
    async fn send(&mut self, index: usize, part: &Outgoing) -> Update {
        let chat = self.preview.place.chat;
        tokio::select! {
            () = self.preview.ended() => return Update::Later(Duration::ZERO),
            () = self.sender.limiter.acquire(chat, Urgency::Answer) => {}
        }
        let _message_call = self.preview.message_call.lock().await;
        if self.preview.look(|incoming| incoming.ended || incoming.pass != self.state.pass()) {
            return Update::Later(Duration::ZERO);
        }
        let update = self.standing.show(index, part, true).await;
        if let Update::Later(wait) = update {
            self.sender.limiter.pause(chat, wait);
        }
        update
    }

    async fn put(&self, content: &Formatted) -> Update {
        let _transient_call = self.preview.transient_call.lock().await;
        if self.preview.has_ended() || !self.sender.limiter.try_acquire(self.preview.place.chat) {
            return Update::Later(Duration::ZERO);
        }
        Update::of(self.sender.api.call(SendMessageDraft(body(self.preview, content))).await)
    }
}

fn part(piece: Piece) -> Outgoing {
    let (content, file) = match piece {
        Piece::Text(content) => (content, None),
        Piece::File(file) | Piece::Whole(file, _) => (Formatted::default(), Some(file)),
    };
    Outgoing { content, file, author: Author::Model, ..Outgoing::default() }
}

fn body(preview: &Preview, content: &Formatted) -> Value {
    let mut body = json!({
        "chat_id": preview.place.chat, "draft_id": draft_id(preview.run), "text": content.text,
        "entities": content.entities, "can_stop": true,
    });
    if let Some(topic) = preview.place.topic {
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
