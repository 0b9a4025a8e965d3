//! `getUpdates`: waits until there is an update, the time is over, another poll begins, or the server stops.

use std::time::Duration;

use serde_json::{Map, Value};
use tokio::time::Instant;

use super::error::BotApiError;
use super::shared::SharedTelegram;

const MAX_POLL_SECONDS: u64 = 50;

/// Answers `getUpdates` with the JSON text of a list: at once, or after at most `timeout` seconds if there is nothing yet.
pub(super) async fn get_updates(
    shared: &SharedTelegram,
    args: &Map<String, Value>,
) -> Result<String, BotApiError> {
    let number = |name: &str| args.get(name).and_then(Value::as_u64);
    let limit = number("limit").and_then(|l| usize::try_from(l).ok()).unwrap_or(100);
    let wait = Duration::from_secs(number("timeout").unwrap_or(0).min(MAX_POLL_SECONDS));
    let deadline = Instant::now() + wait;
    let poll = shared.change(|state| state.updates.begin(args));
    let mut changes = shared.changes();
    loop {
        let found = shared.look(|state| state.updates.serve(poll, limit))?;
        if !found.is_empty() || wait.is_zero() {
            return Ok(format!("[{}]", found.join(",")));
        }
        tokio::select! {
            () = tokio::time::sleep_until(deadline) => return Ok("[]".to_owned()),
            () = shared.stopping() => return Ok("[]".to_owned()),
            _ = changes.changed() => {}
        }
    }
}
