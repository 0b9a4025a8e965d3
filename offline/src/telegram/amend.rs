//! Actions of people on existing messages: edit, delete, react, vote. Changes the state, and queues an update for the bot if
//! Telegram would send one.

use figaro_mcp::table::{ApiTable, TypeDef};
use serde_json::{Value, json};

use super::compose::write_text;
use super::people::delivered;
use super::possible::{Possible, chat_mut, known, no};
use super::say::SentByPerson;
use super::state::TelegramState;
use super::world::Chat;

/// Actor of an action, and its target message.
#[derive(Debug, Clone, Copy)]
pub(super) struct Act {
    /// User id of the actor.
    pub(super) from: i64,
    pub(super) chat: i64,
    pub(super) message_id: i64,
}

/// Edits the text or caption of the actor's own message. `now` is in Unix time. Errors if the actor has no such message, or
/// the message has neither.
pub(super) fn edit(state: &mut TelegramState, act: Act, text: &str, now: i64) -> Possible<SentByPerson> {
    let Act { from, chat, message_id } = act;
    let found = chat_mut(state, chat)?.messages.get(&message_id).cloned();
    let Some(mut message) = found.filter(|m| m["from"]["id"] == from) else {
        return no("only one's own messages can be edited");
    };
    let caption = message.get("text").is_none();
    if caption && message.get("photo").is_none() && message.get("document").is_none() {
        return no("there is no text in this message to edit");
    }
    if let Some(fields) = message.as_object_mut() {
        let replaced = ["text", "entities", "caption", "caption_entities"];
        fields.retain(|name, _| !replaced.contains(&name.as_str()));
        write_text(fields, caption, text, &[]);
        fields.insert("edit_date".to_owned(), json!(now));
    }
    state.store(chat, &message);
    Ok(delivered(state, "edited_message", &message))
}

/// Deletes a message for everybody: any message in a private chat; in a group the actor's own, or any as an administrator.
/// The bot gets no update. Errors if there is no such message, or the actor has no right to delete it.
pub(super) fn delete(state: &mut TelegramState, act: Act) -> Possible<()> {
    let Act { from, chat, message_id } = act;
    let place = in_chat(state, from, chat)?;
    let Some(message) = place.messages.get(&message_id) else {
        return no("that message is not there any more");
    };
    if place.is_group() && message["from"]["id"] != from && !place.standing(from).is_admin() {
        return no("only an administrator of the group can delete messages of others");
    }
    state.remove(chat, message_id);
    Ok(())
}

/// Sets or removes the actor's only reaction to a message. `now` is in Unix time. If the bot asked for such updates, it gets
/// one in a private chat, and in a group where it is an administrator. Errors if there is no such message or reaction.
pub(super) fn react(state: &mut TelegramState, act: Act, emoji: Option<&str>, now: i64) -> Possible<()> {
    let Act { from, chat, message_id } = act;
    let user = known(state, from)?.json();
    let bot = state.world.bot.id;
    let place = in_chat(state, from, chat)?;
    if !place.messages.contains_key(&message_id) {
        return no("that message is not there any more");
    }
    if emoji.is_some_and(|emoji| !reactions().any(|known| known == emoji)) {
        return no("Telegram has no such reaction");
    }
    let is_told = !place.is_group() || place.standing(bot).is_admin();
    let of_people = place.reactions_of_people.entry(message_id).or_default();
    let old = match emoji {
        Some(emoji) => of_people.insert(from, emoji.to_owned()),
        None => of_people.remove(&from),
    };
    let list = |emoji: Option<&str>| -> Vec<Value> {
        emoji.map(|emoji| json!({"type": "emoji", "emoji": emoji})).into_iter().collect()
    };
    let changed = json!({
        "chat": place.json(), "message_id": message_id, "user": user, "date": now,
        "old_reaction": list(old.as_deref()), "new_reaction": list(emoji),
    });
    state.tell_reactions(chat, message_id);
    if is_told && old.as_deref() != emoji {
        state.updates.push("message_reaction", &changed);
    }
    Ok(())
}

/// Returns the emoji allowed as reactions, as the Bot API lists them.
pub(super) fn reactions() -> impl Iterator<Item = &'static str> {
    let fields = match ApiTable::get().type_def("ReactionTypeEmoji") {
        Some(TypeDef::Fields(fields)) => fields.as_slice(),
        Some(TypeDef::Union(_)) | None => &[],
    };
    let emoji = fields.iter().filter(|field| field.name == "emoji");
    emoji.flat_map(|field| &field.one_of).filter_map(Value::as_str)
}

/// Votes for options of a poll, by index; no option retracts the vote. The results are updated at once. The bot gets the new
/// state of its own polls, and the voter if the poll is public. Errors if there is no such open poll, or the poll does not
/// allow the vote.
pub(super) fn vote(state: &mut TelegramState, act: Act, chosen: &[usize]) -> Possible<()> {
    let Act { from, chat, message_id } = act;
    let user = known(state, from)?.json();
    let bot = state.world.bot.id;
    let place = in_chat(state, from, chat)?;
    let found = place.messages.get(&message_id).filter(|message| message["poll"].is_object());
    let Some(mut message) = found.cloned() else {
        return no("that poll is not there any more");
    };
    let votes = place.votes.entry(message_id).or_default();
    takes(&message["poll"], votes.contains_key(&from), chosen)?;
    match chosen {
        [] => drop(votes.remove(&from)),
        chosen => drop(votes.insert(from, chosen.to_vec())),
    }
    let poll = &mut message["poll"];
    poll["total_voter_count"] = json!(votes.len());
    for (at, option) in poll["options"].as_array_mut().into_iter().flatten().enumerate() {
        option["voter_count"] = json!(votes.values().filter(|chosen| chosen.contains(&at)).count());
    }
    let persistent: Vec<Value> =
        chosen.iter().map(|at| message["poll"]["options"][*at]["persistent_id"].clone()).collect();
    let answer = json!({
        "poll_id": message["poll"]["id"], "user": user, "option_ids": chosen, "option_persistent_ids": persistent,
    });
    state.tell_votes(chat, message_id);
    state.store(chat, &message);
    if message["from"]["id"] == bot {
        state.updates.push("poll", &message["poll"]);
        if message["poll"]["is_anonymous"] == false {
            state.updates.push("poll_answer", &answer);
        }
    }
    Ok(())
}

/// Checks that a poll allows a vote for these options. `has_voted` is `true` if the person has voted before.
fn takes(poll: &Value, has_voted: bool, chosen: &[usize]) -> Possible<()> {
    let options = poll["options"].as_array().map_or(0, Vec::len);
    if poll["is_closed"] == true {
        return no("the poll is closed");
    }
    if has_voted && poll["allows_revoting"] == false {
        return no("a vote in this poll cannot be changed");
    }
    if chosen.iter().any(|at| *at >= options)
        || (1..chosen.len()).any(|at| chosen[..at].contains(&chosen[at]))
    {
        return no("the poll has no such option");
    }
    if chosen.len() > 1 && poll["allows_multiple_answers"] != true {
        return no("the poll takes one answer");
    }
    Ok(())
}

/// Returns the chat, if the person is a member.
fn in_chat(state: &mut TelegramState, from: i64, chat: i64) -> Possible<&mut Chat> {
    let place = chat_mut(state, chat)?;
    if place.standing(from).is_in() { Ok(place) } else { no("only members of the chat can do that") }
}
