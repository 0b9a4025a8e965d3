//! People who wrote in a group, recorded with each stored message.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use chrono::{DateTime, Utc};

use super::super::changes::Changes;
use super::super::fault::StoreFault;
use super::super::key;
use super::super::tables::Tables;
use figaro_base::ids::{ChatId, UserId};
use figaro_domain::message::{Inbound, Speaker};
use figaro_domain::people::{KnownPerson, MAX_PEOPLE};

/// Number of people dropped at once from a full chat, so that each new person does not need a search.
const GOING: usize = MAX_PEOPLE / 20;

/// Records the writers of these messages of one chat.
pub(crate) fn note(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    said: &[Inbound],
) -> Result<(), StoreFault> {
    let mut noted: BTreeMap<Vec<u8>, KnownPerson> = BTreeMap::new();
    let mut strangers = None;
    for part in said.iter().filter(|part| KnownPerson::is_told_by(part)) {
        match noted.entry(key::person(part.place.chat, &part.speaker.user)) {
            Entry::Occupied(mut known) => known.get_mut().note(part),
            Entry::Vacant(free) => {
                let known = tables.people.find(free.key())?;
                if known.is_none() {
                    strangers = Some(part.place.chat);
                }
                free.insert(known.unwrap_or_else(|| KnownPerson::new(part))).note(part);
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

/// Records people who joined a chat and are not known yet.
pub(crate) fn came(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    chat: ChatId,
    came: Vec<Speaker>,
    now: DateTime<Utc>,
) -> Result<(), StoreFault> {
    let mut strangers: BTreeMap<Vec<u8>, KnownPerson> = BTreeMap::new();
    for speaker in came {
        let key = key::person(chat, &speaker.user);
        if !tables.people.contains(&key)? {
            strangers.insert(key, KnownPerson { speaker, seen_at: now, posted: Vec::new() });
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

/// Drops the people silent longest if `more` would exceed the limit.
fn make_room(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    chat: ChatId,
    more: usize,
) -> Result<(), StoreFault> {
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

/// Deletes a person of a chat.
pub(crate) fn forget(tables: &Tables<'_>, changes: &mut Changes<'_>, chat: ChatId, user: &UserId) {
    changes.remove(&tables.people, key::person(chat, user));
}

/// Moves them to the chat's new id. The messages of the old group have other ids than those of the new one.
pub(crate) fn migrate(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    from: ChatId,
    to: ChatId,
) -> Result<(), StoreFault> {
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
