//! Calls that nobody can be asked about, as in the run of a task: what a person approved with the task may be made.

use std::collections::HashMap;

use serde_json::{Map, json};

use super::asks::Asks;
use super::checked::Checked;
use super::concerned::Named;
use super::perform::approval;
use super::{TelegramTools, ToolContext, ToolError, ToolOutput};
use crate::domain::approval::{Ruled, Target};
use crate::domain::audit::{AuditEvent, AuditKind};
use crate::domain::task::StandingRule;
use crate::ids::ChatId;
use crate::policy::tools::{Decision, is_within};

/// What is told where nobody can be asked.
const NOBODY: &str = "It takes an approval, and nobody is asked now: this is the run of a task, or not the person's own words, or \
    too many questions wait for an answer already. Tell the person";
/// So many of the newest entries of the audit log are looked through for what a run has done.
const LOOKED_THROUGH: usize = 5_000;
/// So many at a time.
const PAGE: usize = 200;

/// How often a run may still do what standing rules let it, and by which of them.
type Uses<'a> = HashMap<(&'a str, ChatId), u32>;

/// A leave that a person may give.
pub(in crate::tools) struct Leave {
    /// The chat.
    pub(in crate::tools) target: Target,
    /// What it takes to approve it.
    pub(in crate::tools) asks: Asks,
}

impl TelegramTools {
    /// Makes calls that a rule asks about and nobody can be asked about, where standing rules of the task let all of them go.
    pub(super) async fn perform_unasked(
        &self,
        mut calls: Vec<Checked>,
        asks: Asks,
        context: &ToolContext,
    ) -> Result<ToolOutput, ToolError> {
        let why = asks.reason.clone();
        // What is counted is noted before the next one counts.
        let counting = self.counting.lock().await;
        if self.are_let(&mut calls, asks, context).await? {
            self.note(AuditKind::ApprovalUsed, &calls, context).await?;
            drop(counting);
            return self.make_all(calls, true, context).await;
        }
        self.note(AuditKind::CallDenied, &calls, context).await?;
        Err(ToolError::Denied(format!("not allowed: {why}. {NOBODY}.")))
    }

    /// Whether standing rules let all calls go, and those who approved these still may.
    async fn are_let(
        &self,
        calls: &mut [Checked],
        asks: Asks,
        context: &ToolContext,
    ) -> Result<bool, ToolError> {
        let Some(task) = context.task else { return Ok(false) };
        let Some(task) = self.tasks.task(task).await?.filter(|task| !task.standing.is_empty()) else {
            return Ok(false);
        };
        let Named { targets, were_names } = self.targets(calls, context).await?;
        let asks = if were_names { self.decide_all(calls, context).await? } else { Some(asks) };
        let Some(asks) = asks else { return Ok(true) };
        let shown = approval(calls, targets, asks, context);
        let (mut used, mut uses) = (Vec::new(), Uses::new());
        for call in calls.iter() {
            let Some(rule) = self.letting(&task.standing, call, context).await? else { return Ok(false) };
            if let Some(rule) = rule {
                *uses.entry((&rule.method, rule.chat)).or_default() += 1;
                used.push(rule);
            }
        }
        for rule in used {
            let more = uses.get(&(rule.method.as_str(), rule.chat)).copied().unwrap_or_default();
            let so_far = self.uses_of(rule, context).await?;
            let may = self.approvers.may_rule(Ruled::Hour, &rule.by, &shown).await?;
            if so_far + more > rule.times || may.is_err() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The standing rule that lets a call go: `None` where none does, `Some(None)` where it takes none.
    async fn letting<'a>(
        &self,
        standing: &'a [StandingRule],
        call: &Checked,
        context: &ToolContext,
    ) -> Result<Option<Option<&'a StandingRule>>, ToolError> {
        let rules = self.policy.rules();
        let role = self.role(&rules, context).await;
        let decided = self.decide(call, &rules, role, context).await?;
        if decided.decision == Decision::Allow {
            return Ok(Some(None));
        }
        let fits = |rule: &&StandingRule| {
            decided.decision == Decision::Ask
                && rule.method == call.method.name
                && rule.rule == decided.rule.as_str()
        };
        for rule in standing.iter().filter(fits) {
            if self.judged(call, role, context, |call| is_within(&rules, call, rule.chat)).await? {
                return Ok(Some(Some(rule)));
            }
        }
        Ok(None)
    }

    /// How often the run has done already what a standing rule lets it, by the audit log.
    async fn uses_of(&self, rule: &StandingRule, context: &ToolContext) -> Result<u32, ToolError> {
        let (mut count, mut before, mut looked) = (0, None, 0);
        while looked < LOOKED_THROUGH {
            let entries = self.audit.audited(before, PAGE).await?;
            let Some(last) = entries.last() else { break };
            (before, looked) = (Some(last.seq), looked + entries.len());
            let is_it = |event: &AuditEvent| {
                event.run == Some(context.run)
                    && event.what == AuditKind::ApprovalUsed
                    && event.method.as_ref().is_some_and(|method| method.as_str() == rule.method)
                    && event.target_chat.unwrap_or(context.place.chat) == rule.chat
            };
            count += entries.iter().filter(|entry| is_it(&entry.event)).count();
        }
        Ok(u32::try_from(count).unwrap_or(u32::MAX))
    }

    /// What a person would have to approve so that the runs of a task may call a method for a chat without asking: the chat, why it is
    /// asked, and by what rule.
    ///
    /// # Errors
    /// For the model, where there is no such method or chat, or where nobody needs to be asked, or nobody can approve it.
    pub(in crate::tools) async fn leave_to_ask_for(
        &self,
        method: &str,
        chat: Option<&str>,
        context: &ToolContext,
    ) -> Result<Leave, ToolError> {
        let known = self.catalog.method(method);
        let method = known.ok_or_else(|| ToolError::ForModel(format!("there is no method {method}")))?;
        if !method.params.iter().any(|param| param.name == "chat_id") {
            return Err(ToolError::Denied(format!(
                "{} names no chat: only what acts on one chat can be approved for all runs of a task",
                method.name
            )));
        }
        let named = chat.map_or_else(|| json!(context.place.chat), |chat| json!(chat));
        let args = Map::from_iter([("chat_id".to_owned(), named)]);
        let mut calls = [Checked { method, args, files: Vec::new(), rule: String::new() }];
        let Named { mut targets, .. } = self.targets(&mut calls, context).await?;
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

    /// Whether calls do no more than a person let go who approved these methods for these chats for a while.
    pub(super) async fn are_within(
        &self,
        calls: &[Checked],
        chats: &[ChatId],
        context: &ToolContext,
    ) -> Result<bool, ToolError> {
        let rules = self.policy.rules();
        let role = self.role(&rules, context).await;
        for call in calls {
            let is_let = self
                .judged(call, role, context, |call| chats.iter().any(|chat| is_within(&rules, call, *chat)));
            if !is_let.await? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
