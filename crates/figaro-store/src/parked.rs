//! Turns that wait for a person.

use chrono::{DateTime, Utc};

use super::key;
use super::records::{audit, turns, write};
use crate::{ParkedStore, Result};
use figaro_base::ids::{RunId, UpdateId};
use figaro_domain::approval::Ruling;
use figaro_domain::conversation::Conversation;
use figaro_domain::delivery::PendingDelivery;
use figaro_domain::message::Inbound;
use figaro_domain::turn::{self, GoneOn, ParkedTurn};

impl ParkedStore {
    /// All turns that wait, also those that were answered and have not gone on yet.
    pub async fn all(&self) -> Result<Vec<ParkedTurn>> {
        self.0.read("read the turns that wait", |tables| tables.parked.list(&[])).await
    }

    /// Records the answer and settles its update, in one durable write; gives the conversation in which the turn goes on.
    /// `None`, and nothing is written, if the turn does not wait any more or was answered before.
    pub async fn answer(&self, run: RunId, part: &Inbound) -> Result<Option<Conversation>> {
        let (bot, part) = (self.0.bot(), part.clone());
        self.0
            .change_durably("store an answer", move |tables, changes| {
                let Some(parked) = tables.parked.find(&key::id(run))? else { return Ok(None) };
                write::transition(tables, changes, bot, turn::answer(parked, part))
            })
            .await
    }

    /// Records what a person says to the call that a turn waits with, and settles their press, in one durable write; gives the
    /// conversation in which the turn goes on. `None`, and nothing is written, if it does not wait with a call any more, was
    /// ruled on before, or expired before this ruling.
    pub async fn rule(&self, run: RunId, ruling: Ruling, press: UpdateId) -> Result<Option<Conversation>> {
        let bot = self.0.bot();
        self.0
            .change_durably("store what is said to a call", move |tables, changes| {
                let Some(parked) = tables.parked.find(&key::id(run))? else { return Ok(None) };
                let audited =
                    parked.question.approval.as_deref().map(|approval| approval.audited(run, &ruling));
                let going_on = write::transition(tables, changes, bot, turn::rule(parked, ruling, press))?;
                if going_on.is_some() {
                    audit::append(tables, changes, audited.unwrap_or_default())?;
                }
                Ok(going_on)
            })
            .await
    }

    /// Goes on with a turn that was answered, durably: its messages move to the end of its session, the answer follows as the
    /// result of its call, and it is on record in its conversation; or the call that was approved is to be made now. `None` if
    /// it does not wait any more or has no answer.
    pub async fn unpark(&self, run: RunId, now: DateTime<Utc>) -> Result<Option<GoneOn>> {
        let bot = self.0.bot();
        self.0
            .change_durably("go on with a turn", move |tables, changes| {
                turns::go_on(tables, changes, bot, run, now)
            })
            .await
    }

    /// Ends the waiting of a turn that nobody goes on with, durably, and puts words on that on their way; `false` if it does
    /// not wait any more or has its answer.
    pub async fn give_up(&self, run: RunId, words: Option<PendingDelivery>) -> Result<bool> {
        let bot = self.0.bot();
        self.0
            .change_durably("give a turn up", move |tables, changes| {
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
