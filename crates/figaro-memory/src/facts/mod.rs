//! Facts that may be remembered about a person. A model proposes them; rules over the person's own words decide, whatever
//! the model says. Pure: `judge()` sees a message, [`plan`] the memories too.

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

pub(super) use lexicon::{LEXICON, LexiconTerms, NormalizedText};
pub(super) use own::sentences;

pub use judge::{JudgedMessage, may_hold_fact};
pub use plan::{ProposalContext, plan};
pub use proposal::{Proposal, read, schema};
pub use secrets::has_secret;
