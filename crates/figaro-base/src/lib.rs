//! Foundation of all crates: ids, clock, secrets, logging, task tracking, wording of system errors, text measures. Used
//! by every crate; uses none of ours.
//!
//! Public types to start from: [`clock::Clock`], [`secret::Redactor`], [`shutdown::TaskTracker`], and the ids in [`ids`].

pub mod clock;
pub mod ids;
pub mod limited_child;
pub mod secret;
pub mod shutdown;
pub mod system;
pub mod telemetry;
pub mod tenure;
pub mod text;
pub mod tz;
