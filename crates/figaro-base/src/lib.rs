//! What every other crate of Figaro stands on: ids, the clock, secrets, logging, tracked tasks, measures of text. Uses no other
//! crate of ours.

pub mod clock;
pub mod ids;
pub mod secret;
pub mod shutdown;
pub mod telemetry;
pub mod text;
