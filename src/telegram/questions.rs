//! The messages that show questions of turns that wait for a person.

use super::send::Sender;
use crate::outbound::Urgency;
use crate::turn::parked::Parked;

/// Takes the buttons off questions that do not wait any more, until the bot stops. What it does not come to then is told
/// to whoever presses.
pub async fn take_buttons_off(parked: Parked, sender: Sender) {
    let closing = async {
        while let Some(closed) = parked.next_closed().await {
            sender.without_buttons(&closed.place, closed.message, Urgency::Notice).await;
        }
    };
    tokio::select! {
        () = sender.background.stopping() => {}
        () = closing => {}
    }
}
