//! How the bot speaks in a turn: the persona that its chat has chosen.

use std::sync::Arc;

use super::super::question::Question;
use super::super::report::Reporter;
use figaro_base::ids::ChatId;
use figaro_domain::chat::{ChatConfig, PersonaChoice};
use figaro_domain::generation::Generation;
use figaro_domain::persona::PersonaWords;
use figaro_prompts::Prompts;
use figaro_store::PersonaStore;

/// The personas there are: those of files, and what chats wrote.
#[derive(Debug, Clone)]
pub struct PersonaLoader {
    /// The personas of files.
    pub prompts: Arc<Prompts>,
    /// The store of chats' own personas.
    pub store: PersonaStore,
}

/// A persona in a turn; the default for none.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Spoken {
    /// What the model is told, if anything.
    pub(super) words: Option<PersonaWords>,
    /// The language to answer in where the chat has set none.
    pub(super) language: Option<String>,
    /// The parameters that are sent to the model where the chat has set none.
    pub(super) settings: Generation,
}

impl PersonaLoader {
    /// The persona of a turn in a chat of these settings. A task has none, and one that is gone or cannot be read counts as
    /// none. Where an agent answers, its instructions stand in the place of the persona's.
    pub(super) async fn of(
        &self,
        question: &Question,
        chat: ChatId,
        config: &ChatConfig,
        reporter: &Reporter,
    ) -> Spoken {
        let Some(choice) = config.persona.as_ref().filter(|_| question.task.is_none()) else {
            return Spoken::default();
        };
        let PersonaChoice::Own { id, .. } = choice else {
            return self.of_file(config);
        };
        let own = reporter.or_without(self.store.find(chat, *id).await, "personas");
        own.map_or_else(Spoken::default, |persona| Spoken {
            words: Some(PersonaWords::Own(persona.prompt)),
            language: persona.language,
            settings: persona.settings,
        })
    }

    fn of_file(&self, config: &ChatConfig) -> Spoken {
        let Some(persona) = self.prompts.chosen_persona(config) else {
            tracing::warn!(persona = ?config.persona, "the persona that a chat has chosen is not there; the chat goes without");
            return Spoken::default();
        };
        Spoken {
            words: Some(PersonaWords::File(persona.prompt.clone())),
            language: persona.language.clone(),
            settings: persona.settings,
        }
    }
}
