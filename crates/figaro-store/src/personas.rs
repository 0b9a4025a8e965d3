//! Personas written in chats.

use chrono::{DateTime, Utc};

use super::changes::Changes;
use super::fault::StoreFault;
use super::key;
use super::tables::Tables;
use crate::{PersonaStore, Result};
use figaro_base::ids::{ChatId, MessageId, PersonaId};
use figaro_domain::chat::PersonaChoice;
use figaro_domain::persona::{MAX_OWN_PERSONAS, OwnPersona, PersonaQuestion};

/// Result of storing a persona.
#[derive(Debug, Clone, PartialEq)]
pub enum PersonaSaved {
    /// Stored as a new persona, which its chat has now chosen; also if this was done before.
    New(OwnPersona),
    /// Stored over the persona with the same id.
    Changed(OwnPersona),
    /// The chat has another persona with this name; nothing was stored.
    NameTaken,
    /// The chat has the maximum of personas; nothing was stored.
    Full,
    /// The persona to change is gone; nothing was stored.
    Gone,
}

/// A persona to be stored.
#[derive(Debug, Clone, PartialEq)]
pub struct PersonaToSave {
    /// New state of the persona.
    pub persona: OwnPersona,
    /// Message that asked for its words, if any.
    pub question: Option<MessageId>,
    /// `true` if it replaces the persona with the same id.
    pub changes: bool,
}

impl PersonaStore {
    /// Returns the personas written in a chat, oldest first.
    pub fn of_chat(&self, chat: ChatId) -> Result<Vec<OwnPersona>> {
        self.0.read("read the personas", move |tables| oldest_first(tables, chat))
    }

    /// Returns a persona written in this chat; `None` if the chat has none with this id.
    pub fn find(&self, chat: ChatId, persona: PersonaId) -> Result<Option<OwnPersona>> {
        self.0.read("read a persona", move |tables| tables.personas.get(&key::persona(chat, persona)))
    }

    /// Stores a persona in one durable write. A new one becomes the choice of its chat and the subject of its question; a
    /// replacement keeps the id, author and time of the old one. The chat's choice follows a new name. An identical
    /// persona is not stored again.
    pub async fn save(&self, to_save: PersonaToSave) -> Result<PersonaSaved> {
        self.0.change_durably("store a persona", move |tables, changes| save(tables, changes, &to_save)).await
    }

    /// Removes a persona, durably, and returns it; `None` if the chat has none with this id. If the chat had chosen it,
    /// the choice is cleared.
    pub async fn remove(&self, chat: ChatId, persona: PersonaId) -> Result<Option<OwnPersona>> {
        self.0
            .change_durably("remove a persona", move |tables, changes| {
                let key = key::persona(chat, persona);
                let removed = tables.personas.get(&key)?;
                changes.remove(&tables.personas, key);
                choose(tables, changes, chat, |choice| {
                    (!choice.as_ref().is_some_and(|choice| choice.is_own(persona)))
                        .then_some(choice)
                        .flatten()
                })?;
                Ok(removed)
            })
            .await
    }

    /// Records, durably, that a message asks for the words of a persona. Questions of the chat from before `since` are
    /// deleted.
    pub async fn ask(
        &self,
        chat: ChatId,
        message: MessageId,
        question: &PersonaQuestion,
        since: DateTime<Utc>,
    ) -> Result<()> {
        let question = question.clone();
        self.0
            .change_durably("note a question about a persona", move |tables, changes| {
                for item in tables.persona_questions.scan(&key::chat(chat))? {
                    let (key, old) = item?;
                    if old.asked_at < since {
                        changes.remove(&tables.persona_questions, key);
                    }
                }
                changes.put(&tables.persona_questions, key::telegram(chat, message), &question)
            })
            .await
    }

    /// Returns the question about a persona that a message asks; `None` for any other message.
    pub fn question(&self, chat: ChatId, message: MessageId) -> Result<Option<PersonaQuestion>> {
        self.0.read("read a question about a persona", move |tables| {
            tables.persona_questions.get(&key::telegram(chat, message))
        })
    }
}

fn save(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    PersonaToSave { persona, question, changes: replaces }: &PersonaToSave,
) -> Result<PersonaSaved, StoreFault> {
    let chat = persona.chat;
    let kept = tables.personas.list(&key::chat(chat))?;
    let same_name = kept.iter().find(|kept| kept.id != persona.id && kept.is_called(&persona.name));
    let known = kept.iter().find(|kept| kept.id == persona.id);
    let saved = match (known, same_name) {
        (None, _) if *replaces => return Ok(PersonaSaved::Gone),
        // It was stored before a crash and is returned again after it.
        (None, Some(same)) if is_as_written(same, persona) => same.clone(),
        (_, Some(_)) => return Ok(PersonaSaved::NameTaken),
        (None, None) if kept.len() >= MAX_OWN_PERSONAS => return Ok(PersonaSaved::Full),
        (None, None) => persona.clone(),
        (Some(known), None) => {
            OwnPersona { author: known.author.clone(), created_at: known.created_at, ..persona.clone() }
        }
    };
    changes.put(&tables.personas, key::persona(chat, saved.id), &saved)?;
    choose(tables, changes, chat, |choice| {
        let follows = !replaces || choice.as_ref().is_some_and(|choice| choice.is_own(saved.id));
        if follows { Some(saved.choice()) } else { choice }
    })?;
    if let Some(message) = question {
        let key = key::telegram(chat, *message);
        if let Some(asked) = tables.persona_questions.get(&key)? {
            let about = PersonaQuestion { about: Some(saved.id), ..asked };
            changes.put(&tables.persona_questions, key, &about)?;
        }
    }
    Ok(if *replaces { PersonaSaved::Changed(saved) } else { PersonaSaved::New(saved) })
}

fn is_as_written(one: &OwnPersona, other: &OwnPersona) -> bool {
    (&one.prompt, &one.language, one.settings) == (&other.prompt, &other.language, other.settings)
}

/// Changes the persona that a chat has chosen, if that makes a difference.
fn choose(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    chat: ChatId,
    choice: impl FnOnce(Option<PersonaChoice>) -> Option<PersonaChoice>,
) -> Result<(), StoreFault> {
    let key = key::chat(chat);
    let mut config = tables.chats.get(&key)?.unwrap_or_default();
    let before = config.persona.clone();
    config.persona = choice(config.persona);
    if config.persona == before {
        return Ok(());
    }
    changes.put(&tables.chats, key, &config)
}

fn oldest_first(tables: &Tables<'_>, chat: ChatId) -> Result<Vec<OwnPersona>, StoreFault> {
    let mut personas = tables.personas.list(&key::chat(chat))?;
    personas.sort_by_key(|persona| (persona.created_at, persona.id));
    Ok(personas)
}
