//! Value of a rule key: a word or a list of words, each with its place.

use std::fmt;

use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_saphyr::{Location, Spanned};

#[derive(Debug)]
pub(super) struct WordList(pub(super) Vec<Word>);

/// A word, with its place in a list.
#[derive(Debug)]
pub(super) struct Word {
    pub(super) text: String,
    pub(super) at: Option<Location>,
}

impl<'de> Deserialize<'de> for WordList {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(WordListVisitor)
    }
}

struct WordListVisitor;

impl<'de> Visitor<'de> for WordListVisitor {
    type Value = WordList;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a word or a list of words")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<WordList, E> {
        Ok(WordList(vec![Word { text: text.to_owned(), at: None }]))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<WordList, E> {
        self.visit_str(&number.to_string())
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<WordList, E> {
        self.visit_str(&number.to_string())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<WordList, A::Error> {
        let mut words = Vec::new();
        while let Some(item) = items.next_element::<Spanned<One>>()? {
            words.push(Word { at: Some(item.defined), text: item.value.0 });
        }
        if words.is_empty() {
            return Err(A::Error::custom("an empty list never holds: leave the key out, or name something"));
        }
        Ok(WordList(words))
    }
}

/// A single word or number.
struct One(String);

impl<'de> Deserialize<'de> for One {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let WordList(words) = deserializer.deserialize_any(WordListVisitor)?;
        match <[Word; 1]>::try_from(words) {
            Ok([word]) if word.at.is_none() => Ok(Self(word.text)),
            _ => Err(D::Error::custom("a list stands in a list; it takes words")),
        }
    }
}
