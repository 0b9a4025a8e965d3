//! What a process that has ended left unfinished where nobody waits any more: the caller or the terminal went with it. The app calls
//! it at a start.

use figaro_base::clock::Clock;
use figaro_domain::chat::{ChatKind, Place};
use figaro_domain::conversation::Conversation;
use figaro_domain::delivery::DeliveryEnd;
use figaro_domain::turn::TurnEnd;
use figaro_store::{Store, StoreError};

/// Ends turns that were cut off in these places, and words on their way there. What they stored stays.
///
/// # Errors
/// When the store fails.
pub async fn end_unfinished(
    store: &Store,
    is_there: impl Fn(&Place) -> bool,
    clock: &Clock,
) -> Result<(), StoreError> {
    let place = |conversation: Conversation| Place {
        chat: conversation.chat,
        kind: ChatKind::Private,
        title: None,
        topic: conversation.topic,
    };
    for run in
        store.conversations().active_runs().await?.iter().filter(|run| is_there(&place(run.conversation)))
    {
        store.conversations().end_turn(run, TurnEnd::default()).await?;
    }
    for delivery in store.outbox().deliveries().await?.iter().filter(|delivery| is_there(&delivery.place)) {
        store.outbox().end_delivery(delivery.id, DeliveryEnd::Whole, clock.now()).await?;
    }
    Ok(())
}
