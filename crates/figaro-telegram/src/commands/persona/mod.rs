//! `/persona`: sets how the bot speaks in a chat. The card lists the personas from files and those that people of the
//! chat wrote, each with a button to choose it. In groups only admins and owners choose and write them.

mod list;
mod own;

use async_trait::async_trait;

pub use self::list::Personas;
use self::list::{PersonaOption, show};
use super::asker::Asker;
use super::card::Card;
use super::command::{
    self, Command, CommandOutcome, CommandRequest, CommandSpec, Group, PressError, Pressed,
};
use super::handles::Handles;
use crate::callback::{ButtonFamily, Page, PersonaButton};
use crate::send::Button;
use figaro_base::text::nearest;
use figaro_domain::chat::{ConfigPatch, PersonaChoice};
use figaro_domain::persona::{NEW_PERSONA, NO_PERSONA, is_same_name};
use figaro_prompts::texts::{Texts, fill};
use figaro_store::StoreError;

/// Shows and changes the persona of a chat.
#[derive(Debug)]
pub(super) struct PersonaCommand(Personas);

impl PersonaCommand {
    pub(super) fn new(handles: &Handles) -> Self {
        Self(Personas::new(handles))
    }
}

#[async_trait]
impl Command for PersonaCommand {
    fn spec(&self) -> CommandSpec {
        CommandSpec::new(Personas::COMMAND, Texts::command_persona)
            .group(Group::Settings)
            .changes_chat()
            .families(&[PersonaButton::NAME])
            .arguments(&[
                ("NAME", "speak as this persona"),
                ("new NAME: INSTRUCTIONS", "make a persona of your own"),
                ("none", "speak without a persona"),
            ])
    }

    async fn run(&self, request: &CommandRequest<'_>) -> Result<CommandOutcome, StoreError> {
        self.0.told(request.asker, request.argument()).await.map(CommandOutcome::Card)
    }

    async fn press(&self, press: &command::Press<'_>) -> Result<Pressed, PressError> {
        let (personas, asker) = (&self.0, press.asker);
        Ok(match press.data.parse()? {
            PersonaButton::List(page) => Pressed::card(personas.list(asker, page)?),
            PersonaButton::File(name, page) => {
                personas.press_choice(asker, &PersonaChoice::File(name.to_string()), page).await?
            }
            PersonaButton::Own(id, page) => {
                let choice = PersonaChoice::Own { id, name: String::new() };
                personas.press_choice(asker, &choice, page).await?
            }
            PersonaButton::Clear(page) => personas.press_clear(asker, page).await?,
            PersonaButton::New => personas.ask_new(asker).await?,
            PersonaButton::Open(id, page) => personas.open(asker, id, page)?,
            PersonaButton::Edit(id) => personas.ask_edit(asker, id, false).await?,
            PersonaButton::Writing(id) => personas.ask_edit(asker, id, true).await?,
            PersonaButton::Drop(id, page) => personas.ask_delete(asker, id, page)?,
            PersonaButton::Delete(id, page) => personas.delete(asker, id, page).await?,
        })
    }
}

impl Personas {
    /// Name of the command, and of the setting in `/config`.
    pub(super) const COMMAND: &'static str = "persona";

    /// Handles the argument of the command.
    pub(super) async fn told(&self, asker: &Asker, argument: &str) -> Result<Card, StoreError> {
        let (texts, argument) = (self.cards.texts(asker), argument.trim());
        if argument.is_empty() {
            return self.list(asker, 0);
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
            return self.list(asker, 0);
        }
        let entries = self.entries(asker)?;
        let Some(entry) = entries.iter().find(|entry| entry.is_called(argument)) else {
            return Ok(unknown(texts, &entries, argument, asker));
        };
        self.set(asker, Some(entry.choice())).await?;
        self.list(asker, 0)
    }

    async fn press_choice(
        &self,
        asker: &Asker,
        choice: &PersonaChoice,
        page: Page,
    ) -> Result<Pressed, StoreError> {
        let texts = self.cards.texts(asker);
        let entries = self.entries(asker)?;
        let Some(entry) = entries.iter().find(|entry| entry.is(choice)) else {
            return Ok(Pressed::both(texts.gone(), self.list(asker, page)?));
        };
        let config = self.settings.chat_config(asker.place.chat)?;
        if config.persona.as_ref().is_some_and(|chosen| entry.is(chosen)) {
            let name = entry.title(asker.language.as_deref());
            return Ok(Pressed::toast(fill(texts.persona_already(), &[("persona", name)])));
        }
        self.set(asker, Some(entry.choice())).await?;
        Ok(Pressed::both(texts.config_saved(), self.list(asker, page)?))
    }

    async fn press_clear(&self, asker: &Asker, page: Page) -> Result<Pressed, StoreError> {
        let texts = self.cards.texts(asker);
        if self.settings.chat_config(asker.place.chat)?.persona.is_none() {
            return Ok(Pressed::toast(texts.persona_no_choice()));
        }
        self.set(asker, None).await?;
        Ok(Pressed::both(texts.config_saved(), self.list(asker, page)?))
    }

    async fn set(&self, asker: &Asker, persona: Option<PersonaChoice>) -> Result<(), StoreError> {
        let change = ConfigPatch { persona: Some(persona), ..ConfigPatch::default() };
        self.settings.change_chat_config(asker.place.chat, change).await.map(drop)
    }
}

/// Returns the card for an unknown name: the persona with the most similar name, with its button, or all titles.
fn unknown(texts: &Texts, entries: &[PersonaOption], name: &str, asker: &Asker) -> Card {
    let language = asker.language.as_deref();
    let wanted = name.to_lowercase();
    let names: Vec<(String, &PersonaOption)> = entries
        .iter()
        .flat_map(|entry| entry.names().into_iter().map(move |name| (name.to_lowercase(), entry)))
        .collect();
    let meant = nearest(&wanted, names.iter().map(|(name, _)| name.as_str()), |known| {
        known.chars().count().div_ceil(3)
    });
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
