//! Personas that people of a chat write: in a reply to the bot's question or in the command's argument; shown,
//! changed and deleted with buttons.

use chrono::TimeDelta;

use super::super::asker::Asker;
use super::super::card::Card;
use super::super::command::Pressed;
use super::super::model::bad_setting;
use super::list::{PersonaOption, Personas, show};
use crate::callback::{Page, PersonaButton};
use crate::send::Button;
use figaro_base::ids::{MessageId, PersonaId};
use figaro_domain::chat::MAX_SETTING_CHARS;
use figaro_domain::generation::Generation;
use figaro_domain::message::Inbound;
use figaro_domain::persona::{
    BadDraft, MAX_OWN_PERSONAS, MAX_PERSONA_LANGUAGE, MAX_PERSONA_NAME, OwnPersona, PersonaQuestion,
};
use figaro_policy::access::Standing;
use figaro_prompts::texts::{Texts, fill};
use figaro_store::{PersonaSaved, PersonaToSave, StoreError};

/// Time within which a reply to the question for a persona's text is accepted.
const OPEN: TimeDelta = TimeDelta::days(7);

/// Purpose of a text for a persona.
#[derive(Debug, Clone, Copy)]
struct PersonaTextPurpose {
    /// Persona to change; `None` for a new one.
    changes: Option<PersonaId>,
    /// Message that asked for the text; `None` if it came with the command.
    question: Option<MessageId>,
}

impl Personas {
    /// Handles a reply to the question for a persona's text and returns the card to show. Returns `None` for any
    /// other message.
    ///
    /// # Errors
    /// If the store fails.
    pub(crate) async fn answered(
        &self,
        part: &Inbound,
        standing: Standing,
    ) -> Result<Option<Card>, StoreError> {
        let replied = part.quotes.as_ref().and_then(|quoted| quoted.message).filter(|_| part.reply_to_bot);
        let Some(message) = replied.filter(|_| part.forwarded_from.is_none()) else { return Ok(None) };
        let asked = match self.store.question(part.place.chat, message) {
            // The stored question will not be readable later either.
            Err(error @ StoreError::Record { .. }) => {
                tracing::error!(%error, chat = %part.place.chat, "what a message asks about a persona cannot be read");
                None
            }
            asked => asked?,
        };
        let Some(question) = asked.filter(|asked| part.sent_at - asked.asked_at < OPEN) else {
            return Ok(None);
        };
        let asker = Asker::new(part, standing);
        if !self.cards.may_change(&asker).await {
            return Ok(Some(Card::text(self.cards.texts(&asker).admin_only())));
        }
        let wanted = PersonaTextPurpose { changes: question.about, question: Some(message) };
        self.write(&asker, &part.text, wanted).await.map(Some)
    }

    /// Stores the text of the command's argument as a new persona.
    pub(super) async fn write_new(&self, asker: &Asker, words: &str) -> Result<Card, StoreError> {
        self.write(asker, words, PersonaTextPurpose { changes: None, question: None }).await
    }

    async fn write(
        &self,
        asker: &Asker,
        words: &str,
        wanted: PersonaTextPurpose,
    ) -> Result<Card, StoreError> {
        let texts = self.cards.texts(asker);
        let before = match wanted.changes {
            Some(id) => self.store.find(asker.place.chat, id)?,
            None => Some(self.blank(asker)),
        };
        let Some(before) = before else { return Ok(Card::text(texts.gone())) };
        let persona = match before.written(words, texts.config_language()) {
            Ok(persona) => persona,
            Err(bad) => return Ok(complaint(texts, &bad)),
        };
        let name = persona.name.clone();
        let taken = || Card::text(fill(texts.persona_name_taken(), &[("name", &name)]));
        if self.is_of_file(&name) {
            return Ok(taken());
        }
        let save = PersonaToSave { persona, question: wanted.question, changes: wanted.changes.is_some() };
        Ok(match self.store.save(save).await? {
            PersonaSaved::New(own) => self.saved(asker, texts.persona_saved(), &own)?,
            PersonaSaved::Changed(own) => self.saved(asker, texts.persona_changed(), &own)?,
            PersonaSaved::NameTaken => taken(),
            PersonaSaved::Full => Card::text(full(texts)).row(vec![show(texts)]),
            PersonaSaved::Gone => Card::text(texts.gone()),
        })
    }

    /// Returns an empty persona to fill.
    fn blank(&self, asker: &Asker) -> OwnPersona {
        OwnPersona {
            id: PersonaId::default(),
            chat: asker.place.chat,
            name: String::new(),
            prompt: String::new(),
            language: None,
            settings: Generation::default(),
            author: asker.speaker.user.clone(),
            created_at: self.cards.now(),
        }
    }

    /// Returns the card that confirms a stored persona, with its settings.
    fn saved(&self, asker: &Asker, words: &str, own: &OwnPersona) -> Result<Card, StoreError> {
        let texts = self.cards.texts(asker);
        let lines = self.settings_of(asker, own)?;
        let said: Vec<String> =
            std::iter::once(fill(words, &[("persona", &own.name)])).chain(lines).collect();
        Ok(Card::text(said.join("\n")).row(vec![show(texts)]))
    }

    /// Returns the lines of a persona's settings, and of those that the chat's model ignores.
    fn settings_of(&self, asker: &Asker, own: &OwnPersona) -> Result<Vec<String>, StoreError> {
        let texts = self.cards.texts(asker);
        let model = self.models.of(&self.settings.chat_config(asker.place.chat)?);
        let language = own.language.iter().map(|language| format!("{}: {language}", texts.config_language()));
        Ok(language.chain(self.models.writing_lines(texts, &model, &own.settings)).collect())
    }

    fn is_of_file(&self, name: &str) -> bool {
        self.prompts.personas().all().any(|persona| PersonaOption::File(persona.clone()).is_called(name))
    }

    /// Asks for the text of a new persona.
    pub(super) async fn ask_new(&self, asker: &Asker) -> Result<Pressed, StoreError> {
        let texts = self.cards.texts(asker);
        if self.store.of_chat(asker.place.chat)?.len() >= MAX_OWN_PERSONAS {
            return Ok(Pressed::toast(full(texts)));
        }
        self.ask(asker, texts.persona_ask_new(), None).await
    }

    /// Asks for a new text of a persona, or only for its settings if `is_writing` is `true`.
    pub(super) async fn ask_edit(
        &self,
        asker: &Asker,
        id: PersonaId,
        is_writing: bool,
    ) -> Result<Pressed, StoreError> {
        let texts = self.cards.texts(asker);
        let Some(own) = self.store.find(asker.place.chat, id)? else {
            return self.gone(asker, 0);
        };
        let words = if is_writing { texts.persona_ask_writing() } else { texts.persona_ask_edit() };
        self.ask(asker, &fill(words, &[("persona", &own.name)]), Some(id)).await
    }

    async fn ask(&self, asker: &Asker, words: &str, about: Option<PersonaId>) -> Result<Pressed, StoreError> {
        let (texts, now) = (self.cards.texts(asker), self.cards.now());
        if let Some(message) = self.cards.ask(asker, words, texts.persona_ask_hint()).await {
            let question = PersonaQuestion { about, asked_at: now };
            self.store.ask(asker.place.chat, message, &question, now - OPEN).await?;
        }
        Ok(Pressed::Shown { toast: None, card: None })
    }

    /// Shows one of the chat's own personas with its actions.
    pub(super) fn open(&self, asker: &Asker, id: PersonaId, page: Page) -> Result<Pressed, StoreError> {
        let texts = self.cards.texts(asker);
        let Some(own) = self.store.find(asker.place.chat, id)? else {
            return self.gone(asker, page);
        };
        let change = vec![
            Button::new(texts.button_edit(), PersonaButton::Edit(id)),
            Button::new(texts.model_writing(), PersonaButton::Writing(id)),
            Button::new(texts.button_delete(), PersonaButton::Drop(id, page)),
        ];
        let back = Button::new(texts.button_back(), PersonaButton::List(page));
        let settings = self.settings_of(asker, &own)?.join("\n");
        let body = format!("{}\n\n{settings}", own.prompt);
        Ok(Pressed::card(Card::titled(&own.name, body.trim_end()).row(change).row(vec![back])))
    }

    /// Asks for confirmation before a persona is deleted.
    pub(super) fn ask_delete(&self, asker: &Asker, id: PersonaId, page: Page) -> Result<Pressed, StoreError> {
        let texts = self.cards.texts(asker);
        let Some(own) = self.store.find(asker.place.chat, id)? else {
            return self.gone(asker, page);
        };
        let words = fill(texts.persona_delete_ask(), &[("persona", &own.name)]);
        Ok(Pressed::card(Card::text(words).row(vec![
            Button::new(texts.button_delete(), PersonaButton::Delete(id, page)),
            Button::new(texts.button_back(), PersonaButton::Open(id, page)),
        ])))
    }

    /// Deletes a persona and shows the list.
    pub(super) async fn delete(
        &self,
        asker: &Asker,
        id: PersonaId,
        page: Page,
    ) -> Result<Pressed, StoreError> {
        let texts = self.cards.texts(asker);
        let Some(own) = self.store.remove(asker.place.chat, id).await? else {
            return self.gone(asker, page);
        };
        let words = fill(texts.persona_deleted(), &[("persona", &own.name)]);
        Ok(Pressed::both(words, self.list(asker, page)?))
    }

    fn gone(&self, asker: &Asker, page: Page) -> Result<Pressed, StoreError> {
        Ok(Pressed::both(self.cards.texts(asker).gone(), self.list(asker, page)?))
    }
}

fn full(texts: &Texts) -> String {
    fill(texts.persona_full(), &[("limit", &MAX_OWN_PERSONAS.to_string())])
}

/// Returns the error message for a text that is not a valid persona.
fn complaint(texts: &Texts, bad: &BadDraft) -> Card {
    let limited = |text: &str, limit: usize| Card::text(fill(text, &[("limit", &limit.to_string())]));
    match bad {
        BadDraft::Incomplete => {
            let ask = Button::new(texts.persona_new(), PersonaButton::New);
            Card::text(texts.persona_incomplete()).row(vec![ask])
        }
        BadDraft::LongName => limited(texts.persona_name_long(), MAX_PERSONA_NAME),
        BadDraft::LongPrompt => limited(texts.config_too_long(), MAX_SETTING_CHARS),
        BadDraft::LongLanguage => limited(texts.config_too_long(), MAX_PERSONA_LANGUAGE),
        BadDraft::Setting(wrong) => Card::text(bad_setting(texts, wrong)),
        BadDraft::Reserved(name) => Card::text(fill(texts.persona_name_taken(), &[("name", name)])),
    }
}
