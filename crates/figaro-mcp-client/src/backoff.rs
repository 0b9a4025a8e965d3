//! Pauses between attempts to start a server.

use std::ops::RangeInclusive;
use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBuilder};

/// Returns pauses with jitter that double within these bounds. The sequence never ends.
pub(super) fn pauses(bounds: RangeInclusive<Duration>) -> impl Iterator<Item = Duration> + Send {
    ExponentialBuilder::default()
        .with_min_delay(*bounds.start())
        .with_max_delay(*bounds.end())
        .with_jitter()
        .without_max_times()
        .build()
}
