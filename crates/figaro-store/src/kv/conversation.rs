//! [`ConversationStore`]: each call as one read or one write of sessions, turns and background.

use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use super::records::turns::{self, Beginning};
use super::records::{background, calls, edits, parked, sessions};
use super::{KvStore, key};
use crate::{ConversationStore, Result, TurnEnd};
use figaro_base::ids::{ChatId, RunId, SessionId};
use figaro_domain::conversation::{Conversation, EntryKey, Message, Role, Session};
use figaro_domain::importance::{self, By};
use figaro_domain::message::Inbound;
use figaro_domain::model::ModelName;
use figaro_domain::origin::Origin;
use figaro_domain::tool::ToolCall;
use figaro_domain::turn::{ActiveTurn, Step};

#[async_trait]
impl ConversationStore for KvStore {
    async fn session(&self, conversation: Conversation, now: DateTime<Utc>) -> Result<Session> {
        self.change("read the session", move |tables, changes| {
            sessions::current(tables, changes, conversation, now)
        })
        .await
    }

    async fn new_session(&self, conversation: Conversation, now: DateTime<Utc>) -> Result<Session> {
        self.change_durably("begin a session", move |tables, changes| {
            parked::give_up_all(tables, changes, conversation)?;
            sessions::begin(tables, changes, conversation, now)
        })
        .await
    }

    async fn begin_turn(
        &self,
        conversation: Conversation,
        question: &[Inbound],
        now: DateTime<Utc>,
    ) -> Result<ActiveTurn> {
        let (at, question) = (Beginning { bot: self.bot(), conversation, now }, question.to_vec());
        let begun = self.change("begin a turn", move |tables, changes| {
            let rules = self.0.pack_rules.in_chat(tables, conversation.chat)?;
            turns::begin(tables, changes, at, &question, &rules)
        });
        Ok(begun.await?.turn)
    }

    async fn begin_again(
        &self,
        conversation: Conversation,
        origin: Origin,
        model: Option<ModelName>,
        now: DateTime<Utc>,
    ) -> Result<Option<(ActiveTurn, Vec<Message>)>> {
        let at = Beginning { bot: self.bot(), conversation, now };
        let begun = self.change_durably("begin a turn again", move |tables, changes| {
            turns::begin_again(tables, changes, at, origin, model)
        });
        Ok(begun.await?.map(|begun| (begun.turn, begun.question)))
    }

    async fn question(&self, run: &ActiveTurn) -> Result<Vec<Message>> {
        let run = run.clone();
        self.read("read a turn's question", move |tables| turns::question(tables, &run)).await
    }

    async fn active_runs(&self) -> Result<Vec<ActiveTurn>> {
        self.read("read the turns in progress", |tables| tables.turns.list(&[])).await
    }

    async fn append(&self, message: Message) -> Result<u32> {
        let bot = self.bot();
        self.change("store a message", move |tables, changes| turns::append(tables, changes, bot, message))
            .await
    }

    async fn record_step(&self, turn: &ActiveTurn, step: Step) -> Result<()> {
        let (bot, turn) = (self.bot(), turn.clone());
        self.change_durably("store a step of a turn", move |tables, changes| {
            turns::step(tables, changes, bot, &turn, step)
        })
        .await
    }

    async fn tool_ended(&self, call: &ToolCall, result: Message) -> Result<EntryKey> {
        let (bot, call, session) = (self.bot(), call.clone(), result.session);
        self.change_durably("store a tool result", move |tables, changes| {
            calls::put(tables, changes, call.run, std::slice::from_ref(&call))?;
            let index = turns::append(tables, changes, bot, result)?;
            Ok(EntryKey { session, index })
        })
        .await
    }

    async fn tool_calls(&self, run: RunId) -> Result<Vec<ToolCall>> {
        self.read("read the tool calls", move |tables| tables.calls.list(&key::id(run))).await
    }

    async fn end_turn(&self, run: &ActiveTurn, end: TurnEnd) -> Result<()> {
        let (bot, run, is_of_task) = (self.bot(), run.clone(), end.task.is_some());
        self.change_durably("end a turn", move |tables, changes| {
            let rules = self.0.pack_rules.in_chat(tables, run.conversation.chat)?;
            let mut end = end;
            for answer in end.messages.iter_mut().filter(|message| message.role == Role::Assistant) {
                answer.importance = importance::of_with(By::Model, &answer.text, &rules);
            }
            turns::end(tables, changes, bot, &run, end)
        })
        .await?;
        if is_of_task {
            self.tell_of_tasks();
        }
        Ok(())
    }

    async fn retract_turn(&self, run: &ActiveTurn) -> Result<()> {
        let (bot, run) = (self.bot(), run.clone());
        self.change("take a turn back", move |tables, changes| turns::retract(tables, changes, bot, &run))
            .await
    }

    async fn recent(&self, session: SessionId, limit: usize) -> Result<Vec<Arc<Message>>> {
        let decoded = &self.0.messages;
        self.read("read the messages", move |tables| sessions::recent(tables, decoded, session, limit)).await
    }

    async fn entry(&self, chat: ChatId, key: EntryKey) -> Result<Option<Message>> {
        self.read("read a message", move |tables| sessions::entry(tables, chat, key)).await
    }

    async fn edit_message(&self, edited: &Inbound) -> Result<usize> {
        let edited = edited.clone();
        // Most edits are of messages that nobody answered.
        if self.read("look for an edited message", |tables| edits::find(tables, &edited)).await?.is_empty() {
            return Ok(0);
        }
        let changed = self
            .change_durably("store the edit of a message", move |tables, changes| {
                let rules = self.0.pack_rules.in_chat(tables, edited.place.chat)?;
                edits::apply(tables, changes, &edited, &rules)
            })
            .await?;
        if changed > 0 {
            self.0.summary_news.notify_one();
        }
        Ok(changed)
    }

    async fn add_background(&self, conversation: Conversation, message: &Inbound, keep: usize) -> Result<()> {
        let message = message.clone();
        self.change("store the background", move |tables, changes| {
            background::keep(tables, changes, conversation, &message, keep)
        })
        .await
    }

    async fn background(
        &self,
        conversation: Conversation,
        since: DateTime<Utc>,
        limit: usize,
    ) -> Result<Vec<Inbound>> {
        self.read("read the background", move |tables| background::since(tables, conversation, since, limit))
            .await
    }
}
