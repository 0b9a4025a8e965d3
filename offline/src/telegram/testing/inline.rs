//! Inline queries, chosen results, guest messages, and presses on the messages that came of them.

use serde_json::{Value, json};

use super::super::OfflineTelegram;
use super::super::compose::write_text;
use super::super::entities;
use super::super::inline::InlineQueryState;
use super::super::possible::{Possible, known, no};
use super::super::state::{ButtonPress, TelegramState};
use super::super::world::inline_buttons;
use super::observe::TelegramView;

impl OfflineTelegram {
    /// Turns inline mode and guest mode off, as BotFather does.
    pub fn turn_inline_off(&self) {
        self.shared.change(|state| state.inline.is_off = true);
    }

    /// Types `@bot query` in some chat as a person. Returns the id of the inline query.
    ///
    /// # Errors
    /// The person is unknown.
    pub fn inline_query(&self, from: i64, query: &str) -> Possible<String> {
        self.shared.change(|state| {
            let id = asked(state, from, query)?;
            let from = known(state, from)?.json();
            let update =
                json!({"id": id, "from": from, "query": query, "offset": "", "chat_type": "supergroup"});
            state.updates.push("inline_query", &update);
            Ok(id)
        })
    }

    /// Chooses a result of an answered inline query as the person who asked. Returns the `inline_message_id` of the message
    /// that is sent; the bot learns it only if the message has a keyboard.
    ///
    /// # Errors
    /// The query is unknown or has no such result.
    pub fn choose(&self, query_id: &str, result_id: &str) -> Possible<String> {
        self.shared.change(|state| chosen(state, query_id, result_id, true))
    }

    /// Like [`Self::choose`], for a bot that BotFather has not set to get inline feedback: it gets no update.
    ///
    /// # Errors
    /// The query is unknown or has no such result.
    pub fn choose_untold(&self, query_id: &str, result_id: &str) -> Possible<String> {
        self.shared.change(|state| chosen(state, query_id, result_id, false))
    }

    /// Mentions the bot in a chat that it is no member of. `replied` is the text of a message of another person that this
    /// one replies to. Returns the id of the guest query.
    ///
    /// # Errors
    /// The person is unknown.
    pub fn guest_message(&self, from: i64, text: &str, replied: Option<(&str, &str)>) -> Possible<String> {
        let now = self.shared.now().timestamp();
        self.shared.change(|state| {
            let id = asked(state, from, text)?;
            let chat = json!({"id": -1_009_000_000_001_i64, "type": "supergroup", "title": "Elsewhere"});
            let message_id = 7000 + i64::try_from(state.inline.queries.len()).unwrap_or_default();
            let user = known(state, from)?.json();
            let mut message = json!({
                "message_id": message_id, "from": user, "chat": chat, "date": now, "guest_query_id": id,
                "guest_bot_caller_user": user,
            });
            if let Some(fields) = message.as_object_mut() {
                write_text(fields, false, text, &entities::detect(text));
            }
            if let Some((author, words)) = replied {
                message["reply_to_message"] = json!({
                    "message_id": message_id - 1, "chat": chat, "date": now, "text": words,
                    "from": {"id": 990_001, "is_bot": false, "first_name": author},
                });
            }
            state.updates.push("guest_message", &message);
            Ok(id)
        })
    }

    /// Presses a button of a message in a chat that the bot is no member of. Returns the callback query id.
    ///
    /// # Errors
    /// The person is unknown or the message has no such button.
    pub fn press_inline(&self, from: i64, inline_message_id: &str, data: &str) -> Possible<String> {
        self.shared.change(|state| {
            let user = known(state, from)?.json();
            let message = state.inline.messages.get(inline_message_id).and_then(|versions| versions.last());
            let markup = message.and_then(|message| message.get("reply_markup"));
            if !inline_buttons(markup).any(|button| button["callback_data"] == data) {
                return no("this button is not there any more");
            }
            let id = state.fresh("press-");
            state.presses.insert(id.clone(), ButtonPress { answer: None });
            let query = json!({
                "id": id, "from": user, "inline_message_id": inline_message_id, "chat_instance": "elsewhere",
                "data": data,
            });
            state.updates.push("callback_query", &query);
            Ok(id)
        })
    }
}

impl TelegramView<'_> {
    /// Returns the arguments of the bot's answer to an inline or guest query; `None` if it has none.
    #[must_use]
    pub fn query_answer(&self, query_id: &str) -> Option<Value> {
        Some(Value::Object(self.0.inline.queries.get(query_id)?.answer.clone()?))
    }

    /// Returns all versions of a message in a chat that the bot is no member of, the first as it was sent.
    #[must_use]
    pub fn inline_versions(&self, inline_message_id: &str) -> &[Value] {
        self.0.inline.messages.get(inline_message_id).map_or(&[], Vec::as_slice)
    }

    /// Returns the `inline_message_id` of all such messages, in the order of their names.
    #[must_use]
    pub fn inline_messages(&self) -> Vec<&str> {
        self.0.inline.messages.keys().map(String::as_str).collect()
    }
}

fn asked(state: &mut TelegramState, from: i64, query: &str) -> Possible<String> {
    let from = known(state, from)?.json();
    let id = state.fresh("query-");
    state.inline.queries.insert(id.clone(), InlineQueryState { from, query: query.to_owned(), answer: None });
    Ok(id)
}

fn chosen(state: &mut TelegramState, query_id: &str, result_id: &str, is_told: bool) -> Possible<String> {
    let Some(query) = state.inline.queries.get(query_id).cloned() else {
        return no("there is no such query");
    };
    let results = query.answer.as_ref().and_then(|answer| answer.get("results")?.as_array());
    let Some(result) = results.into_iter().flatten().find(|result| result["id"] == result_id).cloned() else {
        return no("there is no such result");
    };
    let id = state.fresh("inline-");
    state.inline.send(id.clone(), &result);
    let mut chosen = json!({"result_id": result_id, "from": query.from, "query": query.query});
    if result.get("reply_markup").is_some() {
        chosen["inline_message_id"] = json!(id);
    }
    if is_told {
        state.updates.push("chosen_inline_result", &chosen);
    }
    Ok(id)
}
