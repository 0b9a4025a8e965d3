//! What people do to messages that are there: edit, delete, react, vote. Changes the state, and queues the update that
//! tells the bot of it where Telegram tells bots of such things.

use figaro_mcp::table::{ApiTable, TypeDef};
use serde_json::{Value, json};

use super::compose::write_text;
use super::people::delivered;
use super::possible::{Possible, chat_mut, known, no};
use super::say::SentByPerson;
use super::state::TelegramState;
use super::world::Chat;

/// Who does something, and to which message.
#[derive(Debug, Clone, Copy)]
pub(super) struct Act {
    /// The user id.
    pub(super) from: i64,
    /// The chat of the message.
    pub(super) chat: i64,
    /// Its `message_id`.
    pub(super) message_id: i64,
}

/// A person changes the text of an own message, or its caption. `now` is in Unix time. An error if that person has no such
/// message, or it has neither.
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

/// A person deletes a message for everybody: in a private chat any, in a group an own one, as an administrator any. A bot
/// is not told. An error if there is no such message, or the person may not.
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

/// A person sets the one reaction to a message, or takes it away. `now` is in Unix time. The bot is told in a private chat,
/// and in a group where it is an administrator, if it asked for such updates. An error if there is no such message, or
/// Telegram has no such reaction.
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

/// The emoji that people may react with, as the Bot API lists them.
pub(super) fn reactions() -> impl Iterator<Item = &'static str> {
    let fields = match ApiTable::get().type_def("ReactionTypeEmoji") {
        Some(TypeDef::Fields(fields)) => fields.as_slice(),
        Some(TypeDef::Union(_)) | None => &[],
    };
    let emoji = fields.iter().filter(|field| field.name == "emoji");
    emoji.flat_map(|field| &field.one_of).filter_map(Value::as_str)
}

/// A person votes for these options of a poll, by their places; for none takes the vote back. The results count it at
/// once. The bot is told of the new state of its own polls, and who voted how where that is public. An error if there is
/// no such open poll, or it does not take such a vote.
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

/// Whether a poll takes a vote for these options, of someone who has voted or not.
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

/// The chat, if the person is in it.
fn in_chat(state: &mut TelegramState, from: i64, chat: i64) -> Possible<&mut Chat> {
    let place = chat_mut(state, chat)?;
    if place.standing(from).is_in() { Ok(place) } else { no("only members of the chat can do that") }
}
