//! Offline Telegram: the Bot API on loopback. Code or the demo page plays its people. Serves `figaro demo` and the tests.
//! Checks every call more strictly than Telegram does.
//!
//! Layers, lowest first: `world`, `updates` and `state`, the data and its rules; `methods`, `people` and `amend`, the
//! actions of the bot and of people; `mini_app`, the Mini Apps they open; `shared`, the locked state; `polling`, `keep`, `http` and `web`, which use it; the
//! server; and `build`, `acting` and `testing`, the operations on a running server.

mod acting;
mod amend;
mod args;
mod build;
mod business;
mod call;
mod compose;
mod entities;
mod error;
mod files;
mod http;
mod inline;
mod keep;
mod markup;
mod menu;
mod methods;
mod mini_app;
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

use axum::Router;
use tokio::net::TcpListener;

pub use self::call::{ApiCall, Uploaded};
use self::http::ApiState;
pub(crate) use self::keep::KeepError;
pub use self::keep::WorldFolder;
use self::keep::WorldWriter;
pub use self::mini_app::{MINI_APP_KEY, MiniAppButton, init_data};
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

/// Options of the offline Telegram: its bot and its page.
#[derive(Debug, Clone)]
pub struct TelegramOptions {
    /// Token of the bot, `<bot id>:<secret>`.
    pub token: String,
    /// First name of the bot, also the title of private chats on the demo page.
    pub first_name: String,
    /// Username of the bot, without `@`.
    pub username: String,
    /// `true` if privacy mode is off: the bot sees all messages of its groups.
    pub can_read_all_group_messages: bool,
    /// HTML of the page at `/`, with its events under `/demo`. `None` in tests.
    pub page: Option<&'static str>,
    /// Information about the demo, shown on the page.
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
    /// Creates a world with only the bot.
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

/// Handle of a running offline Telegram. Cheap to clone; the server ends with its runtime.
#[derive(Clone)]
pub struct OfflineTelegram {
    shared: SharedTelegram,
    url: Arc<str>,
    token: Arc<str>,
    /// Routes of the page, for everybody; empty without a page.
    page: Router,
    /// Writer of the world's folder; `None` if the world is not saved.
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

    /// Serves the Bot API with a world saved in a folder. Restores the saved world. Writes changes after a short delay;
    /// [`Self::save`] writes the last ones. Ids are never reused, even after a crash.
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

    /// Starts the server, without saving the world.
    fn serve(
        listener: TcpListener,
        options: &TelegramOptions,
        shared: SharedTelegram,
        runtime: &Runtime,
    ) -> std::io::Result<Self> {
        let url = format!("http://{}", listener.local_addr()?).into();
        let token: Arc<str> = options.token.as_str().into();
        let page = options.page.map(|html| web::routes(&shared, html, &options.about, &token));
        let page = page.unwrap_or_default();
        let api = http::routes(ApiState { shared: shared.clone(), token: Arc::clone(&token) });
        let app = api.merge(web::for_this_machine(page.clone()));
        runtime.spawn("offline telegram", http::serve(shared.clone(), app, listener));
        runtime.spawn("offline telegram drafts", sweep_drafts(shared.clone()));
        Ok(Self { shared, url, token, page, keeper: None })
    }

    /// Serves the page alone, without the Bot API, on a further listener, to browsers that have the key. The link is
    /// `http://ADDRESS/?key=KEY`.
    ///
    /// # Errors
    /// The listener has no address.
    pub fn publish(&self, listener: TcpListener, key: &str, runtime: &Runtime) -> std::io::Result<()> {
        let page = web::with_key(self.page.clone(), key, listener.local_addr()?.port());
        runtime.spawn("offline telegram page", http::serve(self.shared.clone(), page, listener));
        Ok(())
    }

    /// Returns the base address of the Bot API, like `http://127.0.0.1:4711`.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Returns the only bot token that the server accepts.
    #[must_use]
    pub fn token(&self) -> &str {
        &self.token
    }

    /// Returns the user id of the bot.
    #[must_use]
    pub fn bot_id(&self) -> i64 {
        self.shared.look(|state| state.world.bot.id)
    }

    /// Skips the ids that an earlier world in the same folder may have assigned. Call it on a new saved world, after its
    /// chats were added.
    pub fn skip_ids(&self) {
        let now = self.shared.now();
        self.shared.change(|state| keep::skip_given_ids(state, now));
    }

    /// Writes the world into its folder. Does nothing if the world is not saved.
    ///
    /// # Errors
    /// The folder is not writable.
    pub async fn save(&self) -> Result<(), KeepError> {
        match &self.keeper {
            Some(keeper) => keeper.save(&self.shared).await,
            None => Ok(()),
        }
    }
}

/// Removes expired drafts until the server stops.
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
