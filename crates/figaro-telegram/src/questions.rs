//! The messages that show questions of turns that wait for a person.

use super::send::Sender;
use figaro_agent::outbound::Urgency;
use figaro_agent::turn::parked::Parked;

/// Takes the buttons off questions that do not wait any more, until the bot stops. What it does not come to then is told
/// to whoever presses.
pub async fn take_buttons_off(parked: Parked, sender: Sender) {
    let closing = async {
        while let Some(closed) = parked.next_closed().await {
            // One by one they would all wait for a chat that Telegram has told to wait.
            let to = sender.clone();
            sender.background.spawn("buttons", async move {
                tokio::select! {
                    () = to.background.stopping() => {}
                    _ = to.without_buttons(&closed.place, closed.message, Urgency::Notice) => {}
                }
            });
        }
    };
    tokio::select! {
        () = sender.background.stopping() => {}
        () = closing => {}
    }
}
