//! Personas: how the bot speaks in a chat. They bring instructions, a language and settings of the model. Some are files, and
//! a chat can write its own.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::chat::{MAX_SETTING_CHARS, PersonaChoice};
use super::generation::{BadSetting, Generation};
use super::language::ByLanguage;
use figaro_base::ids::{ChatId, PersonaId, UserId};

/// The most personas that a chat may write.
pub const MAX_OWN_PERSONAS: usize = 20;
/// The most characters of a persona's name: it stands on a button.
pub const MAX_PERSONA_NAME: usize = 40;
/// The most characters of the language that a persona answers in.
pub const MAX_PERSONA_LANGUAGE: usize = 100;
/// The name of the line of a persona's words that sets its language.
const LANGUAGE: &str = "language";
/// The word in place of a value that takes a setting back.
const CLEAR: &str = "clear";
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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OwnPersona {
    /// The id of the persona.
    pub id: PersonaId,
    /// The chat that it belongs to.
    pub chat: ChatId,
    /// Its name: no other of the chat has the same.
    pub name: String,
    /// What the model is told; at most [`MAX_SETTING_CHARS`] characters.
    pub prompt: String,
    /// The language to answer in where the chat has set none, in free words.
    #[serde(default)]
    pub language: Option<String>,
    /// The parameters that are sent to the model where the chat has set none.
    #[serde(default)]
    pub settings: Generation,
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

    /// The same persona as somebody's words have it: a name and, behind a colon or on the next lines, instructions; and
    /// settings, a line for each, such as `temperature 0.3`. Settings of which nothing is said stay, and of a persona that
    /// has a name so do its words where there are only settings. `language` is the word for it in the writer's language.
    ///
    /// # Errors
    /// [`BadDraft`] for words that lack something, are too long, or have a setting that is none.
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

/// Why words make no persona.
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
    /// A setting does not take its value.
    #[error(transparent)]
    Setting(#[from] BadSetting),
}

/// A line that is a setting: its name, and its value unless it is taken back.
type SettingLine<'a> = (String, Option<&'a str>);

/// Reads a line such as `temperature 0.3` or `language: Latvian`; `None` for one of the instructions, which may begin with
/// the same word. `language` is the word for it in the writer's language.
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

/// Reads a name and, behind a colon or on the next lines, instructions.
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

/// Whether people would take one name for the other: case does not count.
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
