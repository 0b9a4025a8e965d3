//! Answers as voice messages.

use super::super::send::{Media, Outgoing};
use super::TelegramDelivery;
use figaro_domain::delivery::PendingDelivery;
use figaro_domain::usage::Payer;
use figaro_markup::{EntityKind, render};

impl TelegramDelivery {
    /// Returns the voice message of an answer; none if it is not fit to be spoken, or cannot be spoken now.
    pub(super) async fn spoken(&self, delivery: &PendingDelivery) -> Vec<Outgoing> {
        let (Some(speech), Some(user)) = (&self.speech, &delivery.spoken_for) else { return Vec::new() };
        let Some(text) = words(&delivery.markdown) else { return Vec::new() };
        let payer = Payer { chat: delivery.place.chat, user: user.clone() };
        let sound = speech.speak(&text, payer).await;
        let message = |sound| Outgoing {
            media: Some(Media::Voice(sound)),
            author: delivery.author(),
            ..Outgoing::default()
        };
        sound.map(message).into_iter().collect()
    }
}

/// Returns the words of an answer; `None` for one with code, a table or a formula, which nobody can follow by ear.
fn words(markdown: &str) -> Option<String> {
    let shown = render(markdown);
    let is_code = |kind: &EntityKind| matches!(kind, EntityKind::Pre { .. });
    (!shown.entities.iter().any(|entity| is_code(&entity.kind))).then_some(shown.text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_spoken_without_marks_and_code_and_tables_are_not() {
        assert_eq!(words("**Yes**, see [this](https://a.example).").as_deref(), Some("Yes, see this."));
        assert_eq!(words("So:\n\n```rust\nlet a = 1;\n```"), None);
        assert_eq!(words("| a | b |\n|---|---|\n| 1 | 2 |"), None);
    }
}
