//! Personas that a chat can choose, and the card that lists them.

use std::sync::Arc;

use super::super::asker::Asker;
use super::super::card::Card;
use super::super::cards::Cards;
use super::super::handles::Handles;
use super::super::list_page::ListPage;
use super::super::model::ChatModels;
use crate::callback::{Page, PersonaButton, Short};
use crate::send::Button;
use figaro_domain::chat::{ChatConfig, PersonaChoice};
use figaro_domain::persona::{OwnPersona, Persona, is_same_name};
use figaro_prompts::Prompts;
use figaro_prompts::texts::{Texts, fill};
use figaro_store::{PersonaStore, SettingsStore, StoreError};

/// Lists, chooses and writes the personas of chats. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Personas {
    pub(super) cards: Cards,
    pub(super) settings: SettingsStore,
    pub(super) store: PersonaStore,
    pub(super) prompts: Arc<Prompts>,
    pub(super) models: ChatModels,
}

/// Persona that a chat can choose.
#[derive(Debug)]
pub(super) enum PersonaOption {
    /// A persona that comes from a file.
    File(Arc<Persona>),
    /// A persona that people of the chat wrote.
    Own(Box<OwnPersona>),
}

impl PersonaOption {
    /// Returns the title in the language of this IETF tag.
    pub(super) fn title(&self, language: Option<&str>) -> &str {
        match self {
            Self::File(persona) => persona.title.of(language),
            Self::Own(persona) => &persona.name,
        }
    }

    /// Returns all names that people can type for the persona.
    pub(super) fn names(&self) -> Vec<&str> {
        match self {
            Self::File(persona) => {
                let titles = persona.title.all().map(|(_, title)| title.as_str());
                std::iter::once(persona.name.as_str()).chain(titles).collect()
            }
            Self::Own(persona) => vec![&persona.name],
        }
    }

    /// Returns `true` if `name` is one of the persona's names.
    pub(super) fn is_called(&self, name: &str) -> bool {
        self.names().into_iter().any(|known| is_same_name(known, name))
    }

    /// Returns `true` if `choice` is this persona.
    pub(super) fn is(&self, choice: &PersonaChoice) -> bool {
        match (self, choice) {
            (Self::File(persona), PersonaChoice::File(name)) => persona.name == *name,
            (Self::Own(persona), choice @ PersonaChoice::Own { .. }) => choice.is_own(persona.id),
            (Self::File(_), PersonaChoice::Own { .. }) | (Self::Own(_), PersonaChoice::File(_)) => false,
        }
    }

    /// Returns the choice to store in a chat's settings.
    pub(super) fn choice(&self) -> PersonaChoice {
        match self {
            Self::File(persona) => PersonaChoice::File(persona.name.clone()),
            Self::Own(persona) => persona.choice(),
        }
    }

    /// Returns the press that chooses the persona and shows this page of the list.
    pub(super) fn press(&self, page: Page) -> PersonaButton {
        match self {
            // Names of files always fit.
            Self::File(persona) => Short::new(&persona.name)
                .map_or(PersonaButton::List(page), |name| PersonaButton::File(name, page)),
            Self::Own(persona) => PersonaButton::Own(persona.id, page),
        }
    }
}

impl Personas {
    /// Creates it with the dependencies in `handles`.
    #[must_use]
    pub fn new(handles: &Handles) -> Self {
        Self {
            cards: handles.cards.clone(),
            settings: handles.store.settings(),
            store: handles.store.personas(),
            prompts: handles.prompts.clone(),
            models: ChatModels::new(handles),
        }
    }

    /// Returns the personas that a chat can choose: those from files by name, then its own, oldest first.
    pub(super) fn entries(&self, asker: &Asker) -> Result<Vec<PersonaOption>, StoreError> {
        let own = self.store.of_chat(asker.place.chat)?;
        Ok(self
            .prompts
            .personas()
            .all()
            .cloned()
            .map(PersonaOption::File)
            .chain(own.into_iter().map(Box::new).map(PersonaOption::Own))
            .collect())
    }

    /// Returns the title of the chosen persona, or a note that it no longer exists; `None` if none is chosen.
    pub(in super::super) fn chosen(
        &self,
        asker: &Asker,
        config: &ChatConfig,
    ) -> Result<Option<String>, StoreError> {
        let Some(choice) = &config.persona else { return Ok(None) };
        let entries = self.entries(asker)?;
        let texts = self.cards.texts(asker);
        let shown = entries.iter().find(|entry| entry.is(choice));
        let shown = shown.map(|entry| entry.title(asker.language.as_deref()).to_owned());
        Ok(Some(shown.unwrap_or_else(|| fill(texts.persona_gone(), &[("persona", choice.name())]))))
    }

    /// Returns a page of the list.
    pub(super) fn list(&self, asker: &Asker, page: Page) -> Result<Card, StoreError> {
        let (texts, language) = (self.cards.texts(asker), asker.language.as_deref());
        let config = self.settings.chat_config(asker.place.chat)?;
        let page = ListPage::of(self.entries(asker)?, page);
        let chosen = self.chosen(asker, &config)?;
        let now = chosen.map(|chosen| fill(texts.persona_now(), &[("persona", &chosen)]));
        let agents = self.prompts.agents();
        // An agent without instructions leaves the style to the persona.
        let agent = agents.answering(&config).filter(|agent| !agents.instructions(agent).is_empty());
        let agent = agent.map(|agent| agent.name.as_str());
        let agent = agent.map(|agent| fill(texts.persona_agent(), &[("agent", agent)]));
        let lines = page.items.iter().map(|entry| match entry {
            PersonaOption::File(persona) => {
                format!("• {}: {}", persona.title.of(language), persona.description.of(language))
            }
            PersonaOption::Own(persona) => format!("• {}: {}", persona.name, texts.persona_own()),
        });
        let parts = [now, agent, Some(lines.collect::<Vec<_>>().join("\n"))];
        let body: Vec<String> = parts.into_iter().flatten().collect();
        let row = |entry: &PersonaOption| {
            let mark =
                if config.persona.as_ref().is_some_and(|choice| entry.is(choice)) { "✓ " } else { "" };
            let choose = Button::new(format!("{mark}{}", entry.title(language)), entry.press(page.number()));
            match entry {
                PersonaOption::File(_) => vec![choose],
                PersonaOption::Own(own) => {
                    vec![choose, Button::new(texts.button_edit(), PersonaButton::Open(own.id, page.number()))]
                }
            }
        };
        let mark = if config.persona.is_none() { "✓ " } else { "" };
        let clear =
            Button::new(format!("{mark}{}", texts.persona_none()), PersonaButton::Clear(page.number()));
        let new = Button::new(texts.persona_new(), PersonaButton::New);
        Ok(Card::titled(texts.persona_title(), body.join("\n\n"))
            .how(texts.persona_usage())
            .list(texts, &page, row, PersonaButton::List)
            .row(vec![clear, new])
            .first())
    }
}

/// Returns the button that shows the list.
pub(super) fn show(texts: &Texts) -> Button {
    Button::new(texts.persona_title(), PersonaButton::List(0))
}
