//! `/sessions`: lists the sessions of a chat or topic, newest first. A row opens the card of a session, to switch to
//! it, rename it, save it as a file, delete it, or choose its model. In a group everybody may switch sessions; only
//! admins and owners do the rest.

pub(super) mod card;
pub(super) mod export;
mod rename;

use async_trait::async_trait;
use figaro_base::tz::Tz;

use self::card::{SessionOverview, SessionView};
pub use self::rename::Renames;
use super::asker::Asker;
use super::card::Card;
use super::cards::Cards;
use super::command::{
    Command, CommandOutcome, CommandRequest, CommandSpec, Group, Press, PressError, Pressed,
};
use super::handles::Handles;
use super::list_page::ListPage;
use super::model::ChatModels;
use crate::callback::{ButtonFamily, Page, SessionsButton};
use figaro_agent::eraser::Eraser;
use figaro_agent::turn::parked::Parked;
use figaro_base::ids::SessionId;
use figaro_domain::conversation::Session;
use figaro_domain::erasure::{Erasure, Forgotten};
use figaro_domain::model::ModelName;
use figaro_domain::session::SessionChange;
use figaro_prompts::texts::{Texts, fill};
use figaro_store::{ConversationStore, SessionStore, SettingsStore, StoreError, SummaryStore};

/// Shows and changes the sessions of a conversation.
#[derive(Debug)]
pub(super) struct SessionsCommand {
    cards: Cards,
    sessions: SessionStore,
    conversations: ConversationStore,
    summaries: SummaryStore,
    settings: SettingsStore,
    models: ChatModels,
    parked: Parked,
    eraser: Eraser,
    default_zone: Tz,
}

#[async_trait]
impl Command for SessionsCommand {
    fn spec(&self) -> CommandSpec {
        CommandSpec::new("sessions", Texts::command_sessions)
            .group(Group::Chat)
            .families(&[SessionsButton::NAME])
    }

    async fn run(&self, request: &CommandRequest<'_>) -> Result<CommandOutcome, StoreError> {
        self.list(request.asker, 0).map(CommandOutcome::Card)
    }

    async fn press(&self, press: &Press<'_>) -> Result<Pressed, PressError> {
        let asker = press.asker;
        let button: SessionsButton = press.data.parse()?;
        let is_open =
            matches!(button, SessionsButton::List(_) | SessionsButton::Open(_) | SessionsButton::Switch(_));
        if !is_open && !self.cards.may_change(asker).await {
            return Ok(Pressed::toast(self.cards.texts(asker).admin_only()));
        }
        let id = match &button {
            SessionsButton::List(page) => return Ok(Pressed::card(self.list(asker, *page)?)),
            SessionsButton::Open(id)
            | SessionsButton::Switch(id)
            | SessionsButton::Rename(id)
            | SessionsButton::Export(id)
            | SessionsButton::Ask(id)
            | SessionsButton::Delete(id)
            | SessionsButton::Models(id)
            | SessionsButton::Set(id, _)
            | SessionsButton::Clear(id) => *id,
        };
        let Some(session) = self.of_conversation(asker, id)? else {
            return Ok(Pressed::both(self.cards.texts(asker).gone(), self.list(asker, 0)?));
        };
        Ok(self.pressed(asker, button, session).await?)
    }
}

impl SessionsCommand {
    pub(super) fn new(handles: &Handles) -> Self {
        Self {
            cards: handles.cards.clone(),
            sessions: handles.store.sessions(),
            conversations: handles.store.conversations(),
            summaries: handles.store.summaries(),
            settings: handles.store.settings(),
            models: ChatModels::new(handles),
            parked: handles.parked.clone(),
            eraser: handles.eraser.clone(),
            default_zone: handles.default_zone,
        }
    }

    async fn pressed(
        &self,
        asker: &Asker,
        button: SessionsButton,
        session: Session,
    ) -> Result<Pressed, StoreError> {
        Ok(match button {
            SessionsButton::List(page) => Pressed::card(self.list(asker, page)?),
            SessionsButton::Open(_) => Pressed::card(self.card(asker, session).await?),
            SessionsButton::Switch(_) => self.switch(asker, session).await?,
            SessionsButton::Rename(_) => rename::ask(&self.cards, asker, &self.view(asker)?, &session).await,
            SessionsButton::Export(_) => self.export(asker, session).await?,
            SessionsButton::Ask(_) => Pressed::card(self.ask(asker, session)?),
            SessionsButton::Delete(_) => self.delete(asker, session).await?,
            SessionsButton::Models(_) => Pressed::card(self.models.session_card(asker, &session).await?),
            SessionsButton::Set(_, model) => match self.models.chosen(asker, model.as_str()).await {
                Ok(model) => self.set_model(asker, session.id, Some(model)).await?,
                Err(complaint) => Pressed::toast(complaint),
            },
            SessionsButton::Clear(_) => self.set_model(asker, session.id, None).await?,
        })
    }

    /// Returns a session if it belongs to the asker's conversation; buttons can be forged.
    fn of_conversation(&self, asker: &Asker, id: SessionId) -> Result<Option<Session>, StoreError> {
        let found = self.sessions.find(id)?;
        Ok(found.filter(|session| session.conversation == asker.place.conversation()))
    }

    fn view<'a>(&'a self, asker: &'a Asker) -> Result<SessionView<'a>, StoreError> {
        let conversation = asker.place.conversation();
        let config = self.settings.chat_config(conversation.chat)?;
        let current = self.sessions.current(conversation)?;
        let zone = config.timezone.unwrap_or(self.default_zone);
        Ok(SessionView { texts: self.cards.texts(asker), zone, now: self.cards.now(), current })
    }

    fn list(&self, asker: &Asker, page: Page) -> Result<Card, StoreError> {
        let view = self.view(asker)?;
        let all = self.sessions.of_conversation(asker.place.conversation())?;
        let page = ListPage::of(all, page);
        let mut shown = Vec::new();
        for session in &page.items {
            shown.push((session.clone(), self.sessions.outline(session.id)?));
        }
        Ok(view.list(&page.with(shown)))
    }

    async fn card(&self, asker: &Asker, session: Session) -> Result<Card, StoreError> {
        let view = self.view(asker)?;
        let outline = self.sessions.outline(session.id)?;
        let stats = self.sessions.stats(asker.place.chat, session.id)?;
        let config = self.settings.chat_config(asker.place.chat)?;
        let model = session.model.clone().unwrap_or_else(|| self.models.of(&config));
        let may_change = self.cards.may_change(asker).await;
        Ok(view.card(&session, &SessionOverview { outline, stats }, &model, may_change))
    }

    async fn switch(&self, asker: &Asker, session: Session) -> Result<Pressed, StoreError> {
        let texts = self.cards.texts(asker);
        if !self.sessions.switch(asker.place.conversation(), session.id).await? {
            return Ok(Pressed::both(texts.gone(), self.list(asker, 0)?));
        }
        // The switch gave up turns that waited in the previous session.
        self.parked.reload(Some(&asker.speaker.name)).await?;
        let name = self.name(asker, &session)?;
        let toast = fill(texts.session_switched(), &[("name", &name)]);
        Ok(Pressed::both(toast, self.card(asker, session).await?))
    }

    fn name(&self, asker: &Asker, session: &Session) -> Result<String, StoreError> {
        let outline = self.sessions.outline(session.id)?;
        Ok(self.view(asker)?.name(session, &outline))
    }

    fn ask(&self, asker: &Asker, session: Session) -> Result<Card, StoreError> {
        let (view, outline) = (self.view(asker)?, self.sessions.outline(session.id)?);
        Ok(view.ask_to_delete(&session, &outline))
    }

    async fn delete(&self, asker: &Asker, session: Session) -> Result<Pressed, StoreError> {
        let texts = self.cards.texts(asker);
        let outline = self.sessions.outline(session.id)?;
        let name = self.view(asker)?.name(&session, &outline);
        let what = Erasure::Session(asker.place.conversation(), session.id);
        let toast = match self.eraser.erase(&what, Some(&asker.speaker.name)).await? {
            Forgotten::Busy => return Ok(Pressed::toast(texts.session_busy())),
            Forgotten::Done(erased) if erased.is_nothing() => texts.gone().to_owned(),
            Forgotten::Done(_) => {
                let count = outline.messages.to_string();
                fill(texts.session_deleted(), &[("name", &name), ("count", &count)])
            }
        };
        Ok(Pressed::both(toast, self.list(asker, 0)?))
    }

    async fn export(&self, asker: &Asker, session: Session) -> Result<Pressed, StoreError> {
        let texts = self.cards.texts(asker);
        let messages = self.conversations.recent(session.id, usize::MAX)?;
        let (view, outline) = (self.view(asker)?, self.sessions.outline(session.id)?);
        let summaries = self.summaries.of_session(session.id)?;
        let name = view.name(&session, &outline);
        let Some(file) = export::file(&view, &name, &messages, &summaries) else {
            return Ok(Pressed::toast(texts.session_export_empty()));
        };
        let is_sent = self.cards.send_file(asker, file).await;
        Ok(Pressed::toast(if is_sent { texts.session_exported() } else { texts.session_not_exported() }))
    }

    async fn set_model(
        &self,
        asker: &Asker,
        session: SessionId,
        model: Option<ModelName>,
    ) -> Result<Pressed, StoreError> {
        let texts = self.cards.texts(asker);
        let change = SessionChange { model: Some(model), ..SessionChange::default() };
        match self.sessions.change(session, change).await? {
            Some(session) => Ok(Pressed::both(texts.config_saved(), self.card(asker, session).await?)),
            None => Ok(Pressed::both(texts.gone(), self.list(asker, 0)?)),
        }
    }
}
