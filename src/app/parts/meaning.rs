//! The parts that find messages by what they mean, where the settings name an embedder.

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

/// The embedder of the settings, if they name one.
///
/// # Errors
/// Those of [`embedder`].
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

/// The memory of chats, which asks the embedder on the bill of whoever asks.
pub(super) fn chats(base: &Base, ledger: &Arc<Ledger>) -> Chats {
    let embedder = base.embedder.clone();
    let meaning = embedder.map(|embedder| Meaning::new(embedder, ledger.clone(), base.clock.clone()));
    base.chats.clone().with_meaning(meaning)
}

/// What makes vectors once a turn has ended.
pub(super) fn vectors(base: &Base) -> VectorMaker {
    let (zone, background) = (base.settings.timezone, base.groups.front.clone());
    VectorMaker::new(base.chats.clone(), base.store.settings(), zone, background)
}
