//! Methods about the bot, chats, members, topics and pins.

use figaro_mcp::table::ApiType;
use serde_json::{Value, json};

use super::super::error::BotApiError;
use super::super::sample;
use super::super::state::TelegramState;
use super::super::world::{Chat, ChatType, MemberStatus};
use super::request::{CheckedRequest, MethodOutcome};

pub(super) fn get_me(state: &mut TelegramState, _: &CheckedRequest<'_>) -> MethodOutcome {
    let mut me = state.world.bot.json();
    me["can_join_groups"] = json!(true);
    me["supports_inline_queries"] = json!(!state.inline.is_off);
    me["supports_guest_queries"] = json!(!state.inline.is_off);
    me["can_connect_to_business"] = json!(!state.business.is_off);
    me["can_read_all_group_messages"] = json!(state.world.reads_all);
    for flag in ["has_main_web_app", "has_topics_enabled", "allows_users_to_create_topics", "can_manage_bots"]
    {
        me[flag] = json!(false);
    }
    Ok(me)
}

pub(super) fn get_chat(state: &mut TelegramState, request: &CheckedRequest<'_>) -> MethodOutcome {
    let chat = in_chat(state, request)?;
    let mut info = chat.json();
    if !chat.description.is_empty() {
        info["description"] = json!(chat.description);
    }
    info["accent_color_id"] = json!(0);
    info["max_reaction_count"] = json!(11);
    info["accepted_gift_types"] = sample::of_type(&ApiType::Named("AcceptedGiftTypes".to_owned()));
    if let Some(message) = chat.pins.last().copied().and_then(|id| chat.as_replied_to(id)) {
        info["pinned_message"] = message;
    }
    if chat.is_group() {
        info["permissions"] = json!({"can_send_messages": true});
    }
    Ok(info)
}

pub(super) fn member(state: &mut TelegramState, request: &CheckedRequest<'_>) -> MethodOutcome {
    let chat = in_chat(state, request)?;
    let user = request.number("user_id").unwrap_or_default();
    let Some(person) = state.world.people.get(&user) else {
        return Err(BotApiError::bad("user not found"));
    };
    Ok(chat.standing(user).json(&person.json()))
}

pub(super) fn administrators(state: &mut TelegramState, request: &CheckedRequest<'_>) -> MethodOutcome {
    let chat = in_chat(state, request)?;
    if chat.kind == ChatType::Private {
        return Err(BotApiError::bad("there are no administrators in the private chat"));
    }
    let admins = chat.members.iter().filter(|(_, s)| s.is_admin());
    let known = admins.filter_map(|(id, s)| Some(s.json(&state.world.people.get(id)?.json())));
    Ok(Value::Array(known.collect()))
}

pub(super) fn member_count(state: &mut TelegramState, request: &CheckedRequest<'_>) -> MethodOutcome {
    let chat = in_chat(state, request)?;
    Ok(json!(chat.members.values().filter(|s| s.is_in()).count()))
}

pub(super) fn leave(state: &mut TelegramState, request: &CheckedRequest<'_>) -> MethodOutcome {
    let bot = state.world.bot.id;
    let chat = in_chat_mut(state, request)?;
    if chat.kind == ChatType::Private {
        return Err(BotApiError::bad("chat member status can't be changed in private chats"));
    }
    chat.members.insert(bot, MemberStatus::Left);
    Ok(json!(true))
}

/// Sets a member's right to write and ignores other rights. An end in less than 30 seconds or more than 366 days means
/// permanent, as at Telegram.
pub(super) fn restrict(state: &mut TelegramState, request: &CheckedRequest<'_>) -> MethodOutcome {
    may(state, request, "not enough rights to restrict/unrestrict chat member")?;
    let user = request.number("user_id").unwrap_or_default();
    let until = request.number("until_date").unwrap_or_default();
    let is_bounded = (30..=366 * 86_400).contains(&(until - request.now));
    let permissions = request.value("permissions").cloned().unwrap_or_default();
    let chat = in_chat_mut(state, request)?;
    match permissions["can_send_messages"] == true {
        true => drop(chat.muted.remove(&user)),
        false => drop(chat.muted.insert(user, if is_bounded { until } else { 0 })),
    }
    Ok(json!(true))
}

pub(super) fn set_title(state: &mut TelegramState, request: &CheckedRequest<'_>) -> MethodOutcome {
    let title = request.value("title").and_then(Value::as_str).unwrap_or_default().to_owned();
    in_chat_mut(state, request)?.title = title;
    Ok(json!(true))
}

pub(super) fn set_description(state: &mut TelegramState, request: &CheckedRequest<'_>) -> MethodOutcome {
    let description = request.value("description").and_then(Value::as_str).unwrap_or_default().to_owned();
    in_chat_mut(state, request)?.description = description;
    Ok(json!(true))
}

pub(super) fn pin(state: &mut TelegramState, request: &CheckedRequest<'_>) -> MethodOutcome {
    may(state, request, "not enough rights to manage pinned messages in the chat")?;
    let chat = in_chat_mut(state, request)?;
    let id = request.number("message_id").unwrap_or_default();
    if !chat.messages.contains_key(&id) {
        return Err(BotApiError::bad("message to pin not found"));
    }
    chat.pins.retain(|pinned| *pinned != id);
    chat.pins.push(id);
    Ok(json!(true))
}

pub(super) fn unpin(state: &mut TelegramState, request: &CheckedRequest<'_>) -> MethodOutcome {
    may(state, request, "not enough rights to manage pinned messages in the chat")?;
    let chat = in_chat_mut(state, request)?;
    // Without a message id, the last pinned message is unpinned.
    match request.number("message_id") {
        Some(id) if !chat.pins.contains(&id) => return Err(BotApiError::bad("message to unpin not found")),
        Some(id) => chat.pins.retain(|pinned| *pinned != id),
        None => drop(chat.pins.pop()),
    }
    Ok(json!(true))
}

pub(super) fn create_topic(state: &mut TelegramState, request: &CheckedRequest<'_>) -> MethodOutcome {
    let bot = state.world.bot.json();
    in_forum(state, request)?;
    may(state, request, "not enough rights to create a topic")?;
    let name = request.text("name").unwrap_or_default().to_owned();
    let color = request.number("icon_color").unwrap_or(7_322_096);
    let chat = in_chat_mut(state, request)?;
    let (chat_id, message) = (chat.id, chat.topic_created(&name, &bot, request.now));
    state.store(chat_id, &message);
    Ok(json!({"message_thread_id": message["message_id"], "name": name, "icon_color": color}))
}

pub(super) fn edit_topic(state: &mut TelegramState, request: &CheckedRequest<'_>) -> MethodOutcome {
    topic(state, request)?;
    let name = request.text("name").filter(|n| !n.is_empty()).map(ToOwned::to_owned);
    let chat = in_chat_mut(state, request)?;
    let topic = request.number("message_thread_id").and_then(|id| chat.topics.get_mut(&id));
    if let (Some(topic), Some(name)) = (topic, name) {
        *topic = name;
    }
    Ok(json!(true))
}

pub(super) fn delete_topic(state: &mut TelegramState, request: &CheckedRequest<'_>) -> MethodOutcome {
    let thread = topic(state, request)?;
    let chat = in_chat_mut(state, request)?;
    chat.topics.remove(&thread);
    chat.messages.retain(|id, m| *id != thread && m["message_thread_id"].as_i64() != Some(thread));
    Ok(json!(true))
}

fn topic(state: &TelegramState, request: &CheckedRequest<'_>) -> Result<i64, BotApiError> {
    in_forum(state, request)?;
    may(state, request, "not enough rights to manage topics")?;
    let thread = request.number("message_thread_id").unwrap_or_default();
    let known = in_chat(state, request)?.topics.contains_key(&thread);
    if known { Ok(thread) } else { Err(BotApiError::bad("TOPIC_ID_INVALID")) }
}

fn in_forum(state: &TelegramState, request: &CheckedRequest<'_>) -> Result<(), BotApiError> {
    if in_chat(state, request)?.has_topics() {
        Ok(())
    } else {
        Err(BotApiError::bad("the chat is not a forum"))
    }
}

/// Checks that the bot is an administrator, if the chat is a group. `otherwise` is the error text.
fn may(state: &TelegramState, request: &CheckedRequest<'_>, otherwise: &str) -> Result<(), BotApiError> {
    let chat = in_chat(state, request)?;
    let allowed = !chat.is_group() || chat.standing(state.world.bot.id).is_admin();
    if allowed { Ok(()) } else { Err(BotApiError::bad(otherwise)) }
}

fn in_chat<'s>(state: &'s TelegramState, request: &CheckedRequest<'_>) -> Result<&'s Chat, BotApiError> {
    let id = request.chat(state)?;
    state.world.chats.get(&id).ok_or_else(|| BotApiError::bad("chat not found"))
}

fn in_chat_mut<'s>(
    state: &'s mut TelegramState,
    request: &CheckedRequest<'_>,
) -> Result<&'s mut Chat, BotApiError> {
    let id = request.chat(state)?;
    state.world.chats.get_mut(&id).ok_or_else(|| BotApiError::bad("chat not found"))
}
