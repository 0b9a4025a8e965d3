//! `set_profile`: a person's preferred name, time zone and language, for themselves alone.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::typed::present;
use super::{Tool, ToolContext, ToolDefinition, ToolError, typed, zone};
use figaro_domain::profile::{MAX_CALLED_CHARS, MAX_LANGUAGE_CHARS, PreferencesPatch};
use figaro_domain::tool::{Effect, StatusKey};
use figaro_policy::access::Standing;
use figaro_store::ProfileStore;

/// Status text shown during a call.
const STATUS: StatusKey = StatusKey("tool_profile");

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ProfileArguments {
    /// What to call them.
    #[serde(default, deserialize_with = "present")]
    name: Option<Option<String>>,
    /// Where they live: a city, an IANA time zone, or the time that it is there now.
    #[serde(default, deserialize_with = "present")]
    timezone: Option<Option<String>>,
    /// To answer them in, such as "Portuguese".
    #[serde(default, deserialize_with = "present")]
    language: Option<Option<String>>,
}

/// Makes `set_profile`, which stores the person's own preferences. A rare tool.
#[must_use]
pub(crate) fn tool(store: ProfileStore) -> Arc<dyn Tool> {
    let words = "Remembers how the person who wrote this message wants to be called, their own time zone, or the language \
                 for answers to them alone. Give only what is to change; null clears it.";
    let about = ToolDefinition::new("set_profile", words, Effect::Write, STATUS)
        .of_chat()
        .rare("call me my name nickname profile my time zone where I live my own language");
    typed(about, move |context: ToolContext, change: ProfileArguments| {
        let store = store.clone();
        async move {
            if context.standing == Standing::Borrowed || !context.speaker.is_person() {
                let words = "only a person can change this, for themselves and in words of their own";
                return Err(ToolError::Denied(words.to_owned()));
            }
            let read_zone = |zone: Option<String>| zone.map(|zone| zone::read(&zone, &context)).transpose();
            let patch = PreferencesPatch {
                called: read_words(change.name, "name", MAX_CALLED_CHARS)?,
                timezone: change.timezone.map(read_zone).transpose()?,
                language: read_words(change.language, "language", MAX_LANGUAGE_CHARS)?,
            };
            let profile = store.wish(&context.speaker.user, context.place.chat, patch, context.run).await?;
            let Some(profile) = profile else {
                return Err(ToolError::ForModel("this person is not known; nothing was changed".to_owned()));
            };
            let wishes = profile.wishes_in(&context.place);
            Ok(json!({
                "success": true,
                "name": wishes.called,
                "timezone": wishes.timezone.map(|zone| zone.name()),
                "language": wishes.language,
            }))
        }
    })
}

/// Reads a text as one line; blank becomes `None`.
fn read_words(
    change: Option<Option<String>>,
    name: &str,
    limit: usize,
) -> Result<Option<Option<String>>, ToolError> {
    let Some(value) = change else { return Ok(None) };
    let value = value.map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "));
    let value = value.filter(|text| !text.is_empty());
    if value.as_ref().is_some_and(|text| text.chars().count() > limit) {
        return Err(ToolError::ForModel(format!("{name} takes at most {limit} characters")));
    }
    Ok(Some(value))
}
