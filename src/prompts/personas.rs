//! Personas as files: one YAML file each in `prompts/personas/`. Read by [`super::Prompts::load`].

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use serde::de::{Error, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_saphyr::Spanned;

use super::files::{Folder, name_faults, parse};
use super::texts::Locales;
use crate::domain::chat::MAX_SETTING_CHARS;
use crate::domain::generation::Generation;
use crate::domain::language::ByLanguage;
use crate::domain::persona::{MAX_PERSONA_NAME, Persona, RESERVED_NAMES};

/// The files of personas.
const FOLDER: Folder = Folder {
    name: "personas",
    what: "a persona",
    embedded: &[
        ("coach", include_str!("../../prompts/personas/coach.yaml")),
        ("engineer", include_str!("../../prompts/personas/engineer.yaml")),
        ("translator", include_str!("../../prompts/personas/translator.yaml")),
        ("tutor", include_str!("../../prompts/personas/tutor.yaml")),
    ],
};
/// The most characters of a description: it is a line of a card.
const MAX_DESCRIPTION: usize = 120;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: String,
    title: Words,
    description: Words,
    prompt: String,
    language: Option<String>,
    #[serde(default)]
    settings: Generation,
}

/// The lines of a file that hold settings.
#[derive(Deserialize)]
struct Lines {
    #[serde(default)]
    settings: BTreeMap<String, Spanned<IgnoredAny>>,
}

/// Words for everybody, or by language.
struct Words(ByLanguage<String>);

/// The personas of the folder and, where it has none of their name, those built in.
///
/// # Errors
/// Everything that is wrong with any file, each with the file's name.
pub(super) fn load(folder: Option<&Path>) -> Result<BTreeMap<String, Persona>, Vec<String>> {
    FOLDER.load(folder, read)
}

fn read(file: &str, text: &str) -> Result<Persona, Vec<String>> {
    let read: File = parse(text)?;
    let mut faults: Vec<String> = name_faults(&read.name, file).into_iter().collect();
    if RESERVED_NAMES.contains(&read.name.as_str()) {
        faults.push(format!("name is {}, which means something else behind /persona", read.name));
    }
    faults.extend(length_fault("prompt", &read.prompt, MAX_SETTING_CHARS));
    faults.extend(read.language.as_ref().and_then(|language| length_fault("language", language, 100)));
    for (name, words, limit) in
        [("title", &read.title, MAX_PERSONA_NAME), ("description", &read.description, MAX_DESCRIPTION)]
    {
        faults.extend(words.0.all().filter_map(|(_, words)| length_fault(name, words, limit)));
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

/// Settings outside their ranges, each with its line.
fn range_faults(settings: &Generation, text: &str) -> Vec<String> {
    let wrong = settings.check().err().unwrap_or_default();
    let lines = parse::<Lines>(text).map(|lines| lines.settings).unwrap_or_default();
    let line = |name: &str| lines.get(name).map(|at| format!(" at line {}", at.defined.line()));
    wrong.iter().map(|fault| format!("settings: {fault}{}", line(fault.name).unwrap_or_default())).collect()
}

impl<'de> Deserialize<'de> for Words {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Read)
    }
}

struct Read;

impl<'de> Visitor<'de> for Read {
    type Value = Words;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("words, or words by language such as {en: Tutor, pt: Professor}")
    }

    fn visit_str<E: Error>(self, words: &str) -> Result<Words, E> {
        let (first, _) = Locales::tags();
        Ok(Words(ByLanguage::new((first, words.to_owned()), Vec::new())))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Words, A::Error> {
        let (first, others) = Locales::tags();
        let (mut of_first, mut of_others) = (None, Vec::new());
        while let Some((tag, words)) = map.next_entry::<String, String>()? {
            if tag == first {
                of_first = Some(words);
            } else if let Some(known) = others.iter().find(|known| **known == tag) {
                of_others.push((*known, words));
            } else {
                let known = others.join(", ");
                return Err(A::Error::custom(format!("there are no texts in `{tag}`, only in {first}, {known}")));
            }
        }
        let of_first = of_first.ok_or_else(|| A::Error::custom(format!("the words in `{first}` are missing")))?;
        Ok(Words(ByLanguage::new((first, of_first), of_others)))
    }
}
