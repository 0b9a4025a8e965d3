//! The product through its own doors: the real binaries against the offline Telegram and offline models on loopback.
//! One crate, a file per behaviour; `support` starts and ends the world.

#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]
#![allow(unreachable_pub, reason = "the support modules are this crate's own")]

mod dm;
mod store;
mod support;
