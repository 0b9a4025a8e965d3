//! Builds background workers that do not delay turns.

use std::sync::Arc;

use super::base::Base;
use figaro_agent::turn::extraction::Extractor;
use figaro_agent::turn::naming::Namer;
use figaro_agent::turn::summaries::{Summariser, Summarizer};
use figaro_agent::turn::window::TokenBudget;
use figaro_domain::summary::SummaryRules;
use figaro_ledger::Ledger;

/// Builds the namer, which names sessions after their first exchange.
pub(super) fn namer(base: &Base, ledger: &Arc<Ledger>) -> Namer {
    Namer {
        sessions: base.store.sessions(),
        settings: base.store.settings(),
        ledger: ledger.clone(),
        prompts: base.prompts.clone(),
        channel: base.channel.clone(),
        background: base.groups.front.clone(),
        is_on: base.settings.limits.names_sessions,
        busy: Arc::default(),
    }
}

/// Builds the summariser of sessions. The caller starts it.
pub(super) fn summariser(base: &Base, ledger: &Arc<Ledger>, facts: Extractor) -> Summariser {
    let limits = &base.settings.limits;
    let recent_tokens = TokenBudget::of(limits.history_tokens).before();
    Summariser {
        store: base.store.summaries(),
        asking: Summarizer {
            settings: base.store.settings(),
            ledger: ledger.clone(),
            prompts: base.prompts.clone(),
        },
        facts,
        rules: SummaryRules { every: limits.summary_every, recent_tokens },
        clock: base.clock.clone(),
        background: base.groups.front.clone(),
        ended: Arc::default(),
    }
}
