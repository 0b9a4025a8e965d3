//! The agent: its tools, the turn of a question from queue to answer, and the scheduler that asks at the times of tasks. Knows
//! neither Telegram nor HTTP: these put questions in ([`turn::queue`]) and show its events ([`delivery`]).

pub mod channel;
pub mod delivery;
pub mod languages;
pub mod outbound;
pub mod retention;
pub mod scheduler;
pub mod tools;
pub mod turn;
