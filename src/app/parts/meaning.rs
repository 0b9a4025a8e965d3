//! Parts for search by meaning, if the settings name an embedder.

use std::sync::Arc;

use super::base::Base;
use figaro_ledger::Ledger;
use figaro_memory::{Chats, Meaning, VectorMaker};

/// Builds the memory of chats. Calls to the embedder are billed to the user who asks.
pub(super) fn chats(base: &Base, ledger: &Arc<Ledger>) -> Chats {
    let embedder = base.embedder.clone();
    let meaning = embedder.map(|embedder| Meaning::new(embedder, ledger.clone(), base.clock.clone()));
    base.chats.clone().with_meaning(meaning)
}

/// Builds the vector maker, which runs after each turn.
pub(super) fn vectors(base: &Base) -> VectorMaker {
    let (zone, background) = (base.settings.timezone, base.groups.front.clone());
    VectorMaker::new(base.chats.clone(), base.store.settings(), zone, background)
}
