//! Stop requests: the first gives running turns time to end, the second ends at once.

use std::time::Duration;

use futures::{Stream, StreamExt};
use tracing::info;

use super::groups::{AT_ONCE, Groups, LAST_CALL, STOP_TIMEOUT};
use super::parts::AppParts;
use super::terminal::say;

/// Source and count of stop requests.
#[derive(Debug)]
pub(super) struct StopRequests<S> {
    requests: S,
    /// `true` to report progress on the terminal as well as in the log.
    on_terminal: bool,
    /// Number of requests so far.
    seen: usize,
}

impl<S: Stream<Item = ()> + Unpin> StopRequests<S> {
    pub(super) const fn new(requests: S, on_terminal: bool) -> Self {
        Self { requests, on_terminal, seen: 0 }
    }

    /// Waits for the next request; forever if the stream has ended.
    pub(super) async fn requested(&mut self) {
        if self.requests.next().await.is_none() {
            std::future::pending().await
        }
        self.seen += 1;
    }

    /// Returns the timeout of the remaining work, by the number of requests.
    pub(super) const fn last_call(&self) -> Duration {
        if self.seen > 1 { AT_ONCE } else { LAST_CALL }
    }

    /// Waits for `other` or for the next request. Returns `false` if the request came first.
    pub(super) async fn unless_requested(&mut self, other: impl Future<Output = ()>) -> bool {
        tokio::select! {
            () = other => true,
            () = self.requested() => false,
        }
    }

    /// Stops taking in updates, gives running turns time to end, then ends their helpers. The next request ends all at once.
    pub(super) async fn end(&mut self, parts: &AppParts, groups: &Groups) {
        groups.front.stop();
        self.tell_what_runs(parts);
        let orderly = async {
            if !groups.front.finish(STOP_TIMEOUT).await {
                info!("turns that are still running go on at the next start");
                parts.router.mailboxes.abandon();
                groups.front.finish(LAST_CALL).await;
            }
            groups.end_helpers(LAST_CALL).await;
        };
        if !self.unless_requested(orderly).await {
            end_now(parts, groups).await;
        }
    }

    fn tell_what_runs(&self, parts: &AppParts) {
        let running = parts.router.mailboxes.running();
        if running.is_empty() {
            info!("stopping: no more updates are taken in");
            return;
        }
        let (count, seconds) = (running.len(), STOP_TIMEOUT.as_secs());
        let turns = if count == 1 { "turn" } else { "turns" };
        let chats =
            running.iter().map(|conversation| conversation.chat.to_string()).collect::<Vec<_>>().join(" ");
        info!(
            chats,
            "stopping: no more updates are taken in; waiting up to {seconds} s for {count} running {turns} to end; a \
             second signal ends at once"
        );
        if self.on_terminal {
            say(&format!(
                "Stopping: waiting up to {seconds} s for {count} running {turns} to end. Ctrl-C again ends at once."
            ));
        }
    }
}

/// Ends without waiting for turns. Unfinished work continues at the next start, as after a crash.
pub(super) async fn end_now(parts: &AppParts, groups: &Groups) {
    info!("ending at once; what is not finished goes on at the next start");
    // Stop first: a message in progress is then left for the next start, not marked as stopped by a person. After a store
    // failure nothing has stopped the turns yet.
    groups.front.stop();
    parts.router.mailboxes.abandon();
    groups.front.finish(AT_ONCE).await;
    groups.end_helpers(AT_ONCE).await;
}
