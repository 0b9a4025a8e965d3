//! Logging: set up once by `main`, in the shape the settings ask for, with every secret blanked.

pub mod vitals;

use std::io::{self, Write};

use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::fmt::MakeWriter;

use crate::secret::Redactor;

/// What never logs: libraries that log events they cannot read and refusals with their whole content, and one that
/// calls it a fatal error when we end a connection, and another when a server that has died does not say goodbye. What
/// fails there fails the calls as well, and these are told.
const SILENT: [&str; 3] =
    ["async_openai=off", "rmcp::transport::worker=off", "rmcp::transport::streamable_http_client=off"];

/// What the MCP library logs of each message, which has people's words and as many lines as a server likes, unless it is asked for
/// by its name.
const QUIET: &str = "rmcp=warn";

/// Starts logging to standard error: a line of text an event, or a line of JSON for collectors. The filter is in the
/// syntax of `tracing-subscriber`.
///
/// # Errors
/// A filter that does not parse, in words for the owner; or logging was started before.
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
    // Its complaint would go to the same place and panic when nobody reads the log any more.
    let builder = builder.log_internal_errors(false);
    let started = match as_json {
        true => builder.json().flatten_event(true).try_init(),
        false => builder.with_ansi(false).with_target(false).try_init(),
    };
    started.map_err(|error| error.to_string())
}

/// Writes to standard error what is left after the secrets are taken out. A line arrives in one write.
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
