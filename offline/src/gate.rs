//! Gate with which a test delays an answer of the offline model or search.

use std::fmt;

use tokio::sync::watch;

/// Holds answers back until a test opens it. Clones share one gate.
#[derive(Clone)]
pub struct Gate(watch::Sender<bool>);

impl Gate {
    /// Creates a closed gate.
    #[must_use]
    pub fn new() -> Self {
        Self(watch::Sender::new(false))
    }

    /// Opens the gate for good and releases all waiting answers.
    pub fn open(&self) {
        self.0.send_replace(true);
    }

    pub(crate) async fn opened(&self) {
        // The sender lives in `self`, so waiting cannot fail.
        drop(self.0.subscribe().wait_for(|open| *open).await);
    }
}

impl Default for Gate {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Gate").field(&*self.0.borrow()).finish()
    }
}
