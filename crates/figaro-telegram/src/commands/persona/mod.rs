//! `/persona`: how the bot speaks in a chat. A card of the personas of files and of those that the chat wrote; each is a
//! button that chooses it. In a group only admins and owners choose and write them.

mod list;
mod own;

use async_trait::async_trait;

pub use self::list::Personas;
use self::list::{Entry, show};
use super::asker::Asker;
use super::card::Card;
use super::command::{self, Command, Group, Outcome, PressError, Pressed, Request};
use super::handles::Handles;
use crate::callback::{Family, Page, Persona as Press};
use crate::send::Button;
use figaro_base::text::nearest;
use figaro_domain::chat::{ConfigPatch, PersonaChoice};
use figaro_domain::persona::{NEW_PERSONA, NO_PERSONA, is_same_name};
use figaro_prompts::texts::{Texts, fill};
use figaro_store::StoreError;

/// Shows and changes how the bot speaks.
#[derive(Debug)]
pub(super) struct Persona(Personas);

impl Persona {
    pub(super) fn new(handles: &Handles) -> Self {
        Self(Personas::new(handles))
    }
}

#[async_trait]
impl Command for Persona {
    fn name(&self) -> &'static str {
        Personas::COMMAND
    }

    fn about<'a>(&'a self, texts: &'a Texts) -> &'a str {
        texts.command_persona()
    }

    fn group(&self) -> Option<Group> {
        Some(Group::Settings)
    }

    fn changes_chat(&self) -> bool {
        true
    }

    async fn run(&self, request: &Request<'_>) -> Result<Outcome, StoreError> {
        self.0.told(request.asker, request.argument()).await.map(Outcome::Card)
    }

    fn families(&self) -> &'static [&'static str] {
        &[Press::NAME]
    }

    async fn press(&self, press: &command::Press<'_>) -> Result<Pressed, PressError> {
        let (personas, asker) = (&self.0, press.asker);
        Ok(match press.data.parse()? {
            Press::List(page) => Pressed::card(personas.list(asker, page).await?),
            Press::File(name, page) => {
                personas.press_choice(asker, &PersonaChoice::File(name.to_string()), page).await?
            }
            Press::Own(id, page) => {
                let choice = PersonaChoice::Own { id, name: String::new() };
                personas.press_choice(asker, &choice, page).await?
            }
            Press::Clear(page) => personas.press_clear(asker, page).await?,
            Press::New => personas.ask_new(asker).await?,
            Press::Open(id, page) => personas.open(asker, id, page).await?,
            Press::Edit(id) => personas.ask_edit(asker, id, false).await?,
            Press::Writing(id) => personas.ask_edit(asker, id, true).await?,
            Press::Drop(id, page) => personas.ask_delete(asker, id, page).await?,
            Press::Delete(id, page) => personas.delete(asker, id, page).await?,
        })
    }
}

impl Personas {
    /// The command that says how the bot speaks; among the settings it has the same name.
    pub(super) const COMMAND: &'static str = "persona";

    /// Does what stands behind the command.
    pub(super) async fn told(&self, asker: &Asker, argument: &str) -> Result<Card, StoreError> {
        let (texts, argument) = (self.cards.texts(asker), argument.trim());
        if argument.is_empty() {
            return self.list(asker, 0).await;
        }
        if !self.cards.may_change(asker).await {
            return Ok(Card::text(texts.admin_only()));
        }
        let (first, rest) = argument.split_once(char::is_whitespace).unwrap_or((argument, ""));
        if is_same_name(NEW_PERSONA, first) {
            return self.write_new(asker, rest).await;
        }
        let mut clears = NO_PERSONA.into_iter().chain([texts.persona_none()]);
        if clears.any(|word| is_same_name(word, argument)) {
            self.set(asker, None).await?;
            return self.list(asker, 0).await;
        }
        let entries = self.entries(asker).await?;
        let Some(entry) = entries.iter().find(|entry| entry.is_called(argument)) else {
            return Ok(unknown(texts, &entries, argument, asker));
        };
        self.set(asker, Some(entry.choice())).await?;
        self.list(asker, 0).await
    }

    async fn press_choice(
        &self,
        asker: &Asker,
        choice: &PersonaChoice,
        page: Page,
    ) -> Result<Pressed, StoreError> {
        let texts = self.cards.texts(asker);
        let entries = self.entries(asker).await?;
        let Some(entry) = entries.iter().find(|entry| entry.is(choice)) else {
            return Ok(Pressed::both(texts.gone(), self.list(asker, page).await?));
        };
        let config = self.settings.chat_config(asker.place.chat).await?;
        if config.persona.as_ref().is_some_and(|chosen| entry.is(chosen)) {
            let name = entry.title(asker.language.as_deref());
            return Ok(Pressed::toast(fill(texts.persona_already(), &[("persona", name)])));
        }
        self.set(asker, Some(entry.choice())).await?;
        Ok(Pressed::both(texts.config_saved(), self.list(asker, page).await?))
    }

    async fn press_clear(&self, asker: &Asker, page: Page) -> Result<Pressed, StoreError> {
        let texts = self.cards.texts(asker);
        if self.settings.chat_config(asker.place.chat).await?.persona.is_none() {
            return Ok(Pressed::toast(texts.persona_no_choice()));
        }
        self.set(asker, None).await?;
        Ok(Pressed::both(texts.config_saved(), self.list(asker, page).await?))
    }

    async fn set(&self, asker: &Asker, persona: Option<PersonaChoice>) -> Result<(), StoreError> {
        let change = ConfigPatch { persona: Some(persona), ..ConfigPatch::default() };
        self.settings.change_chat_config(asker.place.chat, change).await.map(drop)
    }
}

/// What is said of a name that no persona has: the one that may be meant, with its button, or all there are.
fn unknown(texts: &Texts, entries: &[Entry], name: &str, asker: &Asker) -> Card {
    let language = asker.language.as_deref();
    let wanted = name.to_lowercase();
    let names: Vec<(String, &Entry)> = entries
        .iter()
        .flat_map(|entry| entry.names().into_iter().map(move |name| (name.to_lowercase(), entry)))
        .collect();
    let meant =
        nearest(&wanted, names.iter().map(|(name, _)| name.as_str()), |known| known.len().div_ceil(3));
    let entry = names.iter().find(|(name, _)| Some(name.as_str()) == meant).map(|(_, entry)| *entry);
    match entry {
        Some(entry) => {
            let persona = entry.title(language);
            Card::text(fill(texts.persona_meant(), &[("name", name), ("persona", persona)]))
                .row(vec![Button::new(persona, entry.press(0))])
        }
        None => {
            let all: Vec<&str> = entries.iter().map(|entry| entry.title(language)).collect();
            let values = [("name", name), ("personas", &all.join(", "))];
            Card::text(fill(texts.persona_unknown(), &values)).row(vec![show(texts)])
        }
    }
}
