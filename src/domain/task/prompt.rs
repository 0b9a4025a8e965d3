//! The prompt of a task as a message that comes in.

use chrono::{DateTime, Utc};

use super::Task;
use crate::domain::message::Inbound;
use crate::ids::{MessageId, UpdateId};

impl Inbound {
    /// The prompt of a task that is to be carried out now. No update brought it and no message holds it: Telegram gives
    /// nothing the number 0.
    #[must_use]
    pub fn of_task(task: &Task, now: DateTime<Utc>) -> Self {
        Self {
            update: UpdateId(0),
            message: MessageId(0),
            place: task.place.clone(),
            speaker: task.creator.clone(),
            language: task.language.clone(),
            sent_at: now,
            text: task.prompt.clone(),
            attachments: Vec::new(),
            quotes: None,
            mentioned: true,
            reply_to_bot: false,
            joins: None,
            forwarded_from: None,
            from_person: false,
            task: Some(task.id),
            borrowed: false,
        }
    }
}
