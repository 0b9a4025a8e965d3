//! Turns that wait for a person.

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use super::records::{turns, write};
use super::{KvStore, key};
use crate::domain::conversation::{Conversation, Message};
use crate::domain::delivery::PendingDelivery;
use crate::domain::message::Inbound;
use crate::domain::turn::{self, ActiveTurn, ParkedTurn};
use crate::ids::RunId;
use crate::store::{ParkedStore, Result};

#[async_trait]
impl ParkedStore for KvStore {
    async fn parked_turns(&self) -> Result<Vec<ParkedTurn>> {
        self.read("read the turns that wait", |tables| tables.parked.list(&[])).await
    }

    async fn answer_parked(&self, run: RunId, part: &Inbound) -> Result<Option<Conversation>> {
        let (bot, part) = (self.bot(), part.clone());
        self.change_durably("store an answer", move |tables, changes| {
            let Some(parked) = tables.parked.find(&key::id(run))? else { return Ok(None) };
            write::transition(tables, changes, bot, turn::answer(parked, part))
        })
        .await
    }

    async fn unpark(&self, run: RunId, now: DateTime<Utc>) -> Result<Option<(ActiveTurn, Vec<Message>)>> {
        let bot = self.bot();
        self.change_durably("go on with a turn", move |tables, changes| {
            let begun = turns::go_on(tables, changes, bot, run, now)?;
            Ok(begun.map(|begun| (begun.turn, begun.question)))
        })
        .await
    }

    async fn give_up_parked(&self, run: RunId, words: Option<PendingDelivery>) -> Result<bool> {
        let bot = self.bot();
        self.change_durably("give a turn up", move |tables, changes| {
            let Some(parked) = tables.parked.find(&key::id(run))? else { return Ok(false) };
            write::write(tables, changes, bot, turn::give_up(&parked, words))?;
            Ok(parked.answer.is_none())
        })
        .await
    }
}
