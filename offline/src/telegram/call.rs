//! Calls of the bot, as received and answered. Shown on the demo page, stored for tests.

use std::time::Duration;

use chrono::{DateTime, Utc};
use serde_json::{Map, Value};

/// Bot API call, as received and answered.
#[derive(Debug, Clone)]
pub struct ApiCall {
    /// Number of the call, from 1, in order of arrival.
    pub(crate) n: u64,
    /// Name of the method, in Telegram's spelling.
    pub method: String,
    /// Arguments, converted to the types of the method.
    pub args: Map<String, Value>,
    /// Uploaded files, ordered by part name.
    pub uploads: Vec<Uploaded>,
    /// `true` if the call succeeded and its answer was sent completely.
    pub ok: bool,
    /// Reason for the failure: description of the error response, or effect of a planned failure. `None` if `ok`.
    pub error: Option<String>,
    /// Arrival time of the request head, by the clock of the runtime. The body may arrive later.
    pub at: DateTime<Utc>,
    /// Time from arrival to answer, including the wait of `getUpdates`.
    pub(crate) took: Duration,
}

/// Summary of a file uploaded with a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Uploaded {
    /// Name of the part in the multipart form, as in `attach://<name>`.
    pub part: String,
    /// File name given by the part.
    pub name: String,
    /// Size of the file, in bytes.
    pub size: usize,
    /// First bytes of the file, at most 256, as thousands of calls are stored.
    pub head: Vec<u8>,
}
