//! What people have looked for to forget: only where it is kept, in memory, for as long as there is room.

use std::collections::VecDeque;

use parking_lot::Mutex;

use crate::callback::Search;
use figaro_base::ids::{ChatId, UserId};
use figaro_domain::erasure::SaidAt;

/// So many searches are kept, the last ones.
const KEPT: usize = 64;

/// What a search has found.
#[derive(Debug, Clone)]
pub(super) struct Found {
    pub(super) chat: ChatId,
    /// Who has searched: nobody else's presses count.
    pub(super) by: UserId,
    pub(super) places: Vec<SaidAt>,
}

/// The last searches.
#[derive(Debug, Default)]
pub(super) struct Searches(Mutex<Numbered>);

#[derive(Debug, Default)]
struct Numbered {
    next: u32,
    found: VecDeque<(Search, Found)>,
}

impl Searches {
    /// Keeps what was found; gives the number of the search.
    pub(super) fn keep(&self, found: Found) -> Search {
        let mut searches = self.0.lock();
        let number = Search(searches.next);
        searches.next = searches.next.wrapping_add(1);
        searches.found.push_back((number, found));
        while searches.found.len() > KEPT {
            searches.found.pop_front();
        }
        number
    }

    /// What a search has found, if this person has made it in this chat and it is still kept.
    pub(super) fn of(&self, number: Search, chat: ChatId, by: &UserId) -> Option<Found> {
        let searches = self.0.lock();
        let (_, found) = searches.found.iter().find(|(kept, _)| *kept == number)?;
        (found.chat == chat && found.by == *by).then(|| found.clone())
    }
}
