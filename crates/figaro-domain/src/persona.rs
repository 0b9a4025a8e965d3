//! Personas: how the bot speaks in a chat. Those of files bring instructions, a language and settings of the model; a chat
//! can write its own, which are instructions alone.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::chat::{MAX_SETTING_CHARS, PersonaChoice};
use super::generation::Generation;
use super::language::ByLanguage;
use figaro_base::ids::{ChatId, PersonaId, UserId};

/// The most personas that a chat may write.
pub const MAX_OWN_PERSONAS: usize = 20;
/// The most characters of a persona's name: it stands on a button.
pub const MAX_PERSONA_NAME: usize = 40;
/// The word behind the command that makes a persona.
pub const NEW_PERSONA: &str = "new";
/// The words behind the command that take a persona away.
pub const NO_PERSONA: [&str; 2] = ["none", "clear"];
/// Words behind the command that are no names.
pub const RESERVED_NAMES: [&str; 3] = [NEW_PERSONA, NO_PERSONA[0], NO_PERSONA[1]];

/// A persona of a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Persona {
    /// Its name, as people type it and as the chat's settings keep it.
    pub name: String,
    /// What people see on its button.
    pub title: ByLanguage<String>,
    /// What it is for, in a few words.
    pub description: ByLanguage<String>,
    /// What the model is told.
    pub prompt: String,
    /// The language to answer in where the chat has set none, in free words.
    pub language: Option<String>,
    /// The parameters that are sent to the model where the chat has set none.
    pub settings: Generation,
}

/// A persona that somebody wrote for a chat.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnPersona {
    /// The id of the persona.
    pub id: PersonaId,
    /// The chat that it belongs to.
    pub chat: ChatId,
    /// Its name: no other of the chat has the same.
    pub name: String,
    /// What the model is told; at most [`MAX_SETTING_CHARS`] characters.
    pub prompt: String,
    /// Who wrote it first.
    pub author: UserId,
    /// When it was first written, UTC.
    pub created_at: DateTime<Utc>,
}

impl OwnPersona {
    /// Whether people would take the name of one for that of the other.
    #[must_use]
    pub fn is_called(&self, name: &str) -> bool {
        is_same_name(&self.name, name)
    }

    /// What a chat keeps that chooses it.
    #[must_use]
    pub fn choice(&self) -> PersonaChoice {
        PersonaChoice::Own { id: self.id, name: self.name.clone() }
    }
}

/// A message that asks for the words of a persona: a reply to it holds them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PersonaQuestion {
    /// The persona that is to be changed; `None` for a new one. Once a new one is stored, it is that: what is said again
    /// after a crash, or mended with a second reply, changes the same persona.
    pub about: Option<PersonaId>,
    /// When it was asked, UTC.
    pub asked_at: DateTime<Utc>,
}

/// What the model is told of a persona, by who wrote it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PersonaWords {
    /// The owner or Figaro: the words are trusted.
    File(String),
    /// Somebody in the chat: the words rank below the rules.
    Own(String),
}

/// The words of a persona as somebody wrote them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PersonaDraft {
    /// Its name, on one line.
    pub name: String,
    /// Its instructions.
    pub prompt: String,
}

/// Why words make no persona.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadDraft {
    /// The name or the instructions are missing.
    #[error("a persona needs a name and instructions")]
    Incomplete,
    /// The name is longer than [`MAX_PERSONA_NAME`] characters.
    #[error("the name is too long")]
    LongName,
    /// The instructions are longer than [`MAX_SETTING_CHARS`] characters.
    #[error("the instructions are too long")]
    LongPrompt,
    /// The name is one of [`RESERVED_NAMES`].
    #[error("the name {0} means something else")]
    Reserved(String),
}

impl PersonaDraft {
    /// Reads a name and, behind a colon or on the next lines, instructions.
    ///
    /// # Errors
    /// [`BadDraft`] for words that lack one of them or are too long.
    pub fn read(words: &str) -> Result<Self, BadDraft> {
        let (name, prompt) = words.trim().split_once([':', '：', '\n']).ok_or(BadDraft::Incomplete)?;
        let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
        let prompt = prompt.trim();
        if name.is_empty() || prompt.is_empty() {
            return Err(BadDraft::Incomplete);
        }
        if name.chars().count() > MAX_PERSONA_NAME {
            return Err(BadDraft::LongName);
        }
        if prompt.chars().count() > MAX_SETTING_CHARS {
            return Err(BadDraft::LongPrompt);
        }
        if RESERVED_NAMES.iter().any(|reserved| is_same_name(reserved, &name)) {
            return Err(BadDraft::Reserved(name));
        }
        Ok(Self { name, prompt: prompt.to_owned() })
    }
}

/// Whether people would take one name for the other: case does not count.
#[must_use]
pub fn is_same_name(one: &str, other: &str) -> bool {
    one.trim().to_lowercase() == other.trim().to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_draft_is_a_name_and_instructions() {
        let long_name = "n".repeat(MAX_PERSONA_NAME + 1);
        let long_prompt = format!("A: {}", "é".repeat(MAX_SETTING_CHARS + 1));
        let full = format!("{}\n{}", "n".repeat(MAX_PERSONA_NAME), "é".repeat(MAX_SETTING_CHARS));
        let cases = [
            ("Pirate\nTalk like one.", Ok(("Pirate", "Talk like one."))),
            ("Pirate: Talk like one.", Ok(("Pirate", "Talk like one."))),
            (" Old  pirate : \n\n Talk: so.\nAlways. ", Ok(("Old pirate", "Talk: so.\nAlways."))),
            ("海盗：像海盗一样说话", Ok(("海盗", "像海盗一样说话"))),
            ("Pirate", Err(BadDraft::Incomplete)),
            ("Pirate:\n ", Err(BadDraft::Incomplete)),
            (": Talk.", Err(BadDraft::Incomplete)),
            ("", Err(BadDraft::Incomplete)),
            ("NEW: Talk.", Err(BadDraft::Reserved("NEW".to_owned()))),
        ];
        for (words, wanted) in cases {
            let read = PersonaDraft::read(words);
            let read = read.as_ref().map(|draft| (draft.name.as_str(), draft.prompt.as_str()));
            assert_eq!(read.map_err(Clone::clone), wanted, "{words}");
        }
        assert!(PersonaDraft::read(&full).is_ok());
        assert_eq!(PersonaDraft::read(&format!("{long_name}: Talk.")), Err(BadDraft::LongName));
        assert_eq!(PersonaDraft::read(&long_prompt), Err(BadDraft::LongPrompt));
    }
}
