//! Conversations at work: a lane each ([`mailbox`]), and what happens to one message in it ([`turn`]).

pub mod mailbox;
pub mod trouble;
pub mod turn;
