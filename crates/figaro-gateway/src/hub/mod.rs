//! Turns whose questions came over HTTP, and their followers. The messages of a turn are kept in order, and each
//! follower reads them from the beginning at its own pace. A slow follower holds up nobody, and a late one misses
//! nothing.

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
pub(crate) use self::turn::{HubTurn, PendingQuestion, TurnCutoff};
use super::handover::Handovers;
use figaro_agent::turn::control::Control;
use figaro_base::ids::{RequestId, RunId};
use figaro_domain::conversation::ConversationId;
use figaro_provider::Item;

/// Maximum number of finished turns that can still be followed. Each expires after `KEPT`.
const MAX_KEPT: usize = 500;
const KEPT: std::time::Duration = std::time::Duration::from_secs(600);

/// Interval between checks whether all turns are over.
const LOOK_AGAIN: std::time::Duration = std::time::Duration::from_millis(20);

/// Turns that can be followed. Cheap to clone; clones share them.
#[derive(Debug, Clone, Default)]
pub struct Hub {
    turns: Arc<Mutex<HubTurns>>,
    handovers: Handovers,
}

#[derive(Debug, Default)]
struct HubTurns {
    all: BTreeMap<RequestId, Arc<HubTurn>>,
    /// Running turn of each conversation; there is at most one.
    current: HashMap<ConversationId, Arc<HubTurn>>,
    runs: HashMap<RunId, Arc<HubTurn>>,
}

impl Hub {
    /// Registers a waiting turn and returns the caller's follower.
    #[must_use]
    pub(crate) fn expect(&self, asked: PendingQuestion) -> Follower {
        let turn = Arc::new(HubTurn::new(asked));
        let mut turns = self.turns();
        turns.forget();
        turns.all.insert(turn.id(), turn.clone());
        Follower::new(turn)
    }

    /// Returns a turn by its id, if this caller began it.
    #[must_use]
    pub(crate) fn turn(&self, id: RequestId, identity: &str) -> Option<Arc<HubTurn>> {
        self.any_turn(id, identity).filter(|turn| !turn.is_forgotten())
    }

    /// Returns a turn like [`Self::turn`], but also one that was forgotten while it runs: it can still be stopped.
    #[must_use]
    pub(crate) fn any_turn(&self, id: RequestId, identity: &str) -> Option<Arc<HubTurn>> {
        self.turns().all.get(&id).filter(|turn| turn.is_of(identity)).cloned()
    }

    /// Returns the newest turn of a conversation.
    #[must_use]
    pub(crate) fn newest_in(&self, conversation: ConversationId) -> Option<Arc<HubTurn>> {
        let turns = self.turns();
        let mut newest = turns.all.values().rev();
        newest.find(|turn| turn.conversation() == conversation && !turn.is_forgotten()).cloned()
    }

    /// Begins the turn and makes it stoppable. Returns `None` if nobody waits for it any longer.
    fn begin(&self, id: RequestId, control: &Control) -> Option<Arc<HubTurn>> {
        let mut turns = self.turns();
        let turn = turns.all.get(&id)?.clone();
        if !turn.begin(control) {
            turn.end();
            return None;
        }
        turns.current.insert(turn.conversation(), turn.clone());
        Some(turn)
    }

    /// Ends the turn and keeps its hand-over.
    fn end(&self, turn: &Arc<HubTurn>) {
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

    /// Forgets messages and hand-overs of the turns in a conversation that was erased.
    pub(crate) fn forget_conversation(&self, conversation: ConversationId) {
        self.forget(|turn| turn.conversation() == conversation);
        self.handovers.forget(|_, there| there == conversation);
    }

    /// Forgets messages and hand-overs of all turns of a caller.
    pub(crate) fn forget_caller(&self, identity: &str) {
        self.forget(|turn| turn.is_of(identity));
        self.handovers.forget(|known, _| known == identity);
    }

    /// Forgets the matching turns. A turn that has not begun stays, because it has no messages yet.
    fn forget(&self, is_meant: impl Fn(&HubTurn) -> bool) {
        let mut turns = self.turns();
        turns.all.retain(|_, turn| {
            let is_meant = is_meant(turn) && !turn.is_waiting();
            if is_meant {
                turn.forget();
            }
            // A running turn is removed at its end. Until then it can be stopped, and a stop of the bot waits for it.
            !(is_meant && turn.is_over())
        });
    }

    /// Replaces `done` up to the caller's last calls by all items of the turn that handed them over.
    #[must_use]
    pub(crate) fn resumed(&self, identity: &str, done: Vec<Item>) -> Vec<Item> {
        self.handovers.resumed(identity, done)
    }

    /// Returns the running turn of a conversation.
    fn current(&self, conversation: ConversationId) -> Option<Arc<HubTurn>> {
        self.turns().current.get(&conversation).cloned()
    }

    /// Returns the number of waiting and running turns.
    #[must_use]
    pub(crate) fn open(&self) -> usize {
        self.turns().all.values().filter(|turn| turn.ended_at().is_none()).count()
    }

    /// Ends waiting turns because the bot is stopping. Resolves once no turn is running.
    pub async fn settled(&self) {
        loop {
            // Repeated, because a question may have been on its way when the stop came.
            self.turns().all.values().for_each(|turn| turn.end_waiting());
            if self.open() == 0 {
                return;
            }
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    }

    /// The lock is usable even after a panic: every change is complete before anything can fail.
    fn turns(&self) -> MutexGuard<'_, HubTurns> {
        self.turns.lock()
    }
}

impl HubTurns {
    /// Removes finished turns that have expired, and the oldest ones above the limit.
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
