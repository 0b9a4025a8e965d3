//! Cost of a task's runs.

use std::ops::Add;

use serde::{Deserialize, Serialize};

use crate::usage::Usage;

/// Tokens and money used by a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Cost {
    /// Tokens of all model calls, input and output.
    pub usage: Usage,
    /// Price in nano-dollars (10⁻⁹ USD); `None` if the model's price is unknown.
    pub nano_usd: Option<u64>,
}

impl Add for Cost {
    type Output = Self;

    /// Adds both. The price is unknown if one of them is, unless that one is the default.
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
