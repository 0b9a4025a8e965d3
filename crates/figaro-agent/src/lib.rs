//! The agent: its tools, the turn of a question from queue to answer, and the scheduler of tasks. Called by `figaro-telegram` and
//! `figaro-gateway`, which put questions into [`turn::queue::Mailboxes`] and show the events of [`delivery::Bus`]. Knows neither
//! Telegram nor HTTP.
//!
//! Public types to start from: [`turn::question::Question`], [`turn::pipeline::Turns`], [`tools::Tool`], [`tools::Registry`],
//! [`scheduler::Scheduler`].

pub mod channel;
pub mod delivery;
pub mod documents;
pub mod eraser;
pub mod explain;
pub mod languages;
pub mod outbound;
pub mod pages;
pub mod retention;
pub mod rulings;
pub mod scheduler;
pub mod sign_in;
pub mod sign_outs;
pub mod speech;
pub mod task_control;
pub mod tools;
pub mod turn;
