//! Log settings: `RUST_LOG`, `LOG_FORMAT`.

use figaro_base::text::nearest;
use tracing_subscriber::EnvFilter;

use super::otlp::OtlpSettings;
use super::reader::VariableReader;
use figaro_base::secret::SecretString;

/// Level and format of the log.
#[derive(Debug, Clone)]
pub struct LogSettings {
    /// Filter in the syntax of `tracing-subscriber`.
    pub filter: String,
    /// Format of a log line, from `LOG_FORMAT`.
    pub format: LogFormat,
    /// Collector of traces and metrics; `None` for none.
    pub otlp: Option<OtlpSettings>,
}

/// Format of a log line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFormat {
    /// Lines of text, for people.
    Text,
    /// One JSON object per line, for log collectors.
    Json,
}

impl LogFormat {
    /// Returns the name of the format in `LOG_FORMAT`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Json => "json",
        }
    }
}

/// Levels of a log filter.
const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

/// Returns `true` for a word alone that is neither a level nor a module, such as `debgu`. A filter of such a word would be valid
/// and log nothing.
fn is_misspelt(directive: &str) -> bool {
    let word = directive.trim().to_lowercase();
    let is_path =
        word.chars().all(|letter| letter.is_ascii_alphanumeric() || ['_', ':', '-'].contains(&letter));
    let is_level = LEVELS.contains(&word.as_str());
    // Such as `warning`.
    let is_longer = |level: &str| word.starts_with(level) && word.len() <= level.len() + 3;
    let is_near =
        || word.len() > 3 && (nearest(&word, LEVELS, |_| 2).is_some() || LEVELS.into_iter().any(is_longer));
    !word.contains(['=', '[']) && !is_level && (!is_path || is_near())
}

impl LogSettings {
    pub(super) fn read(reader: &mut VariableReader<'_>) -> Self {
        let formats = [LogFormat::Text, LogFormat::Json].map(|format| (format.name(), format));
        let filter = reader.text("RUST_LOG");
        if EnvFilter::try_new(&filter).is_err() || filter.split(',').any(is_misspelt) {
            reader.fault("RUST_LOG", "is not a log filter, such as info,figaro=debug");
        }
        let format = reader.choice("LOG_FORMAT", &formats);
        Self { filter, format, otlp: OtlpSettings::read(reader) }
    }

    /// Returns the secrets that it has.
    pub(super) fn secrets(&self) -> Vec<SecretString> {
        self.otlp.iter().flat_map(OtlpSettings::secrets).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_level_is_no_filter() {
        for (directive, wanted) in [
            ("info", false),
            ("INFO", false),
            ("off", false),
            ("", false),
            ("figaro", false),
            ("figaro=debug", false),
            ("figaro_agent::turn", false),
            ("rmcp", false),
            ("[turn]", false),
            ("3", false),
            ("debgu", true),
            ("warning", true),
            ("verbose!!", true),
            ("info;figaro", true),
        ] {
            assert_eq!(is_misspelt(directive), wanted, "{directive}");
        }
    }
}
