//! The server through its door: MCP over HTTP on one side, a small Telegram on the other that records what it is asked.
//! A file per behaviour; `support` has what they share.
#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

mod calls;
mod door;
mod downloads;
mod everyday;
mod find;
mod fuzz;
mod hostile;
mod malformed;
mod protocol;
mod registry;
mod retries;
mod schemas;
mod search;
mod sessions;
mod support;
mod updates;
mod uploads;
