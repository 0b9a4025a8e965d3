//! Counts of what each turn has done, for tools that cost something outside the turn.

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::Mutex;

use figaro_base::ids::RunId;

/// Number of turns whose counts are kept.
const TURNS: usize = 200;

/// Counts of the last turns, oldest turn first. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct TurnCounts(Arc<Mutex<VecDeque<(RunId, usize)>>>);

impl TurnCounts {
    /// Counts one more for a turn; `false` if it had `most` already.
    pub(crate) fn has_room(&self, turn: RunId, most: usize) -> bool {
        let mut counts = self.0.lock();
        if let Some((_, count)) = counts.iter_mut().find(|(known, _)| *known == turn) {
            *count += 1;
            return *count <= most;
        }
        if counts.len() == TURNS {
            counts.pop_front();
        }
        counts.push_back((turn, 1));
        true
    }
}
