//! The tools `pin` and `unpin`. Pins of the model have no author and never the importance that people give to vital ones.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Tool, ToolContext, ToolDefinition, ToolError, as_kept_data, typed};
use figaro_base::ids::PinId;
use figaro_base::text::one_line;
use figaro_domain::pin::{DEFAULT_IMPORTANCE, MAX_CONTENT_CHARS, MAX_PINS, Pin, VITAL};
use figaro_domain::pinning::kind_of;
use figaro_domain::tool::{Effect, StatusKey};
use figaro_store::{ConversationStore, PinAdded, PinStore};

/// Status text shown during a call.
const STATUS: StatusKey = StatusKey("tool_pins");
/// Maximum importance the model may set.
const MAX_IMPORTANCE: f32 = 9.0;
/// Maximum length of a pin in a list, in characters.
const LINE_CHARS: usize = 200;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AddPinArguments {
    /// What to keep, in words that can be understood alone.
    content: String,
    /// From 0 to 9; 5 unless given.
    #[serde(default)]
    importance: Option<f32>,
}

/// Makes `pin`, which pins words for the session. A rare tool.
#[must_use]
pub(crate) fn add(store: PinStore, conversations: ConversationStore) -> Arc<dyn Tool> {
    let words = "Keeps something in view: you see it with every later question of this conversation. Only what the person wants \
                 kept in mind; lists belong into notes. It pins no message in Telegram.";
    let about = ToolDefinition::new("pin", words, Effect::Write, STATUS)
        .of_memory()
        .rare("pin keep in mind always remember in view for this conversation");
    typed(about, move |context: ToolContext, AddPinArguments { content, importance }| {
        let (store, conversations) = (store.clone(), conversations.clone());
        async move {
            let content = content.trim().to_owned();
            if content.is_empty() || content.chars().count() > MAX_CONTENT_CHARS {
                let words = format!("content takes 1 to {MAX_CONTENT_CHARS} characters");
                return Err(ToolError::ForModel(words));
            }
            let importance = importance.unwrap_or(DEFAULT_IMPORTANCE);
            if !(0.0..=MAX_IMPORTANCE).contains(&importance) {
                let words = format!(
                    "importance is from 0 to {MAX_IMPORTANCE:.0}; only people make a pin more important"
                );
                return Err(ToolError::ForModel(words));
            }
            let session = conversations.session(context.place.conversation(), context.now)?;
            let pin_type = kind_of(&content);
            let plain = Pin::new(context.place.chat, session.id, content, context.now);
            let pin = Pin { importance, pin_type, turn: Some(context.run), ..plain };
            match store.add(&pin).await? {
                PinAdded::New => Ok(json!({"success": true, "pin_id": pin.id})),
                PinAdded::Already(id) => Ok(json!({"success": true, "pin_id": id, "already_there": true})),
                PinAdded::Full => {
                    let words =
                        format!("this chat has {MAX_PINS} pins; the person can remove some with /pins");
                    Err(ToolError::ForModel(words))
                }
            }
        }
    })
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RemovePinArguments {
    /// From pin. Any other word, such as "list", lists the pins with their ids.
    pin_id: String,
}

/// Makes `unpin`, which removes a pin or lists the pins. A rare tool.
#[must_use]
pub(crate) fn remove(store: PinStore) -> Arc<dyn Tool> {
    let words = "Removes one pin of this chat, when the person asked for it. An unknown pin_id lists all pins with their ids.";
    let about = ToolDefinition::new("unpin", words, Effect::Destructive, STATUS)
        .of_memory()
        .rare("unpin remove a pin forget what was pinned list pins");
    typed(about, move |context: ToolContext, RemovePinArguments { pin_id }| {
        let store = store.clone();
        async move {
            let chat = context.place.chat;
            let mut pins = store.of_chat(chat)?;
            pins.retain(|pin| pin.about.is_none());
            let id: Option<PinId> = pin_id.parse().ok();
            let Some(pin) = pins.iter().find(|pin| Some(pin.id) == id) else {
                return Ok(listed(&pins));
            };
            if pin.importance >= VITAL {
                let words = "this pin may be vital: only people remove it, with /pins".to_owned();
                return Err(ToolError::Denied(words));
            }
            match store.remove(chat, pin.id).await? {
                Some(removed) => Ok(as_kept_data("removed", json!({"content": removed.content}))),
                None => Ok(listed(&pins)),
            }
        }
    })
}

/// Makes the error for an unknown pin, with the list of pins.
fn listed(pins: &[Pin]) -> Value {
    let list = |pin: &Pin| json!({"pin_id": pin.id, "content": one_line(&pin.content, LINE_CHARS)});
    let mut answer = as_kept_data("pins", pins.iter().map(list).collect());
    answer["success"] = json!(false);
    answer["error"] = json!("no pin of this chat has this id; pins holds all of them with their ids");
    answer
}
