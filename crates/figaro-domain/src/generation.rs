//! Generation settings of people and agents, with their ranges. Of several values the nearest wins: request, chat, persona,
//! agent, then the default of the model.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Settings of a model call; what is `None` is left to the next in line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(inline)]
pub struct Generation {
    /// 0 to 2: how freely words are chosen.
    #[schemars(range(min = 0.0, max = 2.0))]
    pub temperature: Option<f64>,
    /// The most tokens of an answer, at least 1.
    #[schemars(range(min = 1))]
    pub max_tokens: Option<u32>,
    /// 0 to 1: only words within this share of likelihood.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub top_p: Option<f64>,
    /// -2 to 2: against saying the same words often.
    #[schemars(range(min = -2.0, max = 2.0))]
    pub frequency_penalty: Option<f64>,
    /// -2 to 2: against coming back to the same words at all.
    #[schemars(range(min = -2.0, max = 2.0))]
    pub presence_penalty: Option<f64>,
    /// 0 to 2: Ollama's measure against repetition, 1 for none.
    #[schemars(range(min = 0.0, max = 2.0))]
    pub repeat_penalty: Option<f64>,
    /// The form of the answer.
    pub output_format: Option<OutputFormat>,
}

/// The form of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum OutputFormat {
    /// Free text, for people.
    Text,
    /// One JSON value and nothing else.
    Json,
}

/// Error for a setting outside its range.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{name} is {value}, and takes {low} to {high}")]
pub struct OutOfRange {
    /// Name of the setting, one of [`Generation::NAMES`].
    pub name: &'static str,
    /// Refused value.
    pub value: f64,
    /// Smallest value allowed.
    pub low: f64,
    /// Largest value allowed.
    pub high: f64,
}

/// Reason why a setting could not be changed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum BadSetting {
    /// No setting has this name.
    #[error(
        "{0} is no setting; there are temperature, max_tokens, top_p, frequency_penalty, presence_penalty, repeat_penalty and output_format"
    )]
    Unknown(String),
    /// The setting, by name, does not accept this text.
    #[error("{0} does not take {1}")]
    NoValue(String, String),
    /// The value is outside the range of the setting.
    #[error(transparent)]
    OutOfRange(#[from] OutOfRange),
}

fn read<T: std::str::FromStr>(name: &str, text: &str) -> Result<T, BadSetting> {
    text.parse().map_err(|_odd| BadSetting::NoValue(name.to_owned(), text.to_owned()))
}

impl Generation {
    /// Checks the ranges of all settings.
    ///
    /// # Errors
    /// All settings outside their range.
    pub fn check(&self) -> Result<(), Vec<OutOfRange>> {
        let ranges = [
            ("temperature", self.temperature, 0.0, 2.0),
            ("max_tokens", self.max_tokens.map(f64::from), 1.0, f64::from(u32::MAX)),
            ("top_p", self.top_p, 0.0, 1.0),
            ("frequency_penalty", self.frequency_penalty, -2.0, 2.0),
            ("presence_penalty", self.presence_penalty, -2.0, 2.0),
            ("repeat_penalty", self.repeat_penalty, 0.0, 2.0),
        ];
        let wrong = ranges.into_iter().filter_map(|(name, value, low, high)| {
            let value = value?;
            // NaN is in no range.
            (!(low..=high).contains(&value)).then_some(OutOfRange { name, value, low, high })
        });
        let wrong: Vec<OutOfRange> = wrong.collect();
        if wrong.is_empty() { Ok(()) } else { Err(wrong) }
    }

    /// Names of all settings, in the order of [`Self::entries`].
    pub const NAMES: [&str; 7] = [
        "temperature",
        "max_tokens",
        "top_p",
        "frequency_penalty",
        "presence_penalty",
        "repeat_penalty",
        "output_format",
    ];

    /// Returns the settings with one value changed, as a person writes it. `None` clears the value.
    ///
    /// # Errors
    /// If the setting does not exist, or the value cannot be parsed or is outside its range.
    pub fn with(mut self, name: &str, value: Option<&str>) -> Result<Self, BadSetting> {
        let number = || value.map(|text| read(name, &text.replace(',', "."))).transpose();
        match name {
            "temperature" => self.temperature = number()?,
            "max_tokens" => self.max_tokens = value.map(|text| read(name, text)).transpose()?,
            "top_p" => self.top_p = number()?,
            "frequency_penalty" => self.frequency_penalty = number()?,
            "presence_penalty" => self.presence_penalty = number()?,
            "repeat_penalty" => self.repeat_penalty = number()?,
            "output_format" => {
                self.output_format = match value {
                    None => None,
                    Some("text") => Some(OutputFormat::Text),
                    Some("json") => Some(OutputFormat::Json),
                    Some(other) => return Err(BadSetting::NoValue(name.to_owned(), other.to_owned())),
                }
            }
            _ => return Err(BadSetting::Unknown(name.to_owned())),
        }
        match self.check() {
            Ok(()) => Ok(self),
            Err(mut wrong) => {
                Err(wrong.pop().map_or_else(|| BadSetting::Unknown(name.to_owned()), Into::into))
            }
        }
    }

    /// Returns the settings that have a value, by name, in the form that people write.
    #[must_use]
    pub fn entries(&self) -> Vec<(&'static str, String)> {
        let number = |value: Option<f64>| value.map(|value| value.to_string());
        let format = self.output_format.map(|format| match format {
            OutputFormat::Text => "text".to_owned(),
            OutputFormat::Json => "json".to_owned(),
        });
        let values = [
            number(self.temperature),
            self.max_tokens.map(|value| value.to_string()),
            number(self.top_p),
            number(self.frequency_penalty),
            number(self.presence_penalty),
            number(self.repeat_penalty),
            format,
        ];
        Self::NAMES.into_iter().zip(values).filter_map(|(name, value)| Some((name, value?))).collect()
    }

    /// Returns these settings; `further` fills the empty ones.
    #[must_use]
    pub(crate) fn or(self, further: Self) -> Self {
        Self {
            temperature: self.temperature.or(further.temperature),
            max_tokens: self.max_tokens.or(further.max_tokens),
            top_p: self.top_p.or(further.top_p),
            frequency_penalty: self.frequency_penalty.or(further.frequency_penalty),
            presence_penalty: self.presence_penalty.or(further.presence_penalty),
            repeat_penalty: self.repeat_penalty.or(further.repeat_penalty),
            output_format: self.output_format.or(further.output_format),
        }
    }

    /// Merges several settings, nearest first. For each setting the first value wins.
    #[must_use]
    pub fn nearest(settings: impl IntoIterator<Item = Self>) -> Self {
        settings.into_iter().fold(Self::default(), Self::or)
    }

    /// Returns those of the given names that have a value.
    #[must_use]
    pub fn set_among(&self, names: &[&'static str]) -> Vec<&'static str> {
        self.entries().into_iter().map(|(name, _)| name).filter(|name| names.contains(name)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_has_its_range() {
        let with = |change: fn(&mut Generation)| {
            let mut settings = Generation::default();
            change(&mut settings);
            settings
                .check()
                .err()
                .map(|wrong| wrong.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))
        };
        type Case = (fn(&mut Generation), Option<&'static str>);
        let cases: [Case; 9] = [
            (|_| {}, None),
            (|s| s.temperature = Some(2.0), None),
            (|s| s.temperature = Some(2.1), Some("temperature is 2.1, and takes 0 to 2")),
            (|s| s.max_tokens = Some(0), Some("max_tokens is 0, and takes 1 to 4294967295")),
            (|s| s.top_p = Some(-0.1), Some("top_p is -0.1, and takes 0 to 1")),
            (|s| s.frequency_penalty = Some(f64::NAN), Some("frequency_penalty is NaN, and takes -2 to 2")),
            (|s| s.presence_penalty = Some(-2.0), None),
            (|s| s.repeat_penalty = Some(3.0), Some("repeat_penalty is 3, and takes 0 to 2")),
            (
                |s| (s.top_p, s.repeat_penalty) = (Some(2.0), Some(-1.0)),
                Some("top_p is 2, and takes 0 to 1; repeat_penalty is -1, and takes 0 to 2"),
            ),
        ];
        for (at, (change, wanted)) in cases.into_iter().enumerate() {
            assert_eq!(with(change).as_deref(), wanted, "case {at}");
        }
    }

    /// Request, chat, persona, agent: whichever of them say something, the first of those counts. Each of the seven settings
    /// is looked at by itself.
    #[test]
    fn of_several_settings_the_nearest_counts() {
        let all = |value: u32| Generation {
            temperature: Some(f64::from(value)),
            max_tokens: Some(value),
            top_p: Some(f64::from(value)),
            frequency_penalty: Some(f64::from(value)),
            presence_penalty: Some(f64::from(value)),
            repeat_penalty: Some(f64::from(value)),
            output_format: Some(if value == 1 { OutputFormat::Text } else { OutputFormat::Json }),
        };
        let [request, chat, persona, agent] = [1, 2, 3, 4].map(all);
        let none = Generation::default();
        let cases = [
            ([request, chat, persona, agent], request),
            ([none, chat, persona, agent], chat),
            ([none, none, persona, agent], persona),
            ([none, none, none, agent], agent),
            ([none; 4], none),
            ([request, none, none, agent], request),
        ];
        for (at, (settings, wanted)) in cases.into_iter().enumerate() {
            assert_eq!(Generation::nearest(settings), wanted, "case {at}");
        }
        let warm = Generation { temperature: Some(0.5), ..none };
        let mixed = Generation::nearest([warm, persona]);
        assert_eq!(mixed, Generation { temperature: Some(0.5), ..persona });
    }

    #[test]
    fn a_person_changes_one_at_a_time() {
        let after = |name: &str, value: Option<&str>| {
            let before = Generation { temperature: Some(0.5), ..Generation::default() };
            let words = |settings: Generation| {
                let entries = settings.entries().into_iter().map(|(name, value)| format!("{name} {value}"));
                entries.collect::<Vec<_>>().join(", ")
            };
            before.with(name, value).map(words).map_err(|error| error.to_string())
        };
        let cases = [
            ("top_p", Some("0,9"), Ok("temperature 0.5, top_p 0.9")),
            ("temperature", None, Ok("")),
            ("output_format", Some("json"), Ok("temperature 0.5, output_format json")),
            ("temperature", Some("3"), Err("temperature is 3, and takes 0 to 2")),
            ("max_tokens", Some("-1"), Err("max_tokens does not take -1")),
            ("output_format", Some("xml"), Err("output_format does not take xml")),
        ];
        for (name, value, wanted) in cases {
            assert_eq!(after(name, value), wanted.map(str::to_owned).map_err(str::to_owned), "{name}");
        }
        assert!(after("colour", None).unwrap_err().starts_with("colour is no setting"));
    }

    #[test]
    fn the_nearest_setting_wins() {
        let near = Generation { temperature: Some(0.1), ..Generation::default() };
        let far = Generation { temperature: Some(0.9), top_p: Some(0.5), ..Generation::default() };
        let both = near.or(far);
        assert_eq!((both.temperature, both.top_p, both.max_tokens), (Some(0.1), Some(0.5), None));
        assert_eq!(both.set_among(&["top_p", "max_tokens"]), ["top_p"]);
    }
}
