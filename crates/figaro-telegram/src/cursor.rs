//! Which updates are asked for next. Used by the poller; pure but for the clock of the runtime.

use std::time::Duration;

use tokio::time::Instant;

/// Ids go on from one update to the next; only after a week without any may they start elsewhere.
const IN_ORDER: Duration = Duration::from_secs(6 * 24 * 3600);

/// The place of a poller in the stream of updates.
#[derive(Debug, Default)]
pub(crate) struct Cursor {
    /// What is asked for; none asks for all that is not acknowledged.
    offset: Option<i64>,
    /// The last id that came, and when.
    newest: Option<(i64, Instant)>,
}

impl Cursor {
    /// From which id on updates are asked for.
    #[must_use]
    pub(crate) const fn offset(&self) -> Option<i64> {
        self.offset
    }

    /// Goes past a batch that is stored: its highest id, and how many updates without one it has. `false` if it is not
    /// certain that the next answer brings anything else.
    pub(crate) fn pass(&mut self, highest: Option<i64>, nameless: usize) -> bool {
        let now = Instant::now();
        match highest {
            Some(id) => {
                self.newest = Some((id, now));
                self.offset = Some(id.saturating_add(1));
                true
            }
            // All is acknowledged; without an offset nothing depends on the ids going on from where they were: after a
            // week without updates Telegram may start them elsewhere.
            None if nameless == 0 => {
                self.offset = None;
                true
            }
            // They have at least the next ids, one after the other, and what comes later has higher ones: so this goes
            // past no update that has not come.
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
