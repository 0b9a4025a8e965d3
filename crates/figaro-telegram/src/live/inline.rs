//! Shows a turn in a chat that the bot is no member of: its message grows by edits, from the first words on.

use std::time::Duration;

use tokio::time::Instant;

use super::pace::PreviewPace;
use super::preview::{Preview, Update};
use super::render::first_part;
use super::state::PreviewState;
use crate::callback::InlineButton;
use crate::inline::{InlineAnswer, InlineContent, with_question};
use crate::send::{Button, Sender};
use figaro_base::ids::ChatId;
use figaro_markup::Formatted;

/// Minimum time between edits. Telegram counts them against the limit of their chat, which bots are not told of.
const USUAL: Duration = Duration::from_secs(2);

/// Shows the turn until it ends. `stop` is the label of the button that stops it.
pub(super) async fn show(preview: &Preview, sender: &Sender, answer: &InlineAnswer, stop: &str) {
    let mut state = PreviewState::new();
    let mut pace = PreviewPace::new(USUAL, Instant::now());
    let mut shown = Formatted::default();
    while !preview.has_ended() {
        let has_news = preview.look(|incoming| incoming.since.is_some() || incoming.status.is_some());
        let due = has_news.then(|| pace.ready());
        if due.is_none_or(|due| due > Instant::now()) {
            preview.changed_by(due).await;
            continue;
        }
        if !preview.update(&mut state) {
            return;
        }
        let text = first_part(&state);
        if text.text.is_empty() || text == shown {
            preview.changed_by(None).await;
            continue;
        }
        let buttons = vec![vec![Button::new(stop, InlineButton::Stop)]];
        let content = InlineContent { text: with_question(&answer.question, text.clone()), buttons };
        match put(preview, sender, answer, &content).await {
            Update::Shown => {
                pace.updated(Instant::now());
                shown = text;
            }
            Update::Later(wait) => pace.pushed_back(Instant::now(), wait),
            Update::Refused => return,
        }
    }
}

async fn put(preview: &Preview, sender: &Sender, answer: &InlineAnswer, content: &InlineContent) -> Update {
    let _message_call = preview.message_call.lock().await;
    let chat = answer.asker.telegram_id().map_or(ChatId(0), ChatId);
    if preview.has_ended() || !sender.limiter.try_acquire(chat) {
        return Update::Later(Duration::ZERO);
    }
    Update::of(sender.show_inline(answer, content).await)
}
