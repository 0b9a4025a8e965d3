//! The turn of a task: nobody waits for it, it has the rights of nobody, and how it ends goes to the task.

use std::sync::Arc;

use super::control::Control;
use super::finish::Closing;
use super::finish::error::Trouble;
use super::pipeline::Turns;
use super::question::Question;
use super::queue::Job;
use crate::domain::agent::Agent;
use crate::domain::chat::{ChatConfig, ConfigPatch};
use crate::domain::delivery::{Card, PendingDelivery};
use crate::domain::message::Inbound;
use crate::domain::task::{Claim, Cost, Ended, MAX_RUN_MESSAGES, Task, TaskChange};
use crate::domain::tool::{Effect, ToolCall, ToolStatus};
use crate::domain::turn::ActiveTurn;
use crate::ids::{ChatId, TaskId};
use crate::policy::access::Standing;
use crate::prompts::texts::fill;
use crate::tools::lookup::LOOKUP;
use crate::tools::{Registry, SendAllowance};

/// The answer of a task that has nothing to say, as `prompts/agents/scheduled.yaml` has it.
const SILENT: &str = "[silent]";

impl Question {
    /// The prompt of a task.
    #[must_use]
    pub fn of_task(task: Task, since: chrono::DateTime<chrono::Utc>) -> Self {
        let part = Inbound::of_task(&task, since);
        Self { task: Some(Box::new(task)), ..Self::new(part, Standing::Borrowed) }
    }

    /// The run of a task that this is.
    #[must_use]
    pub fn claim(&self) -> Option<&Claim> {
        self.task.as_ref()?.claim.as_ref()
    }
}

/// Who does a turn: the agent of a task or of the chat with its tools, or Figaro with all there are.
pub(super) struct Part<'a> {
    pub(super) agent: Option<&'a Agent>,
    pub(super) tools: Arc<Registry>,
}

impl Turns {
    /// Who is to do this in a chat of these settings, or of some that cannot be read.
    pub(super) fn part(&self, question: &Question, config: Option<&ChatConfig>) -> Result<Part<'_>, Trouble> {
        let Some(task) = &question.task else {
            return Ok(self.part_of_chat(config));
        };
        let of_chat = self.part_of_chat(config).tools;
        let known = self.prompts.agent(&task.agent).zip(self.agents.get(&task.agent));
        let (agent, tools) = known.ok_or_else(|| {
            tracing::error!(task = %task.id, agent = task.agent, "prompts/agents has no agent of this name");
            Trouble::Internal
        })?;
        // What holds the chat holds what was set up in it.
        let is_held = !Arc::ptr_eq(&of_chat, &self.tools);
        let tools = if is_held { Arc::new(tools.within(&of_chat)) } else { tools.clone() };
        Ok(Part { agent: Some(agent), tools })
    }

    /// Without the agent that the chat has chosen, Figaro answers as it does elsewhere; `/config` says so. Where nobody
    /// can tell whether one was chosen that has fewer tools, there are none.
    fn part_of_chat(&self, config: Option<&ChatConfig>) -> Part<'_> {
        let Some(config) = config else {
            let may_be_held = self.prompts.choosable().next().is_some();
            let tools = if may_be_held { Arc::new(self.tools.only(&[])) } else { self.tools.clone() };
            return Part { agent: None, tools };
        };
        let chosen = self.prompts.chosen(config);
        let known = chosen.and_then(|agent| Some((agent, self.agents.get(&agent.name)?)));
        if let Some((agent, tools)) = known {
            return Part { agent: Some(agent), tools: tools.clone() };
        }
        if let Some(agent) = &config.agent {
            tracing::warn!(agent, "the agent that a chat has chosen is not there; the chat goes without");
        }
        Part { agent: None, tools: self.tools.clone() }
    }

    pub(super) async fn run_task(&self, task: Task, control: Control) -> Option<Job> {
        let claim = task.claim?;
        match self.admits_task(&task, claim.run).await {
            Ok(true) => {}
            Ok(false) => return None,
            Err(error) => {
                self.report(&error, "a task's turn could not begin");
                return None;
            }
        }
        let place = task.place;
        let begun = match self.tasks.begin_task(task.id, claim.run, place.conversation(), self.now()).await {
            Ok(Some((run, task))) => self.settle_open_calls(&run).await.map(|()| Some((run, task))),
            other => other,
        };
        match begun {
            // It runs where it was claimed, also if the chat has got another id since.
            Ok(Some((run, task))) => {
                let task = Task { place, ..task };
                self.work(run, Question::of_task(task, claim.since), control).await
            }
            // It is not wanted any more, or has its answer already.
            Ok(None) => None,
            Err(error) => {
                // When the claim's lease has ended, the scheduler takes it up again.
                self.report(&error, "a task's turn could not begin");
                None
            }
        }
    }

    /// What the end of a turn means for the task it carried out.
    pub(super) async fn settled(
        &self,
        run: &ActiveTurn,
        question: &Question,
        closing: &Closing,
        is_delivered: bool,
    ) -> Option<TaskChange> {
        let run_id = question.claim()?.run;
        let Closing { answer, trouble, is_stopped, .. } = closing;
        let cost = Cost { usage: answer.usage, nano_usd: answer.nano_usd };
        let ended = match trouble {
            Some(trouble) => {
                let error = trouble.reason();
                let again = error.may_pass() && !self.has_acted(run).await;
                Ended::Failed { error, again, cost }
            }
            // What it had written still goes out, but it was not carried out.
            None if *is_stopped => Ended::Stopped(cost),
            None if is_delivered => return Some(TaskChange::Answered(run_id, cost)),
            None if answer.spoke => Ended::Spoke(cost),
            None => Ended::Silent(cost),
        };
        Some(TaskChange::Settle(run_id, ended))
    }

    /// Whether a turn has called anything that may not be called twice. When nobody knows, it has.
    async fn has_acted(&self, run: &ActiveTurn) -> bool {
        let tools = self.tools.demanding(LOOKUP);
        let found = |name: &str| tools.get(name, &[name.to_owned()]);
        let reads = |name: &str| found(name).is_some_and(|tool| tool.effect() == Effect::Read);
        match self.conversations.tool_calls(run.id).await {
            Ok(calls) => calls.iter().any(|call| !reads(&call.call.name)),
            Err(_) => true,
        }
    }

    /// How many messages tools may still send in the run of a task; `None` for any other turn. What they sent before a
    /// restart counts, and so does what may have been sent.
    pub(super) async fn allowance(
        &self,
        run: &ActiveTurn,
        question: &Question,
    ) -> Result<Option<Arc<SendAllowance>>, Trouble> {
        if question.task.is_none() {
            return Ok(None);
        }
        let calls = self.conversations.tool_calls(run.id).await.map_err(|error| self.lost(&error))?;
        let may_have_sent = |call: &&ToolCall| match call.status {
            ToolStatus::Running | ToolStatus::Complete | ToolStatus::Unknown => true,
            ToolStatus::Failed | ToolStatus::Denied => false,
        };
        let sends = |call: &ToolCall| {
            let found = std::slice::from_ref(&call.call.name);
            let arguments = serde_json::from_str(&call.call.arguments).ok()?;
            Some(self.tools.get(&call.call.name, found)?.sends(&arguments))
        };
        let sent: usize = calls.iter().filter(may_have_sent).filter_map(sends).sum();
        Ok(Some(Arc::new(SendAllowance::new(MAX_RUN_MESSAGES, sent))))
    }

    /// The line under words that come late.
    pub(super) fn lateness(&self, question: &Question) -> String {
        let late = question.task.as_ref().zip(question.claim()).filter(|(_, claim)| claim.late);
        late.map_or_else(String::new, |(task, claim)| {
            let texts = self.texts(question);
            let due = texts.moment(&claim.due.with_timezone(&task.zone));
            format!("\n\n{}", fill(&texts.task_late, &[("due", &due)]))
        })
    }

    /// Whether one of these tasks rests on a guess where the chat is, and nobody was asked yet; then they are now.
    async fn asks_for_zone(&self, chat: ChatId, tasks: &[TaskId]) -> bool {
        let asking = async {
            let mut is_assumed = false;
            for task in tasks {
                is_assumed |= self.tasks.task(*task).await?.is_some_and(|task| task.zone_assumed);
            }
            let config = self.settings.chat_config(chat).await?;
            if !is_assumed || config.timezone.is_some() || config.zone_asked.is_some() {
                return Ok(false);
            }
            let asked = ConfigPatch { zone_asked: Some(self.now()), ..ConfigPatch::default() };
            self.settings.change_chat_config(chat, asked).await.map(|_| true)
        };
        asking.await.unwrap_or_else(|error| {
            // The next task asks again.
            self.report(&error, "whether a chat is to be asked for its time zone could not be settled");
            false
        })
    }

    /// Whether a turn may have changed settings of its chat. Looked up and not carried along, so that no end of a turn
    /// hides it. Where nobody can tell now, it may have: the courier looks again, and shows nothing where there is nothing.
    async fn may_have_configured(&self, run: &ActiveTurn) -> bool {
        match self.settings.config_change(run.id).await {
            Ok(change) => change.is_some(),
            Err(error) => {
                self.report(&error, "whether a turn changed settings could not be looked up");
                true
            }
        }
    }

    /// What is sent behind the words of a turn: what it changed of the chat's settings; the tasks that it made or changed;
    /// then, once in a chat, the question where it is, if one of the tasks rests on a guess.
    pub(super) async fn cards(
        &self,
        run: &ActiveTurn,
        question: &Question,
        tasks: &[TaskId],
    ) -> Vec<PendingDelivery> {
        let Some(place) = question.parts.first().map(|part| &part.place) else {
            return Vec::new();
        };
        let settings = self.may_have_configured(run).await.then_some(Card::Settings);
        let asks = !tasks.is_empty() && self.asks_for_zone(place.chat, tasks).await;
        let tasks = tasks.iter().copied().map(Card::Task);
        let cards = settings.into_iter().chain(tasks).chain(asks.then_some(Card::Zone));
        let now = self.now();
        let after = |at: usize| now + chrono::TimeDelta::milliseconds(i64::try_from(at).unwrap_or(0) + 1);
        let delivery = |(at, card)| PendingDelivery {
            language: question.parts.first().and_then(|part| part.language.clone()),
            ..PendingDelivery::of_card(run.id, place.clone(), card, after(at))
        };
        cards.enumerate().map(delivery).collect()
    }
}

/// A task that has nothing to say says so; an answer without words is a failure.
pub(super) fn is_silent(text: &str) -> bool {
    text.trim_matches(|c: char| c.is_whitespace() || "`*_.\"'".contains(c)).eq_ignore_ascii_case(SILENT)
}
