//! What is wrong with the settings.

use std::fmt;

/// What a complaint says of a value that has to be there and is not.
pub(super) const MISSING: &str = " is missing: ";

/// Everything that is wrong with the settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Faults(pub Vec<String>);

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.0.len();
        match self.0.iter().all(|fault| fault.contains(MISSING)) {
            true => write!(f, "Figaro is not set up here yet:")?,
            false => {
                write!(f, "{count} {} in the settings:", if count == 1 { "mistake" } else { "mistakes" })?;
            }
        }
        self.0.iter().try_for_each(|fault| write!(f, "\n  - {fault}"))
    }
}

impl std::error::Error for Faults {}
