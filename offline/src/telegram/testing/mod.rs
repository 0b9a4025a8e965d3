//! Controls of the offline Telegram for tests and benchmarks: observation, planned faults, unusual updates, and more actions
//! of people.

mod business;
mod inline;
mod many;
mod observe;
mod people;
mod plan;

pub use self::observe::TelegramView;
