//! Which agent does a turn, with which tools and which model.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::super::error::TurnError;
use super::super::question::Question;
use crate::domain::agent::Agent;
use crate::domain::chat::ChatConfig;
use crate::domain::model::ModelName;
use crate::domain::turn::ActiveTurn;
use crate::prompts::Prompts;
use crate::tools::Registry;

/// The agents there are, and the tools of each.
#[derive(Debug, Clone)]
pub struct Agents {
    /// The agents' instructions and settings.
    pub prompts: Arc<Prompts>,
    /// The tools of each agent, by its name.
    pub tools: BTreeMap<String, Arc<Registry>>,
    /// The registry of all tools; an agent gets those that it names.
    pub all_tools: Arc<Registry>,
}

/// Who does a turn: the agent of a task or of the chat with its tools, or Figaro with all there are.
pub(super) struct Part<'a> {
    pub(super) agent: Option<&'a Agent>,
    pub(super) tools: Arc<Registry>,
}

impl Agents {
    /// Who is to do this in a chat of these settings, or of some that cannot be read.
    pub(super) fn part(
        &self,
        question: &Question,
        config: Option<&ChatConfig>,
    ) -> Result<Part<'_>, TurnError> {
        let Some(task) = &question.task else {
            return Ok(self.part_of_chat(config));
        };
        let of_chat = self.part_of_chat(config).tools;
        let known = self.prompts.agent(&task.agent).zip(self.tools.get(&task.agent));
        let (agent, tools) = known.ok_or_else(|| {
            tracing::error!(task = %task.id, agent = task.agent, "prompts/agents has no agent of this name");
            TurnError::Internal
        })?;
        // What a person lets its runs do is no use to an agent that cannot call it.
        let let_go = task.standing.iter().map(|rule| rule.method.as_str());
        let tools = match task.standing.is_empty() {
            true => tools.clone(),
            false => Arc::new(tools.with(let_go, &self.all_tools)),
        };
        // What holds the chat holds what was set up in it.
        let is_held = !Arc::ptr_eq(&of_chat, &self.all_tools);
        let tools = if is_held { Arc::new(tools.within(&of_chat)) } else { tools };
        Ok(Part { agent: Some(agent), tools })
    }

    /// Without the agent that the chat has chosen, Figaro answers as it does elsewhere; `/config` says so. Where nobody
    /// can tell whether one was chosen that has fewer tools, there are none.
    fn part_of_chat(&self, config: Option<&ChatConfig>) -> Part<'_> {
        let Some(config) = config else {
            let may_be_held = self.prompts.choosable().next().is_some();
            let tools = if may_be_held { Arc::new(self.all_tools.only(&[])) } else { self.all_tools.clone() };
            return Part { agent: None, tools };
        };
        let chosen = self.prompts.chosen(config);
        let known = chosen.and_then(|agent| Some((agent, self.tools.get(&agent.name)?)));
        if let Some((agent, tools)) = known {
            return Part { agent: Some(agent), tools: tools.clone() };
        }
        if let Some(agent) = &config.agent {
            tracing::warn!(agent, "the agent that a chat has chosen is not there; the chat goes without");
        }
        Part { agent: None, tools: self.all_tools.clone() }
    }

    /// The model that is to answer: the one asked for this once, else the task's, the session's or the chat's, which are in
    /// `config`, that of the chat's agent, of the task's. `None` where the bot's own is to.
    pub(super) fn model(
        &self,
        turn: &ActiveTurn,
        question: &Question,
        config: &ChatConfig,
        agent: Option<&Agent>,
    ) -> Option<ModelName> {
        let of_task = question.task.as_ref().and_then(|task| task.model.as_ref());
        let of_agent = agent.and_then(|agent| agent.model.as_ref());
        let of_chat = self.prompts.chosen(config).and_then(|agent| agent.model.as_ref());
        let chosen = turn.model.as_ref().or(of_task).or(config.model.as_ref()).or(of_chat).or(of_agent);
        chosen.cloned()
    }
}
