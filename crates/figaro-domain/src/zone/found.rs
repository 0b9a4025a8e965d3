//! What a way of reading a zone gives.

use chrono_tz::Tz;

/// The most zones somebody is given to choose from.
pub(super) const MAX_ZONES: usize = 6;

/// Zones that a text may mean, and whether it hardly means anything else than a zone.
pub(super) struct Found {
    pub(super) zones: Vec<Tz>,
    pub(super) sure: bool,
}
