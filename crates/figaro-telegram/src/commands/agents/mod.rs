//! `/agents`: shows and sets the agent that answers in a chat, or in its current conversation. The card has a button
//! for each agent. In groups only admins and owners can choose.

mod list;

use async_trait::async_trait;

use self::list::Scope;
pub(super) use self::list::{ChatAgents, line};
use super::asker::Asker;
use super::card::Card;
use super::command::{
    self, Command, CommandOutcome, CommandRequest, CommandSpec, Group, PressError, Pressed,
};
use super::handles::Handles;
use crate::callback::{AgentsButton, ButtonFamily, Page};
use figaro_domain::agent::DEFAULT_AGENT;
use figaro_domain::chat::ConfigPatch;
use figaro_domain::session::SessionChange;
use figaro_prompts::texts::Texts;
use figaro_store::StoreError;

/// Shows and changes the agent that answers.
#[derive(Debug)]
pub(super) struct AgentsCommand(ChatAgents);

#[async_trait]
impl Command for AgentsCommand {
    fn spec(&self) -> CommandSpec {
        CommandSpec::new("agents", Texts::command_agents)
            .group(Group::Settings)
            .changes_chat()
            .families(&[AgentsButton::NAME])
            .arguments(&[
                ("NAME", "have this agent answer in the chat"),
                ("default", "have Figaro itself answer again"),
            ])
    }

    async fn run(&self, request: &CommandRequest<'_>) -> Result<CommandOutcome, StoreError> {
        self.told(request.asker, request.argument().trim()).await.map(CommandOutcome::Card)
    }

    async fn press(&self, press: &command::Press<'_>) -> Result<Pressed, PressError> {
        let asker = press.asker;
        let (scope, agent, page) = match press.data.parse()? {
            AgentsButton::List(page) => {
                return Ok(Pressed::card(self.0.card(asker, Scope::Chat, page)?));
            }
            AgentsButton::Here(page) => {
                return Ok(Pressed::card(self.0.card(asker, Scope::Conversation, page)?));
            }
            AgentsButton::Set(agent, page) => (Scope::Chat, Some(agent), page),
            AgentsButton::Clear(page) => (Scope::Chat, None, page),
            AgentsButton::SetHere(agent, page) => (Scope::Conversation, Some(agent), page),
            AgentsButton::ClearHere(page) => (Scope::Conversation, None, page),
        };
        let agent = match agent.map(|agent| self.0.named(asker, agent.as_str())).transpose() {
            Ok(agent) => agent,
            Err(complaint) => return Ok(Pressed::toast(complaint)),
        };
        Ok(self.choose(asker, scope, agent, page).await?)
    }
}

impl AgentsCommand {
    pub(super) fn new(handles: &Handles) -> Self {
        Self(ChatAgents::new(handles))
    }

    async fn told(&self, asker: &Asker, name: &str) -> Result<Card, StoreError> {
        let cards = &self.0.models.cards;
        if name.is_empty() {
            return self.0.card(asker, Scope::Chat, 0);
        }
        if !cards.may_change(asker).await {
            return Ok(Card::text(cards.texts(asker).admin_only()));
        }
        let clears = name.eq_ignore_ascii_case(DEFAULT_AGENT) || cards.languages.locales.clears(name);
        let agent = match (!clears).then(|| self.0.named(asker, name)).transpose() {
            Ok(agent) => agent,
            Err(complaint) => return Ok(Card::text(complaint)),
        };
        self.set(asker, agent).await?;
        self.0.card(asker, Scope::Chat, 0)
    }

    /// Sets or removes the agent of a chat or conversation. The toast says if anything changed.
    async fn choose(
        &self,
        asker: &Asker,
        scope: Scope,
        agent: Option<String>,
        page: Page,
    ) -> Result<Pressed, StoreError> {
        let texts = self.0.models.cards.texts(asker);
        let is_new = match scope {
            Scope::Chat => self.set(asker, agent).await?,
            Scope::Conversation => {
                let Some(session) = self.0.session(asker)? else {
                    return Ok(Pressed::both(texts.gone(), self.0.card(asker, Scope::Chat, 0)?));
                };
                let is_new = session.agent != agent;
                let change = SessionChange { agent: Some(agent), ..SessionChange::default() };
                self.0.sessions.change(session.id, change).await?;
                is_new
            }
        };
        let toast = if is_new { texts.config_saved() } else { texts.nothing_changed() };
        Ok(Pressed::both(toast, self.0.card(asker, scope, page)?))
    }

    async fn set(&self, asker: &Asker, agent: Option<String>) -> Result<bool, StoreError> {
        let (settings, chat) = (&self.0.models.settings, asker.place.chat);
        let is_new = settings.chat_config(chat)?.agent != agent;
        settings
            .change_chat_config(chat, ConfigPatch { agent: Some(agent), ..ConfigPatch::default() })
            .await?;
        Ok(is_new)
    }
}
