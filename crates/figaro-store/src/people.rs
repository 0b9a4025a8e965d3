//! People who wrote in groups.

use std::cmp::Reverse;

use chrono::{DateTime, Utc};

use super::key;
use super::records::people;
use crate::{PeopleStore, Result};
use figaro_base::ids::ChatId;
use figaro_domain::message::Speaker;
use figaro_domain::people::KnownPerson;

impl PeopleStore {
    /// Returns the people seen in a chat, the most recent first: at most
    /// [`MAX_PEOPLE`](figaro_domain::people::MAX_PEOPLE).
    pub fn of_chat(&self, chat: ChatId) -> Result<Vec<KnownPerson>> {
        self.0.read("read who wrote in a chat", move |tables| {
            let mut people = tables.people.list(&key::chat(chat))?;
            people.sort_by_key(|seen| Reverse(seen.seen_at));
            Ok(people)
        })
    }

    /// Records people who joined a group and have not written yet; known people stay as they are.
    pub fn came(&self, chat: ChatId, came: Vec<Speaker>, now: DateTime<Utc>) -> Result<()> {
        self.0.change("note who came", move |tables, changes| people::came(tables, changes, chat, came, now))
    }
}
