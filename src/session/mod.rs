//! Conversations at work: a lane each ([`mailbox`]), and what happens to one message in it ([`turn`]).

mod closing;
mod load;
pub mod mailbox;
mod pictures;
pub mod question;
mod reply;
mod scheduled;
pub mod trouble;
pub mod turn;
