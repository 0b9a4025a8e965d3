//! What a context pack declares: kinds of records with their fields, and how a model is told of them.

use super::words::Words;

/// The most characters of a text in a field.
pub(crate) const MAX_TEXT_CHARS: usize = 500;
/// The most items of a list in a field.
pub(crate) const MAX_LIST_ITEMS: usize = 30;

/// A context pack, as its file declares it.
#[derive(Debug, Clone, PartialEq)]
pub struct Pack {
    /// The name of the pack and of its file.
    pub name: String,
    /// What people call it.
    pub title: Words,
    /// What it is for, in a line.
    pub description: Words,
    /// How much of a prompt its records may take.
    pub share: Share,
    /// What matters in what people say.
    pub rules: Rules,
    /// The kinds of its records, in the order of the file.
    pub kinds: Vec<Kind>,
}

/// How many tokens records may take of a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    /// So many percent of what the model reads at once, 1 to 50.
    pub percent: usize,
    /// Never more than so many tokens, 50 and more.
    pub max: usize,
}

impl Share {
    /// The tokens for a model that reads so many at once; `None` if nobody knows how many.
    #[must_use]
    pub fn of(self, window: Option<usize>) -> usize {
        let window = window.unwrap_or(SMALL_WINDOW);
        (window.saturating_mul(self.percent) / 100).min(self.max)
    }
}

/// The window of a model that nobody knows: what small local models read.
const SMALL_WINDOW: usize = 8_192;

/// Words by which what people say matters more, as those of every chat stand in `importance.yaml`: a word stands for all that begin
/// with it, in lower case and without accents.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rules {
    /// Words of the domain: what has one matters 2 more.
    pub terms: Vec<String>,
    /// Words of what may be vital: a person's statement with one is of importance 10 and pinned.
    pub critical: Vec<String>,
    /// A sentence with one of these is not vital.
    pub unless: Vec<String>,
}

/// A kind of records.
#[derive(Debug, Clone, PartialEq)]
pub struct Kind {
    /// Its name, which the model uses.
    pub name: String,
    /// What people call a record of it.
    pub title: Words,
    /// What people call several.
    pub plural: Words,
    /// What it is, for the model.
    pub about: Option<String>,
    /// Its fields, in the order of the file.
    pub fields: Vec<Field>,
    /// How it is told where each record is one reading of a history; `None` for records that stand for things.
    pub series: Option<Series>,
    /// The field of a day or time; records whose time has passed are not told.
    pub upcoming: Option<String>,
    /// Words that make its records bear on a question: the code of their language, and the words.
    pub triggers: Vec<(String, Vec<String>)>,
    /// The template of its line in a prompt.
    pub render: Option<String>,
    /// The reminder that its records offer.
    pub remind: Option<Remind>,
}

/// A history of readings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Series {
    /// The trend is told over so many days.
    pub days: u32,
}

/// The reminder that records of a kind offer.
#[derive(Debug, Clone, PartialEq)]
pub struct Remind {
    /// The field that says when: a schedule, a day, or a time.
    pub field: String,
    /// What the bot is to do then, with `{field}` for what stands in a field.
    pub text: Words,
    /// So long before a day or a time, in minutes; empty for at that time.
    pub before: Vec<u32>,
}

/// A field of a kind.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// Its name, which the model uses.
    pub name: String,
    /// What people call it.
    pub label: Words,
    /// What may stand in it.
    pub form: FieldType,
    /// No record is without it.
    pub required: bool,
    /// Records of a kind with the same keys are one record.
    pub key: bool,
    /// The chart that it is drawn in, by a name that fields of one chart share; `None` for what is not drawn.
    pub chart: Option<String>,
}

/// What may stand in a field.
#[derive(Debug, Clone, PartialEq)]
pub enum FieldType {
    /// Words in one line, at most `MAX_TEXT_CHARS` characters.
    Text,
    /// A number.
    Number(Range),
    /// A whole number.
    Integer(Range),
    /// Yes or no.
    Boolean,
    /// A day.
    Date,
    /// A time of day.
    Time,
    /// A day and a time.
    Moment,
    /// One of these words.
    Choice(Vec<String>),
    /// Several words, at most `MAX_LIST_ITEMS`.
    List,
    /// Another record, of this kind of the same pack.
    Ref(String),
    /// When something is to be done again and again.
    Schedule,
}

/// What a number may be.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Range {
    /// The unit, as it is shown; `None` for a plain number.
    pub unit: Option<String>,
    /// The least.
    pub min: Option<f64>,
    /// The most.
    pub max: Option<f64>,
}

impl Pack {
    /// The kind of this name.
    #[must_use]
    pub fn kind(&self, name: &str) -> Option<&Kind> {
        self.kinds.iter().find(|kind| kind.name == name)
    }
}

impl Kind {
    /// The field of this name.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.name == name)
    }

    /// The fields by which its records are told apart.
    pub fn keys(&self) -> impl Iterator<Item = &Field> {
        self.fields.iter().filter(|field| field.key)
    }

    /// The charts of its readings: the name of each, and its fields, in the order of the file. None for a kind without a history.
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
    /// Whether records can be told apart by it.
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

    /// The range of a number; `None` for what is none.
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

    /// The unit of a number; empty for none.
    #[must_use]
    pub fn unit(&self) -> &str {
        self.range().and_then(|range| range.unit.as_deref()).unwrap_or_default()
    }

    /// What a model is told that may stand there.
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
