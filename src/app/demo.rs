//! `figaro demo`: the real bot against an offline Telegram with a chat page, and an offline model and search unless a key
//! is set.

use std::collections::HashMap;
use std::future::Future;
use std::path::PathBuf;
use std::sync::Arc;

use tokio::net::TcpListener;

use super::{Failure, Refusal, run};
use crate::clock::Clock;
use crate::config::Settings;
use crate::demo::PAGE;
use crate::demo::model::{OfflineModel, Showman};
use crate::demo::tavily::{self, OfflineTavily};
use crate::demo::telegram::{Impossible, OfflineTelegram, Options, Person, Standing};
use crate::shutdown::Tasks;

/// The person at the page, and the chats on it.
const VISITOR: i64 = 1001;
const FRIEND: i64 = 1002;
const GROUP: i64 = -100_200;
const FORUM: i64 = -100_300;

/// What the demo can be told.
#[derive(Debug, Clone)]
pub struct DemoOptions {
    /// The port of the chat page; 0 takes a free one.
    pub port: u16,
    /// Where to keep what is said; a folder that is removed at the end if none is given.
    pub store: Option<PathBuf>,
}

/// Runs the demo until `stop` resolves.
///
/// # Errors
/// When it cannot start; nothing is left running then.
pub async fn demo(
    variables: &HashMap<String, String>,
    options: DemoOptions,
    stop: impl Future<Output = ()>,
) -> Result<(), Failure> {
    let tasks = Tasks::new();
    let clock = Clock::system();
    let scratch =
        tempfile::tempdir().map_err(|error| Refusal(format!("no temporary folder can be made: {error}")))?;
    let folder = options.store.unwrap_or_else(|| scratch.path().join("store"));
    let telegram = offline_telegram(options.port, &clock, &tasks).await?;
    let mut variables = variables.clone();
    let has_key = variables.get("OPENAI_API_KEY").is_some_and(|key| !key.trim().is_empty());
    let model = if has_key {
        "the model of your OPENAI_API_KEY answers"
    } else {
        let model = OfflineModel::start(listen(0).await?, Arc::new(Showman), clock, &tasks);
        let model = model.map_err(|error| Refusal(error.to_string()))?;
        let search = OfflineTavily::start(listen(0).await?, &tasks);
        let search = search.map_err(|error| Refusal(error.to_string()))?;
        search.otherwise(tavily::made_up);
        set(&mut variables, "OPENAI_API_KEY", "no-key-needed");
        set(&mut variables, "OPENAI_BASE_URL", model.url());
        set(&mut variables, "OPENAI_MODEL", "offline");
        set(&mut variables, "TAVILY_API_KEY", tavily::KEY);
        set(&mut variables, "TAVILY_BASE_URL", search.url());
        "a small offline model answers; set OPENAI_API_KEY for a real one"
    };
    set(&mut variables, "TELEGRAM_BOT_TOKEN", telegram.token());
    set(&mut variables, "TELEGRAM_API_URL", telegram.url());
    set(&mut variables, "OWNER_IDS", &VISITOR.to_string());
    set(&mut variables, "ACCESS", "open");
    set(&mut variables, "MCP_HTTP_PORT", "0");
    set(&mut variables, "STORE_URL", &format!("sled:{}", folder.display()));
    variables.entry("RUST_LOG".to_owned()).or_insert_with(|| "warn".to_owned());
    let settings = Settings::read(&variables).map_err(|faults| Refusal(faults.to_string()))?;
    super::start_log(&settings)?;
    super::say(&format!("Figaro's demo: open {}/ in a browser ({model}). Ctrl-C ends it.", telegram.url()));
    let ran = run(&settings, stop).await;
    tasks.stop();
    tasks.finish(super::LAST_CALL).await;
    ran
}

async fn offline_telegram(port: u16, clock: &Clock, tasks: &Tasks) -> Result<OfflineTelegram, Refusal> {
    let listener = listen(port).await?;
    let options = Options { page: Some(PAGE), ..Options::default() };
    let telegram = OfflineTelegram::start(listener, options, clock.clone(), tasks);
    let telegram = telegram.map_err(|error| Refusal(error.to_string()))?;
    populate(&telegram).map_err(|error| Refusal(error.to_string()))?;
    Ok(telegram)
}

/// A private chat, a group with a member who does not address the bot, and a forum.
fn populate(telegram: &OfflineTelegram) -> Result<(), Impossible> {
    telegram.add_user(Person::new(VISITOR, "Alex").username("alex").language("en"));
    telegram.add_user(Person::new(FRIEND, "Robin").username("robin").language("en"));
    telegram.set_demo_user(VISITOR);
    telegram.add_private(VISITOR)?;
    telegram.add_supergroup(GROUP, "Lunch club");
    telegram.add_forum(FORUM, "Workshop");
    for chat in [GROUP, FORUM] {
        telegram.set_member(chat, VISITOR, Standing::Owner)?;
        telegram.set_member(chat, FRIEND, Standing::Member)?;
        telegram.set_member(chat, telegram.bot_id(), Standing::Left)?;
        telegram.bot_joined(chat, VISITOR)?;
    }
    telegram.add_topic(FORUM, "Ideas")?;
    telegram.add_topic(FORUM, "Releases")?;
    telegram.say(FRIEND, GROUP, "Who is in for lunch on Friday? The new place by the river looks good.")?;
    Ok(())
}

async fn listen(port: u16) -> Result<TcpListener, Refusal> {
    let bound = TcpListener::bind(("127.0.0.1", port)).await;
    bound.map_err(|error| {
        Refusal(format!("port {port} of this machine cannot be used ({error}): choose another with --port"))
    })
}

fn set(variables: &mut HashMap<String, String>, name: &str, value: &str) {
    variables.insert(name.to_owned(), value.to_owned());
}
