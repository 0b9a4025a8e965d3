//! Tools of other MCP servers. Agents list them, policy checks each call, and results are marked as written by others.

mod call;
mod listing;
mod result;
mod shared;
mod tool;

pub use self::shared::ServerTools;
