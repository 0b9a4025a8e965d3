//! What tests and benchmarks do with the offline Telegram beyond what the demo does: watch it, plan faults, queue odd
//! updates, and more of what people do.

mod observe;
mod people;
mod plan;

pub use self::observe::TelegramView;
