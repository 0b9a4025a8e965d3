//! Who wrote in groups.

use std::cmp::Reverse;

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use super::records::people;
use super::{KvStore, key};
use crate::{PeopleStore, Result};
use figaro_base::ids::ChatId;
use figaro_domain::message::Speaker;
use figaro_domain::people::Seen;

#[async_trait]
impl PeopleStore for KvStore {
    async fn people(&self, chat: ChatId) -> Result<Vec<Seen>> {
        self.read("read who wrote in a chat", move |tables| {
            let mut people = tables.people.list(&key::chat(chat))?;
            people.sort_by_key(|seen| Reverse(seen.seen_at));
            Ok(people)
        })
        .await
    }

    async fn came(&self, chat: ChatId, came: Vec<Speaker>, now: DateTime<Utc>) -> Result<()> {
        self.change("note who came", move |tables, changes| people::came(tables, changes, chat, came, now))
            .await
    }
}
