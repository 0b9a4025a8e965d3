//! An offline Telegram: the Bot API on loopback, with people and chats that code or the demo page plays.
//! Serves `figaro demo` and the tests; checks every call harder than Telegram does.
//!
//! From the lowest to the highest: `world`, `updates` and `state`, the data and its rules; `methods`, `people` and
//! `amend`, what the bot and people do to the state; `shared`, the state behind its lock; `polling`, `keep`, `http` and `web`, which
//! hold that; the server, and on it `build`, `acting` and `testing`, what is done with one that runs.

mod acting;
mod amend;
mod args;
mod build;
mod call;
mod compose;
mod entities;
mod error;
mod files;
mod http;
mod keep;
mod markup;
mod methods;
mod people;
#[cfg(feature = "testing")]
mod planned;
mod polling;
mod possible;
mod sample;
mod say;
mod shared;
mod state;
#[cfg(feature = "testing")]
mod testing;
#[cfg(test)]
mod tests;
mod updates;
mod web;
mod world;

use std::fmt;
use std::sync::Arc;

use tokio::net::TcpListener;

pub use self::call::{ApiCall, Uploaded};
use self::http::ApiState;
pub(crate) use self::keep::KeepError;
pub use self::keep::WorldFolder;
use self::keep::WorldWriter;
#[cfg(feature = "testing")]
pub use self::planned::PlannedFailure;
pub use self::possible::Impossible;
pub use self::say::{Say, SentByPerson};
use self::shared::SharedTelegram;
use self::state::TelegramState;
pub use self::state::WebEvent;
#[cfg(feature = "testing")]
pub use self::testing::TelegramView;
pub use self::world::{ChatType, DemoInfo, MemberStatus, MessageDraft, Person};
use crate::Runtime;

/// Which bot the offline Telegram serves.
#[derive(Debug, Clone)]
pub struct TelegramOptions {
    /// Its token, `<bot id>:<secret>`.
    pub token: String,
    /// The bot's first name, which also names the private chats on the demo page.
    pub first_name: String,
    /// The bot's username, without its `@`.
    pub username: String,
    /// Privacy mode is off: the bot sees all messages of its groups.
    pub can_read_all_group_messages: bool,
    /// The page served at `/`, with its events under `/demo`; none in tests.
    pub page: Option<&'static str>,
    /// What the page says of the demo.
    pub about: DemoInfo,
}

impl Default for TelegramOptions {
    fn default() -> Self {
        Self {
            token: "7000000001:offline".to_owned(),
            first_name: "Figaro".to_owned(),
            username: "figaro_bot".to_owned(),
            can_read_all_group_messages: false,
            page: None,
            about: DemoInfo::default(),
        }
    }
}

impl TelegramOptions {
    /// An empty world with the bot alone.
    fn new_state(&self) -> TelegramState {
        TelegramState::new(self.bot(), self.can_read_all_group_messages)
    }

    fn bot(&self) -> Person {
        let id = self.token.split(':').next().and_then(|id| id.parse().ok()).unwrap_or(7_000_000_001);
        Person {
            is_bot: true,
            language_code: None,
            ..Person::new(id, &self.first_name).username(&self.username)
        }
    }
}

/// A handle on a running offline Telegram. Cheap to clone; the server ends with its runtime.
#[derive(Clone)]
pub struct OfflineTelegram {
    shared: SharedTelegram,
    url: Arc<str>,
    token: Arc<str>,
    /// Writes the world into a folder, if it is kept in one.
    keeper: Option<Arc<WorldWriter>>,
}

impl OfflineTelegram {
    /// Serves the Bot API on a listener until the runtime stops.
    ///
    /// # Errors
    /// The listener has no address.
    pub fn start(
        listener: TcpListener,
        options: TelegramOptions,
        runtime: &Runtime,
    ) -> std::io::Result<Self> {
        let state = options.new_state();
        Self::serve(listener, &options, SharedTelegram::new(state, runtime), runtime)
    }

    /// The same with a world that is kept in a folder: it goes on as it was, and each change is written within a
    /// moment, the last ones by [`Self::save`]. Ids never go back, however the process before this ended.
    ///
    /// # Errors
    /// The listener has no address.
    pub fn start_kept(
        listener: TcpListener,
        options: TelegramOptions,
        runtime: &Runtime,
        kept: WorldFolder,
    ) -> std::io::Result<Self> {
        let mut state = options.new_state();
        let keeper = Arc::new(kept.restore(&mut state, runtime.now()));
        let telegram = Self::serve(listener, &options, SharedTelegram::new(state, runtime), runtime)?;
        let saving = Arc::clone(&keeper).keep_saving(telegram.shared.clone());
        runtime.spawn("offline telegram keeper", saving);
        Ok(Self { keeper: Some(keeper), ..telegram })
    }

    /// Starts the server of a world that is kept nowhere.
    fn serve(
        listener: TcpListener,
        options: &TelegramOptions,
        shared: SharedTelegram,
        runtime: &Runtime,
    ) -> std::io::Result<Self> {
        let url = format!("http://{}", listener.local_addr()?).into();
        let token: Arc<str> = options.token.as_str().into();
        let page = options.page.map(|html| web::routes(&shared, html, &options.about));
        let api = ApiState { shared: shared.clone(), token: Arc::clone(&token) };
        runtime.spawn("offline telegram", http::serve(api, page.unwrap_or_default(), listener));
        runtime.spawn("offline telegram drafts", sweep_drafts(shared.clone()));
        Ok(Self { shared, url, token, keeper: None })
    }

    /// Where it listens, like `http://127.0.0.1:4711`: the base address of the Bot API.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The token it accepts.
    #[must_use]
    pub fn token(&self) -> &str {
        &self.token
    }

    /// The bot's user id.
    #[must_use]
    pub fn bot_id(&self) -> i64 {
        self.shared.look(|state| state.world.bot.id)
    }

    /// Leaves out the ids that a world before this one may have given in the same folder. For a new world that is
    /// kept, once its chats are there.
    pub fn skip_ids(&self) {
        let now = self.shared.now();
        self.shared.change(|state| keep::skip_given_ids(state, now));
    }

    /// Writes the world into its folder, if it is kept in one.
    ///
    /// # Errors
    /// The folder takes no writes.
    pub async fn save(&self) -> Result<(), KeepError> {
        match &self.keeper {
            Some(keeper) => keeper.save(&self.shared).await,
            None => Ok(()),
        }
    }
}

/// Takes drafts away that nobody renews, each when its time is over, until the server stops.
async fn sweep_drafts(shared: SharedTelegram) {
    let mut changes = shared.changes();
    loop {
        let next = shared.look(TelegramState::next_expiry);
        let expiry = async {
            match next {
                Some(at) => tokio::time::sleep_until(at).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = shared.stopping() => return,
            () = expiry => shared.change(|state| state.expire_drafts(tokio::time::Instant::now())),
            _ = changes.changed() => {}
        }
    }
}

impl fmt::Debug for OfflineTelegram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OfflineTelegram").field(&self.url).finish()
    }
}
