//! Makes one request out of everything that bears on a question, within the token budget: a prefix that stays the same
//! from question to question, and a tail that does not. Pure.

mod build;
mod history;
mod kept;
mod older;
mod pictures;
mod room;

#[cfg(test)]
mod tests;

pub use build::{BotName, Context};
pub(crate) use build::{Material, Stored, Window, build};
pub(crate) use history::History;
pub(super) use history::items_of;
pub use kept::Kept;
pub(crate) use kept::{Border, Choice, KeptParts, Showing};
pub(crate) use older::Older;
pub use pictures::Pictures;
pub use room::Room;
pub(crate) use room::recent;
