//! Logging: started once by `main`, in the configured format, with all secrets redacted.

pub mod vitals;

use std::io::{self, Write};

use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::fmt::MakeWriter;

use crate::secret::Redactor;

/// Targets that are always off. Libraries log unreadable events and refusals with their whole content, and normal ends
/// of connections as fatal errors. The calls themselves report these failures.
const SILENT: [&str; 3] =
    ["async_openai=off", "rmcp::transport::worker=off", "rmcp::transport::streamable_http_client=off"];

/// Default level of the MCP library, unless the filter names it. It logs each message with the words of people, in any
/// number of lines.
const QUIET: &str = "rmcp=warn";

/// Starts logging to standard error: one line of text, or of JSON for collectors, per event. `filter` has the syntax of
/// `tracing-subscriber`.
///
/// # Errors
/// If the filter does not parse (worded for the owner), or if logging was started before.
pub fn start(filter: &str, as_json: bool, redactor: Redactor) -> Result<(), String> {
    let names_it = filter.contains("rmcp");
    let filter = EnvFilter::try_new(filter)
        .map_err(|error| format!("RUST_LOG `{filter}` is not a log filter: {error}"))?;
    let is_talkative = filter.max_level_hint().is_none_or(|level| level > LevelFilter::WARN);
    let quiet = (is_talkative && !names_it).then_some(QUIET);
    let filter = SILENT
        .iter()
        .chain(&quiet)
        .filter_map(|silent| silent.parse().ok())
        .fold(filter, EnvFilter::add_directive);
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(Redacting(redactor));
    // Otherwise a failed write is reported to standard error too, and panics when that is closed.
    let builder = builder.log_internal_errors(false);
    let started = match as_json {
        true => builder.json().flatten_event(true).try_init(),
        false => builder.with_ansi(false).with_target(false).try_init(),
    };
    started.map_err(|error| error.to_string())
}

/// Writes redacted log lines to standard error, each in one write.
#[derive(Debug, Clone)]
struct Redacting(Redactor);

impl Write for Redacting {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(line);
        io::stderr().write_all(self.0.clean(&text).as_bytes())?;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

impl<'a> MakeWriter<'a> for Redacting {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}
