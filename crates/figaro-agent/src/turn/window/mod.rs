//! Builds one request from all material for a question, within the token budget: a prefix that stays the same from
//! question to question, and a tail that changes. Pure.

mod build;
mod history;
mod kept;
mod older;
mod pictures;
mod room;

#[cfg(test)]
mod tests;

pub use build::{BotName, Context};
pub(crate) use build::{Material, RenderContext, Window, build};
pub(crate) use history::History;
pub(super) use history::items_of;
pub use kept::KeptData;
pub(crate) use kept::{KeptEntries, KeptParts, Showing, WindowStart};
pub(crate) use older::Older;
pub use pictures::Pictures;
pub use room::TokenBudget;
pub(crate) use room::recent;
