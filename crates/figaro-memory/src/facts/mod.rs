//! What may be remembered about a person. A model proposes; what holds here is decided by rules over the person's own words,
//! whatever the model says. Pure: `judge()` knows a message, [`plan`] the memories too.

mod judge;
mod lexicon;
mod own;
mod plan;
mod proposal;
mod same;
mod secrets;
mod subject;
#[cfg(test)]
mod tests;

pub(super) use lexicon::{LEXICON, Plain, Terms};
pub(super) use own::sentences;

pub use judge::{Said, may_hold_fact};
pub use plan::{Known, plan};
pub use proposal::{Proposal, read, schema};
pub use secrets::has_secret;
