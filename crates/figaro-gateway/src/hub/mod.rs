//! The turns whose questions came over HTTP, and whoever follows them. What a turn tells is kept in order, so that each follower
//! reads at their own pace from its beginning: one that is slow keeps nobody waiting, and one that comes late misses nothing.

mod follower;
mod last;
mod listener;
mod runner;
mod turn;
mod unnamed;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};
use tokio::time::Instant;

pub(crate) use self::follower::Follower;
pub use self::listener::GatewayDelivery;
pub use self::runner::GatewayRunner;
pub(crate) use self::turn::{Asked, Cut, Turn};
use super::handover::Handovers;
use figaro_agent::turn::control::Control;
use figaro_base::ids::{RequestId, RunId};
use figaro_domain::conversation::Conversation;
use figaro_provider::Item;

/// So many turns that are over can still be followed, and for so long.
const MAX_KEPT: usize = 500;
const KEPT: std::time::Duration = std::time::Duration::from_secs(600);

/// Between two looks whether all turns are over.
const LOOK_AGAIN: std::time::Duration = std::time::Duration::from_millis(20);

/// The turns that can be followed. Cheap to clone; clones share them.
#[derive(Debug, Clone, Default)]
pub struct Hub {
    turns: Arc<Mutex<Turns>>,
    handovers: Handovers,
}

#[derive(Debug, Default)]
struct Turns {
    all: BTreeMap<RequestId, Arc<Turn>>,
    /// The one that runs in a conversation: there is one at a time.
    current: HashMap<Conversation, Arc<Turn>>,
    runs: HashMap<RunId, Arc<Turn>>,
}

impl Hub {
    /// A turn that waits from now on; whoever asked follows it.
    #[must_use]
    pub(crate) fn expect(&self, asked: Asked) -> Follower {
        let turn = Arc::new(Turn::new(asked));
        let mut turns = self.turns();
        turns.forget();
        turns.all.insert(turn.id(), turn.clone());
        Follower::new(turn)
    }

    /// A turn by its id, for whoever began it.
    #[must_use]
    pub(crate) fn turn(&self, id: RequestId, identity: &str) -> Option<Arc<Turn>> {
        self.any_turn(id, identity).filter(|turn| !turn.is_forgotten())
    }

    /// The same, also one that was forgotten while it runs: it can still be stopped.
    #[must_use]
    pub(crate) fn any_turn(&self, id: RequestId, identity: &str) -> Option<Arc<Turn>> {
        self.turns().all.get(&id).filter(|turn| turn.is_of(identity)).cloned()
    }

    /// The newest turn of a conversation.
    #[must_use]
    pub(crate) fn newest_in(&self, conversation: Conversation) -> Option<Arc<Turn>> {
        let turns = self.turns();
        let mut newest = turns.all.values().rev();
        newest.find(|turn| turn.conversation() == conversation && !turn.is_forgotten()).cloned()
    }

    /// The turn begins, and can be stopped; `None` if nobody waits for it any more.
    fn begin(&self, id: RequestId, control: &Control) -> Option<Arc<Turn>> {
        let mut turns = self.turns();
        let turn = turns.all.get(&id)?.clone();
        if !turn.begin(control) {
            turn.end();
            return None;
        }
        turns.current.insert(turn.conversation(), turn.clone());
        Some(turn)
    }

    /// The turn is over.
    fn end(&self, turn: &Arc<Turn>) {
        let mut turns = self.turns();
        turns.current.remove(&turn.conversation());
        let handover = turn.hand_over();
        if turn.is_forgotten() {
            turns.all.remove(&turn.id());
            turns.runs.retain(|_, other| other.id() != turn.id());
        } else if let Some((handover, items)) = handover {
            self.handovers.keep(turn.identity(), turn.conversation(), &handover, items);
        }
        turn.end();
    }

    /// Forgets what turns of a conversation have told and left to their callers: it was erased.
    pub(crate) fn forget_conversation(&self, conversation: Conversation) {
        self.forget(|turn| turn.conversation() == conversation);
        self.handovers.forget(|_, there| there == conversation);
    }

    /// The same for all turns of one who asks.
    pub(crate) fn forget_caller(&self, identity: &str) {
        self.forget(|turn| turn.is_of(identity));
        self.handovers.forget(|known, _| known == identity);
    }

    /// A turn that has not begun stays: it has told nothing yet.
    fn forget(&self, is_meant: impl Fn(&Turn) -> bool) {
        let mut turns = self.turns();
        turns.all.retain(|_, turn| {
            let is_meant = is_meant(turn) && !turn.is_waiting();
            if is_meant {
                turn.forget();
            }
            // One that runs goes at its end: until then it can be stopped, and a stop of the bot waits for it.
            !(is_meant && turn.is_over())
        });
    }

    /// What was done since a question, where a turn of this caller had left its last calls.
    #[must_use]
    pub(crate) fn resumed(&self, identity: &str, done: Vec<Item>) -> Vec<Item> {
        self.handovers.resumed(identity, done)
    }

    /// The turn that runs in a conversation.
    fn current(&self, conversation: Conversation) -> Option<Arc<Turn>> {
        self.turns().current.get(&conversation).cloned()
    }

    /// How many turns wait or run.
    #[must_use]
    pub(crate) fn open(&self) -> usize {
        self.turns().all.values().filter(|turn| turn.ended_at().is_none()).count()
    }

    /// Ends those that have not begun, as the bot is about to end, and resolves once no other runs.
    pub async fn settled(&self) {
        loop {
            // Each time: a question may have been on its way when the stop came.
            self.turns().all.values().for_each(|turn| turn.end_waiting());
            if self.open() == 0 {
                return;
            }
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    }

    /// A lock whose holder panicked still guards whole maps: every change is complete before anything can fail.
    fn turns(&self) -> MutexGuard<'_, Turns> {
        self.turns.lock()
    }
}

impl Turns {
    /// Forgets turns that are over: those of long ago, and the oldest where there are many.
    fn forget(&mut self) {
        let now = Instant::now();
        self.all.retain(|_, turn| turn.ended_at().is_none_or(|at| now.duration_since(at) < KEPT));
        while self.all.len() >= MAX_KEPT {
            let oldest = self.all.iter().find(|(_, turn)| turn.ended_at().is_some()).map(|(id, _)| *id);
            let Some(oldest) = oldest else { break };
            self.all.remove(&oldest);
        }
        let all = &self.all;
        self.runs.retain(|_, turn| all.contains_key(&turn.id()));
    }
}
