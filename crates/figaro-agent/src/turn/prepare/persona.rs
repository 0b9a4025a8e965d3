//! Persona of the bot in a turn, as chosen for its chat.

use std::sync::Arc;

use super::super::question::Question;
use super::super::report::Reporter;
use figaro_base::ids::ChatId;
use figaro_domain::chat::{ChatConfig, PersonaChoice};
use figaro_domain::generation::Generation;
use figaro_domain::persona::PersonaWords;
use figaro_prompts::Prompts;
use figaro_store::PersonaStore;

/// Loads personas, from files and from chats.
#[derive(Debug, Clone)]
pub struct PersonaLoader {
    /// The prompts, with the personas from files.
    pub prompts: Arc<Prompts>,
    /// The store of personas that chats wrote.
    pub store: PersonaStore,
}

/// Persona in a turn; the default value means none.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Spoken {
    /// Instructions for the model; `None` without a persona.
    pub(super) words: Option<PersonaWords>,
    /// Language to answer in, if the chat has set none.
    pub(super) language: Option<String>,
    /// Generation parameters, for those that the chat has not set.
    pub(super) settings: Generation,
}

impl PersonaLoader {
    /// Returns the persona for a turn in a chat with these settings. A task has none, and a missing or unreadable one
    /// counts as none. The instructions of an agent replace those of the persona.
    pub(super) fn of(
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
        let own = reporter.or_without(self.store.find(chat, *id), "personas");
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
