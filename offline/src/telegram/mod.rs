//! An offline Telegram: the Bot API on loopback, with people and chats that code or the demo page plays.
//! Serves `figaro demo` and the tests; checks every call harder than Telegram does.

mod args;
mod build;
mod call;
mod compose;
mod entities;
mod error;
mod http;
mod keep;
mod markup;
mod methods;
mod people;
mod sample;
mod say;
mod state;
#[cfg(feature = "testing")]
mod testing;
#[cfg(test)]
mod tests;
mod updates;
pub mod web;
mod world;

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::net::TcpListener;
use tokio::sync::watch;

pub use self::build::Impossible;
pub use self::call::{Call, Uploaded};
pub use self::error::Refusal;
use self::keep::Keeper;
pub use self::keep::{KeepError, Kept, SetAside};
pub use self::say::{Say, SentByPerson};
use self::state::State;
pub use self::state::WebEvent;
#[cfg(feature = "testing")]
pub use self::testing::{Failure, View};
pub use self::world::{ChatKind, Draft, Person, Standing};
use crate::Runtime;

/// Which bot the offline Telegram serves.
#[derive(Debug, Clone)]
pub struct Options {
    /// Its token, `<bot id>:<secret>`.
    pub token: String,
    /// The bot's first name.
    pub first_name: String,
    /// The bot's username.
    pub username: String,
    /// Privacy mode is off: the bot sees all messages of its groups.
    pub can_read_all_group_messages: bool,
    /// The page served at `/`, with its events under `/demo`; none in tests.
    pub page: Option<&'static str>,
    /// What the page says of the model that answers and of what leaves the machine.
    pub notice: String,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            token: "7000000001:offline".to_owned(),
            first_name: "Figaro".to_owned(),
            username: "figaro_bot".to_owned(),
            can_read_all_group_messages: false,
            page: None,
            notice: String::new(),
        }
    }
}

impl Options {
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
pub struct OfflineTelegram(Arc<Shared>);

struct Shared {
    state: Mutex<State>,
    changed: watch::Sender<()>,
    options: Options,
    url: String,
    runtime: Runtime,
    /// Where the world is kept, if anywhere.
    keeper: Option<Arc<Keeper>>,
}

impl Shared {
    /// An empty world, kept nowhere.
    fn new(listener: &TcpListener, options: Options, runtime: &Runtime) -> std::io::Result<Self> {
        let url = format!("http://{}", listener.local_addr()?);
        let state = Mutex::new(State::new(options.bot(), options.can_read_all_group_messages));
        let (changed, runtime) = (watch::Sender::new(()), runtime.clone());
        Ok(Self { state, changed, options, url, runtime, keeper: None })
    }
}

impl OfflineTelegram {
    /// Serves the Bot API on a listener until the runtime stops.
    ///
    /// # Errors
    /// The listener has no address.
    pub fn start(listener: TcpListener, options: Options, runtime: &Runtime) -> std::io::Result<Self> {
        let shared = Shared::new(&listener, options, runtime)?;
        Ok(Self::serve(listener, shared))
    }

    /// The same with a world that is kept in a folder: it goes on as it was, and each change is written within a
    /// moment, the last ones by [`Self::save`]. Ids never go back, however the process before this ended.
    ///
    /// # Errors
    /// The listener has no address.
    pub fn start_kept(
        listener: TcpListener,
        options: Options,
        runtime: &Runtime,
        kept: Kept,
    ) -> std::io::Result<Self> {
        let mut shared = Shared::new(&listener, options, runtime)?;
        let state = shared.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        shared.keeper = Some(Arc::new(kept.restore(state, runtime.now())));
        let telegram = Self::serve(listener, shared);
        runtime.spawn("offline telegram keeper", telegram.clone().keep_saving());
        Ok(telegram)
    }

    fn serve(listener: TcpListener, shared: Shared) -> Self {
        let telegram = Self(Arc::new(shared));
        let runtime = telegram.runtime();
        runtime.spawn("offline telegram", http::serve(telegram.clone(), listener));
        runtime.spawn("offline telegram drafts", telegram.clone().sweep_drafts());
        telegram
    }

    /// Where it listens, like `http://127.0.0.1:4711`: the base address of the Bot API.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.0.url
    }

    /// The token it accepts.
    #[must_use]
    pub fn token(&self) -> &str {
        &self.0.options.token
    }

    /// The bot's user id.
    #[must_use]
    pub fn bot_id(&self) -> i64 {
        self.look(|state| state.world.bot.id)
    }

    fn options(&self) -> &Options {
        &self.0.options
    }

    fn runtime(&self) -> &Runtime {
        &self.0.runtime
    }

    /// Looks at the state.
    fn look<T>(&self, look: impl FnOnce(&State) -> T) -> T {
        look(&self.0.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Changes the state and wakes who waits for changes.
    fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let result = change(&mut self.0.state.lock().unwrap_or_else(PoisonError::into_inner));
        self.0.changed.send_replace(());
        result
    }

    fn changes(&self) -> watch::Receiver<()> {
        self.0.changed.subscribe()
    }

    async fn sweep_drafts(self) {
        let mut changes = self.changes();
        loop {
            let next = self.look(State::next_expiry);
            let expiry = async {
                match next {
                    Some(at) => tokio::time::sleep_until(at).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = self.runtime().stopping() => return,
                () = expiry => self.change(|state| state.expire_drafts(tokio::time::Instant::now())),
                _ = changes.changed() => {}
            }
        }
    }
}

impl fmt::Debug for OfflineTelegram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OfflineTelegram").field(&self.0.url).finish()
    }
}
