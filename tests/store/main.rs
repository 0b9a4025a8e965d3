//! What is kept and what outlives a crash: the engines, the commands of the store, and kills of the real binary.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]
#![allow(unreachable_pub, reason = "the support modules are this crate's own")]

#[path = "../support/mod.rs"]
#[allow(dead_code, reason = "each of the test crates takes what it needs")]
mod support;

mod backup;
mod backup_times;
mod check_trouble;
mod command;
mod crash;
mod engines;
mod export;
mod full_output;
mod task_kills;
mod turn_kills;
