//! Shows a turn in a private chat: each full part of the answer is sent as a message, and a draft shows the rest. The
//! draft starts at once, grows, and fades under the answer.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use super::pace::PreviewPace;
use super::preview::{Preview, Update};
use super::render::{newest_part, newest_rich};
use super::standing::TurnLiveMessages;
use super::state::{PreviewState, PreviewVersion};
use crate::api::{SendMessageDraft, SendRichMessageDraft};
use crate::outgoing::RICH;
use crate::send::{Outgoing, Sender};
use figaro_agent::outbound::Urgency;
use figaro_base::ids::RunId;
use figaro_domain::chat::AnswerFormat;
use figaro_domain::delivery::Author;
use figaro_markup::{Formatted, RichMessage};

/// Usual time between two updates of a draft.
const USUAL: Duration = Duration::from_millis(350);
/// Delay of the first draft of a turn; nobody notices a shorter wait.
const FIRST: Duration = Duration::from_millis(80);
/// Time after which an unchanged draft is sent again; Telegram shows a draft for 30 s.
const KEEP: Duration = Duration::from_secs(20);

/// Content of a draft.
#[derive(Debug, Clone, PartialEq, Eq)]
enum DraftContent {
    Text(Formatted),
    Rich(RichMessage),
}

impl DraftContent {
    /// Returns `true` if the draft shows only "thinking".
    const fn is_empty(&self) -> bool {
        matches!(self, Self::Text(text) if text.text.is_empty())
    }
}

/// A draft and the messages before it.
struct Drafting<'a> {
    preview: &'a Preview,
    sender: &'a Sender,
    pace: PreviewPace,
    standing: TurnLiveMessages<'a>,
    state: PreviewState,
    /// Content that the draft is known to show, and the time when it was sent.
    shown: Option<(DraftContent, Instant)>,
    /// Last rendered content; it is rendered again only after a visible change.
    rendered: Option<(PreviewVersion, DraftContent)>,
    /// `false` once Telegram has refused a rich draft.
    takes_rich: bool,
}

/// Shows the turn until it ends. An answer that is complete within [`FIRST`] needs no draft.
pub(super) async fn show(preview: &Preview, sender: &Sender) {
    preview.ended_by(Instant::now() + FIRST).await;
    if preview.has_ended() {
        return;
    }
    let mut drafting = Drafting {
        preview,
        sender,
        pace: PreviewPace::new(USUAL, Instant::now()),
        standing: TurnLiveMessages::of(preview, sender),
        state: PreviewState::new().may_be_rich(may_be_rich(preview, sender)),
        shown: None,
        rendered: None,
        takes_rich: true,
    };
    while drafting.step().await {}
}

/// Returns `true` if the chat takes answers as rich messages.
fn may_be_rich(preview: &Preview, sender: &Sender) -> bool {
    let config = sender.settings.chat_config(preview.place.chat);
    config.is_ok_and(|config| config.format == AnswerFormat::Auto)
}

impl Drafting<'_> {
    /// Waits for the next update and sends it. Returns `false` when there is nothing more to show.
    async fn step(&mut self) -> bool {
        match &self.shown {
            // The first text need not wait.
            Some((last, _)) if last.is_empty() => self.preview.words_by(self.pace.ready()).await,
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
            _ => self.newest(),
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
            Update::Refused if matches!(content, DraftContent::Rich(_)) => {
                (self.takes_rich, self.rendered) = (false, None);
                self.pace.updated(Instant::now());
            }
            // Refused content is not sent again until it changes.
            Update::Shown | Update::Refused => {
                let now = Instant::now();
                self.pace.updated(now);
                self.shown = Some((content, now));
            }
        }
    }

    /// Renders the content of the draft.
    fn newest(&self) -> DraftContent {
        let rich = if self.takes_rich { newest_rich(&self.state) } else { None };
        rich.map_or_else(|| DraftContent::Text(newest_part(&self.state)), DraftContent::Rich)
    }

    async fn put_off(&mut self, wait: Duration) {
        self.pace.pushed_back(Instant::now(), wait);
        // The pause that Telegram asked for applies to the first text too.
        self.preview.ended_by(self.pace.ready()).await;
    }

    /// Sends the full parts as messages. With each message Telegram removes the draft, which then shows the rest.
    async fn send_parts(&mut self) -> Update {
        while !self.state.has_given_up {
            let Some((index, piece)) = self.state.full_part() else { break };
            let part = Outgoing { author: Author::Model, ..Outgoing::of_piece(piece.clone()) };
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

    /// Sends a part, with the urgency of an answer.
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

    async fn put(&self, content: &DraftContent) -> Update {
        let _transient_call = self.preview.transient_call.lock().await;
        if self.preview.has_ended() || !self.sender.limiter.try_acquire(self.preview.place.chat) {
            return Update::Later(Duration::ZERO);
        }
        let mut body = body(self.preview);
        Update::of(match content {
            DraftContent::Text(text) => {
                (body["text"], body["entities"]) = (json!(text.text), json!(text.entities));
                self.sender.api.call(SendMessageDraft(body)).await
            }
            DraftContent::Rich(message) => {
                body[RICH] = json!(message);
                self.sender.api.call(SendRichMessageDraft(body)).await
            }
        })
    }
}

/// Returns the arguments of a draft without its content.
fn body(preview: &Preview) -> Value {
    let mut body = json!({
        "chat_id": preview.place.chat, "draft_id": draft_id(preview.run), "can_stop": true,
    });
    if let Some(topic) = preview.place.topic {
        body["message_thread_id"] = json!(topic);
    }
    body
}

/// Returns the id of a turn's draft: not 0, and the same for all states of the draft, as Telegram requires.
fn draft_id(run: RunId) -> i64 {
    let hash =
        run.to_string().bytes().fold(0_u64, |hash, byte| hash.wrapping_mul(31).wrapping_add(u64::from(byte)));
    i64::try_from(hash % 2_147_483_647).unwrap_or_default() + 1
}
