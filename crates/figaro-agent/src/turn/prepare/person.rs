//! Facts about the asker that the model needs besides their message.

use chrono::{DateTime, Utc};
use figaro_base::tz::Tz;

use super::super::question::Question;
use super::super::report::Reporter;
use figaro_domain::chat::ChatConfig;
use figaro_domain::message::Speaker;
use figaro_domain::profile::{PersonRole, PersonSnapshot, Preferences, UserProfile};
use figaro_policy::access::Standing;
use figaro_prompts::PersonView;
use figaro_store::{ProfileStore, StoreError};

/// Records that the asker was seen, and returns the facts about them for the model; `None` if there are none or they
/// cannot be read. Texts of others and task prompts do not count as a sign of the asker.
pub(super) fn asker(
    profiles: &ProfileStore,
    question: &Question,
    config: &ChatConfig,
    zone: Tz,
    reporter: &Reporter,
) -> Option<PersonView> {
    let first = question.parts.first()?;
    let speaker = question.asker().filter(|speaker| speaker.is_person())?;
    let now = reporter.now();
    let loaded = match question.standing {
        Standing::Borrowed => profiles.find(&speaker.user),
        // If the chat has set a language, that of the client is not recorded.
        Standing::Owner | Standing::Admin | Standing::Member | Standing::Guest => {
            let language = first.language.clone().filter(|_| config.language.is_none());
            match profiles.see(&seen(speaker, language, question.standing, now)) {
                // The turn's own writes then fail too, and are reported.
                Err(error @ StoreError::Failed { .. }) => {
                    tracing::warn!(%error, "that somebody was seen could not be noted");
                    profiles.find(&speaker.user)
                }
                seen => seen.map(Some),
            }
        }
    };
    let profile: Option<UserProfile> = reporter.or_without(loaded, "profile of the person");
    let wishes = profile.map(|profile| profile.wishes_in(&first.place)).unwrap_or_default();
    view(wishes, question.standing, config.timezone.unwrap_or(zone), now)
}

fn seen(
    speaker: &Speaker,
    language: Option<String>,
    standing: Standing,
    at: DateTime<Utc>,
) -> PersonSnapshot {
    let role = if standing == Standing::Owner { PersonRole::Owner } else { PersonRole::Member };
    PersonSnapshot { speaker: speaker.clone(), language, role, at }
}

/// Returns only facts that are not shown elsewhere: the message has the name, and the prompt has the date in the chat's
/// zone.
fn view(wishes: Preferences, standing: Standing, zone: Tz, now: DateTime<Utc>) -> Option<PersonView> {
    let other = wishes.timezone.filter(|own| *own != zone);
    let clock = |own: Tz| now.with_timezone(&own).format("%a %H:%M").to_string();
    let view = PersonView {
        called: wishes.called,
        language: wishes.language,
        time_zone: other.map(|own| own.name().to_owned()),
        local_time: other.map(clock),
        owner: standing == Standing::Owner,
    };
    (view != PersonView::default()).then_some(view)
}
