//! One turn: a question and its answer. The stages stand here in the order a turn passes them: [`queue`] keeps the order of
//! a conversation, [`prepare`] loads what bears on the question and builds the request ([`window`]), [`run`] is the pure
//! machine that decides what comes next, [`execute`] does it, [`finish`] says what is written and delivered at the end.
//! [`pipeline`] passes a turn from one to the next.

pub mod control;
pub mod execute;
pub mod finish;
pub mod pipeline;
pub mod prepare;
pub mod question;
pub mod queue;
pub mod run;
mod scheduled;
pub mod window;
