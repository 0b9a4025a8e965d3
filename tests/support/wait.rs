//! Waiting for what nobody is told of, such as a line of a log or a file: by looking again and again. What the offline Telegram or
//! model sees is waited for with `World::see` and `World::asks`, which look only when something has changed.

use std::fmt::Display;
use std::panic::Location;
use std::time::{Duration, Instant};

use super::TIMEOUT;

/// Least time between two looks.
const PAUSE: Duration = Duration::from_millis(10);
/// Far longer than what has shown takes to be on disk: some milliseconds.
const RECORDED: Duration = Duration::from_millis(500);

/// Looks until the probe gives something, and gives that. If it never does, the test fails with these words and the place that waits.
#[track_caller]
pub fn eventually<T, W: Display>(
    what: impl FnOnce() -> W,
    probe: impl AsyncFnMut() -> Option<T>,
) -> impl Future<Output = T> {
    let place = Location::caller();
    async move {
        let found = within(TIMEOUT, probe).await;
        found.unwrap_or_else(|| panic!("{place}: {}", what()))
    }
}

/// The same within a time of its own; `None` when that is over.
pub async fn within<T>(time: Duration, mut probe: impl AsyncFnMut() -> Option<T>) -> Option<T> {
    let looking = async {
        loop {
            let begun = Instant::now();
            if let Some(found) = probe().await {
                return found;
            }
            // A look may take long, such as one at all files of a store: half of the time is for what it waits for.
            tokio::time::sleep(begun.elapsed().max(PAUSE)).await;
        }
    };
    tokio::time::timeout(time, looking).await.ok()
}

/// Pauses until what has shown is on record, too, which nothing tells: a bot that is killed before that does it once more.
pub async fn recorded() {
    tokio::time::sleep(RECORDED).await;
}
