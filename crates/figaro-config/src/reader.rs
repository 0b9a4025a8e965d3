//! Reads typed values from variables and collects all faults. Used by the modules of this crate.

use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::time::Duration;

use figaro_mcp::proxy::Proxies;

use super::faults::{MISSING, SettingsFaults};
use super::variables::Variables;
use figaro_base::text::with_nearest;
use figaro_domain::provider_spec::ProviderSpec;

/// Longest number shown in a fault. The number at the start of a bot token has more digits.
const MAX_NUMBER: usize = 8;
/// Longest word shown in a fault. Keys are longer and have digits.
const MAX_WORD: usize = 16;

/// Reads typed values and collects faults. A fault consists of a name and fixed words; values enter only through
/// [`shown`].
pub(super) struct VariableReader<'a> {
    values: &'a HashMap<String, String>,
    variables: &'a Variables,
    faults: Vec<String>,
}

impl<'a> VariableReader<'a> {
    /// Makes a reader of these values, by variable name. `variables` has the defaults and knows which are secret.
    pub(super) fn new(values: &'a HashMap<String, String>, variables: &'a Variables) -> Self {
        Self { values, variables, faults: Vec::new() }
    }

    /// Returns the raw values, by variable name.
    pub(super) const fn values(&self) -> &'a HashMap<String, String> {
        self.values
    }

    /// Returns the known providers, the default one first.
    pub(super) fn providers(&self) -> &'a [ProviderSpec] {
        self.variables.providers()
    }

    /// Records a fault in a variable, in words that follow its name.
    pub(super) fn fault(&mut self, name: &str, problem: &'static str) {
        self.complain(name, problem);
    }

    /// Records a fault in one word of a variable; words count from 1.
    pub(super) fn fault_of_word(&mut self, name: &str, number: usize, word: &str, problem: &'static str) {
        self.faults.push(format!("{name} (word {number}, {}) {problem}", self.shown(name, word)));
    }

    /// Records a fault with the value, as [`shown`] shows it.
    pub(super) fn complain(&mut self, name: &str, problem: &str) {
        let fault = match self.get(name) {
            Some(value) => format!("{name} ({}) {problem}", self.shown(name, &value)),
            None => format!("{name} {problem}"),
        };
        self.add(fault);
    }

    /// Records a fault unless it is there already: two settings may read the same variable.
    fn add(&mut self, fault: String) {
        if !self.faults.contains(&fault) {
            self.faults.push(fault);
        }
    }

    fn shown(&self, name: &str, value: &str) -> String {
        shown(value, self.variables.holds_secret(name))
    }

    /// Returns the trimmed value; `None` if unset or blank.
    pub(super) fn get(&self, name: &str) -> Option<String> {
        self.values.get(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
    }

    /// Reads a required value. Records a fault if it is missing.
    pub(super) fn required(&mut self, name: &str, remedy: &'static str) -> Option<String> {
        let value = self.get(name);
        if value.is_none() {
            self.add(format!("{name}{MISSING}{remedy}"));
        }
        value
    }

    /// Reads a value, or its default.
    pub(super) fn text(&self, name: &str) -> String {
        self.get(name).unwrap_or_else(|| self.variables.default_of(name).to_owned())
    }

    /// Reads an http or https URL, without trailing slashes.
    pub(super) fn url(&mut self, name: &str) -> String {
        let value = self.text(name);
        let parsed = url::Url::parse(&value).ok();
        if !parsed.is_some_and(|url| ["http", "https"].contains(&url.scheme()) && url.has_host()) {
            self.fault(name, "is not an address: it begins with http:// or https://");
        }
        value.trim_end_matches('/').to_owned()
    }

    /// Reads a whole number within bounds.
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

    /// Reads a duration such as `90s`, `10m` or `1h30m`, within bounds. A plain number is in seconds.
    pub(super) fn duration(&mut self, name: &str, bounds: RangeInclusive<Duration>) -> Duration {
        let value = self.text(name);
        match duration(&value).filter(|duration| bounds.contains(duration)) {
            Some(duration) => duration,
            None => {
                let (low, high) = (with_unit(*bounds.start()), with_unit(*bounds.end()));
                self.complain(name, &format!("is not a time from {low} to {high}, such as 90s, 10m or 2h"));
                *bounds.start()
            }
        }
    }

    /// Reads one value of a closed list.
    pub(super) fn choice<T: Copy>(&mut self, name: &str, choices: &[(&str, T)]) -> T {
        let words: Vec<&str> = choices.iter().map(|(word, _)| *word).collect();
        choices[self.word_of(name, &words).unwrap_or_default()].1
    }

    /// Returns the index of the matching word, ignoring case. Records a fault and returns `None` if no word matches.
    pub(super) fn word_of(&mut self, name: &str, words: &[&str]) -> Option<usize> {
        let value = self.text(name);
        let found = words.iter().position(|word| word.eq_ignore_ascii_case(&value));
        if found.is_none() {
            let fault = format!("is not known here: it takes {}", join(words));
            self.complain(name, &with_nearest(fault, &value.to_lowercase(), words.iter().copied()));
        }
        found
    }

    /// Reads the proxies from this variable.
    pub(super) fn proxies(&mut self, name: &'static str) -> Proxies {
        Proxies::read(name, |name| self.get(name)).unwrap_or_else(|wrong| {
            self.fault(wrong, "is not the address of a proxy: it begins with http://, https:// or socks5://");
            Proxies::default()
        })
    }

    /// Returns a part of the settings if there was no fault.
    pub(super) fn finish_part<T>(self, part: T) -> Result<T, SettingsFaults> {
        if self.faults.is_empty() { Ok(part) } else { Err(SettingsFaults(self.faults)) }
    }

    /// Returns the settings if there was no fault. A value that looks like a secret is a fault in a variable that the
    /// log and `figaro check` show.
    pub(super) fn finish<T>(mut self, settings: T) -> Result<T, SettingsFaults> {
        let variables = self.variables;
        for variable in variables.iter().filter(|variable| !variables.holds_secret(variable.name)) {
            let is_told = self.faults.iter().any(|fault| fault.starts_with(variable.name));
            if !is_told && self.get(variable.name).is_some_and(|value| looks_secret(&value)) {
                self.complain(
                    variable.name,
                    "looks like a token or a key, which belongs into another variable",
                );
            }
        }
        self.finish_part(settings)
    }
}

/// Describes a value without leaking secrets: quotes a short number, time or word, as in a typing error. For other
/// values and for secret variables gives only the length.
fn shown(value: &str, is_secret: bool) -> String {
    let number = value.trim_end_matches(['s', 'm', 'h']);
    let is_number = number.bytes().all(|b| b.is_ascii_digit() || b"+-._ ".contains(&b));
    // Only a leading `@` is allowed: further on it follows a password.
    let word = value.strip_prefix('@').unwrap_or(value);
    let is_word = word.bytes().all(|b| b.is_ascii_alphabetic() || b"/_-:".contains(&b));
    let is_short = (is_number && value.len() <= MAX_NUMBER) || (is_word && value.len() <= MAX_WORD);
    if is_short && !is_secret {
        return format!("`{value}`");
    }
    match value.chars().count() {
        1 => "1 character".to_owned(),
        count => format!("{count} characters"),
    }
}

/// Returns `true` if the text contains a bot token or an API key. Keys are random: unlike names and paths, they mix
/// kinds of characters within a word.
#[must_use]
pub fn looks_secret(text: &str) -> bool {
    /// Known prefixes of API keys.
    const MARKS: [&str; 14] = [
        "sk-",
        "csk-",
        "tvly-",
        "AIza",
        "gsk_",
        "xai-",
        "ghp_",
        "github_pat_",
        "hf_",
        "fw_",
        "r8_",
        "pplx-",
        "nvapi-",
        "glpat-",
    ];
    /// Minimum length of a key after its prefix.
    const MIN_KEY: usize = 20;
    /// Minimum length of the second part of a bot token, which has 35 characters.
    const MIN_TOKEN: usize = 30;
    /// Minimum length of a run of letters and digits in a key without a known prefix.
    const MIN_RUN: usize = 32;
    let is_key = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    text.split(|c| !is_key(c) && c != ':').any(|word| {
        let parts: Vec<&str> = word.split(':').collect();
        let marked = |part: &&str| {
            MARKS
                .iter()
                .filter_map(|mark| part.strip_prefix(mark))
                .any(|key| key.len() >= MIN_KEY && is_random(key))
        };
        let bare = |part: &&str| part.split(['-', '_']).any(|run| run.len() >= MIN_RUN && kinds(run) == 3);
        let is_token = |pair: &[&str]| {
            let digits = pair[0].bytes().rev().take_while(u8::is_ascii_digit).count();
            digits >= 6 && pair[1].len() >= MIN_TOKEN && kinds(pair[1]) >= 2
        };
        parts.iter().any(|part| marked(part) || bare(part)) || parts.windows(2).any(is_token)
    })
}

fn is_random(key: &str) -> bool {
    /// Words in names are shorter.
    const MIN_RUN: usize = 16;
    kinds(key) == 3 || key.split(['-', '_']).any(|run| run.len() >= MIN_RUN && kinds(run) >= 2)
}

/// Counts the kinds of characters in a text among digits, small and capital letters.
fn kinds(text: &str) -> usize {
    let kinds = [u8::is_ascii_digit, u8::is_ascii_lowercase, u8::is_ascii_uppercase];
    kinds.iter().filter(|kind| text.bytes().any(|b| kind(&b))).count()
}

/// Formats a duration in the largest unit that divides it, as it can be configured: `24h`.
fn with_unit(time: Duration) -> String {
    match time.as_secs() {
        hours if hours > 0 && hours % 3600 == 0 => format!("{}h", hours / 3600),
        minutes if minutes > 0 && minutes % 60 == 0 => format!("{}m", minutes / 60),
        seconds => format!("{seconds}s"),
    }
}

/// Parses a number of seconds, or numbers with units such as `1h30m` or Ollama's `5m0s`.
fn duration(text: &str) -> Option<Duration> {
    if let Ok(seconds) = text.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let mut seconds: u64 = 0;
    for part in text.split_inclusive(['h', 'm', 's']) {
        let unit = match part.chars().last()? {
            'h' => 3600,
            'm' => 60,
            's' => 1,
            _ => return None,
        };
        let number: u64 = part.get(..part.len() - 1)?.trim().parse().ok()?;
        seconds = seconds.checked_add(number.checked_mul(unit)?)?;
    }
    (!text.is_empty()).then_some(Duration::from_secs(seconds))
}

fn join(words: &[&str]) -> String {
    words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(" or ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_seconds_or_numbers_with_units() {
        let cases = [
            ("300", Some(300)),
            ("90s", Some(90)),
            ("5m", Some(300)),
            ("5m0s", Some(300)),
            ("1h30m", Some(5400)),
            ("2 h", Some(7200)),
            ("", None),
            ("m", None),
            ("-5m", None),
            ("1.5h", None),
            ("5m30", None),
            ("5min", None),
            ("500ms", None),
            ("99999999999999999999h", None),
        ];
        for (text, seconds) in cases {
            assert_eq!(duration(text), seconds.map(Duration::from_secs), "{text}");
        }
    }

    #[test]
    fn a_complaint_shows_what_was_mistyped_and_of_all_else_the_length() {
        let cases = [
            ("MAX_PASSES", "70000", "`70000`"),
            ("TASKS_MIN_INTERVAL", "-5m", "`-5m`"),
            ("DAILY_USD", "1.5", "`1.5`"),
            ("OWNER_IDS", "@ann", "`@ann`"),
            ("ACCESS", "opne", "`opne`"),
            ("DEFAULT_TIMEZONE", "America/New-York", "`America/New-York`"),
            ("HISTORY_TOKENS", "some", "`some`"),
            ("DAILY_TOKENS", "lots", "`lots`"),
            ("OWNER_IDS", "123456789", "9 characters"),
            ("OWNER_IDS", "7000000001:AAE-abcdefghijklmnopqrstuvwxyz_01", "44 characters"),
            ("OWNER_IDS", "AAE-abcdefghijklmnopqrstuvwxyz", "30 characters"),
            ("OWNER_IDS", "AAabcdefghijklmnop", "18 characters"),
            ("ACCESS", "hunter2", "7 characters"),
            ("ACCESS", "pässword", "8 characters"),
            ("ACCESS", "x", "`x`"),
            ("ACCESS", "1h30m", "5 characters"),
            ("TELEGRAM_BOT_TOKEN", "nonsense", "8 characters"),
            ("TELEGRAM_BOT_TOKEN", "1", "1 character"),
            ("TELEGRAM_PROXY", "secret", "6 characters"),
            ("https_proxy", "ann:letmein", "11 characters"),
            ("STORE_URL", "pg://u:pass@db/x", "16 characters"),
            ("SOME_NEW_API_KEY", "letmein", "7 characters"),
        ];
        let (values, variables) = (HashMap::new(), Variables::builtin());
        let reader = VariableReader::new(&values, &variables);
        for (name, value, wanted) in cases {
            assert_eq!(reader.shown(name, value), wanted, "{name}={value}");
        }
    }

    #[test]
    fn secrets_in_the_wrong_place_are_known_by_their_looks() {
        let secret = [
            "7000000001:AAE-abcdefghijklmnopqrstuvwxyz_01",
            "sled:./7000000001:AAE-abcdefghijklmnopqrstuvwxyz_01",
            "https://x.example/bot7000000001:AAE-abcdefghijklmnopqrstuvwxyz_01/getMe",
            "sk-proj-0123456789abcdefghij",
            "openai:sk-0123456789abcdefghijk",
            "a, openai:sk-0123456789abcdefghijk",
            "AIzaSyA0-3456789_bcdefgh-jklmn_pqrstuv",
            "hf_aBcDeFgHiJkLmNoPqRsTuVwXyZaBcDeFgH",
            "pplx-0123456789abcdefghijklmnopqrstuv",
            "compatible:aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY",
        ];
        let plain = [
            "gpt-4.1-mini",
            "qwen3:8b",
            "hf.co/bartowski/Llama-3.2-3B-Instruct-GGUF:Q4_K_M",
            "openai:gpt-4.1-mini, ollama:qwen3:30b-a3b-instruct-2507-q4_K_M",
            "sled:./data",
            "sled:/srv/risk-assessment-of-the-department/data",
            "sled:/srv/sk-assessment-2025-of-the-department/data",
            "sled:/var/lib/0123456789abcdef0123456789abcdef0123456789abcdef",
            "ollama:20250414:a-model-of-a-very-long-and-plain-name",
            "figaro=debug,rmcp=warn",
            "12, 7000000001",
            "meta-llama/Llama-4-Maverick-17B-128E-Instruct-FP8",
            "accounts/fireworks/models/llama4-maverick-instruct-basic",
            "ft:gpt-4.1-2025-04-14:acme::Bxyz1234",
            "ft:gpt-4.1-2025-04-14:my-organisation-of-a-long-name:custom-suffix:BxYz1234",
        ];
        for text in secret {
            assert!(looks_secret(text), "{text}");
        }
        for text in plain {
            assert!(!looks_secret(text), "{text}");
        }
    }
}
