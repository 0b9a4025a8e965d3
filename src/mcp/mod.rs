//! The Telegram MCP server as a child process: found, started, watched, restarted; and the client that calls its tools.

pub mod child;
pub mod client;
pub mod file;
pub mod locate;
pub mod supervisor;
