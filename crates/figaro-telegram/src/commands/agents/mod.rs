//! `/agents`: which agent answers in a chat, or in the conversation that goes on in it. A card of the agents there are, each a
//! button that chooses it. In a group only admins and owners choose.

mod list;

use async_trait::async_trait;

use self::list::Scope;
pub(super) use self::list::{ChatAgents, line};
use super::asker::Asker;
use super::card::Card;
use super::command::{self, Command, Group, Outcome, PressError, Pressed, Request};
use super::handles::Handles;
use crate::callback::{Agents as Press, Family, Page};
use figaro_domain::agent::DEFAULT_AGENT;
use figaro_domain::chat::ConfigPatch;
use figaro_domain::session::SessionChange;
use figaro_prompts::texts::Texts;
use figaro_store::StoreError;

/// Shows and changes which agent answers.
#[derive(Debug)]
pub(super) struct Agents(ChatAgents);

#[async_trait]
impl Command for Agents {
    fn name(&self) -> &'static str {
        "agents"
    }

    fn about<'a>(&'a self, texts: &'a Texts) -> &'a str {
        texts.command_agents()
    }

    fn group(&self) -> Option<Group> {
        Some(Group::Settings)
    }

    fn changes_chat(&self) -> bool {
        true
    }

    async fn run(&self, request: &Request<'_>) -> Result<Outcome, StoreError> {
        self.told(request.asker, request.argument().trim()).await.map(Outcome::Card)
    }

    fn families(&self) -> &'static [&'static str] {
        &[Press::NAME]
    }

    async fn press(&self, press: &command::Press<'_>) -> Result<Pressed, PressError> {
        let asker = press.asker;
        let (scope, agent, page) = match press.data.parse()? {
            Press::List(page) => return Ok(Pressed::card(self.0.card(asker, Scope::Chat, page).await?)),
            Press::Here(page) => {
                return Ok(Pressed::card(self.0.card(asker, Scope::Conversation, page).await?));
            }
            Press::Set(agent, page) => (Scope::Chat, Some(agent), page),
            Press::Clear(page) => (Scope::Chat, None, page),
            Press::SetHere(agent, page) => (Scope::Conversation, Some(agent), page),
            Press::ClearHere(page) => (Scope::Conversation, None, page),
        };
        let agent = match agent.map(|agent| self.0.named(asker, agent.as_str())).transpose() {
            Ok(agent) => agent,
            Err(complaint) => return Ok(Pressed::toast(complaint)),
        };
        Ok(self.choose(asker, scope, agent, page).await?)
    }
}

impl Agents {
    pub(super) fn new(handles: &Handles) -> Self {
        Self(ChatAgents::new(handles))
    }

    async fn told(&self, asker: &Asker, name: &str) -> Result<Card, StoreError> {
        let cards = &self.0.models.cards;
        if name.is_empty() {
            return self.0.card(asker, Scope::Chat, 0).await;
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
        self.0.card(asker, Scope::Chat, 0).await
    }

    /// Has an agent answer, or takes the choice back; says whether anything changed.
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
                let Some(session) = self.0.session(asker).await? else {
                    return Ok(Pressed::both(texts.gone(), self.0.card(asker, Scope::Chat, 0).await?));
                };
                let is_new = session.agent != agent;
                let change = SessionChange { agent: Some(agent), ..SessionChange::default() };
                self.0.sessions.change(session.id, change).await?;
                is_new
            }
        };
        let toast = if is_new { texts.config_saved() } else { texts.nothing_changed() };
        Ok(Pressed::both(toast, self.0.card(asker, scope, page).await?))
    }

    async fn set(&self, asker: &Asker, agent: Option<String>) -> Result<bool, StoreError> {
        let (settings, chat) = (&self.0.models.settings, asker.place.chat);
        let is_new = settings.chat_config(chat).await?.agent != agent;
        settings
            .change_chat_config(chat, ConfigPatch { agent: Some(agent), ..ConfigPatch::default() })
            .await?;
        Ok(is_new)
    }
}
