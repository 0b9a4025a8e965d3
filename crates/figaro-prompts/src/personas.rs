//! Personas as files: one YAML file each in `prompts/personas/`. Read by [`super::Prompts::load`].

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::de::{Error, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_saphyr::Spanned;

use super::files::{FileFault, PromptFolder, SourceFile, name_faults, own_files, parse};
use super::texts::Locales;
use figaro_domain::chat::MAX_SETTING_CHARS;
use figaro_domain::generation::Generation;
use figaro_domain::language::ByLanguage;
use figaro_domain::persona::{MAX_PERSONA_LANGUAGE, MAX_PERSONA_NAME, Persona, RESERVED_NAMES};

const FOLDER: PromptFolder = PromptFolder {
    name: "personas",
    what: "a persona",
    embedded: &[
        ("coach", include_str!("../../../prompts/personas/coach.yaml")),
        ("engineer", include_str!("../../../prompts/personas/engineer.yaml")),
        ("translator", include_str!("../../../prompts/personas/translator.yaml")),
        ("tutor", include_str!("../../../prompts/personas/tutor.yaml")),
    ],
};
/// Maximum characters of a description: it is a line of a card.
const MAX_DESCRIPTION: usize = 120;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PersonaFile {
    name: String,
    title: LanguageWords,
    description: LanguageWords,
    prompt: String,
    language: Option<String>,
    #[serde(default)]
    settings: Generation,
}

/// Places of the settings in a file.
#[derive(Deserialize)]
struct SettingLines {
    #[serde(default)]
    settings: BTreeMap<String, Spanned<IgnoredAny>>,
}

/// Text for everybody, or by language.
struct LanguageWords(ByLanguage<String>);

/// Folder of an owner's personas, relative to the working directory of the bot.
pub const PERSONAS_FOLDER: &str = "prompts/personas";

own_files! {
    /// Persona files of a folder at one moment: two are equal if nothing changed between them.
    PersonaFiles of FOLDER
}

impl PersonaFiles {
    /// Reads the personas of these files, and built-in ones without a file of the same name. Messages show the folder as
    /// `shown`.
    ///
    /// # Errors
    /// Every fault of any file, one per line: file, line, column and text.
    pub fn read(&self, shown: &str) -> Result<PersonaSet, Vec<String>> {
        let personas = FOLDER.read(&self.0, shown, read)?;
        let personas = personas.into_iter().map(|(name, persona)| (name, Arc::new(persona))).collect();
        Ok(PersonaSet { personas, files: self.clone() })
    }
}

/// Personas from files and built-in ones, read together.
#[derive(Debug)]
pub struct PersonaSet {
    personas: BTreeMap<String, Arc<Persona>>,
    files: PersonaFiles,
}

impl PersonaSet {
    /// Returns the persona of this name; `None` if no file defines it.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Arc<Persona>> {
        self.personas.get(name)
    }

    /// Iterates over all personas, by name.
    pub fn all(&self) -> impl Iterator<Item = &Arc<Persona>> {
        self.personas.values()
    }

    /// Returns `true` if the persona of this name is built in and not overridden by the owner.
    #[must_use]
    pub fn is_built_in(&self, name: &str) -> bool {
        !self.files.define(name)
    }

    /// Returns the files that they were read from.
    #[must_use]
    pub const fn files(&self) -> &PersonaFiles {
        &self.files
    }
}

fn read(source: &SourceFile<'_>) -> Result<Persona, Vec<FileFault>> {
    let SourceFile { file, text, .. } = *source;
    let read: PersonaFile = parse(text)?;
    let mut faults: Vec<FileFault> = name_faults(&read.name, file).into_iter().map(FileFault::from).collect();
    if RESERVED_NAMES.contains(&read.name.as_str()) {
        faults.push(format!("name is {}, which means something else behind /persona", read.name).into());
    }
    faults.extend(length_fault("prompt", &read.prompt, MAX_SETTING_CHARS).map(FileFault::from));
    let language = read.language.as_ref();
    faults.extend(
        language
            .and_then(|language| length_fault("language", language, MAX_PERSONA_LANGUAGE))
            .map(FileFault::from),
    );
    for (name, words, limit) in
        [("title", &read.title, MAX_PERSONA_NAME), ("description", &read.description, MAX_DESCRIPTION)]
    {
        faults.extend(
            words.0.all().filter_map(|(_, words)| length_fault(name, words, limit)).map(FileFault::from),
        );
    }
    faults.extend(range_faults(&read.settings, text));
    if !faults.is_empty() {
        return Err(faults);
    }
    Ok(Persona {
        name: read.name,
        title: read.title.0,
        description: read.description.0,
        prompt: read.prompt.trim().to_owned(),
        language: read.language,
        settings: read.settings,
    })
}

fn length_fault(name: &str, words: &str, limit: usize) -> Option<String> {
    if words.trim().is_empty() {
        return Some(format!("{name} is empty"));
    }
    let chars = words.trim().chars().count();
    (chars > limit).then(|| format!("{name} has {chars} characters, and takes at most {limit}"))
}

/// Returns the settings outside their ranges, each with its place.
fn range_faults(settings: &Generation, text: &str) -> Vec<FileFault> {
    let wrong = settings.check().err().unwrap_or_default();
    let lines = parse::<SettingLines>(text).map(|lines| lines.settings).unwrap_or_default();
    let at = |name: &str| lines.get(name).map(|at| at.defined.into());
    wrong.iter().map(|fault| FileFault { at: at(fault.name), words: format!("settings: {fault}") }).collect()
}

impl<'de> Deserialize<'de> for LanguageWords {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(PersonaWordsVisitor)
    }
}

struct PersonaWordsVisitor;

impl<'de> Visitor<'de> for PersonaWordsVisitor {
    type Value = LanguageWords;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("words, or words by language such as {en: Tutor, pt: Professor}")
    }

    fn visit_str<E: Error>(self, words: &str) -> Result<LanguageWords, E> {
        let (first, _) = Locales::tags();
        Ok(LanguageWords(ByLanguage::new((first, words.to_owned()), Vec::new())))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<LanguageWords, A::Error> {
        let (first, others) = Locales::tags();
        let (mut of_first, mut of_others) = (None, Vec::new());
        while let Some((tag, words)) = map.next_entry::<String, String>()? {
            if tag == first {
                of_first = Some(words);
            } else if let Some(known) = others.iter().find(|known| **known == tag) {
                of_others.push((*known, words));
            } else {
                let known = others.join(", ");
                return Err(A::Error::custom(format!(
                    "there are no texts in `{tag}`, only in {first}, {known}"
                )));
            }
        }
        let of_first =
            of_first.ok_or_else(|| A::Error::custom(format!("the words in `{first}` are missing")))?;
        Ok(LanguageWords(ByLanguage::new((first, of_first), of_others)))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use tempfile::TempDir;

    use super::*;
    use crate::{Prompts, SystemView};
    use figaro_base::text::estimate_tokens;

    /// The most tokens that a persona of ours adds to the system prompt.
    const MAX_TOKENS: usize = 120;

    const GOOD: &str = "name: pirate
title: {en: Pirate, pt: Pirata}
description: talks like a pirate
prompt: |
  Talk like a pirate.
  Keep the facts right.
language: English
settings:
  temperature: 1.2
  max_tokens: 300
";

    /// A folder of prompts with these files of personas.
    fn folder(files: &[(&str, &str)]) -> TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("personas")).unwrap();
        for (name, text) in files {
            fs::write(folder.path().join("personas").join(name), text).unwrap();
        }
        folder
    }

    fn load(prompts: &Path) -> Result<PersonaSet, Vec<String>> {
        PersonaFiles::of_prompts(Some(prompts)).read(PERSONAS_FOLDER)
    }

    #[test]
    fn a_folder_adds_personas_and_replaces_those_built_in() {
        let tutor = "name: tutor\ntitle: Teacher\ndescription: teaches\nprompt: Teach.";
        let personas = load(folder(&[("pirate.yaml", GOOD), ("tutor.yaml", tutor)]).path()).unwrap();
        let names: Vec<&str> = personas.all().map(|persona| persona.name.as_str()).collect();
        assert_eq!(names, ["coach", "engineer", "pirate", "translator", "tutor"]);
        let pirate = Persona {
            name: "pirate".into(),
            title: ByLanguage::new(("en", "Pirate".into()), vec![("pt", "Pirata".into())]),
            description: ByLanguage::new(("en", "talks like a pirate".into()), vec![]),
            prompt: "Talk like a pirate.\nKeep the facts right.".into(),
            language: Some("English".into()),
            settings: Generation { temperature: Some(1.2), max_tokens: Some(300), ..Generation::default() },
        };
        assert_eq!(**personas.get("pirate").unwrap(), pirate);
        assert_eq!(personas.get("tutor").unwrap().prompt, "Teach.");
        assert_eq!(personas.get("tutor").unwrap().title.of(Some("pt-BR")), "Teacher");
    }

    #[test]
    fn a_persona_of_ours_is_short_and_in_every_language() {
        let prompts = Prompts::load(None).unwrap();
        let tokens = |persona: Option<String>| {
            let view = SystemView { bot_name: "Figaro".into(), persona, ..SystemView::default() };
            estimate_tokens(&prompts.system(&view).unwrap())
        };
        let plain = tokens(None);
        let (first, others) = Locales::tags();
        for persona in prompts.personas().all() {
            let more = tokens(Some(persona.prompt.clone())) - plain;
            println!("{}: {more} tokens", persona.name);
            assert!(more <= MAX_TOKENS, "{}: {more}", persona.name);
            for words in [&persona.title, &persona.description] {
                let mut tags: Vec<&str> = words.all().map(|(tag, _)| tag).collect();
                tags[1..].sort_unstable();
                assert_eq!(tags, [vec![first], others.clone()].concat(), "{}", persona.name);
            }
        }
        assert_eq!(prompts.personas().all().count(), 4);
    }

    #[test]
    fn whatever_is_wrong_with_a_file_is_told_with_its_line() {
        let long = format!("prompt: {}", "a".repeat(MAX_SETTING_CHARS + 1));
        let cases = [
            ("title:", "tite:", "unknown field `tite`", "did you mean title?"),
            ("temperature", "temprature", "unknown field `temprature`", "did you mean temperature?"),
            ("temperature: 1.2", "temperature: 2.5", "settings: temperature is 2.5, and takes 0 to 2", ":9:"),
            ("temperature: 1.2", "temperature: warm", ":9:", ""),
            ("description: talks like a pirate\n", "", "missing field `description`", ""),
            ("name: pirate", "name: corsair", "name is corsair, so the file is to be corsair.yaml", ""),
            ("pt: Pirata", "xx: Pirata", "there are no texts in `xx`, only in en, ar", ":2:"),
            ("en: Pirate, ", "", "the words in `en` are missing", ":2:"),
            ("{en: Pirate, pt: Pirata}", "[a]", "words, or words by language", ":2:"),
            ("{en: Pirate, pt: Pirata}", "''", "title is empty", ""),
            (
                "prompt: |\n  Talk like a pirate.\n  Keep the facts right.",
                &long,
                "prompt has 2001 characters",
                "at most 2000",
            ),
            ("name: pirate", "name: pirate\nname: pirate", "duplicate", ":2:"),
        ];
        for (there, instead, fault, more) in cases {
            let text = GOOD.replacen(there, instead, 1);
            assert_ne!(text, GOOD);
            let faults = load(folder(&[("pirate.yaml", &text)]).path()).unwrap_err();
            assert_eq!(faults.len(), 1, "{faults:?}");
            assert!(faults[0].starts_with("prompts/personas/pirate.yaml:"), "{faults:?}");
            assert!(faults[0].contains(fault) && faults[0].contains(more), "{fault}, {more}: {faults:?}");
            assert_eq!(faults[0].lines().count(), 1, "{faults:?}");
        }
        for name in RESERVED_NAMES {
            let (file, text) =
                (format!("{name}.yaml"), GOOD.replace("name: pirate", &format!("name: {name}")));
            let faults = load(folder(&[(&file, &text)]).path()).unwrap_err();
            assert!(faults[0].contains("means something else behind /persona"), "{faults:?}");
        }
    }
}
