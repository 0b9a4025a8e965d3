//! File of a pack as written. The published JSON Schema is generated from these types and their docs.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_saphyr::Spanned;

use super::ordered::{Ordered, PackTexts};

pub(super) const TYPES: [&str; 11] =
    ["text", "number", "integer", "boolean", "date", "time", "datetime", "choice", "list", "ref", "schedule"];

/// A context pack of Figaro: kinds of records that a chat can keep. Its name is that of the file.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Context pack")]
pub(super) struct PackFile {
    /// The name of the pack, and of its file without `.yaml`: lower-case letters, digits, `_` and `-`.
    #[schemars(with = "String", regex(pattern = r"^[a-z0-9_-]{1,40}$"))]
    pub(super) name: Spanned<String>,
    /// Name for people.
    #[schemars(with = "PackTexts")]
    pub(super) title: Spanned<PackTexts>,
    /// Its purpose in one line; people see it where they choose packs.
    #[schemars(with = "PackTexts")]
    pub(super) description: Spanned<PackTexts>,
    /// How much of a prompt its records may take.
    #[serde(default)]
    pub(super) tokens: Tokens,
    /// Words of people that matter to this pack.
    #[serde(default)]
    pub(super) importance: Importance,
    /// The kinds of its records, by their names: up to 24 lower-case letters, digits and `_`, beginning with a letter.
    #[schemars(with = "BTreeMap<String, KindFile>")]
    pub(super) kinds: Spanned<Ordered<KindFile>>,
}

/// How much of a prompt records may take.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub(super) struct Tokens {
    /// So many percent of what the model reads at once: 1 to 50, 5 unless it stands here.
    #[schemars(with = "Option<u64>", range(min = 1, max = 50))]
    pub(super) percent: Option<Spanned<u64>>,
    /// Never more than so many tokens: 50 to 8000, 1000 unless it stands here.
    #[schemars(with = "Option<u64>", range(min = 50, max = 8000))]
    pub(super) max: Option<Spanned<u64>>,
}

/// Words by which what people say matters more. A word stands for all that begin with it.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub(super) struct Importance {
    /// Words of the domain: a message with one matters more (+2 of 10).
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    pub(super) terms: Vec<Spanned<String>>,
    /// Words of what may be vital: what somebody states with one is pinned and of importance 10.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    pub(super) critical: Vec<Spanned<String>>,
    /// A sentence with one of these is not vital.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    pub(super) unless: Vec<Spanned<String>>,
}

/// A kind of records.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub(super) struct KindFile {
    /// Title of one record, for people; by default the name of the kind.
    #[schemars(with = "Option<PackTexts>")]
    pub(super) title: Option<Spanned<PackTexts>>,
    /// Title of several records, for people; by default `title`.
    #[schemars(with = "Option<PackTexts>")]
    pub(super) plural: Option<Spanned<PackTexts>>,
    /// Description for the model, in one line.
    #[schemars(with = "Option<String>")]
    pub(super) about: Option<Spanned<String>>,
    /// Its fields, by their names.
    #[schemars(with = "BTreeMap<String, FieldFile>")]
    pub(super) fields: Spanned<Ordered<FieldFile>>,
    /// `true` if each record is one reading of a series, such as a weight on a day.
    #[serde(default)]
    pub(super) series: bool,
    /// The days over which the trend of readings is told: 1 to 366, 30 unless it stands here.
    #[schemars(with = "Option<u32>", range(min = 1, max = 366))]
    pub(super) trend_days: Option<Spanned<u32>>,
    /// A field of a day or time: records whose time has passed are not told to the model.
    #[schemars(with = "Option<String>")]
    pub(super) upcoming: Option<Spanned<String>>,
    /// Words that make its records bear on a question, by the code of their language. Other forms of a word count too.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, Vec<String>>")]
    pub(super) triggers: Ordered<Vec<Spanned<String>>>,
    /// How a record stands in a prompt: a line in which `{{ name }}` stands for what is in a field.
    #[schemars(with = "Option<String>")]
    pub(super) render: Option<Spanned<String>>,
    /// The reminder that its records offer.
    pub(super) remind: Option<RemindFile>,
}

/// The reminder that records offer.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub(super) struct RemindFile {
    /// The field that says when: of type `schedule`, `date` or `datetime`.
    #[schemars(with = "String")]
    pub(super) field: Spanned<String>,
    /// Task of the bot at that time, with `{name}` for the value of a field.
    #[schemars(with = "PackTexts")]
    pub(super) text: Spanned<PackTexts>,
    /// So long before a day or time, such as `1d` or `2h`: a reminder for each.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    pub(super) before: Vec<Spanned<String>>,
}

/// A field.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub(super) struct FieldFile {
    /// Type of its values.
    #[schemars(with = "String", extend("enum" = TYPES))]
    pub(super) r#type: Spanned<String>,
    /// Title for people; by default its name.
    #[schemars(with = "Option<PackTexts>")]
    pub(super) label: Option<Spanned<PackTexts>>,
    /// `true` if every record must have it.
    #[serde(default)]
    pub(super) required: bool,
    /// `true` if it identifies a record: a second record with the same keys changes the first.
    #[serde(default)]
    #[schemars(with = "bool")]
    pub(super) key: Option<Spanned<bool>>,
    /// The unit of a number.
    #[schemars(with = "Option<String>")]
    pub(super) unit: Option<Spanned<String>>,
    /// The least that a number may be.
    #[schemars(with = "Option<f64>")]
    pub(super) min: Option<Spanned<f64>>,
    /// The most that a number may be.
    #[schemars(with = "Option<f64>")]
    pub(super) max: Option<Spanned<f64>>,
    /// The words to choose of, for `choice`.
    #[schemars(with = "Option<Vec<String>>")]
    pub(super) options: Option<Spanned<Vec<Spanned<String>>>>,
    /// The kind that `ref` refers to.
    #[schemars(with = "Option<String>")]
    pub(super) to: Option<Spanned<String>>,
    /// The chart that the readings of a number are drawn in; fields with the same word share one.
    #[schemars(with = "Option<String>")]
    pub(super) chart: Option<Spanned<String>>,
}
