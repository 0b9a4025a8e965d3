//! Shows a turn while it works: in a private chat each full part of the answer as a message and the rest as a growing
//! draft (`draft`), in a group "typing" and a growing message (`group`). It hears the run's events and draws at its own
//! pace; only the newest state is ever drawn.

mod draft;
mod group;
mod pace;
mod picture;
mod sketch;
mod standing;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tokio::sync::Notify;
use tokio::time::{Instant, timeout, timeout_at};
use tokio_util::sync::CancellationToken;

pub(super) use self::picture::MESSAGE_UNITS;
use self::sketch::Sketch;
use super::error::ApiError;
use super::send::Sender;
use super::tries::pauses;
use crate::delivery::{Listener, TurnEvent, TurnEventKind};
use crate::domain::chat::Place;
use crate::domain::delivery::LiveMessage;
use crate::domain::tool::StatusKey;
use crate::ids::{MessageId, RunId};
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

/// One turn's picture.
#[derive(Debug)]
struct Drawing {
    run: RunId,
    place: Place,
    /// The message the turn answers.
    message: MessageId,
    language: Option<String>,
    state: Mutex<State>,
    changed: Notify,
    /// Held while a call is under way whose effect fades: a draft or "typing" should not come behind the answer.
    brush: tokio::sync::Mutex<()>,
    /// Held while a call is under way whose effect stays: the answer must know of it and come behind it.
    pen: tokio::sync::Mutex<()>,
}

#[derive(Debug, Default)]
struct State {
    /// The number of the pass in progress.
    pass: u64,
    /// Its text since the last look.
    heard: String,
    /// Since when it has had text.
    since: Option<Instant>,
    status: Option<String>,
    ended: bool,
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

/// What came of drawing once. A push-back slows the drawing alone, not the answer.
enum Stroke {
    Drawn,
    NotNow(Duration),
    Refused,
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

impl Drawing {
    fn new(run: RunId, place: Place, message: MessageId, language: Option<String>) -> Self {
        let (state, changed, brush, pen) = Default::default();
        Self { run, place, message, language, state, changed, brush, pen }
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut lock(&self.state));
        self.changed.notify_one();
    }

    fn end(&self) {
        self.change(|state| state.ended = true);
    }

    fn look<T>(&self, look: impl FnOnce(&State) -> T) -> T {
        look(&lock(&self.state))
    }

    fn has_ended(&self) -> bool {
        self.look(|state| state.ended)
    }

    /// Brings a sketch up to date; `false` once the turn has ended.
    fn update(&self, sketch: &mut Sketch) -> bool {
        let mut state = lock(&self.state);
        sketch.hear(state.pass, &std::mem::take(&mut state.heard), state.status.clone());
        !state.ended
    }

    /// Waits for a change since the last wait, at most until then.
    async fn changed_by(&self, deadline: Option<Instant>) {
        match deadline {
            Some(deadline) => drop(timeout_at(deadline, self.changed.notified()).await),
            None => self.changed.notified().await,
        }
    }

    /// Waits for the first words of a pass or for the end, at most until then.
    async fn words_by(&self, deadline: Instant) {
        let words = async {
            while !self.look(|state| state.ended || state.since.is_some()) {
                self.changed.notified().await;
            }
        };
        drop(timeout_at(deadline, words).await);
    }

    async fn ended(&self) {
        while !self.has_ended() {
            self.changed.notified().await;
        }
    }

    /// Waits until then, or for the end if that comes first.
    async fn ended_by(&self, deadline: Instant) {
        drop(timeout_at(deadline, self.ended()).await);
    }
}

impl Stroke {
    fn of(result: Result<Value, ApiError>) -> Self {
        let Err(error) = result else { return Self::Drawn };
        tracing::debug!(%error, "what is in progress could not be drawn");
        match error {
            ApiError::RetryAfter(wait) => Self::NotNow(wait),
            ApiError::Refused(_) | ApiError::Migrated(_) => Self::Refused,
            ApiError::Unauthorized | ApiError::Conflict | ApiError::Unreachable(_) | ApiError::Unclear(_) => {
                Self::NotNow(Duration::ZERO)
            }
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
