//! Builds the router of updates.

use std::sync::Arc;

use parking_lot::Mutex;

use super::base::Bot;
use super::turns::rights;
use figaro_agent::delivery::Owners;
use figaro_agent::turn::queue::Mailboxes;
use figaro_telegram::commands::{
    AccessRequests, CommandTable, Handles, Personas, Renames, RestingTasks, Rewordings, Zones,
};
use figaro_telegram::newest::Newest;
use figaro_telegram::router::Router;

/// Targets of the router.
pub(super) struct Onward<'a> {
    pub(super) handles: &'a Handles,
    pub(super) commands: Arc<CommandTable>,
    pub(super) mailboxes: Mailboxes,
    pub(super) newest: Newest,
    pub(super) owners: Arc<dyn Owners>,
}

pub(super) fn router(bot: &Bot, onward: Onward<'_>) -> Router {
    let base = &bot.base;
    let Onward { handles, commands, mailboxes, newest, owners } = onward;
    Router {
        me: bot.me.clone(),
        access: base.settings.access.clone(),
        inbox: base.store.inbox(),
        people: base.store.people(),
        conversations: base.store.conversations(),
        outbox: base.store.outbox(),
        settings: base.store.settings(),
        pins: base.store.pins(),
        receptions: base.store.receptions(),
        tasks: base.store.tasks(),
        mailboxes,
        parked: base.parked.clone(),
        rights: rights(base),
        commands,
        requests: AccessRequests::new(handles),
        exchanges: Mutex::default(),
        guesses: Mutex::default(),
        first_questions: Mutex::default(),
        zones: Zones::new(handles),
        renames: Renames::new(handles),
        rewordings: Rewordings::new(handles),
        sessions: base.store.sessions(),
        personas: Personas::new(handles),
        resting: RestingTasks::new(handles),
        owners,
        odd_kinds: Mutex::default(),
        clock: base.clock.clone(),
        newest,
        inline: bot.live.inline().clone(),
        business: handles.business.clone(),
        prompts: handles.prompts.clone(),
        ledger: handles.ledger.clone(),
        // Command output may still be sent while turns are being stopped.
        background: base.groups.back.clone(),
    }
}
