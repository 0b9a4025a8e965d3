//! Makes one request out of everything that bears on a question, within the token budget: a prefix that stays the same
//! from question to question, and a tail that does not. Pure.

mod history;
mod pictures;
mod window;

#[cfg(test)]
mod tests;

pub use pictures::Pictures;
pub use window::{BotName, Material, Window, build};
