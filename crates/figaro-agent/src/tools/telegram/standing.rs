//! Calls made while nobody can be asked, as in a task's run: standing rules approved with the task may allow them.

use chrono::{DateTime, Utc};
use serde_json::{Map, json};

use super::asks::ApprovalRequirement;
use super::checked::CheckedCall;
use super::concerned::ConcernedChats;
use super::perform::approval;
use super::{TelegramTools, ToolContext, ToolError, ToolOutput};
use figaro_base::ids::ChatId;
use figaro_domain::approval::{ApprovalTarget, Ruled};
use figaro_domain::audit::{AuditEvent, AuditKind};
use figaro_domain::task::StandingRule;
use figaro_policy::tools::{Decision, is_within};

/// Reason given if nobody can be asked.
const NOBODY: &str = "It takes an approval, and nobody is asked now: this is the run of a task, or not the person's own words, or \
    too many questions wait for an answer already. Tell the person";
/// Number of audit log entries read per page.
const PAGE: usize = 200;

/// Permission of a call in a task's run.
enum Letting<'a> {
    /// The call is not permitted.
    Nothing,
    /// The general rules permit the call.
    NoRule,
    /// This standing rule permits the call.
    Rule(&'a StandingRule),
}

/// A grant that a person may give.
pub(in crate::tools) struct Leave {
    pub(in crate::tools) target: ApprovalTarget,
    /// Requirements for approving it.
    pub(in crate::tools) asks: ApprovalRequirement,
}

impl TelegramTools {
    /// Makes calls that need approval while nobody can be asked, if the task's standing rules permit all of them.
    pub(super) async fn perform_unasked(
        &self,
        mut calls: Vec<CheckedCall>,
        asks: ApprovalRequirement,
        context: &ToolContext,
    ) -> Result<ToolOutput, ToolError> {
        let why = asks.reason.clone();
        // Held until the uses are recorded, so that concurrent calls count them.
        let counting = self.counting.lock().await;
        if self.are_let(&mut calls, asks, context).await? {
            self.note(AuditKind::ApprovalUsed, &calls, context).await?;
            drop(counting);
            return self.make_all(calls, true, context).await;
        }
        self.note(AuditKind::CallDenied, &calls, context).await?;
        Err(context.refusal(&format!("{why}. {NOBODY}")))
    }

    /// Returns `true` if standing rules permit all calls and the approvers still have the right.
    async fn are_let(
        &self,
        calls: &mut [CheckedCall],
        asks: ApprovalRequirement,
        context: &ToolContext,
    ) -> Result<bool, ToolError> {
        let Some(task) = context.task else { return Ok(false) };
        let Some(task) = self.tasks.find(task)?.filter(|task| !task.standing.is_empty()) else {
            return Ok(false);
        };
        let ConcernedChats { targets, were_names } = self.targets(calls, context).await?;
        let asks = if were_names { self.decide_all(calls, context).await? } else { Some(asks) };
        let Some(asks) = asks else { return Ok(true) };
        let shown = approval(calls, targets, asks, context);
        let mut used: Vec<(&StandingRule, usize)> = Vec::new();
        for call in calls.iter() {
            match self.letting(&task.standing, call, context).await? {
                Letting::Nothing => return Ok(false),
                Letting::NoRule => {}
                Letting::Rule(rule) => match used.iter_mut().find(|(known, _)| *known == rule) {
                    Some((_, count)) => *count += 1,
                    None => used.push((rule, 1)),
                },
            }
        }
        let Some(since) = task.lease.map(|lease| lease.since) else { return Ok(used.is_empty()) };
        let made = self.made_since(since, context)?;
        for (rule, more) in used {
            let is_it = |event: &&AuditEvent| {
                event.method.as_ref().is_some_and(|method| method.as_str() == rule.method)
                    && event.target_chat.unwrap_or(context.place.chat) == rule.chat
            };
            let count = made.iter().filter(is_it).count() + more;
            let may = self.approvers.may_rule(Ruled::Hour, &rule.by, &shown).await?;
            if count > usize::try_from(rule.times).unwrap_or_default() || may.is_err() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns the permission of a call.
    async fn letting<'a>(
        &self,
        standing: &'a [StandingRule],
        call: &CheckedCall,
        context: &ToolContext,
    ) -> Result<Letting<'a>, ToolError> {
        let rules = self.policy.rules();
        let role = self.role(&rules, context).await;
        let decided = self.decide(call, &rules, role, context)?;
        if decided.decision == Decision::Allow {
            return Ok(Letting::NoRule);
        }
        let fits = |rule: &&StandingRule| {
            decided.decision == Decision::Ask
                && rule.method == call.method.name
                && rule.rule == decided.rule.as_str()
        };
        for rule in standing.iter().filter(fits) {
            if self.judged(call, role, context, |call| is_within(&rules, call, rule.chat))? {
                return Ok(Letting::Rule(rule));
            }
        }
        Ok(Letting::Nothing)
    }

    /// Returns the approved calls of the run since `since`, from the audit log.
    fn made_since(&self, since: DateTime<Utc>, context: &ToolContext) -> Result<Vec<AuditEvent>, ToolError> {
        let (mut made, mut before) = (Vec::new(), None);
        loop {
            let entries = self.audit.newest(before, PAGE)?;
            before = entries.last().map(|last| last.seq);
            let is_over = entries.last().is_none_or(|last| last.event.at < since);
            let events = entries.into_iter().map(|entry| entry.event);
            made.extend(
                events
                    .filter(|event| event.run == Some(context.run) && event.what == AuditKind::ApprovalUsed),
            );
            if is_over {
                return Ok(made);
            }
        }
    }

    /// Returns the chat and the requirements of a grant that lets a task's runs call `method` for a chat without asking.
    ///
    /// # Errors
    /// For the model, if the method or chat does not exist, no approval is needed, or nobody can give it.
    pub(in crate::tools) async fn leave_to_ask_for(
        &self,
        method: &str,
        chat: Option<&str>,
        context: &ToolContext,
    ) -> Result<Leave, ToolError> {
        let known = self.catalog.method(method);
        if known.is_none() && method.contains("__") {
            return Err(ToolError::Denied(format!(
                "{method} acts on no chat: only a rule of an owner's, with `server` and `task: true` in policy.yaml, lets a task call a \
                 tool of another MCP server. Tell the person"
            )));
        }
        let method = known.ok_or_else(|| ToolError::ForModel(format!("there is no method {method}")))?;
        if !method.params.iter().any(|param| param.name == "chat_id") {
            return Err(ToolError::Denied(format!(
                "{} names no chat: only what acts on one chat can be approved for all runs of a task",
                method.name
            )));
        }
        let named = chat.map_or_else(|| json!(context.place.chat), |chat| json!(chat));
        let args = Map::from_iter([("chat_id".to_owned(), named)]);
        let mut calls = [CheckedCall { method, args, files: Vec::new(), rule: String::new() }];
        let ConcernedChats { mut targets, .. } = self.targets(&mut calls, context).await?;
        let Some(target) = targets.pop() else {
            return Err(ToolError::ForModel("chat takes the number of a chat or its @username".to_owned()));
        };
        match self.decide_all(&mut calls, context).await? {
            Some(asks) if self.are_within(&calls, &[target.chat], context).await? => {
                Ok(Leave { target, asks })
            }
            Some(asks) => Err(ToolError::Denied(format!("not for all runs of a task: {}", asks.reason))),
            None => Err(ToolError::ForModel("it needs no approval: the task may do it as it is".to_owned())),
        }
    }

    /// Returns `true` if calls stay within grants of these methods for these chats.
    pub(super) async fn are_within(
        &self,
        calls: &[CheckedCall],
        chats: &[ChatId],
        context: &ToolContext,
    ) -> Result<bool, ToolError> {
        let rules = self.policy.rules();
        let role = self.role(&rules, context).await;
        for call in calls {
            let is_let = self
                .judged(call, role, context, |call| chats.iter().any(|chat| is_within(&rules, call, *chat)));
            if !is_let? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
