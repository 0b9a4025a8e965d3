//! Result of a way to read a zone.

use figaro_base::tz::Tz;

/// Maximum number of zones offered to a person.
pub(super) const MAX_ZONES: usize = 6;

/// Zones that a text may mean. `sure` is `true` if it is unlikely to mean anything else.
pub(super) struct ZoneMatches {
    pub(super) zones: Vec<Tz>,
    pub(super) sure: bool,
}
