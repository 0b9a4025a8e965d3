//! Who asks, as far as the model is to know it beside what stands in their message.

use chrono::{DateTime, Utc};
use chrono_tz::Tz;

use super::super::question::Question;
use super::super::report::Reporter;
use figaro_domain::chat::ChatConfig;
use figaro_domain::message::Speaker;
use figaro_domain::profile::{Preferences, Role, Seen, UserProfile};
use figaro_policy::access::Standing;
use figaro_prompts::PersonView;
use figaro_store::{ProfileStore, StoreError};

/// Takes in that whoever asks was seen, and gives what the model is to know of them; `None` where that is nothing, or cannot
/// be read. Words of somebody else, and the prompt of a task, are no sign of them.
pub(super) async fn asker(
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
        Standing::Borrowed => profiles.find(&speaker.user).await,
        // Where the chat has set a language, that of the client is not told.
        Standing::Owner | Standing::Admin | Standing::Member | Standing::Guest => {
            let language = first.language.clone().filter(|_| config.language.is_none());
            match profiles.see(&seen(speaker, language, question.standing, now)).await {
                // The turn's own writes fail too, and are reported.
                Err(error @ StoreError::Failed { .. }) => {
                    tracing::warn!(%error, "that somebody was seen could not be noted");
                    profiles.find(&speaker.user).await
                }
                seen => seen.map(Some),
            }
        }
    };
    let profile: Option<UserProfile> = reporter.or_without(loaded, "profile of the person");
    let wishes = profile.map(|profile| profile.wishes_in(&first.place)).unwrap_or_default();
    view(wishes, question.standing, config.timezone.unwrap_or(zone), now)
}

fn seen(speaker: &Speaker, language: Option<String>, standing: Standing, at: DateTime<Utc>) -> Seen {
    let role = if standing == Standing::Owner { Role::Owner } else { Role::Member };
    Seen { speaker: speaker.clone(), language, role, at }
}

/// What is not told already: names stand in the message, and the date is that of the chat's zone.
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
