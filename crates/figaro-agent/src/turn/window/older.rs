//! Older messages that relate to a question, as the model sees them: one line each, grouped by date, oldest first.

use figaro_base::tz::Tz;

use figaro_base::text::estimate_tokens;
use figaro_domain::conversation::MessageRole;
use figaro_memory::Recalled;
use figaro_prompts::{OlderDay, OlderMessage, OlderView, Prompts};

/// Minimum number of tokens that dropping one message is assumed to save.
const SAVED_TOKENS: usize = 24;

/// Older messages that relate to a question.
#[derive(Debug, Default)]
pub struct Older {
    /// Rendered messages; empty if there are none.
    pub text: String,
    /// Messages in the text, the most relevant first.
    pub messages: Vec<Recalled>,
    /// `true` if the text contains keys for looking up whole messages.
    pub(crate) has_keys: bool,
}

impl Older {
    /// Returns as many of the messages as fit into this many tokens, best first.
    ///
    /// # Errors
    /// If a custom prompt template cannot be rendered.
    pub(crate) fn within(
        prompts: &Prompts,
        mut messages: Vec<Recalled>,
        zone: Tz,
        tokens: usize,
    ) -> Result<Self, String> {
        while !messages.is_empty() {
            let text = prompts.older(&view(&messages, zone))?;
            let over = estimate_tokens(&text).saturating_sub(tokens);
            if over == 0 {
                let has_keys = messages.iter().any(|one| one.is_part);
                return Ok(Self { text, messages, has_keys });
            }
            let fewer = over.div_ceil(SAVED_TOKENS).min(messages.len());
            messages.truncate(messages.len() - fewer);
        }
        Ok(Self::default())
    }
}

fn view(messages: &[Recalled], zone: Tz) -> OlderView {
    let mut ordered: Vec<&Recalled> = messages.iter().collect();
    ordered.sort_by_key(|one| (one.message.created_at, one.message.session, one.message.index));
    let mut days: Vec<OlderDay> = Vec::new();
    for one in ordered {
        let date = one.message.created_at.with_timezone(&zone).format("%Y-%m-%d").to_string();
        let from = match (one.message.role, &one.message.speaker) {
            (MessageRole::User, Some(speaker)) => speaker.name.clone(),
            (MessageRole::User, None) => "someone".to_owned(),
            _ => "you".to_owned(),
        };
        let key = one.is_part.then(|| one.message.key().to_string());
        let said = OlderMessage { from, text: one.text.clone(), key };
        match days.last_mut() {
            Some(day) if day.date == date => day.said.push(said),
            _ => days.push(OlderDay { date, said: vec![said] }),
        }
    }
    OlderView { days }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use chrono::{DateTime, TimeDelta};
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use figaro_base::ids::SessionId;
    use figaro_domain::conversation::Message;

    fn recalled(day: i64, words: usize, is_part: bool) -> Recalled {
        let time = DateTime::UNIX_EPOCH + TimeDelta::days(day);
        let text = "words of <all> kinds, слова, 言葉 ".repeat(words);
        let message = Message::new(SessionId::from_bytes([1; 16]), MessageRole::User, text.clone(), time);
        Recalled { message: Arc::new(message), text, is_part, score: 1.0 }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

        #[test]
        fn older_messages_never_take_more_than_their_room(
            all in vec((0..40_i64, 0..12_usize, any::<bool>()), 0..30),
            tokens in 0..1_500_usize,
        ) {
            let prompts = Prompts::load(None).unwrap();
            let messages: Vec<Recalled> =
                all.into_iter().map(|(day, words, is_part)| recalled(day, words, is_part)).collect();
            let ids: Vec<_> = messages.iter().map(|one| one.message.id).collect();
            let older = Older::within(&prompts, messages, figaro_base::tz::Tz::UTC, tokens).unwrap();
            prop_assert!(estimate_tokens(&older.text) <= tokens, "{} of {tokens}", estimate_tokens(&older.text));
            let kept: Vec<_> = older.messages.iter().map(|one| one.message.id).collect();
            prop_assert_eq!(&kept[..], &ids[..kept.len()], "the last ones are left out");
            prop_assert_eq!(older.text.is_empty(), kept.is_empty());
        }
    }
}
