//! The ground of all crates: ids, clock, secrets, logging, tracked tasks, words for errors of the system, measures of text. Used by every crate; uses none of ours.
//!
//! Public types to start from: [`clock::Clock`], [`secret::Redactor`], [`shutdown::TaskTracker`], and the ids in [`ids`].

pub mod clock;
pub mod ids;
pub mod secret;
pub mod shutdown;
pub mod system;
pub mod telemetry;
pub mod text;
