//! Personas: how the bot speaks in a chat, by instructions, a language and model settings. Some come from files, and a chat
//! can write its own.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::chat::{MAX_SETTING_CHARS, PersonaChoice};
use super::generation::{BadSetting, Generation};
use super::language::ByLanguage;
use figaro_base::ids::{ChatId, PersonaId, UserId};

/// Maximum number of personas written for a chat.
pub const MAX_OWN_PERSONAS: usize = 20;
/// Maximum length of a persona's name, in characters: it is shown on a button.
pub const MAX_PERSONA_NAME: usize = 40;
/// Maximum length of a persona's language, in characters.
pub const MAX_PERSONA_LANGUAGE: usize = 100;
/// Key of the line that sets the language in a persona's text.
const LANGUAGE: &str = "language";
/// Value that clears a setting, in any case.
const CLEAR: &str = "clear";
/// Argument of the command that creates a persona.
pub const NEW_PERSONA: &str = "new";
/// Arguments of the command that clear the chat's persona.
pub const NO_PERSONA: [&str; 2] = ["none", "clear"];
/// Command arguments that cannot be names.
pub const RESERVED_NAMES: [&str; 3] = [NEW_PERSONA, NO_PERSONA[0], NO_PERSONA[1]];

/// A persona read from a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Persona {
    /// Name that people type, also stored in the chat's settings.
    pub name: String,
    /// Label of its button.
    pub title: ByLanguage<String>,
    /// Short description for people.
    pub description: ByLanguage<String>,
    /// Instructions for the model.
    pub prompt: String,
    /// Language of answers in free text, used if the chat has set none.
    pub language: Option<String>,
    /// Parameters sent to the model, used if the chat has set none.
    pub settings: Generation,
}

/// A persona written by a person for a chat.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OwnPersona {
    /// Unique id of the persona.
    pub id: PersonaId,
    /// Chat of the persona.
    pub chat: ChatId,
    /// Name, unique in the chat.
    pub name: String,
    /// Instructions for the model; at most [`MAX_SETTING_CHARS`] characters.
    pub prompt: String,
    /// Language of answers in free text, used if the chat has set none.
    #[serde(default)]
    pub language: Option<String>,
    /// Parameters sent to the model, used if the chat has set none.
    #[serde(default)]
    pub settings: Generation,
    /// Person who first wrote it.
    pub author: UserId,
    /// Creation time, UTC.
    pub created_at: DateTime<Utc>,
}

impl OwnPersona {
    /// Returns `true` if the persona has this name. Case is ignored.
    #[must_use]
    pub fn is_called(&self, name: &str) -> bool {
        is_same_name(&self.name, name)
    }

    /// Returns the value for the settings of a chat that chooses it.
    #[must_use]
    pub fn choice(&self) -> PersonaChoice {
        PersonaChoice::Own { id: self.id, name: self.name.clone() }
    }

    /// Updates the persona from a person's text: a name, followed by instructions after a colon or on the next lines, and
    /// settings on lines such as `temperature 0.3`. Settings that are not mentioned stay. If the persona has a name and the
    /// text holds only settings, its name and instructions stay too. `language` is the word for "language" in the writer's
    /// language.
    ///
    /// # Errors
    /// [`BadDraft`] if the text is incomplete or too long, or has an invalid setting.
    pub fn written(mut self, words: &str, language: &str) -> Result<Self, BadDraft> {
        let (set, said): (Vec<_>, Vec<_>) = words
            .trim()
            .lines()
            .map(|line| (setting(line, language), line))
            .partition(|(set, _)| set.is_some());
        let said = said.into_iter().map(|(_, line)| line).collect::<Vec<_>>().join("\n");
        if self.name.is_empty() || set.is_empty() || !said.trim().is_empty() {
            (self.name, self.prompt) = name_and_prompt(&said)?;
        }
        for (name, value) in set.into_iter().filter_map(|(set, _)| set) {
            if name != LANGUAGE {
                self.settings = self.settings.with(&name, value.map(str::to_lowercase).as_deref())?;
            } else if value.is_some_and(|value| value.chars().count() > MAX_PERSONA_LANGUAGE) {
                return Err(BadDraft::LongLanguage);
            } else {
                self.language = value.filter(|value| !value.is_empty()).map(str::to_owned);
            }
        }
        Ok(self)
    }
}

/// Message that asks for the text of a persona. A reply holds it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PersonaQuestion {
    /// Persona to be changed; `None` for a new one. A new one is entered here once stored, so that a repeat after a crash or
    /// a second reply changes the same persona.
    pub about: Option<PersonaId>,
    /// Time of the question, UTC.
    pub asked_at: DateTime<Utc>,
}

/// Instructions of a persona, by the trust in their author.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PersonaWords {
    /// From a file of the owner or Figaro: trusted.
    File(String),
    /// From a person in the chat: ranks below the rules.
    Own(String),
}

/// Reason why a text is no valid persona.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
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
    /// The language is longer than [`MAX_PERSONA_LANGUAGE`] characters.
    #[error("the language is too long")]
    LongLanguage,
    /// A setting does not exist or does not accept its value.
    #[error(transparent)]
    Setting(#[from] BadSetting),
}

/// Parsed setting line: its name, and its value unless it is cleared.
type SettingLine<'a> = (String, Option<&'a str>);

/// Parses a line such as `temperature 0.3` or `language: Latvian`. Returns `None` for a line of the instructions, which may
/// begin with the same word. `language` is the word for "language" in the writer's language.
fn setting<'a>(line: &'a str, language: &str) -> Option<SettingLine<'a>> {
    let is_named = |name: &str| Generation::NAMES.contains(&name.trim().to_lowercase().as_str());
    let spaced = || line.trim().split_once(char::is_whitespace).filter(|(name, _)| is_named(name));
    let (name, value) = line.split_once([':', '：', '=']).or_else(spaced)?;
    let value = value.trim();
    let is_language = [LANGUAGE, language].iter().any(|word| is_same_name(word, name));
    // More words are a sentence of the instructions.
    let most = if is_language { 2 } else { usize::from(is_named(name)) };
    let is_setting = (1..=most).contains(&value.split_whitespace().count());
    let name = if is_language { LANGUAGE.to_owned() } else { name.trim().to_lowercase() };
    is_setting.then_some((name, Some(value).filter(|value| !value.eq_ignore_ascii_case(CLEAR))))
}

/// Parses a name, followed by instructions after a colon or on the next lines.
fn name_and_prompt(words: &str) -> Result<(String, String), BadDraft> {
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
    Ok((name, prompt.to_owned()))
}

/// Returns `true` if the names are equal. Case is ignored.
#[must_use]
pub fn is_same_name(one: &str, other: &str) -> bool {
    one.trim().to_lowercase() == other.trim().to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blank() -> OwnPersona {
        OwnPersona {
            id: PersonaId::new(),
            chat: ChatId(1),
            name: String::new(),
            prompt: String::new(),
            language: None,
            settings: Generation::default(),
            author: UserId::telegram(1),
            created_at: DateTime::UNIX_EPOCH,
        }
    }

    fn read(words: &str) -> Result<OwnPersona, BadDraft> {
        blank().written(words, "Idioma")
    }

    #[test]
    fn words_of_a_persona_are_a_name_and_instructions() {
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
            ("temperature 0.3", Err(BadDraft::Incomplete)),
            ("NEW: Talk.", Err(BadDraft::Reserved("NEW".to_owned()))),
        ];
        for (words, wanted) in cases {
            let read = read(words);
            let read = read.as_ref().map(|own| (own.name.as_str(), own.prompt.as_str()));
            assert_eq!(read.map_err(Clone::clone), wanted, "{words}");
        }
        assert!(read(&full).is_ok());
        assert_eq!(read(&format!("{long_name}: Talk.")), Err(BadDraft::LongName));
        assert_eq!(read(&long_prompt), Err(BadDraft::LongPrompt));
    }

    #[test]
    fn lines_of_settings_are_no_instructions() {
        let read = |words: &str| read(&format!("Pirate\n{words}\nTalk."));
        let set = |words: &str| {
            let own = read(words).unwrap();
            assert_eq!(own.prompt, "Talk.", "{words}");
            let language = own.language.map(|language| ("language", language));
            own.settings.entries().into_iter().chain(language).collect::<Vec<_>>()
        };
        let temperature = vec![("temperature", "0.3".to_owned())];
        for words in ["temperature 0.3", "Temperature: 0,3", " temperature = 0.3 ", "temperature：0.3"] {
            assert_eq!(set(words), temperature, "{words}");
        }
        let all = "max_tokens 300\noutput_format JSON\nidioma: Old Frisian";
        let values = [("max_tokens", "300"), ("output_format", "json"), ("language", "Old Frisian")];
        assert_eq!(set(all), values.map(|(name, value)| (name, value.to_owned())));
        assert_eq!(set("temperature 0.3\ntemperature clear"), []);
        for sentence in ["Language matters.", "temperature: always in Celsius", "Temperature is a word."] {
            assert_eq!(read(sentence).unwrap().prompt, format!("{sentence}\nTalk."));
        }
        for (words, wanted) in [
            ("temperature 3", "temperature is 3, and takes 0 to 2"),
            ("temperature: warm", "temperature does not take warm"),
            (&format!("language: {}", "n".repeat(MAX_PERSONA_LANGUAGE + 1)), "the language is too long"),
        ] {
            assert_eq!(read(words).unwrap_err().to_string(), wanted);
        }
    }

    #[test]
    fn what_is_not_said_again_stays() {
        let pirate = read("Pirate: Talk.\ntemperature 1.2\nlanguage: Frisian").unwrap();
        let settings = pirate.clone().written("top_p 0.5\nlanguage: clear", "Idioma").unwrap();
        assert_eq!((settings.name.as_str(), settings.prompt.as_str()), ("Pirate", "Talk."));
        assert_eq!(settings.language, None);
        assert_eq!((settings.settings.temperature, settings.settings.top_p), (Some(1.2), Some(0.5)));
        let words = pirate.clone().written("Corsair: Sing.", "Idioma").unwrap();
        assert_eq!(words, OwnPersona { name: "Corsair".into(), prompt: "Sing.".into(), ..pirate.clone() });
        assert_eq!(pirate.written("Corsair", "Idioma"), Err(BadDraft::Incomplete));
    }
}
