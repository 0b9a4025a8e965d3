//! Pause of a bot whose store can no longer be written.

use std::path::Path;
use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBackoff, ExponentialBuilder};
use tokio::task::spawn_blocking;
use tokio::time::Instant;
use tracing::{error, info, warn};

use super::parts::AppParts;
use figaro_prompts::texts::{Texts, fill};
use figaro_store::engine::has_room;

/// Pause between tries of the disk; doubles from the first value up to the second.
const PAUSES: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(10));
/// A store that fails within this time after a restart has the same fault: owners are told once, and the pauses keep
/// growing.
const SAME_TROUBLE: Duration = Duration::from_secs(600);

/// State of the pauses of this process.
#[derive(Debug, Default)]
pub(super) struct Pause {
    is_on: bool,
    /// Time when the last pause ended; `None` before the first.
    ended: Option<Instant>,
    pauses: Option<ExponentialBackoff>,
    /// `true` if owners were told of this pause.
    is_told: bool,
}

impl Pause {
    /// Returns `true` while the bot is paused.
    pub(super) const fn is_on(&self) -> bool {
        self.is_on
    }

    /// Begins a pause after the store failed. Tells the owners, unless they know the fault.
    pub(super) async fn begin(&mut self, parts: &AppParts, reason: &str) {
        self.is_on = true;
        if !parts.store.tenure().holds() {
            // Nothing may be sent: another process may have the bot.
            warn!(reason, "this process may no longer act for the bot; pausing");
            self.is_told = false;
            return;
        }
        self.is_told = true;
        error!(reason, "the store can no longer be written; pausing until its disk takes writes again");
        if self.ended.take().is_some_and(|at| at.elapsed() < SAME_TROUBLE) {
            return;
        }
        self.pauses = None;
        let words = |texts: &Texts| fill(texts.store_failed(), &[("reason", reason)]);
        parts.owners.tell(parts.languages.locales.map(words)).await;
    }

    /// Begins a pause that owners are not told of, as of a store that failed before the bot ran.
    pub(super) fn begin_untold(&mut self, reason: &str) {
        warn!(reason, "the store failed before the bot ran; pausing");
        (self.is_on, self.is_told) = (true, false);
    }

    /// Ends a pause after the bot restarted. Tells the owners that the bot works again.
    pub(super) async fn end(&mut self, parts: &AppParts) {
        if !std::mem::take(&mut self.is_on) {
            return;
        }
        info!("the store takes writes again; going on");
        self.ended = Some(Instant::now());
        // If the store fails at once again, nothing is sent: repeated messages would be worse than none.
        if std::mem::take(&mut self.is_told) && parts.store.flush().await.is_ok() {
            parts.owners.tell(parts.languages.locales.map(|texts| texts.store_resumed().to_owned())).await;
        }
    }

    /// Waits until the disk of this store accepts writes.
    pub(super) async fn until_room(&mut self, folder: Option<&Path>) {
        let pauses = self.pauses.get_or_insert_with(|| {
            let growing = ExponentialBuilder::new().with_min_delay(PAUSES.0).with_max_delay(PAUSES.1);
            growing.without_max_times().build()
        });
        loop {
            tokio::time::sleep(pauses.next().unwrap_or(PAUSES.1)).await;
            let Some(folder) = folder.map(Path::to_owned) else { return };
            let found = spawn_blocking(move || has_room(&folder).map_err(|error| error.to_string()));
            match found.await.unwrap_or_else(|error| Err(error.to_string())) {
                Ok(()) => return,
                Err(reason) => warn!(reason, "the disk of the store takes no writes yet"),
            }
        }
    }
}
