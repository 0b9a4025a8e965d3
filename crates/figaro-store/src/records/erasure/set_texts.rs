//! What the model wrote into settings and profiles for a message that is forgotten, in that message's own turn and in its words. Such
//! a text would go on saying in every prompt what was to be forgotten. What people set themselves stays, and so does what
//! repeats nothing of the message, such as a time zone.

use std::collections::BTreeSet;

use serde_json::Value;

use super::super::super::changes::Changes;
use super::super::super::fault::Fault;
use super::super::super::key;
use super::super::super::tables::Tables;
use super::to_erase::ToErase;
use figaro_base::ids::UserId;
use figaro_domain::chat::ChatConfig;
use figaro_domain::conversation::{Message, Role};
use figaro_domain::profile::PreferencesPatch;

/// The tools that write texts into settings and profiles.
const WRITERS: [&str; 2] = ["set_config", "set_profile"];
/// Shorter words stand everywhere: in letters.
const MIN_WORD: usize = 3;

/// Takes these texts away, and the changes of settings that could bring them back. The setting is then as if it was never set: what
/// was there before is not known to be wanted.
pub(super) fn clear(tables: &Tables<'_>, changes: &mut Changes<'_>, to_erase: &ToErase) -> Result<(), Fault> {
    let written = written(to_erase);
    if written.is_empty() {
        return Ok(());
    }
    let place = key::chat(to_erase.chat);
    if let Some(before) = tables.chats.find(&place)? {
        let mut config = before.clone();
        for text in texts_of(&mut config) {
            text.take_if(|text| written.contains(text.trim()));
        }
        if config != before {
            changes.put(&tables.chats, place, &config)?;
        }
    }
    for item in tables.config_changes.scan(&[])? {
        let (key, mut change) = item?;
        let holds = |config| texts_of(config).into_iter().flatten().any(|text| written.contains(text.trim()));
        if change.chat == to_erase.chat && (holds(&mut change.before) || holds(&mut change.after)) {
            changes.remove(&tables.config_changes, key);
        }
    }
    let said = to_erase.messages().filter(|message| message.role == Role::User);
    let people: BTreeSet<&UserId> =
        said.filter_map(|message| message.speaker.as_ref()).map(|who| &who.user).collect();
    for user in people {
        let key = key::user(user);
        let Some(mut profile) = tables.profiles.find(&key)? else { continue };
        let Some((_, wishes)) = profile.wishes.iter().find(|(chat, _)| *chat == to_erase.chat) else {
            continue;
        };
        let is_written =
            |wish: &Option<String>| wish.as_ref().is_some_and(|wish| written.contains(wish.trim()));
        let patch = PreferencesPatch {
            called: is_written(&wishes.called).then_some(None),
            timezone: None,
            language: is_written(&wishes.language).then_some(None),
        };
        if patch != PreferencesPatch::default() {
            profile.wish(to_erase.chat, patch);
            changes.put(&tables.profiles, key, &profile)?;
        }
    }
    Ok(())
}

/// The texts of settings.
fn texts_of(config: &mut ChatConfig) -> [&mut Option<String>; 3] {
    [&mut config.custom_prompt, &mut config.personality, &mut config.language]
}

/// What the calls of the turns that go have written, as far as it repeats words of their questions.
fn written(to_erase: &ToErase) -> BTreeSet<String> {
    let mut written = BTreeSet::new();
    for call in to_erase.messages() {
        let Some(tool) = call.tool.as_ref().filter(|tool| WRITERS.contains(&tool.tool_name.as_str())) else {
            continue;
        };
        let Ok(Value::Object(arguments)) = serde_json::from_str(&tool.tool_arguments) else { continue };
        let is_asked = |message: &&Message| message.role == Role::User && message.session == call.session;
        let said: Vec<String> =
            to_erase.messages().filter(is_asked).map(|message| message.text.to_lowercase()).collect();
        let values = arguments.values().filter_map(Value::as_str).map(str::trim);
        let repeating = values.filter(|value| said.iter().any(|said| repeats(value, said)));
        written.extend(repeating.map(str::to_owned));
    }
    written
}

/// Whether a text has a word of what was said, which is in small letters, or is part of it as a whole.
pub(super) fn repeats(text: &str, said: &str) -> bool {
    let text = text.to_lowercase();
    let mut words = text.split(|c: char| !c.is_alphanumeric());
    !text.is_empty()
        && (said.contains(&text) || words.any(|word| word.chars().count() >= MIN_WORD && said.contains(word)))
}

#[cfg(test)]
mod tests {
    use super::repeats;

    #[test]
    fn a_word_or_the_whole_is_repeated_and_short_words_are_not() {
        for (text, said) in [
            ("Speak like a pirate.", "from now on talk as a pirate"),
            ("Zed", "call me zed!"),
            ("Be terse; avoid lists", "please no lists"),
            ("葡萄牙语", "请用葡萄牙语回答"),
        ] {
            assert!(repeats(text, said), "{text}: {said}");
        }
        for (text, said) in [("Be brief", "what is it to be?"), ("", "anything"), ("Formal", "hello")] {
            assert!(!repeats(text, said), "{text}: {said}");
        }
    }
}
