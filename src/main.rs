//! `figaro`: settings, logging, the app, and an exit code ([`exit`]).

use std::collections::HashMap;
use std::ffi::OsString;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use clap::FromArgMatches;
use figaro::app::{
    self, Additions, AgentsTask, AppFailure, AskOptions, AuditTask, BackupTask, DemoOptions, Explained,
    MemoryTask, PacksTask, PolicyTask, Questions, RecallOptions, ServersTask, StartupError, StoreTask,
};
use figaro::cli;
use figaro::cli::{
    AgentsSubcommand, AuditSubcommand, Cli, CliCommand, McpSubcommand, MemorySubcommand, NamedChat,
    PacksSubcommand, PolicySubcommand, StoreSubcommand, exit,
};
use figaro_base::system::in_words;
use figaro_config::{ENV_FILE, EnvFile, StoreUrl, Values};
use figaro_domain::document::READER;
#[cfg(feature = "local-transcriber")]
use figaro_domain::hearing::LISTENER;
use figaro_extract::process;
use figaro_files::presence;
use figaro_mcp_client::guard;
use figaro_mcp_client::locate::SUBCOMMAND;
use futures::{Stream, stream};
use tokio::signal::unix::{SignalKind, signal};

/// Global allocator. Text moves between threads here, and the system allocator makes threads wait for each other: that took
/// a fifth of the CPU time of a turn.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Name by which the program is called as the Telegram MCP server alone.
const SERVER: &str = "figaro-mcp";

fn main() -> ExitCode {
    let mut args = std::env::args_os();
    // A published build is one program with two names.
    let name = args.next().and_then(|program| Path::new(&program).file_name().map(OsString::from));
    if name.is_some_and(|name| name == SERVER) {
        return figaro_mcp::main(args, |name| std::env::var_os(name));
    }
    if args.next().is_some_and(|first| first == SUBCOMMAND) {
        return figaro_mcp::main(args, |name| std::env::var_os(name));
    }
    let mut args = std::env::args_os().skip(1);
    if args.next().is_some_and(|first| first == guard::SUBCOMMAND) {
        return guard::main(args);
    }
    let mut args = std::env::args_os().skip(1);
    if args.next().is_some_and(|first| first == READER) {
        return process::main(args);
    }
    #[cfg(feature = "local-transcriber")]
    {
        let mut args = std::env::args_os().skip(1);
        if args.next().is_some_and(|first| first == LISTENER) {
            return figaro_extract::hear::process::main(args);
        }
    }
    let parsed = cli::command().try_get_matches().and_then(|matches| Cli::from_arg_matches(&matches));
    let cli = match parsed {
        Ok(cli) => cli,
        Err(shown) => return usage(&shown),
    };
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            return end(exit::REFUSED, &format!("the runtime does not start: {}", in_words(&error)));
        }
    };
    let done = runtime.block_on(dispatch(cli));
    // A lookup or disk operation may still block a thread; nothing waits for it.
    runtime.shutdown_background();
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(AppFailure::Refused(StartupError(words))) => end(exit::REFUSED, &words),
        Err(AppFailure::Cut(words)) => end(exit::CUT, &words),
        Err(failure @ (AppFailure::Broken(_) | AppFailure::Unsound(_) | AppFailure::Unanswered(_))) => {
            end(exit::FAILED, &failure.to_string())
        }
    }
}

async fn dispatch(cli: Cli) -> Result<(), AppFailure> {
    // Fails only if a crypto provider is installed already; nothing else installs one.
    drop(rustls::crypto::ring::default_provider().install_default());
    let values = values_for(cli.command.as_ref())?;
    match cli.command {
        None => run(&values).await,
        Some(CliCommand::Bots { json }) => Ok(app::bots(&values, &Additions::default(), json).await?),
        Some(CliCommand::Init) => init(values).await,
        Some(CliCommand::Healthcheck) => app::healthcheck(&values, &Additions::default()).await,
        Some(CliCommand::Check) => Ok(app::check(&values, &Additions::default()).await?),
        Some(CliCommand::Doctor { log }) => Ok(app::doctor(&values, &Additions::default(), log).await?),
        Some(CliCommand::Demo { bind, port, store, word_pause }) => {
            let word_pause = Duration::from_millis(word_pause.into());
            app::demo(&values.all(), DemoOptions { bind, port, store, word_pause }, stop_requests()?).await
        }
        Some(CliCommand::Ask { question, agent, model, session, eval, json }) => {
            let options = AskOptions { question, agent, model, session, is_eval: eval, json };
            app::ask(&values.all(), options, stop_requests()?).await
        }
        Some(
            command @ (CliCommand::Store(_)
            | CliCommand::Export { .. }
            | CliCommand::Import { .. }
            | CliCommand::Backup { .. }
            | CliCommand::Restore { .. }
            | CliCommand::Dashboard { .. }),
        ) => Ok(on_store(command, &values.all()).await?),
        Some(CliCommand::Audit { command, limit, since, json, store }) => {
            let list = AuditTask::List { limit, since, json };
            let (task, store) = command.map_or((list, store), of_audit);
            app::audit(task, store, &values.all()).await
        }
        Some(CliCommand::Memory(command)) => Ok(app::memory(measured(command), &values.all()).await?),
        Some(CliCommand::Policy(command)) => {
            Ok(app::policy(asked(command), &values.all(), &Additions::default())?)
        }
        Some(CliCommand::Agents(command)) => {
            Ok(app::agents(of_agents(command), &values.all(), &Additions::default())?)
        }
        Some(CliCommand::Mcp(McpSubcommand::Check { file, start })) => {
            Ok(app::servers(ServersTask { file, start }, &values.all(), &Additions::default()).await?)
        }
        Some(CliCommand::Packs(command)) => Ok(app::packs(of_packs(command))?),
        Some(CliCommand::Completions { shell }) => written(cli::print_completions(shell)),
        Some(CliCommand::Man { folder }) => written(cli::write_man_pages(&folder)),
        Some(CliCommand::McpServer) => {
            Err(StartupError(format!("{SUBCOMMAND} takes no other arguments before it")).into())
        }
    }
}

/// Carries out a command on a whole store.
async fn on_store(command: CliCommand, variables: &HashMap<String, String>) -> Result<(), StartupError> {
    match command {
        CliCommand::Store(command) => app::store(task_of(command), variables).await,
        CliCommand::Export { to, store } => app::store(StoreTask::Export { to, store }, variables).await,
        CliCommand::Import { from, store } => app::store(StoreTask::Import { from, store }, variables).await,
        CliCommand::Backup { to, recipients, store } => {
            app::backup(BackupTask::Make { to, recipients, store }, variables).await
        }
        CliCommand::Restore { from, identity, store } => {
            app::backup(BackupTask::Restore { from, identity, store }, variables).await
        }
        CliCommand::Dashboard { bot, print, store } => {
            app::dashboard(bot.unwrap_or_default(), store, print, variables).await
        }
        _ => Ok(()),
    }
}

/// Reads the settings that a command needs.
fn values_for(command: Option<&CliCommand>) -> Result<Values, StartupError> {
    match command {
        // A shell that starts in a folder of somebody else reads no settings there.
        Some(CliCommand::Completions { .. } | CliCommand::Man { .. }) => Ok(Values::default()),
        _ => values(),
    }
}

/// Sets the bot up, and runs it with the new settings if its owner says so.
async fn init(values: Values) -> Result<(), AppFailure> {
    match app::init(values, stop_requests()?, &Additions::default()).await? {
        true => run(&self::values()?).await,
        false => Ok(()),
    }
}

fn written(result: std::io::Result<()>) -> Result<(), AppFailure> {
    result.map_err(|error| StartupError(format!("this cannot be written: {}", in_words(&error))).into())
}

fn of_audit(command: AuditSubcommand) -> (AuditTask, Option<StoreUrl>) {
    match command {
        AuditSubcommand::Verify { store } => (AuditTask::Verify, store),
        AuditSubcommand::Export { to, store } => (AuditTask::Export(to), store),
    }
}

fn task_of(command: StoreSubcommand) -> StoreTask {
    match command {
        StoreSubcommand::Copy { from, to } => StoreTask::Copy { from, to },
        StoreSubcommand::Check { store, accept_loss } => StoreTask::Check { store, accept_loss },
        StoreSubcommand::Compact { store } => StoreTask::Compact(store),
        StoreSubcommand::Migrate { store } => StoreTask::Migrate(store),
    }
}

fn of_agents(command: AgentsSubcommand) -> AgentsTask {
    match command {
        AgentsSubcommand::Check { folder } => AgentsTask::Check(folder),
        AgentsSubcommand::Schema => AgentsTask::Schema,
    }
}

fn of_packs(command: PacksSubcommand) -> PacksTask {
    match command {
        PacksSubcommand::Check { folder } => PacksTask::Check(folder),
        PacksSubcommand::Schema => PacksTask::Schema,
    }
}

fn measured(command: MemorySubcommand) -> MemoryTask {
    match command {
        MemorySubcommand::Import { store, from } => MemoryTask::Import { store, from },
        MemorySubcommand::Recall { store, batch, conversation, question, budget, recent, only, json } => {
            let questions = match batch {
                Some(file) => Questions::Batch(file),
                None => Questions::One {
                    conversation: conversation.unwrap_or_default(),
                    question: question.unwrap_or_default(),
                },
            };
            let options = RecallOptions { budget, recent, only_retrieved: only.is_some(), json };
            MemoryTask::Recall { store, questions, options }
        }
        MemorySubcommand::Stats { store, json } => MemoryTask::Stats { store, json },
    }
}

fn asked(command: PolicySubcommand) -> PolicyTask {
    match command {
        PolicySubcommand::Check { file } => PolicyTask::Check(file),
        PolicySubcommand::Explain { method, server, chat, role, agent, own, task, json } => {
            let chat = match chat {
                NamedChat::Here => None,
                NamedChat::Other(chat) => Some(chat),
            };
            PolicyTask::Explain(Explained { method, server, chat, role, agent, own, task, json })
        }
    }
}

/// Runs the bot of this folder, or the bots of its file.
async fn run(values: &Values) -> Result<(), AppFailure> {
    let (additions, all) = (Additions::default(), values.all());
    let (bots, hints) = app::bots_to_run(values, &additions)?;
    let log = app::start_log(bots.shared(), bots.redactor(&all))?;
    for hint in hints {
        tracing::warn!("{hint}");
    }
    let ran = app::run_all(bots, all, stop_requests()?, &additions).await;
    log.end().await;
    ran
}

/// Reads the environment and the `.env` file of the current folder. The environment takes precedence.
fn values() -> Result<Values, StartupError> {
    let file = presence::text(Path::new(ENV_FILE))
        .map_err(|error| StartupError(format!("the file {ENV_FILE} cannot be read: {}", in_words(&error))))?;
    let file = EnvFile::parse(&file.unwrap_or_default()).map_err(|fault| StartupError(fault.to_string()))?;
    let text = |text: OsString| text.into_string().ok();
    let environment = std::env::vars_os().filter_map(|(name, value)| Some((text(name)?, text(value)?)));
    Ok(Values { environment: environment.collect(), file })
}

/// Returns a stream with an item for each SIGINT or SIGTERM.
fn stop_requests() -> Result<impl Stream<Item = ()> + Unpin, StartupError> {
    let failed =
        |error: std::io::Error| StartupError(format!("signals cannot be received: {}", in_words(&error)));
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

/// Prints clap's message. Help and version succeed on standard output; anything else is a usage error.
fn usage(shown: &clap::Error) -> ExitCode {
    match shown.print().and_then(|()| std::io::stdout().flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            end(exit::REFUSED, &format!("standard output cannot be written: {}", in_words(&error)))
        }
        _ if shown.use_stderr() => ExitCode::from(exit::REFUSED),
        _ => ExitCode::SUCCESS,
    }
}

fn end(code: u8, words: &str) -> ExitCode {
    // Standard error may be closed; the exit code still reports the failure.
    drop(writeln!(std::io::stderr(), "figaro: {words}"));
    ExitCode::from(code)
}
