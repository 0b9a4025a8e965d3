//! Logging: set up once by `main`, in the shape the settings ask for, with every secret blanked.

pub mod vitals;

use std::io::{self, Write};

use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;

use crate::config::{LogFormat, LogSettings};
use crate::secret::Redactor;

/// Starts logging to standard error.
///
/// # Errors
/// A filter that does not parse, in words for the owner; or logging was started before.
pub fn start(settings: &LogSettings, redactor: Redactor) -> Result<(), String> {
    let filter = EnvFilter::try_new(&settings.filter)
        .map_err(|error| format!("RUST_LOG `{}` is not a log filter: {error}", settings.filter))?;
    // It logs events that it cannot read with their whole content.
    let filter = match "async_openai=off".parse() {
        Ok(directive) => filter.add_directive(directive),
        Err(_) => filter,
    };
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(Redacting(redactor));
    match settings.format {
        LogFormat::Text => builder.with_ansi(false).with_target(false).try_init(),
        LogFormat::Json => builder.json().flatten_event(true).try_init(),
    }
    .map_err(|error| error.to_string())
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
