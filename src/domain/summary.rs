//! Summaries: what a run of messages of a session said, in a few sentences.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::ids::{EntryId, SessionId, SummaryId};

/// What a run of messages said. The summaries of a session have no gaps between them and do not overlap.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// The id, unique for ever.
    pub id: SummaryId,
    /// The session of the messages.
    pub session: SessionId,
    /// The words of the summary.
    pub summary: String,
    /// How many messages it covers.
    pub message_count: u32,
    /// The first message that it covers.
    pub start_message_id: EntryId,
    /// The index of that message.
    pub start: u32,
    /// The last message that it covers.
    pub end_message_id: EntryId,
    /// The index of that message.
    pub end: u32,
    /// When the first message was written, UTC.
    pub from: DateTime<Utc>,
    /// When the last message was written, UTC.
    pub until: DateTime<Utc>,
    /// How much it matters, from 0 to 10.
    pub importance: f32,
    /// When it was made, UTC.
    pub created_at: DateTime<Utc>,
}
