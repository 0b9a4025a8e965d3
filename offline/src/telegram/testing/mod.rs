//! What tests and benchmarks do with the offline Telegram beyond what the demo does: watch it, plan faults, queue odd
//! updates, and more of what people do.

mod fault;
mod limits;
mod observe;
mod people;
mod plan;
mod planned;

pub use self::fault::Failure;
pub use self::observe::View;
pub(super) use self::planned::Testing;
