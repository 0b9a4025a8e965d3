//! Questions from outside Telegram through their own doors: the HTTP gateway and `figaro ask`, with the real binaries.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]
#![allow(unreachable_pub, reason = "the support modules are this crate's own")]

#[path = "../support/mod.rs"]
#[allow(dead_code, reason = "each of the test crates takes what it needs")]
mod support;

mod ask;
mod ask_sessions;
mod bounds;
mod callers;
mod clients;
mod dashboard;
mod documented;
mod erased;
mod files;
mod kept;
mod options;
mod reading;
mod requests;
mod sessions;
mod stateless;
mod summaries;
mod tools;
mod webhook;
