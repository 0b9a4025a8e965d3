//! The agents that a chat can choose, and the cards that list them.

use std::sync::Arc;

use super::super::asker::Asker;
use super::super::card::{Card, ROWS, number, page_of, pager};
use super::super::handles::Handles;
use super::super::model::ChatModels;
use crate::callback::{Agents as Press, Page, Short};
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

/// The agents of chats. Cheap to clone.
#[derive(Debug, Clone)]
pub(in super::super) struct ChatAgents {
    pub(super) models: ChatModels,
    pub(super) sessions: SessionStore,
}

/// What an agent is chosen for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    /// The whole chat.
    Chat,
    /// The conversation that goes on now.
    Conversation,
}

impl Scope {
    fn list(self, page: Page) -> Press {
        match self {
            Self::Chat => Press::List(page),
            Self::Conversation => Press::Here(page),
        }
    }

    fn set(self, agent: Short<40>, page: Page) -> Press {
        match self {
            Self::Chat => Press::Set(agent, page),
            Self::Conversation => Press::SetHere(agent, page),
        }
    }

    fn clear(self, page: Page) -> Press {
        match self {
            Self::Chat => Press::Clear(page),
            Self::Conversation => Press::ClearHere(page),
        }
    }
}

impl ChatAgents {
    pub(in super::super) fn new(handles: &Handles) -> Self {
        Self { models: ChatModels::new(handles), sessions: handles.store.sessions() }
    }

    /// The agents of this moment.
    pub(in super::super) fn now(&self) -> Arc<AgentSet> {
        self.models.prompts.agents()
    }

    /// The agent that someone named, if they may choose it; or what there is instead, or why not.
    pub(in super::super) fn named(&self, asker: &Asker, name: &str) -> Result<String, String> {
        let texts = self.models.cards.texts(asker);
        let agents = self.now();
        let Some(agent) = agents.choosable().find(|agent| agent.name.eq_ignore_ascii_case(name)) else {
            let names: Vec<&str> = agents.choosable().map(|agent| agent.name.as_str()).collect();
            let values = [("agent", name), ("agents", &names.join(", "))];
            return Err(fill(texts.config_agent_unknown(), &values));
        };
        // It brings a model that only an owner may choose.
        let named = self.models.ledger.models.named();
        let is_refused = |model| asker.standing != Standing::Owner && !named.contains(model);
        match agent.model.as_ref().is_some_and(is_refused) {
            true => Err(fill(texts.model_not_named(), &[("models", &list(&named))])),
            false => Ok(agent.name.clone()),
        }
    }

    /// The agent of this name for a task, if they may choose it; or what there is instead, or why not.
    pub(in super::super) fn for_task(&self, asker: &Asker, name: &str) -> Result<String, String> {
        if name == SCHEDULED_AGENT { Ok(name.to_owned()) } else { self.named(asker, name) }
    }

    /// The session that the next question of the conversation belongs to, if one has begun.
    pub(super) async fn session(&self, asker: &Asker) -> Result<Option<Session>, StoreError> {
        match self.sessions.current(asker.place.conversation()).await? {
            Some(session) => self.sessions.find(session).await,
            None => Ok(None),
        }
    }

    /// A page of the agents, to choose one of for the chat or for the conversation.
    pub(super) async fn card(&self, asker: &Asker, scope: Scope, page: Page) -> Result<Card, StoreError> {
        let texts = self.models.cards.texts(asker);
        let config = self.models.settings.chat_config(asker.place.chat).await?;
        let session = self.session(asker).await?;
        let agents = self.now();
        let all: Vec<_> = agents.choosable().collect();
        let page = page_of(page, all.len());
        let shown: Vec<_> = all.iter().skip(page * ROWS).take(ROWS).collect();
        let own = session.as_ref().and_then(|session| session.agent.as_deref());
        let chosen = if scope == Scope::Chat { config.agent.as_deref() } else { own };
        let mark = |is_it: bool| if is_it { "✓ " } else { "" };
        let rows = shown.iter().filter_map(|agent| {
            let label = format!("{}{}", mark(chosen == Some(agent.name.as_str())), agent.name);
            Some(vec![Button::new(label, scope.set(Short::new(&agent.name)?, number(page)))])
        });
        let clear = if scope == Scope::Chat { texts.agents_default() } else { texts.agents_as_chat() };
        let clear = Button::new(format!("{}{clear}", mark(chosen.is_none())), scope.clear(number(page)));
        let other = match scope {
            Scope::Chat => session.is_some().then(|| Button::new(texts.agents_here(), Press::Here(0))),
            Scope::Conversation => None,
        };
        let back = match scope {
            Scope::Chat => None,
            Scope::Conversation => Some(Button::new(texts.button_back(), Press::List(0))),
        };
        let mut lines = now_lines(texts, &agents, &config, own);
        lines.push(String::new());
        lines.extend(shown.iter().map(|agent| line(texts, &agents, agent)));
        let how = if scope == Scope::Chat { texts.agents_usage() } else { texts.agents_here_usage() };
        let card =
            Card { is_first: scope == Scope::Chat, ..Card::titled(texts.agents_title(), lines.join("\n")) };
        Ok(card
            .how(how)
            .row(vec![clear])
            .rows(rows)
            .row(pager(texts, page, all.len(), |page| scope.list(page)))
            .row(other.into_iter().chain(back).collect()))
    }
}

/// An agent and what it is for, as lists have it: one that is built in by the words of the language, one of a file by its own.
pub(in super::super) fn line(texts: &Texts, agents: &AgentSet, agent: &Agent) -> String {
    let ours = agents.is_built_in(&agent.name).then(|| texts.get(&format!("agent_{}", agent.name))).flatten();
    let about = ours.map_or_else(|| agent.summary(), ToOwned::to_owned);
    format!("• {}: {about}", agent.name)
}

/// Which agent answers in the chat and, if it has one of its own, in the conversation.
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
