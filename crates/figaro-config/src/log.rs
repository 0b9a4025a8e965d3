//! Log settings: `RUST_LOG`, `LOG_FORMAT`.

use tracing_subscriber::EnvFilter;

use super::reader::VariableReader;

/// Level and format of the log.
#[derive(Debug, Clone)]
pub struct LogSettings {
    /// Filter in the syntax of `tracing-subscriber`.
    pub filter: String,
    /// Format of a log line, from `LOG_FORMAT`.
    pub format: LogFormat,
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

impl LogSettings {
    pub(super) fn read(reader: &mut VariableReader<'_>) -> Self {
        let formats = [LogFormat::Text, LogFormat::Json].map(|format| (format.name(), format));
        let filter = reader.text("RUST_LOG");
        if EnvFilter::try_new(&filter).is_err() {
            reader.fault("RUST_LOG", "is not a log filter, such as info,figaro=debug");
        }
        Self { filter, format: reader.choice("LOG_FORMAT", &formats) }
    }
}
