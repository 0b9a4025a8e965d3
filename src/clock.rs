//! Time behind a handle: whoever needs to know what time it is gets a [`Clock`], so that tests can set it.

use std::fmt;
use std::sync::Arc;

use chrono::{DateTime, Utc};

/// Tells the time. Cheap to clone.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> DateTime<Utc> + Send + Sync>);

impl Clock {
    /// The machine's clock.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "the one place that asks the machine")]
    pub fn system() -> Self {
        Self(Arc::new(Utc::now))
    }

    /// A clock that always tells this time.
    #[must_use]
    pub fn fixed(at: DateTime<Utc>) -> Self {
        Self::told_by(move || at)
    }

    /// A clock that tells what this says.
    #[must_use]
    pub fn told_by(tell: impl Fn() -> DateTime<Utc> + Send + Sync + 'static) -> Self {
        Self(Arc::new(tell))
    }

    /// The time now, in UTC.
    #[must_use]
    pub fn now(&self) -> DateTime<Utc> {
        (self.0)()
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Clock")
    }
}
