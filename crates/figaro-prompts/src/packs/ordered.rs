//! Maps in the order of the file, and texts by language.

use std::fmt;
use std::marker::PhantomData;

use schemars::JsonSchema;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_saphyr::Spanned;

use figaro_domain::record::Words;

/// Keys with values, in the order of the file; each value with its place.
#[derive(Debug)]
pub(super) struct Ordered<V>(pub(super) Vec<(String, Spanned<V>)>);

impl<V> Default for Ordered<V> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, V: Deserialize<'de>> Deserialize<'de> for Ordered<V> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(ReadOrdered(PhantomData))
    }
}

struct ReadOrdered<V>(PhantomData<V>);

impl<'de, V: Deserialize<'de>> Visitor<'de> for ReadOrdered<V> {
    type Value = Ordered<V>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("keys with values")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Ordered<V>, A::Error> {
        let mut all = Vec::new();
        while let Some(entry) = map.next_entry::<String, Spanned<V>>()? {
            all.push(entry);
        }
        Ok(Ordered(all))
    }
}

/// Text for everybody, or by language code.
#[derive(Debug)]
pub(super) struct PackTexts(pub(super) Words);

impl JsonSchema for PackTexts {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Texts".into()
    }

    fn json_schema(_generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "anyOf": [
                {"type": "string", "minLength": 1},
                {
                    "type": "object",
                    "minProperties": 1,
                    "propertyNames": {"pattern": "^[a-z]{2,3}$"},
                    "additionalProperties": {"type": "string", "minLength": 1},
                },
            ],
        })
    }
}

impl<'de> Deserialize<'de> for PackTexts {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(PackTextsVisitor)
    }
}

struct PackTextsVisitor;

impl<'de> Visitor<'de> for PackTextsVisitor {
    type Value = PackTexts;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("words, or words by language such as {en: Patient, pt: Paciente}")
    }

    fn visit_str<E: Error>(self, words: &str) -> Result<PackTexts, E> {
        Ok(PackTexts(Words::plain(words.trim())))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<PackTexts, A::Error> {
        let mut all = Vec::new();
        while let Some((code, words)) = map.next_entry::<String, String>()? {
            if !is_code(&code) {
                return Err(A::Error::custom(format!(
                    "`{code}` is no code of a language: write two or three lower-case letters, such as en or pt"
                )));
            }
            all.push((code, words.trim().to_owned()));
        }
        if all.is_empty() {
            return Err(A::Error::custom("there are no words: write them behind it, or behind a language"));
        }
        Ok(PackTexts(Words::by_language(all)))
    }
}

/// Returns `true` if this may be the ISO code of a language.
pub(super) fn is_code(code: &str) -> bool {
    (2..=3).contains(&code.len()) && code.bytes().all(|byte| byte.is_ascii_lowercase())
}
