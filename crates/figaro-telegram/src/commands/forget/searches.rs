//! Results of searches for messages to forget. Only locations are kept, in memory, up to a limit.

use std::collections::VecDeque;

use parking_lot::Mutex;

use crate::callback::SearchNumber;
use figaro_base::ids::{ChatId, UserId};
use figaro_domain::erasure::SaidAt;

/// Number of searches that are kept; the oldest is dropped first.
const KEPT: usize = 64;

/// Results of a search, as locations of messages.
#[derive(Debug, Clone)]
pub(super) struct SearchResults {
    pub(super) chat: ChatId,
    /// Person who searched; presses by others are ignored.
    pub(super) by: UserId,
    pub(super) places: Vec<SaidAt>,
}

/// The last [`KEPT`] searches, by number.
#[derive(Debug, Default)]
pub(super) struct Searches(Mutex<Numbered>);

#[derive(Debug, Default)]
struct Numbered {
    next: u32,
    found: VecDeque<(SearchNumber, SearchResults)>,
}

impl Searches {
    /// Stores the results of a search and returns its number.
    pub(super) fn keep(&self, found: SearchResults) -> SearchNumber {
        let mut searches = self.0.lock();
        let number = SearchNumber(searches.next);
        searches.next = searches.next.wrapping_add(1);
        searches.found.push_back((number, found));
        while searches.found.len() > KEPT {
            searches.found.pop_front();
        }
        number
    }

    /// Returns the results of a search if this person made it in this chat and it is still kept.
    pub(super) fn of(&self, number: SearchNumber, chat: ChatId, by: &UserId) -> Option<SearchResults> {
        let searches = self.0.lock();
        let (_, found) = searches.found.iter().find(|(kept, _)| *kept == number)?;
        (found.chat == chat && found.by == *by).then(|| found.clone())
    }
}
