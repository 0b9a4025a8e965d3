//! Tracks which updates to request next. Used by the poller; pure except for the runtime's clock.

use std::time::Duration;

use tokio::time::Instant;

/// Time within which ids are sequential. Telegram may restart ids elsewhere only after a week without updates.
const IN_ORDER: Duration = Duration::from_secs(6 * 24 * 3600);

/// Position of a poller in the stream of updates.
#[derive(Debug, Default)]
pub(crate) struct Cursor {
    /// Offset to request; `None` requests all updates that are not acknowledged.
    offset: Option<i64>,
    /// Last id that was received, with the time.
    newest: Option<(i64, Instant)>,
}

impl Cursor {
    /// Returns the id from which updates are requested; `None` for all that are not acknowledged.
    #[must_use]
    pub(crate) const fn offset(&self) -> Option<i64> {
        self.offset
    }

    /// Moves past a stored batch with its highest id and its number of updates without an id. Returns `false` if the
    /// next answer may contain the same batch.
    pub(crate) fn pass(&mut self, highest: Option<i64>, nameless: usize) -> bool {
        let now = Instant::now();
        match highest {
            Some(id) => {
                self.newest = Some((id, now));
                self.offset = Some(id.saturating_add(1));
                true
            }
            // Everything is acknowledged. Without an offset, nothing depends on sequential ids: after a week without
            // updates, Telegram may restart them elsewhere.
            None if nameless == 0 => {
                self.offset = None;
                true
            }
            // Updates without a readable id have at least the next ids in sequence, and later updates have higher
            // ones. So this skips no update that has not been received.
            None => {
                let recent = self.newest.filter(|(_, at)| now.duration_since(*at) < IN_ORDER);
                let next = self.offset.or(recent.map(|(id, _)| id.saturating_add(1)));
                self.offset =
                    next.map(|next| next.saturating_add(i64::try_from(nameless).unwrap_or(i64::MAX)));
                false
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_next_offset_passes_all_that_came() {
        let mut cursor = Cursor::default();
        assert_eq!(cursor.offset(), None);
        assert!(!cursor.pass(None, 2), "nothing is known of the ids");
        assert_eq!(cursor.offset(), None);
        assert!(cursor.pass(Some(7), 1));
        assert_eq!(cursor.offset(), Some(8));
        assert!(!cursor.pass(None, 2));
        assert_eq!(cursor.offset(), Some(10));
        assert!(cursor.pass(None, 0));
        assert_eq!(cursor.offset(), None);
        assert!(!cursor.pass(None, 1));
        assert_eq!(cursor.offset(), Some(9), "it goes on from the last id that came");
        assert!(cursor.pass(None, 0));
        tokio::time::advance(IN_ORDER).await;
        assert!(!cursor.pass(None, 1));
        assert_eq!(cursor.offset(), None, "the ids may have started elsewhere");
        assert!(cursor.pass(Some(i64::MAX), 0));
        assert_eq!(cursor.offset(), Some(i64::MAX));
    }
}
