//! The life of the process: settings, runtime, socket, ready line, signals, exit code. Called by both binaries.

use std::ffi::OsString;
use std::future::pending;
use std::io::{self, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::process::ExitCode;

use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;
use tracing_subscriber::EnvFilter;

use crate::http::{Doors, Outside, serve};
use crate::settings::{Settings, SettingsError};
use crate::stdio;

/// What is logged unless `RUST_LOG` says otherwise.
const LOG_DEFAULT: &str = "info,rmcp=warn";

/// The settings are at fault, and only a person can mend them: there is no use in starting again.
const EXIT_SETTINGS: u8 = 2;

/// Runs the server until it is told to stop. It makes a runtime of its own, so call it outside of any.
///
/// `args` come without the program's name; `env` looks a variable up. Exit code 2 means a mistake in the settings.
pub fn main(args: impl IntoIterator<Item = OsString>, env: impl Fn(&str) -> Option<OsString>) -> ExitCode {
    let settings = match Settings::parse(args, &env) {
        Ok(settings) => settings,
        Err(SettingsError::Usage(shown)) => return usage(&shown),
        Err(SettingsError::Invalid(faults)) => return refuse(EXIT_SETTINGS, &faults.join("\n")),
    };
    start_log(&env);
    let runtime = match runtime() {
        Ok(runtime) => runtime,
        Err(error) => return refuse(1, &format!("the runtime does not start: {}", error.kind())),
    };
    let code = runtime
        .block_on(async move { if settings.stdio { talk(settings).await } else { listen(settings).await } });
    // A name look-up under way sits in a blocking thread; nothing waits for it.
    runtime.shutdown_background();
    code
}

/// Serves the one client on standard input and output.
async fn talk(settings: Settings) -> ExitCode {
    let stop = match StopSignals::new() {
        Ok(stop) => stop,
        Err(error) => return refuse(1, &format!("signals can not be received: {}", error.kind())),
    };
    match stdio::serve(settings, stop.received(false)).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => refuse(1, &error.to_string()),
    }
}

/// Serves clients over HTTP.
async fn listen(settings: Settings) -> ExitCode {
    let doors = match doors(&settings).await {
        Ok(doors) => doors,
        Err(fault) => return refuse(EXIT_SETTINGS, &fault),
    };
    let address = match doors.main.local_addr() {
        Ok(address) => address,
        Err(error) => return refuse(1, &format!("the socket has no address: {}", error.kind())),
    };
    // Before the ready line, so that a signal sent right after it finds its handler.
    let stop = match StopSignals::new() {
        Ok(stop) => stop,
        Err(error) => return refuse(1, &format!("signals can not be received: {}", error.kind())),
    };
    let supervised = settings.supervised;
    let parent_gone = match parent_gone(supervised) {
        Ok(parent_gone) => parent_gone,
        Err(error) => return refuse(1, &format!("standard input can not be watched: {}", error.kind())),
    };
    if let Err(error) = announce(address) {
        return refuse(1, &format!("standard output is closed: {}", error.kind()));
    }
    tokio::select! {
        served = serve(doors, settings, stop.received(supervised)) => match served {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => refuse(1, &error.to_string()),
        },
        () = parent_gone.cancelled() => ExitCode::SUCCESS,
    }
}

/// Opens the ports, or says which is not to be had.
async fn doors(settings: &Settings) -> Result<Doors, String> {
    let bind = |port: u16| async move {
        TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await.map_err(|error| port_fault(port, &error))
    };
    let outside = match settings.outside_port {
        None => None,
        Some(port) => match bind(port).await {
            Ok(listener) => Some(Outside::Open(listener)),
            Err(fault) if settings.wait_for_port => {
                tracing::error!("other MCP clients are not served until it is free: {fault}");
                Some(Outside::Taken(port))
            }
            Err(fault) => return Err(fault),
        },
    };
    Ok(Doors { main: bind(settings.port).await?, outside })
}

fn runtime() -> io::Result<Runtime> {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).max_blocking_threads(4).enable_all().build()
}

/// What asks a process to end.
struct StopSignals {
    terminate: Signal,
    interrupt: Signal,
}

impl StopSignals {
    fn new() -> io::Result<Self> {
        Ok(Self { terminate: signal(SignalKind::terminate())?, interrupt: signal(SignalKind::interrupt())? })
    }

    /// Under a parent they are passed over: a terminal and an init system send them to both processes, and the parent
    /// still needs this one for what it has to finish. It closes standard input then.
    async fn received(mut self, supervised: bool) {
        if supervised {
            return pending().await;
        }
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}

/// Cancelled when standard input ends, if a parent holds it. A plain thread reads it: the runtime would wait at its end
/// for a read of its own, while the process ends over this one.
fn parent_gone(supervised: bool) -> io::Result<CancellationToken> {
    let gone = CancellationToken::new();
    if supervised {
        let gone = gone.clone();
        std::thread::Builder::new().name("stdin".to_owned()).spawn(move || {
            let end = io::copy(&mut io::stdin().lock(), &mut io::sink());
            tracing::debug!(?end, "standard input ended");
            gone.cancel();
        })?;
    }
    Ok(gone)
}

fn announce(address: SocketAddr) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "READY http://{address}/mcp")?;
    out.flush()
}

fn port_fault(port: u16, error: &io::Error) -> String {
    if error.kind() == io::ErrorKind::AddrInUse {
        format!("port {port} is taken: stop what uses it, or set MCP_HTTP_PORT to a free port (0 picks one)")
    } else {
        format!(
            "port {port} can not be opened ({}): set MCP_HTTP_PORT to another port (0 picks a free one)",
            error.kind()
        )
    }
}

/// Help and version are asked for and go to standard output; anything else is a mistake.
fn usage(shown: &clap::Error) -> ExitCode {
    if shown.print().is_err() || shown.use_stderr() {
        ExitCode::from(EXIT_SETTINGS)
    } else {
        ExitCode::SUCCESS
    }
}

/// Says why on standard error, a line for each fault.
fn refuse(code: u8, faults: &str) -> ExitCode {
    let mut err = io::stderr().lock();
    for fault in faults.lines() {
        // With standard error gone too there is nobody left to tell; the exit code still says it.
        drop(writeln!(err, "figaro-mcp: {fault}"));
    }
    ExitCode::from(code)
}

fn start_log(env: &impl Fn(&str) -> Option<OsString>) {
    let asked = env("RUST_LOG").and_then(|text| text.into_string().ok()).filter(|text| !text.is_empty());
    let asked = asked.as_deref().unwrap_or(LOG_DEFAULT);
    // `EnvFilter::new` would print what it does not understand, and that may be a secret in the wrong place.
    let filter = EnvFilter::try_new(asked);
    let is_filter = filter.is_ok();
    let filter = filter.unwrap_or_else(|_| EnvFilter::new(LOG_DEFAULT));
    let json = env("LOG_FORMAT").is_some_and(|format| format == "json");
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr);
    // Its complaint would go to the same place and panic when nobody reads the log any more.
    let log = log.log_internal_errors(false);
    // Standard error is the parent's log or a file as often as a terminal.
    let log = log.with_ansi(io::IsTerminal::is_terminal(&io::stderr()));
    let started = if json { log.json().try_init() } else { log.try_init() };
    if let Err(error) = started {
        tracing::warn!(%error, "a log was started before; it stays");
    }
    if !is_filter {
        tracing::warn!("RUST_LOG is no log filter, such as info,rmcp=warn; the default holds");
    }
}
