//! Audit events of method calls.

use serde_json::{Map, Value};

use super::checked::CheckedCall;
use super::{TelegramTools, ToolContext, ToolError, chat_number};
use figaro_base::ids::{ChatId, UserId};
use figaro_domain::audit::{AuditActor, AuditEvent, AuditKind, AuditName, Audited};

impl TelegramTools {
    /// Records a decision about calls in the audit log before it is carried out.
    ///
    /// # Errors
    /// If the store fails. The calls are not made then.
    pub(super) async fn note(
        &self,
        what: AuditKind,
        calls: &[CheckedCall],
        context: &ToolContext,
    ) -> Result<(), ToolError> {
        let events = calls.iter().map(|call| audited(what, call, context)).collect();
        Ok(self.audit.add(events).await?)
    }
}

fn audited(what: AuditKind, call: &CheckedCall, context: &ToolContext) -> Audited {
    let number = |key: &str| call.args.get(key).and_then(Value::as_i64);
    let event = AuditEvent {
        chat: Some(context.place.chat),
        target_user: number("user_id").map(UserId::telegram),
        target_chat: target(&call.args, context.place.chat),
        run: Some(context.run),
        call: AuditName::new(&context.call),
        method: AuditName::new(&call.method.name),
        rule: AuditName::new(&call.rule),
        ..AuditEvent::new(what, AuditActor::Model, context.now)
    };
    Audited { event, arguments: Some(Value::Object(call.args.clone())) }
}

/// Returns the other chat that a call names by number; `None` for this one.
fn target(args: &Map<String, Value>, here: ChatId) -> Option<ChatId> {
    let number = args.get("chat_id").and_then(chat_number)?;
    Some(ChatId(number)).filter(|chat| *chat != here)
}
