//! Agents that a chat can choose, and the cards that list them.

use std::sync::Arc;

use super::super::asker::Asker;
use super::super::card::Card;
use super::super::handles::Handles;
use super::super::list_page::ListPage;
use super::super::model::ChatModels;
use crate::callback::{AgentsButton, Page, Short};
use crate::send::Button;
use figaro_domain::agent::{Agent, DEFAULT_AGENT};
use figaro_domain::chat::ChatConfig;
use figaro_domain::conversation::Session;
use figaro_domain::model::list;
use figaro_domain::task::SCHEDULED_AGENT;
use figaro_policy::access::Standing;
use figaro_prompts::AgentSet;
use figaro_prompts::texts::{Texts, fill};
use figaro_store::{SessionStore, StoreError};

/// Looks up and lists the agents of chats. Cheap to clone.
#[derive(Debug, Clone)]
pub(in super::super) struct ChatAgents {
    pub(super) models: ChatModels,
    pub(super) sessions: SessionStore,
}

/// Scope of the choice of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    Chat,
    /// The current conversation of the chat only.
    Conversation,
}

impl Scope {
    fn list(self, page: Page) -> AgentsButton {
        match self {
            Self::Chat => AgentsButton::List(page),
            Self::Conversation => AgentsButton::Here(page),
        }
    }

    fn set(self, agent: Short<40>, page: Page) -> AgentsButton {
        match self {
            Self::Chat => AgentsButton::Set(agent, page),
            Self::Conversation => AgentsButton::SetHere(agent, page),
        }
    }

    fn clear(self, page: Page) -> AgentsButton {
        match self {
            Self::Chat => AgentsButton::Clear(page),
            Self::Conversation => AgentsButton::ClearHere(page),
        }
    }
}

impl ChatAgents {
    pub(in super::super) fn new(handles: &Handles) -> Self {
        Self { models: ChatModels::new(handles), sessions: handles.store.sessions() }
    }

    pub(in super::super) fn now(&self) -> Arc<AgentSet> {
        self.models.prompts.agents()
    }

    /// Returns the name of the agent that the asker named. Errors with a message if there is no such agent or the
    /// asker may not choose it.
    pub(in super::super) fn named(&self, asker: &Asker, name: &str) -> Result<String, String> {
        let texts = self.models.cards.texts(asker);
        let agents = self.now();
        let Some(agent) = agents.choosable().find(|agent| agent.name.eq_ignore_ascii_case(name)) else {
            let names: Vec<&str> = agents.choosable().map(|agent| agent.name.as_str()).collect();
            let values = [("agent", name), ("agents", &names.join(", "))];
            return Err(fill(texts.config_agent_unknown(), &values));
        };
        // The agent's model may be one that only an owner may choose.
        let named = self.models.ledger.models.named();
        let is_refused = |model| asker.standing != Standing::Owner && !named.contains(model);
        match agent.model.as_ref().is_some_and(is_refused) {
            true => Err(fill(texts.model_not_named(), &[("models", &list(&named))])),
            false => Ok(agent.name.clone()),
        }
    }

    /// Like `named`, for the agent of a task.
    pub(in super::super) fn for_task(&self, asker: &Asker, name: &str) -> Result<String, String> {
        if name == SCHEDULED_AGENT { Ok(name.to_owned()) } else { self.named(asker, name) }
    }

    /// Returns the current session of the conversation; `None` if no session has begun.
    pub(super) fn session(&self, asker: &Asker) -> Result<Option<Session>, StoreError> {
        match self.sessions.current(asker.place.conversation())? {
            Some(session) => self.sessions.find(session),
            None => Ok(None),
        }
    }

    /// Returns a page of the agents to choose from.
    pub(super) fn card(&self, asker: &Asker, scope: Scope, page: Page) -> Result<Card, StoreError> {
        let texts = self.models.cards.texts(asker);
        let config = self.models.settings.chat_config(asker.place.chat)?;
        let session = self.session(asker)?;
        let agents = self.now();
        let page = ListPage::of(agents.choosable().collect(), page);
        let own = session.as_ref().and_then(|session| session.agent.as_deref());
        let chosen = if scope == Scope::Chat { config.agent.as_deref() } else { own };
        let mark = |is_it: bool| if is_it { "✓ " } else { "" };
        let choose = |agent: &Agent| {
            let label = format!("{}{}", mark(chosen == Some(agent.name.as_str())), agent.name);
            let name = Short::new(&agent.name);
            name.map(|name| Button::new(label, scope.set(name, page.number()))).into_iter().collect()
        };
        let clear = if scope == Scope::Chat { texts.agents_default() } else { texts.agents_as_chat() };
        let clear = Button::new(format!("{}{clear}", mark(chosen.is_none())), scope.clear(page.number()));
        let other = match scope {
            Scope::Chat => session.is_some().then(|| Button::new(texts.agents_here(), AgentsButton::Here(0))),
            Scope::Conversation => None,
        };
        let back = match scope {
            Scope::Chat => None,
            Scope::Conversation => Some(Button::new(texts.button_back(), AgentsButton::List(0))),
        };
        let mut lines = now_lines(texts, &agents, &config, own);
        lines.push(String::new());
        lines.extend(page.items.iter().map(|agent| line(texts, &agents, agent)));
        let how = if scope == Scope::Chat { texts.agents_usage() } else { texts.agents_here_usage() };
        let card =
            Card { is_first: scope == Scope::Chat, ..Card::titled(texts.agents_title(), lines.join("\n")) };
        Ok(card
            .how(how)
            .row(vec![clear])
            .list(texts, &page, |agent| choose(agent), |page| scope.list(page))
            .row(other.into_iter().chain(back).collect()))
    }
}

/// Returns an agent's line for lists: its name and description. The description of a built-in agent is translated.
pub(in super::super) fn line(texts: &Texts, agents: &AgentSet, agent: &Agent) -> String {
    let ours = agents.is_built_in(&agent.name).then(|| texts.get(&format!("agent_{}", agent.name))).flatten();
    let about = ours.map_or_else(|| agent.summary(), ToOwned::to_owned);
    format!("• {}: {about}", agent.name)
}

/// Returns the lines that tell the agent of the chat and, if it has its own, of the conversation.
fn now_lines(texts: &Texts, agents: &AgentSet, config: &ChatConfig, own: Option<&str>) -> Vec<String> {
    let known = |name: &str| agents.choosable().any(|agent| agent.name == name);
    let shown = |name: &str| match known(name) {
        true => name.to_owned(),
        false => fill(texts.config_agent_gone(), &[("agent", name)]),
    };
    let of_chat = match config.agent.as_deref() {
        Some(name) => shown(name),
        None => agents.own_default().map_or(texts.agents_default().to_owned(), |_| DEFAULT_AGENT.to_owned()),
    };
    let own = own.map(|name| fill(texts.agents_now_here(), &[("agent", &shown(name))]));
    std::iter::once(fill(texts.agents_now(), &[("agent", &of_chat)])).chain(own).collect()
}
