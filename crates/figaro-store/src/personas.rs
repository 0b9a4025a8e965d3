//! The personas that chats write for themselves.

use chrono::{DateTime, Utc};

use super::changes::Changes;
use super::fault::Fault;
use super::key;
use super::tables::Tables;
use crate::{PersonaStore, Result};
use figaro_base::ids::{ChatId, MessageId, PersonaId};
use figaro_domain::chat::PersonaChoice;
use figaro_domain::persona::{MAX_OWN_PERSONAS, OwnPersona, PersonaQuestion};

/// What became of a persona that was to be stored.
#[derive(Debug, Clone, PartialEq)]
pub enum PersonaSaved {
    /// It was stored as a new persona, and its chat has chosen it; also if that had been done before.
    New(OwnPersona),
    /// It was stored in place of the one with its id.
    Changed(OwnPersona),
    /// The chat has another persona of this name; nothing was stored.
    NameTaken,
    /// The chat has as many personas as it may; nothing was stored.
    Full,
    /// The persona that was to be changed is gone; nothing was stored.
    Gone,
}

/// A persona that is to be stored.
#[derive(Debug, Clone, PartialEq)]
pub struct PersonaToSave {
    /// The persona as it is to be.
    pub persona: OwnPersona,
    /// The message that asked for its words, if one did.
    pub question: Option<MessageId>,
    /// Whether it takes the place of the one with its id.
    pub changes: bool,
}

impl PersonaStore {
    /// A chat's own personas, oldest first.
    pub async fn of_chat(&self, chat: ChatId) -> Result<Vec<OwnPersona>> {
        self.0.read("read the personas", move |tables| oldest_first(tables, chat)).await
    }

    /// One of a chat's own personas; `None` if it has none with this id.
    pub async fn find(&self, chat: ChatId, persona: PersonaId) -> Result<Option<OwnPersona>> {
        self.0.read("read a persona", move |tables| tables.personas.get(&key::persona(chat, persona))).await
    }

    /// Stores a persona in one durable write: a new one, which its chat then has chosen and which its question is about from
    /// now on; or one in place of another, of which the id, the author and the time stay. What a chat has chosen follows a
    /// new name. One that is there already with the same name, words and settings is not stored again.
    pub async fn save(&self, to_save: PersonaToSave) -> Result<PersonaSaved> {
        self.0.change_durably("store a persona", move |tables, changes| save(tables, changes, &to_save)).await
    }

    /// Removes a persona, durably, and returns it; `None` if the chat has none with this id. A chat that had chosen it has
    /// chosen none then.
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

    /// Remembers, durably, that a message asks for the words of a persona. Questions of the chat from before `since` are
    /// forgotten.
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

    /// What a message asks about a persona; `None` for any other message.
    pub async fn question(&self, chat: ChatId, message: MessageId) -> Result<Option<PersonaQuestion>> {
        self.0
            .read("read a question about a persona", move |tables| {
                tables.persona_questions.get(&key::telegram(chat, message))
            })
            .await
    }
}

fn save(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    PersonaToSave { persona, question, changes: replaces }: &PersonaToSave,
) -> Result<PersonaSaved, Fault> {
    let chat = persona.chat;
    let kept = tables.personas.list(&key::chat(chat))?;
    let same_name = kept.iter().find(|kept| kept.id != persona.id && kept.is_called(&persona.name));
    let known = kept.iter().find(|kept| kept.id == persona.id);
    let saved = match (known, same_name) {
        (None, _) if *replaces => return Ok(PersonaSaved::Gone),
        // It was stored before a crash, and is said again after it.
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

/// Changes what a chat has chosen, if that makes a difference.
fn choose(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    chat: ChatId,
    choice: impl FnOnce(Option<PersonaChoice>) -> Option<PersonaChoice>,
) -> Result<(), Fault> {
    let key = key::chat(chat);
    let mut config = tables.chats.get(&key)?.unwrap_or_default();
    let before = config.persona.clone();
    config.persona = choice(config.persona);
    if config.persona == before {
        return Ok(());
    }
    changes.put(&tables.chats, key, &config)
}

fn oldest_first(tables: &Tables<'_>, chat: ChatId) -> Result<Vec<OwnPersona>, Fault> {
    let mut personas = tables.personas.list(&key::chat(chat))?;
    personas.sort_by_key(|persona| (persona.created_at, persona.id));
    Ok(personas)
}
