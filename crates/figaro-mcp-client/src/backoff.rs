//! The pauses between two tries to start a server.

use std::ops::RangeInclusive;
use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBuilder};

/// Pauses that double from one failure to the next between these bounds, with jitter, without end.
pub(super) fn pauses(bounds: RangeInclusive<Duration>) -> impl Iterator<Item = Duration> + Send {
    ExponentialBuilder::default()
        .with_min_delay(*bounds.start())
        .with_max_delay(*bounds.end())
        .with_jitter()
        .without_max_times()
        .build()
}
