//! Shows a preview of a running turn: in a private chat each full part of the answer as a message and the rest as a
//! growing draft (`draft`), in a group "typing" and a growing message (`group`). It receives the events of the turn
//! and updates at its own pace; only the newest state is shown.

mod draft;
mod group;
mod inline;
mod pace;
mod preview;
mod render;
mod standing;
mod state;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

use self::preview::Preview;
use super::inline::{InlineAnswer, InlineAnswers};
use super::send::Sender;
use super::tries::pauses;
use figaro_agent::delivery::{Listener, TurnEvent, TurnEventKind};
use figaro_base::ids::RunId;
use figaro_base::shutdown::TaskTracker;
use figaro_domain::delivery::LiveMessage;
use figaro_domain::origin::Origin;
use figaro_domain::tool::StatusKey;
use figaro_prompts::texts::{Locales, fill};

/// Maximum time that an answer waits for a preview call whose effect fades: as long as Telegram usually takes, so
/// that the draft does not come after the answer.
const TRANSIENT_CALL_TIMEOUT: Duration = Duration::from_millis(500);

/// Shows previews of running turns, driven by their events.
#[derive(Debug)]
pub struct Live {
    sender: Sender,
    background: TaskTracker,
    locales: Arc<Locales>,
    previews: Arc<Mutex<HashMap<RunId, Arc<Preview>>>>,
    inline: InlineAnswers,
}

/// Removes a preview from the list when it ends, also by a panic.
struct PreviewGuard {
    previews: Arc<Mutex<HashMap<RunId, Arc<Preview>>>>,
    run: RunId,
}

impl Drop for PreviewGuard {
    fn drop(&mut self) {
        self.previews.lock().remove(&self.run);
    }
}

impl Live {
    /// Sends through this sender, within its rate limits. Status lines are in the language of the person who asked.
    #[must_use]
    pub fn new(sender: Sender, background: TaskTracker, locales: Arc<Locales>) -> Self {
        let (previews, inline) = Default::default();
        Self { sender, background, locales, previews, inline }
    }

    /// Returns the answers that are being written in chats that the bot is no member of.
    #[must_use]
    pub const fn inline(&self) -> &InlineAnswers {
        &self.inline
    }

    /// Ends a turn's preview, waits for its calls, and returns its messages, also after a restart. A slow draft call
    /// is not waited for; its draft stays under the answer until it fades. A call that sends or edits a message is
    /// always waited for, because it might replace the answer by a part of it. Returns `None` if the bot stops before
    /// the store returns the messages.
    pub(crate) async fn settle(&self, run: RunId) -> Option<Vec<LiveMessage>> {
        let preview = self.previews.lock().get(&run).cloned();
        if let Some(preview) = preview {
            preview.end();
            drop(timeout(TRANSIENT_CALL_TIMEOUT, preview.transient_call.lock()).await);
            drop(preview.message_call.lock().await);
        }
        let mut pauses = pauses();
        loop {
            match self.sender.outbox.live_of(run) {
                Ok(live) => return Some(live),
                Err(error) => {
                    tracing::error!(%error, %run, "what was shown of an answer could not be looked up")
                }
            }
            let pause = tokio::time::sleep(pauses.next().unwrap_or_default());
            self.sender.unless_stopping(pause, &CancellationToken::new()).await.ok()?;
        }
    }

    fn list(&self, preview: Preview) -> (Arc<Preview>, PreviewGuard) {
        let (run, preview) = (preview.run, Arc::new(preview));
        self.previews.lock().insert(run, Arc::clone(&preview));
        (preview, PreviewGuard { previews: Arc::clone(&self.previews), run })
    }

    fn begin_inline(&self, preview: Preview, answer: Arc<InlineAnswer>) {
        let stop = self.locales.of(preview.language.as_deref()).inline_stop().to_owned();
        let ((preview, listed), sender) = (self.list(preview), self.sender.clone());
        self.background.spawn("live", async move {
            let _listed = listed;
            inline::show(&preview, &sender, &answer, &stop).await;
        });
    }

    fn begin(&self, preview: Preview) {
        let run = preview.run;
        let ((preview, listed), sender) = (self.list(preview), self.sender.clone());
        self.background.spawn("live", async move {
            let _listed = listed;
            // A draft only goes when a message comes, and an answer in place of an earlier one sends none.
            let standing = sender.outbox.live_of(run).unwrap_or_default();
            match preview.place.is_group() || standing.iter().any(LiveMessage::is_earlier) {
                true => group::show(&preview, &sender).await,
                false => draft::show(&preview, &sender).await,
            }
        });
    }

    fn status(&self, language: Option<&str>, key: StatusKey, hint: Option<&str>) -> Option<String> {
        let text = self.locales.of(language).get(key.0)?;
        Some(fill(text, &[("hint", hint.unwrap_or("…"))]))
    }
}

impl Listener for Live {
    fn hear(&self, event: &TurnEvent) {
        if let TurnEventKind::Started { origin, place, language } = &event.kind {
            let preview = |message| Preview::new(event.run, place.clone(), message, language.clone());
            match origin {
                Origin::Telegram { message, .. } => self.begin(preview(*message)),
                Origin::Inline { .. } => {
                    if let Some(answer) = self.inline.began(place.conversation(), event.run) {
                        self.begin_inline(preview(None), answer);
                    }
                }
                Origin::Draft | Origin::Http { .. } | Origin::Terminal { .. } | Origin::Task => {}
            }
            return;
        }
        let Some(preview) = self.previews.lock().get(&event.run).cloned() else {
            return;
        };
        match &event.kind {
            TurnEventKind::Started { .. } => {}
            TurnEventKind::Delta(text) => preview.change(|incoming| {
                incoming.status = None;
                incoming.text.push_str(text);
                incoming.since = incoming.since.or_else(|| Some(Instant::now()));
            }),
            TurnEventKind::PassEnded { kept } => preview.change(|incoming| {
                incoming.pass += 1;
                incoming.text.clone_from(kept);
                incoming.since = (!kept.is_empty()).then(Instant::now);
            }),
            TurnEventKind::ToolStarted { call: _, status, hint } => {
                let status = self.status(preview.language.as_deref(), *status, hint.as_deref());
                preview.change(|incoming| incoming.status = status);
            }
            TurnEventKind::ToolEnded { .. }
            | TurnEventKind::Action { .. }
            | TurnEventKind::Child { .. }
            | TurnEventKind::Closed(_)
            | TurnEventKind::MemoryUpdated { .. } => {}
            TurnEventKind::Ended => preview.end(),
        }
    }
}
