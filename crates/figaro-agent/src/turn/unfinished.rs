//! Cleans up after a previous process in places where nobody waits any longer, such as an ended API call or a closed
//! terminal. Called by the app at startup.

use figaro_base::clock::Clock;
use figaro_domain::chat::{ChatKind, Place};
use figaro_domain::conversation::ConversationId;
use figaro_domain::delivery::DeliveryEnd;
use figaro_domain::turn::TurnEnd;
use figaro_store::{Store, StoreError};

/// Ends interrupted turns and pending deliveries in these places. Their stored messages stay.
///
/// # Errors
/// If the store fails.
pub async fn end_unfinished(
    store: &Store,
    is_there: impl Fn(&Place) -> bool,
    clock: &Clock,
) -> Result<(), StoreError> {
    let place = |conversation: ConversationId| Place {
        chat: conversation.chat,
        kind: ChatKind::Private,
        title: None,
        topic: conversation.topic,
    };
    for run in store.conversations().active_runs()?.iter().filter(|run| is_there(&place(run.conversation))) {
        store.conversations().end_turn(run, TurnEnd::default()).await?;
    }
    for delivery in store.outbox().deliveries()?.iter().filter(|delivery| is_there(&delivery.place)) {
        store.outbox().end_delivery(delivery.id, DeliveryEnd::Whole, clock.now())?;
    }
    Ok(())
}
