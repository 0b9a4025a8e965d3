//! Shows a turn while it works: in a private chat each full part of the answer as a message and the rest as a growing
//! draft (`draft`), in a group "typing" and a growing message (`group`). It hears the run's events and draws at its own
//! pace; only the newest state is ever drawn.

mod draft;
mod drawing;
mod group;
mod pace;
mod picture;
mod sketch;
mod standing;

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

use self::drawing::{Drawing, lock};
pub(super) use self::sketch::MESSAGE_UNITS;
use super::send::Sender;
use super::tries::pauses;
use crate::delivery::{Listener, TurnEvent, TurnEventKind};
use crate::domain::delivery::LiveMessage;
use crate::domain::tool::StatusKey;
use crate::ids::RunId;
use crate::prompts::texts::{Locales, fill};
use crate::shutdown::Tasks;

/// So long an answer waits for a call that is under way and leaves nothing behind.
const LAST_STROKE: Duration = Duration::from_secs(2);

/// Draws what is in progress.
#[derive(Debug)]
pub struct Live {
    sender: Sender,
    tasks: Tasks,
    locales: Arc<Locales>,
    drawings: Arc<Mutex<HashMap<RunId, Arc<Drawing>>>>,
}

/// Takes a drawing off the list when it ends, by a panic too.
struct Listed {
    drawings: Arc<Mutex<HashMap<RunId, Arc<Drawing>>>>,
    run: RunId,
}

impl Drop for Listed {
    fn drop(&mut self) {
        lock(&self.drawings).remove(&self.run);
    }
}

impl Live {
    /// Draws as this sender, at its gate's leave; status lines come in the language of whoever asked.
    #[must_use]
    pub fn new(sender: Sender, tasks: Tasks, locales: Arc<Locales>) -> Self {
        Self { sender, tasks, locales, drawings: Arc::default() }
    }

    /// Ends a turn's drawing, waits until no call of it is under way, and gives the messages it leaves, also after a
    /// restart. A draft that takes longer than a little stands under the answer until it fades; a call that sends or
    /// changes a message is waited for as long as it takes, else it might put the answer back to a part of it. `None` if the
    /// bot stops before the store says which they are.
    pub async fn settle(&self, run: RunId) -> Option<Vec<LiveMessage>> {
        let drawing = lock(&self.drawings).get(&run).cloned();
        if let Some(drawing) = drawing {
            drawing.end();
            drop(timeout(LAST_STROKE, drawing.brush.lock()).await);
            drop(drawing.pen.lock().await);
        }
        let mut pauses = pauses();
        loop {
            match self.sender.outbox.live_of(run).await {
                Ok(live) => return Some(live),
                Err(error) => {
                    tracing::error!(%error, %run, "what was shown of an answer could not be looked up")
                }
            }
            let pause = tokio::time::sleep(pauses.next().unwrap_or_default());
            self.sender.unless_stopping(pause, &CancellationToken::new()).await.ok()?;
        }
    }

    fn begin(&self, drawing: Drawing) {
        let (run, drawing) = (drawing.run, Arc::new(drawing));
        lock(&self.drawings).insert(run, Arc::clone(&drawing));
        let (sender, drawings) = (self.sender.clone(), Arc::clone(&self.drawings));
        self.tasks.spawn("live", async move {
            let _listed = Listed { drawings, run };
            match drawing.place.is_group() {
                true => group::draw(&drawing, &sender).await,
                false => draft::draw(&drawing, &sender).await,
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
        if let TurnEventKind::Started { place, message, language } = &event.kind {
            if let Some(message) = message {
                self.begin(Drawing::new(event.run, place.clone(), *message, language.clone()));
            }
            return;
        }
        let Some(drawing) = lock(&self.drawings).get(&event.run).cloned() else {
            return;
        };
        match &event.kind {
            TurnEventKind::Started { .. } => {}
            TurnEventKind::Delta(text) => drawing.change(|state| {
                state.status = None;
                state.heard.push_str(text);
                state.since = state.since.or_else(|| Some(Instant::now()));
            }),
            TurnEventKind::PassEnded => drawing.change(|state| {
                state.pass += 1;
                state.heard.clear();
                state.since = None;
            }),
            TurnEventKind::ToolStarted { name: _, status, hint } => {
                let status = self.status(drawing.language.as_deref(), *status, hint.as_deref());
                drawing.change(|state| state.status = status);
            }
            TurnEventKind::ToolEnded { .. } => {}
            TurnEventKind::Ended => drawing.end(),
        }
    }
}
