//! What calls did that can be taken back: it is kept with the turn when it was done, and taken back when somebody asks for it.

use chrono::{DateTime, Utc};
use figaro_mcp::table::Method;
use serde_json::{Value, json};

use super::parts::name_of;
use super::send::{Call, Fate};
use super::undo::{in_time, is_changed, left_by, looks_at, undo_of};
use super::{TelegramTools, ToolContext, chat_number};
use figaro_domain::approval::{MethodCall, Target};
use figaro_domain::undo::{MadeIn, Refusal, Undoable, Undone};

/// What Telegram says where it wants to be asked later.
const TOO_MANY: &str = "Too Many Requests";

/// A call that Telegram has carried out.
pub(super) struct Made<'a> {
    pub(super) method: &'static Method,
    pub(super) call: &'a MethodCall,
    /// What Telegram answered.
    pub(super) result: &'a Value,
    /// How things were before, where that was looked up.
    pub(super) before: Option<&'a Value>,
    /// Whether a person had approved it.
    pub(super) is_approved: bool,
}

impl TelegramTools {
    /// How things are before a call, where it cannot be taken back without; `None` also where Telegram does not tell.
    pub(super) async fn before(&self, call: &MethodCall) -> Option<Value> {
        let (method, args) = looks_at(call)?;
        let answer = self.mcp.call(method, args).await.ok().filter(|answer| !answer.is_error)?;
        Some(answer.content.get("result").cloned().unwrap_or(answer.content))
    }

    /// Keeps the call that takes this one back, if there is one and it reached beyond the chat's own messages: people delete those
    /// themselves. A failure is only logged: the call was made.
    pub(super) async fn keep_undo(&self, made: &Made<'_>, context: &ToolContext) {
        let Some(undoable) = self.undoable(made, context).await else { return };
        let made_in = MadeIn {
            run: context.run,
            asked_in: context.place.chat,
            asked_by: context.speaker.user.clone(),
            at: context.now,
        };
        if let Err(error) = self.undos.keep(made_in, undoable).await {
            let method = &made.method.name;
            tracing::error!(%error, method, run = %context.run, "what takes a call back could not be stored");
        }
    }

    async fn undoable(&self, made: &Made<'_>, context: &ToolContext) -> Option<Undoable> {
        let mut call = undo_of(made.call, made.result, made.before)?;
        let named = call.arguments.get("chat_id")?.clone();
        let said = made.call.arguments.get("chat_id").unwrap_or(&named);
        let deletes = call.method.starts_with("deleteMessage");
        let is_here = chat_number(&named) == Some(context.place.chat.0);
        if deletes && (is_here || !made.method.adds_messages()) {
            return None;
        }
        let target = self.target_of(&named, said, context).await?;
        // A name may belong to another chat by the time it is taken back.
        call.arguments.insert("chat_id".to_owned(), json!(target.chat));
        let person = made.before.and_then(|before| name_of(before.get("user")?));
        let left = left_by(made.call, context.now);
        Some(Undoable { call, target, person, left, is_approved: made.is_approved, outcome: None })
    }

    /// The chat with this number or username, which was called so when it was asked for.
    async fn target_of(&self, named: &Value, said: &Value, context: &ToolContext) -> Option<Target> {
        let number = chat_number(named);
        if number == Some(context.place.chat.0) {
            return Some(Target { chat: context.place.chat, title: context.place.title.clone() });
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

    /// Takes back what a call did, and gives what became of that.
    pub async fn take_back(&self, undo: &Undoable, now: DateTime<Utc>) -> Undone {
        let Ok(call) = self.check(in_time(undo.call.clone(), now)) else {
            return Undone::Refused(Refusal::Other);
        };
        let chat = undo.target.chat;
        // What a person decided since is not overridden; where that cannot be seen, it is tried again later.
        if looks_at(&undo.call).is_some() {
            match self.before(&undo.call).await {
                None => return Undone::Unsent,
                Some(state) if is_changed(&undo.call, &undo.left, &state) => {
                    return Undone::Refused(Refusal::Changed);
                }
                Some(_) => {}
            }
        }
        let sent = Call { tools: self, method: call.method }.send(&call.args, chat).await;
        let Err(failure) = sent else { return Undone::Done };
        let (method, words) = (&call.method.name, &failure.words);
        tracing::warn!(method, %chat, fate = ?failure.fate, words, "what a call did could not be taken back");
        match failure.fate {
            Fate::Refused if words.contains(TOO_MANY) => Undone::Unsent,
            Fate::Refused => Undone::Refused(Refusal::of(words)),
            Fate::Unsent => Undone::Unsent,
            Fate::Unknown => Undone::Unknown,
        }
    }
}
