//! Faults in the settings.

use std::fmt;

/// Part of a fault about a required value that is missing.
pub(super) const MISSING: &str = " is missing: ";

/// All faults in the settings, one sentence each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingsFaults(pub Vec<String>);

impl SettingsFaults {
    /// Returns `true` if a required value is missing, as in a new installation.
    #[must_use]
    pub fn lack_values(&self) -> bool {
        self.0.iter().any(|fault| fault.contains(MISSING))
    }
}

impl fmt::Display for SettingsFaults {
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

impl std::error::Error for SettingsFaults {}
