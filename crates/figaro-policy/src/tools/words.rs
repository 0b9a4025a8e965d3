//! What stands behind a key of a rule: a word or a list of words, each with its place.

use std::fmt;

use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_saphyr::{Location, Spanned};

/// One word or several.
#[derive(Debug)]
pub(super) struct List(pub(super) Vec<Word>);

/// A word, and its place where it stands in a list.
#[derive(Debug)]
pub(super) struct Word {
    pub(super) text: String,
    pub(super) at: Option<Location>,
}

impl<'de> Deserialize<'de> for List {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Words)
    }
}

struct Words;

impl<'de> Visitor<'de> for Words {
    type Value = List;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a word or a list of words")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<List, E> {
        Ok(List(vec![Word { text: text.to_owned(), at: None }]))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<List, E> {
        self.visit_str(&number.to_string())
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<List, E> {
        self.visit_str(&number.to_string())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<List, A::Error> {
        let mut words = Vec::new();
        while let Some(item) = items.next_element::<Spanned<One>>()? {
            words.push(Word { at: Some(item.defined), text: item.value.0 });
        }
        if words.is_empty() {
            return Err(A::Error::custom("an empty list never holds: leave the key out, or name something"));
        }
        Ok(List(words))
    }
}

/// A word or a number.
struct One(String);

impl<'de> Deserialize<'de> for One {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let List(words) = deserializer.deserialize_any(Words)?;
        match <[Word; 1]>::try_from(words) {
            Ok([word]) if word.at.is_none() => Ok(Self(word.text)),
            _ => Err(D::Error::custom("a list stands in a list; it takes words")),
        }
    }
}
