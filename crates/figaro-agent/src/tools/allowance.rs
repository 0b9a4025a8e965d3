//! Number of messages that the tools of a turn may still send. The Telegram tools take from it before they send.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Allowance of messages, shared by all calls of a turn, also concurrent ones.
#[derive(Debug)]
pub(crate) struct SendAllowance {
    most: usize,
    left: AtomicUsize,
}

impl SendAllowance {
    /// Makes an allowance of `most` messages, of which `sent` are used.
    #[must_use]
    pub(crate) fn new(most: usize, sent: usize) -> Self {
        Self { most, left: AtomicUsize::new(most.saturating_sub(sent)) }
    }

    /// Returns the total allowance, in messages.
    #[must_use]
    pub(crate) const fn most(&self) -> usize {
        self.most
    }

    /// Takes `count` messages, all or none.
    ///
    /// # Errors
    /// The number of messages left, if fewer than `count`.
    pub(crate) fn take(&self, count: usize) -> Result<(), usize> {
        let take = |left: usize| left.checked_sub(count);
        self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).map(|_| ())
    }

    /// Returns messages that were certainly not sent.
    pub(crate) fn give_back(&self, count: usize) {
        let _before = self.left.fetch_add(count, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// However calls come and fail, no more messages are out than there may be, and none is held back for nothing.
        #[test]
        fn no_more_are_given_than_there_are(
            sent in 0..8_usize,
            calls in proptest::collection::vec((1..4_usize, proptest::bool::ANY), 0..20),
        ) {
            let allowance = SendAllowance::new(5, sent);
            let mut out = sent;
            for (count, refused) in calls {
                match allowance.take(count) {
                    Ok(()) if refused => allowance.give_back(count),
                    Ok(()) => out += count,
                    Err(left) => {
                        prop_assert_eq!(left, 5_usize.saturating_sub(out));
                        prop_assert!(count > left);
                    }
                }
            }
            prop_assert!(out <= 5.max(sent));
        }
    }
}
