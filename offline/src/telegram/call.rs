//! A call of the bot as the offline Telegram received and answered it. Shown on the demo page, remembered for tests.

use std::time::Duration;

use chrono::{DateTime, Utc};
use serde_json::{Map, Value};

/// One Bot API call as it was received and answered.
#[derive(Debug, Clone)]
pub struct Call {
    /// Its number, from 1, in the order of arrival.
    pub n: u64,
    /// The method as Telegram spells it.
    pub method: String,
    /// The arguments, converted to the types of the method.
    pub args: Map<String, Value>,
    /// The files that came along, in the order of their parts' names.
    pub uploads: Vec<Uploaded>,
    /// It was answered with a result that arrived.
    pub ok: bool,
    /// Why not.
    pub error: Option<String>,
    /// When it arrived.
    pub at: DateTime<Utc>,
    /// How long it took to answer.
    pub took: Duration,
}

/// A file that came along with a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Uploaded {
    /// The name of its part.
    pub part: String,
    /// The name of the file.
    pub name: String,
    /// How long it is, in bytes.
    pub size: usize,
    /// How it begins: thousands of calls are remembered, so not the whole of it.
    pub head: Vec<u8>,
}
