//! Policy check of method calls: allowed, denied, or shown to a person first.

use figaro_mcp::check::check;
use serde_json::{Map, Value, json};

use super::asks::ApprovalRequirement;
use super::checked::CheckedCall;
use super::concerned::ConcernedChats;
use super::parts::is_late;
use super::send::Sent;
use super::undoable::CompletedCall;
use super::{TelegramTools, ToolContext, ToolError, ToolOutput};
use crate::tools::as_data;
use figaro_base::ids::{ChatId, MessageId};
use figaro_domain::approval::{Approval, ApprovalTarget, Fingerprint, MethodCall};
use figaro_domain::audit::AuditKind;
use figaro_domain::delivery::Author;
use figaro_domain::tool::SideEffects;
use figaro_domain::turn::Approved;
use figaro_policy::access::Standing;
use figaro_policy::tools::{
    CallerRole, Decided, Decision, OWNERS, Rules, TelegramCall, chat_number, decide, settle_previews,
};

/// Senders of the messages that a call names.
struct Senders {
    /// `true` if the model sent all of them; `None` if it names none.
    own: Option<bool>,
    /// `true` if Figaro sent one of them.
    figaros: bool,
}

impl TelegramTools {
    /// Makes method calls in order if policy allows. If one needs approval, a person is shown all of them first; if one is
    /// denied, none is made. Approved calls are made exactly as shown.
    ///
    /// # Errors
    /// With the reason why calls were not made, or that the outcome of one is unknown.
    pub(crate) async fn perform(
        &self,
        calls: Vec<MethodCall>,
        context: &ToolContext,
    ) -> Result<ToolOutput, ToolError> {
        if let Some(approved) = &context.approved {
            return self.perform_approved(approved, context).await;
        }
        let mut calls = self.check_all(calls, context)?;
        let Some(asks) = self.decide_all(&mut calls, context).await? else {
            self.note(AuditKind::CallAllowed, &calls, context).await?;
            return self.make_all(calls, false, context).await;
        };
        // A retry of somebody else's words has no requester to ask for.
        if !context.can_ask || context.standing == Standing::Borrowed {
            return self.perform_unasked(calls, asks, context).await;
        }
        let ConcernedChats { targets, were_names } = self.targets(&mut calls, context).await?;
        // A name may have turned out to mean this chat.
        let asks = if were_names { self.decide_all(&mut calls, context).await? } else { Some(asks) };
        let Some(asks) = asks else {
            self.note(AuditKind::CallAllowed, &calls, context).await?;
            return self.make_all(calls, false, context).await;
        };
        let approval = self.wanted(&calls, targets, asks, context).await?;
        if self.approvers.has_granted(&approval, context.now).await?
            && self.are_within(&calls, &approval.chats(), context).await?
        {
            self.note(AuditKind::ApprovalUsed, &calls, context).await?;
            return self.make_all(calls, true, context).await;
        }
        self.note(AuditKind::CallAsked, &calls, context).await?;
        Ok(ToolOutput::asking(approval))
    }

    /// Builds the approval request, after checking the bot's own rights.
    async fn wanted(
        &self,
        calls: &[CheckedCall],
        targets: Vec<ApprovalTarget>,
        asks: ApprovalRequirement,
        context: &ToolContext,
    ) -> Result<Approval, ToolError> {
        self.may_itself(calls, context).await?;
        let mut approval = approval(calls, targets, asks, context);
        approval.people = self.people(&approval, context).await;
        approval.about = self.about(&approval, context).await?;
        Ok(approval)
    }

    /// Makes approved calls exactly as they were shown.
    async fn perform_approved(
        &self,
        approved: &Approved,
        context: &ToolContext,
    ) -> Result<ToolOutput, ToolError> {
        let Approved { approval, ruling, .. } = approved;
        if !approval.is_for(context.run, &context.call) {
            return Err(ToolError::Denied("not made: what was approved is something else".to_owned()));
        }
        if self.approvers.may_rule(ruling.ruled, &ruling.by, approval).await?.is_err() {
            let words = "not made: whoever approved it may not approve it any more";
            return Err(ToolError::Denied(words.to_owned()));
        }
        // No names are resolved again: the calls were shown like this.
        let mut calls =
            approval.calls.iter().cloned().map(|call| self.check(call)).collect::<Result<Vec<_>, _>>()?;
        if calls.iter().any(|call| is_late(&call.args, context.now)) {
            let words = "not made: the time until which it was to hold is over, or nearly; Telegram would take it as for \
                ever. Ask again with a later time";
            return Err(ToolError::Denied(words.to_owned()));
        }
        // No approval overrides a denial.
        self.decide_all(&mut calls, context).await?;
        self.note(AuditKind::ApprovalUsed, &calls, context).await?;
        self.make_all(calls, true, context).await
    }

    fn check_all(
        &self,
        calls: Vec<MethodCall>,
        context: &ToolContext,
    ) -> Result<Vec<CheckedCall>, ToolError> {
        let check_one = |mut call: MethodCall| {
            if let Some(method) = self.catalog.method(&call.method) {
                settle_previews(method, &mut call.arguments, &context.addresses);
            }
            self.check(call)
        };
        calls.into_iter().map(check_one).collect()
    }

    pub(super) fn check(
        &self,
        MethodCall { method, arguments }: MethodCall,
    ) -> Result<CheckedCall, ToolError> {
        let known = self.catalog.method(&method);
        let method = known.ok_or_else(|| ToolError::ForModel(format!("there is no method {method}")))?;
        let files = check(method, &arguments).map_err(|fault| ToolError::ForModel(fault.to_string()))?;
        Ok(CheckedCall { method, args: arguments, files, rule: String::new() })
    }

    /// Judges all calls. Returns the requirements of an approval; `None` if all calls are allowed.
    pub(super) async fn decide_all(
        &self,
        calls: &mut [CheckedCall],
        context: &ToolContext,
    ) -> Result<Option<ApprovalRequirement>, ToolError> {
        let rules = self.policy.rules();
        let role = self.role(&rules, context).await;
        let mut asks: Option<ApprovalRequirement> = None;
        for call in calls {
            let decided = self.decide(call, &rules, role, context)?;
            decided.rule.as_str().clone_into(&mut call.rule);
            let method = &call.method.name;
            tracing::info!(method, chat = %context.place.chat, ?decided, "policy decided about a Telegram call");
            match decided.decision {
                Decision::Allow => {}
                Decision::Ask => {
                    let one = ApprovalRequirement::of(decided, call.method);
                    asks = Some(match asks {
                        None => one,
                        Some(first) => first.and(&one),
                    });
                }
                Decision::Deny => {
                    self.note(AuditKind::CallDenied, std::slice::from_ref(&*call), context).await?;
                    return Err(context.refusal(&decided.reason));
                }
            }
        }
        Ok(asks)
    }

    pub(super) async fn role(&self, rules: &Rules, context: &ToolContext) -> CallerRole {
        self.approvers.role(rules, context).await
    }

    pub(super) fn decide(
        &self,
        call: &CheckedCall,
        rules: &Rules,
        role: CallerRole,
        context: &ToolContext,
    ) -> Result<Decided, ToolError> {
        self.judged(call, role, context, |call| decide(rules, call))
    }

    /// Judges a call with all facts that policy looks at.
    pub(super) fn judged<T>(
        &self,
        call: &CheckedCall,
        role: CallerRole,
        context: &ToolContext,
        judge: impl FnOnce(&TelegramCall<'_>) -> T + Send,
    ) -> Result<T, ToolError> {
        let whole = Value::Object(call.args.clone());
        let files: Vec<&str> =
            call.files.iter().filter_map(|place| whole.pointer(&place.pointer)?.as_str()).collect();
        let Senders { own, figaros } = self.senders(&call.args, context.place.chat)?;
        let call = TelegramCall {
            method: call.method,
            args: &call.args,
            here: context.place.chat,
            speaker: (context.standing != Standing::Borrowed).then_some(&context.speaker.user),
            role,
            agent: context.agent.agent_schema_uri.as_deref(),
            task: context.task.is_some(),
            own,
            figaros,
            files: &files,
            addresses: &context.addresses,
            read: context.foreign(),
            // Names become numbers before a person is asked.
            resolved: &[],
        };
        Ok(judge(&call))
    }

    /// Looks up the senders of the messages that a call names, in the chat it names. An invalid id counts as a message of
    /// unknown sender.
    fn senders(&self, args: &Map<String, Value>, here: ChatId) -> Result<Senders, ToolError> {
        let many = args.get("message_ids").and_then(Value::as_array).into_iter().flatten();
        let chat = args.get("chat_id").map_or(Some(here), |chat| chat_number(chat).map(ChatId));
        let mut senders = Senders { own: None, figaros: false };
        for id in args.get("message_id").into_iter().chain(many) {
            // Invalid message ids count as unknown: it is unclear how Telegram would read them.
            let author = match (chat, id.as_i64().filter(|id| *id > 0)) {
                (Some(chat), Some(id)) => self.outbox.author(chat, MessageId(id))?,
                _ => None,
            };
            senders.own = Some(senders.own != Some(false) && author == Some(Author::Model));
            senders.figaros |= author.is_some_and(|author| author != Author::Model);
        }
        Ok(senders)
    }

    /// Makes allowed calls in order until one fails. `is_approved` means that a person had to approve them.
    pub(super) async fn make_all(
        &self,
        calls: Vec<CheckedCall>,
        is_approved: bool,
        context: &ToolContext,
    ) -> Result<ToolOutput, ToolError> {
        let (mut results, mut side_effects, mut shows_words) = (Vec::new(), SideEffects::default(), false);
        let all = calls.len();
        for CheckedCall { method, args, .. } in calls {
            let made = results.len();
            let call = MethodCall { method: method.name.clone(), arguments: args.clone() };
            let before = self.before(&call).await;
            let sent = self.send(method, args, context).await.map_err(|error| match error {
                ToolError::ForModel(words) | ToolError::Denied(words) if made > 0 => {
                    ToolError::ForModel(format!("{made} of {all} calls were made; {}: {words}", method.name))
                }
                error => error,
            });
            let Sent { mut result, spoke, shows_words: words } = sent?;
            let made =
                CompletedCall { method, call: &call, result: &result, before: before.as_ref(), is_approved };
            self.keep_undo(&made, context).await;
            if !method.name.ends_with("InviteLink") {
                without_secrets(&mut result);
            }
            side_effects.spoke |= spoke;
            shows_words |= words;
            results.push(result);
        }
        let result = match results.len() {
            1 => results.swap_remove(0),
            _ => Value::Array(results),
        };
        let value = match shows_words {
            true => as_data("result", result),
            false => json!({"success": true, "result": result}),
        };
        Ok(ToolOutput { side_effects, ..value.into() })
    }
}

/// Makes an approval. Calls without a chat act on the turn's chat.
pub(super) fn approval(
    calls: &[CheckedCall],
    mut targets: Vec<ApprovalTarget>,
    asks: ApprovalRequirement,
    context: &ToolContext,
) -> Approval {
    let place = &context.place;
    if targets.is_empty() {
        targets.push(ApprovalTarget { chat: place.chat, title: place.title.clone() });
    }
    let is_one = targets.len() == 1;
    let is_told_elsewhere = context.read.is_some() && targets.iter().any(|target| target.chat != place.chat);
    let call =
        |call: &CheckedCall| MethodCall { method: call.method.name.clone(), arguments: call.args.clone() };
    let calls: Vec<MethodCall> = calls.iter().map(call).collect();
    Approval {
        fingerprint: Fingerprint::of(context.run, &context.call, &calls),
        calls,
        server: None,
        targets,
        people: Vec::new(),
        about: None,
        right: asks.right.map(str::to_owned),
        read: context.read_for(&asks.rule),
        needs_other: asks.needs_other,
        // With several chats it is unclear which one a grant is about. A text by others may wish for more than one call.
        may_last: asks.may_last && is_one && !is_told_elsewhere,
        reason: asks.rule.starts_with(OWNERS).then_some(asks.reason),
        rule: asks.rule,
        asked_in: place.chat,
        requester: context.speaker.clone(),
    }
}

/// Removes invite links from a result: a person who may look up a chat may not invite to it.
fn without_secrets(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.remove("invite_link");
            map.values_mut().for_each(without_secrets);
        }
        Value::Array(items) => items.iter_mut().for_each(without_secrets),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_into_a_chat_is_left_out_however_deep() {
        let mut result = json!({"id": -5, "invite_link": "x", "pinned_message": {"chat": [{"invite_link": "x", "title": "T"}]}});
        without_secrets(&mut result);
        assert_eq!(result, json!({"id": -5, "pinned_message": {"chat": [{"title": "T"}]}}));
    }
}
