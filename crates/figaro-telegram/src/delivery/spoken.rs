//! Answers as voice messages.

use tokio_util::sync::CancellationToken;

use super::super::media::Media;
use super::super::send::Outgoing;
use super::TelegramDelivery;
use super::parts::plain;
use figaro_domain::chat::{ConfigPatch, VoiceMode};
use figaro_domain::delivery::PendingDelivery;
use figaro_domain::usage::Payer;
use figaro_markup::{EntityKind, render};

/// Telegram's words where voice messages are not taken, in lower case: with the word "voice" beside them.
const FORBIDDEN: [&str; 3] = ["forbidden", "restricted", "not enough rights"];

impl TelegramDelivery {
    /// Returns the voice message of an answer; none if it is not fit to be spoken, cannot be spoken now, or was erased
    /// meanwhile. `None` if the bot is stopping: the next start speaks it.
    pub(super) async fn spoken(&self, delivery: &PendingDelivery) -> Option<Vec<Outgoing>> {
        let (Some(speech), Some(user)) = (&self.speech, &delivery.spoken_for) else {
            return Some(Vec::new());
        };
        let Some(text) = words(&delivery.markdown) else { return Some(Vec::new()) };
        if !self.is_wanted(delivery) {
            return Some(Vec::new());
        }
        let payer = Payer::new(delivery.place.chat, user.clone());
        let never = CancellationToken::new();
        let sound = self.sender.unless_stopping(speech.speak(&text, payer), &never).await.ok()?;
        let sound = if self.is_wanted(delivery) { sound } else { None };
        let message = |sound| Outgoing {
            media: Some(Media::Voice(sound)),
            author: delivery.author(),
            ..Outgoing::default()
        };
        Some(sound.map(message).into_iter().collect())
    }

    fn is_wanted(&self, delivery: &PendingDelivery) -> bool {
        self.sender.outbox.is_pending(delivery.id).unwrap_or(true)
    }

    /// Deals with a voice message that Telegram refuses. Where it takes none, answers are not spoken any more, and the chat
    /// is told so once.
    pub(super) async fn unspoken(&self, delivery: &PendingDelivery, reason: &str) {
        let chat = delivery.place.chat;
        tracing::warn!(run = %delivery.run, %chat, reason, "Telegram does not take a voice message");
        let told = reason.to_lowercase();
        let is_on =
            async || self.settings.chat_config(chat).is_ok_and(|config| config.voice != VoiceMode::Off);
        let is_forbidden = told.contains("voice") && FORBIDDEN.iter().any(|words| told.contains(words));
        if !is_forbidden || !is_on().await {
            return;
        }
        let change = ConfigPatch { voice: Some(VoiceMode::Off), ..ConfigPatch::default() };
        if let Err(error) = self.settings.change_chat_config(chat, change).await {
            tracing::error!(%error, label = error.label(), "spoken answers could not be switched off");
            return;
        }
        let texts = self.languages.texts(chat, delivery.language.as_deref());
        let message = Outgoing { content: plain(texts.voice_forbidden()), ..Outgoing::default() };
        if let Err(unsent) = self.sender.send(&delivery.place, &message, &CancellationToken::new()).await {
            tracing::warn!(%chat, ?unsent, "that answers are not spoken any more could not be told");
        }
    }
}

/// Returns the words of an answer for the ear, without addresses; `None` for one with code, a table, a formula or a spoiler.
fn words(markdown: &str) -> Option<String> {
    let shown = std::panic::catch_unwind(|| render(markdown)).ok()?;
    let is_unfit = |kind: &EntityKind| matches!(kind, EntityKind::Pre { .. } | EntityKind::Spoiler);
    if shown.entities.iter().any(|entity| is_unfit(&entity.kind)) {
        return None;
    }
    let is_address = |word: &&str| word.starts_with("http://") || word.starts_with("https://");
    let line =
        |line: &str| line.split_whitespace().filter(|word| !is_address(word)).collect::<Vec<_>>().join(" ");
    Some(shown.text.lines().map(line).collect::<Vec<_>>().join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_spoken_without_marks_and_code_and_tables_are_not() {
        assert_eq!(words("**Yes**, see [this](https://a.example).").as_deref(), Some("Yes, see this."));
        assert_eq!(
            words("See https://a.example/x now.\n\n- one\n- two").as_deref(),
            Some("See now.\n\n• one\n• two")
        );
        assert_eq!(words("It is ||the butler||."), None);
        assert_eq!(words("So:\n\n```rust\nlet a = 1;\n```"), None);
        assert_eq!(words("| a | b |\n|---|---|\n| 1 | 2 |"), None);
    }
}
