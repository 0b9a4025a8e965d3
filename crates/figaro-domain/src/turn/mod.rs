//! The rules of a turn, from its question to the delivery of its answer, without I/O. The store loads what a transition
//! takes, calls it, and writes the [`ChangeSet`] that it returns, all of it in one commit.
//!
//! A new thing that a turn leaves behind is a new [`Change`]; every store has to match it.

mod active;
mod begin;
mod changes;
mod delivered;
mod end;
mod exchange;
mod park;
mod parked;
mod step;
mod tail;
mod tasks;
#[cfg(test)]
mod tests;

pub use active::{ActiveTurn, Checkpoint, LeftTurn, Standing};
pub use begin::{AskedAgain, Begun, begin, begin_again, begin_task};
pub use changes::{Change, ChangeSet, Transition};
pub use delivered::{StoredDelivery, end_delivery};
pub use end::{EndsWith, StoredTurn, TurnEnd, end, retract};
pub use exchange::LastExchange;
pub use park::{Approved, GoneOn, StoredParked, answer, give_up, go_on, rule};
pub use parked::{ParkedTurn, PersonQuestion};
pub use step::{Step, step};
pub use tail::SessionTail;
pub use tasks::{AskedChange, change_tasks};
