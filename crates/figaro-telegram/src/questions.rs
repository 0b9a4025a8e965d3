//! The messages that show questions of turns that wait for a person.

use super::commands::Card;
use super::send::{Outgoing, Sender};
use figaro_agent::languages::Languages;
use figaro_agent::outbound::Urgency;
use figaro_agent::turn::parked::{ClosedQuestion, Parked};
use figaro_prompts::texts::fill;

/// Takes the buttons off questions that do not wait any more, until the bot stops; one that somebody has stopped says so. What it
/// does not come to then is told to whoever presses.
pub async fn take_buttons_off(parked: Parked, languages: Languages, sender: Sender) {
    let closing = async {
        while let Some(closed) = parked.next_closed().await {
            // One by one they would all wait for a chat that Telegram has told to wait.
            let (to, languages) = (sender.clone(), languages.clone());
            sender.background.spawn("buttons", async move {
                tokio::select! {
                    () = to.background.stopping() => {}
                    () = close(&closed, &languages, &to) => {}
                }
            });
        }
    };
    tokio::select! {
        () = sender.background.stopping() => {}
        () = closing => {}
    }
}

async fn close(closed: &ClosedQuestion, languages: &Languages, sender: &Sender) {
    let (place, urgency) = (&closed.parked.place, Urgency::Notice);
    let Some(name) = closed.stopped_by.as_deref() else {
        return sender.without_buttons(place, closed.message, urgency).await;
    };
    let texts = languages.texts(place.chat, closed.parked.language.as_deref()).await;
    let card = Card::closed(&closed.parked.question, &fill(texts.question_given_up(), &[("name", name)]));
    sender.edit(place.chat, closed.message, &Outgoing { urgency, ..card.outgoing() }).await;
}
