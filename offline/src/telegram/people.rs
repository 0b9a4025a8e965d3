//! Actions of people: send, press a button, stop a draft, add or remove the bot. Changes the state, and queues an update if
//! the bot can see the action.

use serde_json::{Value, json};

use super::compose::compose;
use super::entities;
use super::possible::{Possible, chat_mut, known, no};
use super::say::{Say, SentByPerson};
use super::state::{ButtonPress, TelegramState};
use super::world::{MemberStatus, inline_buttons};

/// Sends a message of a person. `now` is in Unix time. Errors if the person, chat, topic or replied message is unknown, or
/// the person is not in the chat.
pub(super) fn send(state: &mut TelegramState, say: Say, now: i64) -> Possible<SentByPerson> {
    let message = compose(state, say, now)?;
    let chat = message["chat"]["id"].as_i64().unwrap_or_default();
    state.store(chat, &message);
    let channel = message["chat"]["type"] == "channel";
    let kind = if channel { "channel_post" } else { "message" };
    Ok(delivered(state, kind, &message))
}

/// Presses the button with this callback data as a person. Returns the callback query id. Errors if the person is unknown or
/// the message has no such button.
pub(super) fn press(
    state: &mut TelegramState,
    from: i64,
    chat: i64,
    message_id: i64,
    data: &str,
) -> Possible<String> {
    let user = known(state, from)?.json();
    let message = chat_mut(state, chat)?.messages.get(&message_id).cloned();
    let markup = message.as_ref().and_then(|message| message.get("reply_markup"));
    if !inline_buttons(markup).any(|button| button["callback_data"] == data) {
        return no("this button is not there any more");
    }
    let id = state.fresh("press-");
    state.presses.insert(id.clone(), ButtonPress { answer: None });
    let query = json!({
        "id": id, "from": user, "message": message, "chat_instance": chat.to_string(), "data": data,
    });
    state.updates.push("callback_query", &query);
    Ok(id)
}

/// Presses the stop button of a draft as the person of a private chat. Returns the update id, if the bot asked for such
/// updates. Errors if there is no such draft with a stop button.
pub(super) fn stop_draft(state: &mut TelegramState, chat: i64, draft_id: i64) -> Possible<Option<i64>> {
    let place = chat_mut(state, chat)?;
    let Some(draft) = place.drafts.get(&draft_id).filter(|d| d.can_stop).cloned() else {
        return no("this answer has ended already");
    };
    let mut stopped = json!({"chat": place.json(), "draft_id": draft_id});
    if let Some(thread) = draft.thread {
        stopped["message_thread_id"] = json!(thread);
    }
    if !draft.keep_on_stop {
        state.end_drafts(chat, |d| d.id == draft_id);
    }
    Ok(state.updates.push("stopped_message_generation", &stopped))
}

/// Sets the bot's status in a chat, as a person, and queues the update for the bot. `now` is in Unix time. Errors if the
/// chat or the person is unknown.
pub(super) fn bot_becomes(
    state: &mut TelegramState,
    chat: i64,
    by: i64,
    standing: MemberStatus,
    now: i64,
) -> Possible<()> {
    let (bot, user) = (state.world.bot.json(), known(state, by)?.json());
    let bot_id = state.world.bot.id;
    let place = chat_mut(state, chat)?;
    let old = place.members.insert(bot_id, standing).unwrap_or(MemberStatus::Left);
    let changed = json!({
        "chat": place.json(), "from": user, "date": now,
        "old_chat_member": old.json(&bot), "new_chat_member": standing.json(&bot),
    });
    let is_group = place.is_group();
    state.updates.push("my_chat_member", &changed);
    if standing == MemberStatus::Member && is_group {
        let place = chat_mut(state, chat)?;
        let message = json!({
            "message_id": place.next_message_id(), "from": user, "chat": place.json(), "date": now,
            "new_chat_members": [bot],
        });
        state.store(chat, &message);
        state.updates.push("message", &message);
    }
    Ok(())
}

/// Queues the update for a person's message, if the bot can see the message.
pub(super) fn delivered(state: &mut TelegramState, kind: &str, message: &Value) -> SentByPerson {
    let update_id = if bot_sees(state, message) { state.updates.push(kind, message) } else { None };
    SentByPerson { message_id: message["message_id"].as_i64().unwrap_or_default(), update_id }
}

/// Returns `true` if the bot can see a message. In groups with privacy mode, unless it is an administrator, it sees only
/// commands, mentions of it, and replies to it.
fn bot_sees(state: &TelegramState, message: &Value) -> bool {
    let chat = message["chat"]["id"].as_i64().and_then(|id| state.world.chats.get(&id));
    let Some(chat) = chat else { return false };
    let bot = &state.world.bot;
    let standing = chat.standing(bot.id);
    if !standing.is_in() {
        return false;
    }
    if !chat.is_group() || state.world.reads_all || standing.is_admin() {
        return true;
    }
    let text = message["text"].as_str().or(message["caption"].as_str()).unwrap_or_default();
    let entities = message["entities"].as_array().or(message["caption_entities"].as_array());
    let name = bot.username.as_deref().unwrap_or_default().to_ascii_lowercase();
    let addresses = |entity: &Value| {
        let part = entities::covered(text, entity).unwrap_or_default().to_ascii_lowercase();
        match entity["type"].as_str() {
            Some("mention") => part.strip_prefix('@') == Some(name.as_str()),
            Some("text_mention") => entity["user"]["id"] == bot.id,
            Some("bot_command") => part.split_once('@').is_none_or(|(_, to)| to == name),
            _ => false,
        }
    };
    message["reply_to_message"]["from"]["id"] == bot.id || entities.into_iter().flatten().any(addresses)
}
