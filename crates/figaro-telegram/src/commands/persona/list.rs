//! The personas that a chat can choose, and the card that lists them.

use std::sync::Arc;

use super::super::asker::Asker;
use super::super::card::{Card, ROWS, number, page_of, pager};
use super::super::cards::Cards;
use super::super::handles::Handles;
use super::super::model::ChatModels;
use crate::callback::{Page, Persona as Press, Short};
use crate::send::Button;
use figaro_domain::chat::{ChatConfig, PersonaChoice};
use figaro_domain::persona::{OwnPersona, Persona, is_same_name};
use figaro_prompts::Prompts;
use figaro_prompts::texts::{Texts, fill};
use figaro_store::{PersonaStore, SettingsStore, StoreError};

/// The personas of chats, and how people choose and write them. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Personas {
    pub(super) cards: Cards,
    pub(super) settings: SettingsStore,
    pub(super) store: PersonaStore,
    pub(super) prompts: Arc<Prompts>,
    pub(super) models: ChatModels,
}

/// A persona that a chat can choose.
#[derive(Debug)]
pub(super) enum Entry {
    /// One of a file.
    File(Arc<Persona>),
    /// One that the chat wrote.
    Own(Box<OwnPersona>),
}

impl Entry {
    /// What people see of it, in the language of this IETF tag.
    pub(super) fn title(&self, language: Option<&str>) -> &str {
        match self {
            Self::File(persona) => persona.title.of(language),
            Self::Own(persona) => &persona.name,
        }
    }

    /// All names by which people may call it.
    pub(super) fn names(&self) -> Vec<&str> {
        match self {
            Self::File(persona) => {
                let titles = persona.title.all().map(|(_, title)| title.as_str());
                std::iter::once(persona.name.as_str()).chain(titles).collect()
            }
            Self::Own(persona) => vec![&persona.name],
        }
    }

    /// Whether people may call it so.
    pub(super) fn is_called(&self, name: &str) -> bool {
        self.names().into_iter().any(|known| is_same_name(known, name))
    }

    /// Whether it is what was chosen.
    pub(super) fn is(&self, choice: &PersonaChoice) -> bool {
        match (self, choice) {
            (Self::File(persona), PersonaChoice::File(name)) => persona.name == *name,
            (Self::Own(persona), choice @ PersonaChoice::Own { .. }) => choice.is_own(persona.id),
            (Self::File(_), PersonaChoice::Own { .. }) | (Self::Own(_), PersonaChoice::File(_)) => false,
        }
    }

    /// What a chat keeps that chooses it.
    pub(super) fn choice(&self) -> PersonaChoice {
        match self {
            Self::File(persona) => PersonaChoice::File(persona.name.clone()),
            Self::Own(persona) => persona.choice(),
        }
    }

    /// The press that chooses it and shows this page of the list.
    pub(super) fn press(&self, page: Page) -> Press {
        match self {
            // The name of a file is never longer.
            Self::File(persona) => {
                Short::new(&persona.name).map_or(Press::List(page), |name| Press::File(name, page))
            }
            Self::Own(persona) => Press::Own(persona.id, page),
        }
    }
}

impl Personas {
    /// What these handles know of personas.
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

    /// The personas that a chat can choose: those of files by name, then its own, oldest first.
    pub(super) async fn entries(&self, asker: &Asker) -> Result<Vec<Entry>, StoreError> {
        let own = self.store.of_chat(asker.place.chat).await?;
        Ok(self
            .prompts
            .personas()
            .all()
            .cloned()
            .map(Entry::File)
            .chain(own.into_iter().map(Box::new).map(Entry::Own))
            .collect())
    }

    /// The persona that a chat has chosen as a card shows it, or that it is gone; `None` if it has chosen none.
    pub(in super::super) async fn chosen(
        &self,
        asker: &Asker,
        config: &ChatConfig,
    ) -> Result<Option<String>, StoreError> {
        let Some(choice) = &config.persona else { return Ok(None) };
        let entries = self.entries(asker).await?;
        let texts = self.cards.texts(asker);
        let shown = entries.iter().find(|entry| entry.is(choice));
        let shown = shown.map(|entry| entry.title(asker.language.as_deref()).to_owned());
        Ok(Some(shown.unwrap_or_else(|| fill(texts.persona_gone(), &[("persona", choice.name())]))))
    }

    /// A page of the list.
    pub(super) async fn list(&self, asker: &Asker, page: Page) -> Result<Card, StoreError> {
        let (texts, language) = (self.cards.texts(asker), asker.language.as_deref());
        let config = self.settings.chat_config(asker.place.chat).await?;
        let entries = self.entries(asker).await?;
        let page = page_of(page, entries.len());
        let shown = entries.get(page * ROWS..).unwrap_or_default();
        let shown = shown.get(..ROWS).unwrap_or(shown);
        let chosen = self.chosen(asker, &config).await?;
        let now = chosen.map(|chosen| fill(texts.persona_now(), &[("persona", &chosen)]));
        let agents = self.prompts.agents();
        // One without instructions leaves its place to the persona.
        let agent = agents.answering(&config).filter(|agent| !agents.instructions(agent).is_empty());
        let agent = agent.map(|agent| agent.name.as_str());
        let agent = agent.map(|agent| fill(texts.persona_agent(), &[("agent", agent)]));
        let lines = shown.iter().map(|entry| match entry {
            Entry::File(persona) => {
                format!("• {}: {}", persona.title.of(language), persona.description.of(language))
            }
            Entry::Own(persona) => format!("• {}: {}", persona.name, texts.persona_own()),
        });
        let parts = [now, agent, Some(lines.collect::<Vec<_>>().join("\n"))];
        let body: Vec<String> = parts.into_iter().flatten().collect();
        let rows = shown.iter().map(|entry| {
            let mark =
                if config.persona.as_ref().is_some_and(|choice| entry.is(choice)) { "✓ " } else { "" };
            let choose = Button::new(format!("{mark}{}", entry.title(language)), entry.press(number(page)));
            match entry {
                Entry::File(_) => vec![choose],
                Entry::Own(own) => {
                    vec![choose, Button::new(texts.button_edit(), Press::Open(own.id, number(page)))]
                }
            }
        });
        let mark = if config.persona.is_none() { "✓ " } else { "" };
        let clear = Button::new(format!("{mark}{}", texts.persona_none()), Press::Clear(number(page)));
        let new = Button::new(texts.persona_new(), Press::New);
        Ok(Card::titled(texts.persona_title(), body.join("\n\n"))
            .how(texts.persona_usage())
            .rows(rows)
            .row(pager(texts, page, entries.len(), Press::List))
            .row(vec![clear, new])
            .first())
    }
}

/// The button that shows the list.
pub(super) fn show(texts: &Texts) -> Button {
    Button::new(texts.persona_title(), Press::List(0))
}
