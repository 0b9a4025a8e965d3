//! Who wrote in a group: noted with each message that is stored.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use chrono::{DateTime, Utc};

use super::super::changes::Changes;
use super::super::fault::Fault;
use super::super::key;
use super::super::tables::Tables;
use figaro_base::ids::{ChatId, UserId};
use figaro_domain::message::{Inbound, Speaker};
use figaro_domain::people::{MAX_PEOPLE, Seen};

/// How many go at once where a chat is full, so that they are not looked for with each new person.
const GOING: usize = MAX_PEOPLE / 20;

/// Notes who wrote these messages of one chat.
pub(crate) fn note(tables: &Tables<'_>, changes: &mut Changes<'_>, said: &[Inbound]) -> Result<(), Fault> {
    let mut noted: BTreeMap<Vec<u8>, Seen> = BTreeMap::new();
    let mut strangers = None;
    for part in said.iter().filter(|part| Seen::is_told_by(part)) {
        match noted.entry(key::person(part.place.chat, &part.speaker.user)) {
            Entry::Occupied(mut known) => known.get_mut().note(part),
            Entry::Vacant(free) => {
                let known = tables.people.find(free.key())?;
                if known.is_none() {
                    strangers = Some(part.place.chat);
                }
                free.insert(known.unwrap_or_else(|| Seen::new(part))).note(part);
            }
        }
    }
    if let Some(chat) = strangers {
        make_room(tables, changes, chat, noted.len())?;
    }
    for (key, seen) in noted {
        changes.put(&tables.people, key, &seen)?;
    }
    Ok(())
}

/// Notes people who came into a chat, those who are not known.
pub(crate) fn came(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    chat: ChatId,
    came: Vec<Speaker>,
    now: DateTime<Utc>,
) -> Result<(), Fault> {
    let mut strangers: BTreeMap<Vec<u8>, Seen> = BTreeMap::new();
    for speaker in came {
        let key = key::person(chat, &speaker.user);
        if !tables.people.contains(&key)? {
            strangers.insert(key, Seen { speaker, seen_at: now, posted: Vec::new() });
        }
    }
    if !strangers.is_empty() {
        make_room(tables, changes, chat, strangers.len())?;
    }
    for (key, seen) in strangers {
        changes.put(&tables.people, key, &seen)?;
    }
    Ok(())
}

/// Has those go who were silent longest, where `more` would be too many.
fn make_room(tables: &Tables<'_>, changes: &mut Changes<'_>, chat: ChatId, more: usize) -> Result<(), Fault> {
    let known = tables.people.keys_of(&key::chat(chat))?.count();
    if known + more <= MAX_PEOPLE {
        return Ok(());
    }
    let mut people = tables.people.scan(&key::chat(chat))?.collect::<Result<Vec<_>, _>>()?;
    people.sort_by_key(|(_, seen)| seen.seen_at);
    for (key, _) in people.into_iter().take(GOING.max(more)) {
        changes.remove(&tables.people, key);
    }
    Ok(())
}

/// Forgets a person of a chat.
pub(crate) fn forget(tables: &Tables<'_>, changes: &mut Changes<'_>, chat: ChatId, user: &UserId) {
    changes.remove(&tables.people, key::person(chat, user));
}

/// Moves them to the chat's new id. The messages of the old group have other numbers than those of the new one.
pub(crate) fn migrate(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    from: ChatId,
    to: ChatId,
) -> Result<(), Fault> {
    for item in tables.people.scan(&key::chat(from))? {
        let (old, mut seen) = item?;
        let new = key::moved(&old, to);
        seen.posted.clear();
        if !tables.people.contains(&new)? {
            changes.put(&tables.people, new, &seen)?;
        }
        changes.remove(&tables.people, old);
    }
    Ok(())
}
