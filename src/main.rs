//! `figaro`: settings, logging, the app, and an exit code. Code 2: something has to be put right first. Code 1: it
//! failed while it ran, and a supervisor should start it again.

use std::collections::HashMap;
use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use figaro::app::{self, Additions, DemoOptions, Failure, Refusal, StoreTask};
use figaro::cli::{Cli, Command, StoreCommand};
use figaro::config::Settings;
use figaro::mcp::locate::SUBCOMMAND;
use futures::{Stream, stream};
use tokio::signal::unix::{SignalKind, signal};

/// Words go from thread to thread here, where the system's allocator has threads wait for each other: it took a fifth of the CPU
/// time of a turn.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The bot failed while it ran; a new process may help.
const EXIT_FAILED: u8 = 1;
/// Something has to be put right before a start can succeed.
const EXIT_REFUSED: u8 = 2;

fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1);
    if args.next().is_some_and(|first| first == SUBCOMMAND) {
        return figaro_mcp::main(args, |name| std::env::var_os(name));
    }
    let cli = Cli::parse();
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return end(EXIT_REFUSED, &format!("the runtime does not start: {error}")),
    };
    let done = runtime.block_on(dispatch(cli));
    // A look-up or a disk operation under way sits in a blocking thread; nothing waits for it.
    runtime.shutdown_background();
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::Refused(Refusal(words))) => end(EXIT_REFUSED, &words),
        Err(failure @ Failure::Broken(_)) => end(EXIT_FAILED, &failure.to_string()),
    }
}

async fn dispatch(cli: Cli) -> Result<(), Failure> {
    // The first caller wins; there is no other.
    drop(rustls::crypto::ring::default_provider().install_default());
    let variables = variables()?;
    match cli.command {
        None => {
            let settings = read(&variables)?;
            app::run(&settings, stop_requests()?).await
        }
        Some(Command::Check) => Ok(app::check(&read(&variables)?, &Additions::default()).await?),
        Some(Command::Demo { port, store, word_pause }) => {
            let word_pause = Duration::from_millis(word_pause.into());
            app::demo(&variables, DemoOptions { port, store, word_pause }, stop_requests()?).await
        }
        Some(Command::Store(command)) => Ok(app::store(task_of(command), &variables).await?),
        Some(Command::Export { to, store }) => {
            Ok(app::store(StoreTask::Export { to, store }, &variables).await?)
        }
        Some(Command::Import { from, store }) => {
            Ok(app::store(StoreTask::Import { from, store }, &variables).await?)
        }
        Some(Command::McpServer) => {
            Err(Refusal(format!("{SUBCOMMAND} takes no other arguments before it")).into())
        }
    }
}

fn task_of(command: StoreCommand) -> StoreTask {
    match command {
        StoreCommand::Copy { from, to } => StoreTask::Copy { from, to },
        StoreCommand::Check { store, accept_loss } => StoreTask::Check { store, accept_loss },
        StoreCommand::Compact { store } => StoreTask::Compact(store),
    }
}

fn read(variables: &HashMap<String, String>) -> Result<Settings, Refusal> {
    let settings = app::settings(variables, &Additions::default())?;
    app::start_log(&settings)?;
    Ok(settings)
}

/// The environment, and beneath it the file `.env` of this folder.
fn variables() -> Result<HashMap<String, String>, Refusal> {
    let file = match std::fs::read_to_string(".env") {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(Refusal(format!("the file .env cannot be read: {error}"))),
    };
    let mut variables = HashMap::new();
    for line in dotenvy::from_read_iter(file.trim_start_matches('\u{feff}').as_bytes()) {
        let (name, value) = line.map_err(|error| Refusal(env_fault(&file, &error)))?;
        variables.insert(name, value);
    }
    let text = |text: OsString| text.into_string().ok();
    variables.extend(std::env::vars_os().filter_map(|(name, value)| Some((text(name)?, text(value)?))));
    Ok(variables)
}

/// Names the line by its number: its text may hold a secret.
fn env_fault(file: &str, error: &dotenvy::Error) -> String {
    let dotenvy::Error::LineParse(text, _) = error else {
        return format!("the file .env cannot be read: {error}");
    };
    let first = text.lines().next().unwrap_or_default().trim();
    let number = file.lines().position(|line| line.trim() == first);
    let place = number.map_or_else(|| "a line".to_owned(), |at| format!("line {}", at + 1));
    format!("{place} of the file .env is not of the form NAME=value; a value with spaces stands in quotes")
}

/// An item for each SIGINT or SIGTERM.
fn stop_requests() -> Result<impl Stream<Item = ()> + Unpin, Refusal> {
    let failed = |error: std::io::Error| Refusal(format!("signals cannot be received: {error}"));
    let terminate = signal(SignalKind::terminate()).map_err(failed)?;
    let interrupt = signal(SignalKind::interrupt()).map_err(failed)?;
    Ok(Box::pin(stream::unfold((terminate, interrupt), async |(mut terminate, mut interrupt)| {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        Some(((), (terminate, interrupt)))
    })))
}

fn end(code: u8, words: &str) -> ExitCode {
    // With standard error gone there is nobody left to tell; the exit code still says it.
    drop(writeln!(std::io::stderr(), "figaro: {words}"));
    ExitCode::from(code)
}
