//! Places for questions of which nothing is kept: each has one to itself while it is answered, and then the next one gets it.
//! So there are as many as questions at the same time, and the books of what was spent have no more places than that.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use figaro_base::ids::ChatId;
use figaro_domain::chat::Place;
use figaro_domain::conversation::Conversation;

/// The places. Cheap to clone; clones share them.
#[derive(Debug, Clone, Default)]
pub struct Lanes(Arc<Mutex<Free>>);

#[derive(Debug, Default)]
struct Free {
    free: BTreeSet<u32>,
    /// So many there are.
    made: u32,
}

/// A place, given back when it is dropped.
#[derive(Debug)]
pub struct Lane {
    number: u32,
    lanes: Lanes,
    /// Nothing is left there.
    is_clear: bool,
}

impl Lanes {
    /// A place that nobody else has.
    #[must_use]
    pub fn take(&self) -> Lane {
        let mut lanes = self.lock();
        let number = lanes.free.pop_first().unwrap_or_else(|| {
            lanes.made += 1;
            lanes.made
        });
        Lane { number, lanes: self.clone(), is_clear: true }
    }

    /// A lock whose holder panicked still guards whole numbers.
    fn lock(&self) -> MutexGuard<'_, Free> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Lane {
    /// The place.
    #[must_use]
    pub fn place(&self) -> Place {
        Place::external(Conversation::whole(ChatId::unnamed(self.number)))
    }

    /// Its number.
    #[must_use]
    pub const fn number(&self) -> u32 {
        self.number
    }

    /// Something may be left there from now on: nobody else gets it before it is cleared.
    pub(super) const fn mark_used(&mut self) {
        self.is_clear = false;
    }

    /// Nothing is left there any more.
    pub(super) const fn mark_cleared(&mut self) {
        self.is_clear = true;
    }
}

impl Drop for Lane {
    fn drop(&mut self) {
        if self.is_clear {
            self.lanes.lock().free.insert(self.number);
        }
    }
}
