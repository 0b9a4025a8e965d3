//! What the owner says of single models or families of them: `provider:model=…, provider:family*=…`. Read by the settings
//! that are made so.

use super::reader::Reader;

/// What the owner says of a model, or of all whose names begin so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OfModel<T> {
    /// `provider:model`, without the `*` that may end it.
    pub name: String,
    /// It covers every model whose name begins so.
    pub is_prefix: bool,
    /// What holds for them.
    pub value: T,
}

impl<T> OfModel<T> {
    /// What is said of this `provider:model`; where several cover it, the one with the longest name counts.
    #[must_use]
    pub fn best<'a>(all: &'a [Self], model: &str) -> Option<&'a T> {
        let covers =
            |own: &&Self| if own.is_prefix { model.starts_with(&own.name) } else { model == own.name };
        Some(&all.iter().filter(covers).max_by_key(|own| own.name.len())?.value)
    }

    /// All that a variable says, by how a value is read; `advice` tells of one that is not of the form.
    pub(super) fn read(
        reader: &mut Reader<'_>,
        variable: &'static str,
        advice: &'static str,
        value: fn(&str) -> Option<T>,
    ) -> Vec<Self> {
        let text = reader.get(variable).unwrap_or_default();
        let words = text.split(',').map(str::trim).filter(|word| !word.is_empty());
        let mut all = Vec::new();
        for (number, word) in (1..).zip(words) {
            match Self::read_one(reader, word, value) {
                Some(one) => all.push(one),
                None => reader.fault_of_word(variable, number, word, advice),
            }
        }
        all
    }

    fn read_one(reader: &Reader<'_>, word: &str, value: fn(&str) -> Option<T>) -> Option<Self> {
        let (name, said) = word.rsplit_once('=')?;
        let name = name.trim();
        let (provider, model) = name.split_once(':')?;
        if model.is_empty() || !reader.providers().iter().any(|known| known.name == provider) {
            return None;
        }
        let prefix = name.strip_suffix('*');
        Some(Self {
            name: prefix.unwrap_or(name).to_owned(),
            is_prefix: prefix.is_some(),
            value: value(said)?,
        })
    }
}
