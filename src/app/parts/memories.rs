//! Extraction of facts from messages.

use std::sync::Arc;

use tokio::sync::Semaphore;

use super::base::Base;
use super::tools::record_books;
use figaro_agent::delivery::Bus;
use figaro_agent::turn::extraction::{AT_ONCE, Extractor, MemoryRules, UnreadQueue};
use figaro_ledger::Ledger;

/// Builds the extractor for all chats.
pub(super) fn extractor(base: &Base, ledger: &Arc<Ledger>, bus: &Bus) -> Extractor {
    let limits = &base.settings.limits;
    Extractor {
        facts: base.store.facts(),
        profiles: base.store.profiles(),
        sessions: base.store.sessions(),
        settings: base.store.settings(),
        records: record_books(base),
        channel: base.channel.clone(),
        ledger: ledger.clone(),
        prompts: base.prompts.clone(),
        bus: bus.clone(),
        clock: base.clock.clone(),
        background: base.groups.front.clone(),
        rules: MemoryRules { limit: limits.memory_limit, asks: limits.asks_consent },
        pending: UnreadQueue::new(limits.memory_delay),
        trials: base.trials.clone(),
        unreached: Arc::default(),
        at_once: Arc::new(Semaphore::new(AT_ONCE)),
    }
}
