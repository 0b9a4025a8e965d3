//! Lines of the log, as text or as JSON (`LOG_FORMAT`).

use chrono::{DateTime, Utc};
use serde_json::Value;

/// Level of a line, the worst last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum LogLevel {
    /// Nothing to look at.
    Calm,
    Warning,
    Error,
}

impl LogLevel {
    fn of(word: &str) -> Option<Self> {
        Some(match word {
            "TRACE" | "DEBUG" | "INFO" => Self::Calm,
            "WARN" => Self::Warning,
            "ERROR" => Self::Error,
            _ => return None,
        })
    }

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Calm => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// A line of the log.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct LogEntry {
    pub(super) at: DateTime<Utc>,
    pub(super) level: LogLevel,
    /// The event, without its details.
    pub(super) message: String,
    /// The same with its details.
    pub(super) whole: String,
}

impl LogEntry {
    /// Parses a line, also behind the name of a container or unit; `None` for another line.
    pub(super) fn parse(line: &str) -> Option<Self> {
        match line.find('{') {
            Some(begin) if line[begin..].starts_with("{\"") => Self::parse_json(&line[begin..]),
            _ => None,
        }
        .or_else(|| Self::parse_text(line))
    }

    fn parse_text(line: &str) -> Option<Self> {
        let mut rest = line.trim();
        // Other times may stand before, as of a container.
        loop {
            let (word, after) = rest.split_once(char::is_whitespace)?;
            rest = after.trim_start();
            if let Ok(at) = DateTime::parse_from_rfc3339(word)
                && let Some((level, said)) = rest.split_once(char::is_whitespace)
                && let Some(level) = LogLevel::of(level)
            {
                let whole = without_spans(said.trim());
                let (message, whole) = (without_fields(whole).to_owned(), whole.to_owned());
                return Some(Self { at: at.to_utc(), level, message, whole });
            }
        }
    }

    fn parse_json(line: &str) -> Option<Self> {
        let Value::Object(mut fields) = serde_json::from_str(line.trim()).ok()? else { return None };
        let mut text = |name: &str| match fields.remove(name) {
            Some(Value::String(text)) => Some(text),
            _ => None,
        };
        let (at, level) = (text("timestamp")?, text("level")?);
        let message = text("message").unwrap_or_default();
        for name in ["target", "span", "spans"] {
            fields.remove(name);
        }
        let details = fields.iter().map(|(name, value)| format!(" {name}={value}"));
        let whole = details.fold(message.clone(), |whole, detail| whole + &detail);
        let at = DateTime::parse_from_rfc3339(&at).ok()?.to_utc();
        Some(Self { at, level: LogLevel::of(&level)?, message, whole })
    }
}

/// Removes the spans before the message, such as `task{name="poller"}: `.
fn without_spans(said: &str) -> &str {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let begins = said.trim_start_matches(is_name).starts_with('{');
    said.split_once("}: ").filter(|_| begins).map_or(said, |(_, message)| message)
}

/// Removes the details behind a message, such as `error=…`.
fn without_fields(whole: &str) -> &str {
    let is_field = |word: &str| {
        word.split_once('=').is_some_and(|(name, _)| {
            !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase() || c == '_' || c == '.')
        })
    };
    let mut end = 0;
    for word in whole.split_inclusive(' ') {
        if is_field(word) {
            break;
        }
        end += word.len();
    }
    whole[..end].trim_end()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_each_form_is_read() {
        let text = |line: &str| LogEntry::parse(line).map(|entry| (entry.level, entry.message, entry.whole));
        let at = "2026-11-29T14:03:04.123456Z";
        for (line, level, message, whole) in [
            (
                format!("{at}  INFO ready username=\"figaro\""),
                LogLevel::Calm,
                "ready",
                "ready username=\"figaro\"",
            ),
            (
                format!(
                    "figaro-1  | {at}  WARN task{{name=\"poller\"}}: updates could not be fetched; trying again error=no route"
                ),
                LogLevel::Warning,
                "updates could not be fetched; trying again",
                "updates could not be fetched; trying again error=no route",
            ),
            (
                format!(
                    "{at} ERROR turn{{run=01M8}}:call{{tool=\"x\"}}: a turn failed: STORE_URL=redb:./data run.id=7"
                ),
                LogLevel::Error,
                "a turn failed: STORE_URL=redb:./data",
                "a turn failed: STORE_URL=redb:./data run.id=7",
            ),
            (
                format!(
                    r#"x | {{"timestamp":"{at}","level":"WARN","message":"a call broke","server":"files","target":"figaro"}}"#
                ),
                LogLevel::Warning,
                "a call broke",
                "a call broke server=\"files\"",
            ),
        ] {
            assert_eq!(text(&line), Some((level, message.to_owned(), whole.to_owned())), "{line}");
        }
        for line in
            ["", "figaro: no token", "2026-11-29T14:03:04Z", "{\"a\": 1}", "2026-11-29T14:03:04Z NOTE x"]
        {
            assert_eq!(LogEntry::parse(line), None, "{line}");
        }
    }
}
