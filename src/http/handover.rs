//! What turns have left to callers with tools of their own, until these come back with results. It is kept in memory: after a
//! restart a turn goes on from what its caller sends.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::provider::Item;
use crate::turn::run::Handed;

/// So many are kept at most, of so many bytes together, and for so long.
const MAX_KEPT: usize = 1_000;
const MAX_BYTES: usize = 64 << 20;
const KEPT: Duration = Duration::from_secs(3600);

/// What turns have left. Cheap to clone; clones share it.
#[derive(Debug, Clone, Default)]
pub struct Handovers(Arc<Mutex<BTreeMap<Key, Kept>>>);

/// A call of a caller: the ids of calls are the providers', and may not be unique among callers.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    identity: String,
    call: String,
}

#[derive(Debug)]
struct Kept {
    items: Arc<Vec<Item>>,
    bytes: usize,
    at: Instant,
}

impl Handovers {
    /// Keeps what a turn of this caller has left.
    pub fn keep(&self, identity: &str, handed: &Handed) {
        let Some(first) = handed.calls.first() else { return };
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        all.retain(|_, kept| now.duration_since(kept.at) < KEPT);
        let bytes = handed.items.iter().map(|item| item.tokens(str::len)).sum();
        while all.len() >= MAX_KEPT || all.values().map(|kept| kept.bytes).sum::<usize>() + bytes > MAX_BYTES
        {
            let oldest = all.iter().min_by_key(|(_, kept)| kept.at).map(|(key, _)| key.clone());
            let Some(oldest) = oldest else { break };
            all.remove(&oldest);
        }
        let key = Key { identity: identity.to_owned(), call: first.id.clone() };
        all.insert(key, Kept { items: Arc::new(handed.items.clone()), bytes, at: now });
    }

    /// What the turn had said and done that left this call, its first, to this caller.
    #[must_use]
    pub fn items(&self, identity: &str, call: &str) -> Option<Arc<Vec<Item>>> {
        let key = Key { identity: identity.to_owned(), call: call.to_owned() };
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.get(&key).map(|kept| kept.items.clone())
    }
}
