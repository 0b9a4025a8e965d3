//! Parses the time zone that a model names in a call.

use figaro_base::tz::Tz;

use super::{ToolContext, ToolError};
use figaro_domain::zone::{self, ZoneMatch};

/// Returns the zone of a city, an IANA name, or the local time there.
///
/// # Errors
/// If the zone is unknown or ambiguous; the message says what to do.
pub(super) fn read(text: &str, context: &ToolContext) -> Result<Tz, ToolError> {
    let text = text.trim();
    match zone::read(text, context.now, context.language.as_deref()) {
        ZoneMatch::Zone(zone) => Ok(zone),
        ZoneMatch::Several(zones) => {
            let names: Vec<&str> = zones.iter().map(|zone| zone.name()).collect();
            let names = names.join(", ");
            Err(ToolError::ForModel(format!(
                "timezone {text} may be several time zones, {names}: ask which, and give its name"
            )))
        }
        ZoneMatch::Unknown => Err(ToolError::ForModel(format!(
            "timezone {text} is not known: give a larger city nearby or an IANA time zone such as Europe/Riga, or \
             leave it out"
        ))),
    }
}
