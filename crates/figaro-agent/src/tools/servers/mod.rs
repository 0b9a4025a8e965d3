//! Tools of other MCP servers: agents that list them have them, each call goes by the rules, and what comes back is marked as
//! written by others.

mod call;
mod listing;
mod result;
mod shared;
mod tool;

pub use self::shared::ServerTools;
