//! Turns that wait for a person.

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use super::records::{audit, turns, write};
use super::{KvStore, key};
use crate::{ParkedStore, Result};
use figaro_base::ids::{RunId, UpdateId};
use figaro_domain::approval::Ruling;
use figaro_domain::conversation::Conversation;
use figaro_domain::delivery::PendingDelivery;
use figaro_domain::message::Inbound;
use figaro_domain::turn::{self, GoneOn, ParkedTurn};

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

    async fn rule_parked(&self, run: RunId, ruling: Ruling, press: UpdateId) -> Result<Option<Conversation>> {
        let bot = self.bot();
        self.change_durably("store what is said to a call", move |tables, changes| {
            let Some(parked) = tables.parked.find(&key::id(run))? else { return Ok(None) };
            let audited = parked.question.approval.as_deref().map(|approval| approval.audited(run, &ruling));
            let going_on = write::transition(tables, changes, bot, turn::rule(parked, ruling, press))?;
            if going_on.is_some() {
                audit::append(tables, changes, audited.unwrap_or_default())?;
            }
            Ok(going_on)
        })
        .await
    }

    async fn unpark(&self, run: RunId, now: DateTime<Utc>) -> Result<Option<GoneOn>> {
        let bot = self.bot();
        self.change_durably("go on with a turn", move |tables, changes| {
            turns::go_on(tables, changes, bot, run, now)
        })
        .await
    }

    async fn give_up_parked(&self, run: RunId, words: Option<PendingDelivery>) -> Result<bool> {
        let bot = self.bot();
        self.change_durably("give a turn up", move |tables, changes| {
            let Some(parked) = tables.parked.find(&key::id(run))? else { return Ok(false) };
            // With words it was not stopped by anybody: its time is over.
            let asked = parked.question.approval.as_deref().filter(|_| parked.answer.is_none());
            let expired =
                words.as_ref().zip(asked).map(|(words, asked)| asked.expired(run, words.created_at));
            audit::append(tables, changes, expired.unwrap_or_default())?;
            write::write(tables, changes, bot, turn::give_up(&parked, words))?;
            Ok(parked.answer.is_none())
        })
        .await
    }
}
