//! What model calls use.

use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

/// Tokens of one or more model calls, as the provider counted them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens sent.
    pub input: u64,
    /// Those of them that came from the provider's cache.
    pub cached: u64,
    /// Tokens written, reasoning included.
    pub output: u64,
}

impl Usage {
    /// Everything that counts against a cap.
    #[must_use]
    pub const fn total(self) -> u64 {
        self.input + self.output
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input += other.input;
        self.cached += other.cached;
        self.output += other.output;
    }
}
