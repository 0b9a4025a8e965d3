//! The `allow_task` tool: a person permits the runs of a task to make calls without asking.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{STATUS, TaskTools, view};
use crate::tools::telegram::{Leave, TelegramTools};
use crate::tools::typed::{ToolDefinition, typed};
use crate::tools::{Tool, ToolContext, ToolError, ToolOutput, telegram};
use figaro_base::ids::{ChatId, TaskId};
use figaro_domain::approval::{Approval, Fingerprint, MethodCall, Ruled};
use figaro_domain::task::{
    MAX_CALLS, MAX_STANDING, STANDING_RULE, StandingChange, StandingRule, Task, TaskChange, TaskEdit,
};
use figaro_domain::tool::Effect;
use figaro_domain::turn::Approved;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AllowTaskArguments {
    /// As listed.
    task_id: String,
    /// The Bot API method, such as sendMessage.
    method: String,
    /// Its number or @username; this chat unless given.
    #[serde(default)]
    chat: Option<String>,
    /// At most so many calls in each run; 0 takes the leave back.
    times: u32,
}

/// Summary of a grant for the approving person, as the arguments of a call.
#[derive(Debug, Serialize, Deserialize)]
struct GrantSummary {
    task_id: TaskId,
    title: String,
    prompt: String,
    schedule: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    agent: Option<String>,
    method: String,
    chat_id: ChatId,
    times: u32,
    rule: String,
}

/// Tools of tasks and of Telegram.
#[derive(Clone)]
struct Leaves {
    tasks: TaskTools,
    telegram: TelegramTools,
}

/// Makes `allow_task`, which asks a person to approve calls of a task's runs. A rare tool.
#[must_use]
pub(crate) fn allow_tool(tasks: TaskTools, telegram: TelegramTools) -> Arc<dyn Tool> {
    let words = "Asks a person to let the runs of a scheduled task call one method for one chat by themselves, where that takes \
                 an approval: in a run nobody can be asked.";
    let about = ToolDefinition::new("allow_task", words, Effect::Write, STATUS).rare(
        "let allow permit a scheduled task reminder run post send pin moderate in another chat channel group by itself without \
         asking standing rule approval",
    );
    let this = Leaves { tasks, telegram };
    typed(about, move |context: ToolContext, wanted: AllowTaskArguments| {
        let this = this.clone();
        async move {
            match &context.approved {
                Some(approved) => this.permit(approved, &context).await,
                None => this.ask(&context, wanted).await,
            }
        }
    })
}

impl Leaves {
    async fn ask(&self, context: &ToolContext, wanted: AllowTaskArguments) -> Result<ToolOutput, ToolError> {
        let task = self.tasks.task_to_change(context, &wanted.task_id).await?;
        if wanted.times > MAX_CALLS {
            return Err(ToolError::ForModel(format!("times takes 0 to {MAX_CALLS}")));
        }
        if wanted.times == 0 {
            return self.forbid(&task, &wanted, context).await;
        }
        if !context.can_ask {
            let words = "nobody can be asked now: this is the run of a task, or too many questions wait for an answer";
            return Err(ToolError::Denied(words.to_owned()));
        }
        let Leave { target, asks } =
            self.telegram.leave_to_ask_for(&wanted.method, wanted.chat.as_deref(), context).await?;
        let shown = GrantSummary {
            task_id: task.id,
            title: task.title(),
            schedule: view::what(&task),
            agent: task.own_agent().map(ToOwned::to_owned),
            prompt: task.prompt,
            method: wanted.method,
            chat_id: target.chat,
            times: wanted.times,
            rule: asks.rule.clone(),
        };
        let Ok(Value::Object(arguments)) = serde_json::to_value(&shown) else {
            return Err(ToolError::ForModel("the task cannot be shown".to_owned()));
        };
        let calls = vec![MethodCall { method: STANDING_RULE.to_owned(), arguments }];
        let approval = Approval {
            fingerprint: Fingerprint::of(context.run, &context.call, &calls),
            calls,
            server: None,
            targets: vec![target],
            people: Vec::new(),
            about: None,
            right: asks.right.map(str::to_owned),
            needs_other: asks.needs_other,
            may_last: false,
            read: context.read_for(&asks.rule),
            rule: asks.rule,
            reason: None,
            asked_in: context.place.chat,
            requester: context.speaker.clone(),
        };
        Ok(ToolOutput::asking(approval))
    }

    /// Stores the grant as the person was shown it.
    async fn permit(&self, approved: &Approved, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let Approved { approval, ruling, .. } = approved;
        let call = approval.calls.first().filter(|call| call.method == STANDING_RULE);
        let shown: Option<GrantSummary> =
            call.and_then(|call| serde_json::from_value(Value::Object(call.arguments.clone())).ok());
        let Some(shown) = shown.filter(|_| approval.is_for(context.run, &context.call)) else {
            return Err(ToolError::Denied("not done: what was approved is something else".to_owned()));
        };
        if self.telegram.approvers.may_rule(Ruled::Once, &ruling.by, approval).await?.is_err() {
            let words = "not done: whoever approved it may not approve it any more";
            return Err(ToolError::Denied(words.to_owned()));
        }
        let is_same = |task: &Task| {
            let is_same_work = task.prompt == shown.prompt && task.own_agent() == shown.agent.as_deref();
            is_same_work && view::what(task) == shown.schedule && task.is_live()
        };
        let task = self.tasks.store.find(shown.task_id)?;
        let Some(as_of) = task.filter(is_same).map(|task| task.updated_at) else {
            let words = "not done: the task has changed since, or is over; ask again";
            return Err(ToolError::ForModel(words.to_owned()));
        };
        let rule = StandingRule {
            method: shown.method,
            chat: shown.chat_id,
            times: shown.times,
            rule: shown.rule,
            by: ruling.by.clone(),
        };
        let change = StandingChange::Permit { rule: rule.clone(), as_of };
        let task = self.change(shown.task_id, change, context).await?;
        if !task.standing.contains(&rule) {
            let words = format!(
                "not done: the task has changed meanwhile, or has {MAX_STANDING} such leaves, which is the most; list_tasks shows them"
            );
            return Err(ToolError::ForModel(words));
        }
        Ok(told(&task))
    }

    async fn forbid(
        &self,
        task: &Task,
        wanted: &AllowTaskArguments,
        context: &ToolContext,
    ) -> Result<ToolOutput, ToolError> {
        let is_it = |rule: &&StandingRule| {
            rule.method == wanted.method
                && wanted.chat.as_ref().is_none_or(|chat| telegram::is_chat(chat, rule.chat))
        };
        let Some(rule) = task.standing.iter().find(is_it) else {
            let words =
                "the task has no such leave; list_tasks shows those that it has, with their chats by number";
            return Err(ToolError::ForModel(words.to_owned()));
        };
        let change = StandingChange::Forbid(rule.method.clone(), rule.chat);
        Ok(told(&self.change(task.id, change, context).await?))
    }

    async fn change(
        &self,
        id: TaskId,
        standing: StandingChange,
        context: &ToolContext,
    ) -> Result<Task, ToolError> {
        let edit = TaskEdit { standing: Some(standing), ..TaskEdit::default() };
        self.tasks.change(id, TaskChange::edit(edit), context).await
    }
}

fn told(task: &Task) -> ToolOutput {
    json!({"success": true, "task_id": task.id, "title": task.title(), "may": view::leaves(task)}).into()
}
