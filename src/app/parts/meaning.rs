//! Parts for search by meaning, if the settings name an embedder.

use std::sync::Arc;

use super::base::Base;
use crate::app::embedder::{EmbedderParts, embedder};
use crate::app::failure::StartupError;
use crate::app::groups::Groups;
use figaro_base::clock::Clock;
use figaro_config::Settings;
use figaro_ledger::Ledger;
use figaro_memory::{Chats, Meaning, VectorMaker};
use figaro_provider::Providers;
use figaro_provider::embed::Embedder;

/// Builds the embedder of the settings; `None` if they name none.
///
/// # Errors
/// Errors of [`embedder`].
pub(super) async fn of_settings(
    settings: &Settings,
    providers: &Providers,
    http: &reqwest::Client,
    groups: &Groups,
    clock: &Clock,
) -> Result<Option<Arc<dyn Embedder>>, StartupError> {
    let wanted = EmbedderParts {
        settings: &settings.embedder,
        idle_timeout: settings.model.idle_timeout,
        providers,
        http,
        clock: clock.clone(),
        background: groups.front.clone(),
    };
    embedder(wanted).await
}

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
