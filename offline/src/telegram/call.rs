//! A call of the bot as the offline Telegram received and answered it. Shown on the demo page, remembered for tests.

use std::time::Duration;

use chrono::{DateTime, Utc};
use serde_json::{Map, Value};

/// One Bot API call as it was received and answered.
#[derive(Debug, Clone)]
pub struct ApiCall {
    /// Its number, from 1, in the order of arrival.
    pub(crate) n: u64,
    /// The method as Telegram spells it.
    pub method: String,
    /// The arguments, converted to the types of the method.
    pub args: Map<String, Value>,
    /// The files that came along, in the order of their parts' names.
    pub uploads: Vec<Uploaded>,
    /// Whether it was answered with a result, and the answer was sent whole.
    pub ok: bool,
    /// Why it has no result: the description of the error answer, or what a planned failure did. `None` where `ok`.
    pub error: Option<String>,
    /// The time when its head had arrived, by the clock of the runtime; its body may have come later.
    pub at: DateTime<Utc>,
    /// The time from its arrival to its answer; for a `getUpdates` that waited, the wait too.
    pub(crate) took: Duration,
}

/// A file that came along with a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Uploaded {
    /// The name of its part in the multipart form, which `attach://<name>` refers to.
    pub part: String,
    /// The file name that the part gives.
    pub name: String,
    /// How long it is, in bytes.
    pub size: usize,
    /// Its first bytes, at most 256: thousands of calls are remembered, so not the whole of it.
    pub head: Vec<u8>,
}
