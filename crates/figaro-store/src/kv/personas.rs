//! The personas that chats write for themselves.

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use super::changes::Changes;
use super::fault::Fault;
use super::tables::Tables;
use super::{KvStore, key};
use crate::{PersonaSaved, PersonaStore, PersonaToSave, Result};
use figaro_base::ids::{ChatId, MessageId, PersonaId};
use figaro_domain::chat::PersonaChoice;
use figaro_domain::persona::{MAX_OWN_PERSONAS, OwnPersona, PersonaQuestion};

#[async_trait]
impl PersonaStore for KvStore {
    async fn personas(&self, chat: ChatId) -> Result<Vec<OwnPersona>> {
        self.read("read the personas", move |tables| oldest_first(tables, chat)).await
    }

    async fn persona(&self, chat: ChatId, persona: PersonaId) -> Result<Option<OwnPersona>> {
        self.read("read a persona", move |tables| tables.personas.get(&key::persona(chat, persona))).await
    }

    async fn save_persona(&self, to_save: PersonaToSave) -> Result<PersonaSaved> {
        self.change_durably("store a persona", move |tables, changes| save(tables, changes, &to_save)).await
    }

    async fn remove_persona(&self, chat: ChatId, persona: PersonaId) -> Result<Option<OwnPersona>> {
        self.change_durably("remove a persona", move |tables, changes| {
            let key = key::persona(chat, persona);
            let removed = tables.personas.get(&key)?;
            changes.remove(&tables.personas, key);
            choose(tables, changes, chat, |choice| {
                (!choice.as_ref().is_some_and(|choice| choice.is_own(persona))).then_some(choice).flatten()
            })?;
            Ok(removed)
        })
        .await
    }

    async fn ask_persona(
        &self,
        chat: ChatId,
        message: MessageId,
        question: &PersonaQuestion,
        since: DateTime<Utc>,
    ) -> Result<()> {
        let question = question.clone();
        self.change_durably("note a question about a persona", move |tables, changes| {
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

    async fn persona_question(&self, chat: ChatId, message: MessageId) -> Result<Option<PersonaQuestion>> {
        self.read("read a question about a persona", move |tables| {
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
