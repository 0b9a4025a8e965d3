//! Card of a task at the end of a delivery, and its position.

use super::super::send::Outgoing;
use figaro_base::ids::{MessageId, TaskId};
use figaro_base::text::utf16_len;
use figaro_domain::delivery::{CardKind, PendingDelivery};
use figaro_domain::task::{Shows, TaskMessage};

/// Maximum length of an answer with a card in its message, in UTF-16 units; leaves room for any card. The number of
/// messages of an answer must not depend on the state of the task when they are sent.
const MAX_LEAD: usize = 2000;

/// Returns the task whose card a delivery ends with.
pub(super) fn task_of(delivery: &PendingDelivery) -> Option<TaskId> {
    let cards = delivery.card.iter().chain(&delivery.attached);
    cards.into_iter().find_map(|card| match card {
        CardKind::Task(task) => Some(*task),
        CardKind::Zone | CardKind::Settings | CardKind::Undo | CardKind::Spoken => None,
    })
}

/// Returns the record of the message with the card of a delivery, before the message id is known.
pub(super) fn card_of(delivery: &PendingDelivery) -> TaskMessage {
    let asks_zone = delivery.attached.contains(&CardKind::Zone);
    TaskMessage { asks_zone, ..TaskMessage::new(delivery.place.chat, MessageId(0), Shows::Card) }
}

/// Returns `true` if a card fits below these messages in the same message.
pub(super) fn fits(messages: &[Outgoing]) -> bool {
    matches!(messages, [one] if one.file.is_none() && one.rich.is_none() && utf16_len(&one.content.text) <= MAX_LEAD)
}
