//! Rewrites the files of the store some time after an erasure, so that several erasures share one rewrite. The due time is
//! stored and survives a restart.

use std::time::Duration;

use chrono::TimeDelta;

use figaro_base::clock::Clock;
use figaro_base::shutdown::TaskTracker;
use figaro_store::{ErasureStore, StoreError};

/// Pause after a failed rewrite.
const RETRY: Duration = Duration::from_secs(60);
/// Pause between two checks when no erasure is signalled.
const LOOK_AGAIN: Duration = Duration::from_secs(60);

/// Rewrites the files of the store after erasures.
#[derive(Debug)]
pub struct Rewriter {
    /// Signals erasures and performs the rewrite.
    pub erasures: ErasureStore,
    /// Delay of the first erasure to wait for others. A few minutes at most: erased data must be gone after ten minutes.
    pub after: TimeDelta,
    /// Source of the current time.
    pub clock: Clock,
    /// Ends the rewriter on request.
    pub background: TaskTracker,
}

impl Rewriter {
    /// Rewrites after each erasure until the bot stops. Failures are logged and retried.
    pub async fn run(self) {
        let news = self.erasures.news();
        loop {
            // Subscribed before the check, so that a later erasure wakes this loop.
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

    /// Rewrites the store if due. Returns the pause until the next check.
    async fn look(&self) -> Result<Duration, StoreError> {
        let Some(since) = self.erasures.rewrite_due()? else { return Ok(LOOK_AGAIN) };
        // Without this, a clock that was ahead at the erasure would put the rewrite off.
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
