//! Reads typed values out of variables and gathers every mistake. Used by the parts of `config`.

use std::collections::HashMap;
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::time::Duration;

use figaro_mcp::proxy::Proxies;

use super::Faults;
use super::variables::{VARIABLES, default_of};

/// The longest value that a complaint shows; longer ones may be a secret that stands in the wrong variable.
const MAX_SHOWN: usize = 8;

/// Complaints are made of a name and fixed words: no value gets into one but through [`shown`].
pub(super) struct Reader<'a> {
    variables: &'a HashMap<String, String>,
    faults: Vec<String>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(variables: &'a HashMap<String, String>) -> Self {
        Self { variables, faults: Vec::new() }
    }

    /// Records what is wrong with a variable, in words that follow its name.
    pub(super) fn fault(&mut self, name: &str, problem: &'static str) {
        self.complain(name, problem);
    }

    /// Records what is wrong with one of the words of a variable, the first being number 1.
    pub(super) fn fault_of_word(&mut self, name: &str, (number, word): (usize, &str), problem: &'static str) {
        self.faults.push(format!("{name} (word {number}, {}) {problem}", shown(word)));
    }

    fn complain(&mut self, name: &str, problem: &str) {
        let fault = match self.get(name) {
            Some(value) => format!("{name} ({}) {problem}", shown(&value)),
            None => format!("{name} {problem}"),
        };
        // Two settings may look at the same variable of the environment.
        if !self.faults.contains(&fault) {
            self.faults.push(fault);
        }
    }

    /// The value as given; an empty one counts as not given.
    pub(super) fn get(&self, name: &str) -> Option<String> {
        self.variables.get(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
    }

    /// A value that must be there.
    pub(super) fn required(&mut self, name: &str, remedy: &'static str) -> Option<String> {
        let value = self.get(name);
        if value.is_none() {
            self.complain(name, &format!("is missing: {remedy}"));
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
            self.fault(name, "is not an address: it begins with http:// or https://");
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
                self.complain(name, &format!("is not a whole number from {low} to {high}"));
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
                self.complain(name, &format!("is not a time from {low}s to {high}s, such as 90s, 10m or 2h"));
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
        self.complain(name, &format!("is not known here: it takes {words}"));
        choices[0].1
    }

    /// The proxies for what this variable is about.
    pub(super) fn proxies(&mut self, name: &'static str) -> Proxies {
        Proxies::read(name, |name| self.get(name)).unwrap_or_else(|wrong| {
            self.fault(wrong, "is not the address of a proxy: it begins with http://, https:// or socks5://");
            Proxies::default()
        })
    }

    /// The settings if nothing was wrong. A value that looks like a secret, in a variable whose value the log and
    /// `figaro check` show, is wrong.
    pub(super) fn finish<T>(mut self, settings: T) -> Result<T, Faults> {
        for variable in VARIABLES.iter().filter(|variable| !variable.is_secret) {
            let is_told = self.faults.iter().any(|fault| fault.starts_with(variable.name));
            if !is_told && self.get(variable.name).is_some_and(|value| looks_secret(&value)) {
                self.complain(
                    variable.name,
                    "looks like a token or a key, which belongs into another variable",
                );
            }
        }
        if self.faults.is_empty() { Ok(settings) } else { Err(Faults(self.faults)) }
    }
}

/// What of a value may be told: a short number or time, and of all else how long it is.
fn shown(value: &str) -> String {
    let is_number =
        value.trim_end_matches(['s', 'm', 'h']).bytes().all(|b| b.is_ascii_digit() || b"+-._ ".contains(&b));
    if is_number && value.len() <= MAX_SHOWN {
        return format!("`{value}`");
    }
    match value.chars().count() {
        1 => "1 character".to_owned(),
        count => format!("{count} characters"),
    }
}

/// Whether a bot's token or a key of a service that marks its keys stands in a text.
fn looks_secret(text: &str) -> bool {
    const MARKS: [&str; 7] = ["sk-", "tvly-", "AIza", "gsk_", "xai-", "ghp_", "hf_"];
    /// The rest of a key is at least so long.
    const MIN_KEY: usize = 20;
    let is_key = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_';
    let key_length = |rest: &str| rest.bytes().take_while(|b| is_key(*b)).count();
    let ends_word = |before: &str| before.bytes().next_back().is_none_or(|b| !is_key(b));
    let marked = MARKS.iter().any(|mark| {
        text.match_indices(mark)
            .any(|(at, _)| ends_word(&text[..at]) && key_length(&text[at + mark.len()..]) >= MIN_KEY)
    });
    let is_token = |(at, _): (usize, &str)| {
        let digits = text[..at].bytes().rev().take_while(u8::is_ascii_digit).count();
        digits >= 6 && key_length(&text[at + 1..]) >= MIN_KEY
    };
    marked || text.match_indices(':').any(is_token)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_complaint_shows_short_numbers_and_of_all_else_the_length() {
        let cases = [
            ("70000", "`70000`"),
            ("-5m", "`-5m`"),
            ("1.5", "`1.5`"),
            ("123456789", "9 characters"),
            ("x", "1 character"),
            ("hunter2", "7 characters"),
            ("pässword", "8 characters"),
            ("1h30m", "5 characters"),
        ];
        for (value, wanted) in cases {
            assert_eq!(shown(value), wanted);
        }
    }

    #[test]
    fn secrets_in_the_wrong_place_are_known_by_their_looks() {
        let secret = [
            "7000000001:AAE-abcdefghijklmnopqrstuvwxyz_01",
            "sled:./7000000001:AAE-abcdefghijklmnopqrstuvwxyz_01",
            "sk-proj-0123456789abcdefghij",
            "openai:sk-0123456789abcdefghijk",
            "AIzaSyA0123456789abcdefghijklmnopqrstuv",
        ];
        let plain = [
            "gpt-4.1-mini",
            "qwen3:8b",
            "hf.co/bartowski/Llama-3.2-3B-Instruct-GGUF:Q4_K_M",
            "openai:gpt-4.1-mini, ollama:qwen3:30b-a3b-instruct-2507-q4_K_M",
            "sled:./data",
            "sled:/srv/risk-assessment-of-the-department/data",
            "figaro=debug,rmcp=warn",
            "12, 7000000001",
            "meta-llama/Llama-4-Maverick-17B-128E-Instruct-FP8",
            "ft:gpt-4.1-2025-04-14:acme::Bxyz1234",
        ];
        assert_eq!(secret.map(looks_secret), [true; 5]);
        assert_eq!(plain.map(looks_secret), [false; 10]);
    }
}
