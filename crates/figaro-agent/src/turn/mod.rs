//! One turn: a question and its answer. The stages, in the order a turn passes them: [`queue`] keeps the order of a
//! conversation, [`prepare`] loads the data for the question and builds the request ([`window`]), [`run`] is the pure
//! state machine that decides the next step, [`execute`] performs it, `finish` decides what is written and said at the
//! end, and [`end`] writes and sends it. [`pipeline`] passes a turn from stage to stage; `outcome` says how it ended.

mod attempts;
pub mod children;
pub mod control;
pub mod end;
pub(crate) mod error;
pub mod execute;
pub mod extraction;
pub(crate) mod finish;
mod log;
pub mod naming;
pub(crate) mod outcome;
pub mod parked;
pub mod pipeline;
pub mod prepare;
pub mod question;
pub mod queue;
mod refused;
mod repeat;
pub(crate) mod reply;
pub mod report;
pub mod requested;
mod rich;
pub mod rights;
pub mod run;
mod scope;
mod setup;
pub mod spending;
pub mod summaries;
pub mod taken_up;
pub mod trace;
pub mod transcription;
pub mod unfinished;
pub mod window;

pub use self::finish::approval_details;
