//! Has the files of the store rewritten some time after something was erased: several erasures need one rewriting, and its bytes
//! are gone from the folder soon enough. What is due is stored, so a restart goes on with it.

use std::time::Duration;

use chrono::TimeDelta;

use figaro_base::clock::Clock;
use figaro_base::shutdown::TaskTracker;
use figaro_store::{ErasureStore, StoreError};

/// The pause after a rewriting that failed.
const RETRY: Duration = Duration::from_secs(60);
/// The pause between two looks where nothing tells of an erasure.
const LOOK_AGAIN: Duration = Duration::from_secs(60);

/// Rewrites the store.
#[derive(Debug)]
pub struct Rewriter {
    /// Where things are erased.
    pub erasures: ErasureStore,
    /// How long the first erasure waits for others: at most a few minutes, since all must be gone ten minutes after it.
    pub after: TimeDelta,
    /// Gives the current time.
    pub clock: Clock,
    /// It ends when this is asked to stop.
    pub background: TaskTracker,
}

impl Rewriter {
    /// Rewrites whenever something was erased, until the bot stops. What failed is logged and tried again.
    pub async fn run(self) {
        let news = self.erasures.news();
        loop {
            // Before the look: what is erased after it wakes this.
            let erased = news.notified();
            let pause = match self.look().await {
                Ok(pause) => pause,
                Err(error) => {
                    tracing::error!(
                        %error, label = error.label(),
                        "what was erased could not be removed from the files of the store; trying again in a minute"
                    );
                    RETRY
                }
            };
            tokio::select! {
                () = self.background.stopping() => return,
                () = tokio::time::sleep(pause) => {}
                () = erased => {}
            }
        }
    }

    /// Rewrites the store if that is due. Gives how long nothing is to be done.
    async fn look(&self) -> Result<Duration, StoreError> {
        let Some(since) = self.erasures.rewrite_due().await? else { return Ok(LOOK_AGAIN) };
        // A clock that was ahead then must not put it off.
        let waited = self.clock.now() - since;
        let is_late = waited < TimeDelta::zero();
        let rest = (self.after - waited).to_std().ok().filter(|_| !is_late).unwrap_or_default();
        if !rest.is_zero() {
            return Ok(rest);
        }
        let begun = self.clock.steady();
        self.erasures.rewrite(self.clock.now()).await?;
        let took = self.clock.steady().saturating_sub(begun);
        tracing::info!(took_ms = took.as_millis(), "what was erased is gone from the files of the store");
        Ok(Duration::ZERO)
    }
}
