//! The bot inside of another program, which adds commands and providers of its own. A test target of its own, so that the tests of
//! the binaries do not link the screens.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]
#![allow(unreachable_pub, reason = "the support modules are this crate's own")]

mod commands_page;
mod embedded;
mod own_commands;
mod own_providers;
#[path = "../support/mod.rs"]
#[allow(dead_code, reason = "the tests of the binaries use the rest")]
mod support;
