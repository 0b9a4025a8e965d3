//! Turns that wait for a person.

use chrono::{DateTime, Utc};

use super::key;
use super::records::{audit, turns, write};
use crate::{ParkedStore, Result};
use figaro_base::ids::RunId;
use figaro_domain::approval::Ruling;
use figaro_domain::conversation::ConversationId;
use figaro_domain::delivery::PendingDelivery;
use figaro_domain::message::Inbound;
use figaro_domain::origin::Origin;
use figaro_domain::turn::{self, GoneOn, ParkedTurn};

impl ParkedStore {
    /// Returns all waiting turns, including answered ones that have not resumed yet.
    pub fn all(&self) -> Result<Vec<ParkedTurn>> {
        self.0.read("read the turns that wait", |tables| tables.parked.list(&[]))
    }

    /// Records the answer and settles its update, in one durable write; returns the conversation of the turn. `None`,
    /// without a write, if the turn no longer waits or was answered before.
    pub async fn answer(&self, run: RunId, part: &Inbound) -> Result<Option<ConversationId>> {
        let (bot, part) = (self.0.bot(), part.clone());
        self.0
            .change_durably("store an answer", move |tables, changes| {
                let Some(parked) = tables.parked.find(&key::id(run))? else { return Ok(None) };
                write::transition(tables, changes, bot, turn::answer(parked, part))
            })
            .await
    }

    /// Records a ruling on the call that a turn waits with, and settles the update that it came with, in one durable write;
    /// returns the conversation of the turn. `None`, without a write, if the turn no longer waits with a call, or was ruled on or
    /// expired before this ruling.
    pub async fn rule(&self, run: RunId, ruling: Ruling, origin: Origin) -> Result<Option<ConversationId>> {
        let bot = self.0.bot();
        self.0
            .change_durably("store what is said to a call", move |tables, changes| {
                let Some(parked) = tables.parked.find(&key::id(run))? else { return Ok(None) };
                let audited =
                    parked.question.approval.as_deref().map(|approval| approval.audited(run, &ruling));
                let going_on = write::transition(tables, changes, bot, turn::rule(parked, ruling, origin))?;
                if going_on.is_some() {
                    audit::append(tables, changes, audited.unwrap_or_default())?;
                }
                Ok(going_on)
            })
            .await
    }

    /// Resumes an answered turn, durably. Its messages move to the end of its session, the answer follows as the result
    /// of its call, and the turn is in progress again in its conversation; an approved call is to be made now. `None` if
    /// the turn no longer waits or has no answer.
    pub async fn unpark(&self, run: RunId, now: DateTime<Utc>) -> Result<Option<GoneOn>> {
        let bot = self.0.bot();
        self.0
            .change_durably("go on with a turn", move |tables, changes| {
                turns::go_on(tables, changes, bot, run, now)
            })
            .await
    }

    /// Gives up a waiting turn, durably, and queues a notice for delivery; `false` if it no longer waits or has its
    /// answer.
    pub async fn give_up(&self, run: RunId, words: Option<PendingDelivery>) -> Result<bool> {
        let bot = self.0.bot();
        self.0
            .change_durably("give a turn up", move |tables, changes| {
                let Some(parked) = tables.parked.find(&key::id(run))? else { return Ok(false) };
                // A notice means that nobody stopped the turn: it expired.
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
