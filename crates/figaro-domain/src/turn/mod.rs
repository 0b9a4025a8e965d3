//! Rules of a turn, from its question to the delivery of its answer, without I/O. The store loads the input of a transition,
//! calls it, and writes the returned [`ChangeSet`] in one commit.
//!
//! New data written by a turn needs a new [`TurnChange`], which every store must handle.

mod active;
mod attempts;
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

pub use active::{ActiveTurn, Checkpoint, ConversationState, LeftTurn};
pub use attempts::{Attempt, AttemptChoice, LastAttempts, show_attempt, versions};
pub use begin::{AskedAgain, BegunTurn, begin, begin_again, begin_task};
pub use changes::{ChangeSet, Transition, TurnChange};
pub use delivered::{StoredDelivery, end_delivery};
pub use end::{EndsWith, StoredTurn, TurnEnd, end, retract};
pub use exchange::LastExchange;
pub use park::{Approved, GoneOn, StoredParked, answer, give_up, go_on, rule};
pub use parked::{ParkedTurn, PersonQuestion};
pub use step::{Step, step};
pub use tail::SessionTail;
pub use tasks::{AskedChange, change_tasks};
