//! Which card of a task a delivery ends with, and where it stands.

use super::super::send::Outgoing;
use figaro_base::ids::{MessageId, TaskId};
use figaro_base::text::utf16_len;
use figaro_domain::delivery::{Card, PendingDelivery};
use figaro_domain::task::{Shows, TaskMessage};

/// Words so long, in UTF-16 units, leave room for any card in their message. How many messages an answer is must not depend
/// on how the task stands when they are sent.
const MAX_LEAD: usize = 2000;

/// The task whose card a delivery ends with.
pub(super) fn task_of(delivery: &PendingDelivery) -> Option<TaskId> {
    let cards = delivery.card.iter().chain(&delivery.attached);
    cards.into_iter().find_map(|card| match card {
        Card::Task(task) => Some(*task),
        Card::Zone | Card::Settings | Card::Undo => None,
    })
}

/// The message with the card of a delivery, as far as it is known before it is sent.
pub(super) fn card_of(delivery: &PendingDelivery) -> TaskMessage {
    let asks_zone = delivery.attached.contains(&Card::Zone);
    TaskMessage { asks_zone, ..TaskMessage::new(delivery.place.chat, MessageId(0), Shows::Card) }
}

/// Whether a card fits below these words in the same message.
pub(super) fn fits(messages: &[Outgoing]) -> bool {
    matches!(messages, [one] if one.file.is_none() && utf16_len(&one.content.text) <= MAX_LEAD)
}
