//! Shows a turn while it works: a growing draft in a private chat, "typing" in a group. It hears the run's events and
//! draws at its own pace; only the newest state is ever drawn.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::Notify;

use super::api::{Api, ApiError, SendChatAction, SendMessageDraft};
use super::markup::{Formatted, render_partial, split};
use crate::delivery::{Listener, RunEvent, RunEventKind};
use crate::domain::chat::Place;
use crate::ids::RunId;
use crate::outbound::Gate;
use crate::prompts::texts::{Locales, fill};
use crate::shutdown::Tasks;
use crate::text::utf16_len;

/// A draft is drawn at most so often.
const DRAFT_PACE: Duration = Duration::from_millis(350);
/// An unchanged draft is drawn again before it fades (after 30 s), and "typing" before it ends (after 5 s).
const DRAFT_KEEP: Duration = Duration::from_secs(20);
const TYPING_KEEP: Duration = Duration::from_millis(4500);
/// So long an answer waits for a draft that is under way.
const LAST_STROKE: Duration = Duration::from_secs(2);
/// The most UTF-16 units of a draft.
const DRAFT_UNITS: usize = 4096;

/// Draws what is in progress.
#[derive(Debug)]
pub struct Live {
    api: Api,
    gate: Arc<Gate>,
    tasks: Tasks,
    locales: Arc<Locales>,
    drawings: Arc<Mutex<HashMap<RunId, Arc<Drawing>>>>,
}

/// One turn's picture.
#[derive(Debug)]
struct Drawing {
    run: RunId,
    place: Place,
    language: Option<String>,
    state: Mutex<State>,
    changed: Notify,
    /// Held while a call is under way, so that a draft never arrives behind the answer.
    brush: tokio::sync::Mutex<()>,
}

/// What came of drawing once.
enum Put {
    Done,
    NotNow(Duration),
}

#[derive(Debug, Default)]
struct State {
    text: String,
    status: Option<String>,
    ended: bool,
}

impl Live {
    /// Draws through this API at the gate's leave; status lines come in the language of whoever asked.
    #[must_use]
    pub fn new(api: Api, gate: Arc<Gate>, tasks: Tasks, locales: Arc<Locales>) -> Self {
        Self { api, gate, tasks, locales, drawings: Arc::default() }
    }

    /// Ends a turn's drawing and waits a little until no call of it is under way; a draft that comes later than that
    /// stands under the answer until it fades.
    pub async fn settle(&self, run: RunId) {
        let drawing = lock(&self.drawings).get(&run).cloned();
        if let Some(drawing) = drawing {
            drawing.end();
            drop(tokio::time::timeout(LAST_STROKE, drawing.brush.lock()).await);
        }
    }

    fn begin(&self, run: RunId, place: &Place, language: Option<String>) {
        let drawing = Arc::new(Drawing {
            run,
            place: place.clone(),
            language,
            state: Mutex::default(),
            changed: Notify::new(),
            brush: tokio::sync::Mutex::default(),
        });
        lock(&self.drawings).insert(run, Arc::clone(&drawing));
        let (api, gate) = (self.api.clone(), Arc::clone(&self.gate));
        let drawings = Arc::clone(&self.drawings);
        self.tasks.spawn("live", async move {
            drawing.draw(&api, &gate).await;
            lock(&drawings).remove(&run);
        });
    }

    fn status(&self, language: Option<&str>, tool: &str, hint: Option<&str>) -> String {
        let texts = self.locales.of(language);
        if tool.contains("search") {
            format!("🔎 {}", fill(&texts.tool_search, &[("hint", hint.unwrap_or("…"))]))
        } else if tool.contains("note") {
            texts.tool_notes.clone()
        } else if tool.contains("config") {
            texts.tool_config.clone()
        } else {
            texts.tool_telegram.clone()
        }
    }
}

impl Listener for Live {
    fn hear(&self, event: &RunEvent) {
        if let RunEventKind::Started { place, language } = &event.kind {
            return self.begin(event.run, place, language.clone());
        }
        let Some(drawing) = lock(&self.drawings).get(&event.run).cloned() else {
            return;
        };
        match &event.kind {
            RunEventKind::Started { .. } => {}
            RunEventKind::Delta(text) => drawing.change(|state| {
                state.status = None;
                state.text.push_str(text);
            }),
            RunEventKind::PassEnded => drawing.change(|state| state.text.clear()),
            RunEventKind::ToolStarted { name, hint } => {
                let status = self.status(drawing.language.as_deref(), name, hint.as_deref());
                drawing.change(|state| state.status = Some(status));
            }
            RunEventKind::ToolEnded { .. } => {}
            RunEventKind::Ended(_) => drawing.end(),
        }
    }
}

impl Drawing {
    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut lock(&self.state));
        self.changed.notify_one();
    }

    fn end(&self) {
        self.change(|state| state.ended = true);
    }

    async fn draw(&self, api: &Api, gate: &Gate) {
        let is_group = self.place.is_group();
        let keep = if is_group { TYPING_KEEP } else { DRAFT_KEEP };
        let mut drawn = None;
        loop {
            let current = {
                let state = lock(&self.state);
                if state.ended {
                    return;
                }
                picture(&state)
            };
            if drawn.as_ref() != Some(&current) || is_group {
                match self.put(api, gate, &current).await {
                    Put::Done => drawn = Some(current),
                    Put::NotNow(wait) => drop(tokio::time::timeout(wait, self.ended()).await),
                }
            }
            tokio::time::sleep(DRAFT_PACE).await;
            let waited = tokio::time::timeout(keep, async {
                match is_group {
                    true => self.ended().await,
                    false => self.changed.notified().await,
                }
            });
            if waited.await.is_err() {
                drawn = None;
            }
        }
    }

    async fn ended(&self) {
        while !lock(&self.state).ended {
            self.changed.notified().await;
        }
    }

    /// Draws once. A push-back slows the drawing alone, not the answer.
    async fn put(&self, api: &Api, gate: &Gate, picture: &Formatted) -> Put {
        let _brush = self.brush.lock().await;
        if lock(&self.state).ended || !gate.try_pass(self.place.chat) {
            return Put::NotNow(Duration::ZERO);
        }
        let result = match self.place.is_group() {
            true => api.call(SendChatAction(self.typing())).await,
            false => api.call(SendMessageDraft(self.draft(picture))).await,
        };
        match result {
            Ok(_) => Put::Done,
            Err(ApiError::RetryAfter(wait)) => Put::NotNow(wait),
            Err(error) => {
                tracing::debug!(chat = %self.place.chat, %error, "a draft could not be drawn");
                Put::Done
            }
        }
    }

    fn typing(&self) -> Value {
        let mut body = json!({"chat_id": self.place.chat, "action": "typing"});
        if let Some(topic) = self.place.topic {
            body["message_thread_id"] = json!(topic);
        }
        body
    }

    fn draft(&self, picture: &Formatted) -> Value {
        let mut body = json!({
            "chat_id": self.place.chat, "draft_id": draft_id(self.run), "text": picture.text,
            "entities": picture.entities, "can_stop": true,
        });
        if let Some(topic) = self.place.topic {
            body["message_thread_id"] = json!(topic);
        }
        body
    }
}

/// The text so far with the status under it; of a long text its last message.
fn picture(state: &State) -> Formatted {
    let mut markdown = state.text.clone();
    if let Some(status) = &state.status {
        let gap = if markdown.is_empty() { "" } else { "\n\n" };
        markdown += &format!("{gap}{status}");
    }
    let whole = render_partial(&markdown);
    if utf16_len(&whole.text) <= DRAFT_UNITS {
        return whole;
    }
    split(whole, DRAFT_UNITS).pop().unwrap_or_default()
}

/// Telegram wants a number other than 0, the same for all states of a draft.
fn draft_id(run: RunId) -> i64 {
    let hash =
        run.to_string().bytes().fold(0_u64, |hash, byte| hash.wrapping_mul(31).wrapping_add(u64::from(byte)));
    i64::try_from(hash % 2_147_483_647).unwrap_or_default() + 1
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
