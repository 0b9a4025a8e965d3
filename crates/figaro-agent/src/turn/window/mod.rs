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

pub use build::{BotName, Context, Material, Stored, Window, build};
pub use history::History;
pub(super) use history::items_of;
pub use kept::{Border, Choice, Kept, KeptParts, Showing};
pub use older::Older;
pub use pictures::Pictures;
pub use room::{Room, recent};
