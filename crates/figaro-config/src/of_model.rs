//! Owner's settings for single models or families: `provider:model=…, provider:family*=…`.

use super::reader::VariableReader;

/// Owner's setting for a model, or for all models with a common prefix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OfModel<T> {
    /// Name as `provider:model`, without the trailing `*`.
    pub name: String,
    /// `true` if `name` is a prefix that covers all models starting with it.
    pub is_prefix: bool,
    /// Value of the setting for these models.
    pub value: T,
}

impl<T> OfModel<T> {
    /// Returns the value for `provider:model`. The longest name that covers it wins.
    #[must_use]
    pub fn best<'a>(all: &'a [Self], model: &str) -> Option<&'a T> {
        let covers =
            |own: &&Self| if own.is_prefix { model.starts_with(&own.name) } else { model == own.name };
        Some(&all.iter().filter(covers).max_by_key(|own| own.name.len())?.value)
    }

    /// Reads all entries of a variable, using `value` to parse each value. `advice` is the fault of an invalid entry.
    pub(super) fn read(
        reader: &mut VariableReader<'_>,
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

    fn read_one(reader: &VariableReader<'_>, word: &str, value: fn(&str) -> Option<T>) -> Option<Self> {
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
