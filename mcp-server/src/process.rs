//! Process of the server: settings, runtime, socket, ready line, signals, exit code. Called by both binaries.

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
use crate::tokens::BotTokens;

/// Default log filter, unless `RUST_LOG` is set.
const LOG_DEFAULT: &str = "info,rmcp=warn";

/// Exit code for invalid settings. A restart is useless until a person fixes them.
const EXIT_SETTINGS: u8 = 2;

/// Runs the server until it is told to stop. Makes its own runtime, so call it outside of any.
///
/// `args` excludes the program's name; `env` looks up a variable. Exit code 2 means a mistake in the settings.
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
    // Does not wait for a running name lookup in a blocking thread.
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
    // Before the ready line, so that a signal right after it finds its handler.
    let stop = match StopSignals::new() {
        Ok(stop) => stop,
        Err(error) => return refuse(1, &format!("signals can not be received: {}", error.kind())),
    };
    let supervised = settings.supervised;
    let parent_gone = match parent_gone(supervised.then(|| settings.bots.clone())) {
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

/// Opens the ports, or names the one that is unavailable.
async fn doors(settings: &Settings) -> Result<Doors, String> {
    let outside = match settings.outside_port {
        None => None,
        Some(port) => match open_port(port).await {
            Ok(listener) => Some(Outside::Open(listener)),
            Err(fault) if settings.wait_for_port => {
                tracing::error!("other MCP clients are not served until it is free: {fault}");
                Some(Outside::Taken(port))
            }
            Err(fault) => return Err(fault),
        },
    };
    Ok(Doors { main: open_port(settings.port).await?, outside })
}

/// Opens a port of this machine for clients; 0 picks a free one.
///
/// # Errors
/// When the port is unavailable, with a remedy.
pub async fn open_port(port: u16) -> Result<TcpListener, String> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await.map_err(|error| port_fault(port, &error))
}

fn runtime() -> io::Result<Runtime> {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).max_blocking_threads(4).enable_all().build()
}

/// Signals that end the process.
struct StopSignals {
    terminate: Signal,
    interrupt: Signal,
}

impl StopSignals {
    fn new() -> io::Result<Self> {
        Ok(Self { terminate: signal(SignalKind::terminate())?, interrupt: signal(SignalKind::interrupt())? })
    }

    /// Waits for a signal. Under a parent signals are ignored: terminals and init systems send them to both processes, and
    /// the parent still needs this one to finish its work. It closes standard input then.
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

/// Reads the bots of a parent from standard input. Returns a token that is cancelled at its end, when the parent is gone. Read
/// by a plain thread: the runtime would wait for a pending read of its own at shutdown, while a thread ends with the process.
fn parent_gone(bots: Option<BotTokens>) -> io::Result<CancellationToken> {
    let gone = CancellationToken::new();
    if let Some(bots) = bots {
        let gone = gone.clone();
        std::thread::Builder::new().name("stdin".to_owned()).spawn(move || {
            let end = bots.read(io::stdin().lock());
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

/// Prints help and version to standard output (success), usage errors to standard error.
fn usage(shown: &clap::Error) -> ExitCode {
    if shown.print().is_err() || shown.use_stderr() {
        ExitCode::from(EXIT_SETTINGS)
    } else {
        ExitCode::SUCCESS
    }
}

/// Prints the faults to standard error, one per line, and returns the exit code.
fn refuse(code: u8, faults: &str) -> ExitCode {
    let mut err = io::stderr().lock();
    for fault in faults.lines() {
        // If standard error is closed, only the exit code reports the fault.
        drop(writeln!(err, "figaro-mcp: {fault}"));
    }
    ExitCode::from(code)
}

fn start_log(env: &impl Fn(&str) -> Option<OsString>) {
    let asked = env("RUST_LOG").and_then(|text| text.into_string().ok()).filter(|text| !text.is_empty());
    let asked = asked.as_deref().unwrap_or(LOG_DEFAULT);
    // `EnvFilter::new` would print an invalid filter, which may be a misplaced secret.
    let filter = EnvFilter::try_new(asked);
    let is_filter = filter.is_ok();
    let filter = filter.unwrap_or_else(|_| EnvFilter::new(LOG_DEFAULT));
    let json = env("LOG_FORMAT").is_some_and(|format| format == "json");
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr);
    // Otherwise a failed write is reported to standard error too, and panics when that is closed.
    let log = log.log_internal_errors(false);
    // Standard error is often the parent's log or a file.
    let log = log.with_ansi(io::IsTerminal::is_terminal(&io::stderr()));
    let started = if json { log.json().try_init() } else { log.try_init() };
    if let Err(error) = started {
        tracing::warn!(%error, "a log was started before; it stays");
    }
    if !is_filter {
        tracing::warn!("RUST_LOG is no log filter, such as info,rmcp=warn; the default holds");
    }
}
