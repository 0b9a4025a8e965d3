//! Undo of calls: stored with the turn when a call is made, carried out on request.

use chrono::{DateTime, Utc};
use figaro_mcp::table::Method;
use serde_json::{Value, json};

use super::parts::name_of;
use super::send::{CallFate, MethodRequest};
use super::undo::{in_time, is_changed, left_by, looks_at, undo_of};
use super::{TelegramTools, ToolContext, chat_number};
use figaro_domain::approval::{ApprovalTarget, MethodCall};
use figaro_domain::undo::{MadeIn, UndoRefusal, Undoable, Undone};

/// Telegram's words for a rate limit.
const TOO_MANY: &str = "Too Many Requests";

/// A call carried out by Telegram.
pub(super) struct CompletedCall<'a> {
    pub(super) method: &'static Method,
    pub(super) call: &'a MethodCall,
    pub(super) result: &'a Value,
    /// Earlier state, if it was looked up.
    pub(super) before: Option<&'a Value>,
    /// `true` if a person had approved the call.
    pub(super) is_approved: bool,
}

impl TelegramTools {
    /// Reads the state before a call, if its undo needs it; `None` also if Telegram gives no answer.
    pub(super) async fn before(&self, call: &MethodCall) -> Option<Value> {
        let (method, args) = looks_at(call)?;
        let answer = self.mcp.call(method, args).await.ok().filter(|answer| !answer.is_error)?;
        Some(answer.content.get("result").cloned().unwrap_or(answer.content))
    }

    /// Stores the undo of a call, if there is one and it acts beyond the chat's own messages, which people delete
    /// themselves. Failures are only logged: the call was made.
    pub(super) async fn keep_undo(&self, made: &CompletedCall<'_>, context: &ToolContext) {
        let Some(undoable) = self.undoable(made, context).await else { return };
        let made_in = MadeIn {
            run: context.run,
            asked_in: context.place.chat,
            asked_by: context.speaker.user.clone(),
            at: context.now,
        };
        if let Err(error) = self.undos.keep(made_in, undoable) {
            let method = &made.method.name;
            tracing::error!(%error, method, run = %context.run, "what takes a call back could not be stored");
        }
    }

    async fn undoable(&self, made: &CompletedCall<'_>, context: &ToolContext) -> Option<Undoable> {
        let mut call = undo_of(made.call, made.result, made.before)?;
        let named = call.arguments.get("chat_id")?.clone();
        let said = made.call.arguments.get("chat_id").unwrap_or(&named);
        let deletes = call.method.starts_with("deleteMessage");
        let is_here = chat_number(&named) == Some(context.place.chat.0);
        if deletes && (is_here || !made.method.adds_messages()) {
            return None;
        }
        let target = self.target_of(&named, said, context).await?;
        // A name may belong to another chat by the time of the undo.
        call.arguments.insert("chat_id".to_owned(), json!(target.chat));
        let person = made.before.and_then(|before| name_of(before.get("user")?));
        let left = left_by(made.call, context.now);
        Some(Undoable { call, target, person, left, is_approved: made.is_approved, outcome: None })
    }

    /// Returns the chat with this number or username, with the title known when the call was made.
    async fn target_of(&self, named: &Value, said: &Value, context: &ToolContext) -> Option<ApprovalTarget> {
        let number = chat_number(named);
        if number == Some(context.place.chat.0) {
            return Some(ApprovalTarget { chat: context.place.chat, title: context.place.title.clone() });
        }
        let shown = context.approved.iter().flat_map(|approved| &approved.approval.targets);
        match shown.into_iter().find(|target| Some(target.chat.0) == number) {
            Some(target) => Some(target.clone()),
            None => {
                let found = self.look_up(named.clone(), number).await.ok()?;
                Some(self.told_of(found, said, context).await)
            }
        }
    }

    /// Undoes a call and returns the outcome.
    pub async fn take_back(&self, undo: &Undoable, now: DateTime<Utc>) -> Undone {
        let Ok(call) = self.check(in_time(undo.call.clone(), now)) else {
            return Undone::Refused(UndoRefusal::Other);
        };
        let chat = undo.target.chat;
        // People's later decisions are not overridden. If the state is unknown, the undo is tried again later.
        if looks_at(&undo.call).is_some() {
            match self.before(&undo.call).await {
                None => return Undone::Unsent,
                Some(state) if is_changed(&undo.call, &undo.left, &state) => {
                    return Undone::Refused(UndoRefusal::Changed);
                }
                Some(_) => {}
            }
        }
        let sent = MethodRequest { tools: self, method: call.method }.send(&call.args, chat).await;
        let Err(failure) = sent else { return Undone::Done };
        let (method, words) = (&call.method.name, &failure.words);
        tracing::warn!(method, %chat, fate = ?failure.fate, words, "what a call did could not be taken back");
        match failure.fate {
            CallFate::Refused if words.contains(TOO_MANY) => Undone::Unsent,
            CallFate::Refused => Undone::Refused(UndoRefusal::of(words)),
            CallFate::Unsent => Undone::Unsent,
            CallFate::Unknown => Undone::Unknown,
        }
    }
}
