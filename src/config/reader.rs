//! Reads typed values out of variables and gathers every mistake. Used by the parts of `config`.

use std::collections::HashMap;
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::time::Duration;

use super::Faults;
use super::variables::default_of;

pub(super) struct Reader<'a> {
    variables: &'a HashMap<String, String>,
    faults: Vec<String>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(variables: &'a HashMap<String, String>) -> Self {
        Self { variables, faults: Vec::new() }
    }

    /// Records a mistake; it begins with the variable's name.
    pub(super) fn fault(&mut self, fault: impl Into<String>) {
        self.faults.push(fault.into());
    }

    /// The value as given; an empty one counts as not given.
    pub(super) fn get(&self, name: &str) -> Option<String> {
        self.variables.get(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
    }

    /// A value that must be there.
    pub(super) fn required(&mut self, name: &str, remedy: &str) -> Option<String> {
        let value = self.get(name);
        if value.is_none() {
            self.fault(format!("{name} is missing: {remedy}"));
        }
        value
    }

    /// The value, or its default.
    pub(super) fn text(&self, name: &str) -> String {
        self.get(name).unwrap_or_else(|| default_of(name).to_owned())
    }

    /// An http or https address, without a trailing slash.
    pub(super) fn url(&mut self, name: &str) -> String {
        let value = self.text(name);
        let parsed = reqwest::Url::parse(&value).ok();
        if !parsed.is_some_and(|url| ["http", "https"].contains(&url.scheme()) && url.has_host()) {
            // Its value is not shown: an address may carry a password.
            self.fault(format!("{name} is not an address: it begins with http:// or https://"));
        }
        value.trim_end_matches('/').to_owned()
    }

    /// A whole number within bounds.
    pub(super) fn number(&mut self, name: &str, bounds: RangeInclusive<u64>) -> u64 {
        let value = self.text(name);
        match value.parse() {
            Ok(number) if bounds.contains(&number) => number,
            _ => {
                let (low, high) = (bounds.start(), bounds.end());
                self.fault(format!("{name} `{value}` is not a whole number from {low} to {high}"));
                *low
            }
        }
    }

    /// A time such as `90s`, `10m` or `2h`, within bounds; a number alone is seconds.
    pub(super) fn duration(&mut self, name: &str, bounds: RangeInclusive<Duration>) -> Duration {
        let value = self.text(name);
        match duration(&value).filter(|duration| bounds.contains(duration)) {
            Some(duration) => duration,
            None => {
                let (low, high) = (bounds.start().as_secs(), bounds.end().as_secs());
                self.fault(format!(
                    "{name} `{value}` is not a time from {low}s to {high}s, such as 90s, 10m or 2h"
                ));
                *bounds.start()
            }
        }
    }

    /// One of a closed list.
    pub(super) fn choice<T: Copy>(&mut self, name: &str, choices: &[(&str, T)]) -> T {
        let value = self.text(name);
        if let Some((_, choice)) = choices.iter().find(|(word, _)| word.eq_ignore_ascii_case(&value)) {
            return *choice;
        }
        let words = join(choices.iter().map(|(word, _)| word));
        self.fault(format!("{name} `{value}` is not known here: it takes {words}"));
        choices[0].1
    }

    /// The settings if nothing was wrong.
    pub(super) fn finish<T>(self, settings: T) -> Result<T, Faults> {
        if self.faults.is_empty() { Ok(settings) } else { Err(Faults(self.faults)) }
    }
}

fn duration(text: &str) -> Option<Duration> {
    let (number, seconds) = match text.strip_suffix(['s', 'm', 'h']) {
        Some(number) if text.ends_with('m') => (number, 60),
        Some(number) if text.ends_with('h') => (number, 3600),
        Some(number) => (number, 1),
        None => (text, 1),
    };
    number.trim().parse::<u64>().ok()?.checked_mul(seconds).map(Duration::from_secs)
}

fn join(words: impl Iterator<Item = impl Display>) -> String {
    words.map(|word| format!("`{word}`")).collect::<Vec<_>>().join(" or ")
}
