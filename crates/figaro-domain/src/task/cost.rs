//! What runs of a task cost.

use std::ops::Add;

use serde::{Deserialize, Serialize};

use crate::usage::Usage;

/// The tokens and the money that a run has taken.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Cost {
    /// Tokens of all model calls.
    pub usage: Usage,
    /// The price in nano-dollars (10⁻⁹ USD); `None` where the model's price is unknown.
    pub nano_usd: Option<u64>,
}

impl Add for Cost {
    type Output = Self;

    /// Both together; unknown if one is, unless it came to nothing.
    fn add(self, other: Self) -> Self {
        if self == Self::default() {
            return other;
        }
        if other == Self::default() {
            return self;
        }
        let nano_usd = self.nano_usd.zip(other.nano_usd).map(|(one, two)| one.saturating_add(two));
        let mut usage = self.usage;
        usage += other.usage;
        Self { usage, nano_usd }
    }
}
