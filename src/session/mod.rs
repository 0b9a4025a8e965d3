//! Conversations at work: a lane each ([`mailbox`]), and what happens to one message in it ([`turn`]).

pub mod admission;
mod closing;
pub mod control;
mod load;
pub mod mailbox;
mod pictures;
pub mod question;
mod reply;
pub mod rights;
mod scheduled;
pub mod trouble;
pub mod turn;
