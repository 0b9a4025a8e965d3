//! First event of a page.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::super::state::{self, TelegramState, WebEvent};
use super::super::world::{Chat, ChatType, DemoInfo};

/// Maximum number of messages per chat in the first event.
const MAX_HISTORY: usize = 200;

/// Returns the event with the current state: the visitor, the chats with their messages, and the information about the demo.
pub(super) fn hello(state: &TelegramState, about: &DemoInfo) -> WebEvent {
    let world = &state.world;
    let me = state.demo_user.and_then(|id| world.people.get(&id));
    let member = |id: &i64| {
        let person = world.people.get(id)?;
        Some(json!({
            "id": id, "first_name": person.first_name, "username": person.username,
            "is_me": Some(*id) == state.demo_user,
        }))
    };
    // Reverse order puts the private chat first, as groups have negative ids.
    let chats: Vec<Value> = world
        .chats
        .values()
        .rev()
        .filter(|c| c.migrated_to.is_none())
        .map(|chat| {
            let topic = |(id, name): (&i64, &String)| json!({"message_thread_id": id, "name": name});
            // Person of a private chat.
            let person = (chat.kind == ChatType::Private).then(|| member(&chat.id)).flatten();
            let title = if chat.kind == ChatType::Private { &world.bot.first_name } else { &chat.title };
            json!({
                "id": chat.id, "type": chat.kind.name(), "title": title, "is_forum": chat.is_forum,
                "person": person,
                "topics": chat.topics.iter().map(topic).collect::<Vec<_>>(),
                "members": chat.members.keys().filter_map(member).collect::<Vec<_>>(),
            })
        })
        .collect();
    let recent = |c: &Chat| c.messages.values().rev().take(MAX_HISTORY).rev().cloned().collect::<Vec<_>>();
    let messages: Vec<Value> = world.chats.values().flat_map(recent).collect();
    let reacted = |c: &Chat| {
        let ids: BTreeSet<i64> = c.reactions.keys().chain(c.reactions_of_people.keys()).copied().collect();
        ids.into_iter().map(|id| state::reaction_event(c, id, world.bot.id)).collect::<Vec<_>>()
    };
    let reactions: Vec<Value> = world.chats.values().flat_map(reacted).collect();
    let voted = |c: &Chat| c.votes.keys().map(|id| state::vote_event(c, *id)).collect::<Vec<_>>();
    let votes: Vec<Value> = world.chats.values().flat_map(voted).collect();
    let data = json!({
        "notice": about.notice, "real": about.real, "stand_in": about.stand_in,
        "reactions": reactions, "votes": votes,
        "bot": {"id": world.bot.id, "first_name": world.bot.first_name, "username": world.bot.username},
        "me": me.map(|p| json!({"id": p.id, "first_name": p.first_name})),
        "chats": chats, "messages": messages, "commands": state.command_lists(),
        "menu_buttons": state.menu_buttons(),
    });
    WebEvent { name: "hello", data }
}
