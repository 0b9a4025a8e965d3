//! Who wrote in groups.

use std::cmp::Reverse;

use chrono::{DateTime, Utc};

use super::key;
use super::records::people;
use crate::{PeopleStore, Result};
use figaro_base::ids::ChatId;
use figaro_domain::message::Speaker;
use figaro_domain::people::Seen;

impl PeopleStore {
    /// Who was seen writing in a chat, the last to write first: at most [`MAX_PEOPLE`](figaro_domain::people::MAX_PEOPLE).
    pub async fn of_chat(&self, chat: ChatId) -> Result<Vec<Seen>> {
        self.0
            .read("read who wrote in a chat", move |tables| {
                let mut people = tables.people.list(&key::chat(chat))?;
                people.sort_by_key(|seen| Reverse(seen.seen_at));
                Ok(people)
            })
            .await
    }

    /// Notes people who came into a group and have not written yet; those who are known stay as they are.
    pub async fn came(&self, chat: ChatId, came: Vec<Speaker>, now: DateTime<Utc>) -> Result<()> {
        self.0
            .change("note who came", move |tables, changes| people::came(tables, changes, chat, came, now))
            .await
    }
}
