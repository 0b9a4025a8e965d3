//! Controls of the offline Telegram for tests and benchmarks: observation, planned faults, unusual updates, Mini Apps,
//! and more actions of people.

mod business;
mod inline;
mod many;
mod mini_app;
mod observe;
mod people;
mod plan;

pub use self::observe::TelegramView;
