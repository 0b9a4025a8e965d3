//! The agent loop: a pure machine that decides ([`run`]), and a driver that does what it says ([`driver`]).

pub mod calls;
pub mod driver;
pub mod run;
