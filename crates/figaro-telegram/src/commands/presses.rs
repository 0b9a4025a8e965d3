//! Buttons that may be pressed once, such as those that begin a paid turn.

use std::collections::HashMap;

use chrono::{DateTime, TimeDelta, Utc};
use parking_lot::Mutex;

use super::command::Press;
use figaro_base::ids::{ChatId, MessageId};

/// Time for which a message is remembered after a press of its button; by then its buttons are gone.
const REMEMBERED: TimeDelta = TimeDelta::minutes(1);

/// Messages under which a button was pressed within the last minute, with the time of the press.
#[derive(Debug, Default)]
pub(super) struct FirstPresses(Mutex<HashMap<(ChatId, MessageId), DateTime<Utc>>>);

impl FirstPresses {
    /// Returns `true` for the first press under a message within a minute; a second press does not count.
    pub(super) fn is_first(&self, press: &Press<'_>, now: DateTime<Utc>) -> bool {
        let mut pressed = self.0.lock();
        pressed.retain(|_, at| now - *at < REMEMBERED);
        pressed.insert((press.asker.place.chat, press.message), now).is_none()
    }
}
