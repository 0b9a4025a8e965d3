//! Declarations of a context pack: kinds of records with their fields, and their form in prompts.

use super::words::Words;

/// Maximum length of a text in a field, in characters.
pub(crate) const MAX_TEXT_CHARS: usize = 500;
/// Maximum number of items of a list in a field.
pub(crate) const MAX_LIST_ITEMS: usize = 30;

/// A context pack, as declared in its file.
#[derive(Debug, Clone, PartialEq)]
pub struct Pack {
    /// Name of the pack and of its file.
    pub name: String,
    /// Title for people.
    pub title: Words,
    /// One-line description for people.
    pub description: Words,
    /// Share of a prompt that its records may take.
    pub share: Share,
    /// Words that make a message important.
    pub rules: ImportanceRules,
    /// Kinds of records, in the order of the file.
    pub kinds: Vec<Kind>,
}

/// Limit on the tokens that records may take of a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    /// Share of the model's context window, in percent, from 1 to 50.
    pub percent: usize,
    /// Upper limit in tokens, at least 50.
    pub max: usize,
}

impl Share {
    /// Returns the number of tokens for a context window of this size; `None` for an unknown size.
    #[must_use]
    pub fn of(self, window: Option<usize>) -> usize {
        let window = window.unwrap_or(SMALL_WINDOW);
        (window.saturating_mul(self.percent) / 100).min(self.max)
    }
}

/// Context window assumed for an unknown model: that of small local models, in tokens.
const SMALL_WINDOW: usize = 8_192;

/// Words that raise the importance of a message, in addition to the general ones in `importance.yaml`. An entry matches all
/// words that begin with it. Case and accents are ignored.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ImportanceRules {
    /// Domain words: they raise the importance of a message by 2.
    pub terms: Vec<String>,
    /// Critical words: a person's statement with one has importance 10 and is pinned.
    pub critical: Vec<String>,
    /// Words that exclude a sentence from being vital.
    pub unless: Vec<String>,
}

/// A kind of record.
#[derive(Debug, Clone, PartialEq)]
pub struct Kind {
    /// Name of the kind, used by the model.
    pub name: String,
    /// Title of one record, for people.
    pub title: Words,
    /// Title of several records, for people.
    pub plural: Words,
    /// Description for the model.
    pub about: Option<String>,
    /// Fields of the kind, in the order of the file.
    pub fields: Vec<Field>,
    /// Settings of a history, if each record is a reading of one; `None` for records that stand for things.
    pub series: Option<Series>,
    /// Name of the field with the due day or time. Records that are past due are left out of prompts.
    pub upcoming: Option<String>,
    /// Words that make its records relevant to a question, by language code.
    pub triggers: Vec<(String, Vec<String>)>,
    /// Template of a record's line in a prompt.
    pub render: Option<String>,
    /// Reminder offered by its records.
    pub remind: Option<Remind>,
}

/// Settings of a history of readings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Series {
    /// Period of the trend, in days.
    pub days: u32,
}

/// Reminder offered by the records of a kind.
#[derive(Debug, Clone, PartialEq)]
pub struct Remind {
    /// Field with the time: a schedule, a day, or a day and time.
    pub field: String,
    /// Prompt of the reminder, with `{field}` for the value of a field.
    pub text: Words,
    /// Lead times before a day or a time, in minutes; empty for no lead time.
    pub before: Vec<u32>,
}

/// A field of a kind.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// Name of the field, used by the model.
    pub name: String,
    /// Label for people.
    pub label: Words,
    /// Type of its value.
    pub form: FieldType,
    /// `true` if every record must have a value.
    pub required: bool,
    /// `true` if the field is a key. Records of a kind with the same keys are one record.
    pub key: bool,
    /// Name of the chart that shows the field; several fields may share it. `None` if it is not drawn.
    pub chart: Option<String>,
}

/// Type of a field's value.
#[derive(Debug, Clone, PartialEq)]
pub enum FieldType {
    /// Text in one line, at most `MAX_TEXT_CHARS` characters.
    Text,
    /// A number within its range.
    Number(Range),
    /// A whole number within its range.
    Integer(Range),
    /// Yes or no.
    Boolean,
    /// A day without a time.
    Date,
    /// A time of day, in the zone of the chat.
    Time,
    /// A day with a time.
    Moment,
    /// One of the given options.
    Choice(Vec<String>),
    /// A list of texts, at most `MAX_LIST_ITEMS`.
    List,
    /// A reference to another record, of this kind of the same pack.
    Ref(String),
    /// Times at which something is to be done repeatedly.
    Schedule,
}

/// Unit and limits of a number.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Range {
    /// Unit as shown; `None` for a plain number.
    pub unit: Option<String>,
    /// Smallest value; `None` for no limit.
    pub min: Option<f64>,
    /// Largest value; `None` for no limit.
    pub max: Option<f64>,
}

impl Pack {
    /// Returns the kind with this name.
    #[must_use]
    pub fn kind(&self, name: &str) -> Option<&Kind> {
        self.kinds.iter().find(|kind| kind.name == name)
    }
}

impl Kind {
    /// Returns the field with this name.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.name == name)
    }

    /// Returns the key fields, which identify a record of the kind.
    pub fn keys(&self) -> impl Iterator<Item = &Field> {
        self.fields.iter().filter(|field| field.key)
    }

    /// Returns the charts of its readings with their fields, in the order of the file. Empty for a kind without a history.
    #[must_use]
    pub fn charts(&self) -> Vec<(&str, Vec<&Field>)> {
        let mut charts: Vec<(&str, Vec<&Field>)> = Vec::new();
        for field in self.fields.iter().filter(|_| self.series.is_some()) {
            let Some(name) = field.chart.as_deref() else { continue };
            match charts.iter_mut().find(|(known, _)| *known == name) {
                Some((_, fields)) => fields.push(field),
                None => charts.push((name, vec![field])),
            }
        }
        charts
    }
}

impl FieldType {
    /// Returns `true` if a field of this type can be a key.
    #[must_use]
    pub const fn can_be_key(&self) -> bool {
        match self {
            Self::Text
            | Self::Integer(_)
            | Self::Date
            | Self::Time
            | Self::Moment
            | Self::Choice(_)
            | Self::Ref(_) => true,
            Self::Number(_) | Self::Boolean | Self::List | Self::Schedule => false,
        }
    }

    /// Returns the range of a number; `None` for other types.
    #[must_use]
    pub const fn range(&self) -> Option<&Range> {
        match self {
            Self::Number(range) | Self::Integer(range) => Some(range),
            Self::Text
            | Self::Boolean
            | Self::Date
            | Self::Time
            | Self::Moment
            | Self::Choice(_)
            | Self::List
            | Self::Ref(_)
            | Self::Schedule => None,
        }
    }

    /// Returns the unit of a number; empty for none.
    #[must_use]
    pub fn unit(&self) -> &str {
        self.range().and_then(|range| range.unit.as_deref()).unwrap_or_default()
    }

    /// Returns the description of the type for the model.
    #[must_use]
    pub fn told(&self) -> String {
        match self {
            Self::Text => "text".to_owned(),
            Self::Number(_) | Self::Integer(_) if !self.unit().is_empty() => self.unit().to_owned(),
            Self::Number(_) => "number".to_owned(),
            Self::Integer(_) => "whole number".to_owned(),
            Self::Boolean => "true/false".to_owned(),
            Self::Date => "date".to_owned(),
            Self::Time => "HH:MM".to_owned(),
            Self::Moment => "date and time".to_owned(),
            Self::Choice(options) => options.join("|"),
            Self::List => "list".to_owned(),
            Self::Ref(kind) => format!("name of a {kind}"),
            Self::Schedule => "times of day or cron".to_owned(),
        }
    }
}
