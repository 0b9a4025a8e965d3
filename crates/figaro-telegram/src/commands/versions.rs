//! ◀ 2/3 ▶ under an answer that was given again: shows the other attempts in its place.

use super::cards::Cards;
use super::command::{Press, PressError, Pressed};
use super::handles::Handles;
use crate::callback::{TurnTag, VersionButton};
use crate::send::Button;
use figaro_agent::turn::queue::{Job, Mailboxes};
use figaro_base::ids::RunId;
use figaro_domain::chat::AnswerFormat;
use figaro_domain::turn::{Attempt, AttemptChoice};
use figaro_store::{ConversationStore, SettingsStore};

/// Returns the row of buttons under attempt `at` of `of`, counted from 1.
pub(super) fn version_row(run: RunId, at: u8, of: u8) -> Vec<Button> {
    let to = |label: &str, to: u8| Button::new(label, VersionButton::Show(TurnTag::of(run), to));
    let mut row = vec![Button::new(format!("{at}/{of}"), VersionButton::Here)];
    if at > 1 {
        row.insert(0, to("◀", at - 1));
    }
    if at < of {
        row.push(to("▶", at + 1));
    }
    row
}

/// Shows other attempts at the last question.
#[derive(Debug)]
pub(super) struct Versions {
    cards: Cards,
    conversations: ConversationStore,
    settings: SettingsStore,
    mailboxes: Mailboxes,
}

impl Versions {
    pub(super) fn new(handles: &Handles) -> Self {
        Self {
            cards: handles.cards.clone(),
            conversations: handles.store.conversations(),
            settings: handles.store.settings(),
            mailboxes: handles.mailboxes.clone(),
        }
    }

    /// Shows the attempt that the button names. Its answer takes the place of the shown one, also for later questions.
    pub(super) fn press(&self, press: &Press<'_>, button: &VersionButton) -> Result<Pressed, PressError> {
        let VersionButton::Show(turn, to) = button else {
            return Ok(Pressed::Shown { toast: None, card: None });
        };
        let conversation = press.asker.place.conversation();
        match self.conversations.attempts(conversation) {
            Ok(attempts) => {
                let is_it = |attempt: &Attempt| attempt.counts() && TurnTag::of(attempt.turn) == *turn;
                let Some(shown) = attempts.into_iter().find(is_it) else { return Ok(Pressed::Stale) };
                let place = press.asker.place.clone();
                let rich = self.settings.chat_config(place.chat)?.format == AnswerFormat::Auto;
                let choice = AttemptChoice { shown: shown.turn, to: *to, place, rich };
                self.mailboxes.post(conversation, Job::Show(Box::new(choice)));
                Ok(Pressed::Shown { toast: None, card: None })
            }
            Err(error) => Ok(Pressed::toast(self.cards.failed(press.asker, &error).body)),
        }
    }
}
