//! `figaro demo`: runs the real bot against an offline Telegram with a chat page. Model and search are offline too, unless a
//! model is chosen.

mod answering;
mod provider;
mod setup;

use std::collections::HashMap;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use figaro_base::secret::ExposeSecret;
use figaro_base::system::in_words;
use figaro_offline::telegram::{
    Impossible, MemberStatus, OfflineTelegram, Person, TelegramOptions, WorldFolder,
};
use figaro_offline::{PAGE, Runtime};
use futures::Stream;
use tokio::net::TcpListener;

use self::setup::{DemoPlace, PublicPage, listen, set, set_telegram};
use super::environment::place_fault;
use super::stop::StopRequests;
use super::terminal::{all_said, say};
use super::{Additions, AppFailure, StartupError, run_until};

/// User ids of the visitor and a friend, and chat ids of the demo.
const VISITOR: i64 = 1001;
const FRIEND: i64 = 1002;
/// User whom the owner has not allowed.
const STRANGER: i64 = 1003;
const GROUP: i64 = -100_200;
const FORUM: i64 = -100_300;

/// Options of `figaro demo`.
#[derive(Debug, Clone)]
pub struct DemoOptions {
    /// Address of the chat page. If other machines reach it, the page needs the key that its link has.
    pub bind: IpAddr,
    /// Port of the chat page; 0 picks a free one.
    pub port: u16,
    /// Folder that keeps the conversations for the next demo; `None` for a temporary folder that is removed at the end.
    pub store: Option<PathBuf>,
    /// Pause of the offline model before each word of an answer.
    pub word_pause: Duration,
}

/// Runs the demo until the first of `stops`. A second one ends it without waiting for running turns.
///
/// # Errors
/// When the demo cannot start; nothing is left running then.
pub async fn demo(
    values: &HashMap<String, String>,
    options: DemoOptions,
    stops: impl Stream<Item = ()> + Unpin,
) -> Result<(), AppFailure> {
    let runtime = Runtime::system();
    let scratch = tempfile::tempdir()
        .map_err(|error| StartupError(format!("no temporary folder can be made: {}", in_words(&error))))?;
    let folder = options.store.clone().unwrap_or_else(|| scratch.path().join("store"));
    let unknown = |error: std::io::Error| StartupError(in_words(&error));
    let DemoPlace { telegram: listener, public } = listen(options.bind, options.port).await?;
    let address = listener.local_addr().map_err(unknown)?;
    let mut offline = TelegramOptions { page: Some(PAGE), ..TelegramOptions::default() };
    let mut additions = Additions::default();
    let mut variables = super::variables(&additions)?;
    let mut all = values.clone();
    let is_offline = answering::stand_in(&mut all, &variables, &runtime, options.word_pause).await?;
    if is_offline {
        additions.providers.push(provider::DESCRIPTOR);
        variables = super::variables(&additions)?;
    }
    set_telegram(&mut all, &offline.token, address, public.is_some());
    set(&mut all, "OWNER_IDS", &VISITOR.to_string());
    // Default of a new bot: open to its owner, and to groups that the owner adds it to.
    set(&mut all, "ACCESS", "pairing");
    set(&mut all, "MCP_HTTP_PORT", "0");
    set(&mut all, "STORE_URL", &format!("redb:{}", folder.display()));
    // For the dashboard; callers of the API name an address.
    all.entry("HTTP_ADDR".to_owned()).or_insert_with(|| "127.0.0.1:0".to_owned());
    all.entry("RUST_LOG".to_owned()).or_insert_with(|| "warn".to_owned());
    let settings = answering::settings(&all, values, &variables)?;
    if let Some(fault) = place_fault(&settings.store.url) {
        return Err(StartupError(format!("{fault} by --store")).into());
    }
    let log = super::start_log(&settings, settings.redactor())?;
    offline.about = if is_offline { answering::offline() } else { answering::outside(&settings) };
    let mut lines = match &public {
        None => vec![format!("Figaro's demo: open http://{address}/ in a browser. Ctrl-C ends it.")],
        Some(page) => page.lines().map_err(unknown)?,
    };
    lines.push(offline.about.notice.clone());
    lines.push("A dashboard: send /dashboard in the chat, and open the link.".to_owned());
    let address = settings.http.address.filter(|address| address.port() != 0);
    lines.extend(address.map(|address| format!("OpenAI API: http://{address}/v1")));
    if is_offline {
        lines.push(answering::hint(&variables));
        lines.extend(answering::unused(values, &variables));
    }
    let (telegram, kept) = offline_telegram(listener, offline, options.store.as_deref(), &runtime)?;
    if let Some(PublicPage { listener, key }) = public {
        telegram.publish(listener, key.expose_secret(), &runtime).map_err(unknown)?;
    }
    lines.extend(kept);
    lines.iter().for_each(|line| say(line));
    all_said()?;
    let mut stop = StopRequests::new(stops, true);
    let ran = run_until(&settings, &mut stop, &additions).await;
    log.end().await;
    runtime.stop();
    runtime.finish(stop.last_call()).await;
    let saved = telegram.save().await.map_err(|error| StartupError(error.to_string()));
    ran.and(saved.map_err(AppFailure::from))
}

/// Starts the offline Telegram, with the world saved beside the store if one is named. Also returns lines about that.
fn offline_telegram(
    listener: TcpListener,
    options: TelegramOptions,
    store: Option<&Path>,
    runtime: &Runtime,
) -> Result<(OfflineTelegram, Vec<String>), StartupError> {
    let refuse = |error: std::io::Error| StartupError(in_words(&error));
    let unfit = |error: Impossible| StartupError(error.to_string());
    let Some(store) = store else {
        let telegram = OfflineTelegram::start(listener, options, runtime).map_err(refuse)?;
        populate(&telegram).map_err(unfit)?;
        add_stranger(&telegram).map_err(unfit)?;
        telegram.set_demo_user(VISITOR);
        return Ok((telegram, Vec::new()));
    };
    let kept = WorldFolder::open(store, runtime.now()).map_err(|error| StartupError(error.to_string()))?;
    let path = kept.path();
    let mut lines = vec![format!(
        "What the bot stores is kept in {}, and the chats of the page in {}.",
        store.display(),
        path.display()
    )];
    if let Some(aside) = kept.set_aside() {
        lines.push(format!(
            "The chats kept there could not be read: {}. That file is now {}; the page begins anew, and the bot still \
             knows what it stored.",
            aside.reason,
            aside.path.display()
        ));
    }
    let goes_on = kept.has_world();
    let telegram = OfflineTelegram::start_kept(listener, options, runtime, kept);
    let telegram = telegram.map_err(refuse)?;
    if !goes_on {
        populate(&telegram).map_err(unfit)?;
    }
    // Worlds saved by earlier versions lack the stranger.
    add_stranger(&telegram).map_err(unfit)?;
    if !goes_on {
        telegram.skip_ids();
    }
    // The saved world does not record the user at the page.
    telegram.set_demo_user(VISITOR);
    Ok((telegram, lines))
}

/// Adds a third person and a private chat with the bot.
fn add_stranger(telegram: &OfflineTelegram) -> Result<(), Impossible> {
    telegram.add_user(Person::new(STRANGER, "Sam").username("sam").language("en"));
    telegram.add_private(STRANGER)?;
    Ok(())
}

/// Adds a private chat, a group with a member who does not address the bot, and a forum.
fn populate(telegram: &OfflineTelegram) -> Result<(), Impossible> {
    telegram.add_user(Person::new(VISITOR, "Alex").username("alex").language("en"));
    telegram.add_user(Person::new(FRIEND, "Robin").username("robin").language("en"));
    telegram.add_private(VISITOR)?;
    telegram.add_supergroup(GROUP, "Lunch club");
    telegram.add_forum(FORUM, "Workshop");
    for chat in [GROUP, FORUM] {
        telegram.set_member(chat, VISITOR, MemberStatus::Owner)?;
        telegram.set_member(chat, FRIEND, MemberStatus::Member)?;
        telegram.set_member(chat, telegram.bot_id(), MemberStatus::Left)?;
        telegram.bot_joined(chat, VISITOR)?;
        // The bot must be an admin to carry out approved calls.
        telegram.set_member(chat, telegram.bot_id(), MemberStatus::Admin)?;
    }
    telegram.add_topic(FORUM, "Ideas")?;
    telegram.add_topic(FORUM, "Releases")?;
    // The bot knows only members who have written.
    telegram.say(FRIEND, FORUM, "Ideas and Releases have a topic each; the rest goes here.")?;
    telegram.say(FRIEND, GROUP, "Who is in for lunch on Friday? The new place by the river looks good.")?;
    Ok(())
}
