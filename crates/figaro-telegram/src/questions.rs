//! Messages with the questions of turns that wait for a person.

use super::commands::Card;
use super::send::{Outgoing, Sender};
use figaro_agent::languages::Languages;
use figaro_agent::outbound::Urgency;
use figaro_agent::turn::parked::{ClosedQuestion, Parked};
use figaro_prompts::texts::fill;

/// Removes the buttons of closed questions until the bot stops; a question that somebody stopped or decided elsewhere also
/// says so. The buttons of questions left at that time remain, and a press on them is answered as outdated.
pub async fn take_buttons_off(parked: Parked, languages: Languages, sender: Sender) {
    let closing = async {
        while let Some(closed) = parked.next_closed().await {
            // In parallel, so that one chat with a rate limit does not delay the others.
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
    let Some(by) = &closed.closed_by else {
        return sender.without_buttons(place, closed.message, urgency).await;
    };
    let texts = languages.texts(place.chat, closed.parked.language.as_deref());
    let words = by.ruled.map_or(texts.question_given_up(), |ruled| texts.ruled(ruled));
    let card = Card::closed(&closed.parked.question, &fill(words, &[("name", &by.name)]));
    sender.edit(place.chat, closed.message, &Outgoing { urgency, ..card.outgoing() }).await;
}
