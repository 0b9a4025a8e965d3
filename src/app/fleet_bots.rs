//! Bots of the process for the dashboard of one of them.

use std::sync::Arc;

use super::bot_states::{BotState, BotStateSince, BotStates};
use super::sign_ins::SignIns;
use figaro_agent::sign_outs::SignInGrant;
use figaro_base::ids::UserId;
use figaro_dashboard::{BotActivity, OwnedBot, ProcessBots};

/// Bots of this process, with their states and dashboards.
#[derive(Debug)]
pub(super) struct FleetBots {
    pub(super) states: Arc<BotStates>,
    pub(super) sign_ins: SignIns,
}

impl ProcessBots for FleetBots {
    fn owned_by(&self, user: &UserId) -> Vec<OwnedBot> {
        let states = self.states.all();
        let owned = states.into_iter().filter_map(|(name, known)| {
            let has_dashboard = self.sign_ins.is_owner(&name, user);
            // The store of a bot that does not run is closed; its settings name owners, too.
            (has_dashboard || known.owners.contains(user)).then(|| owned(name, known, has_dashboard))
        });
        owned.collect()
    }

    fn link(&self, name: &str, grant: SignInGrant) -> Option<String> {
        self.sign_ins.link_of(name, grant)
    }
}

fn owned(name: String, known: BotStateSince, has_dashboard: bool) -> OwnedBot {
    let BotStateSince { state, since, .. } = known;
    let (username, activity) = match state {
        BotState::Starting => (None, BotActivity::Starts),
        BotState::Runs { username } => (Some(username), BotActivity::Runs),
        BotState::Paused { reason } => (None, BotActivity::Paused(reason)),
        BotState::Stopping => (None, BotActivity::Stops),
    };
    OwnedBot { name, username, activity, since, has_dashboard }
}
