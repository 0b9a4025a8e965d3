//! Last question of the settings: default time zone of chats.

use figaro_base::tz::Tz;

use super::dialogue::Dialogue;
use super::draft::SettingsDraft;
use crate::app::failure::StartupError;
use crate::app::terminal::say;
use figaro_base::clock::Clock;
use figaro_domain::zone::{ZoneMatch, read};

const ZONE: &str = "DEFAULT_TIMEZONE";

/// Asks for the time zone; offers the configured one, or that of the machine.
///
/// # Errors
/// When the dialogue ends.
pub(super) async fn ask(
    dialogue: &mut Dialogue,
    draft: &mut SettingsDraft,
    clock: &Clock,
) -> Result<(), StartupError> {
    let offered = offered(draft);
    if draft.is_fixed(ZONE) {
        say(&format!("\n3. The time zone: {offered}, as the environment says."));
        return Ok(());
    }
    say("\n3. The time zone of chats that set none: a city, or a name such as Europe/Riga.");
    loop {
        let Some(text) = dialogue.ask(&format!("Time zone [{offered}]:")).await? else {
            draft.set(ZONE, offered.name());
            return Ok(());
        };
        match read(&text, clock.now(), None) {
            ZoneMatch::Zone(zone) => {
                say(&format!("✓ {zone}"));
                draft.set(ZONE, zone.name());
                return Ok(());
            }
            ZoneMatch::Several(zones) => {
                let names: Vec<&str> = zones.iter().map(|zone| zone.name()).collect();
                say(&format!("✗ That may be {}: type one of these.", names.join(" or ")));
            }
            ZoneMatch::Unknown => say("✗ No zone is known by that name."),
        }
    }
}

fn offered(draft: &SettingsDraft) -> Tz {
    let known = |name: String| name.trim_start_matches(':').parse().ok();
    let set = [ZONE, "TZ"].into_iter().find_map(|name| draft.get(name).and_then(known));
    set.or_else(|| iana_time_zone::get_timezone().ok().and_then(known)).unwrap_or(Tz::UTC)
}
