//! Connections for which the bot does nothing, in memory, so that not every message asks Telegram again.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use figaro_base::ids::{ConnectionId, UserId};

/// Time for which a connection is known.
const KEPT: Duration = Duration::from_secs(600);
/// Maximum number of connections; beyond it all are forgotten.
const MAX_KEPT: usize = 1000;

/// Connections of strangers, and those that Telegram does not know.
#[derive(Debug, Default)]
pub struct RefusedConnections(Mutex<HashMap<ConnectionId, RefusedConnection>>);

#[derive(Debug)]
struct RefusedConnection {
    /// Person whose account it is, if known.
    user: Option<UserId>,
    since: Instant,
}

impl RefusedConnections {
    /// Adds a connection of this person; `None` if Telegram does not know it.
    pub(crate) fn add(&self, connection: ConnectionId, user: Option<UserId>) {
        let mut refused = self.0.lock();
        if refused.len() >= MAX_KEPT {
            refused.clear();
        }
        refused.insert(connection, RefusedConnection { user, since: Instant::now() });
    }

    /// Returns the person of a refused connection, if known; `None` if the connection is not refused.
    pub(crate) fn find(&self, connection: &ConnectionId) -> Option<Option<UserId>> {
        let refused = self.0.lock();
        let found = refused.get(connection).filter(|refused| refused.since.elapsed() < KEPT);
        found.map(|refused| refused.user.clone())
    }
}
