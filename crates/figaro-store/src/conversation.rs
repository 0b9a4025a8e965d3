//! [`ConversationStore`]: each call as one read or one write of sessions, turns and background.

use std::sync::Arc;

use chrono::{DateTime, Utc};

use super::key;
use super::records::turns::{self, Beginning};
use super::records::{background, calls, edits, parked, sessions};
use crate::{ConversationStore, Result, TurnEnd};
use figaro_base::ids::{ChatId, RunId, SessionId};
use figaro_domain::conversation::{ConversationId, EntryKey, Message, MessageRole, Session};
use figaro_domain::importance::{self, By};
use figaro_domain::message::Inbound;
use figaro_domain::tool::ToolCall;
use figaro_domain::turn::{ActiveTurn, Step};

impl ConversationStore {
    /// Returns the current session of a conversation; the first call begins one.
    pub fn session(&self, conversation: ConversationId, now: DateTime<Utc>) -> Result<Session> {
        self.0.change("read the session", move |tables, changes| {
            sessions::current(tables, changes, conversation, now)
        })
    }

    /// Begins a new session and makes it the current one, durably. Turns of the conversation that wait for a person are
    /// given up.
    pub async fn new_session(&self, conversation: ConversationId, now: DateTime<Utc>) -> Result<Session> {
        self.0
            .change_durably("begin a session", move |tables, changes| {
                parked::give_up_all(tables, changes, conversation)?;
                sessions::begin(tables, changes, conversation, now)
            })
            .await
    }

    /// Appends the question to the current session and records the turn, in one write. A stored turn with the same
    /// question is returned unchanged. An unfinished turn of another question is replaced and counts as ended; its
    /// messages stay. If it had made a tool call, its updates are settled in the same write, so that its actions are not
    /// repeated; otherwise they stay unsettled, and the next start answers them.
    pub fn begin_turn(
        &self,
        conversation: ConversationId,
        question: &[Inbound],
        now: DateTime<Utc>,
    ) -> Result<ActiveTurn> {
        let (at, question) = (Beginning { bot: self.0.bot(), conversation, now }, question.to_vec());
        let begun = self.0.change("begin a turn", move |tables, changes| {
            let rules = self.0.shared.pack_rules.in_chat(tables, conversation.chat)?;
            turns::begin(tables, changes, at, &question, &rules)
        });
        Ok(begun?.turn)
    }

    /// Returns the stored messages of a turn's question, oldest first.
    pub fn question(&self, run: &ActiveTurn) -> Result<Vec<Message>> {
        let run = run.clone();
        self.0.read("read a turn's question", move |tables| turns::question(tables, &run))
    }

    /// Returns the unfinished turns of all conversations. After a start they are resumed.
    pub fn active_runs(&self) -> Result<Vec<ActiveTurn>> {
        self.0.read("read the turns in progress", |tables| tables.turns.list(&[]))
    }

    /// Appends a message to its session. Sets its `index` to the next one of the session, and returns it.
    pub fn append(&self, message: Message) -> Result<u32> {
        let bot = self.0.bot();
        self.0.change("store a message", move |tables, changes| turns::append(tables, changes, bot, message))
    }

    /// Records a step of a turn, in one durable write: the model's message, the machine state, and the calls that start.
    /// After a crash these calls count as possibly executed.
    pub async fn record_step(&self, turn: &ActiveTurn, step: Step) -> Result<()> {
        let (bot, turn) = (self.0.bot(), turn.clone());
        self.0
            .change_durably("store a step of a turn", move |tables, changes| {
                turns::step(tables, changes, bot, &turn, step)
            })
            .await
    }

    /// Records how a call ended and appends its result, in one durable write; returns the key of the result.
    pub async fn tool_ended(&self, call: &ToolCall, result: Message) -> Result<EntryKey> {
        let (bot, call, session) = (self.0.bot(), call.clone(), result.session);
        self.0
            .change_durably("store a tool result", move |tables, changes| {
                calls::put(tables, changes, call.run, std::slice::from_ref(&call))?;
                let index = turns::append(tables, changes, bot, result)?;
                Ok(EntryKey { session, index })
            })
            .await
    }

    /// Returns the calls of a turn, in the order in which they started.
    pub fn tool_calls(&self, run: RunId) -> Result<Vec<ToolCall>> {
        self.0.read("read the tool calls", move |tables| tables.calls.list(&key::id(run)))
    }

    /// Ends a turn in one durable write: stores its last messages and the pending delivery, settles its updates and ends
    /// its record. A turn that already ended is left as it is.
    pub async fn end_turn(&self, run: &ActiveTurn, end: TurnEnd) -> Result<()> {
        let (bot, run, is_of_task) = (self.0.bot(), run.clone(), end.task.is_some());
        self.0
            .change_durably("end a turn", move |tables, changes| {
                let rules = self.0.shared.pack_rules.in_chat(tables, run.conversation.chat)?;
                let mut end = end;
                for answer in end.messages.iter_mut().filter(|message| message.role == MessageRole::Assistant)
                {
                    answer.importance = importance::of_with(By::Model, &answer.text, &rules);
                }
                turns::end(tables, changes, bot, &run, end)
            })
            .await?;
        if is_of_task {
            self.0.tell_of_tasks();
        }
        Ok(())
    }

    /// Takes back a turn that has shown and done nothing: its record and its messages are deleted, its updates stay
    /// unsettled. If its chat has migrated since, its messages stay. Unknown turns are ignored.
    pub fn retract_turn(&self, run: &ActiveTurn) -> Result<()> {
        let (bot, run) = (self.0.bot(), run.clone());
        self.0.change("take a turn back", move |tables, changes| turns::retract(tables, changes, bot, &run))
    }

    /// Returns the newest messages of a session that no later try replaced, at most `limit`, oldest first. Long tool
    /// results are cut to what models see.
    pub fn recent(&self, session: SessionId, limit: usize) -> Result<Vec<Arc<Message>>> {
        let decoded = &self.0.shared.messages;
        self.0.read("read the messages", move |tables| sessions::recent(tables, decoded, session, limit))
    }

    /// Returns a message by its key; `None` if there is none, a later try replaced it, or it belongs to another chat.
    pub fn entry(&self, chat: ChatId, key: EntryKey) -> Result<Option<Message>> {
        self.0.read("read a message", move |tables| sessions::entry(tables, chat, key))
    }

    /// Updates the stored message of an edited one, in all later tries too, and marks the summaries that cover it as
    /// stale; durably. Messages of a turn in progress, or of one that waits, stay as they are. Returns the number of
    /// stored messages changed.
    pub async fn edit_message(&self, edited: &Inbound) -> Result<usize> {
        let edited = edited.clone();
        // Most edited messages were never answered.
        if self.0.read("look for an edited message", |tables| edits::find(tables, &edited))?.is_empty() {
            return Ok(0);
        }
        let changed = self
            .0
            .change_durably("store the edit of a message", move |tables, changes| {
                let rules = self.0.shared.pack_rules.in_chat(tables, edited.place.chat)?;
                edits::apply(tables, changes, &edited, &rules)
            })
            .await?;
        if changed > 0 {
            self.0.shared.summary_news.notify_one();
        }
        Ok(changed)
    }

    /// Stores a message that was not addressed to the bot as background; deletes the oldest beyond `keep`.
    pub fn add_background(&self, conversation: ConversationId, message: &Inbound, keep: usize) -> Result<()> {
        let message = message.clone();
        self.0.change("store the background", move |tables, changes| {
            background::keep(tables, changes, conversation, &message, keep)
        })
    }

    /// Returns background messages of a conversation sent at or after `since`, oldest first; the newest `limit` of them.
    pub fn background(
        &self,
        conversation: ConversationId,
        since: DateTime<Utc>,
        limit: usize,
    ) -> Result<Vec<Inbound>> {
        self.0
            .read("read the background", move |tables| background::since(tables, conversation, since, limit))
    }
}
