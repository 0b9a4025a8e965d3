//! `getUpdates`: waits for an update, the timeout, another poll, or the end of the server.

use std::time::Duration;

use serde_json::{Map, Value};
use tokio::time::Instant;

use super::error::BotApiError;
use super::shared::SharedTelegram;

const MAX_POLL_SECONDS: u64 = 50;

/// Returns the answer of `getUpdates` as JSON text. Waits up to `timeout` seconds if there is no update.
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
