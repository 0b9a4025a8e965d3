//! Makes one request out of everything that bears on a question, within the token budget: a prefix that stays the same
//! from question to question, and a tail that does not. Pure.

mod build;
mod history;
mod pictures;

#[cfg(test)]
mod tests;

pub use build::{BotName, Material, Window, build};
pub use pictures::Pictures;
