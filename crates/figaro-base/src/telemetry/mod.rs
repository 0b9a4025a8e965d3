//! Logging: started once by `main`, in the configured format, with all secrets redacted.

pub mod gen_ai;
pub mod vitals;

use std::io::{self, Write};

use tracing::{Level, Subscriber};
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer, Registry, fmt};

use crate::secret::Redactor;

/// Exports the spans of [`gen_ai`].
pub type ExporterLayer = Box<dyn Layer<Registry> + Send + Sync>;

/// Targets that are always off. Libraries log unreadable events and refusals with their whole content, and normal ends
/// of connections as fatal errors. The calls themselves report these failures. Spans of `gen_ai` are for exporters alone.
const SILENT: [&str; 4] = [
    "gen_ai=off",
    "async_openai=off",
    "rmcp::transport::worker=off",
    "rmcp::transport::streamable_http_client=off",
];

/// Default level of the MCP library, unless the filter names it. It logs each message with the words of people, in any
/// number of lines.
const QUIET: &str = "rmcp=warn";

/// Starts logging to standard error: one line of text, or of JSON for collectors, per event. `filter` has the syntax of
/// `tracing-subscriber`. `exporter` also gets the spans of [`gen_ai`].
///
/// # Errors
/// If the filter does not parse (worded for the owner), or if logging was started before.
pub fn start(
    filter: &str,
    as_json: bool,
    redactor: Redactor,
    exporter: Option<ExporterLayer>,
) -> Result<(), String> {
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
    let started = match exporter {
        // A filter for each layer costs more than one for all.
        None => Registry::default().with(lines(as_json, redactor)).with(filter).try_init(),
        Some(exporter) => {
            let spans = Targets::new().with_target(gen_ai::TARGET, Level::INFO);
            let exported = Registry::default().with(exporter.with_filter(spans));
            exported.with(lines(as_json, redactor).with_filter(filter)).try_init()
        }
    };
    started.map_err(|error| error.to_string())
}

fn lines<S>(as_json: bool, redactor: Redactor) -> Box<dyn Layer<S> + Send + Sync>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    // Otherwise a failed write is reported to standard error too, and panics when that is closed.
    let lines = fmt::layer().with_writer(Redacting(redactor)).log_internal_errors(false);
    match as_json {
        true => lines.json().flatten_event(true).boxed(),
        false => lines.with_ansi(false).with_target(false).boxed(),
    }
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
